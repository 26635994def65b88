/** Answers that were given before, for as long as nothing has changed that they depend on. */

import type { Database } from "../../db/database.ts"

const ANSWERS_MAX = 500

/** Holds the last answers of each database of this process; the key has to say all that an answer depends on. */
export class AnswerCache<Answer> {
  readonly #answersOf = new WeakMap<Database, Map<string, Answer>>()

  get(db: Database, key: string): Answer | undefined {
    const answers = this.#answersOf.get(db)
    const answer = answers?.get(key)
    if (answers === undefined || answer === undefined) return undefined
    answers.delete(key)
    answers.set(key, answer)
    return answer
  }

  put(db: Database, key: string, answer: Answer): void {
    const answers = this.#answersOf.get(db) ?? new Map<string, Answer>()
    this.#answersOf.set(db, answers)
    answers.set(key, answer)
    for (const oldest of answers.keys()) {
      if (answers.size <= ANSWERS_MAX) break
      answers.delete(oldest)
    }
  }
}
