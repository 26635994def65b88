import { describe, expect, test } from "vitest"
import { createKey } from "../../src/operations/keys.ts"
import { type Session, send, world } from "../support/world.ts"

const SCHEME = "signalbox://coordination"
const INBOX = `${SCHEME}/inbox/{agent}{?project_key,limit}`
const THREAD = `${SCHEME}/thread/{thread_id}{?project_key}`
const CONTACTS = `${SCHEME}/contacts{?project_key,agent,status}`
const AGENTS = `${SCHEME}/agents{?project_key,active_only}`

async function complete(
  session: Session,
  uri: string,
  name: string,
  value: string,
  known?: Record<string, string>,
) {
  const { completion } = await session.client.complete({
    ref: { type: "ref/resource", uri },
    argument: { name, value },
    ...(known === undefined ? {} : { context: { arguments: known } }),
  })
  return completion
}
const valuesOf = async (...args: Parameters<typeof complete>) => (await complete(...args)).values

describe("completion", () => {
  test("of project_key gives the keys that begin with what was typed, in order", async () => {
    const session = await world().session()
    for (const project_key of ["beta", "alpha", "all_1", "al%"])
      await session.register("Ada", { project_key })
    expect(await valuesOf(session, AGENTS, "project_key", "")).toEqual(["al%", "all_1", "alpha", "beta"])
    expect(await valuesOf(session, AGENTS, "project_key", "al")).toEqual(["al%", "all_1", "alpha"])
    expect(await valuesOf(session, AGENTS, "project_key", "al%")).toEqual(["al%"])
    expect(await valuesOf(session, AGENTS, "project_key", "x")).toEqual([])
  })

  test("of agent gives the project's names in any case, without the one that notifications come from", async () => {
    const session = await world().session()
    for (const name of ["Sam", "Ada", "sandra"]) await session.register(name)
    await session.register("Sabine", { project_key: "other" })
    const demo = { project_key: "demo" }
    expect(await valuesOf(session, INBOX, "agent", "", demo)).toEqual(["Ada", "Sam", "sandra"])
    expect(await valuesOf(session, INBOX, "agent", "S", demo)).toEqual(["Sam", "sandra"])
    expect(await valuesOf(session, CONTACTS, "agent", "AD", demo)).toEqual(["Ada"])
  })

  test("of thread_id gives the project's threads, the latest first", async () => {
    const made = world()
    const ada = await (await made.session()).register("Ada")
    const bob = await (await made.session()).register("Bob")
    for (const thread_id of ["plan-1", "plan-2", "other"]) {
      await send(ada, [bob], { thread_id })
      made.advance(1_000)
    }
    expect(await valuesOf(ada.session, THREAD, "thread_id", "plan", { project_key: "demo" })).toEqual([
      "plan-2",
      "plan-1",
    ])
    expect(await valuesOf(ada.session, THREAD, "thread_id", "nothing", { project_key: "demo" })).toEqual([])
  })

  test("of status and active_only gives their values, whatever the project", async () => {
    const session = await world().session()
    expect(await valuesOf(session, CONTACTS, "status", "")).toEqual(["pending", "approved", "denied"])
    expect(await valuesOf(session, CONTACTS, "status", "D")).toEqual(["denied"])
    expect(await valuesOf(session, AGENTS, "active_only", "t")).toEqual(["true"])
  })

  test("gives nothing where the project is not named, is not found, or the parameter is free text", async () => {
    const session = await world().session()
    await session.register("Ada")
    expect(await valuesOf(session, INBOX, "agent", "")).toEqual([])
    expect(await valuesOf(session, INBOX, "agent", "", { project_key: "nothing" })).toEqual([])
    expect(await valuesOf(session, INBOX, "limit", "", { project_key: "demo" })).toEqual([])
  })

  test("gives at most 100 values, and says when there are more", async () => {
    const session = await world().session()
    for (let index = 0; index < 100; index += 1) await session.register(`Agent-${index}`)
    const demo = { project_key: "demo" }
    expect(await complete(session, INBOX, "agent", "", demo)).toMatchObject({ hasMore: false })
    await session.register("Agent-100")
    const completion = await complete(session, INBOX, "agent", "", demo)
    expect(completion.values).toHaveLength(100)
    expect(completion.hasMore).toBe(true)
  })

  test("is refused for what is no template of this server", async () => {
    const session = await world().session()
    await expect(complete(session, `${SCHEME}/nothing/{agent}`, "agent", "")).rejects.toMatchObject({
      code: -32602,
    })
    const prompt = { ref: { type: "ref/prompt", name: "x" } as const, argument: { name: "a", value: "" } }
    await expect(session.client.complete(prompt)).rejects.toMatchObject({ code: -32602 })
  })
})

describe("completion without access", () => {
  async function scoped(...scopes: string[]) {
    const made = world()
    const local = await made.session()
    await local.register("Ada")
    await local.register("Eve", { project_key: "other" })
    const request = { name: "test", environment: "live", plan: "starter", expiresAtMs: null } as const
    const session = await made.session({ apiKey: (await createKey(local.app, { ...request, scopes })).text })
    return { local, session }
  }

  test("gives no values and no error when the key does not count", async () => {
    const made = world()
    await (await made.session()).register("Ada")
    const session = await made.session({ apiKey: "wrong" })
    expect(await valuesOf(session, AGENTS, "project_key", "")).toEqual([])
    expect(await valuesOf(session, INBOX, "agent", "", { project_key: "demo" })).toEqual([])
    expect(await valuesOf(session, CONTACTS, "status", "")).toEqual([])
  })

  test("gives no values of a project that the key does not permit", async () => {
    const { session } = await scoped("project:other:coordination")
    expect(await valuesOf(session, AGENTS, "project_key", "")).toEqual(["other"])
    expect(await valuesOf(session, INBOX, "agent", "", { project_key: "demo" })).toEqual([])
    expect(await valuesOf(session, INBOX, "agent", "", { project_key: "other" })).toEqual(["Eve"])
  })

  test("hides no permitted project behind a hundred others", async () => {
    const { local, session } = await scoped("project:other:coordination")
    for (let index = 0; index < 100; index += 1) await local.register("Ada", { project_key: `a${index}` })
    expect(await valuesOf(session, AGENTS, "project_key", "")).toEqual(["other"])
  })
})
