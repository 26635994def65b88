/** Many servers on one database, all at work on the same memories, and what is left of them in the end. */

import { MemoryRows } from "../test/support/memory-rows.ts"
import { MemoryJournal, type MemoryTools, MemoryWorker } from "../test/support/memory-work.ts"
import type { Lab } from "./support/lab.ts"
import { quantile, seeded } from "./support/numbers.ts"
import { type Finding, ms, plainFinding } from "./support/report.ts"
import { StdioClient } from "./support/stdio-client.ts"

const PROCESSES = 8
const SECONDS = Number(process.env.BENCH_SECONDS ?? 60)
const SHOWN_MAX = 5

export const note = `**memory-contention.** ${PROCESSES} server processes on one database file, each with a client of its own that creates, changes, reads, reinforces, deletes and searches memories at random for ${SECONDS} seconds (BENCH_SECONDS), without a pause, also those that others are changing at the same moment. Every call is timed at its client. A failure is any error, a memory that its own or another process does not find by its words as soon as it is acknowledged, and one that is still shown when it was deleted or replaced. At the end every process looks for every memory, and the file is compared with what was acknowledged: contents, counts, words, vectors, tags, waypoints, and SQLite's own checks.`

export async function run(lab: Lab): Promise<Finding[]> {
  const path = lab.path("signalbox.db")
  const launch = lab.ours(path, lab.workTree())
  const clients: StdioClient[] = []
  try {
    for (let index = 0; index < PROCESSES; index += 1)
      clients.push(await StdioClient.connect({ ...launch, env: { ...launch.env, SIGNALBOX_PORT: "0" } }))
    return await contend(path, clients)
  } finally {
    await Promise.all(clients.map((client) => client.close()))
  }
}

async function contend(path: string, clients: readonly StdioClient[]): Promise<Finding[]> {
  const servers = clients.map(
    (client): MemoryTools => ({ tool: (name, args) => client.try(name, { ...args }) }),
  )
  const journal = new MemoryJournal()
  const workers = servers.map((server, index) => new MemoryWorker(server, servers, journal, seeded(index)))
  const endMs = performance.now() + SECONDS * 1_000
  await Promise.all(
    workers.map(async (worker) => {
      while (performance.now() < endMs) await worker.step()
    }),
  )
  const timesMs = [...journal.timesMs]
  await Promise.all(workers.map((worker) => worker.findAll()))
  const rows = new MemoryRows(path)
  const faults = {
    failures: journal.failures,
    "differences from what was acknowledged": rows.differences(journal),
    contradictions: rows.contradictions(),
    "damage that SQLite finds": rows.damage().map((damage) => JSON.stringify(damage)),
  }
  rows.close()
  for (const [what, found] of Object.entries(faults)) {
    for (const fault of found.slice(0, SHOWN_MAX)) console.error(`memory-contention, ${what}: ${fault}`)
  }
  const name = `memory-contention: ${PROCESSES} processes`
  const left = journal.alive().length
  return [
    plainFinding(`${name}, operations a second`, (timesMs.length / SECONDS).toFixed(0)),
    plainFinding(`${name}, p50`, ms(quantile(timesMs, 0.5))),
    plainFinding(`${name}, p99`, ms(quantile(timesMs, 0.99))),
    plainFinding(`${name}, max`, ms(quantile(timesMs, 1))),
    plainFinding("memory-contention: memories created, left", `${journal.memories.size}, ${left}`),
    ...Object.entries(faults).map(([what, found]) =>
      plainFinding(`memory-contention: ${what}`, String(found.length), "0", found.length === 0),
    ),
  ]
}
