/** Macros: the sequences that agents run most, in one call. */

import * as z from "zod"
import {
  CLAIM_CYCLE_SECONDS_DEFAULT,
  INBOX_LIMIT_DEFAULT,
  INBOX_LIMIT_MAX,
  RESERVATION_SECONDS_DEFAULT,
  THREAD_MESSAGES_LIMIT_DEFAULT,
} from "../../config/limits.ts"
import type { Queries } from "../../db/database.ts"
import type { Agent } from "../../domain/coordination/agent.ts"
import { isWaiting, type Message } from "../../domain/coordination/message.ts"
import { modeOf, type Reservation } from "../../domain/coordination/reservation.ts"
import { oneLine } from "../../domain/foreign-text/markdown.ts"
import type { Repository } from "../../domain/project.ts"
import { AppError } from "../../errors.ts"
import { findContact, findContactFacts, putContact, removeBlock } from "../../store/coordination/contacts.ts"
import { listHeldByAgent } from "../../store/coordination/reservations.ts"
import { howToConnect, requireRepository } from "../admission.ts"
import { agentName, pathPatterns, projectId, reason, repositoryId, seconds, threadId } from "../fields.ts"
import {
  agentProfile,
  countFitting,
  expiryLine,
  fitBlocks,
  inboxEntry,
  lines,
  threadEntry,
  waitingEntry,
} from "../markdown.ts"
import { type ActorContext, defineOperation } from "../operation.ts"
import { inTransaction } from "../transaction.ts"
import { identityFields, namedRepository, register, takenHintLine } from "./agents.ts"
import { notifyOfAnswer, requireOther } from "./contacts.ts"
import { endExpired } from "./endings.ts"
import { type Grant, grant, newGrantCall, type Refused } from "./grants.ts"
import { readInbox } from "./messages.ts"
import { resolvePattern } from "./patterns.ts"
import { noteRead } from "./receipts.ts"
import { recordContactAnswer } from "./recording.ts"
import { refusedGrants, tellRefused } from "./refusals.ts"
import { admitToRepository, conflictReport } from "./reservations.ts"
import { findSharersOf, type Sharers, sharersLine } from "./sharers.ts"
import { surroundingsOf, surroundingsText } from "./surroundings.ts"
import { readThread, requireThread, summaryMarkdown, summaryOf } from "./threads.ts"

export const macroStartSession = defineOperation({
  name: "macro-start-session",
  title: "Start session",
  category: "macros",
  effect: "write",
  opensProject: true,
  description:
    "Call this first: registers or resumes you, reserves file_paths if given (shared unless exclusive is true), and shows who else is at work and what mail waits. It tells the name and the ids that all other tools need.",
  input: z.strictObject({
    project_key: identityFields.project_key,
    program: identityFields.program,
    model: identityFields.model,
    name_hint: identityFields.name_hint,
    repository_id: identityFields.repository_id,
    file_paths: pathPatterns().optional(),
    reservation_ttl: seconds(RESERVATION_SECONDS_DEFAULT, "Seconds to reserve file_paths for"),
    exclusive: z.boolean().default(false).describe("Reserve exclusively"),
  }),
  async run(context, input) {
    const { app } = context
    const paths = input.file_paths ?? []
    // A path that is no pattern is found out before anything is written.
    const named = await namedRepository(context, input.repository_id)
    if (named !== undefined) await resolveAll(named, paths)
    const registration = await register(context, input, { reserves: paths.length > 0 })
    const { agent, project } = registration
    const acting: ActorContext = { ...context, project, actor: agent }
    const repository =
      agent.repositoryId === null ? undefined : await requireRepository(app.db, agent.repositoryId)
    const patterns = repository === undefined ? [] : await resolveAll(repository, paths)
    const request = { exclusive: input.exclusive, durationSeconds: input.reservation_ttl, reason: null }
    const grants =
      repository === undefined || patterns.length === 0
        ? []
        : await grantAll(acting, repository, patterns, request)
    const inbox = await readInbox(app.db, { agentId: agent.id }, { bodies: true, limit: INBOX_LIMIT_DEFAULT })
    const held = await listHeldByAgent(app.db, agent.id, app.now())
    return {
      ...registration,
      grants,
      held,
      unreserved: repository === undefined ? paths : [],
      sharers: await sharersIn(acting, repository, grants),
      surroundings: await surroundingsOf(acting),
      inbox,
    }
  },
  markdown: ({ grants, sharers, held, unreserved, surroundings, inbox, ...registration }) => {
    const { agent, project, resumed, nowMs } = registration
    const grantedIds = grantedOf(grants).map(({ id }) => id)
    const kept = held.filter((reservation) => !grantedIds.includes(reservation.id))
    const head = lines(
      `# Session of ${agent.name} ${resumed ? "resumed" : "started"}`,
      agentProfile(agent, project.key, nowMs),
      takenHintLine(registration),
      kept.length === 0 ? null : `Still reserved by you: ${kept.length}`,
      grants.length === 0 ? null : grantCounts(grants),
    )
    const blocks = [
      ...grantBlocks(grants, sharers, nowMs),
      ...(unreserved.length === 0
        ? []
        : [`Nothing is reserved: no repository is connected. ${howToConnect()}`]),
      ...kept.map((reservation) => ownEntry(reservation, nowMs)),
      surroundingsText(surroundings, nowMs),
      lines("## Inbox", `Total: ${inbox.total}`, `Unread: ${inbox.unread}`),
      ...inbox.messages.filter(isWaiting).map((message) => waitingEntry(message, nowMs)),
    ]
    return fitBlocks(head, blocks, "Call fetch-inbox to see the other messages.")
  },
})

export const macroClaimCycle = defineOperation({
  name: "macro-claim-cycle",
  title: "Claim files for a work cycle",
  category: "macros",
  effect: "write",
  actor: "agent_name",
  description:
    "Reserve files for one cycle of work and see your urgent mail. What is free is granted, each conflict is reported.",
  input: z.strictObject({
    agent_name: agentName(),
    project_id: projectId(),
    repository_id: repositoryId(),
    file_paths: pathPatterns().min(1),
    cycle_duration_seconds: seconds(CLAIM_CYCLE_SECONDS_DEFAULT, "How long"),
    exclusive: z.boolean().default(true).describe("false: share with other shared reservations"),
  }),
  async run(context, input) {
    const { app, actor, nowMs } = context
    const repository = await admitToRepository(context, input.repository_id)
    const patterns = await resolveAll(repository, input.file_paths)
    const request = {
      exclusive: input.exclusive,
      durationSeconds: input.cycle_duration_seconds,
      reason: null,
    }
    const grants = await grantAll(context, repository, patterns, request)
    const filter = { agentId: actor.id, urgentOnly: true }
    return {
      agent: actor,
      grants,
      sharers: await sharersIn(context, repository, grants),
      urgent: await readInbox(app.db, filter, { bodies: false, limit: INBOX_LIMIT_MAX }),
      nowMs,
    }
  },
  markdown: ({ agent, grants, sharers, urgent, nowMs }) =>
    fitBlocks(
      lines(
        "# Work cycle",
        `Agent: ${agent.name}`,
        grantCounts(grants),
        `Urgent messages: ${urgent.total}`,
        `Unread: ${urgent.unread}`,
      ),
      [
        ...grantBlocks(grants, sharers, nowMs),
        ...urgent.messages
          .filter((message) => message.readAtMs === null)
          .map((message) => inboxEntry(message, nowMs)),
      ],
      "Call list-file-reservations and fetch-inbox to see the rest.",
    ),
})

async function resolveAll(repository: Repository, paths: readonly string[]): Promise<string[]> {
  const patterns: string[] = []
  for (const [index, path] of paths.entries())
    patterns.push(await resolvePattern(repository, path, `file_paths.${index}`))
  return [...new Set(patterns)]
}

type GrantTerms = { exclusive: boolean; durationSeconds: number; reason: string | null }

/** Grants what is free in one transaction. */
async function grantAll(
  context: ActorContext,
  repository: Repository,
  patterns: readonly string[],
  terms: GrantTerms,
): Promise<Grant[]> {
  const grants = await inTransaction(context, `repository:${repository.id}`, async (tx, dated) => {
    await endExpired(tx, dated.nowMs)
    const call = newGrantCall()
    const granted: Grant[] = []
    for (const pathPattern of patterns) {
      granted.push(await grant(tx, dated, { ...terms, repository, pathPattern }, call))
    }
    return granted
  })
  await tellRefused(context.app, refusedGrants(context.actor, repository.id, refusedOf(grants)))
  return grants
}

function refusedOf(grants: readonly Grant[]): Refused[] {
  return grants.flatMap((one) => ("conflicts" in one ? [one] : []))
}

function grantedOf(grants: readonly Grant[]): Reservation[] {
  return grants.flatMap((one) => ("granted" in one ? [one.granted] : []))
}

/** Returns who shares what was granted; nothing is granted without a repository. */
async function sharersIn(
  { app, nowMs }: ActorContext,
  repository: Repository | undefined,
  grants: readonly Grant[],
): Promise<Sharers> {
  return repository === undefined ? new Map() : findSharersOf(app.db, repository, grantedOf(grants), nowMs)
}

function grantCounts(grants: readonly Grant[]): string {
  const granted = grantedOf(grants).length
  return lines(`Granted: ${granted}`, `Refused: ${grants.length - granted}`)
}

/** Returns a reservation as its holder needs it in a list. */
function ownEntry(reservation: Reservation, nowMs: number): string {
  return lines(
    `### ${oneLine(reservation.pathPattern)}`,
    `Reservation id: ${reservation.id}`,
    `Mode: ${modeOf(reservation)}`,
    expiryLine(reservation, nowMs),
  )
}

/** What was granted comes first: it is short, and the reports of conflicts may be long. */
function grantBlocks(grants: readonly Grant[], sharers: Sharers, nowMs: number): string[] {
  return [
    ...grantedOf(grants).map((reservation) =>
      lines(ownEntry(reservation, nowMs), sharersLine(sharers, reservation)),
    ),
    ...refusedOf(grants).map((one) => `Not reserved: ${conflictReport(one, nowMs)}`),
  ]
}

export const macroPrepareThread = defineOperation({
  name: "macro-prepare-thread",
  title: "Prepare thread",
  category: "macros",
  effect: "write",
  idempotent: true,
  actor: "agent_name",
  description: "Catch up on a thread: its summary and its messages, of which yours are marked read.",
  input: z.strictObject({ agent_name: agentName(), project_id: projectId(), thread_id: threadId() }),
  async run(context, input) {
    const { app, project, actor, nowMs } = context
    const thread = await requireThread(app.db, project, input.thread_id)
    const { messages } = await readThread(app, thread, THREAD_MESSAGES_LIMIT_DEFAULT)
    const summary = summaryMarkdown(thread, await summaryOf(app, thread, nowMs))
    const blocks = messages.map((one) => threadEntry(one.message, one.recipients, one.ackedAtMs, nowMs))
    // Only what is shown is read: mail that did not fit must not vanish from what is unread.
    const room = `${summary}\n\n## Messages\nMarked read: ${messages.length}`
    const shown = messages.slice(messages.length - countFitting(room, blocks, OLDER_MESSAGES, "last"))
    const markedRead = await inTransaction(context, `project:${project.id}`, (tx, dated) =>
      markAllRead(
        tx,
        shown.map((one) => one.message),
        actor.id,
        dated.nowMs,
      ),
    )
    return { summary, blocks, markedRead }
  },
  markdown: ({ summary, blocks, markedRead }) =>
    fitBlocks(
      lines(summary, "", "## Messages", `Marked read: ${markedRead}`),
      blocks,
      OLDER_MESSAGES,
      "last",
    ),
})

const OLDER_MESSAGES =
  "They are older and stay unread; fetch-inbox shows your unread mail, read-message one message."

async function markAllRead(tx: Queries, messages: readonly Message[], agentId: number, nowMs: number) {
  let marked = 0
  for (const message of messages) if (await noteRead(tx, message, agentId, nowMs)) marked += 1
  return marked
}

export const macroContactHandshake = defineOperation({
  name: "macro-contact-handshake",
  title: "Contact handshake",
  category: "macros",
  effect: "write",
  idempotent: true,
  actor: "requester_name",
  description: "Approve contact between two agents both ways at once. Lifts your own block only.",
  input: z.strictObject({
    requester_name: agentName(),
    recipient_name: agentName("The other agent"),
    project_id: projectId(),
    reason: reason("Why, for the recipient"),
  }),
  async run(context, input) {
    const { project, actor } = context
    return inTransaction(context, `project:${project.id}`, async (tx, dated) => {
      const recipient = await requireOther(tx, context, input.recipient_name, "recipient_name")
      const { blocked } = await findContactFacts(tx, actor.id, recipient.id)
      if (blocked || recipient.contactPolicy === "block_all") {
        throw new AppError("refused", `${recipient.name} does not accept contact from you`, {
          hint: `Continue without ${recipient.name}.`,
        })
      }
      const liftedBlock = await removeBlock(tx, actor.id, recipient.id)
      const asked = await findContact(tx, recipient.id, actor.id)
      const ids = await approveBothWays(tx, dated, recipient, input.reason)
      if (asked?.status === "pending") await notifyOfAnswer(tx, dated, recipient, asked.id, "approved")
      return { requester: actor, recipient, liftedBlock, ids }
    })
  },
  markdown: ({ requester, recipient, liftedBlock, ids }) =>
    lines(
      "# Contact approved both ways",
      `Requester: ${requester.name} (agent ${requester.id})`,
      `Recipient: ${recipient.name} (agent ${recipient.id})`,
      `Contact request id: ${ids.forth}`,
      `Reverse contact request id: ${ids.back}`,
      `Status: approved`,
      liftedBlock ? `Your block of ${recipient.name} is lifted.` : null,
      `${requester.name} and ${recipient.name} may write to each other.`,
    ),
})

async function approveBothWays(tx: Queries, context: ActorContext, other: Agent, why: string) {
  return {
    forth: await approve(tx, context, [context.actor, other], why),
    back: await approve(tx, context, [other, context.actor], why),
  }
}

/** Approves contact one way, which the acting agent says for both; returns its id. */
async function approve(
  tx: Queries,
  { project, actor, nowMs }: ActorContext,
  [requester, recipient]: [Agent, Agent],
  why: string,
): Promise<number> {
  const before = await findContact(tx, requester.id, recipient.id)
  const sides = { requesterId: requester.id, recipientId: recipient.id }
  const contact = { projectId: project.id, ...sides, status: "approved" as const, reason: why }
  const id = await putContact(tx, contact, nowMs)
  if (before?.status !== "approved")
    await recordContactAnswer(
      tx,
      { id, projectId: project.id, requester, recipient },
      { by: actor, approved: true },
      nowMs,
    )
  return id
}
