/**
 * The errors that users cause. Everything else that is thrown is a defect: it is logged whole and
 * shown bland.
 */

export type ErrorCode =
  | "unauthenticated"
  | "forbidden"
  | "not_found"
  | "invalid"
  | "conflict"
  | "refused"
  | "rate_limited"
  | "unavailable"
  | "timed_out"

/** What an error may carry besides its text. */
interface ErrorExtras {
  /** The next useful step, as a sentence. */
  hint?: string
  /** The parameter at fault. */
  field?: string
  /** Seconds until the same call can succeed. */
  retryAfterSeconds?: number
  /** What was caught before, for the log. */
  cause?: unknown
}

/**
 * An expected failure: `code` is from a closed set that each outer layer maps once, `message` says
 * what is wrong without a full stop at its end, `hint` says what to do next.
 */
export class AppError extends Error {
  readonly code: ErrorCode
  readonly hint: string | undefined
  readonly field: string | undefined
  readonly retryAfterSeconds: number | undefined

  constructor(code: ErrorCode, message: string, extras: ErrorExtras = {}) {
    super(message, extras.cause === undefined ? undefined : { cause: extras.cause })
    this.name = "AppError"
    this.code = code
    this.hint = extras.hint
    this.field = extras.field
    this.retryAfterSeconds = extras.retryAfterSeconds
  }

  /** The message with the hint after it, as users read it. */
  get text(): string {
    const message = /[.!?]$|\n/.test(this.message) ? this.message : `${this.message}.`
    return this.hint === undefined ? message : `${message} ${this.hint}`
  }
}

/** Returns an error for a parameter that breaks a rule. */
export function invalid(field: string, rule: string, hint?: string): AppError {
  return new AppError("invalid", `${field} ${rule}`, hint === undefined ? { field } : { field, hint })
}

/** What the disk or its permissions refuse, by the system's code, and what helps. */
const FILE_PROBLEMS: Record<string, readonly [problem: string, hint: string]> = {
  ENOSPC: ["the disk is full", "Free some space there, then try again."],
  EDQUOT: ["your share of the disk is used up", "Free some space there, then try again."],
  EFBIG: ["no file may be that large here", "Raise the limit (ulimit -f), then try again."],
  EROFS: ["its file system is read-only", "Name a place that can be written."],
  EACCES: ["it is not yours to use", "Check the permissions of the file and its folder."],
  EPERM: ["it is not yours to use", "Check the permissions of the file and its folder."],
  ENOTDIR: ["a file stands where a folder should be", "Move that file aside, or name another place."],
  EEXIST: ["a file stands where a folder should be", "Move that file aside, or name another place."],
  EISDIR: ["it is a folder", "Name a file."],
  ENOENT: ["its folder is not there", "Check the path."],
  EIO: ["its disk fails", "Check the disk."],
}

const NOT_MADE = [
  "a folder above it is missing and cannot be made",
  "Check whether its disk is read-only, or name another place.",
] as const

/**
 * Returns what the system refused to do with a file as `unavailable`, naming the file, which is that of the error
 * unless `path` is given; undefined for every other error.
 */
export function fileProblem(error: unknown, path?: string): AppError | undefined {
  const { code, syscall, path: own } = error as NodeJS.ErrnoException
  const known = FILE_PROBLEMS[code ?? ""]
  const place = path ?? own
  if (known === undefined || syscall === undefined || place === undefined) return undefined
  // That is also what Node says of a folder that it may not make.
  const [problem, hint] = code === "ENOENT" && syscall === "mkdir" ? NOT_MADE : known
  const work =
    syscall === "scandir" || syscall === "read" ? "read" : syscall === "open" ? "opened" : "written"
  return new AppError("unavailable", `${place} cannot be ${work}: ${problem}`, { hint, cause: error })
}

const BYTES_PER_MB = 1_000_000

/** Returns an amount of bytes in megabytes of 1,000,000, such as `0.4 MB`. */
export function megabytes(bytes: number): string {
  const mb = bytes / BYTES_PER_MB
  if (bytes > 0 && mb < 0.05) return "under 0.1 MB"
  return `${mb.toFixed(mb < 10 ? 1 : 0)} MB`
}

/** Throws a defect when `condition` does not hold: for what we got wrong, never for what users send. */
export function assert(condition: unknown, message: string): asserts condition {
  if (!condition) throw new Error(`assertion failed: ${message}`)
}
