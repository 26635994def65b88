/**
 * Owns the shape of one mail of a thread, as the summary modules read it.
 * It refuses to know how mail is stored, addressed or acknowledged.
 */

/**
 * One Markdown mail; `createdAtMs` is in milliseconds since the epoch, a thread lists its mails oldest
 * first.
 */
export interface ThreadMessage {
  id: number
  sender: string
  subject: string
  body: string
  createdAtMs: number
}
