/** Contacts: asking, answering, blocking, policies. */

import * as z from "zod"
import type { Queries } from "../../db/database.ts"
import { type Agent, isNotifier, NOTIFIER_NAME } from "../../domain/coordination/agent.ts"
import {
  CONTACT_STATUSES,
  type Contact,
  type ContactStatus,
  decideRequest,
  mayAskAgain,
} from "../../domain/coordination/contact.ts"
import { echoed, oneLine, quoted } from "../../domain/foreign-text/markdown.ts"
import { AppError, invalid } from "../../errors.ts"
import { setContactPolicy as storeContactPolicy } from "../../store/coordination/agents.ts"
import {
  findContact,
  findContactById,
  findContactFacts,
  liftDenial,
  listContacts,
  putBlock,
  putContact,
  removeBlock,
  respondToContact,
} from "../../store/coordination/contacts.ts"
import { countNotices } from "../../store/coordination/messages.ts"
import { requireAgent } from "../admission.ts"
import { agentName, contactPolicy, id, projectId, reason } from "../fields.ts"
import { fitBlocks, lines, timeAndAge } from "../markdown.ts"
import { type ActorContext, defineOperation } from "../operation.ts"
import { inTransaction } from "../transaction.ts"
import { areAcquainted } from "./acquaintance.ts"
import { requestContact, requestSubject } from "./delivery.ts"
import { recordBlock, recordContactAnswer, recordContactRequest } from "./recording.ts"
import { notify } from "./writing.ts"

export const requestContactOperation = defineOperation({
  name: "request-contact",
  title: "Request contact",
  category: "contacts",
  effect: "write",
  idempotent: true,
  actor: "requester_name",
  description:
    "Ask an agent for permission to write to it. Approved at once where its policy allows; else it decides.",
  input: z.strictObject({
    requester_name: agentName(),
    recipient_name: agentName("Agent to contact"),
    project_id: projectId(),
    reason: reason("Why, for the recipient"),
  }),
  async run(context, input) {
    return inTransaction(context, `project:${context.project.id}`, async (tx, dated) => {
      const recipient = await requireOther(tx, dated, input.recipient_name, "recipient_name")
      // Asking somebody whom one has blocked or denied means that one wants to talk again.
      const unblocked = await removeBlock(tx, context.actor.id, recipient.id)
      await liftDenial(tx, recipient.id, context.actor.id)
      return { recipient, unblocked, ...(await ask(tx, dated, recipient, input.reason)) }
    })
  },
  markdown: ({ recipient, unblocked, status, contactId }) =>
    lines(
      `# Contact ${status}`,
      contactId === null ? null : `Contact request id: ${contactId}`,
      `Status: ${status}`,
      `Recipient: ${recipient.name} (agent ${recipient.id})`,
      unblocked ? `Your block of ${recipient.name} is lifted.` : null,
      OUTCOMES[status](recipient.name),
    ),
})

const OUTCOMES: Record<ContactStatus, (name: string) => string> = {
  approved: (name) => `You and ${name} may write to each other.`,
  pending: (name) => `${name} was notified and decides; see list-contacts for the answer.`,
  denied: (name) => `${name} does not accept contact requests from you. Continue without ${name}.`,
}

async function ask(
  tx: Queries,
  context: ActorContext,
  recipient: Agent,
  why: string,
): Promise<{ status: ContactStatus; contactId: number | null }> {
  const { actor, project, nowMs } = context
  const before = await findContact(tx, actor.id, recipient.id)
  const facts = await findContactFacts(tx, actor.id, recipient.id)
  const decision = decideRequest({ ...facts, recipientPolicy: recipient.contactPolicy })
  const acquainted = decision === "if_acquainted" && (await areAcquainted(tx, actor, recipient, nowMs))
  const status = decision === "if_acquainted" ? (acquainted ? "approved" : "pending") : decision
  // An approval outlives a policy that closes the door for a while.
  const isKept = before?.status === status || (status === "denied" && before?.status === "approved")
  if (before !== undefined && isKept) return { status, contactId: before.id }
  if (facts.denied && before !== undefined && status === "pending") {
    const asked = await countNotices(tx, recipient.id, requestSubject(actor))
    if (!mayAskAgain({ asked, lastMs: before.requestedAtMs }, nowMs))
      return { status: "denied", contactId: before.id }
  }
  if (status === "pending")
    return { status, contactId: await requestContact(tx, context, actor, recipient, why) }
  const contact = {
    projectId: project.id,
    requesterId: actor.id,
    recipientId: recipient.id,
    status,
    reason: why,
  }
  const contactId = await putContact(tx, contact, nowMs)
  const told = { id: contactId, projectId: project.id, requester: actor, recipient }
  await recordContactRequest(tx, told, nowMs)
  await recordContactAnswer(tx, told, { by: recipient, approved: status === "approved" }, nowMs)
  return { status, contactId }
}

export const respondContact = defineOperation({
  name: "respond-contact",
  title: "Respond to contact request",
  category: "contacts",
  effect: "write",
  actor: "agent_name",
  description:
    "Approve or deny a contact request that was made to you. Approving also lifts a block of yours.",
  input: z.strictObject({
    agent_name: agentName(),
    project_id: projectId(),
    contact_request_id: id("Contact request id"),
    approved: z.boolean().describe("true: approve, false: deny"),
    response_message: reason("Answer for the requester").optional(),
  }),
  async run(context, input) {
    const { project, actor } = context
    return inTransaction(context, `project:${project.id}`, async (tx, dated) => {
      const contact = await requireRequestTo(tx, context, input.contact_request_id)
      const unblocked = input.approved && (await removeBlock(tx, actor.id, contact.requesterId))
      if (contact.status !== "pending" && !unblocked) throw alreadyAnswered(contact)
      const status = input.approved ? "approved" : "denied"
      const requester = await requireAgent(tx, project, contact.requesterId)
      const response = (await acceptsTextFrom(tx, requester, actor)) ? (input.response_message ?? null) : null
      await respondToContact(tx, contact.id, { status, response }, dated.nowMs)
      const told = { id: contact.id, projectId: project.id, requester, recipient: actor }
      await recordContactAnswer(tx, told, { by: actor, approved: input.approved }, dated.nowMs)
      await notifyOfAnswer(tx, dated, requester, contact.id, status, response)
      return { contact, status, unblocked, response }
    })
  },
  markdown: ({ contact, status, unblocked, response }) =>
    lines(
      `# Contact request ${status}`,
      `Contact request id: ${contact.id}`,
      `Status: ${status}`,
      `Requester: ${contact.requesterName} (agent ${contact.requesterId})`,
      response === null ? null : `Response: ${oneLine(response)}`,
      unblocked ? `Your block of ${contact.requesterName} is lifted.` : null,
      status === "approved" ? `You and ${contact.requesterName} may write to each other.` : null,
    ),
})

/** Tells a requester how the acting agent answered its contact request, in the words given if any. */
export async function notifyOfAnswer(
  tx: Queries,
  context: ActorContext,
  requester: Agent,
  contactId: number,
  status: "approved" | "denied",
  response: string | null = null,
): Promise<void> {
  const { name } = context.actor
  await notify(tx, context, requester, {
    subject: `${name} ${status} your contact request`,
    bodyMd: lines(
      `${name} ${status} your contact request ${contactId}.`,
      response === null ? null : `\n${quoted(response)}`,
    ),
  })
}

/** The answer itself is told always; words with it are mail, and a block or `block_all` stops mail. */
async function acceptsTextFrom(tx: Queries, reader: Agent, writer: Agent): Promise<boolean> {
  const { blocked } = await findContactFacts(tx, writer.id, reader.id)
  return !blocked && reader.contactPolicy !== "block_all"
}

async function requireRequestTo(tx: Queries, context: ActorContext, contactId: number): Promise<Contact> {
  const contact = await findContactById(tx, contactId)
  if (
    contact !== undefined &&
    contact.projectId === context.project.id &&
    contact.recipientId === context.actor.id
  )
    return contact
  throw new AppError(
    "not_found",
    `contact request ${contactId} to ${context.actor.name} was not found in project ${echoed(context.project.key)}`,
    {
      hint: "Call list-contacts to see the requests made to you.",
    },
  )
}

function alreadyAnswered(contact: Contact): AppError {
  return new AppError("conflict", `contact request ${contact.id} is ${contact.status} already`, {
    hint: "To open a denied contact call request-contact yourself; to close an approved one call block-agent.",
  })
}

export const listContactsOperation = defineOperation({
  name: "list-contacts",
  title: "List contacts",
  category: "contacts",
  effect: "read",
  idempotent: true,
  actor: "agent_name",
  description: "List your contacts and contact requests, both ways, with their ids and status.",
  input: z.strictObject({
    agent_name: agentName(),
    project_id: projectId(),
    status: z.enum(CONTACT_STATUSES).describe("Only these").optional(),
  }),
  async run({ app, actor, nowMs }, input) {
    return { agent: actor, nowMs, ...(await contactsOf(app.db, actor, input.status)) }
  },
  markdown: ({ agent, nowMs, counts, contacts }) =>
    fitBlocks(
      lines(
        `# Contacts of ${agent.name}`,
        `Total: ${counts.total}`,
        `Pending: ${counts.pending}`,
        `Approved: ${counts.approved}`,
        `Denied: ${counts.denied}`,
      ),
      contacts.map((contact) =>
        lines(
          `### ${contact.requesterName} to ${contact.recipientName}`,
          `Contact request id: ${contact.id}`,
          `Status: ${contact.status}`,
          `Reason: ${oneLine(contact.reason)}`,
          contact.response === null ? null : `Response: ${oneLine(contact.response)}`,
          `Requested: ${timeAndAge(contact.requestedAtMs, nowMs)}`,
          contact.respondedAtMs === null ? null : `Responded: ${timeAndAge(contact.respondedAtMs, nowMs)}`,
        ),
      ),
      "Use status to see fewer.",
    ),
})

/** Returns an agent's contacts and how many there are of each status; `status` narrows the list only. */
export async function contactsOf(db: Queries, agent: Agent, status?: ContactStatus) {
  const all = await listContacts(db, agent.id)
  const having = (wanted: ContactStatus) => all.filter((contact) => contact.status === wanted).length
  const counts = {
    total: all.length,
    pending: having("pending"),
    approved: having("approved"),
    denied: having("denied"),
  }
  return { counts, contacts: status === undefined ? all : all.filter((contact) => contact.status === status) }
}

export const setContactPolicy = defineOperation({
  name: "set-contact-policy",
  title: "Set contact policy",
  category: "contacts",
  effect: "write",
  idempotent: true,
  actor: "agent_name",
  description:
    "Set who may write to you: open (all), auto (those you work with, others ask), contacts_only, block_all.",
  input: z.strictObject({
    agent_name: agentName(),
    project_id: projectId(),
    contact_policy: contactPolicy(),
  }),
  async run(context, input) {
    const { project, actor } = context
    return inTransaction(context, `project:${project.id}`, async (tx) => {
      const { contactPolicy: previous } = await requireAgent(tx, project, actor.id)
      await storeContactPolicy(tx, actor.id, input.contact_policy)
      return { agent: actor, previous, policy: input.contact_policy }
    })
  },
  markdown: ({ agent, previous, policy }) =>
    lines(
      "# Contact policy set",
      `Agent: ${agent.name}`,
      `Previous policy: ${previous}`,
      `New policy: ${policy}`,
    ),
})

export const blockAgent = defineOperation({
  name: "block-agent",
  title: "Block agent",
  category: "contacts",
  effect: "write",
  idempotent: true,
  actor: "blocker_name",
  description:
    "Stop all mail from an agent to you. Lift it with respond-contact (approved true) or request-contact.",
  input: z.strictObject({
    blocker_name: agentName(),
    blocked_name: agentName("Agent to block"),
    project_id: projectId(),
    reason: reason("Why; not shown to the blocked agent").optional(),
  }),
  async run(context, input) {
    const { project, actor } = context
    return inTransaction(context, `project:${project.id}`, async (tx, { nowMs }) => {
      const blocked = await requireOther(tx, context, input.blocked_name, "blocked_name")
      const { blocked: isBlocked } = await findContactFacts(tx, blocked.id, actor.id)
      await putBlock(tx, actor.id, blocked.id, input.reason ?? null, nowMs)
      const contact = {
        projectId: project.id,
        requesterId: blocked.id,
        recipientId: actor.id,
        status: "denied" as const,
      }
      const before = await findContact(tx, blocked.id, actor.id)
      const contactId = await putContact(tx, { ...contact, reason: before?.reason ?? "none" }, nowMs)
      if (!isBlocked) await recordBlock(tx, { blocker: actor, blocked, contactId }, nowMs)
      return { blocker: actor, blocked, contactId }
    })
  },
  markdown: ({ blocker, blocked, contactId }) =>
    lines(
      "# Agent blocked",
      `Blocker: ${blocker.name}`,
      `Blocked: ${blocked.name} (agent ${blocked.id})`,
      `Contact request id: ${contactId}`,
      `${blocked.name} cannot write to you. To lift this, call respond-contact for request ${contactId} with approved true.`,
    ),
})

/** Returns another agent of the project than the acting one. */
export async function requireOther(
  tx: Queries,
  context: ActorContext,
  name: string,
  field: string,
): Promise<Agent> {
  const other = await requireAgent(tx, context.project, name)
  if (other.id === context.actor.id) throw invalid(field, `must name another agent than ${other.name} itself`)
  if (isNotifier(other.name))
    throw invalid(field, `must name an agent: ${NOTIFIER_NAME} only sends notifications`)
  return other
}
