/**
 * Runs real coding agents, headless, against a model that answers by a script, and prints what works of what
 * signalbox promises them. Installs the pinned clients first, which takes gigabytes and the network; the runs
 * themselves reach nothing but loopback. Fails when a check does.
 */

import { type ChildProcess, spawn } from "node:child_process"
import { once } from "node:events"
import { existsSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { makeTemporaryFolder, remove } from "../scripts/removal.ts"
import { isAskedFor, type Order, readArguments, USAGE } from "./arguments.ts"
import { ROWS, STEP_NAMES, UNDRIVEN } from "./catalogue.ts"
import { install } from "./installation.ts"
import { namespaceWords } from "./namespace.ts"
import { complaintsOf, type Report } from "./report/checks.ts"
import { withTables } from "./report/document.ts"
import { tables } from "./report/table.ts"
import type { Row, RowOrder } from "./scenario/row.ts"

const DOCUMENT = fileURLToPath(new URL("../docs/clients.md", import.meta.url))
const SESSION = fileURLToPath(new URL("session.ts", import.meta.url))

/** What a run with all its steps may take; a client that hangs is ended by its own limit long before. */
const ROW_LIMIT_MS = 15 * 60_000

const order = readOrder()
const rows = ROWS.filter(({ id }) => isAskedFor(id, order.names))
await install(order.folder, [...new Set(rows.flatMap(({ releases }) => releases))])

const namespace = namespaceWords()
if (namespace === undefined)
  console.log(
    "This machine permits no network namespaces: the clients run plainly, and could reach the network.",
  )
const work = makeTemporaryFolder()
let running: ChildProcess | undefined
let isInterrupted = false
process.on("SIGINT", () => {
  isInterrupted = true
  running?.kill("SIGKILL")
})
const reports: Report[] = []
try {
  for (const row of rows) if (!isInterrupted) reports.push(await runApart(row))
} finally {
  discard()
}
if (isInterrupted) process.exit(130)

console.log(`\n${tables(reports)}\n`)
const complaints = reports.flatMap(complaintsOf)
for (const complaint of complaints) console.log(complaint)
if (complaints.length > 0) process.exitCode = 1
if (order.writes) {
  const day = new Date().toISOString().slice(0, 10)
  writeFileSync(DOCUMENT, withTables(readFileSync(DOCUMENT, "utf8"), reports, UNDRIVEN, day))
}

function readOrder(): Order {
  try {
    return readArguments(
      process.argv.slice(2),
      ROWS.map(({ id }) => id),
      STEP_NAMES,
    )
  } catch (error) {
    console.error(`${error instanceof Error ? error.message : error}\n${USAGE}`)
    process.exit(2)
  }
}

/** Runs a row in a process of its own, with namespaces of its own where they are permitted. */
async function runApart(row: Row): Promise<Report> {
  console.log(`\n## ${row.id}`)
  const name = row.id.replaceAll(/[^\w.-]+/g, "-")
  const file = join(work, `${name}.json`)
  const rowOrder: RowOrder = {
    id: row.id,
    clients: order.folder,
    folder: join(work, name),
    dumps: order.dumps,
    ...(order.only !== undefined && { only: order.only }),
  }
  const words = [...process.execArgv, SESSION, JSON.stringify(rowOrder), file]
  const [command = "", ...args] = [...(namespace ?? []), process.execPath, ...words]
  // unshare waits for its child whatever it is told, but for this; the namespace ends with it.
  const limit = { timeout: ROW_LIMIT_MS, killSignal: "SIGKILL" } as const
  running = spawn(command, args, { stdio: ["ignore", "inherit", "inherit"], ...limit })
  const [code] = await once(running, "exit")
  if (existsSync(file)) {
    const report = JSON.parse(readFileSync(file, "utf8")) as Report
    console.log(`${report.seconds} s`)
    return report
  }
  const failure = `its process ended with ${code} and left no report`
  return { id: row.id, title: row.title, version: "", seconds: 0, checks: [], notes: {}, limits: {}, failure }
}

function discard(): void {
  if (order.keeps) console.log(`What the clients sent and printed is in ${work}.`)
  else remove(work)
}
