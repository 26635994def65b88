/** The bounds of what reinforcing, pruning, searching and query strings of the memory API take, on both sides. */

import { describe, expect, test } from "vitest"
import { expectError, memoryRoom, withMemory, withoutChange } from "../../support/memories.ts"

const SECTOR_LIST = /episodic.*semantic.*procedural.*emotional.*reflective/
const BAD_SECTORS = ["", "Semantic", "SEMANTIC", " semantic", "other", 1, ["semantic"], {}, true]
const list = (count: number, entry: (index: number) => unknown) => [...Array(count).keys()].map(entry)

const FRACTIONS_BAD = [-0.01, 1.01, -1, 2, "0.5", "", true, [0.5], {}]

describe("reinforcing", () => {
  test("refuses an unknown profile with 422 and lists the four", async () => {
    const room = await withMemory()
    await withoutChange(room, async () => {
      for (const profile of ["", "Emergency", "max", 1, ["emergency"], 0.25]) {
        const reply = await room.api.ask("POST", `/${room.id}/reinforce`, { profile })
        const { message } = expectError(reply, 422, ["profile"])
        expect(message).toMatch(/quick_refresh.*maintenance.*deep_learning.*emergency/)
      }
    })
  })
})

describe("pruning", () => {
  test("and reinforcing take null for an optional field as not given", async () => {
    const { api, id } = await withMemory()
    expect(await api.prune({ threshold: null, sector: null, dry_run: null })).toEqual(await api.prune({}))
    const reply = await api.ask("POST", `/${id}/reinforce`, { profile: null })
    expect(reply.json).toMatchObject({ data: { profile_used: "maintenance" } })
  })

  test("takes a threshold from 0 to 1 and refuses the rest with 422", async () => {
    const room = await withMemory()
    await withoutChange(room, async () => {
      for (const threshold of [0, 0.5, 1, 1e-9])
        expect(await room.api.prune({ threshold })).toMatchObject({ threshold_used: threshold })
      for (const threshold of FRACTIONS_BAD)
        expectError(await room.api.ask("POST", "/prune", { threshold }), 422, ["threshold"])
      for (const text of ["1e400", "-1e400"])
        expectError(await room.api.ask("POST", "/prune", `{"threshold":${text}}`), 422, ["threshold"])
    })
  })

  test("refuses another sector and another dry_run than true or false with 422", async () => {
    const room = await withMemory()
    await withoutChange(room, async () => {
      for (const sector of BAD_SECTORS) {
        const reply = await room.api.ask("POST", "/prune", { threshold: 1, sector })
        expect(expectError(reply, 422, ["sector"]).message).toMatch(SECTOR_LIST)
      }
      for (const dry_run of ["true", "false", 1, 0, [], {}])
        expectError(await room.api.ask("POST", "/prune", { threshold: 1, dry_run }), 422, ["dry_run"])
    })
  })
})

describe("searching", () => {
  test.each<[field: string, good: unknown[], bad: unknown[]]>([
    [
      "query",
      ["a", "x".repeat(2_000), "😀".repeat(2_000), "?!", '"', "a AND"],
      ["", " ", "\n", "a\0", "x".repeat(2_001), "😀".repeat(2_001), null, 1, ["a"], {}],
    ],
    ["limit", [1, 100], [0, 101, -1, 1.5, "10", "", true, [10], 1e9]],
    ["min_salience", [0, 1, 0.5], FRACTIONS_BAD],
    ["max_hops", [0, 5], [-1, 6, 1.5, "3", "", true]],
    ["expand_waypoints", [true, false], ["true", 1, 0]],
    ["sector", ["episodic", "reflective"], BAD_SECTORS],
    [
      "tags",
      [[], ["t"], list(32, String), ["x".repeat(64)]],
      [list(33, String), [""], ["x".repeat(65)], "t", [1], {}],
    ],
  ])("takes %s within its bounds and refuses the rest with 400", async (field, good, bad) => {
    const { api } = await memoryRoom()
    for (const value of good) {
      const reply = await api.ask("POST", "/search", { query: "kept", [field]: value })
      expect(reply.status, `${JSON.stringify(value).slice(0, 60)}: ${reply.text}`).toBe(200)
    }
    for (const value of bad) {
      const { message } = expectError(
        await api.ask("POST", "/search", { query: "kept", [field]: value }),
        400,
        [field],
      )
      if (field === "sector") expect(message).toMatch(SECTOR_LIST)
    }
  })

  test("takes null for an optional field as not given", async () => {
    const { api } = await withMemory()
    const { data } = await api.search({ query: "kept" })
    const nothing = { limit: null, sector: null, tags: null, min_salience: null, max_hops: null }
    const flags = { expand_waypoints: null, explain: null }
    expect((await api.search({ query: "kept", ...nothing, ...flags })).data).toEqual(data)
  })

  test("needs a query", async () => {
    const { api } = await memoryRoom()
    for (const body of [undefined, "{}", '{"limit":3}'])
      expectError(await api.ask("POST", "/search", body), 400, ["query"])
  })
})

const LIMITS_BAD = ["0", "101", "1.5", "abc", "1e1", "-1", "+1", " 1", "0x10", "1_0", "٣", "1&limit=2"]

describe("query strings", () => {
  test.each<[name: string, path: (id: string) => string, good: string[], bad: string[]]>([
    ["limit", () => "", ["1", "100"], LIMITS_BAD],
    ["sector", () => "", ["episodic"], ["other", "Semantic", "semantic&sector=episodic"]],
    ["tag", () => "", ["t", "x".repeat(64), "%F0%9F%98%80"], ["%20", "%00", "x".repeat(65), "a&tag=b"]],
    ["cursor", () => "", [], ["x", "null", "0", "e30", "a&cursor=b", "%00"]],
    ["limit", (id) => `/${id}/waypoints`, ["1", "100"], LIMITS_BAD],
    [
      "min_weight",
      (id) => `/${id}/waypoints`,
      ["0", "1", "0.5", "0.75"],
      ["-0.01", "1.01", "abc", "1e-1", "NaN", "Infinity", "0,5", "0x1", "0&min_weight=1"],
    ],
  ])("take %s within its bounds and refuse the rest with 400: %#", async (name, path, good, bad) => {
    const { api, id } = await withMemory()
    for (const value of good) {
      const reply = await api.ask("GET", `${path(id)}?${name}=${value}`)
      expect(reply.status, `${value}: ${reply.text}`).toBe(200)
    }
    for (const value of bad) {
      const written = encodeURI(value).replaceAll("%25", "%").replaceAll("+", "%2B")
      const reply = await api.ask("GET", `${path(id)}?${name}=${written}`)
      expect(reply.status, `${value}: ${reply.text}`).toBe(400)
      expectError(reply, 400, [name])
    }
  })

  test("with a parameter that is empty are answered as without it", async () => {
    const { api, id } = await withMemory()
    const names = { "": ["limit", "cursor", "sector", "tag"], [`/${id}/waypoints`]: ["limit", "min_weight"] }
    for (const [path, parameters] of Object.entries(names)) {
      const plain = await api.ask("GET", path)
      expect(plain.status).toBe(200)
      for (const name of parameters)
        expect((await api.ask("GET", `${path}?${name}=`)).json, name).toEqual(plain.json)
    }
  })

  test("are told the value that breaks a bound, not the length of its text", async () => {
    const { api, id } = await withMemory()
    for (const [query, told] of [
      ["?limit=500", "limit must be at most 100 (got 500)"],
      ["?limit=99999999999", "limit must be at most 100 (got 99999999999)"],
      ["?limit=0", "limit must be at least 1 (got 0)"],
      ["?limit=-20", "limit must be at least 1 (got -20)"],
      [`/${id}/waypoints?min_weight=1.25`, "min_weight must be at most 1 (got 1.25)"],
      [`/${id}/waypoints?min_weight=-0.5`, "min_weight must be at least 0 (got -0.5)"],
    ] as const) {
      const name = told.split(" ")[0] ?? ""
      expect(expectError(await api.ask("GET", query), 400, [name]).message).toContain(told)
    }
    const { message } = expectError(await api.ask("POST", "/search", { query: "x", limit: 500 }), 400, [
      "limit",
    ])
    expect(message).toContain("limit must be at most 100 (got 500)")
  })

  test("have no parameters but their own", async () => {
    const { api, id } = await withMemory()
    for (const path of ["", "/stats", `/${id}`, `/${id}/waypoints`]) {
      const { message } = expectError(await api.ask("GET", `${path}?colour=red&limits=3`), 400, [
        "colour",
        "limits",
      ])
      expect(message).toContain('"colour"')
    }
    for (const [method, path, body] of [
      ["POST", "", { content: "x" }],
      ["POST", "/search", { query: "x" }],
      ["POST", "/prune", { threshold: 1 }],
      ["PATCH", `/${id}`, { content: "x" }],
      ["POST", `/${id}/reinforce`, {}],
      ["DELETE", `/${id}`, undefined],
    ] as const)
      expectError(await api.ask(method, `${path}?dry_run=true`, body), 400, ["dry_run"])
    expect((await api.look(id))?.content).toBe("kept")
  })
})

test("a word without end is stored and found as quickly as any other", async () => {
  const { api } = await memoryRoom()
  for (const content of [
    "日本語".repeat(10_922),
    "x".repeat(32_768),
    "aB".repeat(16_384),
    "AB".repeat(16_384),
  ]) {
    const { id } = await api.create({ content })
    await api.search({ query: content.slice(0, 2_000) })
    expect(await api.look(id)).toMatchObject({ content })
  }
})
