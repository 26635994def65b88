/** Shows what would change in a file, in the form of `diff -u`. */

const CONTEXT_LINES = 3
/** Pairs of lines that are compared at most; beyond that the whole middle counts as replaced. */
const PAIRS_MAX = 4_000_000

interface Line {
  mark: " " | "-" | "+"
  text: string
}

/** Returns the difference of two texts with three lines of context, or nothing when they are equal. */
export function lineDiff(path: string, before: string, after: string): string {
  if (before === after) return ""
  const lines = compare(splitLines(before), splitLines(after))
  const hunks = findHunks(lines).map(([start, end]) => hunkText(lines, start, end))
  return [`--- ${path}`, `+++ ${path}`, ...hunks].join("\n")
}

function splitLines(text: string): string[] {
  const lines = text.split("\n")
  if (lines.at(-1) === "") lines.pop()
  else lines.push(`${lines.pop()}\n\\ No newline at end of file`)
  return lines
}

function compare(before: readonly string[], after: readonly string[]): Line[] {
  let start = 0
  while (start < before.length && start < after.length && before[start] === after[start]) start += 1
  let tail = 0
  const isTailEqual = () => before[before.length - 1 - tail] === after[after.length - 1 - tail]
  while (tail < before.length - start && tail < after.length - start && isTailEqual()) tail += 1
  const same = (lines: readonly string[]): Line[] => lines.map((text) => ({ mark: " ", text }))
  return [
    ...same(before.slice(0, start)),
    ...compareMiddle(before.slice(start, before.length - tail), after.slice(start, after.length - tail)),
    ...same(before.slice(before.length - tail)),
  ]
}

/** Longest common subsequence, by the textbook's table of lengths from the end. */
function compareMiddle(before: readonly string[], after: readonly string[]): Line[] {
  const width = after.length + 1
  const isSmall = before.length * after.length <= PAIRS_MAX
  const lengths = new Uint32Array(isSmall ? (before.length + 1) * width : 0)
  const length = (row: number, column: number) => lengths[row * width + column] ?? 0
  for (let row = before.length - 1; row >= 0 && isSmall; row -= 1) {
    for (let column = after.length - 1; column >= 0; column -= 1) {
      lengths[row * width + column] =
        before[row] === after[column]
          ? length(row + 1, column + 1) + 1
          : Math.max(length(row + 1, column), length(row, column + 1))
    }
  }
  const lines: Line[] = []
  let row = 0
  let column = 0
  while (row < before.length || column < after.length) {
    const old = before[row]
    const fresh = after[column]
    if (isSmall && old !== undefined && old === fresh) {
      lines.push({ mark: " ", text: old })
      row += 1
      column += 1
    } else if (
      old !== undefined &&
      (fresh === undefined || length(row + 1, column) >= length(row, column + 1))
    ) {
      lines.push({ mark: "-", text: old })
      row += 1
    } else {
      lines.push({ mark: "+", text: fresh ?? "" })
      column += 1
    }
  }
  return lines
}

/** Returns the ranges of lines to show: each change with its context, joined where contexts touch. */
function findHunks(lines: readonly Line[]): [start: number, end: number][] {
  const hunks: [start: number, end: number][] = []
  for (const [index, { mark }] of lines.entries()) {
    if (mark === " ") continue
    const start = Math.max(0, index - CONTEXT_LINES)
    const end = Math.min(lines.length, index + CONTEXT_LINES + 1)
    const last = hunks.at(-1)
    if (last !== undefined && start <= last[1]) last[1] = end
    else hunks.push([start, end])
  }
  return hunks
}

function hunkText(lines: readonly Line[], start: number, end: number): string {
  const range = (other: "-" | "+") => {
    const isOf = ({ mark }: Line) => mark === " " || mark === other
    const before = lines.slice(0, start).filter(isOf).length
    const count = lines.slice(start, end).filter(isOf).length
    return `${count === 0 ? before : before + 1},${count}`
  }
  const shown = lines.slice(start, end).map(({ mark, text }) => mark + text)
  return [`@@ -${range("-")} +${range("+")} @@`, ...shown].join("\n")
}
