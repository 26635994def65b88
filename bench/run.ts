/** Runs the benchmarks, all of them or those named, and writes results.md when all have run. */

import { writeFileSync } from "node:fs"
import { join } from "node:path"
import * as budgets from "./budgets.ts"
import * as calls from "./calls.ts"
import * as contention from "./contention.ts"
import * as documentation from "./documentation.ts"
import * as events from "./events.ts"
import * as hook from "./hook.ts"
import * as hostile from "./hostile.ts"
import * as memory from "./memory.ts"
import * as memoryContention from "./memory-contention.ts"
import * as search from "./search.ts"
import * as start from "./start.ts"
import { Lab } from "./support/lab.ts"
import { type Finding, machine, resultsMarkdown, table } from "./support/report.ts"
import * as tokens from "./tokens.ts"

interface Benchmark {
  /** What is measured against what. */
  note: string
  run(lab: Lab): Promise<Finding[]>
}
const BENCHMARKS: Record<string, Benchmark> = {
  start,
  calls,
  search,
  contention,
  events,
  hook,
  budgets,
  memory,
  "memory-contention": memoryContention,
  documentation,
  hostile,
  tokens,
}

const names = process.argv.length > 2 ? process.argv.slice(2) : Object.keys(BENCHMARKS)
const unknown = names.filter((name) => !(name in BENCHMARKS))
if (unknown.length > 0) {
  console.error(`unknown: ${unknown.join(", ")}; known are: ${Object.keys(BENCHMARKS).join(", ")}`)
  process.exit(2)
}

console.log(machine())
const lab = await Lab.open()
process.once("SIGINT", () => {
  lab.close()
  process.exit(130)
})
const findings: Finding[] = []
try {
  for (const [name, benchmark] of Object.entries(BENCHMARKS)) {
    if (!names.includes(name)) continue
    const fromMs = performance.now()
    try {
      findings.push(...(await benchmark.run(lab)))
      console.log(`${name}: ${((performance.now() - fromMs) / 1_000).toFixed(0)} s`)
    } catch (error) {
      console.error(`${name} could not run:`, error)
      process.exitCode = 1
    }
  }
} finally {
  lab.close()
}
console.log(`\n${table(findings)}`)

const isWhole =
  process.exitCode === undefined && Object.keys(BENCHMARKS).every((name) => names.includes(name))
if (isWhole) {
  const notes = Object.values(BENCHMARKS).map(({ note }) => note)
  const day = new Date().toISOString().slice(0, 10)
  writeFileSync(join(import.meta.dirname, "results.md"), resultsMarkdown(findings, notes, day))
}
