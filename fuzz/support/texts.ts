/** What no text may hold that leaves the product, whatever went in. Inputs never hold any of it themselves. */

import { Fault } from "./part.ts"

const FORBIDDEN: readonly RegExp[] = [
  // Stacks, and where the code lies.
  /\n\s+at (?:async )?\S.*[(:]/,
  /node:internal|file:\S+\.[cm]?[jt]s:\d|\.[cm]?[jt]s:\d+:\d+|node_modules/,
  // Errors of the language and of the driver.
  /\b(?:Type|Range|Reference|Syntax)Error\b|SqliteError|SQLITE_[A-Z]+|Maximum call stack/,
  /Cannot read propert|is not a function\b|is not iterable|assertion failed|ZodError/,
  // What was written without a look.
  /\[object \w+\]|\bundefined\b|Invalid Date|\bNaN\b/,
  /internal error/i,
]

/** Fails when a text says what is nobody's business. */
export function requireDiscreet(text: string, where: string): void {
  const found = FORBIDDEN.map((pattern) => pattern.exec(text)).find((match) => match !== null)
  if (found === undefined) return
  const from = Math.max(0, found.index - 200)
  throw new Fault(`${where} says ${JSON.stringify(found[0])}: ${text.slice(from, found.index + 400)}`)
}

/** Fails unless a condition holds. */
export function require(condition: boolean, message: () => string): void {
  if (!condition) throw new Fault(message())
}

/** Returns a text's beginning, for messages. */
export function beginning(text: string, charsMax = 500): string {
  return text.length > charsMax ? `${text.slice(0, charsMax)}... (${text.length} characters)` : text
}
