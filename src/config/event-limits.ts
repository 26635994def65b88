/** What bounds the feed of events. */

/** Events of one answer: unless a limit is given, and at most. */
export const EVENTS_LISTED_DEFAULT = 100
export const EVENTS_LISTED_MAX = 1_000
/** Events that `signalbox log` shows unless it is told how many, and from how long ago at most. */
export const LOG_LIMIT_DEFAULT = 50
export const LOG_SINCE_SECONDS_MAX = 2_592_000
/** Events that one call looks through for those which its reader may see. */
export const EVENTS_SCANNED_MAX = 10_000
/** Streams that one listener keeps open. */
export const EVENT_STREAMS_MAX = 128
/** After how long without an event a stream tells how far it is. */
export const EVENT_HEARTBEAT_MS = 15_000
/** How long a reader may leave standing what was written to it. */
export const EVENT_STALL_MS_MAX = 15_000
/** How soon a reader that lost its stream comes back. */
export const EVENT_RETRY_MS = 1_000
/** How often a stream looks whether its key still counts, at most. */
export const EVENT_KEY_CHECK_MS = 1_000
/** Events that are read at once, and bytes of them that are written at once. */
export const EVENT_PAGE_MAX = 200
export const EVENT_WRITE_BYTES_MAX = 65_536
/** Events, and bytes of them, that are kept in memory for all streams together; earlier ones are read again. */
export const EVENTS_KEPT_MAX = 1_000
export const EVENT_BYTES_KEPT_MAX = 1_048_576
/** How long the same refusal of an agent is not told of again. */
export const REFUSAL_EVENT_MS = 60_000
/** How long what is only told waits for other processes, since all else of its own waits for it. */
export const TELLING_WAIT_MS_MAX = 250
