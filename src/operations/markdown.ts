/** How results read: short, the integers that other calls need each on a line of their own. */

import {
  ATTACHMENTS_SHOWN_CHARS_MAX,
  CONFLICTS_FOUND_MAX,
  NAMES_SHOWN_MAX,
  RESULT_CHARS_MAX,
} from "../config/limits.ts"
import { type Agent, isNotifier, isPerson } from "../domain/coordination/agent.ts"
import type { InboxMessage, Message, Recipient } from "../domain/coordination/message.ts"
import { holderOf, modeOf, type Reservation } from "../domain/coordination/reservation.ts"
import { oneLine, quoted } from "../domain/foreign-text/markdown.ts"
import { visibleJson } from "../domain/foreign-text/visible.ts"

/** Returns a time in ISO 8601, UTC. */
export function isoTime(timeMs: number): string {
  return new Date(timeMs).toISOString()
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

/** Returns the same for `amount` of the conflicts that were found, which may not be all there are. */
export function countFound(found: number, amount: number, noun: string): string {
  return found < CONFLICTS_FOUND_MAX ? count(amount, noun) : `at least ${count(amount, noun)}`
}

/**
 * Joins a head and as many blocks as fit into one result; when some do not, a last line says how many
 * and `howToGetTheRest`. With `keep` "last" the first blocks give way instead of the last.
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
  return [head, ...fitting, ...rest].join("\n\n")
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
    room -= block.length + 2
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

/** Returns the text of a message: as a quote, but for what we wrote ourselves. */
export function messageBody({ bodyMd, senderName }: { bodyMd: string; senderName: string }): string {
  return isNotifier(senderName) ? bodyMd : quoted(bodyMd)
}

/** Stands in the profile of people. */
export const PERSON_LINE = "Person: yes, not a program"

/** Returns an agent's profile, a fact a line. */
export function agentProfile(agent: Agent, projectKey: string): string {
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
    `Created: ${isoTime(agent.createdAtMs)}`,
    `Task: ${oneLine(agent.taskDescription ?? "none")}`,
  )
}

/** Returns one message of an inbox as a block. */
export function inboxEntry(message: InboxMessage): string {
  const marks = [
    message.readAtMs === null ? "unread" : "read",
    message.importance === "normal" ? null : message.importance,
    message.ackRequired ? ackMark(message.ackedAtMs) : message.ackedAtMs === null ? null : "acknowledged",
  ]
  return lines(
    `### ${oneLine(message.subject)}`,
    `Message id: ${message.id}`,
    `Thread id: ${message.threadKey}`,
    `From: ${message.senderName} (agent ${message.senderId})`,
    `Sent: ${isoTime(message.createdAtMs)}`,
    `Status: ${marks.filter((mark) => mark !== null).join(", ")}`,
    message.bodyMd === "" ? null : `\n${messageBody(message)}`,
  )
}

function ackMark(ackedAtMs: number | null): string {
  return ackedAtMs === null ? "acknowledgment required" : "acknowledged"
}

/** Returns one message of a thread as a block, with those it was visibly addressed to. */
export function threadEntry(
  message: Message,
  recipients: readonly Recipient[],
  ackedAtMs: number | null,
): string {
  return lines(messageHead(message, recipients, ackedAtMs), `\n${messageBody(message)}`)
}

/** Returns what is to be known of a message before its text. */
export function messageHead(
  message: Message,
  recipients: readonly Recipient[],
  ackedAtMs: number | null,
): string {
  const named = (kind: Recipient["kind"]) =>
    recipients.filter((one) => one.kind === kind).map((one) => one.name)
  const [to, cc] = [named("to"), named("cc")]
  const marks = [
    message.importance === "normal" ? null : message.importance,
    message.ackRequired ? ackMark(ackedAtMs) : null,
  ].filter((mark) => mark !== null)
  return lines(
    `### ${message.senderName}, ${isoTime(message.createdAtMs)}`,
    `Message id: ${message.id}`,
    `To: ${nameList(to)}`,
    cc.length === 0 ? null : `Cc: ${nameList(cc)}`,
    marks.length === 0 ? null : `Status: ${marks.join(", ")}`,
    attachmentsLine(message),
  )
}

function attachmentsLine(message: Message): string | null {
  if (message.attachments.length === 0) return null
  const json = visibleJson(message.attachments)
  if (json.length <= ATTACHMENTS_SHOWN_CHARS_MAX) return `Attachments: ${oneLine(json)}`
  return `Attachments: ${message.attachments.length}; read the resource signalbox://coordination/message/${message.id} to see them`
}

/** Returns one reservation as a block. */
export function reservationEntry(reservation: Reservation, nowMs: number): string {
  return lines(
    `### ${oneLine(reservation.pathPattern)}`,
    `Reservation id: ${reservation.id}`,
    `Agent: ${holderOf(reservation)} (agent ${reservation.agentId})`,
    `Mode: ${modeOf(reservation)}`,
    `Repository id: ${reservation.repositoryId}`,
    reservation.reason === null ? null : `Reason: ${oneLine(reservation.reason)}`,
    `Created: ${isoTime(reservation.createdAtMs)}`,
    `Expires: ${isoTime(reservation.expiresAtMs)} (in ${duration(reservation.expiresAtMs - nowMs)})`,
  )
}
