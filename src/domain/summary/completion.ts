/**
 * Owns the question whether a statement reports work as done, and which work it names. It refuses to credit
 * plans, denials and questions: "not done", "will be merged" and "almost finished" are open.
 */

import { sentenceWords } from "../text/content-words.ts"
import { isQuestion } from "../text/sentences.ts"
import { wholeWords } from "../text/whole-words.ts"
import { comparedForm } from "../text/word-forms.ts"
import { withoutDue } from "./due-date.ts"
import { isNegated } from "./modality.ts"
import { isRequestVerb } from "./request-verb.ts"
import type { Statement } from "./statement.ts"

/** The words by which a later statement can name a piece of work. */
export interface WorkWords {
  /** Compared form of the verb that opens the task ("review PR 41"), or null. */
  verb: string | null
  /** Distinct compared forms of all content words, the verb among them. */
  words: ReadonlySet<string>
}

/** What a statement reports as done. */
export interface Completion {
  words: ReadonlySet<string>
  /** Compared forms of the words in the past tense: "reviewed PR 41" completes "review PR 41". */
  pastVerbs: ReadonlySet<string>
  /** How far the reported work went, see STAGES; 0 when only past verbs speak. */
  stage: number
}

/** Work goes through these stages: what was merged is fixed, what was fixed is not thereby deployed. */
const STAGES = new Map(
  Object.entries({
    fix: 1,
    resolve: 1,
    merge: 2,
    land: 2,
    ship: 3,
    deploy: 3,
    release: 3,
    publish: 3,
    close: 3,
  }).map(([verb, stage]) => [comparedForm(verb), stage]),
)
const ALL_STAGES = 4

const CUE = new RegExp(
  wholeWords("done|completed|finished|merged|fixed|shipped|resolved|landed|deployed|closed"),
  "giu",
)
const PAST_VERB = /\b[a-z]+ed\b|\b(?:wrote|built|sent|ran|made|took|told)\b/gi
const CHECK_MARK = /^\s*(?:✅|✓|✔|☑)/u
const UNFINISHED = new RegExp(
  wholeWords(
    "will|shall|should|would|could|can|may be|might|must|to be|going to|gonna|\\p{L}+['’]ll",
    "let['’]s|please|needs?|wants?|plan(?:s|ned|ning)?|todo|to-do|tbd|in progress|pending|remaining",
    "waiting|blocked|almost|nearly|partly|partially|mostly|half|about to|close to|soon|tomorrow",
  ),
  "iu",
)
const AWAITED = /\b(?:before|after|until|till|once|when|if|unless)\b/i
const AWAITED_NEXT = /^\s(?:by|when|once|if|soon|tomorrow|next)\b/i
const CLAUSE = /(?:(?![;,—–]\s|\sbut\s).)+/gsu

/** Reads what a statement reports as done, or null; clauses that deny or postpone are left out. */
export function completionIn(statement: Statement): Completion | null {
  const { sentence, section, cueText } = statement
  if (sentence.kind === "heading" || isQuestion(sentence.text)) return null
  if (sentence.kind === "checkbox") {
    const words = wordSet(sentence.text.slice(0, cueText.length))
    return sentence.checked ? { words, pastVerbs: new Set(), stage: ALL_STAGES } : null
  }
  const clauses = [...cueText.matchAll(CLAUSE)].filter(([clause]) => isReported(clause))
  const reported = clauses.map(([clause]) => clause).join(" ")
  const isListedAsDone = CHECK_MARK.test(reported) || (section === "done" && sentence.kind === "bullet")
  const stage = isListedAsDone ? ALL_STAGES : reportedStage(reported)
  const pastVerbs = pastVerbsIn(reported)
  if (stage === 0 && pastVerbs.size === 0) return null
  // Code is masked for the cues only: a file name in backticks is often all that names the work.
  const named = clauses.map(({ 0: clause, index }) => sentence.text.slice(index, index + clause.length))
  return { words: wordSet(named.join(" ")), pastVerbs, stage }
}

/**
 * Whether a clause stands as reported. Denials and plans count up to the last cue ("the merged branch is not
 * deployed"), conditions up to the first: "fixed the crash when the queue is closed" is a report.
 */
function isReported(clause: string): boolean {
  const cues = [...clause.matchAll(CUE)]
  const marks = cues.length > 0 ? cues : [...clause.matchAll(PAST_VERB)]
  const [first] = marks
  const last = marks.at(-1)
  const beforeLast = clause.slice(0, last?.index)
  const afterLast = last ? clause.slice(last.index + last[0].length) : ""
  if (isNegated(beforeLast) || UNFINISHED.test(beforeLast)) return false
  return !AWAITED.test(clause.slice(0, first?.index)) && !AWAITED_NEXT.test(afterLast)
}

/** The words that name a task; its due date and its owner are no part of the name. */
export function workWords(description: string, owner: string | null): WorkWords {
  const ownerWords = new Set(sentenceWords(owner ?? ""))
  const stems = sentenceWords(withoutDue(description)).filter((word) => !ownerWords.has(word))
  const [first] = stems
  const verb = first !== undefined && isRequestVerb(first) ? first : null
  return { verb, words: new Set(stems) }
}

/**
 * Whether a completion names a piece of work.
 * It does when it shares at least half of the work's content words, at least one of them telling (neither
 * its verb nor "PR", "bug" or "test", unless the work has no other word), when it names no other number,
 * and when the work went far enough: "fixed" does not complete "deploy ...", while "done" and a check mark
 * complete everything.
 */
export function completes(completion: Completion, work: WorkWords): boolean {
  const shared = [...work.words].filter((word) => completion.words.has(word))
  if (shared.length === 0 || shared.length * 2 < work.words.size) return false
  const isTelling = (word: string): boolean => word !== work.verb && !VAGUE_WORDS.has(word)
  if ([...work.words].some(isTelling) && !shared.some(isTelling)) return false
  if (namesOtherNumber(completion.words, work.words)) return false
  const verb = work.verb ?? ""
  if (completion.pastVerbs.has(verb)) return true
  return completion.stage > 0 && completion.stage >= (STAGES.get(verb) ?? 0)
}

const VAGUE_WORDS = new Set(
  `branch bug change code commit error feature file fix issue item pr problem pull request review step
  task test thing ticket update work`
    .split(/\s+/)
    .map(comparedForm),
)

/** PR 41 is not PR 42, nor module m7 module m8. */
function namesOtherNumber(reported: ReadonlySet<string>, work: ReadonlySet<string>): boolean {
  const isNumber = (word: string): boolean => /\d/.test(word)
  const numbers = [...work].filter(isNumber)
  if (numbers.length === 0 || numbers.some((number) => reported.has(number))) return false
  return [...reported].some(isNumber)
}

function reportedStage(text: string): number {
  let stage = 0
  for (const [cue] of text.matchAll(CUE)) {
    stage = Math.max(stage, STAGES.get(comparedForm(cue.toLowerCase())) ?? ALL_STAGES)
  }
  return stage
}

function pastVerbsIn(text: string): Set<string> {
  const words = text.toLowerCase().match(PAST_VERB) ?? []
  return new Set(words.map(comparedForm).filter(isRequestVerb))
}

function wordSet(text: string): Set<string> {
  return new Set(sentenceWords(text))
}
