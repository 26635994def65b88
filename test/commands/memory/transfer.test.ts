import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { describe, expect, test } from "vitest"
import { addMemoryCommand, editMemoryCommand } from "../../../src/commands/memory/memory.ts"
import {
  exportMemoriesCommand,
  type ImportCommandOptions,
  importMemoriesCommand,
} from "../../../src/commands/memory/transfer.ts"
import type { World } from "../../support/world.ts"
import { configIn, presentWorld, run, runJson } from "../command.ts"

interface Imported {
  lines: number
  added: number
  skipped: number
  differing: number
  bad: number
  stopped: boolean
  notes: { kind: string; line: number; id: string | null; field: string | null; message: string }[]
}

async function filled(contents = ["one", "two", "three"]): Promise<World> {
  const where = presentWorld()
  for (const content of contents)
    await run(() => addMemoryCommand(configIn(where), [content], { sector: "semantic", tag: [content] }))
  return where
}

async function exported(where: World, options = {}): Promise<string> {
  const { out, error } = await run(() => exportMemoriesCommand(configIn(where), undefined, options))
  expect(error).toBeUndefined()
  return out
}

function file(where: World, text: string): string {
  const path = join(where.folder, "memories.jsonl")
  writeFileSync(path, text)
  return path
}

const imported = (where: World, path: string, options: ImportCommandOptions = {}) =>
  run(() => importMemoriesCommand(configIn(where), path, options))

describe("memory export", () => {
  test("writes lines to stdout, filtered when asked to, and nothing for no memories", async () => {
    const where = await filled()
    const lines = (await exported(where)).split("\n")
    expect(lines).toHaveLength(4)
    expect(lines.slice(0, 3).map((line) => JSON.parse(line).content)).toEqual(["one", "two", "three"])
    expect(JSON.parse(await exported(where, { tag: "two", sector: "semantic" })).content).toBe("two")
    expect(await exported(where, { sector: "emotional" })).toBe("")
  })

  test("writes a private file, relative to the folder, and says how many", async () => {
    const where = await filled()
    const { out } = await run(() => exportMemoriesCommand(configIn(where), "out.jsonl", {}))
    const path = join(where.repositoryPath, "out.jsonl")
    expect(out).toContain(`✓ Exported 3 memories to ${path}`)
    expect(readFileSync(path, "utf8")).toBe(await exported(where))
    if (process.platform !== "win32") expect(statSync(path).mode & 0o777).toBe(0o600)
  })

  test("replaces no file unless it is told to, and leaves none that is not whole", async () => {
    const where = await filled()
    const path = file(where, "precious")
    const { error } = await run(() => exportMemoriesCommand(configIn(where), path, {}))
    expect(error).toMatchObject({ code: "refused", text: expect.stringContaining("--force") })
    expect(readFileSync(path, "utf8")).toBe("precious")
    await run(() => exportMemoriesCommand(configIn(where), path, { force: true }))
    expect(readFileSync(path, "utf8")).toBe(await exported(where))
    const nowhere = join(where.folder, "missing", "out.jsonl")
    const failed = await run(() => exportMemoriesCommand(configIn(where), nowhere, {}))
    expect(failed.error).toMatchObject({ code: "unavailable", text: expect.stringContaining(nowhere) })
    expect(readdirSync(where.folder).filter((name) => name.includes(".part"))).toEqual([])
    expect(existsSync(nowhere)).toBe(false)
  })
})

describe("memory import", () => {
  test("takes in what export wrote, and says what became of it", async () => {
    const from = await filled()
    const text = await exported(from)
    const to = presentWorld()
    const path = file(to, text)
    const { out, error } = await imported(to, path)
    expect(error).toBeUndefined()
    expect(out).toBe("✓ Imported 3 memories into repository.\n")
    expect(await exported(to)).toBe(text)
    expect((await imported(to, path)).out).toBe(
      "✓ Imported 0 memories into repository.\n  3 memories were there already.\n",
    )
    const json = await runJson<Imported>(() => importMemoriesCommand(configIn(to), path, { json: true }))
    expect(json).toEqual({
      repository_id: 1,
      dry_run: false,
      lines: 3,
      added: 0,
      replaced: 0,
      skipped: 3,
      used_since: 0,
      differing: 0,
      bad: 0,
      renamed: 0,
      stopped: false,
      notes: [],
    })
  })

  test("fails at the end when lines were bad, naming them, with the good ones stored", async () => {
    const from = await filled()
    const [first = "", second = "", third = ""] = (await exported(from)).split("\n")
    const bad = JSON.stringify({ ...JSON.parse(second), sector: "other" })
    const to = presentWorld()
    const path = file(to, `${first}\n${bad}\n${third}\n`)
    const { out, error } = await imported(to, path)
    expect(out).toContain("Imported 2 memories")
    expect(error?.code).toBe("refused")
    expect(error?.text).toContain("1 line of 3 cannot be imported")
    expect(error?.text).toMatch(/line 2: sector must be one of: episodic, semantic/)
    const asJson = await imported(to, path, { json: true })
    expect(asJson.error?.code).toBe("refused")
    expect((JSON.parse(asJson.out) as Imported).notes).toMatchObject([
      { kind: "bad", line: 2, id: JSON.parse(second).id, field: "sector" },
    ])
  })

  test("names twenty lines and counts the others", async () => {
    const where = presentWorld()
    const { error } = await imported(where, file(where, "x\n".repeat(25)))
    expect(error?.text).toContain("  line 20: is not valid JSON\n  and 5 more")
    expect(error?.text).not.toContain("line 21")
  })

  test("is a conflict where memories differ, until --replace is given", async () => {
    const where = await filled()
    const text = await exported(where)
    const { id } = JSON.parse(text.split("\n")[1] ?? "")
    await run(() => editMemoryCommand(configIn(where), id, { content: "other" }))
    const path = file(where, text)
    const { error } = await imported(where, path)
    expect(error?.code).toBe("conflict")
    expect(error?.text).toContain("1 memory left alone that differs from the file")
    expect(error?.text).toMatch(/line 2: differs from the memory \S+ in content/)
    expect(error?.text).toContain("--replace")
    expect((await imported(where, path, { replace: true })).out).toContain("1 memory was replaced")
    expect(await exported(where)).toBe(text)
  })

  test("only looks with --dry-run", async () => {
    const from = await filled()
    const to = presentWorld()
    const path = file(to, `${await exported(from)}x\n`)
    const { out, error } = await imported(to, path, { dryRun: true })
    expect(out).toContain("Nothing was stored, this was a dry run. Into repository would come 3 memories.")
    expect(error?.code).toBe("refused")
    expect(await exported(to)).toBe("")
  })

  test("names a file that is not there, and a folder", async () => {
    const where = presentWorld()
    expect((await imported(where, "missing.jsonl")).error?.code).toBe("not_found")
    expect((await imported(where, where.folder)).error?.code).toBe("invalid")
  })
})
