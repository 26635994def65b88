/** What happened to one file, for people and for programs. */

import { AppError } from "../errors.ts"
import type { TargetName } from "./client.ts"

export type Action = "created" | "changed" | "unchanged" | "restored" | "deleted" | "left-alone" | "failed"

export interface FileOutcome {
  path: string
  action: Action
  /** Why something was left alone, or what failed. */
  reasons: string[]
  /** What would change, when nothing is to be written. */
  diff?: string
}

/** The same of a file that a client reads. */
export interface Outcome extends FileOutcome {
  client: TargetName
}

/** Runs the work on one file of a client, as `fileOutcomeOf` does. */
export function outcomeOf<T>(client: TargetName, path: string, work: () => T): T | Outcome {
  try {
    return work()
  } catch (error) {
    return { client, ...failureOf(path, error) }
  }
}

/** Runs the work on one file; what users cause becomes a failed outcome, so that other files go on. */
export function fileOutcomeOf<T>(path: string, work: () => T): T | FileOutcome {
  try {
    return work()
  } catch (error) {
    return failureOf(path, error)
  }
}

function failureOf(path: string, error: unknown): FileOutcome {
  const reason = error instanceof AppError ? error.text : systemReason(error)
  return { path, action: "failed", reasons: [reason] }
}

/** Returns the reason of an error of the file system or of endless nesting; any other error is a defect and thrown on. */
function systemReason(error: unknown): string {
  // Parsers call themselves for what stands in brackets or behind dots, as deep as it goes.
  if (error instanceof RangeError)
    return "It is nested too deeply to be edited. Correct the file, then run the command again."
  const { code, message, syscall } = error as NodeJS.ErrnoException
  if (code === undefined || syscall === undefined) throw error
  return `${message}. Check its permissions, then run the command again.`
}
