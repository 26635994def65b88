/** Webhooks: where events are sent to, and how far each is. */

import type { Queries, Row } from "../db/database.ts"
import type { Webhook, WebhookFormat } from "../domain/webhooks/webhook.ts"
import { flag } from "./rows.ts"

const COLUMNS = `id, name, url, secret, kinds, format, includes_content, allows_private, cursor_id, is_paused, pause_reason,
  failures, next_attempt_at_ms, last_error, last_delivered_at_ms, created_at_ms`

export const webhookStatements = {
  list: `SELECT ${COLUMNS} FROM webhooks ORDER BY id`,
  listActive: `SELECT ${COLUMNS} FROM webhooks WHERE is_paused = 0 ORDER BY id`,
  findById: `SELECT ${COLUMNS} FROM webhooks WHERE id = ?`,
  insert: `
    INSERT INTO webhooks (name, url, secret, kinds, format, includes_content, allows_private, cursor_id, is_paused,
      failures, next_attempt_at_ms, created_at_ms)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?, 0, 0, 0, ?) RETURNING ${COLUMNS}`,
  remove: "DELETE FROM webhooks WHERE id = ?",
  pause: "UPDATE webhooks SET is_paused = 1, pause_reason = NULL WHERE id = ?",
  resume: `
    UPDATE webhooks SET is_paused = 0, pause_reason = NULL, failures = 0, next_attempt_at_ms = 0, last_error = NULL,
      cursor_id = ? WHERE id = ?`,
  passOver: "UPDATE webhooks SET cursor_id = ? WHERE id = ? AND created_at_ms = ? AND cursor_id = ?",
  delivered: `
    UPDATE webhooks SET cursor_id = ?, failures = 0, next_attempt_at_ms = 0, last_error = NULL, last_delivered_at_ms = ?
    WHERE id = ? AND created_at_ms = ? AND cursor_id = ?`,
  failed: `
    UPDATE webhooks SET failures = ?, next_attempt_at_ms = ?, last_error = ?
    WHERE id = ? AND created_at_ms = ? AND failures = ? AND is_paused = 0`,
  failedForGood: `
    UPDATE webhooks SET failures = ?, last_error = ?, is_paused = 1, pause_reason = ?
    WHERE id = ? AND created_at_ms = ? AND failures = ? AND is_paused = 0`,
}

type WebhookRow = Row & {
  id: number
  name: string
  url: string
  secret: string
  kinds: string
  format: string
  includes_content: number
  allows_private: number
  cursor_id: number
  is_paused: number
  pause_reason: string | null
  failures: number
  next_attempt_at_ms: number
  last_error: string | null
  last_delivered_at_ms: number | null
  created_at_ms: number
}

function toWebhook(row: WebhookRow): Webhook {
  return {
    id: row.id,
    name: row.name,
    url: row.url,
    secret: row.secret,
    kinds: JSON.parse(row.kinds) as string[],
    format: row.format as WebhookFormat,
    includesContent: row.includes_content === 1,
    allowsPrivate: row.allows_private === 1,
    cursor: row.cursor_id,
    isPaused: row.is_paused === 1,
    pauseReason: row.pause_reason,
    failures: row.failures,
    nextAttemptAtMs: row.next_attempt_at_ms,
    lastError: row.last_error,
    lastDeliveredAtMs: row.last_delivered_at_ms,
    createdAtMs: row.created_at_ms,
  }
}

export async function listWebhooks(db: Queries): Promise<Webhook[]> {
  return (await db.all<WebhookRow>(webhookStatements.list)).map(toWebhook)
}

/** Returns those that are not paused. */
export async function listActiveWebhooks(db: Queries): Promise<Webhook[]> {
  return (await db.all<WebhookRow>(webhookStatements.listActive)).map(toWebhook)
}

export async function findWebhook(db: Queries, id: number): Promise<Webhook | undefined> {
  const row = await db.get<WebhookRow>(webhookStatements.findById, [id])
  return row && toWebhook(row)
}

export type NewWebhook = Pick<
  Webhook,
  "name" | "url" | "secret" | "kinds" | "format" | "includesContent" | "allowsPrivate" | "cursor"
>

export async function insertWebhook(tx: Queries, webhook: NewWebhook, nowMs: number): Promise<Webhook> {
  const row = await tx.get<WebhookRow>(webhookStatements.insert, [
    webhook.name,
    webhook.url,
    webhook.secret,
    JSON.stringify(webhook.kinds),
    webhook.format,
    flag(webhook.includesContent),
    flag(webhook.allowsPrivate),
    webhook.cursor,
    nowMs,
  ])
  return toWebhook(row as WebhookRow)
}

export async function removeWebhook(tx: Queries, id: number): Promise<void> {
  await tx.run(webhookStatements.remove, [id])
}

export async function pauseWebhook(tx: Queries, id: number): Promise<void> {
  await tx.run(webhookStatements.pause, [id])
}

/** Lets one go on after an event, at once and with all tries before it. */
export async function resumeWebhook(tx: Queries, id: number, cursor: number): Promise<void> {
  await tx.run(webhookStatements.resume, [cursor, id])
}

/** A webhook as it was read: its id may have been given to another one since, or a person may have moved it on. */
type Known = Pick<Webhook, "id" | "createdAtMs" | "cursor">

/** Notes that one is done with an event, which did not concern it. */
export async function notePassedOver(
  tx: Queries,
  { id, createdAtMs, cursor: known }: Known,
  cursor: number,
): Promise<void> {
  await tx.run(webhookStatements.passOver, [cursor, id, createdAtMs, known])
}

export async function noteDelivered(
  tx: Queries,
  { id, createdAtMs, cursor: known }: Known,
  cursor: number,
  nowMs: number,
): Promise<void> {
  await tx.run(webhookStatements.delivered, [cursor, nowMs, id, createdAtMs, known])
}

/** The same with the failures before a try: a person may have resumed it meanwhile, with all tries before it. */
type Tried = Pick<Webhook, "id" | "createdAtMs" | "failures">

export interface Failure {
  failures: number
  error: string
}

export async function noteFailed(
  tx: Queries,
  { id, createdAtMs, failures: known }: Tried,
  { failures, error }: Failure,
  nextAttemptAtMs: number,
): Promise<void> {
  await tx.run(webhookStatements.failed, [failures, nextAttemptAtMs, error, id, createdAtMs, known])
}

/** Notes a failure after which nothing is tried any more: the webhook is paused, with why. */
export async function noteFailedForGood(
  tx: Queries,
  { id, createdAtMs, failures: known }: Tried,
  { failures, error }: Failure,
  pauseReason: string,
): Promise<void> {
  await tx.run(webhookStatements.failedForGood, [failures, error, pauseReason, id, createdAtMs, known])
}
