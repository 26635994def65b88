/** Texts for search: words that occur as often as Zipf's law says, the same in every run. */

import { pick, seeded } from "./numbers.ts"

const VOCABULARY = 20_000
const SUBJECT_WORDS = 6
const BODY_WORDS_MIN = 40
const BODY_WORDS_MAX = 80
const CONSONANTS = "bdfghjklmnprstv"
const VOWELS = "aeiou"

export interface Text {
  subject: string
  body: string
}

/** A query, as our search takes it and as a raw FTS5 expression with the same meaning. */
export interface Query {
  ours: string
  raw: string
}

const WORDS: readonly string[] = Array.from({ length: VOCABULARY }, (_, rank) => wordOf(rank))
const CUMULATED = cumulatedFrequencies()

/** Returns `count` texts. */
export function* texts(count: number, seed: number): Generator<Text> {
  const random = seeded(seed)
  for (let index = 0; index < count; index += 1) {
    const length = BODY_WORDS_MIN + Math.floor(random() * (BODY_WORDS_MAX - BODY_WORDS_MIN + 1))
    yield { subject: wordsAtRandom(SUBJECT_WORDS, random), body: wordsAtRandom(length, random) }
  }
}

/**
 * Returns `count` queries: four of five are one to three words, common, middling and rare ones mixed;
 * every fifth is a phrase of two words that stand next to each other in one of the samples.
 */
export function queries(count: number, samples: readonly Text[], seed: number): Query[] {
  const random = seeded(seed)
  const bands = [WORDS.slice(0, 100), WORDS.slice(100, 2_000), WORDS.slice(2_000)]
  return Array.from({ length: count }, (_, index) => {
    if (index % 5 === 4) {
      const body = pick(samples, random).body.split(" ")
      const at = Math.floor(random() * (body.length - 1))
      const phrase = `"${body.slice(at, at + 2).join(" ")}"`
      return { ours: phrase, raw: phrase }
    }
    const words = Array.from({ length: 1 + (index % 3) }, () => pick(pick(bands, random), random))
    return { ours: words.join(" "), raw: words.map((word) => `"${word}"`).join(" OR ") }
  })
}

function wordsAtRandom(count: number, random: () => number): string {
  return Array.from({ length: count }, () => WORDS[rankAtRandom(random)]).join(" ")
}

/** Two syllables for the most common words, three for the others. */
function wordOf(rank: number): string {
  const syllables = CONSONANTS.length * VOWELS.length
  let word = ""
  for (let rest = rank + syllables; rest > 0; rest = Math.floor(rest / syllables)) {
    const syllable = rest % syllables
    word = `${CONSONANTS[Math.floor(syllable / VOWELS.length)]}${VOWELS[syllable % VOWELS.length]}${word}`
  }
  return word
}

function cumulatedFrequencies(): Float64Array {
  const sums = new Float64Array(VOCABULARY)
  let sum = 0
  for (let rank = 0; rank < VOCABULARY; rank += 1) {
    sum += 1 / (rank + 1)
    sums[rank] = sum
  }
  return sums.map((value) => value / sum)
}

function rankAtRandom(random: () => number): number {
  const wanted = random()
  let [low, high] = [0, VOCABULARY - 1]
  while (low < high) {
    const middle = (low + high) >> 1
    if ((CUMULATED[middle] ?? 1) < wanted) low = middle + 1
    else high = middle
  }
  return low
}
