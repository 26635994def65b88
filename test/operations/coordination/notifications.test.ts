import { describe, expect, test } from "vitest"
import { numberAfter, send, type TestAgent, textAfter, type World, world } from "../../support/world.ts"

async function adaAndBob(): Promise<{ made: World; ada: TestAgent; bob: TestAgent }> {
  const made = world()
  const session = await made.session()
  return { made, ada: await session.register("Ada"), bob: await session.register("Bob") }
}

function as(agent: TestAgent, tool: string, args: Record<string, unknown>): Promise<string> {
  return agent.session.call(tool, { project_id: agent.projectId, ...args })
}

/** An agent's inbox with bodies, as Markdown. */
function inboxOf(agent: TestAgent): Promise<string> {
  return as(agent, "fetch-inbox", { agent_name: agent.name, include_bodies: true })
}

/** Lets Bob acknowledge a message of Ada's; returns the id of the notification that Ada got. */
async function notification(ada: TestAgent, bob: TestAgent): Promise<number> {
  const { messageId } = await send(ada, [bob], { subject: "Plan" })
  await as(bob, "ack-message", { agent_name: "Bob", message_id: messageId })
  return numberAfter(await inboxOf(ada), "Message id")
}

/** The notifier's agent id, as its messages tell it. */
async function notifierId(ada: TestAgent, bob: TestAgent): Promise<number> {
  await notification(ada, bob)
  const profile = await ada.session.call("whois", { project_key: "demo", agent_name: "Signalbox" })
  return numberAfter(profile, "Agent id")
}

describe("a notification", () => {
  test("of an acknowledgment goes to the sender and names agent and message", async () => {
    const { ada, bob } = await adaAndBob()
    const { messageId } = await send(ada, [bob], { subject: "Plan" })
    await as(bob, "ack-message", { agent_name: "Bob", message_id: messageId })
    const inbox = await inboxOf(ada)
    expect(textAfter(inbox, "From")).toMatch(/^Signalbox, 2026/)
    expect(inbox).toMatch(/^### .*Bob.*Plan$/m)
    expect(inbox).toContain(`message ${messageId}`)
  })

  test("of a pending request goes to the recipient with the request's id and reason", async () => {
    const { ada, bob } = await adaAndBob()
    await as(bob, "set-contact-policy", { agent_name: "Bob", contact_policy: "contacts_only" })
    const text = await as(ada, "request-contact", {
      requester_name: "Ada",
      recipient_name: "Bob",
      reason: "Share the parser",
    })
    const inbox = await inboxOf(bob)
    expect(textAfter(inbox, "From")).toMatch(/^Signalbox/)
    expect(inbox).toContain("Ada")
    expect(inbox).toContain("Share the parser")
    expect(textAfter(inbox, "Contact request id")).toBe(textAfter(text, "Contact request id"))
    expect(inbox).toContain("respond-contact")
  })

  test.each([
    [true, "approved"],
    [false, "denied"],
  ])("of the answer %s goes to the requester with the response", async (approved, status) => {
    const { ada, bob } = await adaAndBob()
    await as(bob, "set-contact-policy", { agent_name: "Bob", contact_policy: "contacts_only" })
    const request = { requester_name: "Ada", recipient_name: "Bob", reason: "r" }
    const id = numberAfter(await as(ada, "request-contact", request), "Contact request id")
    await as(bob, "respond-contact", {
      agent_name: "Bob",
      contact_request_id: id,
      approved,
      response_message: "After lunch",
    })
    const inbox = await inboxOf(ada)
    expect(textAfter(inbox, "From")).toMatch(/^Signalbox/)
    expect(inbox).toMatch(new RegExp(`^### Bob ${status}`, "m"))
    expect(inbox).toContain("After lunch")
  })

  test("reaches an agent that blocks everybody", async () => {
    const { ada, bob } = await adaAndBob()
    const { messageId } = await send(ada, [bob])
    await as(ada, "set-contact-policy", { agent_name: "Ada", contact_policy: "block_all" })
    await as(bob, "ack-message", { agent_name: "Bob", message_id: messageId })
    expect(textAfter(await inboxOf(ada), "From")).toMatch(/^Signalbox/)
  })

  test("is a thread of its own, so the thread it speaks of stays as it is", async () => {
    const { ada, bob } = await adaAndBob()
    const { messageId, threadId } = await send(ada, [bob])
    await as(bob, "ack-message", { agent_name: "Bob", message_id: messageId })
    expect(textAfter(await inboxOf(ada), "Thread id")).not.toBe(threadId)
    expect((await ada.session.read(`thread/${threadId}`, { project_key: "demo" })).message_count).toBe(1)
  })

  test("can be read and acknowledged like any message, and nobody is told of that", async () => {
    const { ada, bob } = await adaAndBob()
    const messageId = await notification(ada, bob)
    await as(ada, "read-message", { agent_name: "Ada", message_id: messageId })
    const text = await as(ada, "ack-message", { agent_name: "Ada", message_id: messageId })
    expect(textAfter(text, "Acknowledged")).toBe("2026-03-10T12:00:00Z")
    expect(text).not.toContain("Sender notified")
    expect(textAfter(await inboxOf(ada), "Total")).toBe("1")
  })

  test("cannot be replied to", async () => {
    const { ada, bob } = await adaAndBob()
    const parent = await notification(ada, bob)
    const args = { sender_name: "Ada", project_id: ada.projectId, parent_message_id: parent, body_md: "b" }
    const text = await ada.session.fail("reply-message", args)
    expect(text).toMatch(/^Failed to reply message: .*Signalbox reads no mail/)
    expect(text).toContain("send-message")
  })

  test("cannot be answered with response_text, and stays unacknowledged then", async () => {
    const { ada, bob } = await adaAndBob()
    const id = await notification(ada, bob)
    const args = { agent_name: "Ada", project_id: ada.projectId, message_id: id, response_text: "Thanks" }
    const text = await ada.session.fail("ack-message", args)
    expect(text).toMatch(/^Failed to ack message: response_text .*Signalbox/)
    expect(textAfter(await inboxOf(ada), "Importance")).toBe("normal; unread")
  })
})

describe("Signalbox", () => {
  test.each(["to_agent_ids", "cc_agent_ids", "bcc_agent_ids"])(
    "cannot be written to in %s",
    async (field) => {
      const { ada, bob } = await adaAndBob()
      const id = await notifierId(ada, bob)
      const letter = {
        sender_name: "Ada",
        project_id: ada.projectId,
        to_agent_ids: [bob.id],
        subject: "s",
        body_md: "b",
      }
      const text = await ada.session.fail("send-message", { ...letter, [field]: [id] })
      expect(text).toMatch(/^Failed to send message: .*Signalbox, which reads no mail/)
      expect(textAfter(await inboxOf(bob), "Total")).toBe("1")
    },
  )

  const ACTING: [string, string, Record<string, unknown>][] = [
    ["send-message", "sender_name", { to_agent_ids: [2], subject: "s", body_md: "b" }],
    ["reply-message", "sender_name", { parent_message_id: 2, body_md: "b" }],
    ["fetch-inbox", "agent_name", {}],
    ["read-message", "agent_name", { message_id: 2 }],
    ["ack-message", "agent_name", { message_id: 2 }],
    ["request-contact", "requester_name", { recipient_name: "Ada", reason: "r" }],
    ["respond-contact", "agent_name", { contact_request_id: 1, approved: true }],
    ["list-contacts", "agent_name", {}],
    ["set-contact-policy", "agent_name", { contact_policy: "open" }],
    ["block-agent", "blocker_name", { blocked_name: "Ada" }],
    ["macro-contact-handshake", "requester_name", { recipient_name: "Ada", reason: "r" }],
    ["macro-prepare-thread", "agent_name", { thread_id: "thr_2" }],
    ["macro-claim-cycle", "agent_name", { repository_id: 1, file_paths: ["a.ts"] }],
  ]

  test.each(ACTING)("cannot be acted as in %s, in any case", async (tool, parameter, args) => {
    const { ada, bob } = await adaAndBob()
    await notification(ada, bob)
    for (const name of ["Signalbox", "SIGNALBOX"]) {
      const text = await ada.session.fail(tool, { project_id: ada.projectId, [parameter]: name, ...args })
      expect(text).toMatch(new RegExp(`: ${parameter} .*Signalbox sends notifications only`))
    }
  })

  test.each(["reserve-file-paths", "release-file-reservations"])("cannot be acted as in %s", async (tool) => {
    const { ada, bob } = await adaAndBob()
    const agent = { agent_id: await notifierId(ada, bob), coordination_project_id: ada.projectId }
    const paths =
      tool === "reserve-file-paths" ? { repository_id: ada.repositoryId, path_pattern: "a.ts" } : {}
    expect(await ada.session.fail(tool, { ...agent, ...paths })).toMatch(/: agent_id .*Signalbox/)
  })

  const AIMED: [string, string, Record<string, unknown>][] = [
    ["request-contact", "recipient_name", { requester_name: "Ada", reason: "r" }],
    ["block-agent", "blocked_name", { blocker_name: "Ada" }],
    ["macro-contact-handshake", "recipient_name", { requester_name: "Ada", reason: "r" }],
  ]

  test.each(AIMED)("is no aim of %s", async (tool, parameter, args) => {
    const { ada } = await adaAndBob()
    const text = await ada.session.fail(tool, {
      project_id: ada.projectId,
      [parameter]: "signalbox",
      ...args,
    })
    expect(text).toMatch(new RegExp(`: ${parameter} .*Signalbox`))
  })

  test("is not among the agents that the resource lists", async () => {
    const { ada } = await adaAndBob()
    const listed = await ada.session.read("agents", { project_key: "demo" })
    expect((listed.agents as { name: string }[]).map((agent) => agent.name).sort()).toEqual(["Ada", "Bob"])
    expect(listed.total_agents).toBe(2)
  })
})
