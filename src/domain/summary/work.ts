/** The life of each piece of work in a thread: asked for, repeated, completed, opened again, all as the mails say. */

import { sentenceWords } from "../text/content-words.ts"
import { baseForm } from "../text/irregular-forms.ts"
import { cues } from "../text/whole-words.ts"
import { comparedForm } from "../text/word-forms.ts"
import { indexableText } from "../text/words.ts"
import { withoutDue } from "./due-date.ts"
import { type KnownName, type Request, requestsIn } from "./request.ts"
import { cite, NEGATION, type Statement } from "./statement.ts"

/**
 * A piece of work named in a thread, by whom and in which mail; `quote` is the sentence it was first named in, `due` as
 * in `dueIn`, the owner null when nobody is named.
 */
export interface ActionItem {
  description: string
  owner: string | null
  mentionedBy: string
  due: string | null
  completed: boolean
  /** The id of the mail that reports it as done. */
  completedBy: number | null
  messageId: number
  quote: string
}

/** Entries kept per word or text, the latest: what a report costs when every task of a thread says "module". */
const ENTRIES_PER_KEY = 64

/**
 * Follows all work of a thread (statements of its mails, oldest first), in the order it was first mentioned. The same
 * words written again are the same item for the same owner: the first citation stays, the latest check box decides.
 */
export function trackWork(statements: readonly Statement[], known: KnownName): WorkEntry[] {
  const entries: WorkEntry[] = []
  const byText = new Map<string, WorkEntry[]>()
  const byWord = new Map<string, WorkEntry[]>()

  /** An unowned request is the first of its namesakes, and a named one claims the unowned. */
  function find({ owner, description }: Request): WorkEntry | undefined {
    const namesakes = byText.get(workKey(description))
    const own = namesakes?.find(({ item }) => owner === null || item.owner === owner)
    return own ?? namesakes?.find(({ item }) => item.owner === null)
  }

  function enter(statement: Statement, request: Request): void {
    const found = find(request)
    const entry = found ?? newEntry(statement, request)
    const { item } = entry
    item.owner ??= request.owner
    item.due ??= request.due
    if (request.kind === "action") entry.kind = "action"
    if (request.isDone && !item.completed) setDone(item, statement)
    if (statement.kind === "checkbox" && !request.isDone) {
      setDone(item, null)
      entry.openSince = statement.messageIndex
    }
    if (!found) entries.push(entry)
    if (!found) post(byText, workKey(request.description), entry)
    for (const word of entry.words) post(byWord, word, entry)
  }

  for (const statement of statements) {
    const requests = requestsIn(statement, known)
    const isKnownBox = statement.kind === "checkbox" && requests.some((request) => find(request))
    const report = isKnownBox ? null : reportIn(statement)
    for (const entry of new Set([...(report?.words ?? [])].flatMap((word) => byWord.get(word) ?? []))) {
      const isOpen = !entry.item.completed && entry.openSince < statement.messageIndex
      if (report && isOpen && completes(report, entry)) setDone(entry.item, statement)
    }
    for (const request of requests) enter(statement, request)
  }
  return entries
}

function post(index: Map<string, WorkEntry[]>, key: string, entry: WorkEntry): void {
  const others = (index.get(key) ?? []).filter((other) => other !== entry)
  index.set(key, [...others.slice(1 - ENTRIES_PER_KEY), entry])
}

type WorkEntry = ReturnType<typeof newEntry>

/**
 * A piece of work, the words by which a later statement can name it, in compared form and the first mostly a verb, and
 * the position of the mail that last declared it open: only later mails can complete it.
 */
function newEntry(statement: Statement, { kind, description, owner, due }: Request) {
  const cited = cite(statement)
  const { text: quote, messageId, sender: mentionedBy } = cited
  const ownerWords = sentenceWords(owner ?? "")
  const words = sentenceWords(withoutDue(description)).filter((word) => !ownerWords.includes(word))
  const state = { completed: false, completedBy: null }
  const item: ActionItem = { description, owner, mentionedBy, due, ...state, messageId, quote }
  return { item, cited, kind, words, openSince: statement.messageIndex }
}

function setDone(item: ActionItem, statement: Statement | null): void {
  item.completed = statement !== null
  item.completedBy = statement?.message.id ?? null
}

/** Two tasks with the same words are one, their due dates aside; one of marks only is known by its marks. */
function workKey(description: string): string {
  return indexableText(withoutDue(description)) || description
}

/** What was merged is fixed, what was fixed is not thereby deployed; by compared forms of verbs. */
const STAGES = ["fix", "merg land", "ship deploi releas"].map((forms) => forms.split(" "))
const stageOf = (form: string) => STAGES.findIndex((forms) => forms.includes(form)) + 1
const ALL_STAGES = 4
const CUE =
  /(?<![\w-])(?:done|completed|finished|merged|fixed|shipped|resolved|landed|deployed|closed)(?![\w-])/g
const CHECK_MARK = /^\s*(?:✅|✓|✔|☑)/u
const UNFINISHED = cues(
  "will|shall|should|would|could|can|may be|might|must|to be|going to|gonna|\\p{L}+['’]ll|let['’]s|please|needs?|wants?",
  "plan(?:s|ned|ning)?|todo|to-do|tbd|in progress|pending|remaining|waiting|blocked|almost|nearly|partly|partially",
  "mostly|half|about to|close to|soon|tomorrow",
)
const AWAITED = /\b(?:before|after|until|till|once|when|if|unless)\b/i
const CLAUSE = /(?:(?![;,—–]\s|\sbut\s).)+/gsu
const VAGUE =
  "branch bug change code commit error feature file fix issue item pr pull request step task test ticket"
const VAGUE_WORDS = new Set(sentenceWords(VAGUE))

type Report = NonNullable<ReturnType<typeof reportIn>>

/**
 * Reads what a statement reports as done, or null; clauses that deny or postpone are left out. `stage` tells how far
 * the work went, 0 when only verbs in the past tense speak: "reviewed PR 41" completes "review PR 41".
 */
function reportIn(statement: Statement) {
  const { text, section, cueText, kind, isQuestion, message } = statement
  const isTicked = kind === "checkbox" && statement.checked
  if (kind === "heading" || isQuestion || (kind === "checkbox" && !isTicked)) return null
  const allClauses = [...cueText.toLowerCase().matchAll(CLAUSE)]
  const clauses = allClauses.filter(([clause]) => isTicked || isReported(clause))
  const reported = clauses.map(([clause]) => clause).join(" ")
  const isListed = isTicked || CHECK_MARK.test(reported) || (section === "done" && kind === "bullet")
  const stages = [...reported.matchAll(CUE)].map(([cue]) => stageOf(comparedForm(cue)) || ALL_STAGES)
  const stage = isListed ? ALL_STAGES : Math.max(0, ...stages)
  const pastVerbs = new Set(pastForms(reported).map(([word]) => comparedForm(word)))
  if (stage === 0 && pastVerbs.size === 0) return null
  // Code is masked for the cues only: a file name in backticks is often all that names the work.
  const named = clauses.map(({ 0: clause, index }) => text.slice(index, index + clause.length)).join(" ")
  return { sender: message.sender, words: new Set(sentenceWords(named)), pastVerbs, stage }
}

/**
 * Whether a clause stands as reported. Denials and plans count up to the last cue ("the merged branch is not
 * deployed"), conditions up to the first: "fixed the crash when the queue is closed" is a report.
 */
function isReported(clause: string): boolean {
  const ends = [...clause.matchAll(CUE)]
  const marks = ends.length > 0 ? ends : pastForms(clause)
  const before = clause.slice(0, marks.at(-1)?.index)
  const isAwaited = AWAITED.test(clause.slice(0, marks[0]?.index))
  return !isAwaited && !NEGATION.test(before) && !UNFINISHED.test(before)
}

function pastForms(clause: string): RegExpExecArray[] {
  const isPast = (word: string) => /.{3}ed$/.test(word) || baseForm(word) !== word
  return [...clause.matchAll(/\b[a-z]+\b/g)].filter(([word]) => isPast(word))
}

/**
 * Whether a report names a piece of work: it shares at least half of its content words, at least one of them telling
 * (neither its verb nor "PR", "bug" or "test", unless the work has no other), names no other number, and the work went
 * far enough: "fixed" does not complete "deploy …", while "done" and a check mark complete everything. Whoever owns it
 * may report it by its verb alone: "Uploaded."
 */
function completes({ sender, words, pastVerbs, stage }: Report, { item, words: named }: WorkEntry): boolean {
  const [verb = ""] = named
  const isReported = pastVerbs.has(verb)
  if (isReported && words.size === 1 && item.owner === sender) return true
  const shared = named.filter((word) => words.has(word))
  const isTelling = (word: string) => word !== verb && !VAGUE_WORDS.has(word)
  const isNumber = (word: string) => /\d/.test(word)
  // PR 41 is not PR 42, nor module m7 module m8.
  const isOther = named.some(isNumber) && !shared.some(isNumber) && [...words].some(isNumber)
  const isVague = named.some(isTelling) && !shared.some(isTelling)
  if (isOther || isVague || shared.length === 0 || shared.length * 2 < named.length) return false
  return isReported || (stage > 0 && stage >= stageOf(verb))
}
