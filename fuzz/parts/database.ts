/** Database files that are damaged, cut off, or something else altogether: opened, used, checked and restored. */

import { readFileSync, writeFileSync } from "node:fs"
import fc from "fast-check"
import { openApp } from "../../src/app.ts"
import { readConfig } from "../../src/config/config.ts"
import { backUp, restore } from "../../src/db/backup.ts"
import { checkHealth } from "../../src/db/health.ts"
import { SCHEMA_VERSION } from "../../src/db/migrations.ts"
import { AppError } from "../../src/errors.ts"
import { callOperation } from "../../src/operations/call.ts"
import { OPERATIONS } from "../../src/operations/index.ts"
import { createLog } from "../../src/runtime/log.ts"
import { definePart, Fault } from "../support/part.ts"
import type { Room } from "../support/room.ts"
import { requireDiscreet } from "../support/texts.ts"

const PAGE_BYTES = 4_096
const NOISE_BYTES = 64

/** A change of the file; places are taken modulo its size. */
export interface Damage {
  kind: "flip" | "page-head" | "header" | "zero-page" | "noise" | "cut" | "swap" | "foreign" | "log"
  at: number
  value: number
}

const FOREIGN = [
  "",
  "\0",
  "SQLite format 3\0",
  "not a database",
  "\u007fELF",
  "PK\u0003\u0004",
  "{}",
  `SQLite format 3\0${"\0".repeat(9_000)}`,
  "x".repeat(100_000),
]

export const damages: fc.Arbitrary<Damage[]> = fc.array(
  fc.record({
    kind: fc.constantFrom(
      "flip",
      "flip",
      "flip",
      "page-head",
      "page-head",
      "header",
      "zero-page",
      "noise",
      "cut",
      "swap",
      "foreign",
      "log",
    ),
    at: fc.nat(),
    value: fc.nat(255),
  }),
  { minLength: 1, maxLength: 12 },
) as fc.Arbitrary<Damage[]>

/** Damages the file at a path, and the log beside it. */
export function damage(path: string, all: readonly Damage[]): void {
  let bytes = readFileSync(path)
  for (const { kind, at, value } of all) {
    const page = (at % Math.max(1, Math.floor(bytes.length / PAGE_BYTES))) * PAGE_BYTES
    const place =
      { flip: at, noise: at, header: at % 100, "page-head": page + (value % 12) }[kind as string] ?? 0
    if (kind === "cut") bytes = bytes.subarray(0, at % (bytes.length + 1))
    else if (kind === "foreign") bytes = Buffer.from(FOREIGN[at % FOREIGN.length] ?? "", "latin1")
    else if (kind === "log") writeFileSync(`${path}-wal`, bytes.subarray(0, at % (bytes.length + 1)))
    else if (kind === "zero-page") bytes.subarray(page, page + PAGE_BYTES).fill(0)
    else if (kind === "swap")
      bytes.copyWithin(page, (at >> 3) % (bytes.length + 1), ((at >> 3) % (bytes.length + 1)) + PAGE_BYTES)
    else if (kind === "noise")
      bytes
        .subarray(place % (bytes.length + 1))
        .subarray(0, NOISE_BYTES)
        .fill(value)
    else if (bytes.length > 0)
      bytes[place % bytes.length] = (bytes[place % bytes.length] ?? 0) ^ (1 << (value & 7))
  }
  writeFileSync(path, bytes)
}

const CALLS: readonly (readonly [tool: string, args: object])[] = [
  ["list-agents", { project_key: "demo" }],
  ["register-agent", { project_key: "demo", program: "fuzz", model: "none", name_hint: "Erin" }],
  ["fetch-inbox", { agent_name: "Bob", project_id: 1, include_bodies: true }],
  [
    "send-message",
    { sender_name: "Alice", project_id: 1, to_agent_ids: [3], subject: "Plan", body_md: "Go on." },
  ],
  ["search-messages", { project_id: 1, query: "lever" }],
  ["summarize-thread", { project_id: 1, thread_id: "planning" }],
  [
    "reserve-file-paths",
    { agent_id: 2, repository_id: 1, coordination_project_id: 1, path_pattern: "README.md" },
  ],
  ["list-file-reservations", { coordination_project_id: 1 }],
  ["search-memories", { repository_id: 1, query: "lever", expand_waypoints: true }],
  ["create-memory", { repository_id: 1, content: "A stuck lever needs oil." }],
  ["search-documentation", { query: "rate limits" }],
]

export const database = definePart<Damage[]>({
  name: "database",
  weight: 7,
  batch: 40,
  async open(makeRoom) {
    const room = await makeRoom()
    return {
      inputs: damages,
      begin: async () => ({ run: (all) => use(room, all), end: async () => {} }),
    }
  },
})

async function use(room: Room, all: readonly Damage[]): Promise<number> {
  const path = room.databaseCopy()
  const copy = room.databaseCopy()
  try {
    damage(path, all)
    damage(copy, all)
    await expected("doctor", () => checkHealth(copy, 500))
    const terms = { knownVersion: SCHEMA_VERSION, hint: "Restore a backup." }
    await expected("backup", async () => backUp(copy, `${copy}.backup`, { ...terms, replaces: true }))
    const whole = room.databaseCopy()
    const kept = { kept: `${whole}.kept`, nowMs: 0, isInUse: false }
    await expected("restore", async () => restore(copy, whole, { ...terms, ...kept }))
    room.discard(whole)
    return 3 + (await call(room, path))
  } finally {
    room.discard(path)
    room.discard(copy)
  }
}

/** Opens the database as a server does and calls tools; what is damaged is told as such. */
async function call(room: Room, path: string): Promise<number> {
  const logged: string[] = []
  const env = { SIGNALBOX_DB: path, SIGNALBOX_SESSION: "fuzzed", SIGNALBOX_LIMITS: "off" }
  const config = readConfig({ env, home: room.home, workingFolder: room.repository })
  const log = createLog("error", (line) => logged.push(line))
  const opened = await expected("opening", () =>
    openApp(config, { log, clientProcesses: [], builtin: room.builtin }),
  )
  if (opened === undefined) return 1
  try {
    for (const [tool, args] of CALLS) {
      const operation = OPERATIONS.find(({ name }) => name === tool)
      if (operation !== undefined) await answered(tool, () => callOperation(opened, operation, args))
    }
  } finally {
    await expected("closing", () => opened.app.close())
  }
  return 1 + CALLS.length
}

/**
 * Calls a tool on a damaged database. Rows that are gone and columns of another name look like defects of ours, which
 * its server logs and shows bland; what SQLite finds damaged it has to say.
 */
async function answered(tool: string, work: () => Promise<unknown>): Promise<void> {
  try {
    await expected(tool, work)
  } catch (error) {
    const { code } = error as { code?: unknown }
    const isFound = typeof code === "string" && code.startsWith("SQLITE_") && code !== "SQLITE_ERROR"
    if (isFound || error instanceof Fault) throw error
  }
}

/** Runs something on a damaged database; fails when that ends in anything but an answer or an error for its user. */
async function expected<T>(what: string, work: () => Promise<T>): Promise<T | undefined> {
  try {
    return await work()
  } catch (error) {
    if (!(error instanceof AppError)) throw error
    requireDiscreet(error.text, what)
    return undefined
  }
}
