/**
 * Which sector a memory belongs to when its author named none: weighs English cues, explains itself, and
 * answers `semantic` when in doubt. Owns the reading and the weighing; the cues are in `sector-cues.ts`.
 */

import { maskCode } from "../text/code-spans.ts"
import { splitSentences } from "../text/sentences.ts"
import { SECTORS, type Sector } from "./memory.ts"
import { CUE_KINDS, type CueKind } from "./sector-cues.ts"

/** A cue as it stands in the text, cited word by word, and what it adds to its sector. */
interface SectorCue {
  sector: Sector
  cue: string
  weight: number
}

interface Classification {
  sector: Sector
  /** How clearly the cues favour one sector, 0 (no cue) to 1 (not reached). */
  confidence: number
  cues: SectorCue[]
}

/** Below this the answer is `semantic`; a lone cue has to weigh about 0.8 to reach it. */
export const SECTOR_CONFIDENCE_MIN = 0.45
/** Of one kind only the first few cues count, each less than the one before: length alone decides nothing. */
const CUES_PER_KIND_MAX = 3
const REPEAT_FACTOR = 0.6
/** Memories tend to say first what they are about. */
const FIRST_SENTENCE_FACTOR = 1.25

/**
 * Classifies a memory by its cues: the sector with the heaviest cues, if it is clearly ahead.
 *
 * A sector weighs the sum of its `cues`; `confidence` is first / (first + second + 1). A tie and a
 * confidence below `SECTOR_CONFIDENCE_MIN` give `semantic`, so texts in other languages do too. Code is not
 * read. Deterministic, never throws, linear in the length of the text.
 */
export function classifySector(content: string): Classification {
  const cues = findCues(content)
  const ranking = SECTORS.map((sector) => ({ sector, weight: weightOf(sector, cues) })).sort(
    (left, right) => right.weight - left.weight,
  )
  const [first, second] = ranking
  if (first === undefined || second === undefined) return { sector: "semantic", confidence: 0, cues }
  const confidence = first.weight / (first.weight + second.weight + 1)
  const isClear = confidence >= SECTOR_CONFIDENCE_MIN && first.weight > second.weight
  return { sector: isClear ? first.sector : "semantic", confidence, cues }
}

/** Returns what the cues of a sector weigh together. */
export function weightOf(sector: Sector, cues: readonly SectorCue[]): number {
  let weight = 0
  for (const cue of cues) if (cue.sector === sector) weight += cue.weight
  return weight
}

function findCues(content: string): SectorCue[] {
  const passages = splitPassages(maskNames(maskAllCode(content)))
  const found: FoundCue[] = []
  for (const kind of CUE_KINDS) findKind(kind, passages, found)
  return found
    .sort((left, right) => left.from - right.from)
    .map(({ sector, weight, from, to }) => ({ sector, cue: content.slice(from, to), weight }))
}

interface FoundCue {
  sector: Sector
  weight: number
  from: number
  to: number
}

/** Adds the first cues of a kind to those found. Words count once for a sector, as the heaviest kind. */
function findKind(
  { sector, weight, pattern }: CueKind,
  passages: readonly Passage[],
  found: FoundCue[],
): void {
  let repeats = 0
  for (const passage of passages) {
    // As `matchAll` would, without a copy of the pattern for each of thousands of passages.
    pattern.lastIndex = 0
    for (let match = pattern.exec(passage.text); match !== null; match = pattern.exec(passage.text)) {
      const from = passage.from + match.index
      const to = from + match[0].length
      if (found.some((other) => other.sector === sector && from < other.to && other.from < to)) continue
      const factor = REPEAT_FACTOR ** repeats * (passage.isFirst ? FIRST_SENTENCE_FACTOR : 1)
      found.push({ sector, weight: weight * factor, from, to })
      repeats += 1
      if (repeats === CUES_PER_KIND_MAX) return
    }
  }
}

/**
 * Blanks code, fenced and inline, in marks that stand for it; of a fence the line that tells its language
 * stays. Offsets stay the same.
 */
function maskAllCode(text: string): string {
  let fence = ""
  return text.replace(/[^\n]+/g, (line) => {
    const mark = /^\s{0,3}(`{3,}|~{3,})/.exec(line)?.[1] ?? ""
    if (fence !== "") {
      if (mark.startsWith(fence)) fence = ""
      return " ".repeat(line.length)
    }
    fence = mark
    return fence === "" ? maskCode(line) : line.replaceAll("`", "~")
  })
}

/**
 * Blanks addresses, paths and identifiers, which are made of words but say nothing, and emphasis marks,
 * which would hide a word; offsets stay the same.
 */
function maskNames(text: string): string {
  return text.replace(/\S+/g, (token) => (isName(token) ? masked(token) : token.replace(/[*_]/g, " ")))
}

function isName(token: string): boolean {
  return /[A-Za-z_][/_=\\.@][A-Za-z0-9_]|[A-Za-z0-9_][/_=\\.@][A-Za-z_]/.test(token)
}

function masked(text: string): string {
  return "`".repeat(text.length)
}

/** A sentence, a list item or a part of one up to a colon or semicolon. */
interface Passage {
  text: string
  from: number
  isFirst: boolean
}

const LINE = /[^\n]+/g
const LINE_MARKS = /^\s*(?:#{1,6}\s+|>\s*)?(?:[-+•]\s+|\d{1,3}[.)]\s+)?(?:\[[ xX]\]\s+)?/
/** The end of a line that the next one goes on from, as in text wrapped by hand. */
const WRAP = /(?<=[^\s.!?:;])\n(?=[ \t]{0,8}\p{Ll})/gu
const CLAUSE = /\S[^;:]*(?:[;:](?!\s)[^;:]*)*[;:]?/g

function splitPassages(text: string): Passage[] {
  const passages: Passage[] = []
  let isFirst = true
  for (const line of text.replace(WRAP, " ").matchAll(LINE)) {
    const margin = LINE_MARKS.exec(line[0])?.[0].length ?? 0
    let from = line.index + margin
    for (const sentence of splitSentences(line[0].slice(margin))) {
      for (const clause of sentence.matchAll(CLAUSE)) {
        passages.push({ text: clause[0], from: from + clause.index, isFirst })
        if (!/[;:]$/.test(clause[0])) isFirst = false
      }
      from += sentence.length
    }
  }
  return passages
}
