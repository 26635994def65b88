/**
 * Memories and questions: real words that occur as often as Zipf's law says, around topics of their own, the
 * same in every run. Each memory is made from its number alone.
 */

import { readFileSync } from "node:fs"
import { join } from "node:path"
import { SECTORS, type Sector } from "../../src/domain/memory/memory.ts"
import { STOP_WORDS } from "../../src/domain/text/stop-words.ts"
import { pick, seeded } from "./numbers.ts"

const TOKENIZER = join(import.meta.dirname, "..", "..", "model", "tokenizer.json")
/** Shorter pieces are beginnings of words more often than words. */
const WORD_CHARS_MIN = 3
const TOPICS = 400
const TOPIC_WORDS = 40
/** Topics are made of words that are not among the most common ones. */
const TOPIC_RANK_MIN = 300
const TOPIC_SHARE = 0.3
const WORDS_MIN = 20
const WORDS_MAX = 80
const AREAS = 12
const AGE_DAYS_MAX = 300
const QUESTION_STOP_WORDS = 3

export interface CorpusMemory {
  content: string
  topic: number
  /** That of its topic, a 400th of all, and that of its area, a twelfth. */
  tags: string[]
  sector: Sector
  /** The salience it had at its creation. */
  salience: number
  ageDays: number
}

/** What is asked, and the filters that go with it when one is wanted. */
export interface CorpusQuestion {
  text: string
  tag: string
  sector: Sector
}

const WORDS = wholeWords()
const CONTENT_WORDS = WORDS.filter((word) => !STOP_WORDS.has(word))
const QUESTION_WORDS = [..."what when where which why how does did the our for with was about".split(" ")]
const TOPIC_LISTS = Array.from({ length: TOPICS }, (_, topic) => {
  const random = seeded(1_000_000 + topic)
  const candidates = WORDS.slice(TOPIC_RANK_MIN)
  return Array.from({ length: TOPIC_WORDS }, () => pick(candidates, random))
})

/** Returns the memory of a number. */
export function memoryAt(index: number): CorpusMemory {
  const random = seeded(index)
  const topic = topicAtRandom(random)
  const length = WORDS_MIN + Math.floor(random() * (WORDS_MAX - WORDS_MIN + 1))
  return {
    content: `${topicWords(topic, length, random).join(" ")}.`,
    topic,
    tags: [`topic-${topic}`, areaOf(topic)],
    sector: pick(SECTORS, random),
    salience: 0.2 + 0.8 * random(),
    ageDays: AGE_DAYS_MAX * random(),
  }
}

/** Returns a topic at random. */
export function topicAtRandom(random: () => number): number {
  return Math.floor(random() * TOPICS)
}

/** Returns words of a text on a topic: some are its own, the others as common as Zipf's law says. */
export function topicWords(topic: number, count: number, random: () => number): string[] {
  return Array.from({ length: count }, () =>
    random() < TOPIC_SHARE ? pick(TOPIC_LISTS[topic] ?? [], random) : wordAtRandom(random),
  )
}

/** Returns questions of 5 to 9 words: three stop words, and of the rest half common words and half a topic's. */
export function corpusQuestions(count: number, seed: number): CorpusQuestion[] {
  const random = seeded(seed)
  const common = CONTENT_WORDS.slice(0, 2_000)
  return Array.from({ length: count }, (_, index) => {
    const topic = topicAtRandom(random)
    const others = 2 + (index % 5)
    const words = [
      ...Array.from({ length: QUESTION_STOP_WORDS }, () => pick(QUESTION_WORDS, random)),
      ...Array.from({ length: others }, (_, at) =>
        pick(at % 2 === 0 ? (TOPIC_LISTS[topic] ?? []) : common, random),
      ),
    ]
    return { text: `${words.join(" ")}?`, tag: areaOf(topic), sector: pick(SECTORS, random) }
  })
}

function areaOf(topic: number): string {
  return `area-${topic % AREAS}`
}

/** Returns the pieces of the built-in tokenizer that are words, the most common first, as their numbers tell. */
function wholeWords(): string[] {
  const { model } = JSON.parse(readFileSync(TOKENIZER, "utf8")) as {
    model: { vocab: Record<string, number> }
  }
  return Object.entries(model.vocab)
    .filter(([piece]) => piece.length >= WORD_CHARS_MIN && /^[a-z]+$/.test(piece))
    .sort(([, one], [, other]) => one - other)
    .map(([piece]) => piece)
}

/**
 * Returns a word of rank r with a probability of about 1 / r: the logarithm of such a rank is spread evenly,
 * which is Zipf's law with an exponent of 1.
 */
function wordAtRandom(random: () => number): string {
  const rank = Math.floor((WORDS.length + 1) ** random()) - 1
  return WORDS[Math.min(rank, WORDS.length - 1)] ?? ""
}
