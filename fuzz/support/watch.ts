/** Runs parts in a process of its own and watches it: whether its event loop goes on, how much memory it has, how it ends. */

import { type ChildProcess, fork } from "node:child_process"
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { usageOf } from "../../bench/support/watched-process.ts"
import { type Message, type Order, type Place, RUN_CPU_MS_MAX, RUN_MS_MAX, STARTING } from "./order.ts"

const TARGET = join(import.meta.dirname, "..", "target.ts")
const CHECK_INTERVAL_MS = 100
/** Of the process with a model, a database as memory, and the compiler that runs it from its sources. */
const RSS_BYTES_MAX = 900 * 1024 * 1024
const HEAP_MIB_MAX = 600
/** How long starting may take, and ending beyond the time. */
const START_MS_MAX = 60_000
const END_MS_MAX = 30_000

export interface Finding extends Place {
  text: string
  input: string
}

/** What is known of one part. */
export interface Seen {
  executions: number
  /** How long it went on. */
  tookMs: number
  /** The most memory that the process was seen with meanwhile. */
  rssBytes: number
}

export interface Watched {
  parts: Map<string, Seen>
  findings: Finding[]
  /** Where it died of a finding; undefined when it came to its end. */
  diedAt: Place | undefined
}

/** Runs an order to its end, or to the process's: what hangs, grows too large or dies is a finding. */
export function watch(order: Order, environment: NodeJS.ProcessEnv, workingFolder: string): Promise<Watched> {
  const child = fork(TARGET, [JSON.stringify(order)], {
    cwd: workingFolder,
    env: environment,
    execArgv: ["--expose-gc", `--max-old-space-size=${HEAP_MIB_MAX}`, "--import", import.meta.resolve("tsx")],
    stdio: ["ignore", "ignore", "pipe", "ipc"],
  })
  return new Watch(child, order).ended
}

class Watch {
  readonly ended: Promise<Watched>
  readonly #child: ChildProcess
  readonly #order: Order
  readonly #watched: Watched = { parts: new Map(), findings: [], diedAt: undefined }
  readonly #fromMs = performance.now()
  #beat: { atMs: number; cpuMs: number } | undefined
  #stderr = ""
  #isKilled = false

  constructor(child: ChildProcess, order: Order) {
    this.#child = child
    this.#order = order
    child.on("message", (message) => this.#receive(message as Message))
    child.stderr?.setEncoding("utf8").on("data", (text: string) => {
      this.#stderr = (this.#stderr + text).slice(-2_000)
    })
    const timer = setInterval(() => this.#look(), CHECK_INTERVAL_MS)
    this.ended = new Promise((resolve) => {
      child.once("close", (code, signal) => {
        clearInterval(timer)
        this.#judgeEnd(code, signal)
        resolve(this.#watched)
      })
    })
  }

  #receive(message: Message): void {
    // Loading the product may keep a process busy for long.
    if (message.kind === "beat" && message.part === STARTING) return
    const nowMs = performance.now()
    if (message.kind === "finding") {
      const { part, seed, text, input } = message
      this.#watched.findings.push({ part, seed, text, input })
    } else this.#note(message, nowMs - (this.#beat?.atMs ?? nowMs))
    this.#beat = { atMs: nowMs, cpuMs: this.#cpuMs() }
  }

  #note({ part, executions, rssBytes }: Message & { kind: "beat" }, tookMs: number): void {
    const seen = this.#watched.parts.get(part) ?? { executions: 0, tookMs: 0, rssBytes: 0 }
    seen.executions += executions
    seen.tookMs += tookMs
    seen.rssBytes = Math.max(seen.rssBytes, rssBytes)
    this.#watched.parts.set(part, seen)
    if (rssBytes > RSS_BYTES_MAX && !this.#isKilled)
      this.#kill(`it has ${(rssBytes / 2 ** 20).toFixed(0)} MiB`)
  }

  #look(): void {
    if (this.#isKilled) return
    const nowMs = performance.now()
    if (this.#beat === undefined) {
      if (nowMs - this.#fromMs > START_MS_MAX) this.#kill("it does not start")
      return
    }
    const stillMs = nowMs - this.#beat.atMs
    // A processor that others use is no hang: what counts is what it has worked without a sign.
    const cpuMs = stillMs < RUN_CPU_MS_MAX ? 0 : this.#cpuMs() - this.#beat.cpuMs
    if (cpuMs > RUN_CPU_MS_MAX || stillMs > RUN_MS_MAX)
      this.#kill(
        `its event loop stands still for ${stillMs.toFixed(0)} ms, ${cpuMs.toFixed(0)} of them at work`,
      )
    else if (Date.now() > this.#order.endMs + END_MS_MAX) this.#kill("it does not end")
  }

  #cpuMs(): number {
    return usageOf(this.#child.pid ?? 0)?.cpuMs ?? 0
  }

  #kill(why: string): void {
    this.#isKilled = true
    this.#die(why)
    this.#child.kill("SIGKILL")
  }

  #judgeEnd(code: number | null, signal: NodeJS.Signals | null): void {
    if (this.#isKilled || code === 0) return
    const told = this.#watched.findings.at(-1)
    if (code === 1 && told !== undefined) this.#watched.diedAt = told
    else this.#die(`it ended with ${signal ?? code}: ${this.#stderr.trim()}`)
  }

  #die(text: string): void {
    const finding = { ...lastInput(this.#order), text }
    this.#watched.diedAt = finding
    this.#watched.findings.push(finding)
  }
}

function lastInput(order: Order): Place & { input: string } {
  try {
    return JSON.parse(readFileSync(order.inputFile, "utf8")) as Place & { input: string }
  } catch {
    return { part: STARTING, seed: order.seed, input: "none yet" }
  }
}
