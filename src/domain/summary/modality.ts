/**
 * Owns the tests of how a statement is meant: denied or made to depend on something.
 * It refuses to parse grammar: cue words with word boundaries, on text whose inline code is already masked.
 */

const NEGATION =
  /\b(?:not|never|no|none|nobody|nothing|neither|nor|cannot|undecided|yet to|far from)\b|n['’]t\b/i

/** Whether a text denies something; give it the part before the cue when what follows may be negative. */
export function isNegated(text: string): boolean {
  return NEGATION.test(text)
}

const CONDITION = /\b(if|unless|in case|provided|assuming)\b/gi
const INDIRECT_QUESTION =
  /\b(?:ask|check|confirm|decide|determine|find out|investigate|know|look|see|test|verify|wonder) $/i

/** Whether a text hangs on a condition; "check if" and "even if" state none. */
export function isConditional(text: string): boolean {
  for (const { 0: word, index } of text.matchAll(CONDITION)) {
    const before = text.slice(Math.max(0, index - 16), index)
    const isHarmless = INDIRECT_QUESTION.test(before) || /\beven $/i.test(before)
    const isAside = /^if (?:possible|needed|necessary)\b/i.test(text.slice(index, index + 16))
    if (word !== "" && !isHarmless && !isAside) return true
  }
  return false
}
