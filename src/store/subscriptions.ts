/** What sessions of the older protocol over HTTP follow. */

import type { Queries, Row } from "../db/database.ts"

/** A session of one key. */
export interface KeySession {
  keyId: number
  session: string
}

export const subscriptionStatements = {
  put: `
    INSERT INTO mcp_subscriptions (key_id, session, uri, state, seen_at_ms) VALUES (?, ?, ?, ?, ?)
    ON CONFLICT (key_id, session, uri) DO UPDATE SET state = excluded.state, seen_at_ms = excluded.seen_at_ms`,
  setState:
    "UPDATE mcp_subscriptions SET state = ?, seen_at_ms = ? WHERE key_id = ? AND session = ? AND uri = ?",
  touch: "UPDATE mcp_subscriptions SET seen_at_ms = ? WHERE key_id = ? AND session = ?",
  find: "SELECT state FROM mcp_subscriptions WHERE key_id = ? AND session = ? AND uri = ?",
  list: "SELECT uri, state FROM mcp_subscriptions WHERE key_id = ? AND session = ?",
  countOfKey: "SELECT count(*) AS count FROM mcp_subscriptions WHERE key_id = ?",
  remove: "DELETE FROM mcp_subscriptions WHERE key_id = ? AND session = ? AND uri = ?",
  removeAll: "DELETE FROM mcp_subscriptions WHERE key_id = ? AND session = ?",
  removeOld: "DELETE FROM mcp_subscriptions WHERE seen_at_ms < ?",
}

interface Stored {
  uri: string
  state: string
}

/** Stores what a session follows and which state it was told. */
export async function putSubscription(
  tx: Queries,
  { keyId, session }: KeySession,
  { uri, state }: Stored,
  nowMs: number,
): Promise<void> {
  await tx.run(subscriptionStatements.put, [keyId, session, uri, state, nowMs])
}

/** Notes what a session was told last, if it still follows that. */
export async function setSubscriptionState(
  db: Queries,
  { keyId, session }: KeySession,
  { uri, state }: Stored,
  nowMs: number,
): Promise<void> {
  await db.run(subscriptionStatements.setState, [state, nowMs, keyId, session, uri])
}

/** Notes that a session is there. */
export async function touchSubscriptions(db: Queries, of: KeySession, nowMs: number): Promise<void> {
  await db.run(subscriptionStatements.touch, [nowMs, of.keyId, of.session])
}

/** Returns the state that a session was told last of what it follows; undefined where it does not. */
export async function findSubscriptionState(
  db: Queries,
  of: KeySession,
  uri: string,
): Promise<string | undefined> {
  const row = await db.get<{ state: string }>(subscriptionStatements.find, [of.keyId, of.session, uri])
  return row?.state
}

/** Returns what a session follows. */
export function listSubscriptions(db: Queries, of: KeySession): Promise<(Row & Stored)[]> {
  return db.all<Row & Stored>(subscriptionStatements.list, [of.keyId, of.session])
}

/** Returns how much all sessions of a key follow. */
export async function countSubscriptionsOfKey(db: Queries, keyId: number): Promise<number> {
  return (await db.get<{ count: number }>(subscriptionStatements.countOfKey, [keyId]))?.count ?? 0
}

/** Ends what a session follows: one resource, or all unless given. */
export async function removeSubscriptions(tx: Queries, of: KeySession, uri?: string): Promise<void> {
  if (uri === undefined) await tx.run(subscriptionStatements.removeAll, [of.keyId, of.session])
  else await tx.run(subscriptionStatements.remove, [of.keyId, of.session, uri])
}

/** Removes what sessions followed that were not there since a time. */
export async function removeOldSubscriptions(tx: Queries, beforeMs: number): Promise<void> {
  await tx.run(subscriptionStatements.removeOld, [beforeMs])
}
