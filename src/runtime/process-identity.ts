/**
 * Tells whether a process that was seen before still lives. A pid alone is not enough: it is given out
 * again, so a mark that only this process has goes with it.
 */

import { execFileSync } from "node:child_process"
import { readFileSync, readlinkSync } from "node:fs"

/** `ps` writes times as the environment says, and a mark must not depend on the process that looks. */
export const PS_ENVIRONMENT = { ...process.env, LC_ALL: "C", TZ: "UTC" }

/** Used where the system tells nothing better than the pid. */
const NO_MARK = "pid-only"

/** Linux's name of the namespace in which all processes of a machine have their pids (PROC_PID_INIT_INO). */
const MACHINE_NAMESPACE = "pid:[4026531836]"

/** A mark of Linux; of the namespace it holds nothing where that is the machine's. */
const LINUX_MARK = /^[\w-]+:\d+(?::(pid:\[\d+\]))?$/

/**
 * Returns what tells a living process from a later one with the same pid: the boot, the start time (proc(5), field
 * 22 of stat) and the namespace of pids on Linux, the start time as `ps` prints it on other POSIX systems.
 * Undefined when no such process lives.
 */
export function processMark(pid: number): string | undefined {
  if (!isRunning(pid)) return undefined
  try {
    if (process.platform === "linux") {
      const { state, mark } = readLinuxProcess(pid)
      return state === "Z" || state === "X" ? undefined : mark
    }
    if (process.platform === "win32") return NO_MARK
    const started = execFileSync("ps", ["-o", "lstart=", "-p", String(pid)], {
      encoding: "utf8",
      timeout: 2_000,
      env: PS_ENVIRONMENT,
    })
    return started.trim() || undefined
  } catch {
    // It has just ended, or there is no way to tell it from a later one with its pid.
    return isRunning(pid) ? NO_MARK : undefined
  }
}

/** Returns what Linux tells of a process that there is; fails when there is none, or it may not be read. */
export function readLinuxProcess(pid: number): { state: string; parentPid: number; mark: string } {
  const boot = readFileSync("/proc/sys/kernel/random/boot_id", "utf8").trim()
  const stat = readFileSync(`/proc/${pid}/stat`, "utf8")
  // The second field is the program's name in brackets and may hold anything, spaces and brackets too.
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ")
  const namespace = ownNamespace()
  const start = `${boot}:${fields[19]}`
  const mark = namespace === MACHINE_NAMESPACE ? start : `${start}:${namespace}`
  return { state: fields[0] ?? "", parentPid: Number(fields[1]), mark }
}

/** Returns the namespace that all pids seen from here are of. */
function ownNamespace(): string {
  try {
    return readlinkSync("/proc/self/ns/pid")
  } catch {
    return MACHINE_NAMESPACE
  }
}

function namespaceOf(mark: string): string | undefined {
  const [isOfLinux, namespace = MACHINE_NAMESPACE] = LINUX_MARK.exec(mark) ?? []
  return isOfLinux === undefined ? undefined : namespace
}

/**
 * Whether the process that a mark was seen of has its pid where the process of the mark `own` looks: what runs in a
 * container or a sandbox is not found from outside of it under that pid, nor the other way round.
 */
export function isOfSameNamespace(seen: string, own: string): boolean {
  const [one, other] = [namespaceOf(seen), namespaceOf(own)]
  return one === undefined || other === undefined || one === other
}

/** Whether the process of a mark sees all the processes of its machine. */
export function seesMachine(own: string): boolean {
  return (namespaceOf(own) ?? MACHINE_NAMESPACE) === MACHINE_NAMESPACE
}

/** Whether the process of this pid and mark still lives. Only on Linux is a later one with its pid told apart at once. */
export function isStillRunning(pid: number, mark: string): boolean {
  return process.platform === "linux" ? isSameProcess(processMark(pid), mark) : isRunning(pid)
}

/**
 * Whether the mark that a pid has now is that of the process which was seen under it: a process whose mark
 * could not be read, then or now, counts as the same, for to take a living one for dead does the more harm.
 */
export function isSameProcess(current: string | undefined, seen: string): boolean {
  return current === seen || (current !== undefined && (current === NO_MARK || seen === NO_MARK))
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    // A process of another user lives too, it only may not be signalled.
    return (error as NodeJS.ErrnoException).code === "EPERM"
  }
}
