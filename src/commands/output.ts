/**
 * How commands print: colour where it is wanted, JSON when asked for. stdout is theirs; they never run beside the
 * protocol.
 */

import { visible, visibleJson } from "../domain/foreign-text/visible.ts"

export interface OutputOptions {
  json?: boolean
}

/** What we write to terminals besides text: colours, and links (see `hyperlink`). */
const ESCAPE = "\u001b"
const OWN_SEQUENCES = new RegExp(`(${ESCAPE}\\[(?:0|1|2|31|32|36)m|${ESCAPE}\\]8;;[!-~]*${ESCAPE}\\\\)`)

/**
 * Whether output is styled: at a terminal that can, unless NO_COLOR is set to anything (https://no-color.org), and
 * where FORCE_COLOR says so; FORCE_COLOR=0 says no (https://force-color.org).
 */
function isStyled(): boolean {
  const { NO_COLOR: no = "", FORCE_COLOR: force = "", TERM: terminal } = process.env
  if (force !== "") return force !== "0" && force !== "false"
  return no === "" && terminal !== "dumb" && process.stdout.isTTY === true
}

/** Whether colours, and links at a terminal, are wanted. */
export const usesStyle = isStyled()

/** Prints a text and a new line; of control characters only our own sequences, and those only where output is styled. */
export function print(text: string): void {
  const parts = usesStyle ? text.split(OWN_SEQUENCES) : [text]
  process.stdout.write(`${parts.map((part, index) => (index % 2 === 1 ? part : visible(part))).join("")}\n`)
}

/** Prints a value as JSON, or `human` when JSON was not asked for. */
export function printResult(options: OutputOptions, value: unknown, human: () => string): void {
  print(options.json === true ? visibleJson(value, 2) : human())
}

const styled = (code: number) => (text: string) => (usesStyle ? `\u001b[${code}m${text}\u001b[0m` : text)
export const bold = styled(1)
export const dim = styled(2)
export const green = styled(32)
export const red = styled(31)
export const cyan = styled(36)

const GAP = "  "
/** Columns of a terminal that does not say how wide it is, and of what is no terminal. */
const COLUMNS_DEFAULT = 100

/** Returns how many columns output has. */
export function outputColumns(): number {
  return process.stdout.columns ?? COLUMNS_DEFAULT
}

/**
 * Returns rows as aligned columns under a heading; at a terminal too narrow for them, each row as a block of lines,
 * one for each cell that holds anything.
 */
export function table(heading: readonly string[], rows: readonly (readonly string[])[]): string {
  const widths = heading.map((title, column) =>
    Math.max(title.length, ...rows.map((row) => row[column]?.length ?? 0)),
  )
  const width = widths.reduce((sum, column) => sum + column, GAP.length * (widths.length - 1))
  if (process.stdout.isTTY === true && width > outputColumns())
    return rows.map((row) => block(heading, row)).join("\n\n")
  const line = (cells: readonly string[]) =>
    cells
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join(GAP)
      .trimEnd()
  return [bold(line(heading)), ...rows.map(line)].join("\n")
}

function block(heading: readonly string[], row: readonly string[]): string {
  const width = Math.max(...heading.map((title) => title.length))
  return row
    .map((cell, column) => [heading[column] ?? "", cell] as const)
    .filter(([, cell]) => cell !== "")
    .map(([title, cell]) => `${bold(title.padEnd(width))}${GAP}${cell}`)
    .join("\n")
}
