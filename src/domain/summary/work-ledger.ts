/**
 * Owns the life of each piece of work in a thread: first asked for, repeated, completed, opened again. It
 * refuses to infer: an item is a passage of a mail, and its state is what a check box or a later mail says.
 * It refuses to read prose: cues come from the request, next-step and completion modules.
 */

import { indexableText } from "../text/words.ts"
import type { AgentNames } from "./agent-name.ts"
import { completes, completionIn, type WorkWords, workWords } from "./completion.ts"
import { withoutDue } from "./due-date.ts"
import { nextStepIn } from "./next-step.ts"
import { type Request, requestsIn } from "./request.ts"
import { cite, type Statement } from "./statement.ts"

/**
 * A piece of work named in a thread; `quote` is the sentence it was first named in, `due` the words
 * written.
 */
export interface ActionItem {
  description: string
  /** The agent who is to do it, or null when nobody is named. */
  owner: string | null
  /** The sender of the mail that is cited. */
  mentionedBy: string
  due: string | null
  completed: boolean
  /** The id of the mail that reports it as done. */
  completedBy: number | null
  messageId: number
  quote: string
}

/** A piece of work and where it came from; a `next step` is announced by nobody in particular. */
export interface WorkEntry {
  item: ActionItem
  origin: "action" | "next step"
  words: WorkWords
  /** Position of the mail that last declared the work open: only later mails can complete it. */
  openSince: number
}

/**
 * Follows all work of a thread (statements of its mails, oldest first), in the order it was first mentioned.
 *
 * An action item is a check box, a labelled task ("TODO:", "Action item:"), an entry below such a title, a
 * request ("@Name please ...", "Please ...", "Name to review ...") or a promise ("I'll ...", "Name will ...").
 *
 * It is completed by its own check box, or by a later mail with a completion cue that is neither denied nor in
 * the future and that shares at least half of the item's content words, at least one of them telling; see
 * `completes`. The same words written again are the same item: the first citation stays, the latest check box
 * decides the state.
 */
export function trackWork(statements: readonly Statement[], names: AgentNames): WorkEntry[] {
  const ledger = new WorkLedger()
  for (const statement of statements) {
    const requests = requestsIn(statement, names)
    const announced = requests.length === 0 ? nextStepIn(statement) : null
    const isKnownBox =
      statement.sentence.kind === "checkbox" && requests.some((request) => ledger.has(request))
    if (!isKnownBox) ledger.complete(statement)
    for (const request of requests) ledger.enter(statement, request, "action")
    if (announced) ledger.enter(statement, announced, "next step")
  }
  return ledger.entries
}

/**
 * Postings kept per word. A completion is compared with this many entries per word it holds, the latest ones:
 * a thread in which every task says "module" would otherwise cost entries times completions.
 */
const POSTINGS_PER_WORD = 64

const UNOWNED = ""

class WorkLedger {
  readonly entries: WorkEntry[] = []
  /** By normalised text, then by owner: two agents asked for the same are two pieces of work. */
  readonly #byText = new Map<string, Map<string, WorkEntry>>()
  readonly #byWord = new Map<string, WorkEntry[]>()

  has(request: Request): boolean {
    return this.#find(request) !== undefined
  }

  enter(statement: Statement, request: Request, origin: WorkEntry["origin"]): void {
    const known = this.#find(request)
    if (known) this.#repeat(known, statement, request, origin)
    else this.#add(statement, request, origin)
  }

  complete(statement: Statement): void {
    const completion = completionIn(statement)
    if (!completion) return
    const candidates = new Set([...completion.words].flatMap((word) => this.#byWord.get(word) ?? []))
    for (const { item, words, openSince } of candidates) {
      const isOpen = !item.completed && openSince < statement.messageIndex
      if (isOpen && completes(completion, words)) markDone(item, statement)
    }
  }

  /** An unowned request is the first of its namesakes, and a named one claims the unowned. */
  #find({ description, owner }: Request): WorkEntry | undefined {
    const namesakes = this.#byText.get(workKey(description))
    if (owner === null) return namesakes?.values().next().value
    return namesakes?.get(owner) ?? namesakes?.get(UNOWNED)
  }

  #add(statement: Statement, request: Request, origin: WorkEntry["origin"]): void {
    const { description, owner, due, isDone } = request
    const { text: quote, messageId, sender } = cite(statement)
    const state = { completed: isDone, completedBy: isDone ? messageId : null }
    const item: ActionItem = { description, owner, mentionedBy: sender, due, ...state, messageId, quote }
    const words = workWords(description, owner)
    const entry = { item, origin, words, openSince: statement.messageIndex }
    const key = workKey(description)
    const namesakes = this.#byText.get(key) ?? new Map<string, WorkEntry>()
    this.entries.push(entry)
    this.#byText.set(key, namesakes.set(owner ?? UNOWNED, entry))
    this.#post(entry)
  }

  /**
   * The first citation stays; what it left out is filled in, and a check box has the last word on the
   * state.
   */
  #repeat(entry: WorkEntry, statement: Statement, request: Request, origin: WorkEntry["origin"]): void {
    const { item } = entry
    if (item.owner === null && request.owner !== null) this.#assign(entry, request.owner)
    item.due ??= request.due
    if (origin === "action") entry.origin = "action"
    if (request.isDone && !item.completed) markDone(item, statement)
    if (statement.sentence.kind !== "checkbox" || request.isDone) return
    item.completed = false
    item.completedBy = null
    entry.openSince = statement.messageIndex
    this.#post(entry)
  }

  #assign(entry: WorkEntry, owner: string): void {
    const namesakes = this.#byText.get(workKey(entry.item.description))
    namesakes?.delete(UNOWNED)
    namesakes?.set(owner, entry)
    entry.item.owner = owner
  }

  #post(entry: WorkEntry): void {
    for (const word of entry.words.words) {
      const others = (this.#byWord.get(word) ?? []).filter(
        (other) => other !== entry && !other.item.completed,
      )
      this.#byWord.set(word, [...others.slice(1 - POSTINGS_PER_WORD), entry])
    }
  }
}

function markDone(item: ActionItem, statement: Statement): void {
  item.completed = true
  item.completedBy = statement.message.id
}

/**
 * Two tasks with the same words are one, their due dates aside; a task of marks only is known by its marks.
 */
function workKey(description: string): string {
  return indexableText(withoutDue(description)) || description
}
