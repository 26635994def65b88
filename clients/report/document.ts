/** The part of docs/clients.md that a run writes. */

import type { Report } from "./checks.ts"
import { tables } from "./table.ts"

export const START = "<!-- written by npm run clients -- --write -->"
export const END = "<!-- end of what npm run clients writes -->"

/**
 * Returns a document with the tables of a run between its markers, and the rest as it was. Throws where the markers
 * are not there, once each and in order.
 */
export function withTables(
  document: string,
  reports: readonly Report[],
  undriven: readonly string[],
  day: string,
): string {
  const [before, between, ...others] = document.split(START)
  const after = between?.split(END)
  if (before === undefined || after?.length !== 2 || others.length > 0)
    throw new Error(`the document needs one "${START}" and, behind it, one "${END}"`)
  return `${before}${START}\nRun on ${day}.\n\n${tables(reports, undriven)}\n${END}${after[1]}`
}
