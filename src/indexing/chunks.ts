/**
 * Cuts an outline into the chunks that are found, embedded and shown: along headings, with blocks kept whole
 * where they fit, and never larger than the model of meaning reads.
 */

import type { Chunk } from "../domain/documentation/documentation.ts"
import { bestCuts } from "./chunk-cuts.ts"
import { LineCosts } from "./chunk-lines.ts"
import type { Block, Outline, Section } from "./outline.ts"

/** How large a chunk is at most, in pieces: above `target` only to keep together what belongs together. */
export const CHUNK_PIECES = { target: 240, max: 256 } as const

/** What goes with something else, a heading or the header of a table, must leave that as much room. */
const COMPANION_PIECES_MAX = CHUNK_PIECES.target / 2
/** Lines between blocks that no block has, such as comments; more of them are not taken into a chunk. */
const UNREAD_PIECES_MAX = 30

/** A section, with the headings before it that have no text of their own. */
interface Passage {
  headings: readonly string[]
  blocks: readonly Block[]
}

/** Lines that are not cut, unless it is one line that is too long for a chunk. */
interface Unit {
  from: number
  to: number
  /** How bad it is to begin a chunk with it; see `Cuttable`. */
  penalty: number
  isTooLong: boolean
  /** What it needs when it begins a chunk: lines that stand elsewhere, and their cost. */
  context: string
  contextCost: number
}

/**
 * Cuts an outline into chunks, in order; `countPieces` is the tokenizer's count for a text.
 *
 * A chunk has at most 256 pieces, its context included and long data left out (see `withoutData`), as long as the
 * pieces of a text are at most those of its lines together. It has at most 240 unless a block or the rest of a section
 * would be cut by that. Sections are not mixed, however small: to join small ones finds fewer answers. But a heading
 * without a text of its own goes with what is below it. Blocks above 256 pieces are cut at their breaks, lines above
 * that between sentences or words, in about equal parts, of which each but the last keeps the blanks after it; such a
 * part has the line's number, and the heading above the line goes with its first part. Every other text is its lines, word for word, without blank ones at its ends.
 * The time grows with the text.
 */
export function chunkOutline(outline: Outline, countPieces: (text: string) => number): Chunk[] {
  const costs = new LineCosts(outline.lines, countPieces, CHUNK_PIECES.max)
  let before: Part | undefined
  return passagesOf(outline.sections).flatMap(({ headings, blocks }) =>
    runsOf(unitsOf(blocks, costs), costs).flatMap((run) =>
      cutRun(run, costs).map((part) => {
        const own = withoutBlankEnds(part, costs.lines)
        const gap = gapBetween(before, own, costs.lines)
        before = own
        return { ...chunkOf(own, headings, outline, costs.lines), gap }
      }),
    ),
  )
}

/** Returns the line breaks between two parts, if nothing but blank lines stands there; 0 within one line. */
function gapBetween(before: Part | undefined, part: Part, lines: readonly string[]): number | null {
  if (before === undefined) return null
  if (before.fragment !== null && part.fragment !== null && before.to === part.to) return 0
  if (before.fragment !== null || part.fragment !== null) return null
  const isBlank = lines.slice(before.to, part.from).every((line) => !/\S/.test(line))
  return isBlank ? part.from - before.to + 1 : null
}

function passagesOf(sections: readonly Section[]): Passage[] {
  const passages: Passage[] = []
  for (const { headings, blocks } of sections) {
    if (blocks.length === 0) continue
    const last = passages.at(-1)
    const leadsHere = last !== undefined && !hasText(last) && isBelow(headings, last.headings)
    const own = { headings, blocks: [...(leadsHere ? last.blocks : []), ...blocks] }
    if (leadsHere) passages[passages.length - 1] = own
    else passages.push(own)
  }
  return passages
}

function hasText({ blocks }: Passage): boolean {
  return blocks.some(({ kind }) => kind !== "heading")
}

/** Whether headings lead on from others; a section before the first heading leads nowhere. */
function isBelow(headings: readonly string[], above: readonly string[]): boolean {
  return (
    above.length > 0 &&
    headings.length > above.length &&
    above.every((heading, at) => heading === headings[at])
  )
}

/** Beginning with a block is best, except after what announces it. */
const PENALTY = {
  announced: 0.2,
  withinBlock: 0.5,
  withinPart: 0.8,
  never: Number.POSITIVE_INFINITY,
} as const

function unitsOf(blocks: readonly Block[], costs: LineCosts): Unit[] {
  const units: Unit[] = []
  /** The first of the headings that stand right before a block, and go with it. */
  let lead: number | null = null
  for (const [at, block] of blocks.entries()) {
    const leadCost: number = lead === null ? 0 : costs.of(lead, block.from)
    const goesWithLead = lead !== null && leadCost <= COMPANION_PIECES_MAX
    const penalty = goesWithLead
      ? PENALTY.never
      : isAnnounced(costs.lines, blocks[at - 1])
        ? PENALTY.announced
        : 0
    const place = { penalty, leadCost: goesWithLead ? leadCost : 0 }
    for (const unit of unitsOfBlock(block, place, costs)) units.push(unit)
    if (block.kind !== "heading" || costs.of(block.from, block.to) > COMPANION_PIECES_MAX) lead = null
    else if (!goesWithLead) lead = block.from
  }
  return units
}

function isAnnounced(lines: readonly string[], before: Block | undefined): boolean {
  return before?.kind === "paragraph" && /[:：]\s*$/.test((lines[before.to - 1] ?? "").slice(-9))
}

interface Place {
  penalty: number
  /** What the lines before it cost that must be in the same chunk. */
  leadCost: number
}

function unitsOfBlock(block: Block, { penalty, leadCost }: Place, costs: LineCosts): Unit[] {
  const whole = { from: block.from, to: block.to, penalty, isTooLong: false, context: "", contextCost: 0 }
  if (costs.of(block.from, block.to) + leadCost <= CHUNK_PIECES.max) {
    return costs.of(block.from, block.to) > 0 ? [whole] : []
  }
  const headerTo = block.headerTo ?? block.from
  const headerCost = costs.of(block.from, headerTo)
  const hasContext = headerCost > 0 && headerCost <= COMPANION_PIECES_MAX
  const context = hasContext ? costs.lines.slice(block.from, headerTo).join("\n").trim() : ""
  const contextCost = hasContext ? headerCost : 0
  const starts = [block.from, ...block.breaks.filter((line) => line > headerTo)]
  const rate = breakPenalty(starts.slice(1), costs)
  return starts.flatMap((from, at) => {
    const part = { ...whole, from, to: starts[at + 1] ?? block.to }
    const later = { penalty: rate(from), context, contextCost }
    if (at > 0) return unitsOfPart({ ...part, ...later }, contextCost, later, costs)
    return unitsOfPart(part, leadCost, later, costs)
  })
}

/**
 * Cuts what lies between two breaks into its lines if it is too large. `roomTaken` is what goes with the first
 * of these, and `later` what holds for the others.
 */
function unitsOfPart(
  part: Unit,
  roomTaken: number,
  { context, contextCost }: Pick<Unit, "context" | "contextCost">,
  costs: LineCosts,
): Unit[] {
  const cost = costs.of(part.from, part.to)
  if (cost === 0) return []
  if (cost + roomTaken <= CHUNK_PIECES.max) return [part]
  const units: Unit[] = []
  for (let line = part.from; line < part.to; line++) {
    if (costs.isBlank(line)) continue
    const isFirst = units.length === 0
    const room = CHUNK_PIECES.max - (isFirst ? roomTaken : contextCost)
    const one = isFirst ? part : { ...part, penalty: PENALTY.withinPart, context, contextCost }
    units.push({ ...one, from: line, to: line + 1, isTooLong: costs.of(line, line + 1) > room })
  }
  return units
}

/** Rates the breaks of a block: best are those of the smallest indent, and those after a blank line. */
function breakPenalty(breaks: readonly number[], costs: LineCosts) {
  const indentOf = (line: number) => (costs.lines[line] ?? "").search(/\S/)
  let smallest = Number.POSITIVE_INFINITY
  let hasBlank = false
  for (const line of breaks) {
    const indent = indentOf(line)
    if (indent >= 0 && indent < smallest) smallest = indent
    hasBlank ||= costs.isBlank(line - 1)
  }
  return (line: number): number => {
    const deeper = Math.max(0, indentOf(line) - smallest)
    const isDense = hasBlank && !costs.isBlank(line - 1)
    return PENALTY.withinBlock + Math.min(0.3, deeper * 0.1) + (isDense ? 0.2 : 0)
  }
}

/** Parts the units where no chunk goes on: at many lines that are not read, and about a line that is too long. */
function runsOf(units: readonly Unit[], costs: LineCosts): Unit[][] {
  const runs: Unit[][] = []
  let last: Unit | undefined
  for (const unit of units) {
    const isApart =
      last === undefined ||
      last.isTooLong ||
      (unit.penalty !== PENALTY.never && (unit.isTooLong || costs.of(last.to, unit.from) > UNREAD_PIECES_MAX))
    if (isApart) runs.push([unit])
    else runs.at(-1)?.push(unit)
    last = unit
  }
  return runs
}

/** Lines that make a chunk; the last one only as far as the fragment goes, if there is one. */
interface Part {
  from: number
  to: number
  context: string
  fragment: { from: number; to: number } | null
}

function cutRun(units: readonly Unit[], costs: LineCosts): Part[] {
  const first = units[0]
  const last = units.at(-1)
  if (first === undefined || last === undefined) return []
  if (last.isTooLong) return cutLine(first, last, costs)
  const cuts = bestCuts(
    {
      count: units.length,
      sizeOf: (from, to) =>
        costs.of(units[from]?.from ?? 0, units[to - 1]?.to ?? 0) + (units[from]?.contextCost ?? 0),
      penaltyOf: (unit) => units[unit]?.penalty ?? 0,
    },
    CHUNK_PIECES.target,
    CHUNK_PIECES.max,
  )
  return [0, ...cuts].flatMap((from, at) => {
    const start = units[from]
    const end = units[(cuts[at] ?? units.length) - 1]
    if (start === undefined || end === undefined) return []
    return { from: start.from, to: end.to, context: start.context, fragment: null }
  })
}

/** Cuts a line that is too long; the lines before it in its run go with its first fragment. */
function cutLine(first: Unit, { from: line, context, contextCost }: Unit, costs: LineCosts): Part[] {
  const lead = costs.of(first.from, line)
  return costs
    .cut(line, CHUNK_PIECES.target, { lead: lead + first.contextCost, extra: contextCost })
    .map((fragment, at, all) => ({ from: fragment.from, to: all[at + 1]?.from ?? fragment.to }))
    .map((fragment, at) =>
      at === 0
        ? { from: first.from, to: line + 1, context: first.context, fragment }
        : { from: line, to: line + 1, context, fragment },
    )
}

function withoutBlankEnds(part: Part, lines: readonly string[]): Part {
  let { from, to } = part
  while (from < to && !/\S/.test(lines[from] ?? "")) from++
  while (to > from && !/\S/.test(lines[to - 1] ?? "")) to--
  return { ...part, from, to }
}

function chunkOf(
  part: Part,
  headings: readonly string[],
  { lines, lineNumbers }: Outline,
  searched: readonly string[],
): Omit<Chunk, "gap"> {
  const { from, to } = part
  const shown = lines.slice(from, to)
  if (part.fragment !== null)
    shown[shown.length - 1] = (searched[to - 1] ?? "").slice(part.fragment.from, part.fragment.to)
  return {
    lineStart: lineNumbers?.[from] ?? from + 1,
    lineEnd: lineNumbers?.[to - 1] ?? to,
    headings,
    text: shown.join("\n"),
    context: part.context,
  }
}
