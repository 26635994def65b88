/** The terms by which the chunks of documents are found: stems of words, and identifiers whole and by their parts. */

import { STOP_WORDS } from "../text/stop-words.ts"
import { WordCache } from "../text/word-cache.ts"
import { comparedForm } from "../text/word-forms.ts"
import { characterPairs, indexableWords, splitCamelCase, withPairs } from "../text/words.ts"
import { withoutData } from "./encoded-data.ts"

/** What a chunk is found by, besides its path. */
interface ChunkText {
  /** What the document calls itself; empty when it has no name. */
  title: string
  /** The headings that lead to it, outermost first. */
  headings: readonly string[]
  text: string
  context: string
}

/** A word or an identifier that a query asks for. */
export interface QueryTerm {
  /** Folded; an identifier without the signs that join its parts. */
  readonly word: string
  /** The terms of the index that stand for it, its own first. */
  readonly terms: readonly string[]
  /** Whether it is spelled as an identifier, such as `useState` or `--dry-run`. */
  readonly isIdentifier: boolean
}

/** The terms of identifiers begin with it, so that they meet no stems. */
const IDENTIFIER_MARK = "="
/** Longer runs, such as addresses and hashes, are found by their parts alone. */
const IDENTIFIER_CHARS_MAX = 64
const TERM_CHARS_MAX = 100
const COUNT_MAX = 255
const QUERY_TERMS_MAX = 32

const TITLE = 0
const HEADINGS = 1
const BODY = 2
const IDENTIFIERS = 3

/** Letters and digits with what joins them to one name, and the signs before and after that belong to it. */
const RUN =
  /(?:--?|[:@$.#])?[\p{L}\p{N}\p{M}\p{Co}_]+(?:(?:[.\-/:@$]|::|->)[\p{L}\p{N}\p{M}\p{Co}_$]+)*(?:\+\+|#)?/gu
const PLAIN = /^[A-Z]?[a-z0-9]+$|^[A-Z]+$/
const JOINT = /[.:/@]|->/
const IS_NAME = /^(?:--?|[:@$#])|[\p{L}\p{N}][._\-/:@$>+#]/u

/** What a run of characters is found by. */
interface RunTerms {
  /** Terms of the words, in order. */
  words: readonly string[]
  /** Terms of the identifiers. */
  names: readonly string[]
}

const runsRemembered = new WordCache<RunTerms>(20_000)
const RUN_CHARS_REMEMBERED_MAX = 40

/**
 * Returns how often a chunk has each of its terms in each field, and its length: the words of text and context.
 *
 * Words count by their stems, stop words too; scripts without spaces by single characters and by pairs. An
 * identifier counts by the words it is made of and as a whole, in one spelling for `getUserName`,
 * `get_user_name` and `get-user-name`.
 */
export function chunkTerms(chunk: ChunkText): { terms: Map<string, Uint8Array>; length: number } {
  const terms = new Map<string, Uint8Array>()
  addTerms(terms, chunk.title, TITLE, TITLE)
  for (const heading of chunk.headings) addTerms(terms, heading, HEADINGS, HEADINGS)
  const length =
    addTerms(terms, withoutData(chunk.text), BODY, IDENTIFIERS) +
    addTerms(terms, chunk.context, BODY, IDENTIFIERS)
  return { terms, length }
}

/** Counts the terms of a text in a field, and returns how many words it has. */
function addTerms(terms: Map<string, Uint8Array>, text: string, field: number, nameField: number): number {
  let length = 0
  for (const [run] of text.matchAll(RUN)) {
    if (PLAIN.test(run)) {
      count(terms, comparedForm(run.toLowerCase()), field)
      length++
      continue
    }
    const { words, names } = termsOfRun(run)
    for (const word of words) count(terms, word, field)
    for (const name of names) count(terms, name, nameField)
    length += words.length
  }
  return length
}

function count(terms: Map<string, Uint8Array>, term: string, field: number): void {
  let counts = terms.get(term)
  if (counts === undefined) {
    counts = new Uint8Array(4)
    terms.set(term, counts)
  }
  const before = counts[field] ?? 0
  if (before < COUNT_MAX) counts[field] = before + 1
}

function termsOfRun(run: string): RunTerms {
  return run.length > RUN_CHARS_REMEMBERED_MAX ? readRun(run) : runsRemembered.get(run, readRun)
}

function readRun(run: string): RunTerms {
  const words = indexableWords(splitCamelCase(run))
  return {
    words: [...words.map(comparedForm), ...characterPairs(words)].filter(isTerm),
    names: namesOf(run).map((name) => IDENTIFIER_MARK + name),
  }
}

function isTerm(term: string): boolean {
  return term.length <= TERM_CHARS_MAX
}

/** The identifiers in a run: the whole of it, and those of its dotted parts that are identifiers themselves. */
function namesOf(run: string): string[] {
  const parts = run.split(JOINT)
  const names = parts.length > 1 ? [run, ...parts] : [run]
  return [...new Set(names.filter(isName).map(nameForm))].filter((name) => name !== "")
}

function isName(run: string): boolean {
  return run.length <= IDENTIFIER_CHARS_MAX && (IS_NAME.test(run) || splitCamelCase(run) !== run)
}

/** The one spelling of an identifier: its letters and digits, folded; points stay between digits. */
function nameForm(run: string): string {
  let form = ""
  for (const word of indexableWords(run)) {
    form += /\d$/.test(form) && /^\d/.test(word) ? `.${word}` : word
  }
  // What is as short as `-n` or `C++` is nothing without its signs.
  return form.length <= 2 ? run.toLowerCase() : form
}

/**
 * Returns what a query asks for, in order and each once: its words but for the stop words, its identifiers, and
 * the words of these. At most 32.
 */
export function queryTermsOf(query: string): QueryTerm[] {
  const found = new Map<string, QueryTerm>()
  const stops = new Map<string, QueryTerm>()
  for (const [run] of query.matchAll(RUN)) {
    for (const name of PLAIN.test(run) ? [] : namesOf(run)) {
      found.set(`${IDENTIFIER_MARK}${name}`, nameTerm(name))
    }
    for (const word of withPairs(indexableWords(splitCamelCase(run))).filter(isTerm)) {
      const term = wordTerm(word)
      const own = term.terms[0] ?? ""
      const into = STOP_WORDS.has(word) ? stops : found
      if (!into.has(own)) into.set(own, term)
    }
  }
  return [...(found.size > 0 ? found : stops).values()].slice(0, QUERY_TERMS_MAX)
}

function wordTerm(word: string): QueryTerm {
  return { word, terms: [comparedForm(word), IDENTIFIER_MARK + word], isIdentifier: false }
}

function nameTerm(name: string): QueryTerm {
  return { word: name, terms: [IDENTIFIER_MARK + name, comparedForm(name)], isIdentifier: true }
}

/** Returns the different terms of the index that stand for what a query asks for. */
export function indexTermsOf(terms: readonly QueryTerm[]): string[] {
  return [...new Set(terms.flatMap((term) => term.terms))]
}

/** Returns the different terms of a path, by which its file is found: `docs/api/use-state.md`. */
export function pathTerms(path: string): string[] {
  const terms = new Map<string, Uint8Array>()
  addTerms(terms, path.replace(/\.[A-Za-z]{1,8}$/, "").replaceAll("/", " "), BODY, BODY)
  return [...terms.keys()]
}

/** Returns the text of a chunk as it is embedded: what it is about, then what it says. */
export function embeddedText({ title, headings, text, context }: ChunkText): string {
  const trail = headings[0] === title || title === "" ? headings : [title, ...headings]
  return [trail.join(" > "), context, withoutData(text)].filter((part) => part !== "").join("\n")
}
