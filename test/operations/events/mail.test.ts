/** What is told of mail: sent, read and acknowledged, each once, and nothing of bcc recipients and notices. */

import { expect, test } from "vitest"
import {
  answerLetter,
  contextOf as letterContext,
  readLetter,
} from "../../../src/operations/coordination/mailbox.ts"
import { findAgentById } from "../../../src/store/coordination/agents.ts"
import { eventsDuring, eventsIn } from "../../support/events.ts"
import { contextOf } from "../../support/hook.ts"
import { agents, numberAfter, send, type TestAgent } from "../../support/world.ts"

const as = (agent: TestAgent, tool: string, args: object) =>
  agent.session.call(tool, { project_id: agent.projectId, ...args })

const read = (agent: TestAgent, messageId: number) =>
  as(agent, "read-message", { agent_name: agent.name, message_id: messageId })

const acknowledge = (agent: TestAgent, messageId: number, args: object = {}) =>
  as(agent, "ack-message", { agent_name: agent.name, message_id: messageId, ...args })

test("a message is told with its subject, what it asks for and whom it names, never with its text", async () => {
  const [, ada, bob, cid, eve] = await agents("Ada", "Bob", "Cid", "Eve")
  const { messageId } = await send(ada, [bob], {
    cc_agent_ids: [cid.id],
    bcc_agent_ids: [eve.id],
    thread_id: "plan",
    subject: "Plan",
    body_md: "The needle",
    importance: "urgent",
    ack_required: true,
  })
  const [event, ...more] = await eventsIn(ada.session.app.db, "message.")
  expect(more).toEqual([])
  expect(event).toMatchObject({ kind: "message.sent", agentId: ada.id, projectId: ada.projectId })
  expect(event?.data).toEqual({
    message_id: messageId,
    thread_id: "plan",
    subject: "Plan",
    importance: "urgent",
    ack_required: true,
    to: ["Bob"],
    cc: ["Cid"],
  })
})

test("a reply is a message of its own, in the thread that the message began", async () => {
  const [, ada, bob, cid] = await agents("Ada", "Bob", "Cid")
  const { messageId, threadId } = await send(ada, [bob], { cc_agent_ids: [cid.id] })
  const reply = await as(bob, "reply-message", {
    sender_name: "Bob",
    parent_message_id: messageId,
    body_md: "Yes",
  })
  expect((await eventsIn(ada.session.app.db, "message.")).map(({ data }) => data)).toMatchObject([
    { message_id: messageId, thread_id: threadId },
    {
      message_id: numberAfter(reply, "Message id"),
      thread_id: threadId,
      subject: "Re: Subject",
      to: ["Ada"],
      cc: ["Cid"],
    },
  ])
})

test("reading and acknowledging are told the first time, with the sender as the other side", async () => {
  const [, ada, bob] = await agents("Ada", "Bob")
  const { app } = bob.session
  const { messageId, threadId } = await send(ada, [bob], { ack_required: true })
  const told = { agentId: bob.id, partyId: ada.id, subjectId: messageId, projectId: ada.projectId }
  const data = { message_id: messageId, thread_id: threadId, subject: "Subject", ack_required: true }
  // Its sender has no copy to read.
  expect(await eventsDuring(app, () => read(ada, messageId))).toEqual([])
  expect(await eventsDuring(app, () => read(bob, messageId))).toMatchObject([
    { ...told, kind: "message.read", data },
  ])
  expect(await eventsDuring(app, () => read(bob, messageId))).toEqual([])
  expect(await eventsDuring(app, () => acknowledge(bob, messageId))).toMatchObject([
    { ...told, kind: "message.acknowledged", data },
  ])
  expect(await eventsDuring(app, () => acknowledge(bob, messageId))).toEqual([])
})

test("what is acknowledged unread is told as read, too, and an answer with it as sent", async () => {
  const [, ada, bob] = await agents("Ada", "Bob")
  const { messageId } = await send(ada, [bob], { ack_required: true })
  const kinds = await eventsDuring(bob.session.app, () =>
    acknowledge(bob, messageId, { response_text: "Will do" }),
  )
  expect(kinds.map(({ kind }) => kind)).toEqual(["message.sent", "message.read", "message.acknowledged"])
})

test("an acknowledgment whose answer is refused tells nothing", async () => {
  const [, ada, bob] = await agents("Ada", "Bob")
  const { app } = bob.session
  const { messageId } = await send(ada, [bob], { ack_required: true })
  await as(ada, "set-contact-policy", { agent_name: "Ada", contact_policy: "block_all" })
  const args = { agent_name: "Bob", message_id: messageId, response_text: "Will do" }
  const refused = () => bob.session.fail("ack-message", { project_id: bob.projectId, ...args })
  expect(await eventsDuring(app, refused)).toEqual([])
})

test("a thread that is caught up on is told message by message", async () => {
  const [, ada, bob] = await agents("Ada", "Bob")
  const first = await send(ada, [bob], { thread_id: "plan" })
  const second = await send(ada, [bob], { thread_id: "plan" })
  await read(bob, first.messageId)
  const caughtUp = () => as(bob, "macro-prepare-thread", { agent_name: "Bob", thread_id: "plan" })
  expect(await eventsDuring(bob.session.app, caughtUp)).toMatchObject([
    { kind: "message.read", subjectId: second.messageId },
  ])
})

test("mail that is read and answered at the command line is told the same", async () => {
  const [, ada, bob] = await agents("Ada", "Bob")
  const { app } = bob.session
  const { messageId } = await send(ada, [bob], { ack_required: true })
  const context = await contextOf(app)
  const owner = await findAgentById(app.db, bob.id)
  if (owner === undefined) throw new Error("Bob is there")
  const events = await eventsDuring(app, async () => {
    await readLetter(context, [owner], messageId, { acknowledges: true })
    await answerLetter(await letterContext(context, [owner], messageId), messageId, {
      body_md: "Yes",
      importance: "normal",
      ack_required: false,
    })
  })
  expect(events.map(({ kind }) => kind)).toEqual(["message.read", "message.acknowledged", "message.sent"])
})

test("what a bcc recipient reads and acknowledges is told to nobody", async () => {
  const [, ada, bob, eve] = await agents("Ada", "Bob", "Eve")
  const { app } = eve.session
  const { messageId } = await send(ada, [bob], {
    bcc_agent_ids: [eve.id],
    thread_id: "plan",
    ack_required: true,
  })
  const events = await eventsDuring(app, async () => {
    await read(eve, messageId)
    await acknowledge(eve, messageId)
    await as(eve, "macro-prepare-thread", { agent_name: "Eve", thread_id: "plan" })
    await as(bob, "reply-message", { sender_name: "Bob", parent_message_id: messageId, body_md: "Yes" })
  })
  expect(events.map(({ kind, agentId }) => [kind, agentId])).toEqual([["message.sent", bob.id]])
  expect(JSON.stringify(events)).not.toContain("Eve")
})

test("a bcc recipient's acknowledgment is told to nobody with the answer that it carries either", async () => {
  const [, ada, bob, eve] = await agents("Ada", "Bob", "Eve")
  const args = { bcc_agent_ids: [eve.id], ack_required: true }
  const { messageId } = await send(ada, [bob], args)
  const answer = () => acknowledge(eve, messageId, { response_text: "Seen" })
  expect(await eventsDuring(eve.session.app, answer)).toEqual([])
  const inbox = await as(ada, "fetch-inbox", { agent_name: "Ada" })
  expect(inbox).toContain("Re: Subject")
  expect(await eventsDuring(ada.session.app, () => read(ada, numberAfter(inbox, "Message id")))).toEqual([])
})

test("notices are no messages: neither sent nor read nor acknowledged", async () => {
  const [, ada, bob] = await agents("Ada", "Bob")
  const { app } = ada.session
  const { messageId } = await send(ada, [bob], { ack_required: true })
  await acknowledge(bob, messageId)
  const inbox = await as(ada, "fetch-inbox", { agent_name: "Ada" })
  const notice = numberAfter(inbox, "Message id")
  const events = await eventsDuring(app, async () => {
    await read(ada, notice)
    await acknowledge(ada, notice)
  })
  expect(events).toEqual([])
  const sent = await eventsIn(app.db, "message.sent")
  expect(sent.map(({ subjectId }) => subjectId)).toEqual([messageId])
})
