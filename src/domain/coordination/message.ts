/** Messages: importance, recipients and who counts as what. */

export const IMPORTANCES = ["normal", "high", "urgent"] as const
export type Importance = (typeof IMPORTANCES)[number]
export type RecipientKind = "to" | "cc" | "bcc"

export interface Recipient {
  agentId: number
  name: string
  kind: RecipientKind
  readAtMs: number | null
  ackedAtMs: number | null
}

export interface Message {
  id: number
  projectId: number
  threadKey: string
  parentId: number | null
  senderId: number
  senderName: string
  /** Whether a person sent it. */
  isPersons: boolean
  subject: string
  bodyMd: string
  importance: Importance
  ackRequired: boolean
  attachments: Record<string, unknown>[]
  createdAtMs: number
}

/** What a listing shows of a message. */
export type ListedMessage = Omit<Message, "projectId" | "parentId" | "attachments">

/** A message as it lies in one agent's inbox, with what became of it there. */
export interface InboxMessage extends ListedMessage {
  readAtMs: number | null
  ackedAtMs: number | null
}

/** Returns who sent a message, marked where that is a person. */
export function senderOf({ senderName, isPersons }: Pick<Message, "senderName" | "isPersons">): string {
  return isPersons ? `${senderName} (a person)` : senderName
}

/** Whether a message still waits for the agent: to be read, or to be acknowledged. */
export function isWaiting({ readAtMs, ackRequired, ackedAtMs }: InboxMessage): boolean {
  return readAtMs === null || (ackRequired && ackedAtMs === null)
}

/**
 * Merges the recipient lists: an agent named in several is kept once, in the strongest (to, then cc,
 * then bcc), in the order in which it was first named there.
 */
export function mergeRecipients(
  to: readonly number[],
  cc: readonly number[],
  bcc: readonly number[],
): Map<number, RecipientKind> {
  const kinds = new Map<number, RecipientKind>()
  const lists: [RecipientKind, readonly number[]][] = [
    ["to", to],
    ["cc", cc],
    ["bcc", bcc],
  ]
  for (const [kind, ids] of lists) {
    for (const id of ids) if (!kinds.has(id)) kinds.set(id, kind)
  }
  return kinds
}

/**
 * Returns whom a reply goes to: the parent's sender, or the parent's own `to` when one replies to
 * oneself; everybody else who was visibly addressed is in cc. bcc recipients stay out of it.
 */
export function replyRecipients(
  replierId: number,
  parent: { senderId: number },
  recipients: readonly Recipient[],
): { to: number[]; cc: number[] } {
  const addressed = (kind: RecipientKind) =>
    recipients.filter((one) => one.kind === kind).map((one) => one.agentId)
  const ownReply = parent.senderId === replierId
  const to = ownReply ? addressed("to") : [parent.senderId]
  const others = ownReply ? addressed("cc") : [...addressed("to"), ...addressed("cc")]
  return { to, cc: others.filter((id) => id !== replierId && !to.includes(id)) }
}

/** Returns the subject of a reply: `Re: ` once. */
export function replySubject(subject: string): string {
  return /^re: /i.test(subject) ? subject : `Re: ${subject}`
}

/** Returns the recipients that everybody may see. */
export function visibleRecipients(recipients: readonly Recipient[]): Recipient[] {
  return recipients.filter((recipient) => recipient.kind !== "bcc")
}

/** Returns when the first of the given recipients acknowledged, or null. */
export function firstAckAt(recipients: readonly Recipient[]): number | null {
  const times = recipients.flatMap((recipient) => (recipient.ackedAtMs === null ? [] : [recipient.ackedAtMs]))
  return times.length === 0 ? null : Math.min(...times)
}

const SUBJECT_MADE_CHARS_MAX = 80

/** Returns a subject for a text: its first line that is not blank, without Markdown's marks before it, at most 80 characters. */
export function subjectOf(text: string): string {
  const first = text.split(/\r?\n/).find((line) => line.trim() !== "") ?? ""
  const line = first.trim().replace(/\s+/g, " ")
  const subject = line.replace(/^(?:#{1,6}|[-*+>]|\d{1,3}[.)])\s+(?:\[[ xX]\]\s+)?/, "")
  const characters = [...subject]
  if (characters.length <= SUBJECT_MADE_CHARS_MAX) return subject
  const cut = characters.slice(0, SUBJECT_MADE_CHARS_MAX - 1).join("")
  // Between words, unless that would leave little.
  const end = cut.lastIndexOf(" ")
  return `${end > SUBJECT_MADE_CHARS_MAX / 2 ? cut.slice(0, end) : cut}…`
}
