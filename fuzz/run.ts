/**
 * Fuzzes the product: generated input for everything that takes any. Short by default; `--minutes N` goes on for
 * longer, `--seed N` begins with a batch that was reported, `--only part,part` leaves the others out, `--parts file`
 * takes others than ours.
 */

import { randomInt } from "node:crypto"
import { mkdirSync } from "node:fs"
import { join, resolve } from "node:path"
import { pathToFileURL } from "node:url"
import { parseArgs } from "node:util"
import { makeTemporaryFolder, remove } from "../scripts/removal.ts"
import type { Part } from "./support/part.ts"
import { type Finding, type Seen, watch } from "./support/watch.ts"

/** After this nothing new begins; the whole takes a few seconds more. */
const SHORT_MS = 54_000
/** Processes side by side. */
const LANES = 2
const SEED_MAX = 2 ** 31
/** A lane whose processes die so often is given up. */
const RESTARTS_MAX = 30

const CLEAR_TRIES_MAX = 20
const CLEAR_PAUSE_MS = 100

const startMs = Date.now()
const { values } = parseArgs({
  options: {
    minutes: { type: "string" },
    seed: { type: "string" },
    only: { type: "string" },
    parts: { type: "string", default: join(import.meta.dirname, "parts.ts") },
  },
})
const partsUrl = pathToFileURL(resolve(values.parts)).href
const { PARTS } = (await import(partsUrl)) as { PARTS: readonly Part[] }
const names = values.only?.split(",") ?? PARTS.map(({ name }) => name)
const parts = PARTS.filter(({ name }) => names.includes(name))
const seed = values.seed === undefined ? randomInt(SEED_MAX) : Number(values.seed)
const endMs = startMs + (values.minutes === undefined ? SHORT_MS : Number(values.minutes) * 60_000)
if (parts.length !== names.length || !Number.isSafeInteger(seed) || !(endMs > startMs)) {
  const known = PARTS.map(({ name }) => name).join(",")
  console.error(`usage: npm run fuzz -- [--minutes N] [--seed N] [--only ${known}]`)
  process.exit(2)
}

const folder = makeTemporaryFolder()
process.on("SIGINT", () => {
  remove(folder)
  process.exit(130)
})
console.log(`seed ${seed}`)
const seen = new Map<string, Seen>()
const findings: Finding[] = []
await Promise.all(shared(parts).map(runLane))
await clear()
for (const { name } of parts) show(name)
const total = [...seen.values()].reduce((sum, { executions }) => sum + executions, 0)
const tookSeconds = ((Date.now() - startMs) / 1_000).toFixed(0)
console.log(`${total} executions in ${tookSeconds} s, ${findings.length} findings`)
if (findings.length > 0) process.exitCode = 1

/** Shares parts among the lanes, so that these have about the same weight. */
function shared(all: readonly Part[]): Part[][] {
  const lanes = Array.from({ length: Math.min(LANES, all.length) }, (): Part[] => [])
  const weightOf = (lane: readonly Part[]) => lane.reduce((sum, { weight }) => sum + weight, 0)
  for (const part of [...all].sort((one, other) => other.weight - one.weight))
    lanes.sort((one, other) => weightOf(one) - weightOf(other))[0]?.push(part)
  return lanes
}

/** Runs parts until the time is over, in another process when one has died of a finding. */
async function runLane(lane: readonly Part[], index: number): Promise<void> {
  let left = PARTS.filter((part) => lane.includes(part)).map(({ name }) => name)
  let nextSeed = seed
  for (let start = 0; left.length > 0 && start < RESTARTS_MAX; start += 1) {
    const home = join(folder, `${index}-${start}`)
    mkdirSync(join(home, "tmp"), { recursive: true })
    const order = { partsUrl, parts: left, seed: nextSeed, endMs, inputFile: join(home, "input.json") }
    const watched = await watch(order, environmentIn(home), home)
    for (const [name, one] of watched.parts) add(name, one)
    for (const finding of watched.findings) if (!isKnown(finding)) tell(finding)
    if (watched.diedAt === undefined) return
    const { part, seed: diedSeed } = watched.diedAt
    nextSeed = (diedSeed + 1) | 0
    left = left.slice(Math.max(0, left.indexOf(part)))
    if (Date.now() > endMs) left = left.slice(1)
  }
}

/** Removes the folder, in which a process that was just told to end may be writing still. */
async function clear(): Promise<void> {
  for (let tries = 1; ; tries += 1) {
    try {
      remove(folder)
      return
    } catch (error) {
      if (tries === CLEAR_TRIES_MAX) throw error
      await new Promise((resolve) => setTimeout(resolve, CLEAR_PAUSE_MS))
    }
  }
}

/** Nothing of the user's own settings and data is read or written. What a killed process leaves goes with the folder. */
function environmentIn(home: string): NodeJS.ProcessEnv {
  return { PATH: process.env.PATH, HOME: home, TMPDIR: join(home, "tmp"), GIT_CONFIG_NOSYSTEM: "1" }
}

function add(name: string, more: Seen): void {
  const known = seen.get(name) ?? { executions: 0, tookMs: 0, rssBytes: 0 }
  known.executions += more.executions
  known.tookMs += more.tookMs
  known.rssBytes = Math.max(known.rssBytes, more.rssBytes)
  seen.set(name, known)
}

/** Whether the same was found before, with other figures or another input. */
function isKnown({ part, text }: Finding): boolean {
  const kind = (said: string) => said.replace(/\d+|"[^"]*"/g, "").slice(0, 80)
  return findings.some((one) => one.part === part && kind(one.text) === kind(text))
}

function tell(finding: Finding): void {
  findings.push(finding)
  const { part, seed: found, text, input } = finding
  console.error(`\nfound in ${part}, seed ${found}: ${text}\n  input: ${input}`)
  console.error(`  again: npm run fuzz -- --only ${part} --seed ${found}\n`)
}

function show(name: string): void {
  const { executions, tookMs, rssBytes } = seen.get(name) ?? { executions: 0, tookMs: 0, rssBytes: 0 }
  const seconds = tookMs / 1_000
  const rate = seconds === 0 ? 0 : executions / seconds
  const count = findings.filter(({ part }) => part === name).length
  console.log(
    `${name}: ${executions} executions in ${seconds.toFixed(1)} s (${rate.toFixed(0)} a second), ${(rssBytes / 2 ** 20).toFixed(0)} MiB, ${count} findings`,
  )
}
