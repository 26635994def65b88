/** One headless run of a client. */

import { type ChildProcess, spawn } from "node:child_process"
import { once } from "node:events"
import { appendFileSync, readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import type { Place } from "./place.ts"

/** How a client is started: its words, and what only this run has in its environment. */
export interface Command {
  words: readonly string[]
  environment?: Record<string, string>
}

export interface RunEnding {
  /** Null when it was killed. */
  code: number | null
  tookMs: number
  stdout: string
  stderr: string
}

export class ClientRun {
  readonly ended: Promise<RunEnding>
  readonly #process: ChildProcess

  /** Starts a client in a place; its whole process group ends with the time limit. */
  constructor(place: Place, { words, environment }: Command, label: string, timeLimitMs: number) {
    const startMs = performance.now()
    const [program = "", ...args] = words
    const child = spawn(program, args, {
      cwd: place.repository,
      env: { ...place.environment, ...environment },
      stdio: ["ignore", "pipe", "pipe"],
      detached: true,
    })
    this.#process = child
    let [stdout, stderr] = ["", ""]
    child.stdout.setEncoding("utf8").on("data", (text: string) => {
      stdout += text
    })
    child.stderr.setEncoding("utf8").on("data", (text: string) => {
      stderr += text
    })
    const timer = setTimeout(() => {
      stderr += `\n[ended after ${timeLimitMs / 1_000} s, the time limit]`
      this.kill()
    }, timeLimitMs)
    this.ended = once(child, "close").then(([code]: (number | null)[]) => {
      clearTimeout(timer)
      const ending = { code: code ?? null, tookMs: Math.round(performance.now() - startMs), stdout, stderr }
      const said = `$ ${words.join(" ")}\ncode ${ending.code}, ${ending.tookMs} ms\n--- stdout\n${stdout}\n--- stderr\n${stderr}\n`
      appendFileSync(join(place.outputs, `${label}.txt`), said)
      return ending
    })
  }

  /** Kills the client and all it has started in its process group, as a crash of the machine would. */
  kill(): void {
    const { pid, exitCode, signalCode } = this.#process
    if (pid === undefined || exitCode !== null || signalCode !== null) return
    process.kill(-pid, "SIGKILL")
  }
}

/** Kills the processes that have a word and the repository of this place on their command line, with their groups. */
export function killDaemon(place: Place, word: string): void {
  for (const pid of readdirSync("/proc").filter((name) => /^\d+$/.test(name))) {
    const words = commandLineOf(pid)
    if (words.includes(word) && words.includes(place.repository)) process.kill(-Number(pid), "SIGKILL")
  }
}

/** Returns the words that started a process; none when it has ended meanwhile. */
function commandLineOf(pid: string): string[] {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, "utf8").split("\0")
  } catch {
    return []
  }
}
