import { describe, expect, test } from "vitest"
import { numberAfter, send, type TestAgent, textAfter, type World, world } from "../../support/world.ts"

const DAY_MS = 24 * 3_600_000
const SECOND_MS = 1_000
const MINUTE_MS = 60_000

async function room(): Promise<{ made: World; ada: TestAgent; bob: TestAgent; cleo: TestAgent }> {
  const made = world()
  const ada = await (await made.session()).register("Ada")
  const bob = await (await made.session()).register("Bob")
  const cleo = await (await made.session()).register("Cleo")
  return { made, ada, bob, cleo }
}

const call = (agent: TestAgent, tool: string, args: Record<string, unknown> = {}) =>
  agent.session.call(tool, { project_id: agent.projectId, ...args })
const fail = (agent: TestAgent, tool: string, args: Record<string, unknown> = {}) =>
  agent.session.fail(tool, { project_id: agent.projectId, ...args })
const section = (text: string, title: string) =>
  new RegExp(`^## ${title}\\n([\\s\\S]*?)(?:\\n\\n## |$(?![\\s\\S]))`, "m").exec(text)?.[1]
const messageIds = (text: string) =>
  [...text.matchAll(/^Message id: (\d+)$/gm)].map((match) => Number(match[1]))
const titles = (text: string) => [...text.matchAll(/^### (.*)$/gm)].map((match) => match[1])

const THREAD_TOOLS = [
  "get-thread-messages",
  "summarize-thread",
  "get-thread-participants",
  "get-action-items",
]

describe.each(THREAD_TOOLS)("%s", (tool) => {
  test("fails for a thread that is unknown or another project's, naming the way to find one", async () => {
    const { made, ada, bob } = await room()
    const eve = await (await made.session()).register("Eve", { project_key: "other" })
    await send(ada, [bob], { thread_id: "plan" })
    for (const [agent, thread] of [
      [ada, "nothing"],
      [eve, "plan"],
    ] as const) {
      const text = await fail(agent, tool, { thread_id: thread })
      expect(text).toMatch(new RegExp(`^Failed to ${tool.replaceAll("-", " ")}: `))
      expect(text).toContain(`thread "${thread}" was not found in project`)
      expect(text).toContain("search-threads")
    }
  })

  test("fails for an unknown project, and for a thread id that none can have", async () => {
    const { ada } = await room()
    expect(await fail(ada, tool, { project_id: 99, thread_id: "a" })).toContain(
      "project with id 99 was not found",
    )
    expect(await fail(ada, tool, { thread_id: "" })).toContain("thread_id must have at least 1 character")
    expect(await fail(ada, tool, { thread_id: "t".repeat(129) })).toContain(
      "thread_id must have at most 128 ",
    )
    expect(await fail(ada, tool, { thread_id: "a b" })).toContain("thread_id may contain only")
    expect(await fail(ada, tool, { thread_id: "t".repeat(128) })).toContain("was not found")
  })
})

describe("get-thread-messages", () => {
  test("shows the thread's head and its messages, oldest first", async () => {
    const { made, ada, bob, cleo } = await room()
    const first = await send(ada, [bob], {
      subject: "Plan",
      body_md: "One",
      cc_agent_ids: [cleo.id],
      importance: "high",
      ack_required: true,
      attachments: [{ file: "a.txt" }],
    })
    made.advance(MINUTE_MS)
    const second = await call(bob, "reply-message", {
      sender_name: "Bob",
      parent_message_id: first.messageId,
      body_md: "Two",
    })
    const text = await call(ada, "get-thread-messages", { thread_id: first.threadId })
    expect(text).toMatch(/^# Plan$/m)
    expect(textAfter(text, "Thread id")).toBe(first.threadId)
    expect(textAfter(text, "Participants")).toBe("Ada, Bob, Cleo")
    expect(textAfter(text, "Messages")).toBe("2")
    expect(textAfter(text, "Created")).toBe("2026-03-10T12:00:00Z, 1 min ago")
    expect(textAfter(text, "Last activity")).toBe("2026-03-10T12:01:00Z, 0 s ago")
    expect(messageIds(text)).toEqual([first.messageId, numberAfter(second, "Message id")])
    expect(titles(text)).toEqual([
      "Ada, 2026-03-10T12:00:00Z, 1 min ago",
      "Bob, 2026-03-10T12:01:00Z, 0 s ago",
    ])
    expect(text).toMatch(/^To: Bob\nCc: Cleo\nImportance: high; acknowledgment required$/m)
    expect(text).toContain('Attachments: [{"file":"a.txt"}]')
    expect(text.indexOf("\n> One")).toBeLessThan(text.indexOf("\n> Two"))
  })

  test("shows blind recipients to nobody", async () => {
    const { ada, bob, cleo } = await room()
    const { threadId } = await send(ada, [bob], { bcc_agent_ids: [cleo.id] })
    for (const tool of ["get-thread-messages", "get-thread-participants", "summarize-thread"])
      expect(await call(cleo, tool, { thread_id: threadId })).not.toContain("Cleo")
  })

  test("shows 50 messages when nothing else is asked for: the latest, oldest first", async () => {
    const { ada, bob } = await room()
    const ids: number[] = []
    for (let index = 0; index < 51; index += 1)
      ids.push((await send(ada, [bob], { thread_id: "long" })).messageId)
    const text = await call(ada, "get-thread-messages", { thread_id: "long" })
    expect(messageIds(text)).toEqual(ids.slice(1))
    expect(text).toMatch(/^Messages: 51$/m)
    expect(messageIds(await call(ada, "get-thread-messages", { thread_id: "long", limit: 1 }))).toEqual(
      ids.slice(50),
    )
    expect(messageIds(await call(ada, "get-thread-messages", { thread_id: "long", limit: 200 }))).toEqual(ids)
  })

  test.each([
    [0, "limit must be at least 1"],
    [201, "limit must be at most 200"],
  ])("refuses a limit of %i", async (limit, rule) => {
    const { ada } = await room()
    expect(await fail(ada, "get-thread-messages", { thread_id: "a", limit })).toContain(rule)
  })

  test("keeps the latest messages when they do not all fit, and says how to get the others", async () => {
    const { ada, bob } = await room()
    const ids: number[] = []
    for (let index = 0; index < 8; index += 1)
      ids.push((await send(ada, [bob], { thread_id: "long", body_md: "x".repeat(6_000) })).messageId)
    const text = await call(ada, "get-thread-messages", { thread_id: "long" })
    expect(text.length).toBeLessThanOrEqual(25_000)
    expect(messageIds(text)).toEqual(ids.slice(4))
    expect(text).toMatch(/^4 more did not fit\..*read-message/m)
  })

  test("shows the latest message even when it is as large as a message may be", async () => {
    const { ada, bob } = await room()
    const attachments = [{ note: "a".repeat(16_000) }]
    const { messageId } = await send(ada, [bob], {
      thread_id: "large",
      body_md: "x".repeat(20_000),
      attachments,
    })
    const text = await call(ada, "get-thread-messages", { thread_id: "large" })
    expect(text.length).toBeLessThanOrEqual(25_000)
    expect(messageIds(text)).toEqual([messageId])
  })
})

describe("summarize-thread", () => {
  test("gives summary, decisions, action items, next steps, participants, count, duration and status", async () => {
    const { made, ada, bob } = await room()
    const first = await send(ada, [bob], {
      subject: "Cache",
      thread_id: "cache",
      body_md: "We decided to use Redis for the session cache.\n\n- [ ] Bob: write the benchmark by Friday",
    })
    made.advance(2 * 3_600_000)
    const second = await send(bob, [ada], {
      thread_id: "cache",
      body_md: "I will deploy the cache tomorrow.",
    })
    const text = await call(ada, "summarize-thread", { thread_id: "cache" })
    expect(textAfter(text, "Thread id")).toBe("cache")
    expect(textAfter(text, "Participants")).toBe("Ada, Bob")
    expect(textAfter(text, "Messages")).toBe("2")
    expect(textAfter(text, "Duration")).toBe("2 h")
    expect(textAfter(text, "Status")).toBe("active")
    expect(section(text, "Summary")).toMatch(/^- .*\((Ada|Bob), message \d+\)$/m)
    expect(section(text, "Key decisions")).toBe(
      `- We decided to use Redis for the session cache. (Ada, message ${first.messageId})`,
    )
    expect(section(text, "Action items")).toContain(
      `- [ ] write the benchmark by Friday (owner Bob, due by Friday (2026-03-13), message ${first.messageId})`,
    )
    expect(section(text, "Action items")).toContain(
      `- [ ] deploy the cache tomorrow (owner Bob, due tomorrow (2026-03-11), message ${second.messageId})`,
    )
    expect(section(text, "Next steps")).toContain(`(Bob, message ${second.messageId})`)
    const lines = ["Summary", "Key decisions", "Action items", "Next steps"].flatMap(
      (title) => section(text, title)?.split("\n") ?? [],
    )
    for (const line of lines) expect(line).toMatch(/message \d+\)$/)
  })

  test("says of how many messages the opening was looked at, and nothing where all were read", async () => {
    const { ada, bob } = await room()
    const long = { thread_id: "long", body_md: "a b. ".repeat(4_000) }
    await send(ada, [bob], { ...long, subject: "Long", body_md: "We decided to use Redis." })
    for (const sender of [bob, ada]) await send(sender, [sender === ada ? bob : ada], long)
    const text = await call(ada, "summarize-thread", { thread_id: "long" })
    expect(textAfter(text, "Messages")).toBe("3")
    await send(ada, [bob], long)
    const longer = await call(ada, "summarize-thread", { thread_id: "long" })
    expect(textAfter(longer, "Messages")).toBe("4 (1 looked at whole, of the 3 longest the opening)")
    expect(section(longer, "Key decisions")).toContain("We decided to use Redis.")
  })

  test("is active for 7 days after the last message, and idle from then on", async () => {
    const { made, ada, bob } = await room()
    const { threadId } = await send(ada, [bob])
    made.advance(7 * DAY_MS)
    expect(textAfter(await call(ada, "summarize-thread", { thread_id: threadId }), "Status")).toBe("active")
    made.advance(1)
    expect(textAfter(await call(ada, "summarize-thread", { thread_id: threadId }), "Status")).toBe("idle")
    expect(textAfter(await call(ada, "get-thread-messages", { thread_id: threadId }), "Status")).toBe("idle")
  })

  test("is the same text for the same thread", async () => {
    const { ada, bob } = await room()
    await send(ada, [bob], {
      thread_id: "t",
      body_md: "The parser is slow. We agreed to rewrite it. @Bob please measure it first.",
    })
    const ask = () => call(ada, "summarize-thread", { thread_id: "t" })
    expect(await ask()).toBe(await ask())
  })

  test("says so where there is nothing to cite, and always has a summary", async () => {
    const { ada, bob } = await room()
    const { threadId, messageId } = await send(ada, [bob], { body_md: "Hello" })
    const text = await call(ada, "summarize-thread", { thread_id: threadId })
    expect(section(text, "Action items")).toBe("none")
    expect(section(text, "Summary")).toBe(`- Hello (Ada, message ${messageId})`)
  })

  test("takes a proposal that was agreed to and a final call for decisions", async () => {
    const { ada, bob } = await room()
    const first = await send(ada, [bob], { thread_id: "db", body_md: "Let's use Postgres" })
    await send(bob, [ada], { thread_id: "db", body_md: "Agreed" })
    const last = await send(ada, [bob], { thread_id: "db", body_md: "Final call: Postgres" })
    expect(section(await call(ada, "summarize-thread", { thread_id: "db" }), "Key decisions")).toBe(
      `- Let's use Postgres (Ada, message ${first.messageId})\n- Final call: Postgres (Ada, message ${last.messageId})`,
    )
  })

  test("has at most 25,000 characters, with a line that says how to get the rest", async () => {
    const { ada, bob } = await room()
    const tasks = (from: number) =>
      Array.from(
        { length: 200 },
        (_, index) => `- [ ] Write chapter ${from + index} of the handbook for operators`,
      ).join("\n")
    for (const from of [0, 200, 400]) await send(ada, [bob], { thread_id: "tasks", body_md: tasks(from) })
    const text = await call(ada, "summarize-thread", { thread_id: "tasks" })
    expect(text.length).toBeLessThanOrEqual(25_000)
    expect(text).toMatch(/did not fit\. .*[Cc]all/)
  })
})

describe("summarize-threads", () => {
  test("summarises each thread once, in the order given", async () => {
    const { ada, bob } = await room()
    await send(ada, [bob], { thread_id: "one", subject: "First" })
    await send(ada, [bob], { thread_id: "two", subject: "Second" })
    const text = await call(ada, "summarize-threads", { thread_ids: ["two", "one", "two"] })
    expect(text).toMatch(/^2 threads summarised\.$/m)
    expect([...text.matchAll(/^# Summary: (.*)$/gm)].map((match) => match[1])).toEqual(["Second", "First"])
  })

  test("fails for an unknown thread among them", async () => {
    const { ada, bob } = await room()
    await send(ada, [bob], { thread_id: "one" })
    expect(await fail(ada, "summarize-threads", { thread_ids: ["one", "nothing"] })).toContain(
      'thread "nothing" was not found',
    )
  })

  test("takes 1 to 20 thread ids", async () => {
    const { ada, bob } = await room()
    const ids = Array.from({ length: 20 }, (_, index) => `t${index}`)
    for (const id of ids) await send(ada, [bob], { thread_id: id })
    expect(await call(ada, "summarize-threads", { thread_ids: ids })).toMatch(/^20 threads summarised\.$/m)
    expect(await fail(ada, "summarize-threads", { thread_ids: [] })).toContain(
      "thread_ids must have at least 1 entry",
    )
    expect(await fail(ada, "summarize-threads", { thread_ids: [...ids, "t20"] })).toContain(
      "thread_ids must have at most 20 entries (got 21)",
    )
  })
})

describe("get-thread-participants", () => {
  test("lists each with messages sent, last activity and role: initiator, contributor, recipient", async () => {
    const { made, ada, bob, cleo } = await room()
    const { messageId, threadId } = await send(ada, [bob, cleo])
    made.advance(MINUTE_MS)
    await call(bob, "reply-message", { sender_name: "Bob", parent_message_id: messageId, body_md: "Yes" })
    await call(ada, "reply-message", { sender_name: "Ada", parent_message_id: messageId, body_md: "No" })
    made.advance(MINUTE_MS)
    await call(cleo, "read-message", { agent_name: "Cleo", message_id: messageId })
    const text = await call(ada, "get-thread-participants", { thread_id: threadId })
    expect(textAfter(text, "Participants")).toBe("3")
    const entry = (agent: TestAgent, sent: number, minute: number, role: string) =>
      `### ${agent.name}\nAgent id: ${agent.id}\nMessages sent: ${sent}\nLast active: 2026-03-10T12:0${minute}:00Z, ${2 - minute} ${minute === 2 ? "s" : "min"} ago\nRole: ${role}`
    expect(text).toContain(entry(ada, 2, 1, "initiator"))
    expect(text).toContain(entry(bob, 1, 1, "contributor"))
    expect(text).toContain(entry(cleo, 0, 2, "recipient"))
  })
})

describe("get-action-items", () => {
  async function tasks() {
    const { ada, bob, cleo } = await room()
    const first = await send(ada, [bob, cleo], {
      thread_id: "t",
      body_md:
        "- [ ] @Bob write the migration by 2026-03-20\n- [x] Tag the release\n\nCleo will review the schema.",
    })
    const second = await send(bob, [ada], { thread_id: "t", body_md: "The migration is written and done." })
    return { ada, first: first.messageId, second: second.messageId }
  }

  test("counts all, pending and completed items and tells everything of each", async () => {
    const { ada, first } = await tasks()
    const text = await call(ada, "get-action-items", { thread_id: "t" })
    expect(textAfter(text, "Total")).toBe("3")
    expect(textAfter(text, "Pending")).toBe("1")
    expect(textAfter(text, "Completed")).toMatch(/^2$/)
    const cleo = text.split(/\n{2}/).find((block) => block.includes("review the schema"))
    expect(cleo).toMatch(/^Assigned to: Cleo$/m)
    expect(cleo).toMatch(/^Mentioned by: Ada$/m)
    expect(cleo).toMatch(/^Due: none$/m)
    expect(cleo).toMatch(/^Status: pending$/m)
    expect(cleo).toMatch(/^Completed: no$/m)
    expect(cleo).toMatch(new RegExp(`^Context: ".*review the schema.*" \\(message ${first}\\)$`, "m"))
    expect(text).toMatch(/^Due: (by )?2026-03-20$/m)
  })

  test("counts an item as completed by its check box, or by a later message, which is named", async () => {
    const { ada, second } = await tasks()
    const text = await call(ada, "get-action-items", { thread_id: "t", completed: true })
    expect(titles(text).map((title) => title?.replace(/^@Bob /, ""))).toEqual([
      expect.stringContaining("write the migration"),
      "Tag the release",
    ])
    expect(text).toMatch(new RegExp(`^Completed: yes \\(message ${second}\\)$`, "m"))
  })

  test("filters by state and by the agent an item is assigned to, in any case; the totals are those of all", async () => {
    const { ada } = await tasks()
    const count = async (args: Record<string, unknown>) => {
      const text = await call(ada, "get-action-items", { thread_id: "t", ...args })
      expect([textAfter(text, "Total"), textAfter(text, "Pending"), textAfter(text, "Completed")]).toEqual([
        "3",
        "1",
        "2",
      ])
      expect(text.match(/^### /gm) ?? []).toHaveLength(Number(textAfter(text, "Shown")))
      return textAfter(text, "Shown")
    }
    expect(await count({ completed: false })).toBe("1")
    expect(await count({ completed: true })).toBe("2")
    expect(await count({ assigned_to: "BOB" })).toBe("1")
    expect(await count({ assigned_to: "Bob", completed: false })).toBe("0")
    expect(await count({ assigned_to: "Ada" })).toBe("0")
  })
})

describe("get-latest-updates", () => {
  const updates = async (agent: TestAgent, args: Record<string, unknown> = {}) =>
    (await call(agent, "get-latest-updates", args)).split("\n").filter((line) => line.startsWith("- "))

  test("lists messages sent and acknowledged, files reserved and reservations released, newest first", async () => {
    const { made, ada, bob } = await room()
    const { messageId, threadId } = await send(ada, [bob], { subject: "Review" })
    made.advance(SECOND_MS)
    await bob.session.call("ack-message", {
      agent_name: "Bob",
      project_id: bob.projectId,
      message_id: messageId,
    })
    made.advance(SECOND_MS)
    const own = { agent_id: ada.id, coordination_project_id: ada.projectId }
    await ada.session.call("reserve-file-paths", {
      ...own,
      repository_id: ada.repositoryId,
      path_pattern: "src/**",
    })
    made.advance(SECOND_MS)
    await ada.session.call("release-file-reservations", own)
    expect(await updates(ada)).toEqual([
      "- 2026-03-10T12:00:03Z, 0 s ago, Ada: reservation released: src/** (exclusive, reservation 1)",
      "- 2026-03-10T12:00:02Z, 1 s ago, Ada: files reserved: src/** (exclusive, reservation 1)",
      `- 2026-03-10T12:00:01Z, 2 s ago, Bob: message acknowledged: "Review" (message ${messageId}, thread ${threadId})`,
      `- 2026-03-10T12:00:00Z, 3 s ago, Ada: message sent: "Review" (message ${messageId}, thread ${threadId})`,
    ])
  })

  test("filters by time and by agent, and limits to 20 unless told, 1 to 100", async () => {
    const { made, ada, bob } = await room()
    for (let index = 0; index < 21; index += 1) await send(ada, [bob])
    made.advance(SECOND_MS)
    await send(bob, [ada])
    expect(await updates(ada)).toHaveLength(20)
    expect(await updates(ada, { limit: 1 })).toHaveLength(1)
    expect(await updates(ada, { limit: 100 })).toHaveLength(22)
    expect(await updates(ada, { agent_name: "bob" })).toHaveLength(1)
    expect(await updates(ada, { since_ts: "2026-03-10T12:00:00Z", limit: 100 })).toHaveLength(1)
    expect(await updates(ada, { since_ts: "2026-03-10T11:59:59.999Z", limit: 100 })).toHaveLength(22)
    expect(await updates(ada, { since_ts: "2026-03-10T12:00:01Z" })).toEqual([])
    expect(await fail(ada, "get-latest-updates", { limit: 0 })).toContain("limit must be at least 1")
    expect(await fail(ada, "get-latest-updates", { limit: 101 })).toContain("limit must be at most 100")
    expect(await fail(ada, "get-latest-updates", { agent_name: "Nobody" })).toContain(
      'agent "Nobody" was not found',
    )
  })

  test("shows as many as fit into 25,000 characters, and says how to get the rest", async () => {
    const { ada, bob } = await room()
    for (let index = 0; index < 90; index += 1)
      await send(ada, [bob], { subject: "s".repeat(200), thread_id: `${index}`.padEnd(128, "t") })
    const text = await call(ada, "get-latest-updates", { limit: 100 })
    expect(text.length).toBeLessThanOrEqual(25_000)
    expect((text.match(/^- /gm) ?? []).length).toBeGreaterThan(50)
    expect(text).toMatch(/did not fit\. .*limit/)
  })
})
