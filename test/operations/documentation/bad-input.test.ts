import { renameSync, symlinkSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { describe, expect, test } from "vitest"
import { remove } from "../../../scripts/removal.ts"
import {
  type Content,
  expectGood,
  GOOD,
  GUIDE,
  problemsOf,
  repositoryWith,
  write,
} from "../../support/documentation-files.ts"
import { type Index, indexOf, openIndex } from "../../support/documentation-index.ts"
import { temporaryFolder } from "../../support/temporary-folder.ts"

/** Indexes a repository of these files and the good one; returns what was noted of them. */
async function readWith(files: Record<string, Content>): Promise<{ index: Index; problems: object }> {
  const index = await openIndex()
  const id = await index.add(repositoryWith(files).root)
  const { whole, files: problems } = await problemsOf(index, id)
  expect(whole).toBeNull()
  await expectGood(index)
  return { index, problems }
}

describe("files that are not as they should be", () => {
  test.each([
    ["bytes of no text", Uint8Array.from({ length: 5_000 }, (_, at) => (at * 7919) % 256), "is not text"],
    ["a NUL among many words", `${"The anvil is forged. ".repeat(100)}\0\n`, "is not text"],
    ["a NUL among few words", "An anvil \0 and a hammer\n", "is not text"],
    [
      "a picture",
      Buffer.concat([Buffer.from("\x89PNG\r\n\x1a\n", "latin1"), Buffer.alloc(999)]),
      "is not text",
    ],
    ["more than 16 MB", Buffer.alloc(50_000_000, "An anvil and a hammer.\n"), "is larger than 16 MB"],
  ])("are reported with the reason: %s", async (_, content, reason) => {
    const { index, problems } = await readWith({ "bad.md": content })
    expect(problems).toEqual({ "bad.md": reason })
    expect(await index.filesWith("anvil hammer")).toEqual([])
  })

  test.each([
    ["no bytes", ""],
    ["white space", " \n\t\r\n\n"],
    ["a byte order mark", "\ufeff"],
    ["line ends", "\n".repeat(100_000)],
  ])("are nothing to search and nothing to report: %s", async (_, content) => {
    const { problems } = await readWith({ "bad.md": content })
    expect(problems).toEqual({})
  })

  test.each([
    ["latin-1", Buffer.from("# Führung\n\nDer Amboß für gestern.\n", "latin1")],
    ["UTF-16 with a mark", Buffer.from("\ufeff# Führung\n\nDer Amboß für gestern.\n", "utf16le")],
    ["UTF-16 without one", Buffer.from("# Führung\n\nDer Amboß für gestern.\n", "utf16le")],
    ["UTF-8 with a mark", Buffer.from("\ufeff# Führung\n\nDer Amboß für gestern.\n")],
    ["lines that end with CR LF", Buffer.from("# Führung\r\n\r\nDer Amboß für gestern.\r\n")],
  ])("are found all the same: %s", async (_, content) => {
    const { index, problems } = await readWith({ "odd.md": content })
    expect(problems).toEqual({})
    const { results } = await index.search("Amboß", { using: "words" })
    expect(results.map(({ file, line_start, line_end }) => [file, line_start, line_end])).toEqual([
      ["odd.md", 1, 3],
    ])
    expect(results[0]?.content).toContain("Amboß für gestern")
  })

  test("are found to their last row: a table of 5,000", { timeout: 60_000 }, async () => {
    const rows = Array.from({ length: 5_000 }, (_, at) => `| anvil${at} | weighs ${at} pounds | forge |`)
    const table = ["# Weights", "", "| name | weight | place |", "| --- | --- | --- |", ...rows, ""].join(
      "\n",
    )
    const { index, problems } = await readWith({ "table.md": table })
    expect(problems).toEqual({})
    for (const at of [0, 2_500, 4_999]) {
      const { results } = await index.search(`anvil${at}`, { using: "words" })
      expect(results[0]?.content).toContain(`| anvil${at} |`)
      const { line_start = 0, line_end = 0 } = results[0] ?? {}
      expect([line_start <= at + 5, line_end >= at + 5]).toEqual([true, true])
    }
  })

  test("are searched or reported: 10 MB on a single line", { timeout: 60_000 }, async () => {
    const text = Array.from({ length: 10_000_000 / 12 }, (_, at) => `word${at % 1_000_000} and`).join(" ")
    const { index, problems } = await readWith({ "line.md": text.slice(0, 10_000_000) })
    const found = await index.filesWith("word4321")
    expect(found.length + Object.keys(problems).length).toBe(1)
    const { results } = await index.search("word4321", { using: "words" })
    for (const { content } of results) expect(content.length).toBeLessThanOrEqual(2_000)
  })

  test("leave nothing behind when they go: halves of characters, NUL, and names of what objects have", async () => {
    const notebook = (source: string) =>
      JSON.stringify({
        nbformat: 4,
        nbformat_minor: 5,
        metadata: {},
        cells: [{ cell_type: "markdown", metadata: {}, source: [source] }],
      })
    const repository = repositoryWith({
      "a.ipynb": notebook("# Head\ud800ing\udc00s\n\nanvil\ud800xt \u0000 nul\u0000inside get\ud800User\n"),
      "b.html": "<h1>x&#xD800;y</h1><p>anv&#xDC00;il ba&#0;r</p>",
      "c.md": "# constructor\n\n__proto__ toString `hasOwnProperty` constructor.prototype\n",
    })
    const index = await openIndex()
    await index.add(repository.root)
    expect(await index.filesWith("constructor")).toEqual(["c.md"])
    await expectGood(index)
    repository.commit({ "a.ipynb": null, "b.html": null, "c.md": null })
    await index.sync()
    await expectGood(index)
    const left = await index.app.db.all("SELECT count(*) AS blobs FROM documentation_blobs")
    expect(left).toEqual([{ blobs: 1 }])
  })
})

describe("names", () => {
  const NAMES = [
    "with space.md",
    " leading.md",
    'quote".md',
    "apostrophe's.md",
    "new\nline.md",
    "tab\t.md",
    "back\\slash.md",
    "größe.md",
    "日本語/説明.md",
    "e\u0301.md",
    "😀.md",
    "%41#frag?query.md",
    "-dash.md",
    ":colon.md",
    "*star[1].md",
    `${"l".repeat(200)}.md`,
    "UPPER.MD",
  ]

  test("of any kind are found as they are, with links that lead to them", async () => {
    const files = Object.fromEntries(NAMES.map((name, at) => [name, `# File\n\nanvil${at} stands here\n`]))
    const repository = repositoryWith(files)
    repository.git("remote", "add", "origin", "https://github.com/acme/docs.git")
    const index = await openIndex()
    const id = await index.add(repository.root)
    expect(await problemsOf(index, id)).toEqual({ whole: null, files: {} })
    for (const [at, name] of NAMES.entries()) {
      const [result] = (await index.search(`anvil${at}`, { using: "words" })).results
      expect(result?.file).toBe(name)
      const path = new URL(result?.url ?? "").pathname.split("/").slice(5)
      expect(decodeURIComponent(path.join("/"))).toBe(name)
      const seconds = repository.git("--literal-pathspecs", "log", "-1", "--format=%ct", "--", name)
      expect(Date.parse(result?.last_updated ?? "")).toBe(Number(seconds) * 1_000)
    }
    await expectGood(index)
  })

  test("that are not UTF-8 are reported, and each that goes is no longer", async () => {
    const repository = repositoryWith({})
    const odd = (byte: number) =>
      Buffer.concat([Buffer.from(`${repository.root}/caf`), Buffer.from([byte, 0x2e, 0x6d, 0x64])])
    const removeOdd = (byte: number) => {
      const plain = join(repository.root, "plain")
      renameSync(odd(byte), plain)
      remove(plain)
    }
    writeFileSync(odd(0xe9), GUIDE)
    writeFileSync(odd(0xe8), GUIDE)
    repository.commit()
    const index = await openIndex()
    const id = await index.add(repository.root)
    const reported = { "caf\ufffd.md": "has a name that is not UTF-8" }
    expect((await problemsOf(index, id)).files).toEqual(reported)
    await expectGood(index)

    removeOdd(0xe9)
    repository.commit()
    await index.sync()
    expect((await problemsOf(index, id)).files).toEqual(reported)
    removeOdd(0xe8)
    repository.commit()
    await index.sync()
    expect((await problemsOf(index, id)).files).toEqual({})
    await expectGood(index)
  })
})

describe("symbolic links", () => {
  test("in a repository are not followed, and reported", async () => {
    const outside = temporaryFolder()
    write(outside, { "secret.md": "# Secret\n\nThe anvil is hidden.\n" })
    const repository = repositoryWith({ "docs/a.md": GUIDE })
    symlinkSync(join(outside, "secret.md"), join(repository.root, "out.md"))
    symlinkSync("../docs", join(repository.root, "docs", "loop"))
    symlinkSync("self.md", join(repository.root, "self.md"))
    symlinkSync("nowhere.md", join(repository.root, "broken.md"))
    symlinkSync(outside, join(repository.root, "folder"))
    repository.commit()
    const index = await openIndex()
    const id = await index.add(repository.root)
    const reason = "is a symbolic link, which is not followed"
    expect((await problemsOf(index, id)).files).toEqual({
      "broken.md": reason,
      "out.md": reason,
      "self.md": reason,
    })
    expect(await index.filesWith("anvil")).toEqual(["docs/a.md"])
    await expectGood(index)
  })

  test("in a folder without git are not followed, and reported", async () => {
    const outside = temporaryFolder()
    write(outside, { "secret.md": "# Secret\n\nThe anvil is hidden.\n" })
    const folder = temporaryFolder()
    write(folder, { ...GOOD, "docs/a.md": GUIDE })
    symlinkSync(join(outside, "secret.md"), join(folder, "out.md"))
    symlinkSync("../docs", join(folder, "docs", "loop"))
    symlinkSync(outside, join(folder, "folder"))
    const index = await openIndex()
    const id = await index.add(folder)
    expect((await problemsOf(index, id)).files).toEqual({
      "out.md": "is a symbolic link, which is not followed",
    })
    expect(await index.filesWith("anvil")).toEqual(["docs/a.md"])
    await expectGood(index)
  })
})

describe("what is left out", () => {
  const VENDORED = {
    "node_modules/p/README.md": GUIDE,
    "a/b/node_modules/p/README.md": GUIDE,
    "vendor/x.md": GUIDE,
    "dist/x.html": GUIDE,
    ".venv/x.txt": GUIDE,
    "target/x.md": GUIDE,
  }

  test("is all that is vendored or generated, in a repository and in a folder", async () => {
    const folder = temporaryFolder()
    write(folder, { ...VENDORED, ...GOOD })
    for (const root of [repositoryWith(VENDORED).root, folder]) {
      const index = await openIndex()
      const id = await index.add(root)
      expect(await problemsOf(index, id)).toEqual({ whole: null, files: {} })
      expect(Object.values(indexOf(index.app, id)).map(({ files }) => Object.keys(files))).toEqual([
        ["good.md"],
      ])
      await expectGood(index)
    }
  })

  test("is what the configuration names, in a repository and in a folder", async () => {
    const files = {
      "drafts/a.md": GUIDE,
      "docs/drafts/b.md": GUIDE,
      "CHANGELOG.md": GUIDE,
      "docs/c.gen.md": GUIDE,
    }
    const folder = temporaryFolder()
    write(folder, { ...files, ...GOOD })
    for (const root of [repositoryWith(files).root, folder]) {
      const index = await openIndex({ ignored: ["drafts/**", "**/*.gen.md", "CHANGELOG.md"] })
      await index.add(root)
      expect(await index.filesWith("anvil")).toEqual(["docs/drafts/b.md"])
      await expectGood(index)
    }
  })

  test("is everything that is no documentation by its name", async () => {
    const repository = repositoryWith({ "main.ts": GUIDE, Makefile: GUIDE, "data.json": GUIDE, md: GUIDE })
    const index = await openIndex()
    const id = await index.add(repository.root)
    expect(Object.keys(indexOf(index.app, id).main?.files ?? {})).toEqual(["good.md"])
    await expectGood(index)
  })
})
