/** Webhooks: where events are sent to, what is told of their addresses, and when a delivery is tried again. */

import { WEBHOOK_PAUSES_SECONDS, WEBHOOK_RETRY_AFTER_SECONDS_MAX } from "../../config/webhook-limits.ts"
import { EVENT_KINDS, type EventKind } from "../events/kinds.ts"

/** How an event is written for its receiver. */
export const WEBHOOK_FORMATS = ["json", "slack", "discord", "ntfy"] as const
export type WebhookFormat = (typeof WEBHOOK_FORMATS)[number]

export interface Webhook {
  id: number
  name: string
  /** May hold a secret; see `shownUrl`. */
  url: string
  secret: string
  /** Names of kinds, and beginnings of them with `.*` behind; empty for all. */
  kinds: readonly string[]
  format: WebhookFormat
  includesContent: boolean
  allowsPrivate: boolean
  /** The id of the last event that it is done with. */
  cursor: number
  isPaused: boolean
  /** Why it was paused without a person's doing; null otherwise. */
  pauseReason: string | null
  /** Tries in a row that failed. */
  failures: number
  nextAttemptAtMs: number
  lastError: string | null
  lastDeliveredAtMs: number | null
  createdAtMs: number
}

/** The kinds that a webhook can be told of: those that concern two agents alone are theirs. */
export const WEBHOOK_KINDS: readonly EventKind[] = (Object.keys(EVENT_KINDS) as EventKind[]).filter(
  (kind) => !["parties", "actor"].includes(EVENT_KINDS[kind].sight),
)

/** Whether a pattern, a kind or the beginning of some with `.*` behind, names any kind that webhooks are told of. */
export function namesWebhookKinds(pattern: string): boolean {
  return WEBHOOK_KINDS.some((kind) => matches(pattern, kind))
}

/** Whether a webhook is to be told of events of a kind. */
export function wantsKind({ kinds }: Pick<Webhook, "kinds">, kind: EventKind): boolean {
  return WEBHOOK_KINDS.includes(kind) && (kinds.length === 0 || kinds.some((each) => matches(each, kind)))
}

function matches(pattern: string, kind: EventKind): boolean {
  return pattern.endsWith(".*") ? kind.startsWith(pattern.slice(0, -1)) : kind === pattern
}

const PATH_CHARS_SHOWN = 4

/** Returns as much of an address as may be shown: what follows the host often is a secret. */
export function shownUrl(url: string): string {
  const { origin, pathname, search } = new URL(url)
  const path = `${pathname}${search}`
  if (path === "/") return origin
  const shown = path.slice(0, 1 + PATH_CHARS_SHOWN)
  return `${origin}${shown}${shown === path ? "" : "…"}`
}

/**
 * Returns how many milliseconds after its `failures`th failure in a row a delivery is tried again, or undefined where
 * it has failed for a day; `random` is in 0..1. A receiver may ask for more, up to an hour.
 */
export function pauseAfterFailure(
  failures: number,
  random: number,
  retryAfterSeconds = 0,
): number | undefined {
  const seconds = WEBHOOK_PAUSES_SECONDS[failures - 1]
  if (seconds === undefined) return undefined
  const asked = Math.min(retryAfterSeconds, WEBHOOK_RETRY_AFTER_SECONDS_MAX)
  return 1_000 * Math.max(asked, seconds * (0.95 + 0.1 * random))
}
