import { execFileSync } from "node:child_process"
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { Readable } from "node:stream"
import { describe, expect, onTestFinished, test } from "vitest"
import {
  type AddOptions,
  addMemoryCommand,
  type EditOptions,
  editMemoryCommand,
  forgetMemoryCommand,
  getMemoryCommand,
  reinforceMemoryCommand,
} from "../../src/commands/memory.ts"
import { contentOf, editorOf, editText, readText } from "../../src/commands/memory-input.ts"
import {
  listMemoriesCommand,
  memoryStatsCommand,
  pruneMemoriesCommand,
  searchMemoriesCommand,
} from "../../src/commands/memory-lists.ts"
import { exitCodeOf } from "../../src/exit-codes.ts"
import { RATES_DEFAULT } from "../../src/limits.ts"
import { createKey } from "../../src/operations/keys.ts"
import type { MemoryJson } from "../../src/operations/memory-json.ts"
import type { World } from "../support/world.ts"
import { type CommandSurroundings, configIn, presentWorld, run, runJson, server } from "./command.ts"

interface Page {
  data: MemoryJson[]
  meta: { next_cursor: string | null; prev_cursor: string | null; has_more: boolean }
}

const add = (where: World, content: string, options: AddOptions = {}, at: CommandSurroundings = {}) =>
  runJson<MemoryJson & { sector_inferred: boolean }>(() =>
    addMemoryCommand(configIn(where, at), [content], { ...options, json: true }),
  )
const get = (where: World, id: string, at: CommandSurroundings = {}) =>
  runJson<MemoryJson>(() => getMemoryCommand(configIn(where, at), id, { json: true }))
const edit = (where: World, id: string, options: EditOptions) =>
  runJson<MemoryJson>(() => editMemoryCommand(configIn(where), id, { ...options, json: true }))
const list = (where: World, options: Parameters<typeof listMemoriesCommand>[1] = {}) =>
  runJson<Page>(() => listMemoriesCommand(configIn(where), { ...options, json: true }))

/** Runs a command that must fail with a code; returns its text. */
async function refusal(code: string, work: () => Promise<void>): Promise<string> {
  const { error } = await run(work)
  expect(error?.code, error?.text).toBe(code)
  return error?.text ?? ""
}

/** Another folder with a repository of its own, connected. */
function elsewhere(where: World, name = "elsewhere"): string {
  const folder = join(where.folder, name)
  mkdirSync(folder)
  execFileSync("git", ["init", "--quiet", folder])
  return folder
}

describe("memory add", () => {
  test("stores what is said, word for word, and shows it as REST does", async () => {
    const where = presentWorld()
    const content = "  Deploys on Friday\r\nare not allowed. "
    const made = await add(where, content, {
      sector: "procedural",
      tag: ["deploy", "rule"],
      source: "wiki",
      metadata: '{"ticket": {"id": 42}}',
    })
    expect(made).toMatchObject({
      content,
      sector: "procedural",
      sector_inferred: false,
      salience: 1,
      access_count: 0,
      tags: ["deploy", "rule"],
      source: "wiki",
      metadata: { ticket: { id: 42 } },
      embedding_status: "completed",
      last_accessed_at: null,
    })
    expect(await get(where, made.id)).toMatchObject({ content, access_count: 1 })
  })

  test("chooses the sector by the words, and says so", async () => {
    const where = presentWorld()
    expect(await add(where, "First install the tools, then run make.")).toMatchObject({
      sector: "procedural",
      sector_inferred: true,
    })
    const { out } = await run(() =>
      addMemoryCommand(configIn(where), ["Postgres", "is", "the", "database."], {}),
    )
    expect(out).toMatch(/^✓ Remembered [0-9a-f]{8} as semantic \(as its words suggest\)\n$/)
    expect((await list(where)).data[0]?.content).toBe("Postgres is the database.")
  })

  test("says when much the same is remembered already", async () => {
    const where = presentWorld()
    const { id } = await add(where, "The nightly backup is copied to a second region.")
    const { out } = await run(() =>
      addMemoryCommand(configIn(where), ["The nightly backup is copied to a second region."], {}),
    )
    expect(out).toContain(`Much like ${id.slice(0, 8)} (1.00)`)
    expect((await list(where)).data).toHaveLength(2)
  })

  test.each([
    ["content must not be blank", " ", {}],
    ["content must have at most 32,768 characters (got 32,769)", "x".repeat(32_769), {}],
    ["tags.0 must have at most 64 characters", "x", { tag: ["x".repeat(65)] }],
    ["tags must have at most 32 entries", "x", { tag: Array.from({ length: 33 }, String) }],
    ["sector must be one of: episodic, semantic", "x", { sector: "other" }],
    ["source must have at most 512 characters", "x", { source: "x".repeat(513) }],
    ["metadata is not valid JSON", "x", { metadata: "{a: 1}" }],
    ["metadata must be a JSON object", "x", { metadata: "[1]" }],
    [
      "metadata must be nested at most 99 levels deep",
      "x",
      { metadata: `${'{"a":'.repeat(100)}1${"}".repeat(100)}` },
    ],
    ["metadata must take at most 16,384 bytes", "x", { metadata: JSON.stringify({ x: "é".repeat(8_190) }) }],
  ])("refuses by the rules of REST: %s", async (text, content, options) => {
    const where = presentWorld()
    expect(await refusal("invalid", () => addMemoryCommand(configIn(where), [content], options))).toContain(
      text,
    )
    expect(exitCodeOf("invalid")).toBe(2)
    expect((await list(where)).data).toEqual([])
  })

  test("takes contents from a pipe whole, in pieces, as UTF-8 and without the last new line", async () => {
    const bytes = Buffer.from("für\n\nimmer 😀")
    const pieces = Array.from(bytes, (byte) => Buffer.from([byte]))
    expect(await readText(Readable.from(pieces))).toBe("für\n\nimmer 😀")
    await expect(readText(Readable.from([Buffer.from([0xff])]))).rejects.toThrow("must be UTF-8")
    await expect(readText(Readable.from([Buffer.alloc(1024 * 1024 + 1)]))).rejects.toThrow("1,048,576 bytes")
    expect(await contentOf(["two", "words"])).toBe("two words")
  })
})

describe("memory get", () => {
  test("counts the access and shows all there is, the content as it was", async () => {
    const where = presentWorld()
    const content = "# Deploy\n\n\tnpm run deploy   -- --all\n"
    const { id } = await add(where, content, { tag: ["ops"], source: "runbook", metadata: '{"a":1}' })
    const { out } = await run(() => getMemoryCommand(configIn(where), id, {}))
    for (const text of [id, "Accessed   once, last 20", "ops", "runbook", '{"a":1}', content])
      expect(out).toContain(text)
    expect(await get(where, id)).toMatchObject({ access_count: 2 })
  })

  test("takes the beginning of an id, if it is one memory's alone and of four characters at least", async () => {
    const where = presentWorld()
    const { id } = await add(where, "one")
    const config = configIn(where)
    for (const length of [4, 8, 13, 14, 35]) expect((await get(where, id.slice(0, length))).id).toBe(id)
    expect((await get(where, id.toUpperCase())).id).toBe(id)
    expect((await get(where, id.slice(0, 8).toUpperCase())).id).toBe(id)
    for (const typed of [id.slice(0, 3), "", "wxyz", "%___", `${id.slice(0, 8)}*`]) {
      expect(await refusal("invalid", () => getMemoryCommand(config, typed, {}))).toContain(
        "at least 4 characters",
      )
    }
    const other = id.startsWith("0000") ? "1111" : "0000"
    const nothing = await refusal("not_found", () => getMemoryCommand(config, other, {}))
    expect(nothing).toContain("signalbox memory list")
  })

  test("names the ids that a beginning fits", async () => {
    const where = presentWorld()
    // Of so many ids two begin with the same four characters, nearly always.
    const ids: string[] = []
    const app = await server(where, "one")
    for (let number = 0; number < 7; number += 1) {
      const { id } = await add(where, `note ${number}`)
      ids.push(`abcd${number}${id.slice(5)}`)
      await app.db.run("UPDATE memories SET uuid = ? WHERE uuid = ?", [ids[number] ?? "", id])
    }
    const text = await refusal("invalid", () => getMemoryCommand(configIn(where), "abcd", {}))
    expect(text).toContain(`abcd begins several ids: ${ids.slice(0, 5).join(", ")} and more`)
    expect((await get(where, "abcd3")).id).toBe(ids[3])
  })

  test("shows signs in the place of what a terminal would obey", async () => {
    const where = presentWorld()
    const { id } = await add(where, "a\u001b[2Jb\u0007c\u009bd\u202ee\u007f\ttab", { tag: ["x\u001b]0;y"] })
    for (const work of [
      () => getMemoryCommand(configIn(where), id, {}),
      () => listMemoriesCommand(configIn(where), {}),
      () => listMemoriesCommand(configIn(where), { full: true }),
      () => forgetMemoryCommand(configIn(where), id, {}),
    ]) {
      const { out } = await run(work)
      expect(out).toContain("a␛[2Jb␇c")
      expect(out.replace(/[\n\t]/g, "")).not.toMatch(/[\p{Cc}\u202e]/u)
    }
  })
})

describe("memory edit", () => {
  test("changes just what is given", async () => {
    const where = presentWorld()
    const { id } = await add(where, "one", { tag: ["a", "b"], source: "s", metadata: '{"k":1}' })
    expect(await edit(where, id.slice(0, 8), { content: "two" })).toMatchObject({
      id,
      content: "two",
      tags: ["a", "b"],
      source: "s",
      metadata: { k: 1 },
      access_count: 0,
    })
    expect(await edit(where, id, { tag: ["c"], metadata: "{}" })).toMatchObject({ tags: ["c"], metadata: {} })
    expect(await edit(where, id, { tags: false, source: "" })).toMatchObject({
      tags: [],
      source: "",
      content: "two",
    })
    const { out } = await run(() => editMemoryCommand(configIn(where), id, { content: "three" }))
    expect(out).toContain(`✓ Changed ${id.slice(0, 8)}`)
  })

  test("refuses what contradicts itself, what is too long, and nothing at all where no terminal is", async () => {
    const where = presentWorld()
    const { id } = await add(where, "one")
    const config = configIn(where)
    const both = { tags: false, tag: ["a"] }
    expect(await refusal("invalid", () => editMemoryCommand(config, id, both))).toContain("--no-tags")
    expect(await refusal("invalid", () => editMemoryCommand(config, id, { content: "" }))).toContain(
      "at least 1",
    )
    expect(await refusal("invalid", () => editMemoryCommand(config, id, { tags: true }))).toContain(
      "--content",
    )
  })
})

describe.skipIf(process.platform === "win32")("memory edit at a terminal", () => {
  /** Has stdin and stdout pass for a terminal, and an editor that is a script, until the test ends. */
  function atTerminal(where: World, script: string): void {
    const editor = join(where.folder, "my editor")
    writeFileSync(editor, `#!/bin/sh\n${script}\n`)
    chmodSync(editor, 0o700)
    const before = { VISUAL: process.env.VISUAL, in: process.stdin.isTTY, out: process.stdout.isTTY }
    process.env.VISUAL = `'${editor}' --wait`
    process.stdin.isTTY = true
    process.stdout.isTTY = true
    onTestFinished(() => {
      if (before.VISUAL === undefined) delete process.env.VISUAL
      else process.env.VISUAL = before.VISUAL
      process.stdin.isTTY = before.in
      process.stdout.isTTY = before.out
    })
  }

  test("opens the content in the editor and stores what was made of it", async () => {
    const where = presentWorld()
    const { id } = await add(where, "The old text.")
    atTerminal(where, `[ "$1" = --wait ] && grep -q 'The old text.' "$2" && echo "The new text." > "$2"`)
    expect(await edit(where, id, {})).toMatchObject({ id, content: "The new text." })
  })

  test("changes nothing when nothing was changed or the editor fails", async () => {
    const where = presentWorld()
    const { id, updated_at } = await add(where, "The old text.")
    atTerminal(where, `printf '\\n' >> "$2"`)
    expect((await run(() => editMemoryCommand(configIn(where), id, {}))).out).toBe("Nothing was changed.\n")
    atTerminal(where, `echo other > "$2"; exit 3`)
    const text = await refusal("refused", () => editMemoryCommand(configIn(where), id, {}))
    expect(text).toContain("ended with 3")
    expect(await get(where, id)).toMatchObject({ content: "The old text.", updated_at })
  })

  test("keeps a text that cannot be stored and says where", async () => {
    const where = presentWorld()
    const { id } = await add(where, "The old text.")
    atTerminal(where, `printf ' ' > "$2"`)
    const text = await refusal("invalid", () => editMemoryCommand(configIn(where), id, {}))
    const path = /kept in (\S+);/.exec(text)?.[1] ?? ""
    onTestFinished(() => rmSync(join(path, ".."), { recursive: true, force: true }))
    expect(readFileSync(path, "utf8")).toBe(" ")
  })

  test("does not write over what somebody else has changed meanwhile", async () => {
    const where = presentWorld()
    const { id } = await add(where, "The old text.")
    const app = await server(where, "one")
    atTerminal(
      where,
      `echo mine > "$2"; while [ ! -e "$2.go" ]; do echo "$2" > '${where.folder}/path'; sleep 0.02; done`,
    )
    const editing = refusal("conflict", () => editMemoryCommand(configIn(where), id, {}))
    const pathFile = join(where.folder, "path")
    await expect.poll(() => existsSync(pathFile) && readFileSync(pathFile, "utf8").endsWith("\n")).toBe(true)
    const change =
      "UPDATE memories SET content = 'theirs', content_version = content_version + 1 WHERE uuid = ?"
    await app.db.run(change, [id])
    const path = readFileSync(pathFile, "utf8").trim()
    onTestFinished(() => rmSync(join(path, ".."), { recursive: true, force: true }))
    writeFileSync(`${path}.go`, "")
    expect(await editing).toContain("changed by somebody else")
    expect((await get(where, id)).content).toBe("theirs")
    expect(readFileSync(path, "utf8")).toBe("mine\n")
  })

  test("gives the editor a private file and takes it away afterwards", async () => {
    const folder = mkdtempSync(join(tmpdir(), "signalbox-editor-"))
    onTestFinished(() => rmSync(folder, { recursive: true }))
    const edited = await editText("text", `ls -l "$1" > '${folder}/mode'; : `)
    expect(readFileSync(join(folder, "mode"), "utf8")).toMatch(/^-rw-------/)
    expect(edited.text).toBe("text")
    edited.discard()
    expect(existsSync(edited.path)).toBe(false)
  })

  test("prefers VISUAL to EDITOR", () => {
    expect(editorOf({ VISUAL: "code --wait", EDITOR: "vim" })).toBe("code --wait")
    expect(editorOf({ VISUAL: "", EDITOR: "vim" })).toBe("vim")
    expect(editorOf({})).not.toBe("")
  })
})

test("memory reinforce raises the salience by a profile, and says by how much", async () => {
  const where = presentWorld()
  const { id } = await add(where, "one", { sector: "semantic" })
  const app = await server(where, "one")
  await app.db.run("UPDATE memories SET salience_base = 0.5 WHERE uuid = ?", [id])
  const options = { profile: "deep_learning", json: true }
  expect(await runJson(() => reinforceMemoryCommand(configIn(where), id.slice(0, 8), options))).toEqual({
    id,
    old_salience: 0.5,
    new_salience: 0.65,
    profile_used: "deep_learning",
    boost_applied: 0.15,
  })
  const { out } = await run(() => reinforceMemoryCommand(configIn(where), id, {}))
  expect(out).toBe(`✓ Reinforced ${id.slice(0, 8)}: salience 0.65 -> 0.75 (maintenance)\n`)
  const wrong = await refusal("invalid", () => reinforceMemoryCommand(configIn(where), id, { profile: "x" }))
  expect(wrong).toContain("quick_refresh, maintenance, deep_learning, emergency")
})

test("memory forget deletes for good, and shows what it was", async () => {
  const where = presentWorld()
  const { id } = await add(where, "Nobody needs this.")
  const { out } = await run(() => forgetMemoryCommand(configIn(where), id.slice(0, 6), {}))
  expect(out).toContain(id)
  expect(out).toContain("Nobody needs this.")
  expect((await list(where)).data).toEqual([])
  await refusal("not_found", () => forgetMemoryCommand(configIn(where), id, {}))
})

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
    [{ minSalience: "1" }, 0],
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
    const outside = mkdtempSync(join(tmpdir(), "signalbox-outside-"))
    onTestFinished(() => rmSync(outside, { recursive: true }))
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
