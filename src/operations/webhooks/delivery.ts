/**
 * The delivery of events to webhooks, by the process that listens: to each in the order of the events and at least once,
 * to all of them side by side. How far each is stands in the database, so that the next listener goes on there.
 */

import { WEBHOOK_EVENTS_AT_ONCE, WEBHOOK_NOTED_AFTER_MS } from "../../config/webhook-limits.ts"
import { pauseAfterFailure, shownUrl, type Webhook, wantsKind } from "../../domain/webhooks/webhook.ts"
import { listNamedEventsAfter } from "../../store/event-feed.ts"
import {
  findWebhook,
  listActiveWebhooks,
  noteDelivered,
  noteFailed,
  noteFailedForGood,
  notePassedOver,
} from "../../store/webhooks.ts"
import type { App } from "../app.ts"
import { newestEvent, resetAfter } from "../events/reading.ts"
import { eventLetter, type Letter, resetLetter, sendingOf } from "./letters.ts"
import { type Outcome, type SendOptions, send } from "./sending.ts"

export interface Delivery {
  /** Delivers what is due now; resolves when nothing is any more. */
  settle(): Promise<void>
  /** Breaks off what is under way, which the next listener delivers once more. */
  close(): Promise<void>
}

type DeliveringApp = Pick<App, "db" | "now" | "random" | "log">

/** Starts delivering, now and after each change of the database. */
export function startWebhookDelivery(app: DeliveringApp, options: SendOptions = {}): Delivery {
  const courier = new Courier(app, options)
  const unwatch = app.db.watch(() => courier.look())
  courier.look()
  return {
    settle: () => courier.settle(),
    close() {
      unwatch()
      return courier.close()
    },
  }
}

/** How long nothing is begun after a fault of our own, such as of the database. */
const FAULT_PAUSE_MS = 30_000

/** How far a webhook is beyond what is written down: nothing of that was for it. */
interface Position {
  cursor: number
  sinceMs: number
}

class Courier {
  readonly #app: DeliveringApp
  readonly #options: SendOptions
  readonly #stop = new AbortController()
  readonly #busy = new Map<number, Promise<void>>()
  readonly #positions = new Map<string, Position>()
  #looking: Promise<void> | undefined
  #looksAgain = false
  #timer: NodeJS.Timeout | undefined

  constructor(app: DeliveringApp, options: SendOptions) {
    this.#app = app
    this.#options = { ...options, signal: this.#stop.signal }
  }

  /** Begins what is due; looks that are asked for meanwhile become one. */
  look(): void {
    if (this.#stop.signal.aborted) return
    this.#looksAgain = true
    this.#looking ??= this.#lookOnce().finally(() => {
      this.#looking = undefined
      if (this.#looksAgain) this.look()
    })
  }

  async settle(): Promise<void> {
    this.look()
    while (this.#looking !== undefined || this.#busy.size > 0)
      await Promise.all([this.#looking, ...this.#busy.values()])
  }

  async close(): Promise<void> {
    this.#stop.abort()
    clearTimeout(this.#timer)
    this.#looksAgain = false
    await Promise.all([this.#looking, ...this.#busy.values()])
    await this.#guarded(async () => {
      for (const webhook of await listActiveWebhooks(this.#app.db)) await this.#writeDown(webhook)
    })
  }

  async #lookOnce(): Promise<void> {
    this.#looksAgain = false
    await this.#guarded(async () => {
      const { db, now } = this.#app
      const webhooks = await listActiveWebhooks(db)
      if (webhooks.length === 0) return
      const newest = await newestEvent(db)
      let waitMs = Number.POSITIVE_INFINITY
      for (const webhook of webhooks) {
        // Whoever is done looks again.
        if (this.#busy.has(webhook.id)) continue
        const position = this.#positionOf(webhook)
        const isDone = position.cursor === newest
        const dueInMs = isDone
          ? position.cursor > webhook.cursor
            ? position.sinceMs + WEBHOOK_NOTED_AFTER_MS - now()
            : Number.POSITIVE_INFINITY
          : webhook.nextAttemptAtMs - now()
        if (dueInMs > 0) waitMs = Math.min(waitMs, dueInMs)
        else if (isDone) await this.#writeDown(webhook)
        else this.#begin(webhook.id)
      }
      this.#lookIn(waitMs)
    })
  }

  #lookIn(waitMs: number): void {
    clearTimeout(this.#timer)
    if (Number.isFinite(waitMs) && !this.#stop.signal.aborted)
      this.#timer = setTimeout(() => this.look(), waitMs).unref()
  }

  #begin(id: number): void {
    const work = this.#guarded(() => this.#serve(id)).then((isDone) => {
      this.#busy.delete(id)
      if (isDone) this.look()
    })
    this.#busy.set(id, work)
  }

  /** Delivers to one webhook until nothing is left or a try fails. */
  async #serve(id: number): Promise<void> {
    const { db, now } = this.#app
    for (;;) {
      const webhook = await findWebhook(db, id)
      if (webhook === undefined || webhook.isPaused || webhook.nextAttemptAtMs > now()) return
      const next = await this.#nextLetter(webhook)
      if (next === undefined || this.#stop.signal.aborted) return
      const outcome = await send(sendingOf(webhook, next.letter, now()), this.#options)
      // What was broken off on our side is no failure of the receiver's.
      if (this.#stop.signal.aborted) return
      if (!(await this.#note(webhook, next.cursor, outcome))) return
    }
  }

  /** Returns the next letter of a webhook, with the event up to which all is done once it has arrived. */
  async #nextLetter(webhook: Webhook): Promise<{ letter: Letter; cursor: number } | undefined> {
    const { db, now } = this.#app
    const { cursor: from, sinceMs } = this.#positionOf(webhook)
    for (let cursor = from; ; ) {
      const events = await listNamedEventsAfter(db, cursor, WEBHOOK_EVENTS_AT_ONCE)
      // Asked for after the events: what was pruned before they were read is beyond the horizon now.
      const lost = (await resetAfter(db, cursor))?.resumeAfter
      if (lost !== undefined) return { letter: resetLetter(webhook, lost, now()), cursor: lost }
      const event = events.find(({ kind }) => wantsKind(webhook, kind))
      if (event !== undefined) return { letter: await eventLetter(db, webhook, event), cursor: event.id }
      cursor = events.at(-1)?.id ?? cursor
      this.#positions.set(keyOf(webhook), { cursor, sinceMs: from > webhook.cursor ? sinceMs : now() })
      if (events.length === 0) return undefined
    }
  }

  /** Notes what came of a try; returns whether the next letter may follow at once. */
  async #note(webhook: Webhook, cursor: number, outcome: Outcome): Promise<boolean> {
    const { db, now, random, log } = this.#app
    const error = failureText(outcome)
    if (error === null) {
      await db.transaction("webhooks", (tx) => noteDelivered(tx, webhook, cursor, now()))
      return true
    }
    const failure = { failures: webhook.failures + 1, error }
    const isGone = "status" in outcome && outcome.status === 410
    const asked = "status" in outcome ? outcome.retryAfterSeconds : undefined
    const pauseMs = isGone ? undefined : pauseAfterFailure(failure.failures, random(), asked)
    const about = { webhook: webhook.id, to: shownUrl(webhook.url), error }
    if (pauseMs === undefined) {
      const reason = isGone ? "its receiver says that it is gone (410)" : "its deliveries failed for a day"
      await db.transaction("webhooks", (tx) => noteFailedForGood(tx, webhook, failure, reason))
      log.warn(`a webhook is paused: ${reason}`, about)
    } else {
      await db.transaction("webhooks", (tx) => noteFailed(tx, webhook, failure, now() + pauseMs))
      log.info("a webhook's delivery failed and will be tried again", about)
    }
    return false
  }

  async #writeDown(webhook: Webhook): Promise<void> {
    const { cursor } = this.#positionOf(webhook)
    if (cursor > webhook.cursor)
      await this.#app.db.transaction("webhooks", (tx) => notePassedOver(tx, webhook, cursor))
  }

  #positionOf(webhook: Webhook): Position {
    const known = this.#positions.get(keyOf(webhook))
    if (known !== undefined && known.cursor > webhook.cursor) return known
    return { cursor: webhook.cursor, sinceMs: 0 }
  }

  /** Returns whether the work was done; where it was not, it is looked for again a little later. */
  async #guarded(work: () => Promise<void>): Promise<boolean> {
    try {
      await work()
      return true
    } catch (error) {
      if (!this.#stop.signal.aborted) this.#app.log.warn("webhooks could not be served", { error })
      this.#lookIn(FAULT_PAUSE_MS)
      return false
    }
  }
}

/** Of a webhook as it is now: one that skipped what was left is another one to what was noted before. */
function keyOf({ id, createdAtMs }: Webhook): string {
  return `${id}:${createdAtMs}`
}

/** Returns what is wrong with an outcome in a few words; null where the letter has arrived. */
export function failureText(outcome: Outcome): string | null {
  if ("error" in outcome) return outcome.error
  const { status } = outcome
  if (status >= 200 && status < 300) return null
  const isRedirect = status >= 300 && status < 400
  return `it answered ${status}${isRedirect ? ", and redirects are not followed" : ""}`
}
