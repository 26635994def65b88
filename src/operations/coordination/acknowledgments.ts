/** Acknowledging mail: recorded once, and told to the sender by an answer in the thread or else by a notification. */

import * as z from "zod"
import type { Queries } from "../../db/database.ts"
import { type Agent, isNotifier, NOTIFIER_NAME } from "../../domain/coordination/agent.ts"
import { type Message, type RecipientKind, replySubject } from "../../domain/coordination/message.ts"
import { oneLine } from "../../domain/foreign-text/markdown.ts"
import { AppError, invalid } from "../../errors.ts"
import { ownCommand } from "../../runtime/own-command.ts"
import { listRecipients } from "../../store/coordination/messages.ts"
import { requireAgent } from "../admission.ts"
import { agentName, body, messageId, projectId } from "../fields.ts"
import { lines, shownTime } from "../markdown.ts"
import { type ActorContext, defineOperation } from "../operation.ts"
import { inTransaction } from "../transaction.ts"
import { deliver, requireDelivered } from "./delivery.ts"
import { ownCopy, requireMessage, requireParticipant } from "./messages.ts"
import { noteAcknowledged } from "./receipts.ts"
import { type Draft, notify } from "./writing.ts"

export const ackMessage = defineOperation({
  name: "ack-message",
  title: "Acknowledge message",
  category: "messaging",
  effect: "write",
  idempotent: true,
  actor: "agent_name",
  description:
    "Acknowledge a message sent to you, and mark it read. The sender is told: by response_text, sent as a reply in the thread, or else by a notification.",
  input: z.strictObject({
    agent_name: agentName(),
    project_id: projectId(),
    message_id: messageId(),
    response_text: body("Answer to the sender").optional(),
  }),
  run: acknowledge,
  markdown: ({ agent, message, ackedAtMs, isFirst, response, isResponseUnsent }) =>
    lines(
      isFirst ? "# Message acknowledged" : "# Message was acknowledged before",
      `Message id: ${message.id}`,
      `Subject: ${oneLine(message.subject)}`,
      `Agent: ${agent.name}`,
      `Acknowledged: ${shownTime(ackedAtMs)}`,
      isFirst && !isNotifier(message.senderName) ? `Sender notified: ${message.senderName}` : null,
      response === undefined ? null : `Response message id: ${response.messageId}`,
      isResponseUnsent ? "The response was not sent, because of that. Call reply-message to write." : null,
    ),
})

/**
 * Records the first acknowledgment; the same again changes nothing. All or nothing: if the response
 * cannot be delivered, the message stays unacknowledged.
 */
export async function acknowledge(
  context: ActorContext,
  input: { message_id: number; response_text?: string | undefined },
) {
  const { project, actor } = context
  const { delivery, ...outcome } = await inTransaction(
    context,
    `project:${project.id}`,
    async (tx, dated) => {
      const message = await requireMessage(tx, project, input.message_id)
      await requireParticipant(tx, project, actor, message)
      const own = ownCopy(await listRecipients(tx, message.id), actor)
      if (own === undefined) throw notAddressed(context, message)
      if (own.ackedAtMs !== null) return { message, ackedAtMs: own.ackedAtMs, isFirst: false }
      const sender = await requireAgent(tx, project, message.senderId)
      const text = input.response_text
      const answered =
        text === undefined ? undefined : await respond(tx, dated, sender, { message, own, text })
      if (answered === undefined || "delivered" in answered)
        await noteAcknowledged(tx, message, own, dated.nowMs)
      // An answer tells the sender by itself.
      if (answered === undefined) await notifyOf(tx, dated, sender, message)
      return { message, ackedAtMs: dated.nowMs, isFirst: true, delivery: answered }
    },
  )
  const response = delivery === undefined ? undefined : requireDelivered(delivery)
  const isResponseUnsent = input.response_text !== undefined && response === undefined
  return { agent: actor, ...outcome, response, isResponseUnsent }
}

function notAddressed({ caller, actor }: ActorContext, message: Message): AppError {
  const text = `message ${message.id} was not sent to ${actor.name}, so there is nothing to acknowledge`
  const hint =
    caller.surface === "command line"
      ? `\`${ownCommand()} inbox\` lists what was.`
      : "Call fetch-inbox to see what was."
  return new AppError("refused", text, { hint })
}

async function notifyOf(tx: Queries, context: ActorContext, sender: Agent, message: Message) {
  await notify(tx, context, sender, {
    subject: `${context.actor.name} acknowledged: ${message.subject}`,
    bodyMd: `${context.actor.name} acknowledged your message ${message.id}.`,
  })
}

async function respond(
  tx: Queries,
  context: ActorContext,
  sender: Agent,
  { message, own, text: bodyMd }: { message: Message; own: { kind: RecipientKind }; text: string },
) {
  if (isNotifier(sender.name)) {
    throw invalid(
      "response_text",
      `cannot be delivered: ${NOTIFIER_NAME} reads no mail`,
      "Call ack-message without response_text.",
    )
  }
  const draft: Draft = {
    sender: context.actor,
    recipients: new Map([[sender, "to"]]),
    threadKey: message.threadKey,
    parentId: message.id,
    subject: replySubject(message.subject),
    bodyMd,
    importance: "normal",
    ackRequired: false,
    attachments: [],
  }
  // The answer is the acknowledgment, of which everybody else would learn that there was a blind copy.
  return deliver(tx, context, draft, { isTold: own.kind !== "bcc" })
}
