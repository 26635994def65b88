/** Which sector a memory belongs to when its author named none, by the English cues of `sector-cues.ts`. */

import { maskCode } from "../text/code-spans.ts"
import { splitSentences } from "../text/sentences.ts"
import { SECTORS, type Sector } from "./memory.ts"
import { CUE_KINDS } from "./sector-cues.ts"

/** A cue as it stands in the text, at a UTF-16 offset, and what it adds to its sector. */
interface SectorCue {
  sector: Sector
  cue: string
  weight: number
  from: number
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
 * A sector weighs the sum of its `cues`; `confidence`, how clearly they favour it, is first / (first + second + 1). A tie
 * and a confidence below `SECTOR_CONFIDENCE_MIN` give `semantic`, so texts in other languages do too. Code is not read.
 * Deterministic, never throws, linear in the length of the text.
 */
export function classifySector(content: string): { sector: Sector; confidence: number; cues: SectorCue[] } {
  const cues = findCues(content)
  const weights = SECTORS.map((sector) => weightOf(sector, cues))
  const [first = 0, second = 0] = weights.toSorted((left, right) => right - left)
  const confidence = first / (first + second + 1)
  const isClear = confidence >= SECTOR_CONFIDENCE_MIN && first > second
  return { sector: (isClear && SECTORS[weights.indexOf(first)]) || "semantic", confidence, cues }
}

/** Returns what the cues of a sector weigh together. */
export function weightOf(sector: Sector, cues: readonly SectorCue[]): number {
  return cues.reduce((sum, cue) => sum + (cue.sector === sector ? cue.weight : 0), 0)
}

/** Finds the first cues of each kind, the heaviest kinds first: words count once for a sector. */
function findCues(content: string): SectorCue[] {
  const passages = splitPassages(readable(content))
  const found: SectorCue[] = []
  for (const { sector, weight, pattern } of CUE_KINDS) {
    let count = 0
    for (const { text, isFirst, ...passage } of passages) {
      if (count === CUES_PER_KIND_MAX) break
      // As `matchAll` would, without a copy of the pattern for each of thousands of passages.
      pattern.lastIndex = 0
      for (let match = pattern.exec(text); match !== null; match = pattern.exec(text)) {
        const from = passage.from + match.index
        const cue = content.slice(from, from + match[0].length)
        const isCounted = (other: SectorCue) =>
          other.sector === sector && from < other.from + other.cue.length && other.from < from + cue.length
        if (count === CUES_PER_KIND_MAX || found.some(isCounted)) continue
        const factor = REPEAT_FACTOR ** count++ * (isFirst ? FIRST_SENTENCE_FACTOR : 1)
        found.push({ sector, cue, from, weight: weight * factor })
      }
    }
  }
  return found.sort((left, right) => left.from - right.from)
}

const FENCE = /^( {0,3}(`{3,}|~{3,}).*\n?)([\s\S]*?(?:^ {0,3}\2.*$|(?![\s\S])))/gm
/** Addresses, paths and identifiers, which are made of words but say nothing. */
const NAME = /[A-Za-z_][/_=\\.@][A-Za-z0-9_]|[A-Za-z0-9_][/_=\\.@][A-Za-z_]/

/** Blanks code, names and marks of emphasis; of a fence the line that tells its language stays. Offsets stay the same. */
function readable(content: string): string {
  return content
    .replace(FENCE, (_, opening, _mark, code) => opening.replaceAll("`", "~") + code.replace(/[^\n]/g, " "))
    .replace(/[^\n]+/g, (line) => maskCode(line))
    .replace(/\S+/g, (word) => (NAME.test(word) ? "`".repeat(word.length) : word.replace(/[*_]/g, " ")))
}

const LINE_MARKS = /^\s*(?:#{1,6}\s+|>\s*)?(?:[-+•]\s+|\d{1,3}[.)]\s+)?(?:\[[ xX]\]\s+)?/
/** The end of a line that the next one goes on from, as in text wrapped by hand. */
const WRAP = /(?<=[^\s.!?:;])\n(?=[ \t]{0,8}\p{Ll})/gu

/** Cuts a text into sentences and entries of lists, and those where a colon or semicolon stands. */
function splitPassages(text: string): { text: string; from: number; isFirst: boolean }[] {
  let to = 0
  return splitSentences(text.replace(WRAP, " ")).flatMap((sentence, at) =>
    sentence.split(/(?<=[;:])(?=\s)/).map((clause) => {
      const margin = LINE_MARKS.exec(clause)?.[0].length ?? 0
      to += clause.length
      return { text: clause.slice(margin).trimEnd(), from: to - clause.length + margin, isFirst: at === 0 }
    }),
  )
}
