/**
 * WordPiece: cuts a text into the pieces of a vocabulary, exactly as Hugging Face's tokenizers do for the
 * built-in model. Refuses to read files and to know vectors: it takes the tokenizer as text and gives ids.
 */

export interface Wordpiece {
  /** How many pieces the vocabulary has; ids are below it. */
  readonly size: number
  /** The id of a word that no pieces spell. */
  readonly unknownId: number
  /** Returns the ids of the pieces of a text, in order; time grows in step with its length. */
  idsOf(text: string): number[]
  /** Whether a piece has a letter or a digit; signs and `unknownId` have none. */
  isWordlike(id: number): boolean
}

/** What is read of a `tokenizer.json`; all else is fixed by the code below. */
interface TokenizerFile {
  model: {
    type: "WordPiece"
    unk_token: string
    continuing_subword_prefix: string
    max_input_chars_per_word: number
    vocab: Record<string, number>
  }
}

/** The pieces that start a word or that go on with one, without the prefix, and the length of the longest. */
interface PieceTable {
  ids: Map<string, number>
  charsMax: number
}

/**
 * Prepares the tokenizer that a `tokenizer.json` of Hugging Face describes: a space between a lower case and
 * an upper case ASCII letter, `BertNormalizer` with everything on, `BertPreTokenizer`, `WordPiece`.
 *
 * No special tokens are added, and none is read: a text with `[MASK]` is about brackets and masks. Nothing is
 * cut off. Throws Error for a text that is no such tokenizer.
 */
export function createWordpiece(tokenizerJson: string): Wordpiece {
  const { model } = JSON.parse(tokenizerJson) as TokenizerFile
  const unknownId = model?.vocab?.[model.unk_token]
  if (model?.type !== "WordPiece" || unknownId === undefined) {
    throw new Error("not a WordPiece tokenizer with a token for unknown words")
  }
  const prefix = model.continuing_subword_prefix
  const starts: PieceTable = { ids: new Map(), charsMax: 0 }
  const continuations: PieceTable = { ids: new Map(), charsMax: 0 }
  const wordlike = new Set<number>()
  for (const [piece, id] of Object.entries(model.vocab)) {
    if (piece.startsWith(prefix)) addPiece(continuations, piece.slice(prefix.length), id)
    else addPiece(starts, piece, id)
    if (id !== unknownId && /[\p{L}\p{N}]/u.test(piece)) wordlike.add(id)
  }
  const speller = { starts, continuations, unknownId, wordCharsMax: model.max_input_chars_per_word }
  return {
    size: Object.keys(model.vocab).length,
    unknownId,
    idsOf: (text) => {
      const ids: number[] = []
      for (const word of wordsOf(normalise(text))) spell(word, speller, ids)
      return ids
    },
    isWordlike: (id) => wordlike.has(id),
  }
}

function addPiece(table: PieceTable, text: string, id: number): void {
  table.ids.set(text, id)
  table.charsMax = Math.max(table.charsMax, text.length)
}

/** As the model's tokenizer has it, which its weights were made with; of other texts `domain/text/words.ts` knows. */
const CAMEL_CASE = /(?<=[a-z])(?=[A-Z])/g
const NOT_ASCII = /[^\0-\x7f]/
/** What `clean_text` drops: control, format, private and half characters, but no tab and no line break. */
const DROPPED = /(?![\t\n\r])[\p{Cc}\p{Cf}\p{Co}\p{Cs}\ufffd]/gu
/** The ideographs of the basic plane; Hugging Face's JavaScript, too, leaves those beyond it in their word. */
const IDEOGRAPH = /[\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff]/g
/** Long enough for any accented letter; the order of marks beyond it is of no matter, as no piece has any. */
const DECOMPOSED_AT_ONCE = /[^\0-\x7f]{1,64}/gu

/** Lower case, without accents, controls and camel case; ideographs stand alone. */
function normalise(text: string): string {
  const cleaned = text.replace(CAMEL_CASE, " ").replace(DROPPED, "")
  if (!NOT_ASCII.test(cleaned)) return cleaned.toLowerCase()
  // Runs are decomposed bit by bit, because putting a run of n marks in order takes n * n steps.
  return cleaned
    .replace(IDEOGRAPH, " $& ")
    .toLowerCase()
    .replace(DECOMPOSED_AT_ONCE, (run) => run.normalize("NFD"))
    .replace(/\p{Mn}/gu, "")
}

/** A run without whitespace and punctuation, or one punctuation mark; every ASCII sign counts as one. */
const WORD = /[^\s\p{P}$+<=>^`|~]+|[\p{P}$+<=>^`|~]/gu

function wordsOf(normalised: string): string[] {
  return normalised.match(WORD) ?? []
}

interface Speller {
  starts: PieceTable
  continuations: PieceTable
  unknownId: number
  wordCharsMax: number
}

/** Appends the ids of a word: the longest piece that fits, again and again, or `unknownId` for all of it. */
function spell(
  word: string,
  { starts, continuations, unknownId, wordCharsMax }: Speller,
  ids: number[],
): void {
  const whole = starts.ids.get(word)
  if (whole !== undefined) {
    ids.push(whole)
    return
  }
  const before = ids.length
  let from = hasMoreCharacters(word, wordCharsMax) ? word.length : 0
  let table = starts
  while (from < word.length) {
    let to = Math.min(word.length, from + table.charsMax)
    let id = table.ids.get(word.slice(from, to))
    while (id === undefined && to > from + 1) id = table.ids.get(word.slice(from, --to))
    if (id === undefined) {
      ids.length = before
      break
    }
    ids.push(id)
    from = to
    table = continuations
  }
  if (ids.length === before) ids.push(unknownId)
}

/** Counts characters, not halves of them, and only where that can matter. */
function hasMoreCharacters(word: string, charsMax: number): boolean {
  if (word.length <= charsMax) return false
  return word.length > charsMax * 2 || [...word].length > charsMax
}
