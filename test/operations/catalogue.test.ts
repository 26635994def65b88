import { describe, expect, test } from "vitest"
import { toolDefinition } from "../../src/mcp/definitions.ts"
import { COORDINATION, OPERATIONS } from "../../src/operations/index.ts"
import { type Selection, selectOperations } from "../../src/operations/selection.ts"
import { send, type TestAgent, textAfter, world } from "../support/world.ts"

/** The contract's tools with their parameters, required ones marked. */
const TOOLS: Record<string, string> = {
  "register-agent": "project_key* program* model* name_hint task_description repository_id contact_policy",
  whois: "project_key* agent_name*",
  "list-agents": "project_key* active_only repository_id",
  "send-message":
    "sender_name* project_id* to_agent_ids* subject* body_md* importance ack_required cc_agent_ids bcc_agent_ids thread_id attachments",
  "reply-message": "sender_name* project_id* parent_message_id* body_md* importance ack_required",
  "fetch-inbox": "agent_name* project_id* since_ts urgent_only include_bodies limit",
  "read-message": "agent_name* project_id* message_id*",
  "ack-message": "agent_name* project_id* message_id* response_text",
  "get-thread-messages": "project_id* thread_id* limit",
  "reserve-file-paths":
    "agent_id* repository_id* coordination_project_id* path_pattern* exclusive duration_seconds reason",
  "list-file-reservations": "coordination_project_id* repository_id agent_id path_pattern",
  "release-file-reservations": "agent_id* coordination_project_id* reservation_ids",
  "request-contact": "requester_name* recipient_name* project_id* reason*",
  "respond-contact": "agent_name* project_id* contact_request_id* approved* response_message",
  "list-contacts": "agent_name* project_id* status",
  "set-contact-policy": "agent_name* project_id* contact_policy*",
  "block-agent": "blocker_name* blocked_name* project_id* reason",
  "search-messages": "project_id* query* sender_name recipient_name importance from_date to_date limit",
  "search-threads": "project_id* query participant_name from_date active_only limit",
  "summarize-thread": "project_id* thread_id*",
  "summarize-threads": "project_id* thread_ids*",
  "get-thread-participants": "project_id* thread_id*",
  "get-action-items": "project_id* thread_id* assigned_to completed",
  "get-latest-updates": "project_id* since_ts agent_name limit",
  "macro-start-session":
    "project_key* program* model* name_hint repository_id file_paths reservation_ttl exclusive",
  "macro-prepare-thread": "agent_name* project_id* thread_id*",
  "macro-claim-cycle": "agent_name* project_id* repository_id* file_paths* cycle_duration_seconds exclusive",
  "macro-contact-handshake": "requester_name* recipient_name* project_id* reason*",
}

/** Defaults that the contract names. */
const DEFAULTS: [tool: string, parameter: string, value: unknown][] = [
  ["register-agent", "contact_policy", "auto"],
  ["list-agents", "active_only", false],
  ["send-message", "importance", "normal"],
  ["send-message", "ack_required", false],
  ["reply-message", "importance", "normal"],
  ["reply-message", "ack_required", false],
  ["fetch-inbox", "urgent_only", false],
  ["fetch-inbox", "include_bodies", false],
  ["fetch-inbox", "limit", 20],
  ["get-thread-messages", "limit", 50],
  ["reserve-file-paths", "exclusive", true],
  ["reserve-file-paths", "duration_seconds", 3_600],
  ["search-messages", "limit", 20],
  ["search-threads", "limit", 20],
  ["get-latest-updates", "limit", 20],
  ["macro-start-session", "reservation_ttl", 3_600],
  ["macro-start-session", "exclusive", false],
  ["macro-claim-cycle", "cycle_duration_seconds", 1_800],
  ["macro-claim-cycle", "exclusive", true],
]

interface Schema {
  type?: string
  required?: string[]
  additionalProperties?: boolean
  properties?: Record<string, { description?: string; default?: unknown; enum?: unknown[] }>
}

const definitions = COORDINATION.map(toolDefinition)
const schemaOf = (name: string) => definitions.find((tool) => tool.name === name)?.inputSchema as Schema

describe("the catalogue", () => {
  test("has the 28 tools of the contract, each once, and a client sees them so", async () => {
    const names = COORDINATION.map((operation) => operation.name)
    expect([...names].sort()).toEqual(Object.keys(TOOLS).sort())
    expect(names).toHaveLength(28)
    const { tools } = await (await world().session()).client.listTools()
    expect(tools.map((tool) => tool.name)).toEqual(OPERATIONS.map((operation) => operation.name))
    expect(JSON.parse(JSON.stringify(tools.slice(0, 28)))).toEqual(JSON.parse(JSON.stringify(definitions)))
  })

  test("asks clients that hold tools back to keep the five core tools loaded, and none besides", async () => {
    const { tools } = await (await world().session()).client.listTools()
    const loaded = tools.filter(({ _meta }) => _meta !== undefined)
    expect(loaded.map(({ name }) => name).sort()).toEqual([
      "fetch-inbox",
      "macro-start-session",
      "release-file-reservations",
      "reserve-file-paths",
      "send-message",
    ])
    expect(loaded.map(({ _meta }) => _meta)).toEqual(loaded.map(() => ({ "anthropic/alwaysLoad": true })))
  })

  test("takes at most 28,000 characters of a client's context", () => {
    expect(JSON.stringify(definitions).length).toBeLessThanOrEqual(28_000)
  })

  test.each(Object.entries(TOOLS))(
    "%s takes the parameters of the contract and no others",
    (name, parameters) => {
      const { required, properties, additionalProperties } = schemaOf(name)
      const named = parameters.split(" ").map((one) => one.replace("*", ""))
      const needed = parameters.split(" ").filter((one) => one.endsWith("*"))
      expect(Object.keys(properties ?? {}).sort()).toEqual(named.sort())
      expect([...(required ?? [])].sort()).toEqual(needed.map((one) => one.replace("*", "")).sort())
      expect(additionalProperties).toBe(false)
    },
  )

  test.each(DEFAULTS)("%s has the default of the contract for %s: %s", (name, parameter, value) => {
    expect(schemaOf(name).properties?.[parameter]?.default).toBe(value)
  })

  test.each([
    ["send-message", "importance", ["normal", "high", "urgent"]],
    ["search-messages", "importance", ["normal", "high", "urgent"]],
    ["set-contact-policy", "contact_policy", ["open", "auto", "contacts_only", "block_all"]],
    ["list-contacts", "status", ["pending", "approved", "denied"]],
  ])("%s offers the values of the contract for %s", (name, parameter, values) => {
    expect(schemaOf(name).properties?.[parameter]?.enum).toEqual(values)
  })

  test.each(definitions)(
    "$name has a title, a description, four annotations and described parameters",
    (tool) => {
      expect(tool.title.trim()).not.toBe("")
      expect(tool.description.trim()).not.toBe("")
      expect(tool.description.length).toBeLessThanOrEqual(2_000)
      const { annotations } = tool
      expect(Object.keys(annotations).sort()).toEqual([
        "destructiveHint",
        "idempotentHint",
        "openWorldHint",
        "readOnlyHint",
      ])
      for (const hint of Object.values(annotations)) expect(typeof hint).toBe("boolean")
      expect(annotations.readOnlyHint && annotations.destructiveHint).toBe(false)
      expect(tool.inputSchema.type).toBe("object")
      for (const keyword of ["anyOf", "oneOf", "allOf", "$schema", "$ref"])
        expect(tool.inputSchema).not.toHaveProperty(keyword)
      for (const [name, property] of Object.entries(schemaOf(tool.name).properties ?? {}))
        expect(property.description?.trim(), name).toBeTruthy()
    },
  )

  test.each(COORDINATION)(
    "$name fails as `Failed to ...`, without macro, also for bad arguments",
    async ({ name }) => {
      const action = name.replace("macro-", "").replaceAll("-", " ")
      const session = await world().session()
      expect(await session.fail(name, {})).toMatch(new RegExp(`^Failed to ${action}: .* is required`))
      const unknown = await session.fail(name, { nonsense: 1 })
      expect(unknown).toMatch(new RegExp(`^Failed to ${action}: `))
      expect(unknown).toContain('unknown parameter "nonsense"')
      expect(unknown).toContain(`call ${name} again`)
    },
  )
})

describe("the tools that a server offers", () => {
  const names = (selection: Selection) =>
    selectOperations(COORDINATION, selection).map((operation) => operation.name)
  const READING = COORDINATION.filter((operation) => toolDefinition(operation).annotations.readOnlyHint)

  test("are all, unless something else is asked for", () => {
    expect(names({})).toEqual(COORDINATION.map((operation) => operation.name))
    expect(names({ toolsets: ["coordination"] })).toHaveLength(28)
  })

  test("are just those named, in the order of the catalogue", () => {
    expect(names({ tools: ["fetch-inbox", "whois"] })).toEqual(["whois", "fetch-inbox"])
    expect(names({ tools: [] })).toEqual([])
  })

  test("are a toolset and what is named beside it", () => {
    expect(names({ toolsets: ["coordination"], tools: ["whois"] })).toHaveLength(28)
    expect(names({ toolsets: [], tools: ["whois"] })).toEqual(["whois"])
  })

  test("leave out everything that writes when only reading is asked for", () => {
    expect(names({ readOnly: true })).toEqual(READING.map((operation) => operation.name))
    expect(names({ readOnly: true, tools: ["whois", "send-message"] })).toEqual(["whois"])
    expect(READING.map((operation) => operation.name)).toEqual([
      "whois",
      "list-agents",
      "fetch-inbox",
      "get-thread-messages",
      "list-file-reservations",
      "list-contacts",
      "search-messages",
      "search-threads",
      "summarize-thread",
      "summarize-threads",
      "get-thread-participants",
      "get-action-items",
      "get-latest-updates",
    ])
  })

  test.each([
    [
      { toolsets: ["coordination", "cooking"] },
      /--toolsets: "cooking" is unknown; known are: .*coordination/,
    ],
    [{ toolsets: [""] }, /--toolsets: "" is unknown/],
    [{ tools: ["whois", "whoami"] }, /--tools: "whoami" is unknown; known are: .*whois/],
  ])("are refused for the unknown name in %j, with those that are known", (selection, text) => {
    expect(() => names(selection)).toThrow(text)
  })
})

describe("a tool result has at most 25,000 characters and says how to get the rest", () => {
  async function pair(): Promise<{ ada: TestAgent; bob: TestAgent }> {
    const made = world()
    const ada = await (await made.session()).register("A".repeat(40))
    return { ada, bob: await (await made.session()).register("Bob") }
  }
  const reservation = (agent: TestAgent, pattern: string) => ({
    agent_id: agent.id,
    repository_id: agent.repositoryId,
    coordination_project_id: agent.projectId,
    path_pattern: pattern,
  })
  const longPath = (index: number) => `${index}`.padStart(3, "0").padEnd(512, "x")

  test("fetch-inbox with bodies", async () => {
    const { ada, bob } = await pair()
    for (let index = 0; index < 10; index += 1) await send(ada, [bob], { body_md: "x".repeat(4_000) })
    const own = { agent_name: "Bob", project_id: bob.projectId }
    const text = await bob.session.call("fetch-inbox", { ...own, include_bodies: true })
    expect(text.length).toBeLessThanOrEqual(25_000)
    expect(textAfter(text, "Total")).toBe("10")
    expect(text.match(/^Message id: /gm)).toHaveLength(5)
    expect(text).toMatch(/^5 more did not fit\. .*read-message/m)
  })

  test("fetch-inbox with the largest body that there can be", async () => {
    const { ada, bob } = await pair()
    await send(ada, [bob], { body_md: "x".repeat(20_000), subject: "s".repeat(200) })
    const own = { agent_name: "Bob", project_id: bob.projectId }
    const text = await bob.session.call("fetch-inbox", { ...own, include_bodies: true })
    expect(text.length).toBeLessThanOrEqual(25_000)
    expect(text).toContain("x".repeat(20_000))
  })

  test("read-message with the largest message that there can be", async () => {
    const { ada, bob } = await pair()
    const { messageId } = await send(ada, [bob], {
      body_md: "x".repeat(20_000),
      attachments: [{ note: "a".repeat(16_000) }],
    })
    const own = { agent_name: "Bob", project_id: bob.projectId, message_id: messageId }
    const text = await bob.session.call("read-message", own)
    expect(text.length).toBeLessThanOrEqual(25_000)
    expect(text).toContain("x".repeat(20_000))
  })

  test("list-file-reservations", async () => {
    const { ada } = await pair()
    for (let index = 0; index < 45; index += 1)
      await ada.session.call("reserve-file-paths", reservation(ada, longPath(index)))
    const text = await ada.session.call("list-file-reservations", { coordination_project_id: ada.projectId })
    expect(text.length).toBeLessThanOrEqual(25_000)
    expect(textAfter(text, "Total")).toBe("45")
    expect(text).toMatch(/more did not fit\. .*path_pattern/)
  })

  test("the report of a reservation with very many conflicts", async () => {
    const { ada, bob } = await pair()
    for (let index = 0; index < 45; index += 1)
      await ada.session.call("reserve-file-paths", reservation(ada, longPath(index)))
    const wanted = `{**,${"y".repeat(507)}}`
    const text = await bob.session.fail("reserve-file-paths", reservation(bob, wanted))
    expect(text).toContain("conflicts with 45 reservations")
    expect(text.length).toBeLessThanOrEqual(25_000)
    expect(text).toMatch(/\d+ more conflicts/)
    expect(text).toContain("list-file-reservations")
  })
})
