/** How the process ends: one code for each kind of outcome, the same for every command. */

import type { ErrorCode } from "../errors.ts"

export const EXIT_DONE = 0
export const EXIT_FAILED = 1
export const EXIT_WRONG_USE = 2
const EXIT_CONFLICT = 3
const EXIT_TIMED_OUT = 4

/** Every exit code with what it says, for the help. */
export const EXIT_CODES: readonly (readonly [code: number, meaning: string])[] = [
  [EXIT_DONE, "done"],
  [EXIT_FAILED, "failed; stderr says why and what to do"],
  [EXIT_WRONG_USE, "wrong use: an unknown command, option or value"],
  [EXIT_CONFLICT, "conflict, such as files that another agent holds"],
  [EXIT_TIMED_OUT, "what was waited for did not come in time"],
]

const OF_ERRORS: Partial<Record<ErrorCode, number>> = {
  invalid: EXIT_WRONG_USE,
  conflict: EXIT_CONFLICT,
  timed_out: EXIT_TIMED_OUT,
}

/** Returns the exit code of an error that a user caused. */
export function exitCodeOf(code: ErrorCode): number {
  return OF_ERRORS[code] ?? EXIT_FAILED
}
