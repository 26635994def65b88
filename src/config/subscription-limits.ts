/** What following resources over MCP may cost; see `limits.ts`. */

/** Resources that one session follows at once. */
export const SUBSCRIPTIONS_MAX = 64
/** The shortest time between two updates of one resource; what changes meanwhile is told by the second. */
export const UPDATE_STEP_MS = 100
/** How often what changes by time alone is looked at, while somebody follows anything. */
export const PASSING_TIME_LOOK_MS = 30_000
/** What the sessions of one key follow together over HTTP in the older form of the protocol, where it is stored. */
export const STORED_SUBSCRIPTIONS_MAX = 1_024
/** How long a session that is not there keeps what it follows. */
export const STORED_SUBSCRIPTION_MS_MAX = 24 * 3_600_000
/** Streams of updates that one listener keeps open. */
export const UPDATE_STREAMS_MAX = 96
/** Updates that a stream holds for a reader who does not take them; more are told once it does. */
export const UPDATES_WAITING_MAX = 64
/** How often a stream says that it is still there. */
export const STREAM_KEEP_ALIVE_MS = 15_000
