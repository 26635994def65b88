/** Remembers what was found out about words, since text after text is made of the same ones; bounded. */

/** From this length on, V8 keeps a part of a text as a reference to the whole of it. */
const REFERENCE_CHARS_MIN = 13

/**
 * Holds the answers for at most `wordsMax` words. They lie in two halves: when the newer one is full the older
 * one is dropped, so that words which come up again and again stay, and one search never empties it.
 */
export class WordCache<Answer> {
  readonly #halfMax: number
  #newer = new Map<string, Answer>()
  #older = new Map<string, Answer>()

  constructor(wordsMax: number) {
    this.#halfMax = Math.max(1, Math.floor(wordsMax / 2))
  }

  /** Returns the answer for a word; `answerFor` is asked where there is none, and may not answer `undefined`. */
  get(word: string, answerFor: (word: string) => Answer): Answer {
    const known = this.#newer.get(word)
    if (known !== undefined) return known
    const own = ownCopy(word)
    const older = this.#older.get(word)
    const answer = older === undefined ? answerFor(own) : older
    if (this.#newer.size >= this.#halfMax) {
      this.#older = this.#newer
      this.#newer = new Map()
    }
    this.#newer.set(own, answer)
    return answer
  }
}

/** A word that is kept must not keep the text alive from which it was cut. */
function ownCopy(word: string): string {
  return word.length < REFERENCE_CHARS_MIN ? word : [...word].join("")
}
