import { readFileSync } from "node:fs"
import { describe, expect, test } from "vitest"
import { COORDINATION } from "../../src/operations/index.ts"
import { type TestAgent, type World, world } from "../support/world.ts"

const NOON = "2026-03-10T12:00:00.000Z"
const MINUTE_MS = 60_000

async function room(): Promise<{ made: World; ada: TestAgent; bob: TestAgent }> {
  const made = world()
  const ada = await (await made.session()).register("Ada", { task_description: "Testing" })
  const bob = await (await made.session()).register("Bob", { contact_policy: "contacts_only" })
  return { made, ada, bob }
}

const read = (agent: TestAgent, path: string, query: Record<string, string> = {}) =>
  agent.session.read(path, { project_key: "demo", ...query })
const reserve = (agent: TestAgent, pattern: string, args: Record<string, unknown> = {}) =>
  agent.session.call("reserve-file-paths", {
    agent_id: agent.id,
    repository_id: agent.repositoryId,
    coordination_project_id: agent.projectId,
    path_pattern: pattern,
    ...args,
  })
const names = (json: Record<string, unknown>, key: string, field: string) =>
  (json[key] as Record<string, unknown>[]).map((one) => one[field])

describe("tools", () => {
  test("tells server, version, 28 tools with their categories and parameters, and 11 resources", async () => {
    const session = await world().session()
    const tools = await session.read("tools")
    const { version } = JSON.parse(readFileSync("package.json", "utf8")) as { version: string }
    expect(tools).toEqual({
      server: "signalbox",
      version,
      tool_count: 28,
      resource_count: 11,
      tools: expect.any(Array),
    })
    expect(names(tools, "tools", "name")).toEqual(COORDINATION.map((operation) => operation.name))
    expect(tools.tools).toContainEqual({
      name: "whois",
      description: expect.stringContaining("profile"),
      category: "identity",
      parameters: ["project_key", "agent_name"],
    })
  })
})

describe("file-reservations", () => {
  test("has project, filters, number and each reservation with the time that remains", async () => {
    const { made, ada } = await room()
    await reserve(ada, "src/**", { reason: "Moving", exclusive: false })
    made.advance(15 * MINUTE_MS)
    expect(await read(ada, "file-reservations")).toEqual({
      project_key: "demo",
      filters: { repository_id: null, agent: null },
      count: 1,
      reservations: [
        {
          id: 1,
          agent: "Ada",
          is_person: false,
          session_died_at: null,
          repository_id: ada.repositoryId,
          path_pattern: "src/**",
          exclusive: false,
          reason: "Moving",
          created_at: NOON,
          expires_at: "2026-03-10T13:00:00.000Z",
          time_remaining: "45 min",
        },
      ],
    })
  })

  test("filters by repository and agent, and shows what holds now only", async () => {
    const { made, ada, bob } = await room()
    await reserve(ada, "a")
    await reserve(ada, "short", { duration_seconds: 1 })
    await reserve(bob, "b")
    made.advance(1_000)
    const filtered = await read(ada, "file-reservations", { agent: "bob", repository_id: "1" })
    expect(filtered).toMatchObject({ filters: { repository_id: 1, agent: "Bob" }, count: 1 })
    expect(names(filtered, "reservations", "path_pattern")).toEqual(["b"])
    expect(names(await read(ada, "file-reservations"), "reservations", "path_pattern")).toEqual(["a", "b"])
    expect(names(await read(ada, "file-reservations"), "reservations", "reason")).toEqual([null, null])
  })

  test("names a repository or an agent that is not found", async () => {
    const { ada } = await room()
    await expect(read(ada, "file-reservations", { repository_id: "99" })).rejects.toMatchObject({
      code: -32602,
      message: expect.stringContaining("repository 99 was not found"),
    })
    await expect(read(ada, "file-reservations", { agent: "Nobody" })).rejects.toThrow(
      'agent "Nobody" was not found',
    )
    await expect(read(ada, "file-reservations", { repository_id: "one" })).rejects.toThrow(
      "repository_id must be an integer",
    )
  })
})

describe("agents", () => {
  test("has the numbers and each agent's profile, the most recently active first", async () => {
    const { made, ada, bob } = await room()
    made.advance(MINUTE_MS)
    await ada.session.call("fetch-inbox", { agent_name: "Ada", project_id: ada.projectId })
    expect(await read(ada, "agents")).toEqual({
      project_key: "demo",
      total_agents: 2,
      active_agents: 2,
      agents: [
        {
          id: ada.id,
          name: "Ada",
          is_person: false,
          program: "test-program",
          model: "test-model",
          contact_policy: "auto",
          task_description: "Testing",
          repository_id: ada.repositoryId,
          is_active: true,
          last_active_at: "2026-03-10T12:01:00.000Z",
          created_at: NOON,
        },
        {
          id: bob.id,
          name: "Bob",
          is_person: false,
          program: "test-program",
          model: "test-model",
          contact_policy: "contacts_only",
          task_description: null,
          repository_id: bob.repositoryId,
          is_active: true,
          last_active_at: NOON,
          created_at: NOON,
        },
      ],
    })
  })

  test("active_only leaves out who was not active within 30 minutes, but counts all", async () => {
    const { made, ada } = await room()
    made.advance(30 * MINUTE_MS)
    expect(await read(ada, "agents", { active_only: "true" })).toMatchObject({
      total_agents: 2,
      active_agents: 2,
    })
    await ada.session.call("fetch-inbox", { agent_name: "Ada", project_id: ada.projectId })
    made.advance(1)
    const active = await read(ada, "agents", { active_only: "true" })
    expect(active).toMatchObject({ total_agents: 2, active_agents: 1 })
    expect(names(active, "agents", "name")).toEqual(["Ada"])
    expect(names(await read(ada, "agents", { active_only: "false" }), "agents", "is_active")).toEqual([
      true,
      false,
    ])
    await expect(read(ada, "agents", { active_only: "yes" })).rejects.toThrow(
      "active_only must be one of: true, false",
    )
  })

  test("does not show the agent that notifications come from", async () => {
    const { ada } = await room()
    expect(names(await read(ada, "agents"), "agents", "name")).not.toContain("Signalbox")
  })
})

describe("contacts", () => {
  async function askedRoom() {
    const { made, ada, bob } = await room()
    const args = { project_id: ada.projectId, reason: "To talk" }
    await ada.session.call("request-contact", { ...args, requester_name: "Ada", recipient_name: "Bob" })
    await bob.session.call("request-contact", { ...args, requester_name: "Bob", recipient_name: "Ada" })
    return { made, ada, bob }
  }

  test("has the agent, the number in each state, and the contacts both ways", async () => {
    const { ada } = await askedRoom()
    const contacts = await read(ada, "contacts", { agent: "ada" })
    expect(contacts).toMatchObject({
      agent: { id: ada.id, name: "Ada" },
      total_contacts: 2,
      pending: 1,
      approved: 1,
      denied: 0,
    })
    expect(contacts.contacts).toContainEqual({
      id: expect.any(Number),
      requester: "Ada",
      recipient: "Bob",
      status: "pending",
      reason: "To talk",
      requested_at: NOON,
      responded_at: null,
    })
    expect(contacts.contacts).toContainEqual(
      expect.objectContaining({ requester: "Bob", recipient: "Ada", status: "approved", responded_at: NOON }),
    )
  })

  test("filters by state", async () => {
    const { ada } = await askedRoom()
    const state = async (status: string) =>
      names(await read(ada, "contacts", { agent: "Ada", status }), "contacts", "status")
    expect(await state("pending")).toEqual(["pending"])
    expect(await state("approved")).toEqual(["approved"])
    expect(await state("denied")).toEqual([])
    await expect(state("open")).rejects.toThrow("status must be one of: pending, approved, denied")
  })

  test("asks for the agent, and names one that is not found", async () => {
    const { ada } = await room()
    await expect(read(ada, "contacts")).rejects.toThrow("agent is required")
    await expect(read(ada, "contacts", { agent: "Nobody" })).rejects.toMatchObject({ code: -32602 })
  })
})
