/** What a reader makes of a document: its text as lines, and the blocks of these that belong together. */

export type BlockKind = "heading" | "paragraph" | "code" | "list" | "table" | "quote" | "markup"

/** Lines that are best read whole. Positions count the lines of the outline from 0; `to` is after the last. */
export interface Block {
  kind: BlockKind
  from: number
  to: number
  /** Where a part may begin when the block is too long: rows, items, lines; ascending, all above `from`. */
  breaks: readonly number[]
  /** What a part needs to be understood, such as the header of a table: the lines from `from` to here. */
  headerTo?: number
}

/** A heading and what follows it up to the next one; what stands before the first heading has none. */
export interface Section {
  /** The plain texts of the headings that lead here, outermost first, its own last; empty before the first one. */
  headings: readonly string[]
  /** In order, without the blank lines between them; the heading's own lines are the first block. */
  blocks: readonly Block[]
}

export interface Outline {
  /** What the document calls itself: its front matter's title, else its first heading; null when it has none. */
  title: string | null
  /** The text to show and to search. A plain text's are the file's own; of markup that is unreadable, its text. */
  lines: readonly string[]
  /** The file's line, from 1, that each line of the outline stands on; absent where they are the file's own. */
  lineNumbers?: Int32Array
  sections: readonly Section[]
}
