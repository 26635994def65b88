/** Mail as whoever sits at the command line has it: of all the agents that they are, in whatever project. */

import { THREAD_MESSAGES_LIMIT_MAX } from "../../config/limits.ts"
import { permitsProject } from "../../domain/api-key.ts"
import type { Agent } from "../../domain/coordination/agent.ts"
import type { InboxMessage, Message, Recipient } from "../../domain/coordination/message.ts"
import type { Thread } from "../../domain/coordination/thread.ts"
import type { Project } from "../../domain/project.ts"
import { AppError, assert } from "../../errors.ts"
import { ownCommand } from "../../runtime/own-command.ts"
import { findAgentById, touchAgent } from "../../store/coordination/agents.ts"
import {
  countInbox,
  findMessage,
  listNewestMail,
  listRecipients,
  listThreadMessages,
} from "../../store/coordination/messages.ts"
import { findThread, isThreadMember } from "../../store/coordination/threads.ts"
import { findProjectById, listProjectRepositoryIds } from "../../store/projects.ts"
import { admitToProject } from "../admission.ts"
import type { App } from "../app.ts"
import type { ActorContext, CallContext } from "../operation.ts"
import { acknowledge } from "./acknowledgments.ts"
import { ownCopy, read, reply, requireMessage } from "./messages.ts"

/** A message in somebody's mail. */
export interface Letter {
  message: InboxMessage
  /** Who wrote it. */
  sender: Agent
  /** The agent whose mail it is in. */
  owner: Agent
  project: Project
}

/** Returns the mail of agents, the newest first, at most `limit`, with what there is in all; marks nothing read. */
export async function listMail(
  { app, nowMs }: CallContext,
  agents: readonly Agent[],
  which: { unreadOnly: boolean; limit: number },
): Promise<{ letters: Letter[]; total: number; unread: number }> {
  const found: { message: InboxMessage; owner: Agent }[] = []
  const counts = { total: 0, unread: 0 }
  for (const owner of agents) {
    const { total, unread } = await countInbox(app.db, { agentId: owner.id })
    counts.total += total
    counts.unread += unread
    for (const message of await listNewestMail(app.db, owner.id, which)) found.push({ message, owner })
    await touchAgent(app.db, owner.id, nowMs)
  }
  const shown = found.sort((one, other) => other.message.id - one.message.id).slice(0, which.limit)
  const letters: Letter[] = []
  for (const { message, owner } of shown) letters.push(...(await lettersOf(app, owner, [message])))
  return { letters, ...counts }
}

/** Returns messages of an agent's mail with who wrote them and where. */
export async function lettersOf(
  app: App,
  owner: Agent,
  messages: readonly InboxMessage[],
): Promise<Letter[]> {
  const project = await projectOf(app, owner)
  const letters: Letter[] = []
  for (const message of messages)
    letters.push({ message, owner, project, sender: await requireStored(app, message.senderId) })
  return letters
}

/** A message that was read, with the thread that it stands in. */
export interface ReadLetter {
  message: Message
  sender: Agent
  owner: Agent
  project: Project
  recipients: Awaited<ReturnType<typeof read>>["recipients"]
  /** When the owner read it first; null for its own messages. */
  readAtMs: number | null
  ackedAtMs: number | null
  /** Whether the owner is asked to acknowledge it and has not. */
  waitsForAck: boolean
  thread: Thread
  /** The latest messages of the thread, oldest first, at most 200; this one among them unless it is older. */
  threadMessages: readonly Message[]
}

/**
 * Returns a message of one of some agents' threads and marks it read, and acknowledged where that is asked for. Fails
 * with `not_found`, and with `refused` where none of them takes part in it or nothing is to be acknowledged.
 */
export async function readLetter(
  context: CallContext,
  agents: readonly Agent[],
  id: number,
  { acknowledges }: { acknowledges: boolean },
): Promise<ReadLetter> {
  const { app } = context
  const inMail = await contextOf(context, agents, id)
  if (acknowledges) await acknowledge(inMail, { message_id: id })
  const { message, recipients } = await read(inMail, { message_id: id })
  const { actor, project } = inMail
  const own = ownCopy(recipients, actor)
  const thread = await findThread(app.db, project.id, message.threadKey)
  assert(thread !== undefined, `message ${id} has a thread`)
  const threadMessages = await listThreadMessages(app.db, thread.id, THREAD_MESSAGES_LIMIT_MAX)
  return {
    message,
    sender: await requireStored(app, message.senderId),
    owner: actor,
    project,
    recipients,
    readAtMs: own?.readAtMs ?? null,
    ackedAtMs: own?.ackedAtMs ?? null,
    waitsForAck: own !== undefined && message.ackRequired && own.ackedAtMs === null,
    thread,
    threadMessages,
  }
}

/** Returns the context in which that one of some agents acts on a message that has it in its mail; fails as `readLetter` does. */
export async function contextOf(
  context: CallContext,
  agents: readonly Agent[],
  id: number,
): Promise<ActorContext> {
  const { db } = context.app
  const message = await findMessage(db, id)
  const hint = `\`${ownCommand()} inbox\` lists yours.`
  if (message === undefined) throw new AppError("not_found", `message ${id} was not found`, { hint })
  const thread = await findThread(db, message.projectId, message.threadKey)
  for (const actor of nearestFirst(agents, message, await listRecipients(db, id))) {
    if (thread === undefined || !(await isThreadMember(db, thread.id, actor.id))) continue
    return { ...(await admitToProject(context, { id: actor.projectId })), actor }
  }
  throw new AppError("refused", `message ${id} is not in your mail, and you take no part in its thread`, {
    hint,
  })
}

/** Orders several agents of one session: first those that a message is to, then who wrote it. */
function nearestFirst(
  agents: readonly Agent[],
  { senderId }: Message,
  recipients: readonly Recipient[],
): readonly Agent[] {
  const distance = (agent: Agent) =>
    ownCopy(recipients, agent) !== undefined ? 0 : agent.id === senderId ? 1 : 2
  return [...agents].sort((one, other) => distance(one) - distance(other))
}

async function requireStored({ db }: App, id: number): Promise<Agent> {
  const agent = await findAgentById(db, id)
  assert(agent !== undefined, "agents are never removed")
  return agent
}

/** Returns the project of an agent. */
export async function projectOf({ db }: App, { projectId }: Agent): Promise<Project> {
  const project = await findProjectById(db, projectId)
  assert(project !== undefined, `project ${projectId} is there`)
  return project
}

/** Returns those projects that the caller's key permits. */
export async function permittedProjects(
  { app, key }: CallContext,
  projects: readonly Project[],
): Promise<Project[]> {
  const permitted: Project[] = []
  for (const project of projects)
    if (permitsProject(key.scopes, project.key, await listProjectRepositoryIds(app.db, project.id)))
      permitted.push(project)
  return permitted
}

/** Replies to a message of one of some agents' threads, to all or none; fails as `readLetter` and `reply` do. */
export async function answerLetter(
  inMail: ActorContext,
  id: number,
  answer: Omit<Parameters<typeof reply>[1], "parent_message_id">,
) {
  const { app, actor, project } = inMail
  const { messageId, threadKey } = await reply(inMail, { parent_message_id: id, ...answer })
  const parent = await requireMessage(app.db, project, id)
  const own = ownCopy(await listRecipients(app.db, id), actor)
  return {
    id: messageId,
    threadKey,
    recipients: await listRecipients(app.db, messageId),
    /** Whether the message that is answered still waits for an acknowledgment. */
    waitsForAck: own !== undefined && parent.ackRequired && own.ackedAtMs === null,
  }
}
