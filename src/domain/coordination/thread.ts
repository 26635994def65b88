/** Threads: their state, and the part that each agent plays in them. */

import { THREAD_ACTIVE_WINDOW_MS } from "../../config/limits.ts"

export interface Thread {
  /** The row's id; agents know a thread by its key. */
  id: number
  projectId: number
  key: string
  subject: string
  /** Holds one notification, which is its recipient's business alone. */
  isNotice: boolean
  messageCount: number
  createdAtMs: number
  lastMessageAtMs: number
}

export type ThreadStatus = "active" | "idle"
type ThreadRole = "initiator" | "contributor" | "recipient"

export interface Participant {
  agentId: number
  name: string
  messagesSent: number
  lastActiveAtMs: number
  role: ThreadRole
}

/** A thread is active when it had a message within the last 7 days. */
export function threadStatus(lastMessageAtMs: number, nowMs: number): ThreadStatus {
  return nowMs - lastMessageAtMs <= THREAD_ACTIVE_WINDOW_MS ? "active" : "idle"
}

/** Who began the thread is its initiator, who wrote in it a contributor, all others are recipients. */
export function threadRole(agentId: number, initiatorId: number, messagesSent: number): ThreadRole {
  if (agentId === initiatorId) return "initiator"
  return messagesSent > 0 ? "contributor" : "recipient"
}
