/**
 * Owns where a sentence ends inside plain text.
 * It refuses to guess from meaning: only punctuation, what surrounds it and a short list of abbreviations
 * count.
 */

import { CodeSpanCursor } from "./inline-text.ts"

// No look-ahead on purpose: the pattern matches every run it starts on, so a long run of dots is read once.
const TERMINATOR = /([.!?…。！？]+)(["'”’»)\]」』）】]*)/g

const NEVER_FINAL = new Set(
  "e.g i.e cf vs viz approx resp incl excl fig sec dr mr mrs ms prof st ca est dept".split(" "),
)
const SOMETIMES_FINAL = new Set("etc al inc ltd corp jr sr".split(" "))
const LETTERED_CHOICES = new Set(
  "plan option variant version choice approach phase step stage team alternative proposal case type".split(
    " ",
  ),
)
const LONGEST_ABBREVIATION = 24

/**
 * Cuts plain text (single spaces, inline code in backticks) into sentences, in order and without empty ones.
 * A full stop needs a following space or the end of the text, so versions, decimals, file names and URLs hold
 * together; `。！？` end a sentence whatever follows. Linear time.
 */
export function splitAtBoundaries(text: string): string[] {
  const sentences: string[] = []
  const code = new CodeSpanCursor(text)
  let from = 0
  for (const match of text.matchAll(TERMINATOR)) {
    if (code.spanAt(match.index) || !endsSentence(text, from, match)) continue
    const end = match.index + match[0].length
    sentences.push(text.slice(from, end).trim())
    from = end
  }
  sentences.push(text.slice(from).trim())
  return sentences.filter((sentence) => sentence !== "")
}

function endsSentence(text: string, from: number, match: RegExpExecArray): boolean {
  const [whole, stops = "", closing = ""] = match
  if (/[。！？]/.test(stops)) return true
  const end = match.index + whole.length
  if (end >= text.length) return true
  if (text[end] !== " ") return false
  const next = text[end + 1] ?? ""
  const continuesInLowerCase = /\p{Ll}/u.test(next)
  if (stops === ".") return !isAbbreviation(text, from, match.index, next)
  if (/^[.…]+$/.test(stops)) return !continuesInLowerCase
  return closing === "" || !continuesInLowerCase
}

function isAbbreviation(text: string, from: number, stop: number, next: string): boolean {
  const before = text.slice(Math.max(from, stop - LONGEST_ABBREVIATION), stop)
  const [, previousWord = "", word = ""] = /(?:(\S+) +)?[(["']*([^\s(["']*)$/.exec(before) ?? []
  const lower = word.toLowerCase()
  if (NEVER_FINAL.has(lower)) return true
  if (SOMETIMES_FINAL.has(lower) || /^\p{L}(?:\.\p{L})+$/u.test(word)) return !/\p{Lu}/u.test(next)
  if (lower === "no") return /\d/.test(next)
  if (/^\d{1,3}$/.test(word)) return text.slice(from, stop).trim() === word
  return /^\p{Lu}$/u.test(word) && word !== "I" && !LETTERED_CHOICES.has(previousWord.toLowerCase())
}
