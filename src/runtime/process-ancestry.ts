/**
 * The processes above a process, as far as they are coding agents: how a hook and a server find out that
 * the same client started both. Linux tells in /proc, other POSIX systems through `ps`; on Windows
 * nothing is found, and sessions are told apart by the ids that clients give.
 */

import { execFileSync } from "node:child_process"
import { readFileSync } from "node:fs"
import { PS_ENVIRONMENT, readLinuxProcess } from "./process-identity.ts"

const DEPTH_MAX = 32
const PS_TIMEOUT_MS = 1_000
/** Programs whose first argument is the program that matters. */
const RUNTIMES = new Set(["node", "bun", "deno", "nodejs"])

interface Process {
  parentPid: number
  /** Tells it from a later process with the same pid; as `processMark` gives it. */
  mark: string
  command: readonly string[]
}

/** A process of a client. */
export interface ClientProcess {
  /** `process:<pid>:<mark>` */
  anchor: string
  /** All that it goes by, in lower case. */
  names: readonly string[]
}

/**
 * Returns the ancestors of a process, itself first, that bear one of the given names (lower case), nearest
 * first. Empty when the system tells nothing.
 */
export function clientProcessesAbove(pid: number, wanted: ReadonlySet<string>): ClientProcess[] {
  const find = processFinder()
  const found: ClientProcess[] = []
  let current = pid
  for (let depth = 0; depth < DEPTH_MAX && current > 0; depth += 1) {
    const process = find(current)
    if (process === undefined) break
    const names = namesOf(process.command)
    if (names.some((name) => wanted.has(name)))
      found.push({ anchor: `process:${current}:${process.mark}`, names })
    current = process.parentPid
  }
  return found
}

/**
 * Returns the lower-case names that a command line goes by: the program, the application bundle around
 * it, and for a script its file and the package it lies in. Folders in between say nothing.
 */
export function namesOf(command: readonly string[]): string[] {
  const [program = "", ...rest] = command
  const script = rest.find((argument) => !argument.startsWith("-")) ?? ""
  const names = nameAndBundle(program)
  if (RUNTIMES.has(names[0] ?? "")) {
    names.push(...nameAndBundle(script))
    const [first = "", second = ""] =
      script.replaceAll("\\", "/").split("/node_modules/").at(-1)?.split("/") ?? []
    if (script.includes("node_modules"))
      names.push(...(first.startsWith("@") ? [first.slice(1), second] : [first]))
  }
  return names.map((name) => name.toLowerCase()).filter((name) => name !== "")
}

function nameAndBundle(path: string): string[] {
  const segments = path.replaceAll("\\", "/").split("/")
  const file = (segments.at(-1) ?? "").replace(/\.(exe|cmd|[cm]?[jt]s)$/i, "")
  const bundles = segments.filter((segment) => segment.endsWith(".app"))
  return [file, ...bundles.map((bundle) => bundle.slice(0, -".app".length))]
}

/** Splits a command line at its spaces, but not within the name of an application bundle. */
function wordsOf(command: string): string[] {
  const bundle = /^.*?\.app\/\S*/.exec(command)?.[0] ?? ""
  return [...(bundle === "" ? [] : [bundle]), ...command.slice(bundle.length).split(" ")].filter(
    (word) => word !== "",
  )
}

function processFinder(): (pid: number) => Process | undefined {
  if (process.platform === "linux") return findLinuxProcess
  if (process.platform === "win32") return () => undefined
  let table: Map<number, Process> | undefined
  return (pid) => {
    table ??= readProcessTable()
    return table.get(pid)
  }
}

function findLinuxProcess(pid: number): Process | undefined {
  try {
    const { parentPid, mark } = readLinuxProcess(pid)
    return { parentPid, mark, command: readFileSync(`/proc/${pid}/cmdline`, "utf8").split("\0") }
  } catch {
    // It has ended, or may not be read.
    return undefined
  }
}

function readProcessTable(): Map<number, Process> {
  const table = new Map<number, Process>()
  try {
    const options = { encoding: "utf8", timeout: PS_TIMEOUT_MS, env: PS_ENVIRONMENT } as const
    for (const line of execFileSync("ps", ["-axo", "pid=,ppid=,lstart=,command="], options).split("\n")) {
      const match = /^\s*(\d+)\s+(\d+)\s+(\S+\s+\S+\s+\d+\s+[\d:]+\s+\d+)\s+(.*)$/.exec(line)
      if (match === null) continue
      const [, pid, parentPid, mark = "", command = ""] = match
      table.set(Number(pid), { parentPid: Number(parentPid), mark, command: wordsOf(command) })
    }
  } catch {
    // Without `ps` nothing is known, as on Windows.
  }
  return table
}
