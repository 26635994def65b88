/** What the hook says: short, since some clients print it twice, and with the next step in it. */

import { join } from "node:path"
import type { Agent } from "../domain/agent.ts"
import type { InboxMessage } from "../domain/message.ts"
import { modeOf, type Reservation } from "../domain/reservation.ts"
import type { Claimant, ClaimConflict } from "../operations/claims.ts"
import { count, duration, isoTime, nameList, oneLine } from "../operations/markdown.ts"

/** More holders than this are counted, not named. */
const CONFLICTS_SHOWN_MAX = 3
const RESERVATIONS_SHOWN_MAX = 8

/** How an agent runs a command of ours, whether signalbox is installed or not. */
export const COMMAND = "npx -y signalbox"

/** Returns why an edit is blocked, and with `guidance` what can be done instead. */
export function blockText(
  conflicts: readonly ClaimConflict[],
  claimant: Pick<Claimant, "agent" | "project"> | undefined,
  nowMs: number,
  guidance: Guidance,
): string {
  const facts = conflictLines(conflicts, nowMs)
  const head = `signalbox blocked this edit: ${facts.join("\n")}`
  if (!guidance.shown) return head
  const mistaken = guidance.mayBeSelf === true ? [MAY_BE_SELF] : []
  return [head, "You can:", ...offers(conflicts, claimant, nowMs, guidance.allowsOverride), ...mistaken].join(
    "\n",
  )
}

export interface Guidance {
  shown: boolean
  allowsOverride: boolean
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
  const shown = conflicts.slice(0, CONFLICTS_SHOWN_MAX).map(({ claimed, reservation }) => {
    const left = duration(reservation.expiresAtMs - nowMs)
    const pattern = oneLine(reservation.pathPattern)
    const reason =
      reservation.reason === null ? "" : ` Reason: ${oneLine(reservation.reason).replace(/\.?$/, ".")}`
    return `${oneLine(claimed.path)} is reserved by ${reservation.agentName} (${modeOf(reservation)}, ${left} left, pattern ${pattern}).${reason}`
  })
  const more = conflicts.length - shown.length
  return more > 0 ? [...shown, `And ${count(more, "more conflict")}.`] : shown
}

function offers(
  conflicts: readonly ClaimConflict[],
  claimant: Pick<Claimant, "agent" | "project"> | undefined,
  nowMs: number,
  allowsOverride: boolean,
): string[] {
  const [first] = conflicts
  if (first === undefined) return []
  const { reservation, claimed } = first
  const isNeighbour = claimant === undefined || reservation.projectId === claimant.project.id
  const message = isNeighbour
    ? `- message the holder: send-message to agent id ${reservation.agentId} in project id ${reservation.projectId}`
    : "- ask your user to speak to the holder, who works in another project"
  const by = claimant === undefined ? "" : ` --agent ${claimant.agent.name}`
  const lastMs = Math.max(...conflicts.map((conflict) => conflict.reservation.expiresAtMs))
  return [
    message,
    `- wait for the expiry: ${isoTime(lastMs)} (in ${duration(lastMs - nowMs)})`,
    "- work on another file",
    ...(allowsOverride
      ? [
          `- only in an emergency, request an override: ${COMMAND} override ${shellWord(join(claimed.rootPath, claimed.path))}${by} --reason "<why>"`,
        ]
      : []),
  ]
}

/** Returns the line about files that others share with whoever edits them. */
export function sharedText(path: string, sharers: readonly Reservation[], nowMs: number): string {
  const names = nameList([...new Set(sharers.map(({ agentName }) => agentName))])
  const lastMs = Math.max(...sharers.map(({ expiresAtMs }) => expiresAtMs))
  return `signalbox: ${oneLine(path)} is also reserved by ${names} (shared, ${duration(lastMs - nowMs)} left). Agree with them before you change what they may rely on.`
}

export interface Welcome {
  claimant: Claimant
  /** Whether the agent has introduced itself before. */
  isClaimed: boolean
  others: readonly Reservation[]
  unreadCount: number
  urgentCount: number
  nowMs: number
}

/** Returns what an agent should know when its session starts: who it is, what is held around it, its mail. */
export function welcomeText({
  claimant,
  isClaimed,
  others,
  unreadCount,
  urgentCount,
  nowMs,
}: Welcome): string {
  const { agent, project } = claimant
  const who = `signalbox: you are ${agent.name} (agent id ${agent.id}, project id ${project.id}, project_key ${JSON.stringify(project.key)}).`
  const next = isClaimed
    ? `Your reservations and mail are kept under this name.`
    : `Call macro-start-session to introduce yourself; you keep this name.`
  const listed = others.slice(0, RESERVATIONS_SHOWN_MAX).map((reservation) => {
    const left = duration(reservation.expiresAtMs - nowMs)
    return `- ${oneLine(reservation.pathPattern)}: ${reservation.agentName}, ${modeOf(reservation)}, ${left} left`
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
  return `signalbox: ${kind} for ${agent.name} from ${first.senderName}: "${oneLine(first.subject)}" (message id ${first.id}).${more} Call ${next}.`
}

/** Returns a path as one word for a POSIX shell. */
function shellWord(text: string): string {
  return /^[\w./@%+=:,-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`
}
