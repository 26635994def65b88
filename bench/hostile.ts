/** Reading documents and trees that were made to take all there is, beside a server that answers meanwhile. */

import { execFile, execFileSync } from "node:child_process"
import { readdirSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { setTimeout as wait } from "node:timers/promises"
import { promisify } from "node:util"
import { KeptClient } from "./support/kept-client.ts"
import type { Lab } from "./support/lab.ts"
import { median } from "./support/numbers.ts"
import { type Finding, ms, plainFinding } from "./support/report.ts"
import { ServeProcess } from "./support/serve-process.ts"
import type { Launch } from "./support/stdio-client.ts"
import { runWatched, usageOf } from "./support/watched-process.ts"

const BYTES = 15_600_000
const TREE_ENTRIES = 10_000_000
const ASKED_EVERY_MS = 10
const READ_MS_MAX = 300_000
const MEGABYTE = 1_000_000
const GOAL_HEALTH_MS_MAX = 50
const GOAL_PEAK_MEGABYTES_MAX = 600

const many = (text: string, bytes = BYTES) => text.repeat(Math.floor(bytes / text.length))
const DOCUMENTS: Readonly<Record<string, () => string>> = {
  "headings.md": () => many("# a\n"),
  "paragraphs.md": () => many("a\n\n", 4_000_000),
  "rules.md": () => many("a\n=\n"),
  "quotes.md": () => many(`${"> ".repeat(400)}a\n`),
  "lists.md": () => many(Array.from({ length: 200 }, (_, depth) => `${"  ".repeat(depth)}- a\n`).join("")),
  "table.md": () => `| a | b |\n| - | - |\n${many("| a | b |\n")}`,
  "titles.rst": () => many("a\n=\n\n"),
  "blocks.adoc": () => many("====\n"),
  "deep.html": () => many("<ul>\n<li>a\n"),
  "cells.ipynb": () =>
    `{"nbformat":4,"cells":[${Array(250_000).fill('{"cell_type":"markdown","source":"# a"}').join(",\n")}]}`,
}

export const note = `**hostile.** \`signalbox serve\` on a repository with ${Object.keys(DOCUMENTS).length} documents of up to 15.6 MB that were made to take all there is (very many headings, short paragraphs, nested quotes and lists, tables, titles, blocks, cells) and one that is not, and on another whose tree has ${TREE_ENTRIES.toLocaleString("en-US")} files. It has them read from its start; every ${ASKED_EVERY_MS} ms /healthz is asked over a kept connection until it has nothing more to read. Beside its answers, the peak of the resident memory of the server and of the largest of the processes that read for it (git apart), looked at every 50 ms. Times are those of the client, so that a machine that does much else shows in them.`

export async function run(lab: Lab): Promise<Finding[]> {
  const documents = documentsRepository(lab)
  const tree = treeRepository(lab)
  return [
    ...(await measure(lab, "documents", documents)),
    ...(await measure(lab, "tree of 10,000,000", tree)),
  ]
}

function documentsRepository(lab: Lab): string {
  const root = lab.workTree()
  writeFileSync(join(root, "fine.md"), "# Fine\n\nZebras run.\n")
  for (const [name, text] of Object.entries(DOCUMENTS)) writeFileSync(join(root, name), text())
  git(root, "add", "--all")
  git(root, "commit", "--quiet", "--message", "Documents")
  return root
}

/** One folder of 1,000 files in each of 10,000 others, which are one object. */
function treeRepository(lab: Lab): string {
  const root = lab.workTree()
  const object = ["-C", root, "hash-object", "-w", "--stdin"]
  const blob = execFileSync("git", object, { encoding: "utf8", input: "int a;\n" }).trim()
  const names = (count: number, entry: string) =>
    Array.from({ length: count }, (_, at) => `${entry}\t${String(at).padStart(5, "0")}.c\n`).join("")
  const files = mktree(root, names(1_000, `100644 blob ${blob}`))
  const folders = mktree(root, names(TREE_ENTRIES / 1_000, `040000 tree ${files}`))
  git(root, "update-ref", "HEAD", git(root, "commit-tree", "-m", "Tree", folders))
  return root
}

function git(root: string, ...args: string[]): string {
  const who = ["-c", "user.name=Bench", "-c", "user.email=bench@example.com"]
  return execFileSync("git", ["-C", root, ...who, ...args], { encoding: "utf8" }).trim()
}

function mktree(root: string, input: string): string {
  return execFileSync("git", ["-C", root, "mktree"], { encoding: "utf8", input }).trim()
}

async function measure(lab: Lab, what: string, root: string): Promise<Finding[]> {
  const databasePath = lab.path("signalbox.db")
  const launch = lab.ours(databasePath, root)
  await runWatched(launch, ["repos", "add", root, "--no-sync"])
  const server = await ServeProcess.start(launch, databasePath)
  const { pid, url } = server.record
  const client = new KeptClient(url, server.key)
  const times: number[] = []
  const peaks = { server: 0, reader: 0 }
  const sampler = setInterval(() => {
    for (const child of nodesBelow(pid)) peaks.reader = Math.max(peaks.reader, usageOf(child)?.peakBytes ?? 0)
    peaks.server = Math.max(peaks.server, usageOf(pid)?.peakBytes ?? 0)
  }, 50)
  const untilMs = performance.now() + READ_MS_MAX
  let state = await stateOf(launch)
  try {
    for (let asked = 1; isUnread(state) && performance.now() < untilMs; asked += 1) {
      const fromMs = performance.now()
      await client.ask("GET", "/healthz")
      times.push(performance.now() - fromMs)
      await wait(ASKED_EVERY_MS)
      if (asked % 200 === 0) state = await stateOf(launch)
    }
  } finally {
    clearInterval(sampler)
    client.close()
    await server.close()
  }
  if (isUnread(state)) throw new Error(`${what} is not read after ${READ_MS_MAX} ms`)
  const max = Math.max(...times)
  return [
    plainFinding(`hostile: ${what}, /healthz, median`, ms(median(times))),
    plainFinding(
      `hostile: ${what}, /healthz, longest`,
      ms(max),
      `<= ${ms(GOAL_HEALTH_MS_MAX)}`,
      max <= GOAL_HEALTH_MS_MAX,
    ),
    peakFinding(`hostile: ${what}, memory of the server`, peaks.server / MEGABYTE),
    peakFinding(`hostile: ${what}, memory of what reads`, peaks.reader / MEGABYTE),
  ]
}

/** What can be found in the one repository; see `repos list`. */
async function stateOf({
  args,
  cwd,
  env,
}: Launch): Promise<{ state: string; chunks_without_vector: number }> {
  const command = [...args, "repos", "list", "--json"]
  const { stdout } = await promisify(execFile)(process.execPath, command, { cwd, env })
  const [listed] = JSON.parse(stdout) as [{ state: string; chunks_without_vector: number }]
  return listed
}

function isUnread({ state, chunks_without_vector: waiting }: Awaited<ReturnType<typeof stateOf>>): boolean {
  return state === "waiting" || state === "indexing" || waiting > 0
}

/** The ids of the processes of Node below another one; none where the system has no /proc. */
function nodesBelow(root: number): number[] {
  const below = new Set([root])
  const found: number[] = []
  const pids = readdirSync("/proc").filter((name) => /^\d+$/.test(name))
  for (const pid of pids.map(Number).sort((a, b) => a - b)) {
    try {
      const stat = readFileSync(`/proc/${pid}/stat`, "utf8")
      const parent = Number(stat.slice(stat.lastIndexOf(")") + 2).split(" ")[1])
      if (!below.has(parent)) continue
      below.add(pid)
      if (stat.includes("(node)") || stat.includes("(MainThread)")) found.push(pid)
    } catch {
      // It has just ended.
    }
  }
  return found
}

function peakFinding(what: string, megabytes: number): Finding {
  const isMet = megabytes <= GOAL_PEAK_MEGABYTES_MAX
  return plainFinding(what, `${megabytes.toFixed(0)} MB`, `<= ${GOAL_PEAK_MEGABYTES_MAX} MB`, isMet)
}
