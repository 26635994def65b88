/** What following resources over MCP may cost; see `limits.ts`. */

/** Resources that one session follows at once. */
export const SUBSCRIPTIONS_MAX = 64
/** The shortest time between two updates of one resource; what changes meanwhile is told by the second. */
export const UPDATE_STEP_MS = 100
/** How often what changes by time alone is looked at, while somebody follows anything. */
export const PASSING_TIME_LOOK_MS = 30_000
