import { execFileSync } from "node:child_process"
import {
  chmodSync,
  closeSync,
  existsSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  symlinkSync,
  watch,
  writeFileSync,
  writeSync,
} from "node:fs"
import { join } from "node:path"
import { Readable } from "node:stream"
import { describe, expect, onTestFinished, test, vi } from "vitest"
import { exitCodeOf } from "../../../src/commands/exit-codes.ts"
import { contentOf, EDITED_CONTENT } from "../../../src/commands/memory/input.ts"
import { listMemoriesCommand } from "../../../src/commands/memory/lists.ts"
import {
  addMemoryCommand,
  editMemoryCommand,
  forgetMemoryCommand,
  getMemoryCommand,
  reinforceMemoryCommand,
} from "../../../src/commands/memory/memory.ts"
import { editorOf, editText, readText } from "../../../src/commands/typed-text.ts"
import { temporaryFolder } from "../../support/temporary-folder.ts"
import type { World } from "../../support/world.ts"
import { configIn, presentWorld, refusal, run, runJson, server } from "../command.ts"
import { add, edit, get, list } from "./memory-command.ts"

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
  /**
   * Has stdin and stdout pass for a terminal, and an editor that is a script, until the test ends; what is
   * edited lies in the world's folder.
   */
  function atTerminal(where: World, script: string): void {
    const editor = join(where.folder, "my editor")
    const edited = join(where.folder, "edited")
    mkdirSync(edited, { recursive: true })
    writeFileSync(editor, `#!/bin/sh\n${script}\n`)
    chmodSync(editor, 0o700)
    const before = { in: process.stdin.isTTY, out: process.stdout.isTTY }
    setVariable("VISUAL", `'${editor}' --wait`)
    setVariable("TMPDIR", edited)
    process.stdin.isTTY = true
    process.stdout.isTTY = true
    onTestFinished(() => {
      process.stdin.isTTY = before.in
      process.stdout.isTTY = before.out
    })
  }

  /** Sets a variable of the environment until the test ends. */
  function setVariable(name: string, value: string): void {
    const before = process.env[name]
    process.env[name] = value
    onTestFinished(() => {
      if (before === undefined) delete process.env[name]
      else process.env[name] = before
    })
  }

  /** Resolves when an entry of this name comes into a folder. */
  function appears(folder: string, name: string): Promise<void> {
    return new Promise((resolve) => {
      const watcher = watch(folder, (_, changed) => {
        if (changed === name) resolve()
      })
      onTestFinished(() => watcher.close())
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
    const path = /kept in (.+);/.exec(text)?.[1] ?? ""
    expect(path.startsWith(join(where.folder, "edited"))).toBe(true)
    expect(readFileSync(path, "utf8")).toBe(" ")
  })

  test("does not write over what somebody else has changed meanwhile", async () => {
    const where = presentWorld()
    const { id } = await add(where, "The old text.")
    const app = await server(where, "one")
    const [said, go] = [join(where.folder, "said"), join(where.folder, "go")]
    execFileSync("mkfifo", [go])
    // Open for both, so that neither this nor the editor waits for the other to open it.
    const failOpen = openSync(go, "r+")
    onTestFinished(() => closeSync(failOpen))
    const isEdited = appears(where.folder, "said")
    atTerminal(
      where,
      `echo mine > "$2"; echo "$2" > '${said}.new'; mv '${said}.new' '${said}'; read -r go < '${go}'`,
    )
    const editing = refusal("conflict", () => editMemoryCommand(configIn(where), id, {}))
    await isEdited
    const path = readFileSync(said, "utf8").trimEnd()
    const change =
      "UPDATE memories SET content = 'theirs', content_version = content_version + 1 WHERE uuid = ?"
    await app.db.run(change, [id])
    writeSync(failOpen, "go\n")
    expect(await editing).toContain("changed by somebody else")
    expect((await get(where, id)).content).toBe("theirs")
    expect(readFileSync(path, "utf8")).toBe("mine\n")
  })

  test("gives the editor a private file and takes it away afterwards", async () => {
    const folder = temporaryFolder()
    const edited = await editText("text", `ls -l "$1" > '${folder}/mode'; : `, EDITED_CONTENT)
    expect(readFileSync(join(folder, "mode"), "utf8")).toMatch(/^-rw-------/)
    expect(edited.text).toBe("text")
    edited.discard()
    expect(existsSync(edited.path)).toBe(false)
  })

  test("takes away the folder of an edited text alone, whatever the editor made of it", async () => {
    const folder = temporaryFolder()
    mkdirSync(join(folder, "mine"))
    mkdirSync(join(folder, "temporary"))
    writeFileSync(join(folder, "mine", "memory.md"), "mine")
    symlinkSync(join(folder, "temporary"), join(folder, "link"))
    vi.stubEnv("TMPDIR", join(folder, "link"))
    onTestFinished(() => {
      vi.unstubAllEnvs()
    })
    const editor = `sh -c 'cd / && mv "$(dirname "$1")" "${folder}/moved" && ln -s "${folder}/mine" "$(dirname "$1")"' sh`
    const edited = await editText("text", editor, EDITED_CONTENT)
    expect(edited.text).toBe("mine")
    edited.discard()
    await expect(editText("text", "false", EDITED_CONTENT)).rejects.toMatchObject({ code: "refused" })
    expect(readdirSync(join(folder, "temporary"))).toEqual([])
    expect(readdirSync(folder)).toEqual(["link", "mine", "moved", "temporary"])
    expect(readdirSync(join(folder, "mine"))).toEqual(["memory.md"])
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
