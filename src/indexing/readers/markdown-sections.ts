/** Gathers the blocks of a Markdown document under its headings, and keeps its containers together. */

import type { Block, Section } from "../outline.ts"

/** Longer than anything that fits one chunk, so a container above it is better cut between its blocks. */
const CONTAINER_CHARS_MAX = 1_500

interface OpenSection extends Section {
  blocks: Block[]
}

interface OpenContainer {
  section: OpenSection
  /** How many blocks the section had before it. */
  before: number
}

/** Takes the blocks of a document from top to bottom; `sections` and `headings` are what has come of them. */
export class SectionBuilder {
  readonly sections: OpenSection[] = []
  /** Every heading with its level, in order. */
  readonly headings: { level: number; text: string }[] = []
  readonly #lines: readonly string[]
  #section: OpenSection = { headings: [], blocks: [] }
  /** The headings that lead here, levels ascending. */
  readonly #path: { level: number; text: string }[] = []
  readonly #containers: OpenContainer[] = []
  /** The mark of a container that waits for the block to begin with it. */
  #markLine: number | null = null

  constructor(lines: readonly string[]) {
    this.#lines = lines
  }

  /** Begins a section with its heading, whose level is 1 to 6. */
  addHeading(level: number, text: string, from: number, to: number): void {
    while ((this.#path.at(-1)?.level ?? 0) >= level) this.#path.pop()
    this.#path.push({ level, text })
    this.headings.push({ level, text })
    this.#section = { headings: this.#path.map((heading) => heading.text), blocks: [] }
    this.#markLine = null
    this.add({ kind: "heading", from, to, breaks: [] })
  }

  /** Adds a block to the section; one that follows the mark of a container begins with that. */
  add(block: Block): void {
    if (this.#section.blocks.length === 0) this.sections.push(this.#section)
    this.#section.blocks.push(this.#markLine === null ? block : { ...block, from: this.#markLine })
    this.#markLine = null
  }

  /** Takes the line that begins a container. */
  openContainer(line: number): void {
    this.#containers.push({ section: this.#section, before: this.#section.blocks.length })
    this.#markLine ??= line
  }

  /** Takes the line that ends the innermost container; one that ends nothing is left out. */
  closeContainer(line: number): void {
    const container = this.#containers.pop()
    if (container === undefined) return
    const { blocks } = this.#section
    if (this.#markLine !== null) {
      this.add({ kind: "paragraph", from: this.#markLine, to: line + 1, breaks: [] })
      return
    }
    const last = blocks.at(-1)
    if (last === undefined || last.kind === "heading") return
    blocks.splice(-1, 1, { ...last, to: line + 1 })
    if (container.section === this.#section) this.#keepTogether(container.before)
  }

  #keepTogether(before: number): void {
    const { blocks } = this.#section
    const first = blocks[before]
    const last = blocks.at(-1)
    if (first === undefined || last === undefined || first === last) return
    if (!this.#isShort(first.from, last.to)) return
    const parts = blocks.slice(before)
    const breaks = parts.flatMap((part) => (part === first ? part.breaks : [part.from, ...part.breaks]))
    blocks.splice(before, parts.length, { kind: "quote", from: first.from, to: last.to, breaks })
  }

  #isShort(from: number, to: number): boolean {
    let chars = 0
    for (let line = from; line < to && chars <= CONTAINER_CHARS_MAX; line++) {
      chars += (this.#lines[line]?.length ?? 0) + 1
    }
    return chars <= CONTAINER_CHARS_MAX
  }
}
