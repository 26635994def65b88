/**
 * Logging: one JSON object a line on stderr. stdout belongs to the protocol and is never written here.
 */

import { visibleJson } from "../domain/foreign-text/visible.ts"

export type LogLevel = "debug" | "info" | "warn" | "error" | "silent"
type Fields = Record<string, unknown>

export interface Log {
  debug(message: string, fields?: Fields): void
  info(message: string, fields?: Fields): void
  warn(message: string, fields?: Fields): void
  error(message: string, fields?: Fields): void
}

const SEVERITY: Record<LogLevel, number> = { debug: 10, info: 20, warn: 30, error: 40, silent: 100 }

/** An error may be its own cause. */
const CAUSES_LOGGED_MAX = 8

function describe(value: unknown, causesLeft = CAUSES_LOGGED_MAX): unknown {
  if (!(value instanceof Error)) return value
  const { name, message, stack, cause } = value
  return { name, message, stack, cause: causesLeft > 0 ? describe(cause, causesLeft - 1) : undefined }
}

/** Returns a log that writes what is at least as severe as `threshold`, through `write`. */
export function createLog(threshold: LogLevel, write: (line: string) => void = writeToStderr): Log {
  const at =
    (level: LogLevel) =>
    (message: string, fields: Fields = {}) => {
      if (SEVERITY[level] < SEVERITY[threshold]) return
      const described = Object.fromEntries(
        Object.entries(fields).map(([key, value]) => [key, describe(value)]),
      )
      write(`${visibleJson({ time: new Date().toISOString(), level, message, ...described })}\n`)
    }
  return { debug: at("debug"), info: at("info"), warn: at("warn"), error: at("error") }
}

function writeToStderr(line: string): void {
  process.stderr.write(line)
}
