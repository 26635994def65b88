/** How a command waits for what other processes do: woken by the database, ended by the time, a signal or its parent's death. */

import type { Database } from "../db/database.ts"

/** How often it looks whether its parent lives. */
const PARENT_CHECK_MS = 1_000
const SIGNALS = ["SIGTERM", "SIGINT", "SIGHUP"] as const

/** How waiting ended: with what was waited for, or without. */
type Stop = "time" | Unwanted
type Unwanted = "signal" | "parent" | "reader"
export type Awaited<T> = { value: T } | { stopped: Stop }

/**
 * Calls `stop` when a signal asks the process to end, its parent is gone, or nobody reads its output, and keeps it alive
 * until then; returns what ends that. A signal is left to its sender: the caller closes what is open and ends.
 */
export function whenUnwanted(stop: (why: Unwanted) => void): () => void {
  const onSignal = () => stop("signal")
  const onLost = () => stop("reader")
  const parent = process.ppid
  const parentCheck = setInterval(() => process.ppid !== parent && stop("parent"), PARENT_CHECK_MS)
  for (const signal of SIGNALS) process.once(signal, onSignal)
  process.stdout.once("error", onLost)
  return () => {
    clearInterval(parentCheck)
    for (const signal of SIGNALS) process.removeListener(signal, onSignal)
    process.stdout.removeListener("error", onLost)
  }
}

/**
 * Calls `look` at once and after every change of the database, until it returns something, `timeoutMs` have passed, or
 * the process is unwanted. Calls never overlap, and none begins after the end.
 */
export async function waitUntil<T>(
  db: Database,
  look: () => Promise<T | undefined>,
  { timeoutMs }: { timeoutMs: number | undefined },
): Promise<Awaited<T>> {
  let stopped: Stop | undefined
  let hasChanged = true
  let wake = () => {}
  const stop = (why: Stop) => {
    stopped ??= why
    wake()
  }
  const unwatchEnd = whenUnwanted(stop)
  const timer = timeoutMs === undefined ? undefined : setTimeout(() => stop("time"), timeoutMs)
  const unwatch = db.watch(() => {
    hasChanged = true
    wake()
  })
  try {
    while (stopped === undefined) {
      if (hasChanged) {
        hasChanged = false
        const value = await look()
        if (value !== undefined) return { value }
      } else {
        await new Promise<void>((resolve) => {
          wake = resolve
        })
      }
    }
    return { stopped }
  } finally {
    unwatch()
    unwatchEnd()
    clearTimeout(timer)
  }
}
