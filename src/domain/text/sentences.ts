/** Where a sentence ends. Only punctuation, what surrounds it and a short list of abbreviations count, no meaning. */

/** No look-ahead on purpose: it matches every run that it starts on, so that a long run of dots is read once. */
const TERMINATOR = /\n|([.!?…。！？]+)(["'”’»)\]」』）】]*)/g
const QUESTION_END = /[?？][.!?？…]*["'”’»)\]」』）】]*\s*$/
/** Longer ends are not looked at. */
const QUESTION_END_CHARS_MAX = 16

const LAST_WORD_END = /(?:[.!?…]["'”’»)\]`*_]*|[。！？])$/
const LAST_WORD_END_CHARS_MAX = 8

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
 * Cuts a text into sentences; joined they are the text again, as the space after a sentence belongs to it.
 *
 * A sentence ends with its line. A full stop needs white space or the end of the text after it, so that versions,
 * decimals, file names and URLs hold together; `。！？` end a sentence whatever follows. Linear time.
 */
export function splitSentences(text: string): string[] {
  const sentences: string[] = []
  let from = 0
  for (const match of text.matchAll(TERMINATOR)) {
    // What only closes the sentence before, such as the line break after its full stop, begins none.
    if (match.index < from || !endsSentence(text, from, match)) continue
    const end = endOfSpace(text, match.index + match[0].length)
    sentences.push(text.slice(from, end))
    from = end
  }
  if (from < text.length) sentences.push(text.slice(from))
  return sentences
}

/**
 * Whether a word may be the last of a sentence: the rule of where a chunk of Markdown is best cut, for which marks of
 * emphasis and code may close a sentence too, and an abbreviation does no harm.
 */
export function mayEndSentence(word: string): boolean {
  return LAST_WORD_END.test(word.slice(-LAST_WORD_END_CHARS_MAX))
}

/** Whether a sentence asks: a question mark stands at its end, whatever closes after it. */
export function isQuestion(sentence: string): boolean {
  return QUESTION_END.test(sentence.slice(-QUESTION_END_CHARS_MAX))
}

function endOfSpace(text: string, from: number): number {
  let end = from
  while (isSpace(text.charCodeAt(end))) end++
  return end
}

function isSpace(code: number): boolean {
  return code === 32 || (code >= 9 && code <= 13) || (code > 127 && /\s/.test(String.fromCharCode(code)))
}

function endsSentence(text: string, from: number, match: RegExpExecArray): boolean {
  const [whole, stops, closing] = match
  if (stops === undefined || /[。！？]/.test(stops)) return true
  const end = match.index + whole.length
  if (end >= text.length) return true
  if (!isSpace(text.charCodeAt(end))) return false
  const next = text[endOfSpace(text, end)] ?? ""
  const continuesInLowerCase = /\p{Ll}/u.test(next)
  if (stops === ".") return !isAbbreviation(text, from, match.index, next)
  if (/^[.…]+$/.test(stops)) return !continuesInLowerCase
  return closing === "" || !continuesInLowerCase
}

function isAbbreviation(text: string, from: number, stop: number, next: string): boolean {
  const earliest = Math.max(from, stop - LONGEST_ABBREVIATION)
  let start = stop
  while (start > earliest && !isBeforeWord(text.charCodeAt(start - 1))) start--
  const word = text.slice(start, stop)
  const lower = word.toLowerCase()
  if (NEVER_FINAL.has(lower)) return true
  if (SOMETIMES_FINAL.has(lower) || /^\p{L}(?:\.\p{L})+$/u.test(word)) return !/\p{Lu}/u.test(next)
  if (lower === "no") return /\d/.test(next)
  if (/^\d{1,3}$/.test(word)) return text.slice(from, stop).trim() === word
  if (!/^\p{Lu}$/u.test(word) || word === "I") return false
  const [, previous = ""] = /(\S+) +[(["']*$/.exec(text.slice(earliest, start)) ?? []
  return !LETTERED_CHOICES.has(previous.toLowerCase())
}

function isBeforeWord(code: number): boolean {
  return isSpace(code) || BRACKETS_AND_QUOTES.includes(code)
}

const BRACKETS_AND_QUOTES = [..."([\"'"].map((character) => character.charCodeAt(0))
