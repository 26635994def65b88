import { renameSync } from "node:fs"
import { pathToFileURL } from "node:url"
import fc from "fast-check"
import { describe, expect, onTestFinished, test } from "vitest"
import { type DocsSearchOptions, searchDocsCommand } from "../../../src/commands/documentation/docs.ts"
import { emphasized, excerpt, hyperlink } from "../../../src/commands/documentation/docs-text.ts"
import { addRepositoryCommand, listRepositoriesCommand } from "../../../src/commands/documentation/repos.ts"
import { openProcessLock } from "../../../src/db/process-lock.ts"
import { indexTermsOf, queryTermsOf } from "../../../src/domain/documentation/terms.ts"
import { createKey } from "../../../src/operations/keys.ts"
import { putIndexingWork } from "../../../src/store/documentation/documentation.ts"
import {
  COMMIT_MS,
  commitFiles,
  DOCS,
  type FoundPassages,
  git,
  LIMITS,
  newRepository,
  QUESTION,
} from "../../support/documentation.ts"
import type { World } from "../../support/world.ts"
import {
  type CommandSurroundings,
  configIn,
  listenToStderr,
  presentWorld,
  refusal,
  run,
  runJson,
  server,
} from "../command.ts"

/** A world in whose repository documentation is committed, and not read yet. */
function documentedWorld(): World {
  const where = presentWorld()
  commitFiles(where.repositoryPath, DOCS)
  return where
}

const search = (where: World, query: string, options: DocsSearchOptions = {}, at: CommandSurroundings = {}) =>
  runJson<FoundPassages>(() => searchDocsCommand(configIn(where, at), [query], { ...options, json: true }))

/** Searches as a person does; returns what is printed. */
const ask = async (where: World, query: string, options: DocsSearchOptions = {}) =>
  (await run(() => searchDocsCommand(configIn(where), query.split(" "), options))).out

/** Plays another process that is indexing and has noted some work, until it is closed. */
async function otherProcess(where: World): Promise<{ close(): void }> {
  const lock = openProcessLock(`${where.databasePath}.indexing.lock`)
  expect(lock.tryTake()).toBe(true)
  const app = await server(where, "other")
  const work = { phase: "reading", branch: "main", done: 4, total: 40, updatedAtMs: Date.now() } as const
  await app.db.transaction("documentation:1", (tx) => putIndexingWork(tx, 1, work))
  let isOpen = true
  const close = () => {
    if (isOpen) lock.close()
    isOpen = false
  }
  onTestFinished(close)
  return { close }
}

describe("docs search", () => {
  test("connects the repository around the folder, reads it and answers as REST does", async () => {
    const where = documentedWorld()
    const { results, meta } = await search(where, QUESTION)
    expect(results[0]).toEqual({
      content: LIMITS.trimEnd(),
      file: "docs/limits.md",
      repository: "repository",
      branch: "main",
      url: `${pathToFileURL(where.repositoryPath).href}/docs/limits.md#L1-L3`,
      score: expect.any(Number),
      last_updated: new Date(COMMIT_MS).toISOString(),
      line_start: 1,
      line_end: 3,
    })
    expect(meta).toEqual({ total: expect.any(Number), query_time_ms: expect.any(Number), cached: false })
  })

  test("shows where each passage stands, how well it fits, and what it says", async () => {
    const where = presentWorld()
    commitFiles(where.repositoryPath, {
      "guide.md": "# Guide\n\n## Limits\n\n\tSixty a minute,\n\nnot more.\n",
    })
    const [head = "", ...rest] = (await ask(where, "limits a minute")).split("\n")
    expect(head).toMatch(/^1\. [01]\.\d\d {2}guide\.md:\d+-7 {2}repository main {2}2026-03-09$/)
    expect(rest).toContain("  \tSixty a minute,")
    expect(rest).toContain("  not more.")
    expect(rest[0]).toMatch(/^ {2}Guide/)
    expect(rest.join("\n")).not.toMatch(/[^\n]* \n/)
  })

  test("shows three passages of at most six lines to a person, more and whole ones when asked", async () => {
    const where = presentWorld()
    const listed = Array.from({ length: 9 }, (_, index) => `- zebra ${index}`).join("\n")
    commitFiles(
      where.repositoryPath,
      Object.fromEntries([1, 2, 3, 4].map((number) => [`${number}.md`, `# Part ${number}\n\n${listed}\n`])),
    )
    const passages = (text: string) =>
      text
        .split(/^\d+\. .*\n.*\n/m)
        .slice(1)
        .map((one) => one.split("\n\n", 1).join().split("\n"))
    const short = passages(await ask(where, "zebra"))
    expect(short.map((rows) => rows.length)).toEqual([6, 6, 6])
    const full = passages(await ask(where, "zebra", { limit: "4", full: true }))
    expect(full).toHaveLength(4)
    expect((await search(where, "zebra")).results, "programs get what REST gives").toHaveLength(4)
  })

  test("an excerpt is the part that has most of what was asked", () => {
    const rows = Array.from({ length: 30 }, (_, index) => `row ${index}`)
    const content = rows.toSpliced(20, 1, "where zebras graze").join("\n")
    const terms = new Set(indexTermsOf(queryTermsOf("zebras graze")))
    const shown = excerpt(content, terms, 60)
    expect(shown).toHaveLength(6)
    expect(shown.join("\n")).toContain("where zebras graze")
    expect(shown[0]).toMatch(/^…/)
    expect(shown.at(-1)).toMatch(/…$/)
  })

  test("an excerpt never has more than six rows, nor rows wider than the terminal", () => {
    fc.assert(
      fc.property(
        fc.string({ unit: fc.constantFrom("a", "b", " ", "\n", "é"), maxLength: 900 }),
        fc.integer({ min: 22, max: 80 }),
        (content, columns) => {
          const shown = excerpt(content, new Set(["b"]), columns)
          expect(shown.length).toBeLessThanOrEqual(6)
          for (const row of shown) expect(row.length).toBeLessThanOrEqual(columns)
        },
      ),
    )
  })

  test("searches all connected repositories, or the one that is named, on the branch that is wanted", async () => {
    const where = documentedWorld()
    const other = newRepository(where, "other", { "guide.md": LIMITS.replace("sixty", "fifty") })
    git(other, "checkout", "--quiet", "-b", "next")
    commitFiles(other, { "guide.md": LIMITS.replace("sixty", "ninety") })
    git(other, "checkout", "--quiet", "main")
    await run(() => addRepositoryCommand(configIn(where), other, { json: true }))
    const found = async (options: DocsSearchOptions) =>
      (await search(where, QUESTION, options)).results
        .filter(({ content }) => content.includes("a minute"))
        .map(({ repository, branch, content }) => [repository, branch, / (\w+) requests/.exec(content)?.[1]])
        .sort()
    expect(await found({})).toEqual([
      ["other", "main", "fifty"],
      ["repository", "main", "sixty"],
    ])
    for (const repository of ["other", " other ", "1"])
      expect(await found({ repository })).toEqual([["other", "main", "fifty"]])
    expect(await found({ branch: "next" })).toEqual([["other", "next", "ninety"]])
    expect((await search(where, QUESTION, { limit: "1" })).results).toHaveLength(1)
    const branch = await refusal("not_found", () =>
      searchDocsCommand(configIn(where), ["x"], { branch: "nxet" }),
    )
    expect(branch).toContain('branch "nxet" was not found; known are: ')
    const unknown = await refusal("not_found", () =>
      searchDocsCommand(configIn(where), ["x"], { repository: "nowhere" }),
    )
    expect(unknown).toContain('repository "nowhere" was not found')
  })

  test("puts the repository around the folder first, and shows identical contents once, also as JSON", async () => {
    const where = presentWorld()
    const shared = "# Zebra\n\nThe zebra grazes where the grass is green.\n"
    const zebra = "# Zebra\n\nZebra, zebra and zebra again: all about the zebra.\n"
    commitFiles(where.repositoryPath, {
      "own.md": shared,
      "weak.md": "# Animals\n\nA zebra and a lion and more.\n",
    })
    const other = newRepository(where, "other", { "a.md": shared, "b.md": zebra, "c.md": `${zebra}\n\n` })
    await run(() => addRepositoryCommand(configIn(where), other, { json: true }))
    const from = async (folder: string, options: DocsSearchOptions = {}) => {
      const { results, meta } = await search(where, "zebra", options, { folder })
      expect(meta.total, "counts all that match").toBe(options.repository === undefined ? 5 : 3)
      return { files: results.map(({ repository, file }) => `${repository} ${file}`), notes: meta.notes }
    }
    const here = await from(where.repositoryPath)
    expect(here.files.slice(0, 2).sort()).toEqual(["repository own.md", "repository weak.md"])
    expect(here.files.slice(2)).toEqual(["other b.md"])
    expect(here.notes).toEqual(["2 passages left out, of the same content as one of these."])
    const there = await from(other)
    expect(there.files.slice(0, 2).sort()).toEqual(["other a.md", "other b.md"])
    expect(there.files.slice(2)).toEqual(["repository weak.md"])
    expect(
      (await from(other, { repository: "other", limit: "2" })).files.sort(),
      "as many as are wanted",
    ).toEqual(["other a.md", "other b.md"])
    const out = await ask(where, "zebra")
    expect(out).toMatch(/^1\. .*repository main(.*\n)+2\. .*repository main(.*\n)+3\. .*b\.md/)
    expect(out).toContain("Note: 2 passages left out")
  })

  test("reads what was committed since", async () => {
    const where = documentedWorld()
    await search(where, QUESTION)
    const files = { "docs/refunds.md": "# Refunds\n\nMoney comes back within a fortnight.\n" }
    commitFiles(where.repositoryPath, files)
    expect((await search(where, "when does money come back")).results[0]?.file).toBe("docs/refunds.md")
  })

  test("says how much more there is, what was not found, and what could not be searched", async () => {
    const where = documentedWorld()
    for (const number of [1, 2, 3])
      commitFiles(where.repositoryPath, {
        [`more/${number}.md`]: `# Part ${number}\n\nZebra number ${number}.\n`,
      })
    expect(await ask(where, "zebra", { limit: "2" })).toMatch(/\n\n2 shown of 3 matches; /)
    const other = newRepository(where, "other", DOCS)
    await run(() => addRepositoryCommand(configIn(where), other, { json: true }))
    renameSync(other, `${other}-away`)
    expect(await ask(where, "zebra")).toMatch(/\nNote: other: .* is no longer there/)
    expect((await search(where, "zebra")).meta.notes?.[0]).toContain("is no longer there")
    const empty = presentWorld()
    expect(await ask(empty, "anything at all")).toContain("Nothing was found. Try other words.\nNote: ")
  })

  test.each([
    ["query must not be blank", " ", {}],
    ["query must have at most 500 characters (got 501)", "x".repeat(501), {}],
    ["limit must be at least 1", "x", { limit: "0" }],
    ["limit must be at most 20", "x", { limit: "21" }],
    ["limit must be a number", "x", { limit: "many" }],
    ["limit must be a number", "x", { limit: "1.5" }],
    ["branch must have at least 1 character", "x", { branch: "" }],
  ])("refuses by the rules of REST: %s", async (text, query, options) => {
    const where = documentedWorld()
    expect(await refusal("invalid", () => searchDocsCommand(configIn(where), [query], options))).toContain(
      text,
    )
    const repositories = await runJson(() => listRepositoriesCommand(configIn(where), { json: true }))
    expect(repositories).toEqual([])
  })

  test("takes what the rules of REST just allow", async () => {
    const where = documentedWorld()
    for (const [query, options] of [
      ["x".repeat(500), { limit: "1" }],
      ["😀".repeat(500), { limit: "20" }],
    ] as const)
      expect((await search(where, query, options)).meta.cached).toBe(false)
  })

  test("shows signs in the place of what a terminal would obey", async () => {
    const where = presentWorld()
    const evil = "\u001b[2J\u0007\u009b\u202e"
    commitFiles(where.repositoryPath, { [`a${evil}.md`]: `# Zebra ${evil}\n\nThe zebra ${evil} runs.\r\n` })
    const out = await ask(where, "zebra")
    expect(out).toContain("␛[2J␇")
    expect(out.replace(/\n/g, "")).not.toMatch(/[\p{Cc}\u202e]/u)
  })
})

describe("while another process is indexing", () => {
  test("a first search waits and shows how far that is, and Ctrl+C has it answer from what is there", async () => {
    const where = documentedWorld()
    await run(() => addRepositoryCommand(configIn(where), ".", { sync: false, json: true }))
    const other = await otherProcess(where)
    const said = listenToStderr()
    const work = run(() => searchDocsCommand(configIn(where), [QUESTION], {}))
    await expect.poll(() => said.text).toContain("4 of 40 files")
    process.emit("SIGINT")
    const { out, error } = await work
    expect(error).toBeUndefined()
    expect(said.text).toContain("Stopped reading; `signalbox repos sync` goes on.")
    expect(out).toContain("Note: repository: it is being indexed")
    other.close()
    expect((await search(where, QUESTION)).results[0]?.file).toBe("docs/limits.md")
  })

  test("a search of what was read once answers at once", async () => {
    const where = documentedWorld()
    await search(where, QUESTION)
    commitFiles(where.repositoryPath, { "new.md": "# New\n\nNews.\n" })
    const other = await otherProcess(where)
    expect((await search(where, QUESTION)).results[0]?.file).toBe("docs/limits.md")
    other.close()
    expect((await search(where, "news")).results[0]?.file).toBe("new.md")
  })
})

test("a configured key searches its own repositories and nothing else", async () => {
  const where = documentedWorld()
  const other = newRepository(where, "other", { "guide.md": LIMITS })
  for (const target of [".", other])
    await run(() => addRepositoryCommand(configIn(where), target, { json: true }))
  const app = await server(where, "one")
  const keyFor = async (...scopes: string[]) => {
    const request = { name: "k", plan: "starter", expiresAtMs: null, environment: "live" } as const
    return { env: { SIGNALBOX_API_KEY: (await createKey(app, { ...request, scopes })).text } }
  }
  const own = await keyFor("repo:2:documentation")
  const found = await search(where, QUESTION, {}, own)
  expect(new Set(found.results.map(({ repository }) => repository))).toEqual(new Set(["other"]))
  for (const repository of ["1", "repository", "unknown"])
    await refusal("forbidden", () => searchDocsCommand(configIn(where, own), ["x"], { repository }))
  for (const scope of ["repo:1:memory", "admin"]) {
    const config = configIn(where, await keyFor(scope))
    await refusal("forbidden", () => searchDocsCommand(config, ["x"], {}))
  }
  expect(await app.db.all("SELECT * FROM rate_buckets"), "the command line is not counted").toEqual([])
})

describe("words of the question", () => {
  const marked = (query: string, text: string) =>
    emphasized(text, new Set(indexTermsOf(queryTermsOf(query))), (word) => `<${word}>`)

  test.each([
    ["rate limits", "The Rate of limiting, and a limit.", "The <Rate> of <limiting>, and a <limit>."],
    ["the limit", "the limit", "the <limit>"],
    ["get_user_name", "Call `getUserName()`, not get_user.", "Call `<getUserName>()`, not <get>_<user>."],
    ["--dry-run", "Use --dry-run or --dry.", "Use <--dry-run> or <--dry>."],
    ["token", "A token-based login.", "A <token>-based login."],
    ["zebra", "", ""],
  ])("of %j are marked in %j", (query, text, expected) => {
    expect(marked(query, text)).toBe(expected)
  })

  test("are all that is ever added to a text", () => {
    fc.assert(
      fc.property(fc.string({ unit: "grapheme" }), fc.string({ unit: "grapheme" }), (query, text) => {
        const terms = new Set(indexTermsOf(queryTermsOf(query)))
        expect(emphasized(text, terms, (word) => word)).toBe(text)
      }),
    )
  })
})

test("a place is a link where a terminal can open one, and only to a clean address", () => {
  const url = "https://example.com/a%20b#L1-L2"
  expect(hyperlink("a:1-2", url, true)).toBe(`\u001b]8;;${url}\u001b\\a:1-2\u001b]8;;\u001b\\`)
  expect(hyperlink("a:1-2", url, false)).toBe("a:1-2")
  for (const evil of [
    "https://example.com/\u001b\\",
    "https://example.com/a b",
    "https://example.com/\u0007é",
  ])
    expect(hyperlink("a:1-2", evil, true)).toBe("a:1-2")
})
