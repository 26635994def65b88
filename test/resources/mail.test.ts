import { describe, expect, test } from "vitest"
import { send, type TestAgent, type World, world } from "../support/world.ts"

const NOON = "2026-03-10T12:00:00.000Z"
const SECOND_MS = 1_000
const HOUR_MS = 3_600_000

async function room(): Promise<{ made: World; ada: TestAgent; bob: TestAgent; cleo: TestAgent }> {
  const made = world()
  const ada = await (await made.session()).register("Ada")
  const bob = await (await made.session()).register("Bob")
  const cleo = await (await made.session()).register("Cleo")
  return { made, ada, bob, cleo }
}

const read = (agent: TestAgent, path: string, query: Record<string, string> = {}) =>
  agent.session.read(path, { project_key: "demo", ...query })
const idsIn = (json: Record<string, unknown>) =>
  (json.messages as { id: number }[]).map((message) => message.id)
const own = (agent: TestAgent, messageId: number) => ({
  agent_name: agent.name,
  project_id: agent.projectId,
  message_id: messageId,
})
const markRead = (agent: TestAgent, messageId: number) =>
  agent.session.call("read-message", own(agent, messageId))
const acknowledge = (agent: TestAgent, messageId: number) =>
  agent.session.call("ack-message", own(agent, messageId))

describe("inbox", () => {
  test("has the agent, its messages and their number", async () => {
    const { ada, bob } = await room()
    const { messageId } = await send(ada, [bob], {
      subject: "Plan",
      thread_id: "plan",
      importance: "high",
      ack_required: true,
    })
    expect(await read(bob, "inbox/Bob")).toEqual({
      agent: { id: bob.id, name: "Bob" },
      messages: [
        {
          id: messageId,
          thread_id: "plan",
          from: "Ada",
          subject: "Plan",
          importance: "high",
          is_read: false,
          ack_required: true,
          ack_received_at: null,
          created_at: NOON,
        },
      ],
      count: 1,
    })
  })

  test("shows what is unread first, then what is newest, and when it was acknowledged", async () => {
    const { made, ada, bob } = await room()
    const ids: number[] = []
    for (let index = 0; index < 4; index += 1) ids.push((await send(ada, [bob])).messageId)
    const [one, two, three, four] = ids as [number, number, number, number]
    made.advance(SECOND_MS)
    await acknowledge(bob, two)
    await markRead(bob, four)
    const inbox = await read(bob, "inbox/bob")
    expect(idsIn(inbox)).toEqual([three, one, four, two])
    expect(inbox.messages).toMatchObject([
      { is_read: false },
      { is_read: false },
      { is_read: true, ack_received_at: null },
      { is_read: true, ack_received_at: "2026-03-10T12:00:01.000Z" },
    ])
  })

  test("marks nothing read", async () => {
    const { ada, bob } = await room()
    await send(ada, [bob])
    await read(bob, "inbox/Bob")
    expect(await read(bob, "inbox/Bob")).toMatchObject({ messages: [{ is_read: false }] })
  })

  test.each(["inbox/Bob", "outbox/Ada"])(
    "%s has 20 messages when nothing else is asked for, and 1 to 100",
    async (path) => {
      const { ada, bob } = await room()
      for (let index = 0; index < 21; index += 1) await send(ada, [bob])
      const looking = path.endsWith("Ada") ? ada : bob
      expect(await read(looking, path)).toMatchObject({ count: 20 })
      expect(await read(looking, path, { limit: "1" })).toMatchObject({ count: 1 })
      expect(await read(looking, path, { limit: "100" })).toMatchObject({ count: 21 })
      for (const limit of ["0", "101", "-1", "1.5", "ten", "1e1"]) {
        const told = `limit must be an integer from 1 to 100 (got "${limit}")`
        await expect(read(looking, path, { limit })).rejects.toThrow(told)
      }
    },
  )
})

describe("outbox", () => {
  test("is shaped like the inbox, with all recipients, those in bcc too", async () => {
    const { made, ada, bob, cleo } = await room()
    const dora = await (await made.session()).register("Dora")
    const { messageId, threadId } = await send(ada, [bob], {
      cc_agent_ids: [cleo.id],
      bcc_agent_ids: [dora.id],
    })
    expect(await read(ada, "outbox/Ada")).toEqual({
      agent: { id: ada.id, name: "Ada" },
      messages: [
        {
          id: messageId,
          thread_id: threadId,
          from: "Ada",
          recipients: [
            { id: bob.id, name: "Bob", type: "to" },
            { id: cleo.id, name: "Cleo", type: "cc" },
            { id: dora.id, name: "Dora", type: "bcc" },
          ],
          subject: "Subject",
          importance: "normal",
          is_read: false,
          ack_required: false,
          ack_received_at: null,
          created_at: NOON,
        },
      ],
      count: 1,
    })
  })

  test("shows the newest first, and a message as read when every recipient has read it", async () => {
    const { ada, bob, cleo } = await room()
    const first = (await send(ada, [bob, cleo])).messageId
    const second = (await send(ada, [bob])).messageId
    await markRead(bob, first)
    await markRead(bob, second)
    const outbox = await read(ada, "outbox/Ada")
    expect(idsIn(outbox)).toEqual([second, first])
    expect(outbox.messages).toMatchObject([{ is_read: true }, { is_read: false }])
    expect(await read(bob, "outbox/Bob")).toMatchObject({ messages: [], count: 0 })
  })
})

describe("message", () => {
  test("has sender, recipients with their types, and the text, but no bcc", async () => {
    const { made, ada, bob, cleo } = await room()
    const { messageId } = await send(ada, [bob], {
      subject: "Plan",
      body_md: "# One\n\nTwo",
      thread_id: "plan",
      importance: "urgent",
      ack_required: true,
      bcc_agent_ids: [cleo.id],
      attachments: [{ file: "a.txt", lines: [1, 2] }],
    })
    const message = {
      id: messageId,
      thread_id: "plan",
      sender: { id: ada.id, name: "Ada" },
      recipients: [{ id: bob.id, name: "Bob", type: "to" }],
      subject: "Plan",
      body_md: "# One\n\nTwo",
      importance: "urgent",
      ack_required: true,
      ack_received_at: null,
      attachments: [{ file: "a.txt", lines: [1, 2] }],
      created_at: NOON,
    }
    expect(await read(ada, `message/${messageId}`)).toEqual(message)
    made.advance(SECOND_MS)
    await acknowledge(bob, messageId)
    expect(await read(ada, `message/${messageId}`)).toEqual({
      ...message,
      ack_received_at: "2026-03-10T12:00:01.000Z",
    })
  })

  test("is not found under another project's key, nor under an id that is none", async () => {
    const { made, ada, bob } = await room()
    await (await made.session()).register("Eve", { project_key: "other" })
    const { messageId } = await send(ada, [bob])
    for (const [path, query] of [
      [`message/${messageId}`, { project_key: "other" }],
      ["message/999", {}],
    ] as const)
      await expect(read(ada, path, query)).rejects.toMatchObject({
        code: -32602,
        message: expect.stringContaining("was not found in project"),
      })
    for (const id of ["0", "x", "1.5", "9".repeat(16)])
      await expect(read(ada, `message/${id}`)).rejects.toThrow(/id must be an integer from 1 /)
  })
})

describe("thread", () => {
  test("has subject, participants, number, creation and messages, oldest first", async () => {
    const { made, ada, bob, cleo } = await room()
    const first = await send(ada, [bob], { thread_id: "plan", subject: "Plan", bcc_agent_ids: [cleo.id] })
    made.advance(SECOND_MS)
    const second = await send(bob, [ada], { thread_id: "plan", subject: "Re: Plan" })
    const thread = await read(ada, "thread/plan")
    expect(thread).toEqual({
      thread_id: "plan",
      subject: "Plan",
      participants: ["Ada", "Bob"],
      message_count: 2,
      created_at: NOON,
      messages: [
        await read(ada, `message/${first.messageId}`),
        await read(ada, `message/${second.messageId}`),
      ],
    })
    expect(idsIn(thread)).toEqual([first.messageId, second.messageId])
  })

  test("has the latest 200 of a longer thread, and the number of all", async () => {
    const { ada, bob } = await room()
    const ids: number[] = []
    for (let index = 0; index < 201; index += 1)
      ids.push((await send(ada, [bob], { thread_id: "long" })).messageId)
    const thread = await read(ada, "thread/long")
    expect(thread.message_count).toBe(201)
    expect(idsIn(thread)).toEqual(ids.slice(1))
  })

  test("is not found when it is unknown or another project's", async () => {
    const { made, ada, bob } = await room()
    await (await made.session()).register("Eve", { project_key: "other" })
    await send(ada, [bob], { thread_id: "plan" })
    await expect(read(ada, "thread/nothing")).rejects.toMatchObject({ code: -32602 })
    await expect(read(ada, "thread/plan", { project_key: "other" })).rejects.toThrow(
      'thread "plan" was not found in project "other"',
    )
  })
})

describe("views", () => {
  test.each(["urgent-unread", "ack-required", "ack-overdue"])(
    "%s has project, agent, number and messages",
    async (view) => {
      const { made, ada, bob } = await room()
      const { messageId } = await send(ada, [bob], {
        thread_id: "plan",
        importance: "urgent",
        ack_required: true,
      })
      made.advance(24 * HOUR_MS + 1)
      const shape = {
        project_key: "demo",
        count: 1,
        messages: [
          {
            id: messageId,
            thread_id: "plan",
            from: "Ada",
            recipient: "Bob",
            subject: "Subject",
            importance: "urgent",
            is_read: false,
            ack_required: true,
            ack_received_at: null,
            created_at: NOON,
          },
        ],
      }
      expect(await read(bob, `views/${view}`, { agent: "bob" })).toEqual({
        ...shape,
        agent: { id: bob.id, name: "Bob" },
      })
      expect(await read(bob, `views/${view}`)).toEqual({ ...shape, agent: null })
      expect(await read(ada, `views/${view}`, { agent: "Ada" })).toMatchObject({ count: 0, messages: [] })
    },
  )

  test.each(["urgent-unread", "ack-required"])(
    "%s shows a blind copy to its recipient only",
    async (view) => {
      const { ada, bob, cleo } = await room()
      await send(ada, [bob], { importance: "urgent", ack_required: true, bcc_agent_ids: [cleo.id] })
      expect(await read(cleo, `views/${view}`, { agent: "Cleo" })).toMatchObject({
        count: 1,
        messages: [{ recipient: "Cleo" }],
      })
      expect(await read(cleo, `views/${view}`)).toMatchObject({ count: 1, messages: [{ recipient: "Bob" }] })
    },
  )

  test("urgent-unread has urgent messages until they are read, newest first", async () => {
    const { ada, bob } = await room()
    await send(ada, [bob], { importance: "high" })
    const first = (await send(ada, [bob], { importance: "urgent" })).messageId
    const second = (await send(ada, [bob], { importance: "urgent" })).messageId
    expect(idsIn(await read(bob, "views/urgent-unread", { agent: "Bob" }))).toEqual([second, first])
    await markRead(bob, second)
    expect(idsIn(await read(bob, "views/urgent-unread", { agent: "Bob" }))).toEqual([first])
  })

  test("ack-required has messages until each recipient has acknowledged, oldest first", async () => {
    const { ada, bob, cleo } = await room()
    await send(ada, [bob])
    const first = (await send(ada, [bob, cleo], { ack_required: true })).messageId
    const second = (await send(ada, [bob], { ack_required: true })).messageId
    await markRead(bob, first)
    expect(idsIn(await read(bob, "views/ack-required", { agent: "Bob" }))).toEqual([first, second])
    await acknowledge(bob, first)
    expect(idsIn(await read(bob, "views/ack-required", { agent: "Bob" }))).toEqual([second])
    expect(idsIn(await read(cleo, "views/ack-required", { agent: "Cleo" }))).toEqual([first])
  })

  test("ack-overdue has messages that wait for more than 24 hours, and not one that waits for just so long", async () => {
    const { made, ada, bob } = await room()
    const { messageId } = await send(ada, [bob], { ack_required: true })
    made.advance(24 * HOUR_MS)
    expect(idsIn(await read(bob, "views/ack-overdue", { agent: "Bob" }))).toEqual([])
    made.advance(1)
    expect(idsIn(await read(bob, "views/ack-overdue", { agent: "Bob" }))).toEqual([messageId])
    await acknowledge(bob, messageId)
    expect(idsIn(await read(bob, "views/ack-overdue", { agent: "Bob" }))).toEqual([])
  })

  test.each(["urgent-unread", "ack-required", "ack-overdue"])(
    "%s does not show another project's messages",
    async (view) => {
      const { made, ada, bob } = await room()
      const eve = await (await made.session()).register("Eve", { project_key: "other" })
      await send(ada, [bob], { importance: "urgent", ack_required: true })
      made.advance(24 * HOUR_MS + 1)
      expect(await read(eve, `views/${view}`, { project_key: "other" })).toMatchObject({
        project_key: "other",
        count: 0,
      })
    },
  )
})
