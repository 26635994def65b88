/** The choice of the few sentences that stand for a thread; small talk, headings and check boxes never do. */

import { sentenceWords } from "../text/content-words.ts"
import { cues, openings } from "../text/whole-words.ts"
import type { Statement } from "./statement.ts"

const LOWEST_RECENCY = 1 / 4
/** A short thread ages as if it had this many mails: in a thread of two, the first is not old news. */
const SHORTEST_AGEING = 8
const DECISION_WEIGHT = 1.5
const BLOCKER_WEIGHT = 1.3
const WORDS_MIN = 4
/** A sentence of fewer words is measured as if it had this many, or one frequent word would win alone. */
const MEASURED_WORDS_MIN = 8
const SHARED_MAX = 0.5
/** Sentences of one mail that compete, its first and last: a pasted log must neither drown other mails nor be weighed. */
const OPENING_CANDIDATES = 30
const CLOSING_CANDIDATES = 10

const SMALL_TALK_WORDS_MAX = 9
const SMALL_TALK = openings(
  "hi|hello|hey|dear|thanks|thank you|thx|cheers|best|regards|welcome|congrats|great|cool|nice|ok|okay|sure|yes|no|yep",
  "sounds good|got it|lgtm|ack|acknowledged|roger|noted|will do|\\+1|👍|good (?:morning|afternoon|evening|catch|point)",
)
const BLOCKER = cues(
  "block(?:ed|ers?|ing|s)|broken|break(?:s|ing)|fail(?:s|ed|ing|ures?)|regression|risk|urgent|outage",
)

/**
 * Chooses at most `limit` statements that stand for a thread, in the order they were written.
 *
 * score = centrality x recency x cues. Centrality is the mean weight of a sentence's distinct words, where a word weighs
 * df x ln(1 + N / df): df the mails that hold it, N the mails of the thread (after the centroid of Radev, Jing, Stys and
 * Tam, "Centroid-based summarization of multiple documents", Inf. Proc. & Management 40(6), 2004). Recency is
 * max(1/4, 2^(-4a)), where a is the age of the mail as a part of the thread: it halves with each quarter. Cues are x1.5
 * for a decision, x1.3 for a blocker. A sentence that shares more than half of its words with a chosen one is skipped.
 * The latest decision always has a seat; ties go to the earlier sentence. When nothing competes, the opening and the
 * latest statement stand for the thread.
 */
export function keySentences(
  statements: readonly Statement[],
  decisions: ReadonlySet<Statement>,
  messageCount: number,
  limit: number,
): Statement[] {
  const candidates = candidatesAmong(statements)
  const mailsWith = new Map<string, { count: number; last: number }>()
  for (const { statement, words } of candidates)
    for (const word of words) {
      const { count, last } = mailsWith.get(word) ?? { count: 0, last: -1 }
      if (last !== statement.messageIndex)
        mailsWith.set(word, { count: count + 1, last: statement.messageIndex })
    }
  const weights = new Map(
    [...mailsWith].map(([word, { count }]) => [word, count * Math.log(1 + messageCount / count)]),
  )
  const scored = candidates.map(({ statement, words }) => {
    const { messageIndex, cueText } = statement
    const total = words.reduce((sum, word) => sum + (weights.get(word) ?? 0), 0)
    const centrality = total / Math.max(MEASURED_WORDS_MIN, words.length)
    const age = (messageCount - 1 - messageIndex) / Math.max(messageCount, SHORTEST_AGEING)
    const recency = Math.max(LOWEST_RECENCY, 2 ** (-4 * age))
    const decision = decisions.has(statement) ? DECISION_WEIGHT : 1
    const blocker = BLOCKER.test(cueText) ? BLOCKER_WEIGHT : 1
    return { statement, words, score: centrality * recency * decision * blocker }
  })
  const latestDecision = scored.findLast(({ statement }) => decisions.has(statement))
  const chosen = latestDecision ? [latestDecision] : []
  for (const candidate of scored.sort((a, b) => b.score - a.score)) {
    if (chosen.length >= limit) break
    const { words } = candidate
    const sharedWith = chosen.map((other) => words.filter((word) => other.words.includes(word)).length)
    if (sharedWith.every((shared) => shared <= words.length * SHARED_MAX)) chosen.push(candidate)
  }
  const ends = [statements[0], statements.at(-1)]
  const standing = chosen.length === 0 ? ends : chosen.map(({ statement }) => statement)
  return statements.filter((statement) => standing.includes(statement))
}

/** The statements that compete, each with its distinct content words. */
function candidatesAmong(statements: readonly Statement[]) {
  const candidates = statements.flatMap((statement) => {
    const { kind, text, cueText, isTitle } = statement
    const isSmallTalk = SMALL_TALK.test(cueText) && cueText.split(" ").length <= SMALL_TALK_WORDS_MAX
    if (isTitle || kind === "checkbox" || isSmallTalk) return []
    const words = [...new Set(sentenceWords(text.slice(0, cueText.length)))]
    return words.length < WORDS_MIN ? [] : [{ statement, words }]
  })
  // Those of one mail follow each other: so many places before its first ones is another mail, or nothing.
  return candidates.filter(({ statement: { messageIndex } }, at) => {
    const isOtherMail = (place: number) => candidates[place]?.statement.messageIndex !== messageIndex
    return isOtherMail(at - OPENING_CANDIDATES) || isOtherMail(at + CLOSING_CANDIDATES)
  })
}
