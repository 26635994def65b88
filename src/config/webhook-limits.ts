/** Every maximum of webhooks. */

export const WEBHOOKS_MAX = 32
export const WEBHOOK_NAME_CHARS_MAX = 100
export const WEBHOOK_URL_CHARS_MAX = 2_000
export const WEBHOOK_KINDS_MAX = 100
export const WEBHOOK_SECRET_BYTES = 32

/** How long a receiver may take from the resolving of its name to the status of its answer. */
export const WEBHOOK_ANSWER_MS_MAX = 15_000
/** What is read of the rest of an answer, and for how long: only its status counts. */
export const WEBHOOK_ANSWER_BYTES_MAX = 16 * 1024
export const WEBHOOK_BODY_MS_MAX = 1_000

/**
 * Seconds between the tries of a delivery that fails, a day in all; after the last one the webhook is paused. Each is
 * lengthened or shortened by up to a twentieth.
 */
export const WEBHOOK_PAUSES_SECONDS = [5, 30, 120, 600, 1_800, 3_600, 7_200, 14_400, 28_800, 28_800] as const
/** What a receiver may ask for by Retry-After at most. */
export const WEBHOOK_RETRY_AFTER_SECONDS_MAX = 3_600

/** Events that are read at a time. */
export const WEBHOOK_EVENTS_AT_ONCE = 100
/** How long what does not concern a webhook stays unnoted as done. */
export const WEBHOOK_NOTED_AFTER_MS = 60_000

/**
 * Characters of a text for people: of the whole in each format, and of each half of its first line. Escaped ones count
 * twice for Discord, which takes 2,000, and ntfy takes 4,096 bytes.
 */
export const WEBHOOK_TEXT_CHARS_MAX = { slack: 3_000, discord: 900, ntfy: 1_000 } as const
export const WEBHOOK_LINE_CHARS_MAX = 500
