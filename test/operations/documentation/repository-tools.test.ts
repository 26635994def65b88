/** The tools that list and connect repositories, and who may call which tool on documentation. */

import { mkdirSync, symlinkSync } from "node:fs"
import { join } from "node:path"
import { pathToFileURL } from "node:url"
import { describe, expect, onTestFinished, test } from "vitest"
import { openProcessLock } from "../../../src/db/process-lock.ts"
import type { IndexingWork } from "../../../src/domain/documentation/documentation.ts"
import { connectRepository } from "../../../src/operations/documentation/repositories.ts"
import { createKey } from "../../../src/operations/keys.ts"
import { putIndexingProblem, putIndexingWork } from "../../../src/store/documentation/documentation.ts"
import {
  commitFiles,
  connectAndIndex,
  DOCS,
  git,
  type IndexedSession,
  indexedSession,
  LIMITS,
  newRepository,
  QUESTION,
  writeFiles,
} from "../../support/documentation.ts"
import { numberAfter, type Session, START_MS, textAfter, world } from "../../support/world.ts"

const INDEX_TIME = new Date(START_MS).toISOString()

async function withScopes({ made, session }: IndexedSession, ...scopes: string[]): Promise<Session> {
  const request = { name: "test", environment: "live", plan: "starter", expiresAtMs: null, scopes } as const
  return made.session({ apiKey: (await createKey(session.app, request)).text })
}

describe("list-repositories", () => {
  test("shows ids, roots, branches with what is searched of them, and what is left out", async () => {
    const made = world()
    commitFiles(made.repositoryPath, DOCS)
    symlinkSync("limits.md", join(made.repositoryPath, "docs/link.md"))
    const commit = commitFiles(made.repositoryPath, {})
    git(made.repositoryPath, "branch", "stable", "HEAD~1")
    const session = await made.session()
    await connectAndIndex(session, made.repositoryPath, "stable")
    const stable = git(made.repositoryPath, "rev-parse", "stable")
    expect(await session.call("list-repositories", {})).toBe(
      [
        "# Repositories",
        "",
        "Connected: 1",
        "### repository",
        "Repository id: 1",
        `Root: ${made.repositoryPath}`,
        `Branch: main (default), 2 files, 2 chunks, commit ${commit.slice(0, 12)}, indexed ${INDEX_TIME}`,
        "- left out: docs/link.md is a symbolic link, which is not followed",
        `Branch: stable, 2 files, 2 chunks, commit ${stable.slice(0, 12)}, indexed ${INDEX_TIME}`,
        "State: searchable",
      ].join("\n"),
    )
  })

  test("names at most ten files that are left out, and counts the others", async () => {
    const made = world()
    mkdirSync(join(made.repositoryPath, "docs"))
    for (let index = 10; index < 23; index += 1)
      symlinkSync("x", join(made.repositoryPath, `docs/link${index}.md`))
    commitFiles(made.repositoryPath, DOCS)
    const session = await made.session()
    await connectAndIndex(session, made.repositoryPath)
    const text = await session.call("list-repositories", {})
    expect(text.match(/^- left out: docs\/link\d\d\.md /gm)).toHaveLength(10)
    expect(text).toMatch(/^- left out: 3 more files$/m)
  })

  test("shows those of the key and no others, and one that is named", async () => {
    const here = await indexedSession(DOCS)
    await connectAndIndex(here.session, newRepository(here.made, "other", { "guide.md": LIMITS }))
    const ids = (text: string) => [...text.matchAll(/^Repository id: (\d+)$/gm)].map(([, id]) => id)
    expect(ids(await here.session.call("list-repositories", {}))).toEqual(["1", "2"])
    expect(ids(await here.session.call("list-repositories", { repository: "other" }))).toEqual(["2"])
    const bound = await withScopes(here, "repo:2:documentation")
    const text = await bound.call("list-repositories", {})
    expect(ids(text)).toEqual(["2"])
    expect(text).not.toContain(here.made.repositoryPath)
    for (const repository of ["1", "repository", "99", "none"])
      expect(await bound.fail("list-repositories", { repository })).toContain("insufficient permissions")
  })

  test("tells what is being done with a repository, what keeps it from that, and what is found by words alone", async () => {
    const { session } = await indexedSession(DOCS)
    const { db } = session.app
    const state = async () => textAfter(await session.call("list-repositories", {}), "State")
    const put = (work: Partial<IndexingWork>) =>
      db.transaction("test", (tx) =>
        putIndexingWork(tx, 1, {
          phase: "reading",
          branch: "main",
          done: 3,
          total: 9,
          updatedAtMs: START_MS,
          ...work,
        }),
      )
    await put({})
    expect(await state()).toBe("reading main, 3 of 9 files")
    await put({ updatedAtMs: START_MS - 60_001 })
    expect(await state(), "what a process that was killed has left").toBe("searchable")
    await put({ phase: "embedding", branch: null })
    expect(await state()).toBe("embedding, 3 of 9 chunks")
    await db.transaction("test", async (tx) => {
      await putIndexingWork(tx, 1, null)
      await putIndexingProblem(tx, 1, "it\n### cannot be read")
      await tx.run("UPDATE documentation_blobs SET model_id = NULL")
    })
    expect(await state()).toBe("searchable; 2 chunks found by words alone for now")
    expect(textAfter(await session.call("list-repositories", {}), "Problem")).toBe("it ⏎ ### cannot be read")
  })

  test("says when none is connected, and that one was never searched", async () => {
    const made = world()
    const outside = join(made.folder, "outside")
    mkdirSync(outside)
    const session = await made.session({ workingFolder: outside })
    expect(await session.call("list-repositories", {})).toBe(
      "# Repositories\n\nNone is connected. connect-repository connects one.",
    )
    const inside = await made.session()
    expect(textAfter(await inside.call("list-repositories", {}), "State")).toContain("not searched yet")
  })
})

describe("connect-repository", () => {
  test("connects a repository and says what is searchable of it", async () => {
    const { made, session } = await indexedSession(DOCS)
    const folder = newRepository(made, "other", { "guide.md": LIMITS })
    git(folder, "branch", "stable")
    const commit = git(folder, "rev-parse", "--short=12", "HEAD")
    const args = { path_or_url: folder, name: "The Other", branches: ["stable"] }
    const text = await session.call("connect-repository", args)
    expect(text).toBe(
      [
        "# Repository connected",
        "",
        "Name: The Other",
        "Repository id: 2",
        `Root: ${folder}`,
        `Branch: main (default), 1 file, 1 chunk, commit ${commit}, indexed ${INDEX_TIME}`,
        `Branch: stable, 1 file, 1 chunk, commit ${commit}, indexed ${INDEX_TIME}`,
        "State: searchable",
        "Call search-documentation to search it.",
      ].join("\n"),
    )
    expect(await session.call("connect-repository", args)).toBe(text)
    const found = await session.call("search-documentation", { query: QUESTION, repository: "The Other" })
    expect(found).toContain("### guide.md:1-3")
  })

  test("says so when another process is indexing", async () => {
    const { made, session } = await indexedSession(DOCS)
    const lock = openProcessLock(`${made.databasePath}.indexing.lock`)
    onTestFinished(() => lock.close())
    expect(lock.tryTake()).toBe(true)
    const path_or_url = newRepository(made, "other", { "guide.md": LIMITS })
    const text = await session.call("connect-repository", { path_or_url })
    expect(textAfter(text, "Branch")).toBe("main (default), not read yet")
    expect(textAfter(text, "State")).toBe("waits to be read")
    expect(text).toMatch(/\nAnother process is indexing .*list-repositories shows how far it is\.$/)
  })

  test("takes a folder without git that a person has connected, and clones a URL", async () => {
    const { made, session } = await indexedSession(DOCS)
    const folder = join(made.folder, "plain")
    writeFiles(folder, { "guide.md": LIMITS })
    expect(await session.fail("connect-repository", { path_or_url: folder })).toContain(`repos add ${folder}`)
    await connectRepository(session.app, { target: folder })
    const plain = await session.call("connect-repository", { path_or_url: folder })
    expect(textAfter(plain, "Branch")).toBe(`working-tree (default), 1 file, 1 chunk, indexed ${INDEX_TIME}`)
    const origin = newRepository(made, "origin", { "guide.md": LIMITS })
    const cloned = await session.call("connect-repository", {
      path_or_url: pathToFileURL(origin).href,
      name: "clone",
    })
    expect(numberAfter(cloned, "Repository id")).toBe(3)
    expect(textAfter(cloned, "Root")).not.toBe(origin)
    expect(textAfter(cloned, "Fetched")).toMatch(/^\d{4}-\d\d-\d\dT/)
    expect(textAfter(cloned, "Branch")).toMatch(/^main \(default\), 1 file, 1 chunk, commit /)
    const found = await session.call("search-documentation", { query: QUESTION, repository: "clone" })
    expect(found).toContain("### guide.md:1-3")
  })

  test.each<[args: Record<string, unknown>, text: string]>([
    [{}, "path_or_url is required (a string)"],
    [{ path_or_url: "docs" }, "path_or_url must be an absolute path, or the URL of a git repository"],
    [
      { path_or_url: "--upload-pack=x" },
      "path_or_url must be an absolute path, or the URL of a git repository",
    ],
    [{ path_or_url: "/", name: "12" }, "name must not be a number, which names an id"],
    [{ path_or_url: "/", name: "a\nb" }, "name must not contain control characters"],
    [{ path_or_url: "/", name: "x".repeat(256) }, "name must have at most 255 characters (got 256)"],
    [{ path_or_url: "/", branches: Array(51).fill("b") }, "branches must have at most 50 entries (got 51)"],
    [{ path_or_url: "/", branches: "main" }, 'branches must be an array (got "main")'],
    [{ path_or_url: `/${"x".repeat(4_096)}` }, "path_or_url must have at most 4,096 characters (got 4,097)"],
    [{ path_or_url: "/nowhere/at/all" }, "/nowhere/at/all is not a folder. Name an existing folder."],
  ])("refuses %j and connects nothing", async (args, text) => {
    const { session } = await indexedSession(DOCS)
    expect(await session.fail("connect-repository", args)).toContain(`Failed to connect repository: ${text}`)
    expect(textAfter(await session.call("list-repositories", {}), "Connected")).toBe("1")
  })

  test("refuses a name that another one has, and a branch that there is none of", async () => {
    const { made, session } = await indexedSession(DOCS)
    const path_or_url = newRepository(made, "other", { "guide.md": LIMITS })
    expect(await session.fail("connect-repository", { path_or_url, name: "repository" })).toContain(
      'the name "repository" belongs to ',
    )
    expect(await session.fail("connect-repository", { path_or_url, branches: ["mian"] })).toContain(
      'branch "mian" was not found; known are: main.',
    )
  })
})

describe("a key", () => {
  test.each(["repo:1:documentation", "repo:1:coordination", "repo:1:memory"])(
    "of scope %s may not connect repositories",
    async (scope) => {
      const here = await indexedSession(DOCS)
      const path_or_url = newRepository(here.made, "other", { "guide.md": LIMITS })
      const text = await (await withScopes(here, scope)).fail("connect-repository", { path_or_url })
      expect(text).toMatch(
        /^Failed to connect repository: insufficient permissions; required scope: admin\. Ask your user/,
      )
      expect(textAfter(await here.session.call("list-repositories", {}), "Connected")).toBe("1")
    },
  )

  test.each(["admin", "*"])("of scope %s may connect repositories", async (scope) => {
    const here = await indexedSession(DOCS)
    const path_or_url = newRepository(here.made, "other", { "guide.md": LIMITS })
    const text = await (await withScopes(here, scope)).call("connect-repository", { path_or_url })
    expect(numberAfter(text, "Repository id")).toBe(2)
  })

  test.each(["admin", "repo:1:coordination", "repo:1:memory"])(
    "of scope %s may not search or list documentation",
    async (scope) => {
      const bound = await withScopes(await indexedSession(DOCS), scope)
      for (const [tool, args] of [
        ["search-documentation", { query: "x" }],
        ["list-repositories", {}],
      ] as const)
        expect(await bound.fail(tool, args)).toContain(
          "insufficient permissions; required scope: repo:{repository_id}:documentation",
        )
    },
  )

  test("for one repository searches that one alone", async () => {
    const here = await indexedSession(DOCS)
    await connectAndIndex(here.session, newRepository(here.made, "other", { "guide.md": LIMITS }))
    const bound = await withScopes(here, "repo:2:documentation")
    const text = await bound.call("search-documentation", { query: QUESTION, limit: 20 })
    expect(textAfter(text, "Repository")).toBe("other, branch main")
    for (const repository of ["repository", "1", "none", "99"])
      expect(await bound.fail("search-documentation", { query: QUESTION, repository })).toContain(
        "insufficient permissions",
      )
  })

  test("takes its calls out of the documentation API's requests, not out of the tool calls", async () => {
    const made = world({ limits: true })
    commitFiles(made.repositoryPath, DOCS)
    const session = await made.session()
    await connectAndIndex(session, made.repositoryPath)
    const bound = await withScopes({ made, session }, "*")
    for (let count = 0; count < 98; count += 1) await bound.fail("search-documentation", {})
    await bound.fail("connect-repository", {})
    await bound.call("list-repositories", {})
    for (const tool of ["search-documentation", "list-repositories", "connect-repository"])
      expect(await bound.fail(tool, {})).toMatch(
        /rate limit exceeded: documentation requests, .*Try again in 60 s\./,
      )
    await bound.register("Ada")
    made.advance(60_000)
    await bound.call("search-documentation", { query: QUESTION })
  })
})
