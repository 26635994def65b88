/**
 * Owns the recognition of agents' names in prose.
 * It refuses fuzzy matches: a bare word is a name only as it is spelled, for free names may be common words.
 */

/** The source of a pattern for one name: letters, digits, `-` and `_`; for use with the `u` flag. */
export const NAME_PATTERN = "[\\p{L}\\p{N}][\\p{L}\\p{N}_-]*"

export class AgentNames {
  readonly #names: Set<string>
  readonly #byLowerCase: Map<string, string>

  constructor(names: Iterable<string>) {
    this.#names = new Set(names)
    this.#byLowerCase = new Map([...this.#names].map((name) => [name.toLowerCase(), name]))
  }

  /** The name a bare word stands for, or null. */
  bare(word: string): string | null {
    return this.#names.has(word) ? word : null
  }

  /** The known name after `@word`, in any case, or null. */
  mentioned(word: string): string | null {
    return this.#byLowerCase.get(word.toLowerCase()) ?? null
  }

  /** The known name after a word with or without its `@`, or null. */
  known(at: string, word: string): string | null {
    return at === "" ? this.bare(word) : this.mentioned(word)
  }
}
