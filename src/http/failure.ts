/**
 * Errors as HTTP tells them: one table from what users cause to statuses, and the two forms of an error's
 * body. Everything that nobody foresaw is a defect: logged whole, shown bland.
 */

import type { ApiName } from "../domain/plan-limits.ts"
import { AppError, type ErrorCode, fileProblem } from "../errors.ts"
import type { Log } from "../runtime/log.ts"

/** An error that is ready to be told. */
export interface Failure {
  status: number
  /** One sentence or more. */
  message: string
  /** The field at fault, where one is. */
  field?: string
  /** What is wrong with each field, where fields are wrong. */
  fieldErrors?: Record<string, string[]>
  retryAfterSeconds?: number
  headers?: Record<string, string>
}

/** A failure on its way up. */
export class HttpFailure extends Error {
  readonly failure: Failure

  constructor(failure: Failure) {
    super(failure.message)
    this.name = "HttpFailure"
    this.failure = failure
  }
}

const STATUSES: Record<ErrorCode, number> = {
  unauthenticated: 401,
  forbidden: 403,
  not_found: 404,
  invalid: 400,
  conflict: 409,
  refused: 403,
  rate_limited: 429,
  timed_out: 504,
  unavailable: 503,
}

/** The `error` texts of the documentation and coordination APIs. */
const TITLES: Record<number, string> = {
  400: "Invalid request",
  401: "Unauthorized",
  403: "Forbidden",
  404: "Not found",
  405: "Method not allowed",
  408: "Request timeout",
  409: "Conflict",
  413: "Request too large",
  415: "Unsupported media type",
  422: "Validation failed",
  429: "Rate limit exceeded",
  431: "Request headers too large",
  500: "Internal server error",
  503: "Service unavailable",
}

/** Returns what to tell about anything that was thrown; `invalidStatus` is the route's for bad bodies. */
export function failureOf(thrown: unknown, log: Log, where: string, invalidStatus: 400 | 422 = 400): Failure {
  if (thrown instanceof HttpFailure) return thrown.failure
  const error = fileProblem(thrown) ?? thrown
  if (!(error instanceof AppError)) {
    log.error("a request failed unexpectedly", { where, error })
    return { status: 500, message: "an internal error; it was logged on the server's stderr" }
  }
  const status = error.code === "invalid" ? invalidStatus : STATUSES[error.code]
  return {
    status,
    message: error.text,
    ...(error.field === undefined ? {} : { field: error.field }),
    ...(error.field === undefined || error.code !== "invalid"
      ? {}
      : { fieldErrors: { [error.field]: [error.message] } }),
    ...(error.retryAfterSeconds === undefined ? {} : { retryAfterSeconds: error.retryAfterSeconds }),
  }
}

/**
 * Returns an error's JSON: `{message, errors?, retry_after?}` for the memory API, and `{error, message,
 * field?, retry_after?}` for the others.
 */
export function failureBody(api: ApiName, failure: Failure): Record<string, unknown> {
  const retry = failure.retryAfterSeconds === undefined ? {} : { retry_after: failure.retryAfterSeconds }
  if (api === "memory") {
    const errors = failure.fieldErrors === undefined ? {} : { errors: failure.fieldErrors }
    return { message: failure.message, ...errors, ...retry }
  }
  const field = failure.field === undefined ? {} : { field: failure.field }
  return { error: titleOf(failure.status), message: failure.message, ...field, ...retry }
}

/** Returns the short text of a status. */
export function titleOf(status: number): string {
  return TITLES[status] ?? "Error"
}
