/** Whether an agent is at work, from the signs that there are of it. */

import { type Agent, isActive, isPerson } from "./agent.ts"

/**
 * `active`: seen in the last 30 minutes; `idle`: its session is open, but it has done nothing for longer; `gone`:
 * its session has ended, or nothing was seen of it.
 */
export const PRESENCES = ["active", "idle", "gone"] as const
export type Presence = (typeof PRESENCES)[number]

/** What else than its last activity tells of an agent. */
interface Signs {
  /** Whether a server process of its session lives. */
  isSessionLive: boolean
  /** Whether no other agent of its session was active later. */
  isLatestOfSession: boolean
  /** Whether its calls come over HTTP, where no process stands for a session. */
  isOverHttp: boolean
}

/** Returns whether an agent is at work. */
export function presenceOf(agent: Agent, signs: Signs, nowMs: number): Presence {
  const wasActive = isActive(agent, nowMs)
  // Of the names that a session has had, the last one stands for it when it is quiet.
  if (signs.isSessionLive) return wasActive ? "active" : signs.isLatestOfSession ? "idle" : "gone"
  // Who has registered by a server process is gone with it; of all others their activity alone tells.
  const hadServer = agent.isClaimed && !isPerson(agent) && !signs.isOverHttp
  return wasActive && !hadServer ? "active" : "gone"
}
