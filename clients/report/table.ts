/** The table of all clients, on the terminal and in docs/clients.md. */

import { COLUMNS, type Column, NESTED_COLUMNS, type NestedColumn, type Report, stateOf } from "./checks.ts"

const isNested = ({ id }: Report) => id.startsWith("nested:")

/**
 * Returns the tables of clients and of nested clients as Markdown, each only where it has rows. `undriven` are the
 * titles of clients that were checked against their documentation only; they have rows too.
 */
export function tables(reports: readonly Report[], undriven: readonly string[] = []): string {
  const nested = reports.filter(isNested)
  const others = reports.filter((report) => !isNested(report))
  return [
    ...(others.length > 0 ? [table("Client", COLUMNS, others, undriven)] : []),
    ...(nested.length > 0 ? [table("Nested clients", NESTED_COLUMNS, nested)] : []),
    ...limitsOf(reports),
  ].join("\n\n")
}

function table(
  heading: string,
  columns: Readonly<Partial<Record<Column | NestedColumn, string>>>,
  reports: readonly Report[],
  undriven: readonly string[] = [],
): string {
  const ids = Object.keys(columns) as (Column | NestedColumn)[]
  const rows = reports.map((report) => [
    report.title,
    report.version,
    ...ids.map((column) => cellOf(report, column)),
  ])
  const others = undriven.map((title) => [title, "documentation only", ...ids.map(() => "-")])
  return markdownTable([[heading, "version", ...Object.values(columns)], ...rows, ...others])
}

function cellOf(report: Report, column: Column | NestedColumn): string {
  const note = report.notes[column]
  switch (stateOf(report, column)) {
    case "holds":
      return note ?? "yes"
    case "fails":
      return note === undefined ? "**no**" : `**no**: ${note}`
    case "limited":
      return "no*"
    case "unseen":
      return "-"
  }
}

function limitsOf(reports: readonly Report[]): string[] {
  const lines = reports.flatMap((report) =>
    Object.entries(report.limits)
      .filter(([column]) => stateOf(report, column as Column) === "limited")
      .map(([column, reason]) => `- ${report.title}, ${titleOf(column)}: ${reason}`),
  )
  return lines.length === 0 ? [] : [`\\* What does not hold, and why:\n\n${lines.join("\n")}`]
}

function titleOf(column: string): string {
  return { ...COLUMNS, ...NESTED_COLUMNS }[column as Column] ?? column
}

/** Returns rows as a Markdown table; the first one is its head. */
export function markdownTable([head = [], ...rows]: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]) =>
    `| ${cells.map((cell) => cell.replaceAll("|", "\\|").replaceAll("\n", " ")).join(" | ")} |`
  return [line(head), line(head.map(() => "---")), ...rows.map(line)].join("\n")
}
