/**
 * The process that is fuzzed: runs parts one after another, each batch after batch until its time is over. It tells the
 * runner that it is alive and what it found, and writes down beforehand what it is about to put in, so that the runner
 * can say what it hangs or dies of.
 */

import { ftruncateSync, openSync, writeSync } from "node:fs"
import fc from "fast-check"
import {
  type Message,
  type Order,
  type Place,
  REPORTED_CHARS_MAX,
  RUN_CPU_MS_MAX,
  RUN_MS_MAX,
  SLOW_RUN_MS_MAX,
  STARTING,
} from "./support/order.ts"
import { Fault, type OpenPart, type Part, type Target } from "./support/part.ts"
import type { Room } from "./support/room.ts"
import { beginning } from "./support/texts.ts"

const HEARTBEAT_MS = 100
/** What shrinking a finding may take beyond the part's time. */
const SHRINK_MS_MAX = 8_000
const MEMORY_GROWTH_BYTES_MAX = 96 * 1024 * 1024

const order = JSON.parse(process.argv[2] ?? "{}") as Order
const inputFile = openSync(order.inputFile, "w", 0o600)
const place: Place = { part: STARTING, seed: order.seed }
/** Those that the runner was not told of yet. */
let executions = 0
/** Inputs of this part, and when it begins no more of them. */
let runs = 0
let untilMs = 0
/** Whether the batch has failed, and fast-check looks for a smaller input that fails too. */
let isShrinking = false
let lastInput = "none yet"
/** When the runner was last told that this process goes on. */
let beatMs = 0
let room: Promise<Room> | undefined
let isDying = false

const heartbeat = setInterval(beat, HEARTBEAT_MS)
for (const event of ["uncaughtException", "unhandledRejection"] as const) {
  process.on(event, (error: unknown) => {
    isDying = true
    beat()
    const text = `${event}: ${described(error)}`
    // What is told is on its way only when this is called.
    tell({ kind: "finding", ...place, text, input: lastInput }, () => process.exit(1))
  })
}

const { PARTS } = (await import(order.partsUrl)) as { PARTS: readonly Part[] }
const waiting = PARTS.filter(({ name }) => order.parts.includes(name))
for (let part = waiting.shift(); part !== undefined; part = waiting.shift()) {
  const weights = [part, ...waiting].reduce((sum, { weight }) => sum + weight, 0)
  untilMs = Date.now() + ((order.endMs - Date.now()) * part.weight) / weights
  runs = 0
  // After a process that has died, the part that it was at goes on with other inputs.
  place.part = part.name
  place.seed = order.seed
  await fuzz(part)
  beat()
}
clearInterval(heartbeat)
if (!isDying) process.disconnect()

/** Loading the product takes longer than all else of a start. */
function makeRoom(): Promise<Room> {
  room ??= import("./support/room.ts").then(({ Room }) => Room.make())
  return room
}

function tell(message: Message, then?: () => void): void {
  process.send?.(message, undefined, {}, then)
}

function beat(): void {
  beatMs = performance.now()
  tell({ kind: "beat", ...place, executions, rssBytes: process.memoryUsage.rss() })
  executions = 0
}

async function fuzz(part: Part): Promise<void> {
  const opened = await part.open(makeRoom)
  let usedBytes: number | undefined
  for (let batch = 0; batch === 0 || Date.now() < untilMs; batch += 1) {
    place.seed = (order.seed + batch) | 0
    await runBatch(part, opened)
    // Rejections that nobody waits for are told of only when there is nothing else to do.
    await new Promise((resolve) => setImmediate(resolve))
    // The first of them fill the caches that are meant to stay.
    if (batch === 1) usedBytes = heapBytes()
  }
  requireMemoryBack(usedBytes)
}

async function runBatch(part: Part, opened: OpenPart<unknown>): Promise<void> {
  const target = await opened.begin(place.seed)
  isShrinking = false
  const details = await fc.check(
    fc.asyncProperty(opened.inputs, (input) => runOne(part, target, input)),
    {
      seed: place.seed,
      numRuns: part.batch,
      interruptAfterTimeLimit: Math.max(0, untilMs - Date.now()) + SHRINK_MS_MAX,
    },
  )
  if (details.failed && details.counterexample !== null)
    report(details.errorInstance, shown(details.counterexample[0]))
  try {
    await target.end()
  } catch (error) {
    report(error, "what is left after the whole batch")
  }
}

/** Puts one input in; once the time is over nothing more, unless a finding is being shrunk. */
async function runOne(part: Part, target: Target<unknown>, input: unknown): Promise<void> {
  if (Date.now() > untilMs && runs > 0 && !isShrinking) return
  runs += 1
  try {
    await putIn(part, target, input)
  } catch (error) {
    isShrinking = true
    throw error
  }
}

async function putIn(part: Part, target: Target<unknown>, input: unknown): Promise<void> {
  writeDown(shown(input))
  const fromMs = performance.now()
  // What only waits for promises lets no timer have its turn.
  if (fromMs > beatMs + HEARTBEAT_MS) beat()
  const from = process.cpuUsage()
  const done = await inTime(target.run(input), part.isSlow === true ? SLOW_RUN_MS_MAX : RUN_MS_MAX)
  executions += done
  const { user, system } = process.cpuUsage(from)
  const cpuMs = (user + system) / 1_000
  // Where others compete for the processor, the time on the clock says little.
  if (cpuMs < RUN_CPU_MS_MAX) return
  throw new Fault(
    `it took ${(performance.now() - fromMs).toFixed(0)} ms, ${cpuMs.toFixed(0)} of them at work`,
  )
}

async function inTime<T>(work: Promise<T>, msMax: number): Promise<T> {
  let alarm: NodeJS.Timeout | undefined
  const late = new Promise<never>((_, reject) => {
    alarm = setTimeout(() => reject(new Fault(`no answer within ${msMax} ms`)), msMax)
  })
  try {
    return await Promise.race([work, late])
  } finally {
    clearTimeout(alarm)
  }
}

/** Returns an input for people; the seed is what gives it again. */
function shown(input: unknown): string {
  return JSON.stringify(input, function (this: Record<string, unknown>, name, value: unknown) {
    const original = this[name]
    return original instanceof Uint8Array ? Buffer.from(original).toString("latin1") : value
  })
}

function writeDown(text: string): void {
  lastInput = beginning(text, REPORTED_CHARS_MAX)
  const bytes = Buffer.from(JSON.stringify({ ...place, input: lastInput }))
  ftruncateSync(inputFile)
  writeSync(inputFile, bytes, 0, bytes.length, 0)
}

function report(error: unknown, input: string): void {
  const text = described(error)
  tell({ kind: "finding", ...place, text, input: beginning(input, REPORTED_CHARS_MAX) })
}

function described(error: unknown): string {
  if (error instanceof Fault) return error.message
  return error instanceof Error
    ? `it threw: ${beginning(error.stack ?? error.message, 1_500)}`
    : String(error)
}

function heapBytes(): number {
  globalThis.gc?.()
  const { heapUsed, external } = process.memoryUsage()
  return heapUsed + external
}

function requireMemoryBack(usedBytes: number | undefined): void {
  if (usedBytes === undefined) return
  const growth = heapBytes() - usedBytes
  if (growth < MEMORY_GROWTH_BYTES_MAX) return
  report(
    new Fault(`${(growth / 2 ** 20).toFixed(0)} MiB more are used than after two batches`),
    "the whole part",
  )
}
