/** How commands print: colour on a terminal only, JSON when asked for. stdout is theirs; they never run beside the protocol. */

export interface OutputOptions {
  json?: boolean
}

export function print(text: string): void {
  process.stdout.write(`${text}\n`)
}

/** Prints a value as JSON, or `human` when JSON was not asked for. */
export function printResult(options: OutputOptions, value: unknown, human: () => string): void {
  print(options.json === true ? JSON.stringify(value, null, 2) : human())
}

const usesColour = process.stdout.isTTY === true && process.env.NO_COLOR === undefined

const styled = (code: number) => (text: string) => (usesColour ? `\u001b[${code}m${text}\u001b[0m` : text)
export const bold = styled(1)
export const dim = styled(2)
export const green = styled(32)
export const red = styled(31)
export const cyan = styled(36)

/** Returns rows as aligned columns under a heading. */
export function table(heading: readonly string[], rows: readonly (readonly string[])[]): string {
  const widths = heading.map((title, column) =>
    Math.max(title.length, ...rows.map((row) => row[column]?.length ?? 0)),
  )
  const line = (cells: readonly string[]) =>
    cells
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join("  ")
      .trimEnd()
  return [bold(line(heading)), ...rows.map(line)].join("\n")
}
