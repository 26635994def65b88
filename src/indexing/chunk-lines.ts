/** What the lines of an outline cost in pieces, and how one that costs too much is taken apart. */

import { withoutData } from "../domain/documentation/encoded-data.ts"
import { isWithinCharacter } from "../domain/text/characters.ts"
import { mayEndSentence } from "../domain/text/sentences.ts"
import { bestCuts } from "./chunk-cuts.ts"

/** More characters than this for a piece are no words but data, spaces or rules; they count all the same. */
const CHARS_PER_PIECE_MAX = 16
/** What a word may cost before it is cut like anything else: scripts without spaces, and data. */
const WORD_PIECES_MAX = 40

/** A part of a line as offsets; `to` is after its last character. */
interface Fragment {
  from: number
  to: number
}

/** Knows what lines cost: the pieces of each, added up; blank lines cost nothing, all others at least 1. */
export class LineCosts {
  /** The lines as they are searched: data is cut short in those that would not fit a chunk with it. */
  readonly lines: readonly string[]
  readonly #countPieces: (text: string) => number
  /** What all lines before a line cost. */
  readonly #before: Float64Array

  /** `max` is what fits a chunk. */
  constructor(lines: readonly string[], countPieces: (text: string) => number, max: number) {
    this.#countPieces = countPieces
    this.#before = new Float64Array(lines.length + 1)
    this.lines = lines.map((line, at) => {
      const cost = this.ofText(line)
      const shown = cost > max ? withoutData(line) : line
      this.#before[at + 1] = (this.#before[at] ?? 0) + (shown === line ? cost : this.ofText(shown))
      return shown
    })
  }

  /** The cost of a text without line breaks. */
  ofText(text: string): number {
    if (!/\S/.test(text)) return 0
    return Math.max(this.#countPieces(text), Math.ceil(text.length / CHARS_PER_PIECE_MAX))
  }

  /** The cost of the lines from `from` up to before `to`. */
  of(from: number, to: number): number {
    return (this.#before[to] ?? 0) - (this.#before[from] ?? 0)
  }

  isBlank(line: number): boolean {
    return this.of(line, line + 1) === 0
  }

  /**
   * Cuts a line into fragments that cost at most `target`, the first one together with `lead` and the others
   * together with `extra`, and are about equal: between sentences, else between words, else anywhere.
   */
  cut(line: number, target: number, { lead, extra }: { lead: number; extra: number }): Fragment[] {
    const text = this.lines[line] ?? ""
    const words = this.#wordsOf(text)
    const before = new Float64Array(words.length + 1)
    words.forEach((word, at) => {
      before[at + 1] = (before[at] ?? 0) + word.cost
    })
    const cuts = bestCuts(
      {
        count: words.length,
        sizeOf: (from, to) => (before[to] ?? 0) - (before[from] ?? 0) + (from === 0 ? lead : extra),
        penaltyOf: (word) => words[word - 1]?.penaltyAfter ?? 0,
      },
      target,
      target,
    )
    return [0, ...cuts].map((first, at) => ({
      from: words[first]?.from ?? 0,
      to: words[(cuts[at] ?? words.length) - 1]?.to ?? text.length,
    }))
  }

  #wordsOf(text: string): Word[] {
    const words: Word[] = []
    for (const { 0: word, index } of text.matchAll(WORD)) {
      const last = words.at(-1)
      // Many spaces count too, with the word before them.
      if (last !== undefined) last.cost += Math.floor((index - last.to) / CHARS_PER_PIECE_MAX)
      const parts = this.#partsOf(word)
      let from = index
      parts.forEach((part, at) => {
        const isWordEnd = at === parts.length - 1
        const penaltyAfter = !isWordEnd ? 0.8 : mayEndSentence(word) ? 0 : 0.4
        words.push({ from, to: from + part.length, cost: this.ofText(part), penaltyAfter })
        from += part.length
      })
    }
    return words
  }

  /** Halves a text until each part is cheap. */
  #partsOf(text: string): string[] {
    const isCheap = this.ofText(text) <= WORD_PIECES_MAX
    if (isCheap || text.length < 2) return [text]
    const middle = text.length >> 1
    const cut = isWithinCharacter(text, middle) ? middle + 1 : middle
    if (cut === text.length) return [text]
    return [...this.#partsOf(text.slice(0, cut)), ...this.#partsOf(text.slice(cut))]
  }
}

interface Word extends Fragment {
  cost: number
  /** The penalty for a cut after it. */
  penaltyAfter: number
}

/** Bounded, because a regular expression runs out of room in a word of millions of characters. */
const WORD = /[^\s。！？]{1,1000}[。！？]{0,9}|[。！？]{1,9}/g
