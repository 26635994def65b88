import fc from "fast-check"
import { describe, expect, test } from "vitest"
import { send, type TestAgent, type World, world } from "../../support/world.ts"

const SECOND_MS = 1_000
const DAY_MS = 24 * 3_600_000

async function room(): Promise<{ made: World; ada: TestAgent; bob: TestAgent }> {
  const made = world()
  const ada = await (await made.session()).register("Ada")
  const bob = await (await made.session()).register("Bob")
  return { made, ada, bob }
}

const search = (agent: TestAgent, query: string, args: Record<string, unknown> = {}) =>
  agent.session.call("search-messages", { project_id: agent.projectId, query, ...args })
const fail = (agent: TestAgent, tool: string, args: Record<string, unknown>) =>
  agent.session.fail(tool, { project_id: agent.projectId, ...args })
const messageIds = (text: string) =>
  [...text.matchAll(/^Message id: (\d+)$/gm)].map((match) => Number(match[1]))
const threadIds = (text: string) => [...text.matchAll(/^Thread id: (.+)$/gm)].map((match) => match[1])
const found = async (agent: TestAgent, query: string, args: Record<string, unknown> = {}) =>
  messageIds(await search(agent, query, args))

/** Sends one message for each body, in threads of their own; returns their ids by body. */
async function mails(from: TestAgent, to: TestAgent, ...bodies: string[]): Promise<Map<string, number>> {
  const ids = new Map<string, number>()
  for (const body of bodies)
    ids.set(body, (await send(from, [to], { body_md: body, subject: "Note" })).messageId)
  return ids
}

describe("search-messages", () => {
  test("shows the number of results, and of each its ids, sender, recipients, time and a marked excerpt", async () => {
    const { ada, bob } = await room()
    const { messageId, threadId } = await send(ada, [bob], {
      subject: "The cache again",
      body_md: "The session\ncache is stale.",
      importance: "high",
    })
    const text = await search(bob, "cache")
    expect(text).toMatch(/^Results: 1$/m)
    expect(text).toMatch(/^### The \*\*cache\*\* again$/m)
    expect(text).toMatch(new RegExp(`^Message id: ${messageId}$`, "m"))
    expect(text).toMatch(new RegExp(`^Thread id: ${threadId}$`, "m"))
    expect(text).toMatch(new RegExp(`^From: Ada \\(agent ${ada.id}\\), 2026-03-10T12:00:00Z, 0 s ago$`, "m"))
    expect(text).toMatch(/^To: Bob$/m)
    expect(text).toMatch(/^Importance: high$/m)
    expect(text).toMatch(/^> The session \*\*cache\*\* is stale\.$/m)
  })

  test.each([
    ["any of several words", "apple banana", ["apple pie", "banana bread", "apple and banana"]],
    ["a phrase, its words next to each other", '"apple pie"', ["apple pie"]],
    ["a phrase that is not closed", '"banana bread', ["banana bread"]],
    ["not what is excluded", "apple -pie", ["apple and banana"]],
    ["not an excluded phrase", 'apple -"and banana"', ["apple pie"]],
    ["the beginning of a word", "ban*", ["banana bread", "apple and banana"]],
    ["no part of a word without the star", "ban", []],
    ["what stands in the body", "body:banana", ["banana bread", "apple and banana"]],
    ["not what stands in the body when the subject is asked for", "subject:banana", []],
    ["words in any case and without their accents", "BÁNANA", ["banana bread", "apple and banana"]],
    ["nothing when everything is excluded", "-apple", []],
    ["nothing for a query without a word", "*** --- !!!", []],
  ])("finds %s", async (_, query, expected) => {
    const { ada, bob } = await room()
    const ids = await mails(ada, bob, "apple pie", "banana bread", "apple and banana", "cherry")
    expect(new Set(await found(bob, query))).toEqual(new Set(expected.map((body) => ids.get(body))))
  })

  test("looks in subjects with subject:, for a phrase too", async () => {
    const { ada, bob } = await room()
    const { messageId } = await send(ada, [bob], { subject: "Login bug", body_md: "See there" })
    await send(ada, [bob], { subject: "Other", body_md: "login bug" })
    expect(await found(bob, "subject:login")).toEqual([messageId])
    expect(await found(bob, 'subject:"login bug"')).toEqual([messageId])
    expect(await found(bob, 'subject:"bug login"')).toEqual([])
  })

  test("gives the most relevant first", async () => {
    const { ada, bob } = await room()
    const ids = await mails(
      ada,
      bob,
      "parser lexer",
      "parser rewrite and other things",
      "lexer rewrite and other things",
    )
    expect((await found(bob, "parser lexer"))[0]).toBe(ids.get("parser lexer"))
  })

  test("gives the most recent of equally relevant ones first, within the limit too", async () => {
    const { ada, bob } = await room()
    const sent: number[] = []
    for (let index = 0; index < 12; index += 1)
      sent.push((await send(ada, [bob], { body_md: "same words" })).messageId)
    expect(await found(bob, "words")).toEqual([...sent].reverse())
    expect(await found(bob, "words", { limit: 2 })).toEqual(sent.slice(-2).reverse())
  })

  test("marks every match in the excerpt, phrases and prefixes as one", async () => {
    const { ada, bob } = await room()
    await send(ada, [bob], { body_md: "Retry with back off, retrying twice" })
    expect(await search(bob, 'retry "back off" retryi*')).toContain(
      "**Retry** with **back off**, **retrying** twice",
    )
  })

  test.each([
    ["middle", `${"lorem ".repeat(300)}needle ${"ipsum ".repeat(300)}`],
    ["end", `${"lorem ".repeat(300)}xy needle`],
  ])("cuts the excerpt of a long message around a match in its %s", async (_, body_md) => {
    const { ada, bob } = await room()
    await send(ada, [bob], { body_md })
    const excerpt = /^> (.*)$/m.exec(await search(bob, "needle"))?.[1] ?? ""
    expect(excerpt).toContain("**needle**")
    expect(excerpt.length).toBeLessThan(300)
  })

  test("returns 20 when nothing else is asked for, and at most 100", async () => {
    const { ada, bob } = await room()
    for (let index = 0; index < 21; index += 1) await send(ada, [bob], { body_md: "word" })
    expect(await found(bob, "word")).toHaveLength(20)
    expect(await found(bob, "word", { limit: 1 })).toHaveLength(1)
    expect(await found(bob, "word", { limit: 100 })).toHaveLength(21)
  })

  test("filters by sender and by recipient, whom a blind copy does not make", async () => {
    const { made, ada, bob } = await room()
    const cleo = await (await made.session()).register("Cleo")
    const one = await send(ada, [bob], { body_md: "word", bcc_agent_ids: [cleo.id] })
    const two = await send(bob, [ada], { body_md: "word", cc_agent_ids: [cleo.id] })
    expect(await found(ada, "word", { sender_name: "ada" })).toEqual([one.messageId])
    expect(await found(ada, "word", { recipient_name: "BOB" })).toEqual([one.messageId])
    expect(await found(ada, "word", { recipient_name: "Cleo" })).toEqual([two.messageId])
    expect(await search(ada, "word", { sender_name: "Ada" })).toMatch(/^To: Bob$/m)
  })

  test("filters by importance", async () => {
    const { ada, bob } = await room()
    await send(ada, [bob], { body_md: "word" })
    const urgent = await send(ada, [bob], { body_md: "word", importance: "urgent" })
    expect(await found(ada, "word", { importance: "urgent" })).toEqual([urgent.messageId])
  })

  test("filters by time, both ends included, a mere date to its last moment", async () => {
    const { made, ada, bob } = await room()
    const noon = (await send(ada, [bob], { body_md: "word" })).messageId
    made.advance(DAY_MS / 2 - 1)
    const lastMoment = (await send(ada, [bob], { body_md: "word" })).messageId
    made.advance(1)
    const nextDay = (await send(ada, [bob], { body_md: "word" })).messageId
    const between = (from_date?: string, to_date?: string) => found(ada, "word", { from_date, to_date })
    expect(await between("2026-03-10T12:00:00Z")).toEqual([nextDay, lastMoment, noon])
    expect(await between("2026-03-10T12:00:00.001Z")).toEqual([nextDay, lastMoment])
    expect(await between("2026-03-11")).toEqual([nextDay])
    expect(await between(undefined, "2026-03-10T12:00:00Z")).toEqual([noon])
    expect(await between(undefined, "2026-03-10T11:59:59.999Z")).toEqual([])
    expect(await between(undefined, "2026-03-10")).toEqual([lastMoment, noon])
    expect(await between("2026-03-10T13:00:00+01:00", "2026-03-10T13:00:00+01:00")).toEqual([noon])
    expect(await between("2026-03-10T12:00", "2026-03-10T12:00")).toEqual([noon])
  })

  test.each(["yesterday", " ", "2026-3-1", "2026-02-30", "2026-13-01", "12:00", "1773144000000"])(
    "refuses %j as a time and shows the form",
    async (from_date) => {
      const { ada } = await room()
      const text = await fail(ada, "search-messages", { query: "x", from_date })
      expect(text).toMatch(/^Failed to search messages: from_date must be a time in ISO 8601, such as 2026-/)
    },
  )

  test.each([
    [{ limit: 0 }, "limit must be at least 1"],
    [{ limit: 101 }, "limit must be at most 100 (got 101)"],
    [{ query: "q".repeat(2_001) }, "query must have at most 2,000 characters (got 2,001)"],
    [{ query: undefined }, "query is required"],
    [{ importance: "low" }, "importance must be one of: normal, high, urgent"],
    [{ sender_name: "Nobody" }, 'agent "Nobody" was not found in project "demo"'],
    [{ recipient_name: "Nobody" }, 'agent "Nobody" was not found in project "demo"'],
    [{ project_id: 99 }, "project with id 99 was not found"],
  ])("refuses %j", async (args, rule) => {
    const { ada } = await room()
    expect(await fail(ada, "search-messages", { query: "x", ...args })).toContain(rule)
  })

  test("takes a query of 2,000 characters", async () => {
    const { ada } = await room()
    expect(await search(ada, "q ".repeat(1_000))).toMatch(/^Results: 0$/m)
  })

  test("finds the messages of one project only", async () => {
    const { made, ada, bob } = await room()
    const eve = await (await made.session()).register("Eve", { project_key: "other" })
    await send(ada, [bob], { body_md: "word" })
    expect(await found(eve, "word")).toEqual([])
    expect(await fail(eve, "search-messages", { query: "x", sender_name: "Ada" })).toContain(
      'in project "other"',
    )
  })
})

describe("every text is a valid query", () => {
  const OPERATORS = [
    "AND",
    "OR",
    "NOT",
    "NEAR",
    "(",
    ")",
    "^",
    '"',
    ":",
    "*",
    "-",
    "+",
    "subject:",
    "body:",
    "{",
    "}",
  ]
  const word = fc.string({ unit: "grapheme", maxLength: 6 })
  const anyUnit = fc.integer({ min: 0, max: 0xffff }).map((unit) => String.fromCharCode(unit))
  const query = fc.oneof(
    fc
      .array(fc.oneof(fc.constantFrom(...OPERATORS, "\0", " ", "cache", "日本", "\ud800"), word), {
        maxLength: 12,
      })
      .map((parts) => parts.join("")),
    fc
      .array(fc.oneof(fc.constantFrom(...OPERATORS), word), { maxLength: 12 })
      .map((parts) => parts.join(" ")),
    fc.string({ unit: "binary", maxLength: 60 }),
    fc.string({ unit: anyUnit, maxLength: 60 }),
  )

  test("in search-messages and search-threads, whatever its characters are", async () => {
    const { ada, bob } = await room()
    await mails(ada, bob, "The cache of 日本 is stale", "subject: NEAR AND (NOT) cached")
    await fc.assert(
      fc.asyncProperty(query, async (text) => {
        expect(await search(ada, text)).toMatch(/^Results: \d+$/m)
      }),
      { numRuns: 500 },
    )
    const args = { project_id: ada.projectId }
    await fc.assert(
      fc.asyncProperty(query, async (text) => {
        expect(await ada.session.call("search-threads", { ...args, query: text })).toMatch(/^Results: \d+$/m)
      }),
      { numRuns: 50 },
    )
  })

  test.each([
    "AND",
    "OR",
    "NOT",
    "NEAR",
    "near(a b)",
    "^apple",
    "a:b",
    "+apple",
    "apple*pie",
    "a\0b",
    "\ud800x",
    "C++",
    "'; --",
  ])("%j finds its words as they stand", async (query) => {
    const { ada, bob } = await room()
    const { messageId } = await send(ada, [bob], { body_md: `before ${query.replace(/\0/g, " ")} after` })
    await send(ada, [bob], { body_md: "unrelated" })
    const wanted = /\w/.test(query) ? [messageId] : []
    expect(await found(bob, query)).toEqual(wanted)
  })

  test.each([
    ["Chinese", "中文搜索功能", "搜索"],
    ["Japanese with voiced kana", "がんばってください", "がん"],
    ["Japanese katakana", "サーバーを再起動", "サーバー"],
    ["Korean", "한국어 문서", "한국어"],
    ["Thai", "กินข้าวแล้ว", "ข้าว"],
    ["Russian with й and ё", "новый файл, ёлка", "новый"],
    ["Greek with accents", "η κατάσταση είναι καλή", "κατάσταση"],
    ["Hindi", "हिन्दी भाषा", "हिन्दी"],
    ["Arabic with vowel signs", "مَرْحَبًا بكم", "مَرْحَبًا"],
    ["Vietnamese", "Tiếng Việt", "tieng"],
    ["decomposed accents", "un cafe\u0301 noir", "café"],
    ["a script that Unicode took in later", "𞤀𞤣𞤤𞤢𞤥 text", "𞤀𞤣𞤤𞤢𞤥"],
  ])("finds %s, and marks it", async (_, body, query) => {
    const { ada, bob } = await room()
    const { messageId } = await send(ada, [bob], { body_md: body })
    await send(ada, [bob], { body_md: "unrelated" })
    expect(await found(bob, query)).toEqual([messageId])
    expect(await search(bob, query)).toMatch(/^> .*\*\*/m)
  })
})

describe("search-threads", () => {
  const threads = async (agent: TestAgent, args: Record<string, unknown> = {}) =>
    threadIds(await agent.session.call("search-threads", { project_id: agent.projectId, ...args }))

  test("shows participants, message count, last activity and status of each", async () => {
    const { made, ada, bob } = await room()
    await send(ada, [bob], { thread_id: "plan", subject: "The plan", body_md: "one" })
    made.advance(SECOND_MS)
    await send(bob, [ada], { thread_id: "plan", body_md: "two" })
    const text = await ada.session.call("search-threads", { project_id: ada.projectId, query: "one" })
    expect(text).toMatch(/^Results: 1$/m)
    expect(text).toMatch(/^### The plan$/m)
    expect(text).toMatch(/^Thread id: plan$/m)
    expect(text).toMatch(/^Participants: Ada, Bob$/m)
    expect(text).toMatch(/^Messages: 2$/m)
    expect(text).toMatch(/^Last activity: 2026-03-10T12:00:01Z, 0 s ago$/m)
    expect(text).toMatch(/^Status: active$/m)
  })

  test("without a query lists the threads, the one with the latest activity first", async () => {
    const { made, ada, bob } = await room()
    await send(ada, [bob], { thread_id: "one" })
    made.advance(SECOND_MS)
    await send(ada, [bob], { thread_id: "two" })
    expect(await threads(ada)).toEqual(["two", "one"])
    made.advance(SECOND_MS)
    await send(ada, [bob], { thread_id: "one" })
    expect(await threads(ada)).toEqual(["one", "two"])
  })

  test("names a thread once, and of equally relevant ones that with the latest activity first", async () => {
    const { made, ada, bob } = await room()
    for (const thread of ["one", "two", "one"]) {
      made.advance(SECOND_MS)
      await send(ada, [bob], { thread_id: thread, body_md: "same words" })
    }
    expect(await threads(ada, { query: "words" })).toEqual(["one", "two"])
  })

  test("filters by participant, whom a blind copy does not make", async () => {
    const { made, ada, bob } = await room()
    const cleo = await (await made.session()).register("Cleo")
    await send(ada, [bob], { thread_id: "one", body_md: "word", bcc_agent_ids: [cleo.id] })
    await send(ada, [cleo], { thread_id: "two", body_md: "word" })
    for (const query of [undefined, "word"]) {
      expect(await threads(ada, { query, participant_name: "cleo" })).toEqual(["two"])
      expect(new Set(await threads(ada, { query, participant_name: "Ada" }))).toEqual(new Set(["one", "two"]))
    }
  })

  test.each([undefined, "word"])(
    "active_only keeps threads with activity in the last 7 days, with query %s",
    async (query) => {
      const { made, ada, bob } = await room()
      await send(ada, [bob], { thread_id: "one", body_md: "word" })
      made.advance(7 * DAY_MS)
      expect(await threads(ada, { query, active_only: true })).toEqual(["one"])
      expect(await threads(ada, { query, from_date: "2026-03-10T12:00:00Z" })).toEqual(["one"])
      expect(await threads(ada, { query, from_date: "2026-03-10T12:00:00.001Z" })).toEqual([])
      made.advance(1)
      expect(await threads(ada, { query, active_only: true })).toEqual([])
      expect(await threads(ada, { query })).toEqual(["one"])
    },
  )

  test("returns 20 when nothing else is asked for, and 1 to 100", async () => {
    const { ada, bob } = await room()
    for (let index = 0; index < 21; index += 1) await send(ada, [bob])
    expect(await threads(ada)).toHaveLength(20)
    expect(await threads(ada, { limit: 1 })).toHaveLength(1)
    expect(await threads(ada, { limit: 100 })).toHaveLength(21)
    expect(await fail(ada, "search-threads", { limit: 0 })).toContain("limit must be at least 1")
    expect(await fail(ada, "search-threads", { limit: 101 })).toContain("limit must be at most 100")
  })

  test("fails for an unknown participant, and finds nothing in another project", async () => {
    const { made, ada, bob } = await room()
    const eve = await (await made.session()).register("Eve", { project_key: "other" })
    await send(ada, [bob], { body_md: "word" })
    expect(await threads(eve, { query: "word" })).toEqual([])
    expect(await fail(ada, "search-threads", { participant_name: "Nobody" })).toContain(
      'agent "Nobody" was not found',
    )
  })
})
