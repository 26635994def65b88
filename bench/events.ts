/** Events from a commit in another process to those who read the stream. */

import { fork } from "node:child_process"
import { once } from "node:events"
import { join } from "node:path"
import { EventStreamReader } from "../test/support/event-stream.ts"
import { clockMs, type WritingAsked, type WrittenBatch } from "./support/event-writer.ts"
import type { Lab } from "./support/lab.ts"
import { quantile } from "./support/numbers.ts"
import { type Finding, ms, plainFinding } from "./support/report.ts"
import { ServeProcess } from "./support/serve-process.ts"

const READERS = 5
const GOAL_P99_MS_MAX = 200
/** One event at a time, far enough apart that each finds everybody waiting. */
const IDLE = { batches: 100, eventsPerBatch: 1, everyMs: 83 }
/** 1,000 events a second. */
const LOAD = { batches: 200, eventsPerBatch: 50, everyMs: 50 }
const ARRIVAL_MS_MAX = 30_000

export const note = `**events.** From the commit of an event in another process until it has been read off the stream of \`GET /api/v1/events\` by ${READERS} readers, which share this benchmark's process; the listener is a process of its own. Idle: ${IDLE.batches} events, one commit each, ${IDLE.everyMs} ms apart. Under load: 1,000 events a second in commits of ${LOAD.eventsPerBatch} for ${(LOAD.batches * LOAD.everyMs) / 1_000} seconds. Every event counts at every reader. "Behind" is how long after the last commit the last reader had everything. There is no baseline: the goal is a bound in itself.`

export async function run(lab: Lab): Promise<Finding[]> {
  const databasePath = lab.path("signalbox.db")
  const serving = await ServeProcess.start(lab.ours(databasePath, lab.workTree()), databasePath)
  const arrivals = Array.from({ length: READERS }, () => new Map<number, number>())
  const readers = arrivals.map((times) => new EventStreamReader(({ id }) => times.set(id, clockMs())))
  try {
    const port = Number(new URL(serving.record.url).port)
    for (const reader of readers) await reader.open(port, "/api/v1/events", serving.key)
    const idle = await measure(databasePath, IDLE, readers, arrivals)
    const load = await measure(databasePath, LOAD, readers, arrivals)
    return [
      ...latencies("idle", idle),
      ...latencies("1,000 a second", load),
      plainFinding("events: 1,000 a second, behind at the end", ms(load.behindMs)),
      plainFinding(
        "events: missing or twice",
        String(idle.faults + load.faults),
        "0",
        idle.faults + load.faults === 0,
      ),
    ]
  } finally {
    for (const reader of readers) reader.close()
    await serving.close()
  }
}

interface Measured {
  timesMs: number[]
  behindMs: number
  faults: number
}

function latencies(what: string, { timesMs }: Measured): Finding[] {
  const p99 = quantile(timesMs, 0.99)
  return [
    plainFinding(`events: ${what}, median`, ms(quantile(timesMs, 0.5))),
    plainFinding(`events: ${what}, p99`, ms(p99), `<= ${GOAL_P99_MS_MAX} ms`, p99 <= GOAL_P99_MS_MAX),
  ]
}

/** Has events written and waits until every reader has the last one. */
async function measure(
  databasePath: string,
  pace: Omit<WritingAsked, "databasePath">,
  readers: readonly EventStreamReader[],
  arrivals: readonly ReadonlyMap<number, number>[],
): Promise<Measured> {
  const before = readers.map(({ events }) => events.length)
  const batches: WrittenBatch[] = []
  const writer = fork(join(import.meta.dirname, "support", "event-writer.ts"))
  writer.on("message", (batch) => batches.push(batch as WrittenBatch))
  writer.send({ databasePath, ...pace })
  const [code] = (await once(writer, "exit")) as [number | null]
  const last = batches.at(-1)
  if (code !== 0 || last === undefined) throw new Error(`the writer ended with ${code}`)
  const timer = setTimeout(() => {
    for (const reader of readers) reader.close()
  }, ARRIVAL_MS_MAX)
  await Promise.all(readers.map((reader) => reader.until(() => reader.lastEventId === last.lastId)))
  clearTimeout(timer)

  const timesMs: number[] = []
  for (const { lastId, committedAtMs } of batches) {
    for (let id = lastId - pace.eventsPerBatch + 1; id <= lastId; id += 1) {
      for (const times of arrivals) {
        const atMs = times.get(id)
        if (atMs !== undefined) timesMs.push(atMs - committedAtMs)
      }
    }
  }
  const wanted = pace.batches * pace.eventsPerBatch
  const counts = readers.map(({ events }, index) => events.length - (before[index] ?? 0))
  const lastArrivals = arrivals.map((times) => times.get(last.lastId) ?? 0)
  return {
    timesMs,
    behindMs: Math.max(...lastArrivals) - last.committedAtMs,
    faults: counts.reduce((sum, count) => sum + Math.abs(count - wanted), 0),
  }
}
