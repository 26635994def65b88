import { describe, expect, test } from "vitest"
import { createKey } from "../../src/operations/keys.ts"
import { findBucket, putBucket } from "../../src/store/rate-limits.ts"
import { type Session, send, type TestAgent, type World, world } from "../support/world.ts"

const SECOND_MS = 1_000
const MINUTE_MS = 60_000
const HOUR_MS = 3_600_000

/** A world with limits and one agent; the minute in which it was registered is over. */
async function room(): Promise<{ made: World; ada: TestAgent }> {
  const made = world({ limits: true })
  const ada = await (await made.session()).register("Ada")
  made.advance(MINUTE_MS)
  return { made, ada }
}

const callTool = (session: Session, count: number) =>
  times(count, () => session.call("list-agents", { project_key: "demo" }))
const readResource = (session: Session, count: number) =>
  times(count, () => session.read("agents", { project_key: "demo" }))
const searchArgs = { project_id: 1, query: "x" }
const search = (session: Session, count: number) =>
  times(count, () => session.call("search-messages", searchArgs))

async function times(count: number, act: () => Promise<unknown>): Promise<void> {
  for (let index = 0; index < count; index += 1) await act()
}

/** Fails the test unless the next tool call is refused; returns the refusal. */
async function refusedCall(session: Session): Promise<string> {
  const text = await session.fail("list-agents", { project_key: "demo" })
  expect(text).toMatch(/^Failed to list agents: rate limit exceeded: 60 tool calls per minute per API key\./)
  return text
}

async function keyText(session: Session, name: string): Promise<string> {
  const request = { name, environment: "live", plan: "starter", expiresAtMs: null } as const
  return (await createKey(session.app, { ...request, scopes: ["*"] })).text
}

describe("tool calls", () => {
  test("are 60 a minute: the 61st is refused and says when to try again", async () => {
    const { made, ada } = await room()
    await callTool(ada.session, 60)
    expect(await refusedCall(ada.session)).toMatch(/Try again in 60 s\.$/)
    made.advance(45 * SECOND_MS)
    expect(await refusedCall(ada.session)).toMatch(/Try again in 15 s\.$/)
    made.advance(15 * SECOND_MS - 1)
    expect(await refusedCall(ada.session)).toMatch(/Try again in 1 s\.$/)
  })

  test("are all there again exactly one minute after the first of them", async () => {
    const { made, ada } = await room()
    await callTool(ada.session, 1)
    made.advance(MINUTE_MS - 1)
    await callTool(ada.session, 59)
    await refusedCall(ada.session)
    made.advance(1)
    await callTool(ada.session, 60)
    await refusedCall(ada.session)
  })

  test("that are refused take nothing and delay nothing", async () => {
    const { made, ada } = await room()
    await callTool(ada.session, 60)
    made.advance(30 * SECOND_MS)
    await times(20, () => refusedCall(ada.session))
    made.advance(30 * SECOND_MS)
    await callTool(ada.session, 60)
  })

  test("that fail for another reason count as well", async () => {
    const { ada } = await room()
    await times(60, () => ada.session.fail("list-agents", {}))
    await refusedCall(ada.session)
  })

  test("and resource reads do not count against each other", async () => {
    const { ada } = await room()
    await callTool(ada.session, 60)
    await readResource(ada.session, 1)
  })

  test("are not limited where limits are off", async () => {
    const ada = await (await world().session()).register("Ada")
    await callTool(ada.session, 61)
  })
})

describe("resource reads", () => {
  test("are 120 a minute: the 121st is refused and says when to try again", async () => {
    const { made, ada } = await room()
    await readResource(ada.session, 120)
    made.advance(20 * SECOND_MS)
    await expect(ada.session.read("tools")).rejects.toMatchObject({
      message: expect.stringMatching(
        /rate limit exceeded: 120 resource reads per minute per API key\. Try again in 40 s\.$/,
      ),
      data: { code: "rate_limited", retry_after: 40 },
    })
    made.advance(40 * SECOND_MS)
    await readResource(ada.session, 120)
    await expect(ada.session.read("tools")).rejects.toThrow("rate limit exceeded")
  })
})

describe("searches", () => {
  test("are 30 a minute, over both search tools", async () => {
    const { made, ada } = await room()
    await search(ada.session, 15)
    await times(15, () => ada.session.call("search-threads", { project_id: 1 }))
    for (const [tool, args] of [
      ["search-messages", searchArgs],
      ["search-threads", { project_id: 1 }],
    ] as const) {
      const text = await ada.session.fail(tool, args)
      expect(text).toMatch(/: rate limit exceeded: 30 searches per minute per API key\. Try again in 60 s\.$/)
    }
    made.advance(MINUTE_MS)
    await search(ada.session, 30)
  })

  test("count as tool calls too, but take none when they are refused", async () => {
    const { ada } = await room()
    await search(ada.session, 30)
    await times(5, () => ada.session.fail("search-messages", searchArgs))
    await callTool(ada.session, 30)
    await refusedCall(ada.session)
  })

  test("are refused as tool calls when no tool call is left", async () => {
    const { ada } = await room()
    await callTool(ada.session, 60)
    expect(await ada.session.fail("search-messages", searchArgs)).toContain("60 tool calls per minute")
  })

  test("are those two tools only", async () => {
    const { ada } = await room()
    await times(31, () => ada.session.call("get-latest-updates", { project_id: 1 }))
  })
})

describe("the key", () => {
  test("is what is counted: sessions with the same one share its calls", async () => {
    const { made, ada } = await room()
    const apiKey = await keyText(ada.session, "shared")
    const [one, two] = [await made.session({ apiKey }), await made.session({ apiKey })]
    await callTool(one, 30)
    await callTool(two, 30)
    await refusedCall(one)
    await refusedCall(two)
  })

  test("with another one has calls of its own", async () => {
    const { made, ada } = await room()
    const one = await made.session({ apiKey: await keyText(ada.session, "one") })
    const two = await made.session({ apiKey: await keyText(ada.session, "two") })
    await callTool(one, 60)
    await refusedCall(one)
    await callTool(two, 60)
    await callTool(ada.session, 60)
  })

  test("of this machine is counted per server process, so that one cannot starve another", async () => {
    const { made, ada } = await room()
    const [same, other] = [await made.session(), await made.session()]
    other.app.processName = "4711:another-process"
    await callTool(ada.session, 30)
    await callTool(same, 30)
    await refusedCall(ada.session)
    await refusedCall(same)
    await callTool(other, 60)
    await refusedCall(other)
  })

  test("that does not count is refused as such, however often it calls", async () => {
    const { made } = await room()
    const session = await made.session({ apiKey: "wrong" })
    await times(61, async () =>
      expect(await session.fail("list-agents", { project_key: "demo" })).toContain("authentication required"),
    )
  })
})

describe("message sends", () => {
  /** Sends messages without ever meeting the limit of tool calls. */
  async function sendMany(from: TestAgent, to: TestAgent, count: number): Promise<void> {
    from.session.app.config.rates.tool_calls_per_minute = 0
    await times(count, () => send(from, [to]))
  }

  const sendArgs = (from: TestAgent, to: TestAgent) => ({
    sender_name: from.name,
    project_id: from.projectId,
    to_agent_ids: [to.id],
    subject: "One more",
    body_md: "Body",
  })
  const refusedSend = async (from: TestAgent, to: TestAgent) => {
    const text = await from.session.fail("send-message", sendArgs(from, to))
    expect(text).toMatch(/^Failed to send message: rate limit exceeded: 100 messages per hour per agent\./)
    return text
  }

  async function pair() {
    const { made, ada } = await room()
    const bob = await (await made.session()).register("Bob")
    return { made, ada, bob }
  }

  test("are 100 an hour and agent: the 101st is refused and says when to try again", async () => {
    const { made, ada, bob } = await pair()
    await sendMany(ada, bob, 100)
    made.advance(10 * MINUTE_MS)
    expect(await refusedSend(ada, bob)).toMatch(/Try again in 3000 s\.$/)
    await sendMany(bob, ada, 1)
  })

  test("are there again exactly one hour after the first of them", async () => {
    const { made, ada, bob } = await pair()
    await sendMany(ada, bob, 100)
    made.advance(HOUR_MS - 1)
    expect(await refusedSend(ada, bob)).toMatch(/Try again in 1 s\.$/)
    made.advance(1)
    await sendMany(ada, bob, 100)
    await refusedSend(ada, bob)
  })

  test("are counted once for each message, whatever the number of its recipients", async () => {
    const { made, ada, bob } = await pair()
    const cleo = await (await made.session()).register("Cleo")
    ada.session.app.config.rates.tool_calls_per_minute = 0
    await times(100, () => send(ada, [bob, cleo]))
    await refusedSend(ada, bob)
  })

  test("include replies and the answers of acknowledgments", async () => {
    const { ada, bob } = await pair()
    const first = (await send(bob, [ada])).messageId
    const second = (await send(bob, [ada])).messageId
    await sendMany(ada, bob, 98)
    const own = { project_id: ada.projectId }
    const reply = { ...own, sender_name: "Ada", parent_message_id: first, body_md: "Yes" }
    const ack = { ...own, agent_name: "Ada", response_text: "Thanks" }
    await ada.session.call("reply-message", reply)
    await ada.session.call("ack-message", { ...ack, message_id: first })
    const limit = "100 messages per hour per agent"
    expect(await ada.session.fail("reply-message", reply)).toContain(limit)
    expect(await ada.session.fail("ack-message", { ...ack, message_id: second })).toContain(limit)
  })

  test("that are refused take nothing", async () => {
    const { made, ada, bob } = await pair()
    ada.session.app.config.rates.tool_calls_per_minute = 0
    await times(10, () => ada.session.fail("send-message", { ...sendArgs(ada, bob), to_agent_ids: [999] }))
    await sendMany(ada, bob, 100)
    await times(10, () => refusedSend(ada, bob))
    made.advance(HOUR_MS)
    await sendMany(ada, bob, 1)
  })

  test("of notifications are not counted, for there may be more than 100 an hour", async () => {
    const { made, ada, bob } = await pair()
    const sent: number[] = []
    ada.session.app.config.rates.tool_calls_per_minute = 0
    bob.session.app.config.rates.tool_calls_per_minute = 0
    await times(100, async () => sent.push((await send(ada, [bob])).messageId))
    const cleo = await (await made.session()).register("Cleo")
    sent.push((await send(cleo, [bob])).messageId)
    for (const message_id of sent)
      await bob.session.call("ack-message", { agent_name: "Bob", project_id: bob.projectId, message_id })
    await sendMany(bob, ada, 100)
  })
})

test("what is left of a day's limit outlives the hour when somebody new calls", async () => {
  const { made, ada } = await room()
  const { db } = ada.session.app
  const day = { windowStartedAtMs: made.nowMs, used: 9_999 }
  const find = () => findBucket(db, "key:7", "documentation:day")
  await putBucket(db, "key:7", "documentation:day", day)
  made.advance(23 * HOUR_MS)
  await (await made.session()).register("Bob")
  expect(await find()).toEqual(day)
  made.advance(HOUR_MS + 1)
  const { text } = await createKey(ada.session.app, {
    name: "new",
    environment: "live",
    scopes: ["*"],
    plan: "pro",
    expiresAtMs: null,
  })
  await (await made.session({ apiKey: text })).register("Cleo")
  expect(await find()).toBeUndefined()
})
