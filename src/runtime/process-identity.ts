/**
 * Tells whether a process that was seen before still lives. A pid alone is not enough: it is given out
 * again, so a mark that only this process has goes with it.
 */

import { execFileSync } from "node:child_process"
import { readFileSync } from "node:fs"

/** `ps` writes times as the environment says, and a mark must not depend on the process that looks. */
export const PS_ENVIRONMENT = { ...process.env, LC_ALL: "C", TZ: "UTC" }

/** Used where the system tells nothing better than the pid. */
const NO_MARK = "pid-only"

/**
 * Returns what tells a living process from a later one with the same pid: the boot and the start time
 * on Linux (proc(5), field 22 of stat), the start time as `ps` prints it on other POSIX systems.
 * Undefined when no such process lives.
 */
export function processMark(pid: number): string | undefined {
  if (!isRunning(pid)) return undefined
  try {
    if (process.platform === "linux") return linuxMark(pid)
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

function linuxMark(pid: number): string | undefined {
  const boot = readFileSync("/proc/sys/kernel/random/boot_id", "utf8").trim()
  const stat = readFileSync(`/proc/${pid}/stat`, "utf8")
  // The second field is the program's name in brackets and may hold anything, spaces and brackets too.
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ")
  const [state, startTime] = [fields[0], fields[19]]
  return state === "Z" || state === "X" ? undefined : `${boot}:${startTime}`
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
