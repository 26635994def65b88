/** Who may act as whom: every tool and resource that names who acts, and the ways out of a refusal. */

import { mkdirSync, writeFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { describe, expect, test } from "vitest"
import * as z from "zod"
import { OPERATIONS } from "../../../src/operations/index.ts"
import type { Operation } from "../../../src/operations/operation.ts"
import { RESOURCES } from "../../../src/resources/index.ts"
import type { Resource } from "../../../src/resources/resource.ts"
import { heldIn, reserve, sessionEvent } from "../../support/hook.ts"
import {
  agents,
  numberAfter,
  send,
  type TestAgent,
  textAfter,
  type World,
  world,
} from "../../support/world.ts"

const ACTING = OPERATIONS.filter(({ actor }) => actor !== undefined)
const LOOKING = RESOURCES.filter(({ actor }) => actor !== undefined)
const named = <T extends { name: string }>(all: readonly T[]): [string, T][] =>
  all.map((one) => [one.name, one])

/** The parameters of coordination that name an agent who does not act: filters, recipients, and who is looked up. */
const NOT_ACTING = [
  "whois agent_name",
  "macro-contact-handshake recipient_name",
  "request-contact recipient_name",
  "block-agent blocked_name",
  "search-messages sender_name",
  "search-messages recipient_name",
  "search-threads participant_name",
  "get-latest-updates agent_name",
  "list-file-reservations agent_id",
]

type Schema = { type?: string; enum?: unknown[]; items?: Schema; required?: string[]; properties?: object }

/** Returns arguments that an operation's schema admits, in which an agent is named as who acts. */
function argumentsFor(operation: Operation, agent: TestAgent): Record<string, unknown> {
  const schema = z.toJSONSchema(operation.input, { unrepresentable: "any", io: "input" }) as Schema
  const properties = schema.properties as Record<string, Schema>
  const required = (schema.required ?? []).map((name) => [name, sample(properties[name] ?? {})])
  const known = {
    project_id: agent.projectId,
    coordination_project_id: agent.projectId,
    repository_id: agent.repositoryId,
    project_key: "demo",
  }
  const actor = operation.actor ?? ""
  return {
    ...Object.fromEntries(required),
    ...Object.fromEntries(Object.entries(known).filter(([name]) => name in properties)),
    [actor]: properties[actor]?.type === "integer" ? agent.id : agent.name,
  }
}

function sample({ type, enum: values, items = {} }: Schema): unknown {
  if (values !== undefined) return values[0]
  if (type === "array") return [sample(items)]
  if (type === "boolean") return true
  return type === "integer" ? 1 : "x"
}

/** Reads a resource for an agent, on behalf of a session; fails as the resource does. */
function readFor({ path, parameters }: Resource, looking: TestAgent, agent: TestAgent): Promise<object> {
  const place = path.replace("coordination/", "").replace("{agent}", agent.name)
  const query: Record<string, string> = path.includes("{agent}") ? {} : { agent: agent.name }
  expect(Object.keys(parameters.shape)).toContain("project_key")
  return looking.session.read(place, { ...query, project_key: "demo" })
}

const HELD = /Bob \(test-program, last active 0 s ago\) belongs to another live session/
const WAYS_OUT = /with another name_hint, or wait until that session has ended\./

test("who acts is told of every tool and resource that names an agent", () => {
  const naming = OPERATIONS.flatMap(({ name, input, actor }) =>
    Object.keys(input.shape)
      .filter((field) =>
        /(agent|sender|recipient|requester|participant|blocker|blocked)_(name|id)$/.test(field),
      )
      .filter((field) => field !== actor)
      .map((field) => `${name} ${field}`),
  )
  expect(naming.sort()).toEqual([...NOT_ACTING].sort())
  const views = RESOURCES.filter(({ parameters }) => "agent" in parameters.shape)
  expect(views.filter(({ actor }) => actor === undefined).map(({ name }) => name)).toEqual([
    "file-reservations",
  ])
  expect(ACTING.length).toBeGreaterThan(12)
  expect(LOOKING.length).toBeGreaterThan(5)
})

describe("an agent of another live session", () => {
  test.each(named(ACTING))("is not spoken for by %s", async (tool, operation) => {
    const [, ada, bob] = await agents("Ada", "Bob")
    const text = await ada.session.fail(tool, argumentsFor(operation, bob))
    expect(text).toMatch(HELD)
    expect(text).toContain(`you are Ada (agent id ${ada.id})`)
    expect(text).toMatch(WAYS_OUT)
  })

  test.each(named(LOOKING))("is not looked for by the resource %s", async (_name, resource) => {
    const [, ada, bob] = await agents("Ada", "Bob")
    await expect(readFor(resource, ada, bob)).rejects.toThrow(HELD)
    await expect(readFor(resource, bob, bob)).resolves.toBeDefined()
  })

  test("is a recipient, a filter, and looked up as ever", async () => {
    const [, ada, bob] = await agents("Ada", "Bob")
    await send(ada, [bob])
    await reserve(bob, "src/**")
    const { session, projectId: project_id } = ada
    expect(await session.call("whois", { project_key: "demo", agent_name: "Bob" })).toContain("# Bob")
    expect(
      await session.call("search-messages", { project_id, query: "Body", recipient_name: "Bob" }),
    ).toContain("Subject")
    await session.call("search-threads", { project_id, participant_name: "Bob" })
    await session.call("get-latest-updates", { project_id, agent_name: "Bob" })
    await session.call("macro-contact-handshake", {
      project_id,
      requester_name: "Ada",
      recipient_name: "Bob",
      reason: "r",
    })
    const held = { coordination_project_id: project_id, agent_id: bob.id }
    expect(await session.call("list-file-reservations", held)).toContain("### src/**")
    const listed = await session.read("file-reservations", { project_key: "demo", agent: "Bob" })
    expect(listed).toMatchObject({ count: 1 })
    expect(await session.read("views/ack-required", { project_key: "demo" })).toMatchObject({ agent: null })
  })

  test("is told nothing and loses nothing by the attempt", async () => {
    const [, ada, bob] = await agents("Ada", "Bob")
    await reserve(bob, "src/**")
    await ada.session.fail("release-file-reservations", {
      agent_id: bob.id,
      coordination_project_id: ada.projectId,
    })
    const held = await ada.session.read("file-reservations", { project_key: "demo" })
    expect(held).toMatchObject({ count: 1 })
  })
})

test.each(named(ACTING))("%s speaks for the sub-agents of its session", async (tool, operation) => {
  const [made, ada] = await agents("Ada")
  const sub = await ada.session.register("Sub")
  const again = await made.session({ name: "session-of-Ada" })
  for (const session of [ada.session, again]) {
    const result = await session.client.callTool({ name: tool, arguments: argumentsFor(operation, sub) })
    expect(JSON.stringify(result.content)).not.toContain("belongs to")
  }
})

describe("an agent whose session has ended", () => {
  async function left(): Promise<[World, TestAgent, TestAgent]> {
    const [made, ada, bob] = await agents("Ada", "Bob")
    await reserve(bob, "src/**")
    await bob.session.close()
    return [made, ada, bob]
  }

  test.each(named(ACTING))("is not spoken for by %s before it is taken up", async (tool, operation) => {
    const [, ada, bob] = await left()
    const text = await ada.session.fail(tool, argumentsFor(operation, bob))
    expect(text).toContain("belongs to no live session, so it has to be taken up first")
    expect(text).toContain('Call register-agent or macro-start-session with name_hint "Bob"')
  })

  test.each(["register-agent", "macro-start-session"])("is taken up by %s with its name", async (tool) => {
    const [, ada, bob] = await left()
    const introduced = { project_key: "demo", program: "p", model: "m", name_hint: "bob" }
    expect(numberAfter(await ada.session.call(tool, introduced), "Agent id")).toBe(bob.id)
    const released = { agent_id: bob.id, coordination_project_id: bob.projectId }
    expect(await ada.session.call("release-file-reservations", released)).toContain("Released: 1")
  })
})

describe("a client's session that returns", () => {
  const introduction = { project_key: "demo", program: "test-program", model: "test-model" }

  /** Bob's session has ended, Ada's has taken Bob up and works as he; then Bob's client comes back. */
  async function returned() {
    const [made, ada, before] = await agents("Ada", "Bob")
    await reserve(before, "old.ts")
    await before.session.close()
    made.advance(1_000)
    await ada.session.call("register-agent", { ...introduction, name_hint: "Bob" })
    await reserve({ ...before, session: ada.session }, "new.ts")
    const bob = { ...before, session: await made.session({ name: "session-of-Bob" }) }
    return { made, ada, bob }
  }

  test.each(["fetch-inbox", "register-agent"])("gets its agent back by its first %s", async (tool) => {
    const { ada, bob } = await returned()
    const args = { "fetch-inbox": { agent_name: "Bob", project_id: bob.projectId } }[tool]
    const text = await bob.session.call(tool, args ?? { ...introduction, name_hint: "Bob" })
    if (tool === "register-agent") expect(numberAfter(text, "Agent id")).toBe(bob.id)
    const listed = await bob.session.read("file-reservations", { project_key: "demo", agent: "Bob" })
    expect(listed).toMatchObject({ count: 1, reservations: [{ path_pattern: "old.ts" }] })
    // And who had taken it up goes on under a new name, with what it has reserved as Bob.
    const refused = await ada.session.fail("fetch-inbox", { agent_name: "Bob", project_id: bob.projectId })
    const [, name = ""] = /you are (Bob\w+) \(agent id \d+\)/.exec(refused) ?? []
    const inbox = await ada.session.call("fetch-inbox", { agent_name: name, project_id: bob.projectId })
    expect(inbox).toContain(`You are ${name} now`)
    const kept = await ada.session.read("file-reservations", { project_key: "demo", agent: name })
    expect(kept).toMatchObject({ count: 1, reservations: [{ path_pattern: "new.ts" }] })
  })

  test("is not back by a late word of its end, which leaves all as it is", async () => {
    const [made, ada, before] = await agents("Ada", "Bob")
    await before.session.close()
    await ada.session.call("register-agent", { ...introduction, name_hint: "Bob" })
    await reserve({ ...before, session: ada.session }, "new.ts")
    await sessionEvent(made, ada.session.app, "session-end", { session: "session-of-Bob" })
    const inbox = { agent_name: "Bob", project_id: before.projectId }
    expect(textAfter(await ada.session.call("fetch-inbox", inbox), "Total")).toBe("0")
    expect(await heldIn(ada.session.app)).toHaveLength(1)
  })

  test("gets it back once, and without a new agent where nobody live has it", async () => {
    const { ada, bob } = await returned()
    await ada.session.close()
    const inbox = { agent_name: "Bob", project_id: bob.projectId }
    await bob.session.call("fetch-inbox", inbox)
    expect(textAfter(await bob.session.call("list-agents", { project_key: "demo" }), "Total")).toBe("2")
    const held = await bob.session.read("file-reservations", { project_key: "demo", agent: "Bob" })
    expect(held).toMatchObject({ count: 2 })
  })
})

describe('identity "open"', () => {
  function configure(made: World, path: string): void {
    mkdirSync(dirname(path), { recursive: true })
    writeFileSync(path, JSON.stringify({ identity: "open" }))
    made.advance(1)
  }

  test("in the user's own file lets one program speak for many agents", async () => {
    const made = world()
    configure(made, join(made.folder, ".config", "signalbox", "config.json"))
    const ada = await (await made.session()).register("Ada")
    const bob = await (await made.session()).register("Bob")
    await reserve({ ...bob, session: ada.session }, "src/**")
    expect(await ada.session.read("inbox/Bob", { project_key: "demo" })).toMatchObject({ count: 0 })
  })

  test("in a project's file does not", async () => {
    const made = world()
    configure(made, join(made.repositoryPath, ".signalbox.json"))
    const ada = await (await made.session()).register("Ada")
    await (await made.session()).register("Bob")
    const inbox = { agent_name: "Bob", project_id: ada.projectId }
    expect(await ada.session.fail("fetch-inbox", inbox)).toMatch(HELD)
  })
})
