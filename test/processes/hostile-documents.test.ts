/** Owns that a server whose repository is full of hostile documents reports them, finds the others and goes on answering. */

import { execFileSync } from "node:child_process"
import { expect, test, vi } from "vitest"
import { BRANCH_DOCUMENTS_MAX } from "../../src/config/limits.ts"
import { commitFiles, git } from "../support/documentation.ts"
import { place, ServerProcess } from "../support/server-process.ts"

const env = { SIGNALBOX_PORT: "0" }
const READ_MS_MAX = 120_000

/** Waits until the tool that lists repositories says something; each call is answered meanwhile. */
function listedWith(server: ServerProcess, text: RegExp): Promise<string> {
  return vi.waitFor(
    async () => {
      const listed = await server.call("list-repositories", {})
      expect(listed).toMatch(text)
      return listed
    },
    { timeout: READ_MS_MAX, interval: 500 },
  )
}

test("documents that take too much are reported and the others found, by whoever is asked", async () => {
  const where = place()
  commitFiles(where.repository, {
    "fine.md": "# Fine\n\nZebras run.\n",
    "headings.md": "# a\n".repeat(3_900_000),
    "sections.md": "# a\n".repeat(10_001),
    "table.md": `| a | b |\n| - | - |\n${"| a | b |\n".repeat(20_000)}`,
  })
  const server = await ServerProcess.start(where, { env })
  const first = await server.call("search-documentation", { query: "zebras" })
  expect(first).toMatch(/Zebras run|is being indexed/)
  const listed = await listedWith(server, /State: searchable$/m)
  expect(listed).toMatch(/^- left out: headings\.md is too large: it takes more than \d+ /m)
  expect(listed).toMatch(/^- left out: sections\.md is too large: it has 10001 passages/m)
  expect(listed).not.toContain("table.md")
  expect(await server.call("search-documentation", { query: "zebras" })).toContain("### fine.md:")
  await server.stop()
}, 180_000)

test("a tree of ten million documents is reported as too large, and what was read before is still found", async () => {
  const where = place()
  commitFiles(where.repository, { "fine.md": "# Fine\n\nZebras run.\n" })
  const server = await ServerProcess.start(where, { env })
  await server.call("search-documentation", { query: "zebras" })
  await listedWith(server, /State: searchable$/m)
  const mktree = (names: string[]) =>
    execFileSync("git", ["-C", where.repository, "mktree"], {
      encoding: "utf8",
      input: names.join(""),
    }).trim()
  const numbered = (entry: string) =>
    Array.from({ length: 3_163 }, (_, at) => `${entry}\t${String(at).padStart(5, "0")}.md\n`)
  const blob = git(where.repository, "rev-parse", "HEAD:fine.md")
  const files = mktree(numbered(`100644 blob ${blob}`))
  const folders = mktree(numbered(`040000 tree ${files}`))
  git(where.repository, "update-ref", "HEAD", git(where.repository, "commit-tree", "-m", "Tree", folders))
  const most = BRANCH_DOCUMENTS_MAX.toLocaleString("en-US")
  await listedWith(
    server,
    new RegExp(`left out: \\. is too large to be searched: it has more than ${most} documents`),
  )
  const found = await server.call("search-documentation", { query: "zebras" })
  expect(found).toContain("### fine.md:")
  expect(found).toContain("is too large to be searched")
  await server.stop()
}, 180_000)
