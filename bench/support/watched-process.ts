/** A process of which is known, besides when it ends, how much time of the processor and how much memory it took. */

import { spawn } from "node:child_process"
import { once } from "node:events"
import { readFileSync } from "node:fs"
import { createInterface } from "node:readline"
import type { Launch } from "./stdio-client.ts"

const SAMPLED_EVERY_MS = 50
/** What Linux counts time in, whatever the kernel's own clock is. */
const TICK_MS = 10
const KIB = 1_024

/** What a process has taken so far; zeros where the system has no /proc. */
interface Usage {
  /** Its own and that of the processes it has waited for. */
  cpuMs: number
  /** Resident at most, of itself alone. */
  peakBytes: number
  /** The same without what is mapped from files, such as the database; as it is now, or was at most. */
  anonymousBytes: number
}
export interface WatchedRun {
  elapsedMs: number
  usage: Usage
  /** What it wrote to stderr, with the time since it was started. */
  lines: { text: string; atMs: number; usage: Usage }[]
}

/** Runs a signalbox command to its end; fails unless it succeeds. What it takes within the last 50 ms is not seen. */
export async function runWatched(launch: Launch, args: readonly string[]): Promise<WatchedRun> {
  const fromMs = performance.now()
  const child = spawn(process.execPath, [...launch.args, ...args], {
    cwd: launch.cwd,
    env: launch.env,
    stdio: ["ignore", "ignore", "pipe"],
  })
  const pid = child.pid ?? 0
  const run: WatchedRun = { elapsedMs: 0, usage: { cpuMs: 0, peakBytes: 0, anonymousBytes: 0 }, lines: [] }
  const sample = () => {
    const now = usageOf(pid)
    if (now === undefined) return
    const anonymousBytes = Math.max(now.anonymousBytes, run.usage.anonymousBytes)
    run.usage = { ...now, anonymousBytes }
  }
  const timer = setInterval(sample, SAMPLED_EVERY_MS)
  createInterface({ input: child.stderr }).on("line", (text) => {
    sample()
    run.lines.push({ text, atMs: performance.now() - fromMs, usage: run.usage })
  })
  const [code] = (await once(child, "close")) as [number | null]
  clearInterval(timer)
  run.elapsedMs = performance.now() - fromMs
  if (code !== 0) throw new Error(`${args.join(" ")} ended with ${code}: ${run.lines.at(-1)?.text}`)
  return run
}

/** Returns what a process has taken so far, or undefined when it cannot be known. Source: proc(5), stat and status. */
export function usageOf(pid: number): Usage | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8")
    const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ")
    // Fields 14 to 17 of the whole line, which begins with two that were cut off.
    const ticks = fields.slice(11, 15).reduce((sum, field) => sum + Number(field), 0)
    const status = readFileSync(`/proc/${pid}/status`, "utf8")
    const peakBytes = sizeOf(status, "VmHWM")
    if (peakBytes === undefined) return undefined
    return { cpuMs: ticks * TICK_MS, peakBytes, anonymousBytes: sizeOf(status, "RssAnon") ?? 0 }
  } catch {
    return undefined
  }
}

/** Returns a size of proc(5), status; one that has ended has none. */
function sizeOf(status: string, name: string): number | undefined {
  const kib = new RegExp(`^${name}:\\s+(\\d+) kB$`, "m").exec(status)?.[1]
  return kib === undefined ? undefined : Number(kib) * KIB
}

/** Returns for how long the main thread of a process has run so far, exactly; 0 where it cannot be known. */
export function mainThreadMs(pid: number): number {
  try {
    return Number(readFileSync(`/proc/${pid}/schedstat`, "utf8").split(" ")[0]) / 1_000_000
  } catch {
    return 0
  }
}
