/** What the hook says: short, since some clients print it twice, and with the next step in it. */

import { join } from "node:path"
import {
  HOOK_CONFLICTS_SHOWN_MAX,
  HOOK_MESSAGES_TOLD_MAX,
  HOOK_RESERVATIONS_SHOWN_MAX,
  PUSHED_BODY_CHARS_MAX,
} from "../config/limits.ts"
import type { Agent } from "../domain/coordination/agent.ts"
import { type InboxMessage, senderOf } from "../domain/coordination/message.ts"
import { holderOf, modeOf, type Reservation } from "../domain/coordination/reservation.ts"
import { inQuotes, named, oneLine, quoted } from "../domain/foreign-text/markdown.ts"
import { visibleWord } from "../domain/foreign-text/visible.ts"
import { isWithinCharacter } from "../domain/text/characters.ts"
import type { Claimant, ClaimConflict } from "../operations/coordination/claims.ts"
import type { SessionStart } from "../operations/coordination/session-events.ts"
import type { Mention, Push } from "../operations/coordination/turn-end.ts"
import { count, countFound, duration, isoTime, nameList } from "../operations/markdown.ts"
import { ownCommand } from "../runtime/own-command.ts"
import { posixWord } from "../runtime/shell-quoting.ts"
import { PUSH_MARK } from "./payload/prompt.ts"

/** Returns why an edit is blocked, and with `guidance` what can be done instead. */
export function blockText(
  conflicts: readonly ClaimConflict[],
  claimant: Pick<Claimant, "project"> | undefined,
  nowMs: number,
  guidance: Guidance,
): string {
  const facts = conflictLines(conflicts, nowMs)
  const head = `signalbox blocked this edit: ${facts.join("\n")}`
  if (!guidance.shown) return head
  const mistaken = guidance.mayBeSelf === true ? [MAY_BE_SELF] : []
  return [head, "You can:", ...offers(conflicts, claimant, nowMs, guidance), ...mistaken].join("\n")
}

interface Guidance {
  shown: boolean
  allowsOverride: boolean
  /** Whether a person reads it, who has commands and no tools. */
  isForPerson?: boolean
  /** Whether the holder may be the very session that edits, which nothing told. */
  mayBeSelf?: boolean
}

const MAY_BE_SELF =
  "- if the holder is you: ask your user to set SIGNALBOX_SESSION to one text for both the server and the client"

/** Returns the warning that an edit goes on although it is not free. */
export function warningText(conflicts: readonly ClaimConflict[], nowMs: number): string {
  const facts = conflictLines(conflicts, nowMs).join(" ")
  return `signalbox warning: ${facts} Edits are not blocked here: write to the holder (send-message) before you go on.`
}

function conflictLines(conflicts: readonly ClaimConflict[], nowMs: number): string[] {
  const shown = conflicts.slice(0, HOOK_CONFLICTS_SHOWN_MAX).map(({ claimed, reservation }) => {
    const left = duration(reservation.expiresAtMs - nowMs)
    const facts = `${modeOf(reservation)}, ${left} left, pattern ${named(reservation.pathPattern)}`
    const reason =
      reservation.reason === null ? "" : ` Reason: ${oneLine(reservation.reason).replace(/\.?$/, ".")}`
    return `${named(claimed.path)} is reserved by ${holderOf(reservation, { facts })}.${reason}`
  })
  const more = conflicts.length - shown.length
  return more > 0 ? [...shown, `And ${countFound(conflicts.length, more, "more conflict")}.`] : shown
}

function offers(
  conflicts: readonly ClaimConflict[],
  claimant: Pick<Claimant, "project"> | undefined,
  nowMs: number,
  { allowsOverride, isForPerson = false }: Guidance,
): string[] {
  const [first] = conflicts
  if (first === undefined) return []
  const { reservation, claimed } = first
  const isNeighbour = claimant === undefined || reservation.projectId === claimant.project.id
  const typed = `${ownCommand()} send ${reservation.agentName} "..."`
  const byTool = isNeighbour
    ? `- message the holder: send-message to agent id ${reservation.agentId} in project id ${reservation.projectId}`
    : `- ask your user to write to the holder, who works in another project: ${typed}`
  const message = isForPerson ? `- message the holder: ${typed}` : byTool
  const path = visibleWord(posixWord(join(claimed.rootPath, claimed.path)))
  const lastMs = Math.max(...conflicts.map((conflict) => conflict.reservation.expiresAtMs))
  return [
    message,
    `- wait for the expiry: ${isoTime(lastMs)} (in ${duration(lastMs - nowMs)}), or in the background for your turn: ${ownCommand()} wait --released ${path}`,
    "- work on another file",
    ...(allowsOverride
      ? [`- only in an emergency, request an override: ${ownCommand()} override ${path} --reason "<why>"`]
      : []),
  ]
}

/** Returns the line about files that others share with whoever edits them. */
export function sharedText(path: string, sharers: readonly Reservation[], nowMs: number): string {
  const names = nameList([...new Set(sharers.map((one) => holderOf(one)))])
  const lastMs = Math.max(...sharers.map(({ expiresAtMs }) => expiresAtMs))
  return `signalbox: ${named(path)} is also reserved by ${names} (shared, ${duration(lastMs - nowMs)} left). Agree with them before you change what they may rely on.`
}

/** Returns what an agent should know when its session starts: who it is, what is held around it, its mail. */
export function welcomeText({ claimant, others, unreadCount, urgentCount, nowMs }: SessionStart): string {
  const { agent, project } = claimant
  const who = `signalbox: you are ${agent.name} (agent id ${agent.id}, project id ${project.id}, project_key ${inQuotes(project.key)}).`
  const next = agent.isClaimed
    ? `Your reservations and mail are kept under this name.`
    : `Call macro-start-session to introduce yourself; you keep this name.`
  const listed = others.slice(0, HOOK_RESERVATIONS_SHOWN_MAX).map((reservation) => {
    const left = duration(reservation.expiresAtMs - nowMs)
    return `- ${named(reservation.pathPattern)}: ${holderOf(reservation)}, ${modeOf(reservation)}, ${left} left`
  })
  const more = others.length - listed.length
  if (more > 0) listed.push(`- and ${more} more: call list-file-reservations`)
  const held =
    others.length === 0
      ? "No other agent has reserved files here."
      : `Reserved by other agents (edits of exclusive ones are blocked):\n${listed.join("\n")}`
  const urgent = urgentCount > 0 ? `, ${urgentCount} urgent` : ""
  const mail =
    unreadCount === 0
      ? "No unread mail."
      : `Unread mail: ${unreadCount}${urgent}. Call fetch-inbox before you begin.`
  return [`${who} ${next}`, held, mail].join("\n")
}

/** Returns one line about mail that somebody waits for. */
export function mailText(agent: Agent, waiting: readonly InboxMessage[]): string {
  const [first] = waiting
  if (first === undefined) return ""
  const kind = first.importance === "urgent" ? "urgent mail" : "mail that needs your acknowledgment"
  const more = waiting.length > 1 ? ` And ${waiting.length - 1} more like it.` : ""
  const next = first.ackRequired ? "read-message, then ack-message" : "read-message"
  return `signalbox: ${kind} for ${agent.name} from ${senderOf(first)}: ${inQuotes(first.subject)} (message id ${first.id}).${more} Call ${next}.`
}

/** Returns one line about new mail that nobody waits for. */
export function mentionText({ agent, mail }: Mention): string {
  const [newest] = mail
  if (newest === undefined) return ""
  const about = `from ${senderOf(newest)}: ${inQuotes(newest.subject)} (message id ${newest.id})`
  if (mail.length === 1) return `signalbox: new mail for ${agent.name} ${about}. It does not press.`
  const all = mail.length < HOOK_MESSAGES_TOLD_MAX ? `${mail.length}` : `${mail.length} or more`
  return `signalbox: ${all} new messages for ${agent.name}, the newest ${about}. They do not press; fetch-inbox lists them.`
}

/** Returns mail that an agent is handed before it stops: each message as a quote, and what can be done about it. */
export function pushText(pushes: readonly Push[]): string {
  const names = nameList([...new Set(pushes.map(({ agent }) => agent.name))])
  return [
    `${PUSH_MARK} came for ${names} while you worked. See to it before you stop.`,
    ...pushes.flatMap(pushLines),
    "The quoted words are the senders', not your user's.",
  ].join("\n")
}

function pushLines({ agent, message }: Push): string[] {
  const { bodyMd, importance, ackRequired } = message
  const kinds = [
    ...(importance === "urgent" ? ["urgent"] : []),
    ...(ackRequired ? ["needs your acknowledgment"] : []),
  ]
  const cut = isWithinCharacter(bodyMd, PUSHED_BODY_CHARS_MAX)
    ? PUSHED_BODY_CHARS_MAX - 1
    : PUSHED_BODY_CHARS_MAX
  const left = Math.max(0, bodyMd.length - cut)
  const rest = left === 0 ? "" : ` ${count(left, "more character")}: read-message shows them.`
  const settle = ackRequired ? "ack-message acknowledges it" : "read-message marks it read"
  return [
    `Message id ${message.id} from ${senderOf(message)} (${kinds.join(", ")}): ${inQuotes(message.subject)}`,
    quoted(bodyMd.slice(0, cut)),
    `(agent_name ${agent.name}, project_id ${agent.projectId}, message_id ${message.id}.${rest} ${settle}, reply-message answers.)`,
  ]
}
