/** The arguments of the memory tools, and how clients see these: what is refused, and with which words. */

import { describe, expect, test } from "vitest"
import { toolDefinition } from "../../../src/mcp/definitions.ts"
import { MEMORY, OPERATIONS } from "../../../src/operations/index.ts"
import { actionOf, type Operation } from "../../../src/operations/operation.ts"
import { selectOperations } from "../../../src/operations/selection.ts"
import { create, NO_ID, ON_ONE, toolsOn } from "../../support/memory-tools.ts"
import { world } from "../../support/world.ts"

describe("arguments", () => {
  test.each(toolsOn(NO_ID))(
    "of %s that it does not know are refused, with those that it knows",
    async (tool, args) => {
      const session = await world().session()
      const text = await session.fail(tool, { ...args, nonsense: 1, more: 2 })
      expect(text).toMatch(
        /^Failed to [a-z ]+: unknown parameter "nonsense", "more"; allowed are: [a-z_, ]*repository_id\. Correct that/,
      )
      expect(text).toContain(`call ${tool} again`)
    },
  )

  test.each(ON_ONE)("of %s must name a memory that there is", async (tool, args) => {
    const session = await world().session()
    const action = tool.replaceAll("-", " ")
    expect(await session.fail(tool, { ...args, memory_id: NO_ID })).toBe(
      `Failed to ${action}: memory ${NO_ID} was not found in repository 1. ` +
        "List the memories, or search for them, to see their ids.",
    )
    for (const memory_id of ["1", "", `${NO_ID}0`, NO_ID.replaceAll("-", ""), NO_ID.slice(0, 7), "%_%_%_%_"])
      expect(await session.fail(tool, { ...args, memory_id })).toBe(
        `Failed to ${action}: memory_id must be the id of a memory, a UUID, or its first 8 characters. Correct that and call ${tool} again.`,
      )
  })

  test.each(ON_ONE)(
    "of %s may name a memory by the first 8 characters of its id, or more",
    async (tool, args) => {
      const session = await world().session()
      for (const length of [8, 13, 35]) {
        const id = await create(session, "kept")
        const text = await session.call(tool, { ...args, memory_id: id.slice(0, length).toUpperCase() })
        if (tool !== "get-memory-waypoints") expect(text).toContain(id)
      }
      const none = NO_ID.slice(0, 8)
      expect(await session.fail(tool, { ...args, memory_id: none })).toContain(
        `no memory of repository 1 has an id beginning ${none}`,
      )
    },
  )

  test("that begin several ids are refused, and those are named", async () => {
    const session = await world().session()
    const ids = [await create(session, "one"), await create(session, "two")]
    const [one = "", two = ""] = ids.map((id, place) => `abcdef01-000${place}${id.slice(13)}`)
    for (const [place, id] of ids.entries())
      await session.app.db.run("UPDATE memories SET uuid = ? WHERE uuid = ?", [place === 0 ? one : two, id])
    for (const [tool, args] of ON_ONE)
      expect(await session.fail(tool, { ...args, memory_id: "abcdef01" })).toBe(
        `Failed to ${tool.replaceAll("-", " ")}: memory_id abcdef01 begins several ids: ${one}, ${two}. Give more characters.`,
      )
    expect(await session.call("get-memory", { memory_id: one.slice(0, 13) })).toContain("one")
  })

  const JSON_BYTES_MAX = 16 * 1024
  test.each<[tool: string, parameter: string, good: unknown[], bad: [value: unknown, rule: string][]]>([
    [
      "create-memory",
      "content",
      ["x", "x".repeat(32_768), "😀".repeat(32_768)],
      [
        ["", "must have at least 1 character; content must not be blank"],
        ["x".repeat(32_769), "must have at most 32,768 characters (got 32,769)"],
        ["😀".repeat(32_769), "must have at most 32,768 characters (got 32,769)"],
        [" \n", "must not be blank"],
        ["a\0b", "must not contain NUL characters"],
        ["a\ud800b", "must be well-formed Unicode"],
        [undefined, "is required (a string)"],
        [7, "must be a string (got 7)"],
      ],
    ],
    [
      "create-memory",
      "tags",
      [[], Array(32).fill("t"), ["t".repeat(64)]],
      [
        [Array(33).fill("t"), "must have at most 32 entries (got 33)"],
        ["t", 'must be an array (got "t")'],
      ],
    ],
    [
      "create-memory",
      "source",
      ["", "s".repeat(512)],
      [["s".repeat(513), "must have at most 512 characters (got 513)"]],
    ],
    [
      "create-memory",
      "metadata",
      [{}, { m: "x".repeat(JSON_BYTES_MAX - 8) }],
      [
        [{ m: "x".repeat(JSON_BYTES_MAX - 7) }, "must take at most 16,384 bytes as JSON"],
        ["{}", "must be a JSON object"],
      ],
    ],
    [
      "create-memory",
      "sector",
      ["episodic", "semantic", "procedural", "emotional", "reflective"],
      [
        [
          "Semantic",
          'must be one of: episodic, semantic, procedural, emotional, reflective (got "Semantic")',
        ],
      ],
    ],
    [
      "search-memories",
      "query",
      ["x", "x".repeat(2_000), '"-*(', "the"],
      [
        ["", "must have at least 1 character; query must not be blank"],
        ["x".repeat(2_001), "must have at most 2,000 characters (got 2,001)"],
        [undefined, "is required (a string)"],
      ],
    ],
    [
      "search-memories",
      "limit",
      [1, 100],
      [
        [0, "must be at least 1 (got 0)"],
        [101, "must be at most 100 (got 101)"],
      ],
    ],
    [
      "search-memories",
      "max_hops",
      [0, 5],
      [
        [-1, "must be at least 0 (got -1)"],
        [6, "must be at most 5 (got 6)"],
      ],
    ],
    [
      "search-memories",
      "min_salience",
      [0, 1],
      [
        [-0.1, "must be at least 0 (got -0.1)"],
        [1.1, "must be at most 1 (got 1.1)"],
      ],
    ],
    [
      "list-memories",
      "limit",
      [1, 100],
      [
        [0, "must be at least 1 (got 0)"],
        [101, "must be at most 100 (got 101)"],
      ],
    ],
    [
      "list-memories",
      "tag",
      ["t", "t".repeat(64)],
      [["t".repeat(65), "must have at most 64 characters (got 65)"]],
    ],
    [
      "get-memory-waypoints",
      "limit",
      [1, 100],
      [
        [0, "must be at least 1 (got 0)"],
        [101, "must be at most 100 (got 101)"],
      ],
    ],
    [
      "get-memory-waypoints",
      "min_weight",
      [0, 1],
      [
        [-1, "must be at least 0 (got -1)"],
        [2, "must be at most 1 (got 2)"],
      ],
    ],
    [
      "prune-memories",
      "threshold",
      [0, 1],
      [
        [-1, "must be at least 0 (got -1)"],
        [1.01, "must be at most 1 (got 1.01)"],
      ],
    ],
    [
      "reinforce-memory",
      "profile",
      ["quick_refresh", "maintenance", "deep_learning", "emergency"],
      [["much", 'must be one of: quick_refresh, maintenance, deep_learning, emergency (got "much")']],
    ],
    [
      "get-memory-stats",
      "repository_id",
      [1],
      [
        [0, "must be at least 1 (got 0)"],
        ["1", 'must be a number (got "1")'],
      ],
    ],
  ])("of %s are bounded: %s", async (tool, parameter, good, bad) => {
    const session = await world().session()
    const memory_id = await create(session, "kept")
    const needed = Object.fromEntries(toolsOn(memory_id))[tool]
    for (const value of good) await session.call(tool, { ...needed, [parameter]: value })
    const before = await session.call("get-memory-stats", {})
    for (const [value, rule] of bad) {
      expect(await session.fail(tool, { ...needed, [parameter]: value })).toBe(
        `Failed to ${tool.replaceAll("-", " ")}: ${parameter} ${rule}. Correct that and call ${tool} again.`,
      )
    }
    expect(await session.call("get-memory-stats", {})).toBe(before)
  })
})

describe("the repository", () => {
  test.each(toolsOn(NO_ID))("of %s must be connected", async (tool, args) => {
    const session = await world().session()
    expect(await session.fail(tool, { ...args, repository_id: 99 })).toBe(
      `Failed to ${tool.replaceAll("-", " ")}: repository "99" was not found. Call list-repositories to see those ` +
        "that are connected, or connect-repository to connect one; a person runs `signalbox repos add <folder>`.",
    )
  })

  test.each(toolsOn(NO_ID))("of %s must be named where none is around the server", async (tool, args) => {
    const made = world()
    const session = await made.session({ workingFolder: made.folder })
    expect(await session.fail(tool, args)).toMatch(
      new RegExp(
        `^Failed to ${tool.replaceAll("-", " ")}: repository_id is required: there is no repository around`,
      ),
    )
  })

  test("may be named wherever the server runs", async () => {
    const made = world()
    const inside = await made.session()
    const outside = await made.session({ workingFolder: made.folder })
    const id = await create(outside, "from outside", { repository_id: 1 })
    expect(await inside.call("get-memory", { memory_id: id })).toContain("> from outside")
  })
})

describe("the definitions", () => {
  /** What each tool does: reads, writes, or writes what the same call again does not change; destroys. */
  const HINTS: Record<string, [readOnly: boolean, destructive: boolean, idempotent: boolean]> = {
    "create-memory": [false, false, false],
    "get-memory": [false, false, false],
    "search-memories": [true, false, true],
    "list-memories": [true, false, true],
    "update-memory": [false, false, true],
    "reinforce-memory": [false, false, false],
    "get-memory-waypoints": [true, false, true],
    "delete-memory": [false, true, false],
    "prune-memories": [false, true, false],
    "get-memory-stats": [true, false, true],
  }
  const named = (operations: readonly Operation[]) => operations.map(({ name }) => name).sort()

  test("are ten, that clients see after those of coordination, with what they do", async () => {
    const { tools } = await (await world().session()).client.listTools()
    const shown = tools.slice(28, 38)
    expect(Object.fromEntries(shown.map(({ name, annotations }) => [name, annotations]))).toEqual(
      Object.fromEntries(
        Object.entries(HINTS).map(([name, [readOnlyHint, destructiveHint, idempotentHint]]) => [
          name,
          { readOnlyHint, destructiveHint, idempotentHint, openWorldHint: false },
        ]),
      ),
    )
    for (const { inputSchema } of shown) expect(inputSchema.additionalProperties).toBe(false)
  })

  test.each(MEMORY)("of $name say what it and each parameter is", (operation) => {
    const { title, description, inputSchema } = toolDefinition(operation)
    expect(title.trim() && description.trim()).not.toBe("")
    expect(actionOf(operation)).toBe(operation.name.replaceAll("-", " "))
    const properties = inputSchema.properties as Record<string, { description?: string }>
    for (const [name, property] of Object.entries(properties))
      expect(property.description?.trim(), name).toBeTruthy()
  })

  test("are offered by toolset, by name, and only those that write nothing when that is asked for", () => {
    const all = Object.keys(HINTS).sort()
    const reading = all.filter((name) => HINTS[name]?.[0])
    expect(named(selectOperations(OPERATIONS, { toolsets: ["memory"] }))).toEqual(all)
    expect(named(selectOperations(OPERATIONS, { toolsets: ["memory"], readOnly: true }))).toEqual(reading)
    expect(named(selectOperations(OPERATIONS, {}))).toEqual(expect.arrayContaining(all))
    expect(selectOperations(OPERATIONS, { toolsets: ["coordination"] })).toHaveLength(28)
    expect(named(selectOperations(OPERATIONS, { tools: ["get-memory", "whois"] }))).toEqual([
      "get-memory",
      "whois",
    ])
    expect(() => selectOperations(OPERATIONS, { tools: ["get-memories"] })).toThrow(
      /unknown; known are: .*get-memory/,
    )
  })
})
