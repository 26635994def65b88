import { describe, expect, test } from "vitest"
import { numberAfter, send, type TestAgent, textAfter, type World, world } from "../../support/world.ts"

async function join(made: World, name: string, args: Record<string, unknown> = {}): Promise<TestAgent> {
  return (await made.session({ name: `session-of-${name}` })).register(name, args)
}

async function four(): Promise<Record<"ada" | "bob" | "cid" | "dan", TestAgent> & { made: World }> {
  const made = world()
  const session = await made.session()
  const [ada, bob] = [await session.register("Ada"), await session.register("Bob")]
  return { made, ada, bob, cid: await session.register("Cid"), dan: await session.register("Dan") }
}

/** Replies; returns the ids, the text and whom the reply went to, each as `name type`. */
async function reply(from: TestAgent, parentId: number, args: Record<string, unknown> = {}) {
  const text = await from.session.call("reply-message", {
    sender_name: from.name,
    project_id: from.projectId,
    parent_message_id: parentId,
    body_md: "Answer",
    ...args,
  })
  const messageId = numberAfter(text, "Message id")
  const message = await from.session.read(`message/${messageId}`, { project_key: "demo" })
  const recipients = message.recipients as { name: string; type: string }[]
  return { text, messageId, message, recipients: recipients.map(({ name, type }) => `${name} ${type}`) }
}

function letter(from: TestAgent, to: TestAgent, threadId: string): Record<string, unknown> {
  return {
    sender_name: from.name,
    project_id: from.projectId,
    to_agent_ids: [to.id],
    subject: "s",
    body_md: "b",
    thread_id: threadId,
  }
}

describe("thread_id", () => {
  test("when omitted is thr_ and the message's id, another for every message", async () => {
    const { ada, bob } = await four()
    for (let sent = 0; sent < 3; sent += 1) {
      const { messageId, threadId } = await send(ada, [bob])
      expect(threadId).toBe(`thr_${messageId}`)
    }
  })

  test("that is new begins a thread of that name", async () => {
    const { ada, bob } = await four()
    const { threadId } = await send(ada, [bob], { thread_id: "Plan:v1.2_a-b" })
    expect(threadId).toBe("Plan:v1.2_a-b")
    expect((await bob.session.read("thread/Plan:v1.2_a-b", { project_key: "demo" })).message_count).toBe(1)
  })

  test("of a thread the sender wrote in continues it, under the subject it began with", async () => {
    const { ada, bob } = await four()
    await send(ada, [bob], { thread_id: "plan", subject: "First" })
    await send(ada, [bob], { thread_id: "plan", subject: "Second" })
    const thread = await bob.session.read("thread/plan", { project_key: "demo" })
    expect(thread.message_count).toBe(2)
    expect(thread.subject).toBe("First")
  })

  test("of a thread the sender was addressed in, in to or cc, is accepted", async () => {
    const { ada, bob, cid } = await four()
    await send(ada, [bob], { thread_id: "plan", cc_agent_ids: [cid.id] })
    await send(bob, [ada], { thread_id: "plan" })
    await send(cid, [ada], { thread_id: "plan" })
    expect((await ada.session.read("thread/plan", { project_key: "demo" })).message_count).toBe(3)
  })

  test("of others' thread is refused, with the way to begin one's own", async () => {
    const { ada, bob, cid } = await four()
    await send(ada, [bob], { thread_id: "plan" })
    const text = await cid.session.fail("send-message", letter(cid, ada, "plan"))
    expect(text).toMatch(/^Failed to send message: Cid takes no part in thread plan/)
    expect(text).toContain("thread_id")
    expect((await ada.session.read("thread/plan", { project_key: "demo" })).message_count).toBe(1)
  })

  test("that was generated is closed to others too", async () => {
    const { ada, bob, cid } = await four()
    const { threadId } = await send(ada, [bob])
    await send(bob, [ada], { thread_id: threadId })
    expect(await cid.session.fail("send-message", letter(cid, ada, threadId))).toContain("takes no part")
  })

  test("names another thread in another project", async () => {
    const { made, ada, bob } = await four()
    await send(ada, [bob], { thread_id: "plan" })
    const eve = await join(made, "Eve", { project_key: "other" })
    await send(eve, [eve], { thread_id: "plan" })
    expect((await ada.session.read("thread/plan", { project_key: "demo" })).message_count).toBe(1)
    expect((await eve.session.read("thread/plan", { project_key: "other" })).message_count).toBe(1)
  })

  test("that somebody chose before a message would get it is not taken over by that message", async () => {
    const { ada, bob, cid, dan } = await four()
    const { messageId } = await send(ada, [bob])
    const chosen = `thr_${messageId + 2}`
    await send(ada, [bob], { thread_id: chosen })
    const later = await send(cid, [dan])
    expect(later.messageId).toBe(messageId + 2)
    expect(later.threadId).not.toBe(chosen)
    expect((await ada.session.read(`thread/${chosen}`, { project_key: "demo" })).participants).toEqual([
      "Ada",
      "Bob",
    ])
    const own = await cid.session.read(`thread/${later.threadId}`, { project_key: "demo" })
    expect(own.participants).toEqual(["Cid", "Dan"])
  })

  test("has 1 to 128 characters, and more are refused with the figure", async () => {
    const { ada, bob } = await four()
    for (const length of [1, 128]) await send(ada, [bob], { thread_id: "x".repeat(length) })
    const text = await ada.session.fail("send-message", letter(ada, bob, "x".repeat(129)))
    expect(text).toMatch(/^Failed to send message: thread_id .*\b128\b/)
  })

  test.each(["a b", "a/b", "ä", "a\n", "a#b", "a?b", "%41", "../a", "a,b"])(
    "may hold letters, digits and . _ : - only, so %j is refused",
    async (threadId) => {
      const { ada, bob } = await four()
      const text = await ada.session.fail("send-message", letter(ada, bob, threadId))
      expect(text).toMatch(/^Failed to send message: thread_id .*letters, digits and \. _ : -/)
    },
  )
})

describe("reply-message", () => {
  test("returns the thread of its parent, both message ids, the time and the importance", async () => {
    const { made, ada, bob } = await four()
    const parent = await send(ada, [bob], { thread_id: "plan" })
    made.advance(1_000)
    const { text, messageId } = await reply(bob, parent.messageId, { importance: "urgent" })
    expect(messageId).not.toBe(parent.messageId)
    expect(textAfter(text, "Thread id")).toBe("plan")
    expect(textAfter(text, "Parent message id")).toBe(String(parent.messageId))
    expect(textAfter(text, "Sent")).toBe("2026-03-10T12:00:01Z")
    expect(textAfter(text, "Importance")).toBe("urgent")
  })

  test("is normal and asks for no acknowledgment unless told otherwise", async () => {
    const { ada, bob } = await four()
    const parent = await send(ada, [bob], { importance: "urgent", ack_required: true })
    const { message } = await reply(bob, parent.messageId)
    expect(message.importance).toBe("normal")
    expect(message.ack_required).toBe(false)
  })

  test("can ask for an acknowledgment", async () => {
    const { ada, bob } = await four()
    const parent = await send(ada, [bob])
    expect((await reply(bob, parent.messageId, { ack_required: true })).message.ack_required).toBe(true)
  })

  test("goes to the parent's sender with a copy to the other recipients", async () => {
    const { ada, bob, cid, dan } = await four()
    const parent = await send(ada, [bob, cid], { cc_agent_ids: [dan.id] })
    expect((await reply(bob, parent.messageId)).recipients).toEqual(["Ada to", "Cid cc", "Dan cc"])
    expect((await reply(dan, parent.messageId)).recipients).toEqual(["Ada to", "Bob cc", "Cid cc"])
  })

  test("to one's own message goes to its to, with its cc copied", async () => {
    const { ada, bob, cid, dan } = await four()
    const parent = await send(ada, [bob, cid], { cc_agent_ids: [dan.id] })
    expect((await reply(ada, parent.messageId)).recipients).toEqual(["Bob to", "Cid to", "Dan cc"])
  })

  test("leaves out those who had the parent in bcc", async () => {
    const { ada, bob, cid, dan } = await four()
    const parent = await send(ada, [bob], { cc_agent_ids: [cid.id], bcc_agent_ids: [dan.id] })
    for (const replier of [ada, bob]) await reply(replier, parent.messageId)
    const inbox = await dan.session.call("fetch-inbox", { agent_name: "Dan", project_id: dan.projectId })
    expect(textAfter(inbox, "Total")).toBe("1")
  })

  test("of somebody who had the parent in bcc goes to its sender and its visible recipients", async () => {
    const { ada, bob, dan } = await four()
    const parent = await send(ada, [bob], { bcc_agent_ids: [dan.id] })
    expect((await reply(dan, parent.messageId)).recipients).toEqual(["Ada to", "Bob cc"])
  })

  test("puts Re: before the subject once", async () => {
    const { ada, bob } = await four()
    const parent = await send(ada, [bob], { subject: "Plan" })
    const first = await reply(bob, parent.messageId)
    expect(first.message.subject).toBe("Re: Plan")
    expect((await reply(ada, first.messageId)).message.subject).toBe("Re: Plan")
  })

  test("to the longest subject keeps all of it", async () => {
    const { ada, bob } = await four()
    const parent = await send(ada, [bob], { subject: "x".repeat(200) })
    expect((await reply(bob, parent.messageId)).message.subject).toBe(`Re: ${"x".repeat(200)}`)
  })

  test("is refused to those who take no part in the thread", async () => {
    const { ada, bob, cid } = await four()
    const { messageId } = await send(ada, [bob])
    const text = await cid.session.fail("reply-message", {
      sender_name: "Cid",
      project_id: cid.projectId,
      parent_message_id: messageId,
      body_md: "b",
    })
    expect(text).toMatch(new RegExp(`^Failed to reply message: Cid takes no part in message ${messageId}`))
  })

  test("names the message and the project where the parent is unknown or of another project", async () => {
    const { made, ada } = await four()
    const eve = await join(made, "Eve", { project_key: "other" })
    const foreign = await send(eve, [eve])
    for (const parentId of [99, foreign.messageId]) {
      const text = await ada.session.fail("reply-message", {
        sender_name: "Ada",
        project_id: ada.projectId,
        parent_message_id: parentId,
        body_md: "b",
      })
      expect(text).toMatch(
        new RegExp(`^Failed to reply message: message ${parentId} was not found in project "demo"`),
      )
      expect(text).toContain("fetch-inbox")
    }
  })

  test("takes a body of 20,000 characters and refuses one more with the figure", async () => {
    const { ada, bob } = await four()
    const { messageId } = await send(ada, [bob])
    const { message } = await reply(bob, messageId, { body_md: "x".repeat(20_000) })
    expect(message.body_md).toBe("x".repeat(20_000))
    const text = await bob.session.fail("reply-message", {
      sender_name: "Bob",
      project_id: bob.projectId,
      parent_message_id: messageId,
      body_md: "x".repeat(20_001),
    })
    expect(text).toMatch(/^Failed to reply message: body_md .*20,000/)
  })

  test("is unread for each of its recipients", async () => {
    const { ada, bob, cid } = await four()
    const parent = await send(ada, [bob, cid])
    await reply(bob, parent.messageId)
    for (const [agent, unread] of [
      [ada, "1"],
      [cid, "2"],
      [bob, "1"],
    ] as const) {
      const inbox = await agent.session.call("fetch-inbox", {
        agent_name: agent.name,
        project_id: agent.projectId,
      })
      expect(textAfter(inbox, "Unread")).toBe(unread)
    }
  })
})
