/** Webhooks as people manage them: adding, listing, pausing, removing, and trying whether letters arrive. */

import {
  WEBHOOK_KINDS_MAX,
  WEBHOOK_NAME_CHARS_MAX,
  WEBHOOK_SECRET_BYTES,
  WEBHOOK_URL_CHARS_MAX,
  WEBHOOKS_MAX,
} from "../../config/webhook-limits.ts"
import type { Queries } from "../../db/database.ts"
import { echoed } from "../../domain/foreign-text/markdown.ts"
import { ntfyPlace } from "../../domain/webhooks/text.ts"
import {
  namesWebhookKinds,
  shownUrl,
  WEBHOOK_KINDS,
  type Webhook,
  type WebhookFormat,
} from "../../domain/webhooks/webhook.ts"
import { AppError, invalid } from "../../errors.ts"
import { ownCommand } from "../../runtime/own-command.ts"
import {
  findWebhook,
  insertWebhook,
  listWebhooks,
  pauseWebhook,
  removeWebhook as removeRow,
  resumeWebhook as resumeRow,
} from "../../store/webhooks.ts"
import type { App } from "../app.ts"
import { newestEvent } from "../events/reading.ts"
import { isoTime } from "../markdown.ts"
import { failureText } from "./delivery.ts"
import { sendingOf, testLetter } from "./letters.ts"
import { type SendOptions, send } from "./sending.ts"
import { secretOf } from "./signing.ts"

/** Why agents manage none, for refusals. */
export const WEBHOOKS_RULE = "webhooks are managed by people"

export interface WebhookRequest {
  url: string
  /** The receiver's host unless given. */
  name?: string | undefined
  /** Kinds, or beginnings of them with `.*` behind; all unless given. */
  kinds?: readonly string[] | undefined
  format: WebhookFormat
  includesContent: boolean
  allowsPrivate: boolean
}

/** What may be shown of a webhook: never its secret, and of its address no more than the beginning. */
export interface ShownWebhook {
  id: number
  name: string
  url: string
  events: readonly string[]
  format: WebhookFormat
  include_content: boolean
  allow_private: boolean
  state: "active" | "failing" | "paused"
  pause_reason: string | null
  failures: number
  last_error: string | null
  next_attempt_at: string | null
  last_delivered_at: string | null
  /** The last event that it is done with. */
  after: number
  created_at: string
}

/**
 * Adds a webhook, which is told of what happens from now on, and returns it with its secret, which is nowhere to be
 * seen again. The caller has made sure that a person asks.
 */
export async function addWebhook(
  app: App,
  request: WebhookRequest,
): Promise<{ webhook: ShownWebhook; secret: string }> {
  const url = checkedUrl(request)
  const name = request.name?.trim() ?? new URL(url).hostname
  if (name === "" || [...name].length > WEBHOOK_NAME_CHARS_MAX)
    throw invalid("name", `must have 1 to ${WEBHOOK_NAME_CHARS_MAX} characters`)
  const given = request.kinds?.length ?? 1
  if (given < 1 || given > WEBHOOK_KINDS_MAX)
    throw invalid("events", `must be 1 to ${WEBHOOK_KINDS_MAX} kinds`)
  const kinds = [...new Set(request.kinds ?? [])]
  for (const kind of kinds) {
    if (!namesWebhookKinds(kind))
      throw invalid(
        "events",
        `${echoed(kind)} is no kind of event that webhooks are told of`,
        `Kinds: ${WEBHOOK_KINDS.join(", ")}; message.* and the like name several.`,
      )
  }
  const { format, includesContent, allowsPrivate } = request
  const secret = secretOf(app.randomBytes(WEBHOOK_SECRET_BYTES))
  const webhook = await app.db.transaction("webhooks", async (tx) => {
    if ((await listWebhooks(tx)).length >= WEBHOOKS_MAX)
      throw new AppError("conflict", `there are ${WEBHOOKS_MAX} webhooks already, and no more are possible`, {
        hint: `Remove one: ${ownCommand()} webhooks remove <id>`,
      })
    const cursor = await newestEvent(tx)
    const added = { name, url, secret, kinds, format, includesContent, allowsPrivate, cursor }
    return insertWebhook(tx, added, app.now())
  })
  return { webhook: shownWebhook(webhook), secret }
}

/** Returns an address in its usual form; fails with `invalid`, repeating nothing of it: it may hold a secret. */
function checkedUrl({ url: given, allowsPrivate, format }: WebhookRequest): string {
  if (given.length > WEBHOOK_URL_CHARS_MAX)
    throw invalid("url", `must have at most ${WEBHOOK_URL_CHARS_MAX} characters`)
  const url = URL.canParse(given) ? new URL(given) : undefined
  if (url === undefined || !["https:", "http:"].includes(url.protocol))
    throw invalid("url", "must be the https address of a receiver", "Give it as https://host/path.")
  if (url.protocol === "http:" && !allowsPrivate)
    throw invalid(
      "url",
      "must begin with https://",
      "A receiver on this machine or in its network may have http with --allow-private (allow_private over REST).",
    )
  url.hash = ""
  if (format === "ntfy" && ntfyPlace(url.href) === undefined)
    throw invalid("url", "must end with a topic of ntfy: 1 to 64 of A-Z, a-z, 0-9, dash, underscore")
  return url.href
}

/** Returns all webhooks, the oldest first. */
export async function allWebhooks({ db }: Pick<App, "db">): Promise<ShownWebhook[]> {
  return (await listWebhooks(db)).map(shownWebhook)
}

/** Pauses a webhook until it is resumed; fails with `not_found`. */
export function pauseWebhookById(app: App, id: number): Promise<ShownWebhook> {
  return changed(app, id, (tx) => pauseWebhook(tx, id))
}

/**
 * Lets a webhook go on at once, with what happened meanwhile or, with `skips`, with what happens from now on. Fails
 * with `not_found`.
 */
export function resumeWebhookById(app: App, id: number, skips: boolean): Promise<ShownWebhook> {
  return changed(app, id, async (tx, { cursor }) => resumeRow(tx, id, skips ? await newestEvent(tx) : cursor))
}

/** Removes a webhook for good and returns what it was; fails with `not_found`. */
export function removeWebhookById(app: App, id: number): Promise<ShownWebhook> {
  return app.db.transaction("webhooks", async (tx) => {
    const webhook = await requireWebhook(tx, id)
    await removeRow(tx, id)
    return shownWebhook(webhook)
  })
}

function changed(
  app: App,
  id: number,
  change: (tx: Queries, webhook: Webhook) => Promise<void>,
): Promise<ShownWebhook> {
  return app.db.transaction("webhooks", async (tx) => {
    await change(tx, await requireWebhook(tx, id))
    return shownWebhook(await requireWebhook(tx, id))
  })
}

export interface TestOutcome {
  is_delivered: boolean
  status: number | null
  /** Why it did not arrive; null when it did. */
  error: string | null
}

/** Sends a webhook's receiver a letter that tells of nothing, now and once, also while it is paused. */
export async function testWebhookById(app: App, id: number, options: SendOptions = {}): Promise<TestOutcome> {
  const webhook = await requireWebhook(app.db, id)
  const mark = Buffer.from(app.randomBytes(8)).toString("hex")
  const nowMs = app.now()
  const outcome = await send(sendingOf(webhook, testLetter(webhook, mark, nowMs), nowMs), options)
  const error = failureText(outcome)
  return { is_delivered: error === null, status: "status" in outcome ? outcome.status : null, error }
}

async function requireWebhook(db: Queries, id: number): Promise<Webhook> {
  const webhook = await findWebhook(db, id)
  if (webhook !== undefined) return webhook
  throw new AppError("not_found", `webhook ${id} was not found`, {
    hint: `Run \`${ownCommand()} webhooks list\` to see the ids.`,
  })
}

function shownWebhook(webhook: Webhook): ShownWebhook {
  const { isPaused, failures, nextAttemptAtMs, lastDeliveredAtMs } = webhook
  return {
    id: webhook.id,
    name: webhook.name,
    url: shownUrl(webhook.url),
    events: webhook.kinds.length === 0 ? ["*"] : webhook.kinds,
    format: webhook.format,
    include_content: webhook.includesContent,
    allow_private: webhook.allowsPrivate,
    state: isPaused ? "paused" : failures > 0 ? "failing" : "active",
    pause_reason: webhook.pauseReason,
    failures,
    last_error: webhook.lastError,
    next_attempt_at: isPaused || failures === 0 ? null : isoTime(nextAttemptAtMs),
    last_delivered_at: lastDeliveredAtMs === null ? null : isoTime(lastDeliveredAtMs),
    after: webhook.cursor,
    created_at: isoTime(webhook.createdAtMs),
  }
}
