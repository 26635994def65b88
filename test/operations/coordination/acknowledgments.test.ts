import { describe, expect, test } from "vitest"
import { numberAfter, send, type TestAgent, textAfter, type World, world } from "../../support/world.ts"

async function three(): Promise<Record<"ada" | "bob" | "cid", TestAgent> & { made: World }> {
  const made = world()
  const session = await made.session()
  const [ada, bob] = [await session.register("Ada"), await session.register("Bob")]
  return { made, ada, bob, cid: await session.register("Cid") }
}

function args(
  agent: TestAgent,
  messageId: number,
  more: Record<string, unknown> = {},
): Record<string, unknown> {
  return { agent_name: agent.name, project_id: agent.projectId, message_id: messageId, ...more }
}

function ack(agent: TestAgent, messageId: number, more: Record<string, unknown> = {}): Promise<string> {
  return agent.session.call("ack-message", args(agent, messageId, more))
}

function inboxOf(agent: TestAgent): Promise<string> {
  return agent.session.call("fetch-inbox", {
    agent_name: agent.name,
    project_id: agent.projectId,
    include_bodies: true,
  })
}

describe("ack-message", () => {
  test("confirms with id, subject, agent and time, and names the sender it told", async () => {
    const { made, ada, bob } = await three()
    const { messageId } = await send(ada, [bob], { subject: "Parser", ack_required: true })
    made.advance(5_000)
    const text = await ack(bob, messageId)
    expect(textAfter(text, "Message id")).toBe(String(messageId))
    expect(textAfter(text, "Subject")).toBe("Parser")
    expect(textAfter(text, "Agent")).toBe("Bob")
    expect(textAfter(text, "Acknowledged")).toBe("2026-03-10T12:00:05Z")
    expect(textAfter(text, "Sender notified")).toBe("Ada")
  })

  test("marks the message read and acknowledged in the inbox", async () => {
    const { ada, bob } = await three()
    const { messageId } = await send(ada, [bob], { ack_required: true })
    await ack(bob, messageId)
    expect(textAfter(await inboxOf(bob), "Importance")).toBe("normal; read, acknowledged")
    expect(textAfter(await inboxOf(bob), "Unread")).toBe("0")
  })

  test("counts for that recipient alone", async () => {
    const { ada, bob, cid } = await three()
    const { messageId } = await send(ada, [bob, cid], { ack_required: true })
    await ack(bob, messageId)
    expect(textAfter(await inboxOf(cid), "Importance")).toBe("normal; unread, acknowledgment required")
  })

  test("is possible where no acknowledgment was asked for", async () => {
    const { ada, bob } = await three()
    const { messageId } = await send(ada, [bob])
    await ack(bob, messageId)
    expect(textAfter(await inboxOf(bob), "Importance")).toBe("normal; read, acknowledged")
  })

  test("keeps the time at which the message was read before", async () => {
    const { made, ada, bob } = await three()
    const { messageId } = await send(ada, [bob])
    await bob.session.call("read-message", args(bob, messageId))
    made.advance(60_000)
    await ack(bob, messageId)
    const text = await bob.session.call("read-message", args(bob, messageId))
    expect(textAfter(text, "Read by")).toBe("Bob, 2026-03-10T12:00:00Z")
  })

  test("again keeps the first time and does not tell the sender again", async () => {
    const { made, ada, bob } = await three()
    const { messageId } = await send(ada, [bob], { ack_required: true })
    await ack(bob, messageId)
    made.advance(60_000)
    expect(textAfter(await ack(bob, messageId), "Acknowledged")).toBe("2026-03-10T12:00:00Z")
    expect(textAfter(await inboxOf(ada), "Total")).toBe("1")
    const message = await ada.session.read(`message/${messageId}`, { project_key: "demo" })
    expect(message.ack_received_at).toBe("2026-03-10T12:00:00.000Z")
  })

  test("again does not claim to have told the sender again", async () => {
    const { ada, bob } = await three()
    const { messageId } = await send(ada, [bob])
    await ack(bob, messageId)
    expect(await ack(bob, messageId)).not.toContain("Sender notified")
  })

  test("is refused to the sender, who was sent nothing", async () => {
    const { ada, bob } = await three()
    const { messageId } = await send(ada, [bob])
    const text = await ada.session.fail("ack-message", args(ada, messageId))
    expect(text).toMatch(new RegExp(`^Failed to ack message: message ${messageId} was not sent to Ada`))
  })

  test("is refused to those who take no part", async () => {
    const { ada, bob, cid } = await three()
    const { messageId } = await send(ada, [bob])
    const text = await cid.session.fail("ack-message", args(cid, messageId))
    expect(text).toMatch(new RegExp(`^Failed to ack message: Cid takes no part in message ${messageId}`))
  })

  test("names the message and the project where it is unknown or of another project", async () => {
    const { made, ada } = await three()
    const eve = await (await made.session()).register("Eve", { project_key: "other" })
    const foreign = await send(eve, [eve])
    for (const id of [99, foreign.messageId]) {
      const text = await ada.session.fail("ack-message", args(ada, id))
      expect(text).toMatch(
        new RegExp(`^Failed to ack message: message ${id} was not found in project "demo"`),
      )
    }
  })
})

describe("response_text", () => {
  test("is sent to the sender alone, as a reply in the thread", async () => {
    const { ada, bob, cid } = await three()
    const { messageId, threadId } = await send(ada, [bob], { subject: "Plan", cc_agent_ids: [cid.id] })
    const text = await ack(bob, messageId, { response_text: "Will do" })
    const responseId = numberAfter(text, "Response message id")
    const response = await ada.session.read(`message/${responseId}`, { project_key: "demo" })
    expect(response.thread_id).toBe(threadId)
    expect(response.sender).toEqual({ id: bob.id, name: "Bob" })
    expect(response.recipients).toEqual([{ id: ada.id, name: "Ada", type: "to" }])
    expect(response.subject).toBe("Re: Plan")
    expect(response.body_md).toBe("Will do")
  })

  test("is the notification: one message tells the sender", async () => {
    const { ada, bob } = await three()
    const { messageId } = await send(ada, [bob])
    await ack(bob, messageId, { response_text: "Will do" })
    const inbox = await inboxOf(ada)
    expect(textAfter(inbox, "Total")).toBe("1")
    expect(inbox).toContain("From: Bob")
  })

  test("left out sends no reply", async () => {
    const { ada, bob } = await three()
    const { messageId, threadId } = await send(ada, [bob])
    expect(await ack(bob, messageId)).not.toContain("Response message id")
    expect((await ada.session.read(`thread/${threadId}`, { project_key: "demo" })).message_count).toBe(1)
  })

  test("that the sender refuses leaves the message unacknowledged and unread, and the sender untold", async () => {
    const { ada, bob } = await three()
    const { messageId, threadId } = await send(ada, [bob], { ack_required: true })
    const policy = { agent_name: "Ada", project_id: ada.projectId, contact_policy: "block_all" }
    await ada.session.call("set-contact-policy", policy)
    const text = await bob.session.fail("ack-message", args(bob, messageId, { response_text: "Will do" }))
    expect(text).toMatch(/^Failed to ack message: .*Ada/)
    expect(textAfter(await inboxOf(bob), "Importance")).toBe("normal; unread, acknowledgment required")
    expect(textAfter(await inboxOf(ada), "Total")).toBe("0")
    expect((await ada.session.read(`thread/${threadId}`, { project_key: "demo" })).message_count).toBe(1)
    await ack(bob, messageId)
  })

  test("reaches a sender that takes mail from contacts only, because it answers the sender", async () => {
    const { ada, bob } = await three()
    const { messageId } = await send(ada, [bob])
    const policy = { agent_name: "Ada", project_id: ada.projectId, contact_policy: "contacts_only" }
    await ada.session.call("set-contact-policy", policy)
    await ack(bob, messageId, { response_text: "Will do" })
    expect(await inboxOf(ada)).toContain("Will do")
  })

  test("sent again with the same call is not sent twice, for acknowledging is idempotent", async () => {
    const { ada, bob } = await three()
    const { messageId, threadId } = await send(ada, [bob])
    await ack(bob, messageId, { response_text: "Will do" })
    await ack(bob, messageId, { response_text: "Will do" })
    expect((await ada.session.read(`thread/${threadId}`, { project_key: "demo" })).message_count).toBe(2)
  })

  test("has 1 to 20,000 characters, and more are refused with the figure", async () => {
    const { ada, bob } = await three()
    const { messageId } = await send(ada, [bob])
    const text = await bob.session.fail(
      "ack-message",
      args(bob, messageId, { response_text: "x".repeat(20_001) }),
    )
    expect(text).toMatch(/^Failed to ack message: response_text .*20,000/)
    expect(await bob.session.fail("ack-message", args(bob, messageId, { response_text: " " }))).toContain(
      "response_text",
    )
    await ack(bob, messageId, { response_text: "x".repeat(20_000) })
    expect(await inboxOf(ada)).toContain("x".repeat(20_000))
  })
})
