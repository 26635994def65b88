/**
 * Owns the choice of the few sentences that stand for a thread.
 * It refuses to write: it ranks what was said, and small talk, headings and check boxes never stand for a
 * thread.
 */

import { sentenceWords } from "../text/content-words.ts"
import { wholeWords } from "../text/whole-words.ts"
import { isDecision } from "./decision.ts"
import type { Statement } from "./statement.ts"

/**
 * Score of a sentence in the last mail over that of the same sentence in a mail a quarter of the thread
 * earlier.
 */
const QUARTER_FACTOR = 2
const LOWEST_RECENCY = 1 / 4
/** A short thread ages as if it had this many mails: in a thread of two, the first is not old news. */
const SHORTEST_AGEING = 8

const DECISION_WEIGHT = 1.5
const BLOCKER_WEIGHT = 1.3
const SUBJECT_WEIGHT = 1.1
const MOST_SUBJECT_WORDS = 3

const FEWEST_WORDS = 4
/** A sentence of fewer words is measured as if it had this many, or one frequent word would win alone. */
const SHORTEST_MEASURED = 8
const MOST_SHARED = 0.5

/**
 * Sentences of one mail that may compete, the first and the last ones: a pasted log of a thousand lines must
 * neither drown the other mails nor be weighed line by line.
 */
const OPENING_CANDIDATES = 30
const CLOSING_CANDIDATES = 10
/** Sentences compared for redundancy: each only with those already chosen, and only this many best ones. */
const COMPARED_CANDIDATES = 200

const SMALL_TALK = new RegExp(
  `^${wholeWords(
    "hi|hello|hey|dear|thanks|thank you|thx|cheers|best|regards|welcome|congrats|great|cool|nice",
    "ok|okay|sure|sounds good|got it|lgtm|ack|acknowledged|roger|noted|yes|no|yep|will do|\\+1|👍",
    "good (?:morning|afternoon|evening|catch|point|job|work)",
  )}`,
  "iu",
)
const LONGEST_SMALL_TALK = 9
const BLOCKER = new RegExp(
  wholeWords(
    "block(?:ed|er|ers|ing|s)|broken|breaking|breaks|fail(?:s|ed|ing|ure|ures)|regression|risk|urgent",
    "critical|outage|data loss|deadlock",
  ),
  "iu",
)

interface Candidate {
  statement: Statement
  position: number
  words: ReadonlySet<string>
  isDecision: boolean
}

/**
 * Chooses at most `limit` statements that stand for a thread, in the order they were written.
 *
 * score = centrality x recency x cues.
 * Centrality is the mean weight of a sentence's distinct words, where a word weighs tf x ln(1 + N / df): tf
 * the candidates that hold it, df the mails that do, N the mails of the thread (the centroid of Radev,
 * Jing, Stys and Tam, "Centroid-based summarization of multiple documents", Inf. Proc. & Management 40(6),
 * 2004). Recency is max(1/4, 2^(-4a)), where a is the age of the mail as a part of the thread: it halves
 * with each quarter. Cues are x1.5 for a decision, x1.3 for a blocker, x1.1 for each of at most three
 * subject words. A sentence that shares more than half of its words with a chosen one is skipped. The
 * latest decision always has a seat; ties go to the earlier sentence.
 */
export function rankStatements(
  statements: readonly Statement[],
  messageCount: number,
  limit: number,
): Statement[] {
  const candidates = competitors(statements)
  const weights = wordWeights(candidates, messageCount)
  const ranked = candidates
    .map((candidate) => ({ candidate, score: scoreOf(candidate, weights, messageCount) }))
    .sort((a, b) => b.score - a.score || a.candidate.position - b.candidate.position)
    .slice(0, COMPARED_CANDIDATES)
    .map(({ candidate }) => candidate)
  const latestDecision = candidates.findLast((candidate) => candidate.isDecision)
  const chosen: Candidate[] = latestDecision ? [latestDecision] : []
  for (const candidate of ranked) {
    if (chosen.length >= limit) break
    if (!chosen.some((other) => repeats(candidate.words, other.words))) chosen.push(candidate)
  }
  return chosen.sort((a, b) => a.position - b.position).map((candidate) => candidate.statement)
}

function competitors(statements: readonly Statement[]): Candidate[] {
  const candidates = statements.flatMap((statement, position): Candidate[] => {
    const { sentence, cueText } = statement
    const isProse = sentence.kind === "paragraph" || sentence.kind === "bullet"
    if (!isProse || /[:：]$/.test(sentence.text.slice(-1)) || isSmallTalk(cueText)) return []
    const words = new Set(sentenceWords(sentence.text.slice(0, cueText.length)))
    return words.size < FEWEST_WORDS
      ? []
      : [{ statement, position, words, isDecision: isDecision(statement) }]
  })
  return withinMailShare(candidates)
}

function withinMailShare(candidates: readonly Candidate[]): Candidate[] {
  const ofMail = new Map<number, Candidate[]>()
  for (const candidate of candidates) {
    const { messageIndex } = candidate.statement
    const others = ofMail.get(messageIndex)
    if (others) others.push(candidate)
    else ofMail.set(messageIndex, [candidate])
  }
  return [...ofMail.values()].flatMap((all) =>
    all.length <= OPENING_CANDIDATES + CLOSING_CANDIDATES
      ? all
      : [...all.slice(0, OPENING_CANDIDATES), ...all.slice(-CLOSING_CANDIDATES)],
  )
}

function isSmallTalk(text: string): boolean {
  return SMALL_TALK.test(text) && text.split(" ", LONGEST_SMALL_TALK + 1).length <= LONGEST_SMALL_TALK
}

function wordWeights(candidates: readonly Candidate[], messageCount: number): Map<string, number> {
  const uses = new Map<string, { occurrences: number; mails: number; lastMail: number }>()
  for (const { words, statement } of candidates) {
    for (const word of words) {
      const use = uses.get(word) ?? { occurrences: 0, mails: 0, lastMail: -1 }
      use.occurrences += 1
      if (use.lastMail !== statement.messageIndex) use.mails += 1
      use.lastMail = statement.messageIndex
      uses.set(word, use)
    }
  }
  const weights = new Map<string, number>()
  for (const [word, { occurrences, mails }] of uses) {
    weights.set(word, occurrences * Math.log(1 + messageCount / mails))
  }
  return weights
}

function scoreOf(candidate: Candidate, weights: ReadonlyMap<string, number>, messageCount: number): number {
  let total = 0
  for (const word of candidate.words) total += weights.get(word) ?? 0
  const centrality = total / Math.max(SHORTEST_MEASURED, candidate.words.size)
  const { messageIndex } = candidate.statement
  return centrality * recencyWeight(messageIndex, messageCount) * cueWeight(candidate)
}

/**
 * The weight of a mail by its age: 1 for the last, halved with each quarter of the thread, never below 1/4.
 */
function recencyWeight(messageIndex: number, messageCount: number): number {
  const age = (messageCount - 1 - messageIndex) / Math.max(messageCount, SHORTEST_AGEING)
  return Math.max(LOWEST_RECENCY, QUARTER_FACTOR ** (-4 * age))
}

function cueWeight({ statement, words, isDecision }: Candidate): number {
  const subjectWords = new Set(sentenceWords(statement.message.subject.slice(0, 200)))
  const named = [...subjectWords].filter((word) => words.has(word)).length
  const decision = isDecision ? DECISION_WEIGHT : 1
  const blocker = BLOCKER.test(statement.cueText) ? BLOCKER_WEIGHT : 1
  return decision * blocker * SUBJECT_WEIGHT ** Math.min(named, MOST_SUBJECT_WORDS)
}

function repeats(words: ReadonlySet<string>, chosen: ReadonlySet<string>): boolean {
  let shared = 0
  for (const word of words) if (chosen.has(word)) shared += 1
  return shared > words.size * MOST_SHARED
}
