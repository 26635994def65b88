/** Keeps what sessions of the older protocol over HTTP follow, whoever listens. */

import {
  STORED_SUBSCRIPTION_MS_MAX,
  STORED_SUBSCRIPTIONS_MAX,
  SUBSCRIPTIONS_MAX,
} from "../config/subscription-limits.ts"
import { AppError } from "../errors.ts"
import {
  countSubscriptionsOfKey,
  findSubscriptionState,
  type KeySession,
  listSubscriptions,
  putSubscription,
  removeOldSubscriptions,
  removeSubscriptions,
  setSubscriptionState,
  touchSubscriptions,
} from "../store/subscriptions.ts"
import type { App } from "./app.ts"

export type { KeySession } from "../store/subscriptions.ts"

/**
 * Has a session follow a resource from a state on. Fails with `invalid` beyond `SUBSCRIPTIONS_MAX` of the session and
 * `STORED_SUBSCRIPTIONS_MAX` of its key. What sessions follow that are long gone is removed.
 */
export async function keepSubscription(app: App, of: KeySession, uri: string, state: string): Promise<void> {
  await app.db.transaction("subscriptions", async (tx) => {
    const nowMs = app.now()
    await removeOldSubscriptions(tx, nowMs - STORED_SUBSCRIPTION_MS_MAX)
    if ((await findSubscriptionState(tx, of, uri)) === undefined) {
      if ((await listSubscriptions(tx, of)).length >= SUBSCRIPTIONS_MAX) throw tooManySubscriptions()
      if ((await countSubscriptionsOfKey(tx, of.keyId)) >= STORED_SUBSCRIPTIONS_MAX)
        throw new AppError(
          "invalid",
          `the sessions of one key follow at most ${STORED_SUBSCRIPTIONS_MAX} resources`,
          { hint: "End sessions that are over with DELETE /mcp." },
        )
    }
    await putSubscription(tx, of, { uri, state }, nowMs)
  })
}

export function tooManySubscriptions(): AppError {
  return new AppError("invalid", `a session follows at most ${SUBSCRIPTIONS_MAX} resources`, {
    hint: "Unsubscribe from some of them first.",
  })
}

/** Ends what a session follows: one resource, or all unless given. */
export function dropSubscriptions(app: App, of: KeySession, uri?: string): Promise<void> {
  return removeSubscriptions(app.db, of, uri)
}

/** Returns what a session that is there follows. */
export async function resumeSubscriptions(app: App, of: KeySession): Promise<string[]> {
  await touchSubscriptions(app.db, of, app.now())
  return (await listSubscriptions(app.db, of)).map(({ uri }) => uri)
}

/** Returns the state of what a session follows that it was told last; undefined where it does not follow it. */
export function toldState(app: App, of: KeySession, uri: string): Promise<string | undefined> {
  return findSubscriptionState(app.db, of, uri)
}

/** Notes the state that a session was told. */
export function noteTold(app: App, of: KeySession, uri: string, state: string): Promise<void> {
  return setSubscriptionState(app.db, of, { uri, state }, app.now())
}
