/**
 * Owns the reading of a Markdown body as an ordered list of text units: sentences, bullets, check boxes and
 * headings. It refuses to carry what the author did not say in prose: fenced and indented code, quoted lines,
 * HTML comments and tables.
 */

import { CodeSpanCursor, plainText } from "./inline-text.ts"
import { splitAtBoundaries } from "./sentence-boundary.ts"

/** One text unit in plain text; inline code keeps its backticks. */
export type Sentence =
  | { kind: "paragraph" | "bullet" | "heading"; text: string }
  | { kind: "checkbox"; text: string; checked: boolean }

/**
 * Splits a Markdown body into its text units, in the order written.
 * A block of several sentences gives several units: the first carries the block's kind, the further sentences
 * of a check box are bullets. Never throws; linear in the length of the body.
 */
export function splitSentences(markdown: string): Sentence[] {
  const reader = new BlockReader()
  for (const line of markdown.split(/\r\n?|\n/)) reader.take(line)
  return reader.blocks.flatMap(sentencesOf)
}

type BlockKind = Sentence["kind"]

interface Block {
  kind: BlockKind
  checked: boolean
  lines: string[]
}

function sentencesOf(block: Block): Sentence[] {
  const text = plainText(block.lines.join(" "))
  if (text === "") return []
  if (block.kind === "heading") return [{ kind: "heading", text }]
  return splitAtBoundaries(text).map((sentence, index) => {
    if (block.kind !== "checkbox") return { kind: block.kind, text: sentence }
    return index === 0
      ? { kind: "checkbox", text: sentence, checked: block.checked }
      : { kind: "bullet", text: sentence }
  })
}

const CODE_INDENT = 4

class BlockReader {
  readonly blocks: Block[] = []
  #open: Block | null = null
  #fence: string | null = null
  #inComment = false
  #inTable = false
  #inList = false
  #nextLineStartsUnit = false

  take(line: string): void {
    if (this.#fence !== null) {
      if (closesFence(line, this.#fence)) this.#fence = null
      return
    }
    const visible = this.#withoutComments(line)
    const content = visible.trim()
    if (content === "") {
      // A line that held nothing but a comment does not cut the paragraph around it.
      if (line.trim() === "") this.#close()
      return
    }
    if (this.#isIndentedCode(visible) || this.#takeSkipped(content)) return
    if (this.#takeUnderline(content) || isThematicBreak(content)) {
      this.#close()
      return
    }
    this.#takeText(content, visible)
    this.#nextLineStartsUnit = endsUnit(line, content)
  }

  #close(): void {
    this.#open = null
    this.#inTable = false
    this.#nextLineStartsUnit = false
  }

  #start(kind: BlockKind, text: string, checked = false): void {
    this.#close()
    this.#open = { kind, checked, lines: [text] }
    this.blocks.push(this.#open)
  }

  #isIndentedCode(line: string): boolean {
    return this.#open === null && !this.#inList && indentOf(line) >= CODE_INDENT
  }

  /** Takes the lines that carry no prose of the author: quotes, code fences, tables, link definitions. */
  #takeSkipped(content: string): boolean {
    const bare = content.replace(/^(?:[-*+]|\d{1,9}[.)])\s+/, "")
    const fence = openedFence(bare)
    if (fence !== null || bare.startsWith(">")) {
      this.#close()
      this.#fence = fence
      return true
    }
    return this.#takeTableLine(content) || /^\[[^\]]{1,200}\]:\s*<?https?:/.test(content)
  }

  #takeTableLine(content: string): boolean {
    if (this.#inTable && content.includes("|")) return true
    this.#inTable = false
    if (isTableDelimiter(content)) {
      // The line above a delimiter row is the table's head, though it looked like a paragraph until now.
      if (this.#open?.lines.at(-1)?.includes("|")) this.#open.lines.pop()
      this.#close()
      this.#inTable = true
      return true
    }
    const isRow = content.length > 1 && content.startsWith("|") && content.endsWith("|")
    if (isRow) this.#close()
    return isRow
  }

  /**
   * A line of `===` or `---` makes a heading of the one line above it, unless that line reads as a
   * sentence.
   */
  #takeUnderline(content: string): boolean {
    const open = this.#open
    if (!open || !/^(?:=+|-{2,})$/.test(content)) return false
    const [only = ""] = open.lines
    if (open.kind === "paragraph" && open.lines.length === 1 && !/[.!?;:,]$/.test(only)) open.kind = "heading"
    return true
  }

  #takeText(content: string, line: string): void {
    const heading = /^#{1,6}\s+(.*)$/.exec(content)?.[1]
    const bullet = /^(?:[-*+•]|\d{1,9}[.)])\s+(.*)$/.exec(content)?.[1]
    const [, state, task] = /^\[([ xX])\]\s+(.*)$/.exec(bullet ?? content) ?? []
    if (heading !== undefined) this.#takeHeading(heading)
    else if (task !== undefined) this.#start("checkbox", task, state !== " ")
    else if (bullet !== undefined) this.#start("bullet", bullet)
    else this.#takeProse(content, indentOf(line))
    this.#inList ||= bullet !== undefined
  }

  #takeHeading(text: string): void {
    this.#inList = false
    this.#start("heading", text.replace(/(?<=^|\s)#+$/, ""))
    this.#close()
  }

  #takeProse(content: string, indent: number): void {
    if (this.#open && !this.#nextLineStartsUnit && !startsUnit(content)) {
      this.#open.lines.push(content)
      return
    }
    if (indent === 0) this.#inList = false
    this.#start("paragraph", content)
  }

  #withoutComments(line: string): string {
    if (!this.#inComment && !line.includes("<!--")) return line
    const codeSpans = new CodeSpanCursor(line)
    let visible = ""
    let at = 0
    while (at < line.length) {
      if (this.#inComment) {
        const end = line.indexOf("-->", at)
        if (end < 0) return visible
        this.#inComment = false
        at = end + 3
      }
      const start = line.indexOf("<!--", at)
      if (start < 0) return visible + line.slice(at)
      const code = codeSpans.spanAt(start)
      visible += line.slice(at, code?.end ?? start)
      this.#inComment = code === null
      at = code?.end ?? start + 4
    }
    return visible
  }
}

function indentOf(line: string): number {
  const margin = /^[ \t]*/.exec(line)?.[0] ?? ""
  return margin.replaceAll("\t", "    ").length
}

function openedFence(content: string): string | null {
  const fence = /^(?:`{3,}|~{3,})/.exec(content)?.[0]
  if (fence === undefined) return null
  // A backtick in the info string makes it inline code that happens to open a line.
  return fence.startsWith("`") && content.includes("`", fence.length) ? null : fence
}

function closesFence(line: string, fence: string): boolean {
  const content = line.trim()
  return content.length >= fence.length && content === (fence[0] ?? "").repeat(content.length)
}

function isTableDelimiter(content: string): boolean {
  return content.includes("|") && content.includes("-") && /^[\s|:-]+$/.test(content)
}

function isThematicBreak(content: string): boolean {
  return /^(?:-{3,}|\*{3,}|_{3,})$/.test(content.replace(/\s/g, ""))
}

/** Agents write one statement per line without blank lines: a label or a mention opens a unit of its own. */
function startsUnit(content: string): boolean {
  return /^(?:@[\p{L}\p{N}]|[*_]{0,2}\p{Lu}[\p{L} -]{0,30}[*_]{0,2}:(?:[*_\s]|$))/u.test(content)
}

/**
 * After a hard break, a lead-in that ends in a colon, or a salutation, the next line is a unit of its own.
 */
function endsUnit(line: string, content: string): boolean {
  if (line.endsWith("  ") || content.endsWith("\\") || content.endsWith(":")) return true
  return content.length < 60 && /^(?:hi|hello|hey|dear|thanks|thank you)\b.*[,!]$/i.test(content)
}
