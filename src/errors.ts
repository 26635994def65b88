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

/** Throws a defect when `condition` does not hold: for what we got wrong, never for what users send. */
export function assert(condition: unknown, message: string): asserts condition {
  if (!condition) throw new Error(`assertion failed: ${message}`)
}
