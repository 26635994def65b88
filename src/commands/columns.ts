/** How texts fit into the columns of a terminal. */

/** What is narrower is no width that anybody reads. */
const COLUMNS_MIN = 40

/** Returns how many columns what is printed may take up; Infinity where no terminal is, so that nothing is cut there. */
export function terminalColumns({ columns }: { columns?: number } = process.stdout): number {
  return columns ? Math.max(COLUMNS_MIN, columns) : Number.POSITIVE_INFINITY
}

/** Returns a text on one line cut to so many columns, with an ellipsis where something is left out. */
export function shortened(text: string, columns: number): string {
  if (columnsOf(text) <= columns) return text
  let end = ""
  for (const character of text) {
    if (columnsOf(end + character) > columns - 1) break
    end += character
  }
  return `${end.trimEnd()}…`
}

/** Returns how many columns a text takes up: two for wide characters, none for what combines. */
export function columnsOf(text: string): number {
  const combining = text.match(/[\p{M}\u200d]/gu)?.length ?? 0
  const wide =
    text.match(
      /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{Emoji_Presentation}\uff01-\uff60]/gu,
    )?.length ?? 0
  return [...text].length - combining + wide
}

/** Returns a text as lines of at most so many columns, broken between words where that is possible. */
export function wrapped(text: string, columns: number): string[] {
  return text.split("\n").flatMap((line) => wrappedLine(line, columns))
}

function wrappedLine(line: string, columns: number): string[] {
  const rows: string[] = []
  let row = ""
  const add = (word: string) => {
    if (row !== "" && columnsOf(row) + columnsOf(word.trimEnd()) > columns) {
      rows.push(row.trimEnd())
      row = ""
    }
    row += word
  }
  for (const word of line.match(/\s*\S+\s*|\s+/g) ?? []) {
    for (const part of brokenWord(word, columns)) add(part)
  }
  return [...rows, row.trimEnd()]
}

/** Returns a word in parts that fit; nearly always it does. */
function brokenWord(word: string, columns: number): string[] {
  if (columnsOf(word.trimEnd()) <= columns) return [word]
  const parts: string[] = []
  let part = ""
  for (const character of word) {
    if (columnsOf(part + character) > columns) {
      parts.push(part)
      part = ""
    }
    part += character
  }
  return [...parts, part]
}
