/** The work that a statement asks for, promises or announces: check boxes, labels, mentions, "I will", "Next steps: …". */

import { openings } from "../text/whole-words.ts"
import { dueIn } from "./due-date.ts"
import { CONDITION, EXCERPT_CHARS_MAX, excerpt, type Statement } from "./statement.ts"

/** One piece of work as a statement words it; `due` as in `dueIn`. */
export interface Request {
  description: string
  owner: string | null
  due: string | null
  isDone: boolean
  /** A `step` is announced by nobody in particular. */
  kind: "action" | "step"
}

export type KnownName = ReturnType<typeof knownNames>

/** Knows names in prose, after `@` in any case; a bare word is one only as it is spelled, as names may be common words. */
export function knownNames(names: readonly string[]) {
  const byForm = new Map(
    names.flatMap((name) => [name, `@${name.toLowerCase()}`].map((form) => [form, name])),
  )
  return (at: string, word: string) => byForm.get(at === "" ? word : at + word.toLowerCase()) ?? null
}

const NAME = "[\\p{L}\\p{N}][\\p{L}\\p{N}_-]*"
/** In the base form; those that read the same in the past ask for nothing: "@BlueLake read the log". */
const VERBS =
  `add|address|adjust|announce|apply|approve|ask|assign|backport|benchmark|block|build|bump|check|clarify|
clean|close|commit|compare|complete|configure|confirm|convert|create|debug|define|delete|deploy|describe|design|disable|
do|document|double-check|draft|drop|enable|ensure|estimate|export|extend|extract|file|finali[sz]e|finish|fix|follow|
format|generate|get|give|handle|help|implement|import|improve|inform|integrate|investigate|invite|join|keep|leave|look|
make|mark|measure|merge|migrate|monitor|move|notify|open|optimi[sz]e|own|pair|patch|pin|ping|port|post|prepare|profile|
propose|provide|publish|pull|push|rebase|rebuild|record|refactor|register|release|remove|rename|reopen|replace|reply|
report|reproduce|rerun|reserve|resolve|respond|restart|restore|retest|retry|return|revert|review|rewrite|roll|rotate|run|
schedule|send|share|ship|sign|specify|split|squash|start|stop|submit|summari[sz]e|switch|sync|tag|take|talk|tell|test|
trace|track|triage|try|update|upgrade|upload|use|validate|verify|wait|watch|work|write`.replaceAll("\n", "")
const VERB = `(?=(?:${VERBS})(?![\\p{L}\\p{N}-]))`
const KINDLY = "(?:(?:please|kindly|also)\\s+)"
const SOMEBODY = "(?:you|someone|somebody|anyone|anybody|everyone|everybody)"

const LABEL = new RegExp(`^(?:TODO|Nit|Action(?: items?)?)(?:\\s?\\((@?)(${NAME})\\))?\\s*[:：]\\s*`, "iu")
const CHECK_MARK = /[✅✓✔☑]\uFE0F?\s*/uy
const DUTY = "(?:will|to|should|must|please)\\s"
const LISTED_OWNER = new RegExp(
  `(?:(?<self>I will|I['’]ll)\\s+|(?<at>@?)(?<name>${NAME})(?:\\s*[:,]\\s+|\\s+[—–-]\\s+|(?<=@${NAME})\\s+|\\s+(?=${DUTY}))` +
    `(?:${DUTY}+)?)?${KINDLY}?`,
  "iuy",
)
const NAMED_OWNER = new RegExp(
  `(?:\\b(?:owner|assignee|assigned to|owned by)\\s?:?\\s?|\\(|\\s[—–-]\\s|(?<![\\p{L}\\p{N}_./-])(?=@))(@?)(${NAME})`,
  "giu",
)
const NO_TASK = /^(?:none|nothing|n\/a|nil|tbd)\b.{0,20}$/i
const STEP =
  /^(?:(?:the|our|my|immediate)\s)*next(?: steps?| up)?(?:\s?[,:：]\s*|\s[—–-]\s*|\s(?:is|are|will be)(?:\sto)?\s)(?=\S)/i

const JOINING = "(?:and|so|but|then|while|meanwhile)"
const OPENING =
  "(?:also|now|next|finally|hi|hello|hey|thanks|thank you|great|yes|sure|perfect|agreed|ok|okay)"
const CLAUSE_START = new RegExp(
  `(?:^|[,;:—–(]\\s*|\\s(?=@)|\\s(?=${JOINING}\\s))(?:(?:${JOINING}|${OPENING})\\b[,!]?\\s*)*`,
  "giu",
)
/** How a clause begins that gives work: "I'll …", "@Name please …", "Name will …", "@Name, review …", "Please …". */
const LEAD = new RegExp(
  `(?<self>I will|I['’]ll|I(?: am|['’]m) going to)\\s+|(?<open>(?:${SOMEBODY}\\s+)?(?:please|kindly)[,\\s]\\s*)|` +
    `(?<at>@?)(?<name>${NAME})(?:\\s(?:and|&)\\s@?${NAME})?(?:` +
    `(?<asked>\\s*[,:—–-]?\\s*(?:${KINDLY}|(?:can|could|would|will) you\\s+)${KINDLY}*)|` +
    `(?<promised>(?:\\s(?:will|is going to)|['’]ll)\\s+|\\sto\\s+${VERB})|` +
    `(?<ordered>\\s*[,:—–-]?\\s*${VERB}(?!\\S+ (?:[a-z]+ed|is|was|has|are|were)\\b)))|` +
    `(?<question>(?:can|could|would) ${SOMEBODY}\\s+${KINDLY}*${VERB})`,
  "iuy",
)
const NO_PROMISE = openings(
  "not|never|no longer|(?:probably|likely) not|be(?! [a-z]+ing\\b)|have(?! to\\b)|see(?! to\\b)|know|assume|guess|say",
  "admit|think|let (?:you|everyone|them) know",
)
const NO_ASK = openings(
  "note|notice|find|see|be|feel|ignore|disregard|excuse|forgive|bear|accept|advise|refer|keep in mind|let (?:me|us) know",
  "(?:do not|don['’]t|never)(?! forget\\b)",
)
const CALLED_LAST = new RegExp(`(?:,\\s|\\s(?=@))(@?)(${NAME})[.!?]?$`, "u")
const JOINING_TAIL = new RegExp(`[\\s,;:.!?—–(-]+(?:${JOINING}[\\s,]*)?$`, "i")

/**
 * The work a statement gives, in the order written; one sentence may hold several pieces. Explicit tasks (check boxes,
 * "TODO:", entries under such a title) are taken as they are; in prose a cue counts only at the start of a clause.
 * Questions count when they ask ("can you"), promises without a condition, and nothing within inline code counts.
 */
export function requestsIn(statement: Statement, known: KnownName): Request[] {
  const { kind, section, cueText, isTitle } = statement
  if (isTitle) return []
  const [label = "", at = "", name = ""] = LABEL.exec(cueText) ?? []
  if (label !== "" || kind === "checkbox" || section === "action")
    return explicitTask(statement, known, label.length, known(at, name))
  const requests = assignmentsIn(statement, known)
  return requests.length > 0 ? requests : stepIn(statement)
}

/** The work that a part of a statement words, if it has a word. */
function requestOf(statement: Statement, owner: string | null, from: number, to?: number): Request[] {
  const { text, cueText, message } = statement
  const task = text.slice(from, to).trim()
  const description = task.length > EXCERPT_CHARS_MAX ? excerpt(task) : task.replace(JOINING_TAIL, "")
  if (!/[\p{L}\p{N}]/u.test(description)) return []
  const due = dueIn(cueText.slice(from, to), message.createdAtMs)
  return [{ description, owner, due, isDone: false, kind: "action" }]
}

function explicitTask(statement: Statement, known: KnownName, from: number, labelled: string | null) {
  const { cueText, message } = statement
  const marked = matchAt(CHECK_MARK, cueText, from)?.[0].length ?? 0
  const lead = matchAt(LISTED_OWNER, cueText, from + marked)
  const { self, at = "", name = "" } = lead?.groups ?? {}
  const called = self === undefined ? (known(at, name) ?? (at === "" ? null : name)) : message.sender
  const bodyAt = from + marked + (name === "" || called !== null ? (lead?.[0].length ?? 0) : 0)
  const names = [...cueText.slice(bodyAt).matchAll(NAMED_OWNER)]
  const named = names.map(([, mark = "", word = ""]) => known(mark, word)).find((one) => one !== null)
  const owner = labelled ?? called ?? named ?? null
  const isDone = statement.kind === "checkbox" ? statement.checked : marked > 0
  return requestOf(statement, owner, bodyAt)
    .filter(({ description }) => !NO_TASK.test(description))
    .map((request) => ({ ...request, isDone }))
}

/** The step a statement announces, worded without its cue; entries under a "Next steps" title count. */
function stepIn(statement: Statement): Request[] {
  const cue = STEP.exec(statement.cueText)?.[0]
  if (statement.isQuestion || (cue === undefined && statement.section !== "next")) return []
  return requestOf(statement, null, cue?.length ?? 0).map((request) => ({ ...request, kind: "step" }))
}

function assignmentsIn(statement: Statement, known: KnownName): Request[] {
  const { cueText, message } = statement
  const pieces: { clauseAt: number; bodyAt: number; owner: string | null }[] = []
  for (const { 0: clause, index: clauseAt } of cueText.matchAll(CLAUSE_START)) {
    const from = clauseAt + clause.length
    const lead = from < (pieces.at(-1)?.bodyAt ?? 0) ? null : matchAt(LEAD, cueText, from)
    const owner = lead ? ownerOf(lead, statement, known) : undefined
    if (lead && owner !== undefined) pieces.push({ clauseAt, bodyAt: from + lead[0].length, owner })
  }
  const requests = pieces.flatMap(({ bodyAt, owner }, at) =>
    requestOf(statement, owner, bodyAt, pieces[at + 1]?.clauseAt),
  )
  const [only] = requests
  // "By Friday, BlueLake will …" dates the one piece of work; with several, the date stays with its own.
  if (only && requests.length === 1) only.due ??= dueIn(cueText, message.createdAtMs)
  return requests
}

/** Who is given work by a clause, nobody in particular, or undefined where no work is given; of two names the first. */
function ownerOf(lead: RegExpExecArray, { cueText, message, isQuestion }: Statement, known: KnownName) {
  const { self, at = "", name = "", asked, promised, ordered } = lead.groups ?? {}
  const body = cueText.slice(lead.index + lead[0].length)
  const named = self === undefined ? (known(at, name) ?? undefined) : message.sender
  if (self !== undefined || promised !== undefined)
    return isQuestion || CONDITION.test(cueText) || NO_PROMISE.test(body) ? undefined : named
  if (ordered !== undefined) return at === "" || isQuestion ? undefined : named
  if (NO_ASK.test(body)) return undefined
  // An unknown @word may be a decorator or a package scope, which only a polite request rules out.
  if (asked !== undefined) return named ?? (at === "" ? undefined : name)
  const [, lastAt = "", lastName = ""] = CALLED_LAST.exec(cueText) ?? []
  return known(lastAt, lastName)
}

function matchAt(pattern: RegExp, text: string, offset: number): RegExpExecArray | null {
  pattern.lastIndex = offset
  return pattern.exec(text)
}
