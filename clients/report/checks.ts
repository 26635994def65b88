/** What is checked of each client: one column of the table each, and what was seen for it. */

/** The columns of clients, in order. */
export const COLUMNS = {
  connected: "MCP connected",
  tools: "tools seen",
  instructions: "instructions seen",
  start: "session-start text",
  blocked: "held edit blocked, and the model told",
  free: "free edit passes, reserved",
  self: "not blocked by itself",
  mail: "mail told",
  push: "handed mail before it stops",
  woken: "woken by a wait",
  released: "released at the end",
  uninstalled: "uninstall exact",
} as const
export type Column = keyof typeof COLUMNS

/** The columns of clients that another one's shell has started. */
export const NESTED_COLUMNS = {
  apart: "two agents",
  own: "inner edits what it holds",
  inner: "inner blocked by outer",
  outer: "outer edits what it holds",
} as const
export type NestedColumn = keyof typeof NESTED_COLUMNS

/** One look at one thing; a column holds when all its checks do. */
export interface Check {
  column: Column | NestedColumn
  what: string
  holds: boolean
  /** What was seen instead, or beside it. */
  detail: string
}

/** What came of one row. */
export interface Report {
  id: string
  title: string
  version: string
  seconds: number
  checks: Check[]
  /** What a cell says instead of "yes", by column. */
  notes: Partial<Record<Column | NestedColumn, string>>
  /** What is known not to hold, by column, with the reason. */
  limits: Partial<Record<Column | NestedColumn, string>>
  /** What kept the run from its end. */
  failure?: string
}

export type CellState = "holds" | "fails" | "limited" | "unseen"

/** Returns how a column of a report stands; a limit that is known excuses what fails, and nothing else. */
export function stateOf({ checks, limits }: Report, column: Column | NestedColumn): CellState {
  const seen = checks.filter((check) => check.column === column)
  if (seen.length === 0) return "unseen"
  if (seen.every(({ holds }) => holds)) return "holds"
  return limits[column] === undefined ? "fails" : "limited"
}

/**
 * Returns what speaks against a report, one line each; a limit that is none any more does too. What was seen instead
 * is in the checks themselves.
 */
export function complaintsOf(report: Report): string[] {
  const failed = report.checks.filter(({ column, holds }) => !holds && report.limits[column] === undefined)
  const stale = Object.keys(report.limits).filter((column) => stateOf(report, column as Column) === "holds")
  return [
    ...(report.failure === undefined ? [] : [`${report.id}: ${report.failure}`]),
    ...failed.map(({ what }) => `${report.id}: ${what}`),
    ...stale.map(
      (column) => `${report.id}: the limit on "${column}" is none any more; take it out of its driver`,
    ),
  ]
}
