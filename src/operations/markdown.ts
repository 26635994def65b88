/** How results read: short, the integers that other calls need each on a line of their own. */

import {
  ATTACHMENTS_SHOWN_CHARS_MAX,
  CONFLICTS_FOUND_MAX,
  FIRST_LINE_CHARS_MAX,
  FOUND_COUNTED_MAX,
  NAMES_SHOWN_MAX,
  RESULT_CHARS_MAX,
} from "../config/limits.ts"
import { type Agent, isNotifier, isPerson } from "../domain/coordination/agent.ts"
import {
  type InboxMessage,
  isWaiting,
  type Message,
  type Recipient,
  senderOf,
} from "../domain/coordination/message.ts"
import { holderOf, modeOf, type Reservation } from "../domain/coordination/reservation.ts"
import { oneLine, quoted } from "../domain/foreign-text/markdown.ts"
import { visibleJson } from "../domain/foreign-text/visible.ts"

/** Of what is older nobody asks for the second. */
const SECONDS_SHOWN_MS = 10 * 60_000

/** Returns a time in ISO 8601, UTC. */
export function isoTime(timeMs: number): string {
  return new Date(timeMs).toISOString()
}

/**
 * Returns a time in UTC as results show it, with how long ago it was in its largest unit: to the second within the
 * last ten minutes, to the minute before.
 */
export function timeAndAge(timeMs: number, nowMs: number): string {
  const time =
    nowMs - timeMs < SECONDS_SHOWN_MS ? shownTime(timeMs) : isoTime(timeMs).replace(/:[\d.]+Z$/, "Z")
  return `${time}, ${ageOf(timeMs, nowMs)}`
}

/** Returns how long ago something was, in the largest unit, such as `5 min ago`. */
export function ageOf(timeMs: number, nowMs: number): string {
  const [amount, unit] = duration(nowMs - timeMs).split(" ")
  return `${amount} ${unit} ago`
}

/** Returns a time in UTC to the second: what is left out would tell an agent nothing. */
export function shownTime(timeMs: number): string {
  return isoTime(timeMs).replace(/\.\d+Z$/, "Z")
}

/** Returns until when a reservation holds. */
export function expiryLine({ expiresAtMs }: Pick<Reservation, "expiresAtMs">, nowMs: number): string {
  return `Expires: ${shownTime(expiresAtMs)}, in ${duration(expiresAtMs - nowMs)}`
}

/** Returns a length of time in its two largest units, such as `1 h 5 min`. */
export function duration(lengthMs: number): string {
  const seconds = Math.max(0, Math.round(lengthMs / 1_000))
  const units: [string, number][] = [
    ["d", 86_400],
    ["h", 3_600],
    ["min", 60],
    ["s", 1],
  ]
  const first = units.findIndex(([, size]) => seconds >= size)
  if (first < 0) return "0 s"
  const parts = units.slice(first, first + 2).map(([unit, size], index) => {
    const bigger = units[first + index - 1]?.[1]
    const count = Math.floor((index === 0 || bigger === undefined ? seconds : seconds % bigger) / size)
    return count === 0 ? "" : `${count} ${unit}`
  })
  return parts.filter((part) => part !== "").join(" ")
}

/** Joins lines, leaving out those that are null. */
export function lines(...all: (string | null)[]): string {
  return all.filter((line) => line !== null).join("\n")
}

/** Returns a count with its noun, such as `1 message` or `3 messages`. */
export function count(number: number, noun: string, plural = `${noun}s`): string {
  return `${number} ${number === 1 ? noun : plural}`
}

/** Returns how many of what was found are shown, such as `20 shown of 55`, or the number of all of them. */
export function shownCount(shown: number, total: number): string {
  if (shown === total) return String(total)
  const isCounted = total <= FOUND_COUNTED_MAX
  const counted = Math.min(total, FOUND_COUNTED_MAX).toLocaleString("en-US")
  return `${shown} shown of ${isCounted ? "" : "more than "}${counted}`
}

/** Returns the same for `amount` of the conflicts that were found, which may not be all there are. */
export function countFound(found: number, amount: number, noun: string): string {
  return found < CONFLICTS_FOUND_MAX ? count(amount, noun) : `at least ${count(amount, noun)}`
}

/**
 * Joins a head and as many blocks as fit into one result, a block a line or more, each of which begins so that
 * nothing above can take it up; when some do not fit, a last line says how many and `howToGetTheRest`. With `keep` "last" the first blocks give way instead of the last.
 */
export function fitBlocks(
  head: string,
  blocks: readonly string[],
  howToGetTheRest: string,
  keep: "first" | "last" = "first",
): string {
  const shown = countFitting(head, blocks, howToGetTheRest, keep)
  const left = blocks.length - shown
  const fitting = keep === "first" ? blocks.slice(0, shown) : blocks.slice(left)
  const rest = left === 0 ? [] : [`${left} more did not fit. ${howToGetTheRest}`]
  return [[head, ...fitting].join("\n"), ...rest].join("\n\n")
}

/** Returns how many blocks `fitBlocks` shows. */
export function countFitting(
  head: string,
  blocks: readonly string[],
  howToGetTheRest: string,
  keep: "first" | "last" = "first",
): number {
  let room = RESULT_CHARS_MAX - head.length - howToGetTheRest.length - 80
  const ordered = keep === "first" ? blocks : [...blocks].reverse()
  const firstLeft = ordered.findIndex((block) => {
    room -= block.length + 1
    return room < 0
  })
  return firstLeft < 0 ? blocks.length : firstLeft
}

/** Cuts what is longer than a result may be, at the end of a line, and says so: the last resort. */
export function cutToFit(text: string): string {
  if (text.length <= RESULT_CHARS_MAX) return text
  const notice = `\n\nCut at ${RESULT_CHARS_MAX.toLocaleString("en-US")} characters. Ask for less in one call.`
  const end = text.lastIndexOf("\n", RESULT_CHARS_MAX - notice.length)
  return text.slice(0, end > 0 ? end : RESULT_CHARS_MAX - notice.length) + notice
}

/** Returns names with commas between them, of many the first ones. */
export function nameList(names: readonly string[]): string {
  const left = names.length - NAMES_SHOWN_MAX
  return names.slice(0, NAMES_SHOWN_MAX).join(", ") + (left > 0 ? ` and ${left} more` : "")
}

/** Returns the text of a message below the line above it: as a quote, but for what we wrote ourselves. */
export function messageBody({ bodyMd, senderName }: { bodyMd: string; senderName: string }): string {
  return isNotifier(senderName) ? `\n${bodyMd}` : quoted(bodyMd)
}

/** Stands in the profile of people. */
export const PERSON_LINE = "Person: yes, not a program"

/** Returns an agent's profile, a fact a line. */
export function agentProfile(agent: Agent, projectKey: string, nowMs: number): string {
  return lines(
    `Project: ${oneLine(projectKey)}`,
    `Project id: ${agent.projectId}`,
    `Agent id: ${agent.id}`,
    `Repository id: ${agent.repositoryId ?? "none"}`,
    `Name: ${agent.name}`,
    isPerson(agent) ? PERSON_LINE : null,
    `Program: ${oneLine(agent.program)}`,
    `Model: ${oneLine(agent.model)}`,
    `Contact policy: ${agent.contactPolicy}`,
    `Created: ${timeAndAge(agent.createdAtMs, nowMs)}`,
    `Task: ${oneLine(agent.taskDescription ?? "none")}`,
  )
}

/** Returns one message of an inbox as a block. */
export function inboxEntry(message: InboxMessage, nowMs: number): string {
  const marks = [
    message.readAtMs === null ? "unread" : "read",
    message.ackRequired ? ackMark(message.ackedAtMs) : message.ackedAtMs === null ? null : "acknowledged",
  ]
  return lines(
    `### ${oneLine(message.subject)}`,
    `Message id: ${message.id}`,
    `Thread id: ${message.threadKey}`,
    // Whoever answers mail that is done with does so by the message's own id.
    `From: ${isWaiting(message) ? fromAt(message, nowMs) : nameAt(message, nowMs)}`,
    `Importance: ${message.importance}; ${marks.filter((mark) => mark !== null).join(", ")}`,
    message.bodyMd === "" ? null : messageBody(message),
  )
}

/** Returns the same with the first line of its text, to decide by whether to read it. */
export function waitingEntry(message: InboxMessage, nowMs: number): string {
  const [first = ""] = message.bodyMd.trim().split(/[\r\n\u0085\u2028\u2029]/u, 1)
  return lines(inboxEntry({ ...message, bodyMd: "" }, nowMs), `Begins: ${oneLine(cutText(first))}`)
}

/** Returns who sent a message and when, without the sender's id. */
export function nameAt(
  { createdAtMs, ...message }: Pick<Message, "senderName" | "isPersons" | "createdAtMs">,
  nowMs: number,
): string {
  return `${senderOf(message)}, ${timeAndAge(createdAtMs, nowMs)}`
}

type Sent = Pick<Message, "senderName" | "isPersons" | "senderId" | "createdAtMs">

/** Returns who sent a message and when. */
export function fromAt({ senderName, isPersons, senderId, createdAtMs }: Sent, nowMs: number): string {
  // The notifier reads no mail, so nobody needs its id.
  const id = isNotifier(senderName) ? "" : ` (agent ${senderId}${isPersons ? ", a person" : ""})`
  return `${senderName}${id}, ${timeAndAge(createdAtMs, nowMs)}`
}

function cutText(text: string): string {
  const characters = [...text]
  if (characters.length <= FIRST_LINE_CHARS_MAX) return text
  return `${characters.slice(0, FIRST_LINE_CHARS_MAX).join("")}…`
}

function ackMark(ackedAtMs: number | null): string {
  return ackedAtMs === null ? "acknowledgment required" : "acknowledged"
}

/** Returns one message of a thread as a block, with those it was visibly addressed to. */
export function threadEntry(
  message: Message,
  recipients: readonly Recipient[],
  ackedAtMs: number | null,
  nowMs: number,
): string {
  return lines(
    `### ${nameAt(message, nowMs)}`,
    messageFacts(message, recipients, ackedAtMs),
    messageBody(message),
  )
}

/** Returns what is to be known of a message before its text, but for its sender and time. */
export function messageFacts(
  message: Message,
  recipients: readonly Recipient[],
  ackedAtMs: number | null,
): string {
  const named = (kind: Recipient["kind"]) =>
    recipients.filter((one) => one.kind === kind).map((one) => one.name)
  const [to, cc] = [named("to"), named("cc")]
  return lines(
    `Message id: ${message.id}`,
    `To: ${nameList(to)}`,
    cc.length === 0 ? null : `Cc: ${nameList(cc)}`,
    `Importance: ${message.importance}${message.ackRequired ? `; ${ackMark(ackedAtMs)}` : ""}`,
    attachmentsLine(message),
  )
}

function attachmentsLine(message: Message): string | null {
  if (message.attachments.length === 0) return null
  const json = visibleJson(message.attachments)
  if (json.length <= ATTACHMENTS_SHOWN_CHARS_MAX) return `Attachments: ${oneLine(json)}`
  return `Attachments: ${message.attachments.length}; read the resource signalbox://coordination/message/${message.id} to see them`
}

/** Returns who holds a reservation, with the agent's id. */
export function holderWithId(reservation: Reservation): string {
  return holderOf(reservation, { of: `agent ${reservation.agentId}` })
}

/** Returns one reservation as a block. */
export function reservationEntry(reservation: Reservation, nowMs: number): string {
  return lines(
    `### ${oneLine(reservation.pathPattern)}`,
    `Reservation id: ${reservation.id}`,
    `Agent: ${holderWithId(reservation)}`,
    `Mode: ${modeOf(reservation)}`,
    `Repository id: ${reservation.repositoryId}`,
    reservation.reason === null ? null : `Reason: ${oneLine(reservation.reason)}`,
    `Created: ${timeAndAge(reservation.createdAtMs, nowMs)}`,
    expiryLine(reservation, nowMs),
  )
}
