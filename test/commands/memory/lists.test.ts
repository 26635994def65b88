import { mkdirSync } from "node:fs"
import { join } from "node:path"
import { describe, expect, test } from "vitest"
import {
  listMemoriesCommand,
  memoryStatsCommand,
  pruneMemoriesCommand,
  searchMemoriesCommand,
} from "../../../src/commands/memory/lists.ts"
import {
  addMemoryCommand,
  forgetMemoryCommand,
  getMemoryCommand,
} from "../../../src/commands/memory/memory.ts"
import { RATES_DEFAULT } from "../../../src/config/limits.ts"
import { createKey } from "../../../src/operations/keys.ts"
import { temporaryFolder } from "../../support/temporary-folder.ts"
import { configIn, presentWorld, refusal, run, runJson, server } from "../command.ts"
import { add, elsewhere, list, type Page } from "./memory-command.ts"

describe("memory list", () => {
  test("shows pages, the newest first, each entry within 80 columns", async () => {
    const where = presentWorld()
    const long = `${"word ".repeat(40)}${"x".repeat(200)} ${"漢字".repeat(60)}`
    for (const content of ["one", "two\n\ntwo", long])
      await add(where, content, {
        tag: content === "one" ? ["first"] : Array.from({ length: 9 }, (_, n) => `tag-${n}-of-many`),
      })
    const { data, meta } = await list(where, { limit: "2" })
    expect(data.map(({ content }) => content)).toEqual([long, "two\n\ntwo"])
    expect(meta).toMatchObject({ has_more: true, prev_cursor: null })
    const { out } = await run(() => listMemoriesCommand(configIn(where), {}))
    expect(out).toContain("two two")
    expect(out).toContain("#first")
    for (const line of out.split("\n")) expect(line.replace(/[漢字]/gu, "xx").length).toBeLessThanOrEqual(80)
    const cursor = meta.next_cursor ?? ""
    expect((await list(where, { limit: "2", cursor })).data.map(({ content }) => content)).toEqual(["one"])
    const page = await run(() => listMemoriesCommand(configIn(where), { limit: "2" }))
    expect(page.out).toContain(`--cursor ${cursor}`)
    const full = await run(() => listMemoriesCommand(configIn(where), { full: true }))
    expect(full.out).toContain(`  ${long}\n`)
  })

  test("filters by sector and tag, and says when there is nothing", async () => {
    const where = presentWorld()
    expect((await run(() => listMemoriesCommand(configIn(where), {}))).out).toContain("signalbox memory add")
    await add(where, "one", { sector: "emotional", tag: ["a"] })
    await add(where, "two", { sector: "semantic", tag: ["a", "b"] })
    expect((await list(where, { sector: "emotional" })).data).toMatchObject([{ content: "one" }])
    expect((await list(where, { tag: "b" })).data).toMatchObject([{ content: "two" }])
    expect((await run(() => listMemoriesCommand(configIn(where), { tag: "c" }))).out).toBe(
      "No such memories.\n",
    )
  })

  test.each([
    ["limit must be at least 1", { limit: "0" }],
    ["limit must be at most 100", { limit: "101" }],
    ["limit must be an integer", { limit: "1.5" }],
    ['limit must be a number (got "many")', { limit: "many" }],
    ["cursor must be the next_cursor", { cursor: "x" }],
    ["sector must be one of", { sector: "x" }],
  ])("refuses: %s", async (text, options) => {
    const where = presentWorld()
    expect(await refusal("invalid", () => listMemoriesCommand(configIn(where), options))).toContain(text)
  })
})

describe("memory search", () => {
  test.each([
    ["query must not be blank", " ", {}],
    ["query must have at most 2,000 characters", "x".repeat(2_001), {}],
    ["limit must be at most 100", "x", { limit: "101" }],
    ["min_salience must be at most 1", "x", { minSalience: "1.01" }],
    ["max_hops must be at most 5", "x", { maxHops: "6" }],
  ])("refuses: %s", async (text, query, options) => {
    const where = presentWorld()
    expect(
      await refusal("invalid", () => searchMemoriesCommand(configIn(where), [query], options)),
    ).toContain(text)
  })

  test("says when nothing was found, and has the envelope of REST", async () => {
    const where = presentWorld()
    const { out } = await run(() => searchMemoriesCommand(configIn(where), ["nothing"], {}))
    expect(out).toContain("Nothing was found")
    const json = await runJson(() => searchMemoriesCommand(configIn(where), ["nothing"], { json: true }))
    expect(json).toEqual({
      data: [],
      meta: { total: 0, search_time_ms: expect.any(Number), waypoints_expanded: expect.any(Boolean) },
    })
  })
})

test("memory search finds by words and by meaning, the best first, and says how when it is asked to", async () => {
  const where = presentWorld()
  const postgres = await add(where, "Decision: Postgres as the database, for row security policies.", {
    tag: ["db"],
    sector: "semantic",
  })
  await add(where, "We chose PostgreSQL because of its row level security.", { sector: "episodic" })
  await add(where, "Images are resized in a background queue.", { sector: "semantic" })
  const search = (options: Parameters<typeof searchMemoriesCommand>[2]) =>
    run(() => searchMemoriesCommand(configIn(where), ["postgres", "row", "security"], options))
  const found = JSON.parse((await search({ json: true })).out) as Page & { data: { score: number }[] }
  expect(found.data.map(({ content }) => content.slice(0, 8))).toEqual(["Decision", "We chose"])
  expect(found.data[0]).toMatchObject({ id: postgres.id, access_count: 0, tags: ["db"] })
  expect(found.data[0]).not.toHaveProperty("explain")
  expect(found.data[0]?.score).toBeGreaterThan(found.data[1]?.score ?? 1)
  const explained = JSON.parse((await search({ json: true, explain: true })).out) as { data: object[] }
  expect(explained.data[0]).toMatchObject({ explain: { words: ["postgres", "row", "security"] } })
  const { out } = await search({ explain: true })
  expect(out).toMatch(
    /^1\. 0\.\d\d {2}[0-9a-f]{8} {2}semantic {2}1\.00 {2}20\S+ {2}#db\n {2}lexical 0\.\d+, /,
  )
  expect(out).toContain("words postgres+row+security")
  for (const line of out.split("\n")) expect(line.length).toBeLessThanOrEqual(80)
  expect((await search({ limit: "1" })).out).toMatch(/\n\n1 shown of 2 matches\.\n$/)
  for (const [options, count] of [
    [{ tag: ["db"] }, 1],
    [{ tag: ["db", "other"] }, 0],
    [{ sector: "episodic" }, 1],
    // Shown as 1.0000 for minutes.
    [{ minSalience: "1" }, 2],
  ] as const) {
    const { data } = JSON.parse(
      (
        await search({
          ...options,
          tag: [...("tag" in options ? options.tag : [])],
          json: true,
          waypoints: false,
        })
      ).out,
    ) as Page
    expect(data, JSON.stringify(options)).toHaveLength(count)
  }
})

describe("memory prune", () => {
  test("only counts without --yes, and says so", async () => {
    const where = presentWorld()
    for (const [content, salience] of [
      ["faded", 0.05],
      ["dim", 0.3],
      ["bright", 1],
    ] as const) {
      const { id } = await add(where, content, { sector: content === "dim" ? "emotional" : "semantic" })
      const app = await server(where, "one")
      await app.db.run("UPDATE memories SET salience_base = ? WHERE uuid = ?", [salience, id])
    }
    const config = configIn(where)
    const { out } = await run(() => pruneMemoriesCommand(config, {}))
    expect(out).toContain("1 memory of a salience below 0.1 would be deleted.")
    expect(out).toContain("dry run")
    expect(out).toContain("--yes")
    const counted = { threshold: "0.5", json: true }
    expect(await runJson(() => pruneMemoriesCommand(config, counted))).toEqual({
      memories_pruned: 2,
      threshold_used: 0.5,
      sector_filter: null,
      dry_run: true,
    })
    expect((await list(where)).data).toHaveLength(3)
    const done = { threshold: "0.5", sector: "emotional", yes: true, json: true }
    expect(await runJson(() => pruneMemoriesCommand(config, done))).toMatchObject({
      memories_pruned: 1,
      sector_filter: "emotional",
      dry_run: false,
    })
    expect((await run(() => pruneMemoriesCommand(config, { yes: true }))).out).toContain("✓ Deleted 1 memory")
    expect((await list(where)).data).toMatchObject([{ content: "bright" }])
    expect((await run(() => pruneMemoriesCommand(config, {}))).out).toContain("Nothing to prune")
  })

  test("refuses a threshold that is none", async () => {
    const where = presentWorld()
    for (const threshold of ["-0.1", "1.1", "low"])
      await refusal("invalid", () => pruneMemoriesCommand(configIn(where), { threshold, yes: true }))
  })
})

test("memory stats shows the figures of REST", async () => {
  const where = presentWorld()
  await add(where, "The nightly backup is copied to a second region.", { sector: "semantic" })
  await add(where, "The nightly backup is copied to a second region.", { sector: "episodic" })
  const figures = await runJson(() => memoryStatsCommand(configIn(where), { json: true }))
  expect(figures).toEqual({
    total_memories: 2,
    by_sector: { episodic: 1, semantic: 1, procedural: 0, emotional: 0, reflective: 0 },
    avg_salience: 1,
    hot_memories: 2,
    total_waypoints: 1,
    embeddings_today: 2,
    storage_used_mb: expect.any(Number),
  })
  const { out } = await run(() => memoryStatsCommand(configIn(where), {}))
  expect(out).toContain("2 in repository")
  expect(out).toContain("1 connected pair")
})

describe("the repository", () => {
  test("is the one around the folder, or that of an id or a name; none sees another's memories", async () => {
    const where = presentWorld()
    const folder = elsewhere(where)
    const inside = join(folder, "src")
    mkdirSync(inside)
    const { id } = await add(where, "here")
    const other = await add(where, "there", {}, { folder: inside })
    expect((await list(where)).data).toMatchObject([{ content: "here" }])
    for (const repository of ["2", "elsewhere", " elsewhere "])
      expect((await list(where, { repository })).data).toMatchObject([{ content: "there" }])
    await refusal("not_found", () => getMemoryCommand(configIn(where), other.id, {}))
    await refusal("not_found", () => getMemoryCommand(configIn(where), other.id.slice(0, 8), {}))
    await refusal("not_found", () => forgetMemoryCommand(configIn(where, { folder }), id, {}))
    const unknown = await refusal("not_found", () =>
      listMemoriesCommand(configIn(where), { repository: "x" }),
    )
    expect(unknown).toContain('repository "x" was not found')
  })

  test("has to be named where there is none around, and the error says how", async () => {
    const where = presentWorld()
    const outside = temporaryFolder()
    await add(where, "here")
    const config = configIn(where, { folder: outside })
    const text = await refusal("not_found", () => listMemoriesCommand(config, {}))
    for (const next of [outside, "--repository", "signalbox repos list", "signalbox repos add"])
      expect(text).toContain(next)
    const { out } = await run(() => listMemoriesCommand(config, { repository: "repository" }))
    expect(out).toContain("here")
  })
})

describe("a configured key", () => {
  test("reaches the memories of its own repository and nothing else", async () => {
    const where = presentWorld()
    const folder = elsewhere(where)
    await add(where, "here")
    await add(where, "there", {}, { folder })
    const app = await server(where, "one")
    const keyFor = async (scope: string) => {
      const request = { name: scope, plan: "starter", expiresAtMs: null, environment: "live" } as const
      const { text } = await createKey(app, { ...request, scopes: [scope] })
      return { SIGNALBOX_API_KEY: text }
    }
    const own = await keyFor("repo:1:memory")
    expect((await run(() => listMemoriesCommand(configIn(where, { env: own }), {}))).out).toContain("here")
    for (const repository of ["2", "elsewhere", "9"]) {
      const config = configIn(where, { env: own })
      expect(await refusal("forbidden", () => listMemoriesCommand(config, { repository }))).toContain("repo:")
    }
    for (const scope of ["repo:1:coordination", "repo:1:documentation", "project:demo:coordination"]) {
      const config = configIn(where, { env: await keyFor(scope) })
      await refusal("forbidden", () => addMemoryCommand(config, ["x"], {}))
    }
    const unknown = configIn(where, { env: { SIGNALBOX_API_KEY: "" } })
    await refusal("unauthenticated", () => listMemoriesCommand(unknown, {}))
  })

  test("is not counted: the command line is exempt from rate limits", async () => {
    const where = presentWorld()
    const app = await server(where, "one")
    const request = { name: "k", plan: "starter", expiresAtMs: null, environment: "live" } as const
    const { text } = await createKey(app, { ...request, scopes: ["*"] })
    const config = configIn(where, { env: { SIGNALBOX_API_KEY: text } })
    expect(config.rates).toEqual(RATES_DEFAULT)
    await run(() => listMemoriesCommand(config, {}))
    expect(await app.db.all("SELECT * FROM rate_buckets")).toEqual([])
  })
})
