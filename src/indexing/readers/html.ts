/**
 * Reads HTML: the text that a browser would show, line by line, with the line of the source that each stands
 * on. What is on every page of a site, such as its navigation, is left out.
 */

import { Parser } from "htmlparser2"
import type { BlockKind, Outline } from "../outline.ts"
import { collapse, lineFinder, OutlineBuilder, softBreaks, wordSet } from "../outline-builder.ts"
import { readPlainText } from "./plain-text.ts"

const NESTING_MAX = 512
const INDENTED_LISTS_MAX = 8

const SKIPPED = wordSet(`
  script style nav footer aside template svg noscript iframe object canvas audio video select button textarea
  dialog`)
const BLOCKS = wordSet(`
  address article body caption center details div fieldset figcaption figure footer form h1 h2 h3 h4 h5 h6
  head header hgroup hr html legend main nav p search section summary dl`)
const ROWS = wordSet("table thead tbody tfoot tr td th caption")
const LISTS = wordSet("ul ol menu dir")
const VERBATIM = wordSet("pre listing xmp")
const HEADING = /^h[1-6]$/
const HEADING_LINK = /\s*[¶§]$|\s#$|^[§#¶]\s+/g
const SKIPPED_CLASS =
  /(?:^|\s)(?:headerlink|header-anchor|anchor-link|hash-link|lineno|linenos|navheader|navfooter)(?:\s|$)/

/**
 * Reads HTML. An outline's line is a line of a paragraph, an item, a row of a table, or a line of
 * preformatted text; none has text of two lines of the source but for rows. Where there is exactly one
 * `<main>`, else exactly one `<article>`, else one element with the role `main`, nothing else is read. The
 * title is `<title>`, else the first `<h1>`, else the first heading. Elements nested deeper than 512 make it
 * plain text without its tags. Never throws; takes time in step with the length.
 */
export function readHtml(text: string): Outline {
  try {
    return new Reader(text).read()
  } catch (error) {
    if (!(error instanceof NestingError)) throw error
    return readPlainText(text.replace(/<[^<>]*>/g, (tag) => tag.replace(/[^\n]+/g, " ")))
  }
}

class NestingError extends Error {}

type Attributes = Record<string, string>

interface TagHandler {
  open(name: string, attributes: Attributes, depth: number): void
  close(name: string, depth: number): void
  text?(data: string, offset: number): void
}

/** Hands over the tags of all elements in pairs; throws NestingError for those that are too deep. */
function parse(source: string, handler: TagHandler): void {
  let depth = 0
  const parser = new Parser(
    {
      onopentag(name, attributes) {
        if (++depth > NESTING_MAX) throw new NestingError()
        handler.open(name, attributes, depth)
      },
      // Void elements are closed as well, at once.
      onclosetag: (name) => handler.close(name, depth--),
      ontext: (data) => handler.text?.(data, parser.startIndex),
    },
    { recognizeSelfClosing: /^\s*<\?xml\b/.test(source.slice(0, 100)) },
  )
  parser.end(source)
}

/** What has to be known of a document before it is read. */
interface Survey {
  /** The kind of element that there is one of, which alone is read; null for all. */
  scope: Scope | null
  /** The tables, by their order, that only place things: those with headings, code or tables inside. */
  layoutTables: ReadonlySet<number>
}

const SCOPES = ["main", "article", "role"] as const
type Scope = (typeof SCOPES)[number]

function scopeOf(name: string, { role }: Attributes): Scope | null {
  if (name === "main" || name === "article") return name
  return role === "main" ? "role" : null
}

function survey(source: string): Survey {
  const scopes: Scope[] = []
  const layoutTables = new Set<number>()
  if (!/<(?:main|article|table)\b|role=["']?main/i.test(source)) return { scope: null, layoutTables }
  const around: number[] = []
  let tables = 0
  parse(source, {
    open(name, attributes) {
      const scope = scopeOf(name, attributes)
      if (scope !== null) scopes.push(scope)
      if (name === "table" || VERBATIM.has(name) || HEADING.test(name)) {
        // Once marked they need not be looked at again.
        for (const table of around.splice(0)) layoutTables.add(table)
      }
      if (name === "table") around.push(tables++)
    },
    close(name) {
      if (name === "table") around.pop()
    },
  })
  const scope = SCOPES.find((name) => scopes.filter((other) => other === name).length === 1)
  return { scope: scope ?? null, layoutTables }
}

interface Table {
  cells: string[]
  isInCell: boolean
  /** Whether the row has had no other cells than headings. */
  isHeading: boolean
  /** The line of the source on which the row's text begins; 0 while there is none. */
  number: number
}

/** Takes the tags and texts and writes the lines and blocks of the outline. */
class Reader implements TagHandler {
  readonly #source: string
  readonly #survey: Survey
  readonly #lines: string[] = []
  readonly #numbers: number[] = []
  readonly #builder = new OutlineBuilder(this.#lines)
  readonly #lineAt: (offset: number) => number
  /** The depths of the elements that are left out, and read alone; 0 outside of them. */
  #skippedAt = 0
  #scopeAt = 0
  #title: string | null = null
  #firstH1: string | null = null
  #isInTitle = false
  #headingLevel = 0
  #articles = 0
  #verbatim = 0
  #quotes = 0
  #tables = 0
  #table: Table | null = null
  /** The line that is being put together, and where it begins in the source. */
  #text = ""
  #endsInSpace = false
  #number = 1
  /** The block that is being put together; -1 before its first line. */
  #from = -1
  #breaks: number[] = []
  #headerTo = 0
  #lists = 0
  /** What the next line of a list begins. */
  #begins: "item" | "paragraph" | null = null
  /** Whether the block is a term, and from which line on it says what the term means. */
  #term: { descriptionFrom: number | null } | null = null

  constructor(source: string) {
    this.#source = source
    this.#survey = survey(source)
    this.#lineAt = lineFinder(source)
  }

  read(): Outline {
    parse(this.#source, this)
    this.#endBlock()
    const title = collapse(this.#title ?? "").trim()
    this.#builder.title = title === "" ? this.#firstH1 : title
    return this.#builder.finish(Int32Array.from(this.#numbers))
  }

  open(name: string, attributes: Attributes, depth: number): void {
    if (name === "table") this.#tables++
    if (this.#skippedAt > 0) return
    if (this.#isSkipped(name, attributes)) {
      this.#skippedAt = depth
      return
    }
    if (name === "main" || name === "article") this.#articles++
    if (name === "title") this.#isInTitle = this.#title === null
    const scope = scopeOf(name, attributes)
    if (scope !== null && scope === this.#survey.scope && this.#scopeAt === 0) this.#scopeAt = depth
    if (this.#isOutside) return
    if (this.#table === null) this.#openBlock(name)
    else this.#openInTable(this.#table, name)
  }

  close(name: string, depth: number): void {
    if (this.#skippedAt > 0) {
      if (depth === this.#skippedAt) this.#skippedAt = 0
      return
    }
    if (name === "main" || name === "article") this.#articles--
    if (name === "title") this.#isInTitle = false
    if (this.#isOutside) return
    if (this.#table === null) this.#closeBlock(name)
    else this.#closeInTable(this.#table, name)
    if (depth !== this.#scopeAt) return
    this.#endBlock()
    this.#scopeAt = 0
  }

  text(data: string, offset: number): void {
    if (this.#skippedAt > 0) return
    if (this.#isInTitle) this.#title = (this.#title ?? "") + data
    else if (!this.#isOutside) this.#addText(data, this.#lineAt(offset))
  }

  get #isOutside(): boolean {
    return this.#survey.scope !== null && this.#scopeAt === 0
  }

  #isSkipped(name: string, attributes: Attributes): boolean {
    if (SKIPPED.has(name)) return true
    // The header of an article has its title; that of the page has the site's.
    if (name === "header" && this.#articles === 0 && this.#scopeAt === 0) return true
    const { role, hidden, style } = attributes
    if (role === "navigation" || (hidden !== undefined && hidden !== "until-found")) return true
    if (style !== undefined && /display:\s*none/i.test(style)) return true
    if (attributes["aria-hidden"] === "true" && /^(?:a|span|i)$/.test(name)) return true
    return SKIPPED_CLASS.test(attributes.class ?? "")
  }

  #openBlock(name: string): void {
    if (name === "br") this.#endLine()
    else if (HEADING.test(name)) {
      this.#endBlock()
      this.#headingLevel = Number(name.slice(1))
    } else if (VERBATIM.has(name)) {
      if (this.#verbatim === 0) this.#endBlock()
      this.#verbatim++
    } else if (LISTS.has(name)) {
      if (this.#lists === 0) this.#endBlock()
      else this.#endLine()
      this.#lists++
    } else if (name === "li") {
      this.#endLine()
      this.#begins = "item"
    } else if (name === "dt" || name === "dd") this.#openTerm(name)
    else if (name === "blockquote") {
      this.#endBlock()
      this.#quotes++
    } else if (name === "table" && !this.#survey.layoutTables.has(this.#tables - 1)) {
      this.#endBlock()
      this.#table = { cells: [], isInCell: false, isHeading: true, number: 0 }
    } else if (BLOCKS.has(name) || ROWS.has(name)) this.#endParagraph()
  }

  #closeBlock(name: string): void {
    if (HEADING.test(name)) this.#endBlock()
    else if (VERBATIM.has(name)) {
      if (this.#verbatim === 1) this.#endBlock()
      this.#verbatim--
    } else if (LISTS.has(name)) {
      if (this.#lists === 1) this.#endBlock()
      else this.#endLine()
      this.#lists--
    } else if (name === "blockquote") {
      this.#endBlock()
      this.#quotes--
    } else if (name === "li" || name === "dt") this.#endLine()
    else if (name === "dd" || BLOCKS.has(name) || ROWS.has(name)) this.#endParagraph()
  }

  /** A term begins a block, together with the terms above it and the first paragraph of what it means. */
  #openTerm(name: "dt" | "dd"): void {
    this.#endLine()
    if (this.#lists > 0) this.#begins = "paragraph"
    else if (name === "dd") this.#term = { descriptionFrom: this.#lines.length }
    else if (this.#term === null || this.#term.descriptionFrom !== null) {
      this.#endBlock()
      this.#term = { descriptionFrom: null }
    }
  }

  #openInTable(table: Table, name: string): void {
    if (name === "td" || name === "th") {
      this.#endCell(table)
      table.isInCell = true
      if (name === "td") table.isHeading = false
    } else if (BLOCKS.has(name) || LISTS.has(name) || /^(?:li|br|dt|dd)$/.test(name)) {
      if (table.isInCell) this.#text += " "
      else this.#endLine()
    }
  }

  #closeInTable(table: Table, name: string): void {
    if (name === "td" || name === "th") this.#endCell(table)
    else if (name === "tr" || name === "thead" || name === "table") {
      this.#endCell(table)
      this.#endRow(table)
      if (name === "thead" && this.#from >= 0) this.#headerTo = this.#lines.length
      if (name !== "table") return
      this.#endBlock()
      this.#table = null
    } else if (!table.isInCell) this.#endLine()
  }

  #endCell(table: Table): void {
    if (table.isInCell) table.cells.push(collapse(this.#text).trim())
    else this.#endLine()
    table.isInCell = false
    this.#text = ""
  }

  #endRow(table: Table): void {
    const { cells } = table
    const isHeader = table.isHeading && this.#breaks.length === 0
    Object.assign(table, { cells: [], isHeading: true })
    if (cells.every((cell) => cell === "")) return
    this.#pushLine(cells.join(" | "), table.number, true)
    if (isHeader) this.#headerTo = this.#lines.length
    table.number = 0
  }

  /** `number` is the line of the source on which `data` begins. */
  #addText(data: string, number: number): void {
    if (this.#table?.isInCell) {
      if (this.#table.number === 0 && /\S/.test(data)) {
        this.#table.number = number + data.slice(0, data.search(/\S/)).split("\n").length - 1
      }
      this.#text += data
      return
    }
    const parts = data.split("\n")
    for (let at = 0; at < parts.length; at++) {
      if (at > 0) this.#endLine()
      const part = parts[at] ?? ""
      if (this.#text === "") this.#number = number + at
      if (this.#verbatim > 0) this.#text += part.replaceAll("\u00a0", " ")
      else this.#addCollapsed(collapse(part))
    }
  }

  #addCollapsed(part: string): void {
    const added = (this.#text === "" || this.#endsInSpace) && part.startsWith(" ") ? part.slice(1) : part
    if (added === "") return
    this.#text += added
    this.#endsInSpace = added.endsWith(" ")
  }

  #endLine(): void {
    const text = this.#text.trimEnd()
    this.#text = ""
    if (this.#verbatim > 0) {
      // Blank lines count only between others.
      if (text !== "" || this.#from >= 0) this.#pushLine(text, this.#number, false)
    } else if (text !== "") {
      const indent = "  ".repeat(Math.min(this.#lists, INDENTED_LISTS_MAX))
      const prefix = this.#begins === "item" ? `${indent.slice(2)}- ` : indent
      const shown = this.#headingLevel > 0 ? text.replace(HEADING_LINK, "") : prefix + text
      this.#pushLine(shown, this.#number, this.#begins !== null)
      this.#begins = null
    }
  }

  #pushLine(text: string, number: number, isBreak: boolean): void {
    const last = this.#numbers.at(-1)
    if (this.#from < 0 && last !== undefined) {
      this.#lines.push("")
      this.#numbers.push(last)
    }
    if (this.#from < 0) this.#from = this.#lines.length
    if (isBreak) this.#breaks.push(this.#lines.length)
    this.#lines.push(text)
    this.#numbers.push(Math.max(number, last ?? 1))
  }

  #endParagraph(): void {
    this.#endLine()
    if (this.#headingLevel > 0 || this.#verbatim > 0) return
    if (this.#lists > 0) this.#begins ??= "paragraph"
    else if (this.#term === null) this.#endBlock()
    else if ((this.#term.descriptionFrom ?? this.#lines.length) < this.#lines.length) this.#endBlock()
  }

  #endBlock(): void {
    if (this.#text !== "") this.#endLine()
    const [from, to] = [this.#from, this.#lines.length]
    const level = this.#headingLevel
    if (from >= 0) {
      const heading = level > 0 ? this.#lines.slice(from).join(" ").trim() : ""
      if (heading !== "") this.#builder.addHeading(level, heading, from, to)
      else this.#addBlock(from, to)
      if (level === 1 && heading !== "") this.#firstH1 ??= heading
    }
    this.#from = -1
    this.#breaks = []
    this.#headerTo = 0
    this.#headingLevel = 0
    this.#term = null
  }

  #addBlock(from: number, to: number): void {
    let kind: BlockKind = this.#quotes > 0 ? "quote" : "paragraph"
    if (this.#table !== null) kind = "table"
    else if (this.#verbatim > 0) kind = "code"
    else if (this.#lists > 0 || this.#term !== null) kind = "list"
    const breaks = kind === "code" ? softBreaks(this.#lines, from, to) : this.#breaks
    const isCut = breaks.some((line) => line > from)
    this.#builder.addBlock(kind, from, to, isCut ? breaks : undefined, this.#headerTo)
  }
}
