/**
 * The search port: the one thing written per engine. Rows live in the store's tables; an index only
 * knows how to find their ids again.
 */

import type { Queries } from "../db/database.ts"
import type { Importance } from "../domain/message.ts"
import type { MessageQuery } from "../domain/query-text.ts"

export interface MessageFilter {
  projectId: number
  senderId?: number | undefined
  /** Somebody the message was visibly addressed to; a bcc recipient never counts. */
  recipientId?: number | undefined
  importance?: Importance | undefined
  fromMs?: number | undefined
  toMs?: number | undefined
}

export interface ThreadFilter {
  projectId: number
  participantId?: number | undefined
  fromMs?: number | undefined
}

export interface SearchIndex {
  /** Makes a stored message findable, in the transaction that stores it. */
  putMessage(tx: Queries, message: { id: number; subject: string; body: string }): Promise<void>
  /** Returns the ids of matching messages, most relevant first, newer first among equals, at most `limit`. */
  findMessages(db: Queries, query: MessageQuery, filter: MessageFilter, limit: number): Promise<number[]>
  /** Returns the row ids of threads with matching messages, best message first, at most `limit`. */
  findThreads(db: Queries, query: MessageQuery, filter: ThreadFilter, limit: number): Promise<number[]>
}
