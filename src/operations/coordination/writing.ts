/** Writing messages: the rows of one, its thread, and notifications. What may be sent is decided before. */

import type { Queries } from "../../db/database.ts"
import { type Agent, isNotifier, NOTIFIER_NAME } from "../../domain/coordination/agent.ts"
import type { Importance, RecipientKind } from "../../domain/coordination/message.ts"
import type { Thread } from "../../domain/coordination/thread.ts"
import { assert } from "../../errors.ts"
import { findAgentByName } from "../../store/coordination/agents.ts"
import { insertMessage } from "../../store/coordination/messages.ts"
import { addToThread, findThread, insertThread, setThreadKey } from "../../store/coordination/threads.ts"
import type { ProjectContext } from "../operation.ts"

export interface Draft {
  sender: Agent
  recipients: ReadonlyMap<Agent, RecipientKind>
  /** The thread to write in; undefined begins a new one under the message's own id. */
  threadKey: string | undefined
  parentId: number | null
  subject: string
  bodyMd: string
  importance: Importance
  ackRequired: boolean
  attachments: Record<string, unknown>[]
}

export interface Delivered {
  messageId: number
  threadKey: string
  sentAtMs: number
}

/** No thread can be named so, for a thread id is never empty. */
const NO_KEY_YET = ""

/** Writes the rows of a message, beginning a thread where none is given; must run in a transaction. */
export async function writeMessage(
  tx: Queries,
  context: Pick<ProjectContext, "project" | "nowMs">,
  draft: Draft,
  existing: Thread | undefined,
): Promise<Delivered> {
  const { project, nowMs } = context
  // A thread that is named after its first message can only be named once that message has an id.
  const key = draft.threadKey ?? NO_KEY_YET
  const isNotice = isNotifier(draft.sender.name)
  const thread =
    existing ??
    (await insertThread(tx, { projectId: project.id, key, subject: draft.subject, isNotice }, nowMs))
  const recipients = new Map([...draft.recipients].map(([agent, kind]) => [agent.id, kind]))
  const messageId = await insertMessage(
    tx,
    { ...draft, projectId: project.id, threadId: thread.id, senderId: draft.sender.id, recipients },
    nowMs,
  )
  await addToThread(tx, thread.id, nowMs)
  if (draft.threadKey !== undefined) return { messageId, threadKey: draft.threadKey, sentAtMs: nowMs }
  const threadKey = await freeThreadKey(tx, project.id, messageId)
  await setThreadKey(tx, thread.id, threadKey)
  return { messageId, threadKey, sentAtMs: nowMs }
}

/** `thr_` + message id, unless somebody chose just that id for a thread of their own before. */
async function freeThreadKey(tx: Queries, projectId: number, messageId: number): Promise<string> {
  let key = `thr_${messageId}`
  for (let number = 2; (await findThread(tx, projectId, key)) !== undefined; number += 1)
    key = `thr_${messageId}.${number}`
  return key
}

/**
 * Sends a message from the notifier to one agent. Notifications have threads of their own, which nobody
 * else can read, and are exempt from limits and policies.
 */
export async function notify(
  tx: Queries,
  context: Pick<ProjectContext, "project" | "nowMs">,
  recipient: Agent,
  notice: { subject: string; bodyMd: string },
): Promise<void> {
  if (isNotifier(recipient.name)) return
  const sender = await findAgentByName(tx, context.project.id, NOTIFIER_NAME)
  assert(sender !== undefined, `project ${context.project.id} has a notifier`)
  const draft: Draft = {
    sender,
    recipients: new Map([[recipient, "to"]]),
    threadKey: undefined,
    parentId: null,
    importance: "normal",
    ackRequired: false,
    attachments: [],
    ...notice,
  }
  // Not indexed: a search is for everybody, a notification for one.
  await writeMessage(tx, context, draft, undefined)
}
