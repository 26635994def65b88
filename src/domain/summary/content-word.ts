/**
 * Owns the words by which two sentences are compared: lower case, lightly stemmed, without stop words.
 * It refuses to be a linguist: English suffixes by rule, no dictionary; CJK text gives character pairs.
 */

const CJK = "\\p{Script=Han}\\p{Script=Hiragana}\\p{Script=Katakana}"
const TOKEN = new RegExp(`[${CJK}]+|(?:(?![${CJK}])[\\p{L}\\p{N}])+`, "gu")
const CJK_START = new RegExp(`^[${CJK}]`, "u")

const STOP_WORDS = new Set(
  `
  a about after again all also am an and any are as at be because been before being both but by can could
  did do does doing done down each either else even every few for from further get gets got had has have
  having he her here hers him his how i if in into is it its itself just let like ll made make makes
  many may me might more most much must my neither no nor not now of off ok okay on once one only or
  other our ours out over own per please quite rather re really same shall she should since so some soon
  still such than that the their theirs them then there these they this those through till to too under
  unless until up upon us use used using ve very via was we well were what when where whether which
  while who whom whose why will with within without would yet yes you your yours don doesn didn isn aren
  wasn weren won couldn shouldn wouldn hasn haven hadn todo`
    .trim()
    .split(/\s+/),
)

/**
 * The words that carry what a text is about: stemmed, in order, repeats kept, stop words and single letters
 * left out. Digits count as words, so `PR 41` and `PR 42` differ.
 */
export function contentWords(text: string): string[] {
  const words: string[] = []
  for (const [token] of text.toLowerCase().matchAll(TOKEN)) {
    if (CJK_START.test(token)) words.push(...characterPairs(token))
    else if (!STOP_WORDS.has(token) && (token.length > 1 || /\d/.test(token))) words.push(stem(token))
  }
  return words
}

/**
 * Strips the commonest English endings, so that merge, merges, merged and merging agree, as do migrate and
 * migration. The plural rule is Harman's S-stemmer ("How effective is suffixing?", JASIS 42(1), 1991); the
 * rest is a short list of endings that leaves at least three letters.
 */
export function stem(word: string): string {
  if (/[^a-z]/.test(word)) return word
  return withoutFinalE(withoutVerbEnding(singular(word)))
}

function singular(word: string): string {
  if (word.length < 4 || /(?:ss|us|is)$/.test(word)) return word
  if (word.endsWith("ies")) return `${word.slice(0, -3)}y`
  if (/(?:x|sh|ch|ss|z)es$/.test(word)) return word.slice(0, -2)
  return word.endsWith("s") ? word.slice(0, -1) : word
}

function withoutVerbEnding(word: string): string {
  if (/[a-z]{2}ied$/.test(word)) return `${word.slice(0, -3)}y`
  const ending = /(?:ation|ated?|ating|ion|ing|ed)$/.exec(word)
  const base = word.slice(0, ending?.index)
  if (ending === null || base.length < 3 || !/[aeiouy]/.test(base)) return word
  return base.length > 3 ? base.replace(/([bdgmnprt])\1$/, "$1") : base
}

function withoutFinalE(word: string): string {
  return word.length > 3 && word.endsWith("e") ? word.slice(0, -1) : word
}

function characterPairs(run: string): string[] {
  const characters = [...run]
  if (characters.length === 1) return characters
  return characters.slice(1).map((character, index) => `${characters[index]}${character}`)
}
