/**
 * Owns the cues by which a statement asks for work or promises it: check boxes, labels, mentions, "I will".
 * It refuses to follow the work: whether it was done, or asked for twice, is for the action items to say.
 */

import { isQuestion } from "../text/sentences.ts"
import { wholeWords } from "../text/whole-words.ts"
import { type AgentNames, NAME_PATTERN } from "./agent-name.ts"
import { dueIn } from "./due-date.ts"
import { EXCERPT_LIMIT, excerpt } from "./excerpt.ts"
import { isConditional } from "./modality.ts"
import { REQUEST_VERB_PATTERN } from "./request-verb.ts"
import { isListEntry, type Statement } from "./statement.ts"

/** One piece of work as a statement words it; `due` is as written. */
export interface Request {
  description: string
  owner: string | null
  due: string | null
  isDone: boolean
}

const LABEL = new RegExp(
  `^(?:TODO|Action(?: items?)?)(?:\\s?\\((@?)(${NAME_PATTERN})\\))?\\s*[:：]\\s*`,
  "iu",
)

/**
 * The work a statement asks for or promises, in the order written; one sentence may hold several pieces.
 * Explicit tasks (check boxes, "TODO:", "Action item:", list entries under such a title) are taken as they
 * are; in prose, a cue counts only at the start of a clause. Questions count when they ask ("can you"),
 * promises only without a condition, and nothing inside inline code counts.
 */
export function requestsIn(statement: Statement, names: AgentNames): Request[] {
  const { sentence, section, cueText } = statement
  if (sentence.kind === "heading" || sentence.text.endsWith(":")) return []
  const label = LABEL.exec(cueText)
  const isExplicit = sentence.kind === "checkbox" || (section === "action" && isListEntry(statement))
  if (!label && !isExplicit) return assignmentsIn(statement, names)
  const [whole = "", at = "", name = ""] = label ?? []
  const task = explicitTask(statement, names, whole.length, names.known(at, name))
  return task ? [task] : []
}

const CHECK_MARK = /[✅✓✔☑]\uFE0F?\s*/uy
const MENTION_LEAD = new RegExp(
  `@(${NAME_PATTERN})\\s*(?:[:,—–-]\\s*)?(?:(?:will|to|should|must|please)\\s+)?`,
  "uy",
)
const DUTY = "(?:will|to|should|must|please)\\s"
const NAME_LEAD = new RegExp(
  `(${NAME_PATTERN})(?:\\s*[:,]\\s+|\\s+[—–-]\\s+|\\s+(?=${DUTY}))(?:${DUTY}+)?`,
  "uy",
)
const SELF_LEAD = /(?:I will|I['’]ll)\s+/iy
const PLEASE_LEAD = /(?:please|kindly)\s+/iy
const NO_TASK = /^(?:none|nothing|n\/a|nil|tbd)\b.{0,20}$/i

function explicitTask(
  statement: Statement,
  names: AgentNames,
  from: number,
  labelOwner: string | null,
): Request | null {
  const { sentence, cueText, message } = statement
  const afterMark = endOf(CHECK_MARK, cueText, from)
  const lead = leadingOwner(cueText, afterMark ?? from, names, message.sender)
  const bodyAt = endOf(PLEASE_LEAD, cueText, lead.end) ?? lead.end
  const description = taskText(sentence.text.slice(bodyAt))
  if (!/[\p{L}\p{N}]/u.test(description) || NO_TASK.test(description)) return null
  return {
    description,
    owner: labelOwner ?? lead.owner ?? ownerNamedIn(cueText.slice(bodyAt), names),
    due: dueIn(cueText.slice(bodyAt)),
    isDone: sentence.kind === "checkbox" ? sentence.checked : afterMark !== null,
  }
}

function leadingOwner(text: string, from: number, names: AgentNames, sender: string) {
  const mention = matchAt(MENTION_LEAD, text, from)
  const [, mentioned] = mention ?? []
  if (mention && mentioned !== undefined) {
    return { owner: names.mentioned(mentioned) ?? mentioned, end: from + mention[0].length }
  }
  const lead = matchAt(NAME_LEAD, text, from)
  const owner = names.bare(lead?.[1] ?? "")
  if (lead && owner !== null) return { owner, end: from + lead[0].length }
  const afterSelf = endOf(SELF_LEAD, text, from)
  return afterSelf === null ? { owner: null, end: from } : { owner: sender, end: afterSelf }
}

const OWNER_PATTERNS = [
  new RegExp(`\\b(?:owner|assignee|assigned to|owned by)\\s?:?\\s?(@?)(${NAME_PATTERN})`, "giu"),
  new RegExp(`(?<![\\p{L}\\p{N}_./@-])(@)(${NAME_PATTERN})`, "gu"),
  new RegExp(`\\((@?)(${NAME_PATTERN})\\)`, "gu"),
  new RegExp(`\\s[—–-]\\s(@?)(${NAME_PATTERN})[.!]?$`, "gu"),
]

function ownerNamedIn(text: string, names: AgentNames): string | null {
  for (const pattern of OWNER_PATTERNS) {
    for (const [, at = "", word = ""] of text.matchAll(pattern)) {
      const owner = names.known(at, word)
      if (owner !== null) return owner
    }
  }
  return null
}

/**
 * A promise says what somebody will do, an ask is polite or a question, an order is a bare "@Name, review
 * …".
 */
type CueKind = "promise" | "ask" | "order"

interface Cue {
  kind: CueKind
  owner: string | null
  bodyAt: number
}

const JOINING_WORD = "(?:and|so|but|then|while|meanwhile)"
const OPENING_WORD =
  "(?:also|now|next|finally|hi|hello|hey|thanks|thank you|great|yes|sure|perfect|agreed|ok|okay)"
const CLAUSE_START = new RegExp(
  `(?:^|[,;:—–(]\\s*|\\s(?=@)|\\s(?=${JOINING_WORD}\\s))(?:(?:${JOINING_WORD}|${OPENING_WORD})\\b[,!]?\\s*)*`,
  "giu",
)

function assignmentsIn(statement: Statement, names: AgentNames): Request[] {
  const { sentence, cueText, message } = statement
  const refused = new Set<CueKind>()
  if (isQuestion(sentence.text)) refused.add("promise").add("order")
  if (isConditional(cueText)) refused.add("promise")
  const pieces: { clauseAt: number; bodyAt: number; owner: string | null }[] = []
  let readUpTo = 0
  for (const clause of cueText.matchAll(CLAUSE_START)) {
    const from = clause.index + clause[0].length
    if (from < readUpTo) continue
    const cue = cueAt(cueText, from, names, message.sender, clause.index === 0)
    if (!cue || refused.has(cue.kind)) continue
    pieces.push({ clauseAt: clause.index, bodyAt: cue.bodyAt, owner: cue.owner })
    readUpTo = cue.bodyAt
  }
  return pieces.flatMap(({ bodyAt, owner }, index) => {
    const end = pieces[index + 1]?.clauseAt ?? sentence.text.length
    const description = taskText(sentence.text.slice(bodyAt, end))
    if (!/[\p{L}\p{N}]/u.test(description)) return []
    // "By Friday, BlueLake will …" dates the one piece of work; with several, the date stays with its own.
    const due = dueIn(cueText.slice(bodyAt, end)) ?? (pieces.length === 1 ? dueIn(cueText) : null)
    return [{ description, owner, due, isDone: false }]
  })
}

function cueAt(text: string, from: number, names: AgentNames, sender: string, isFirst: boolean): Cue | null {
  return selfPromise(text, from, sender) ?? namedCue(text, from, names) ?? openAsk(text, from, names, isFirst)
}

const SELF_PROMISE = /(?:I will|I['’]ll|I(?: am|['’]m) going to)\s+/iy
const NO_PROMISE = new RegExp(
  wholeWords(
    "not|never|no longer|(?:probably|likely) not|be(?! [a-z]+ing\\b)|have(?! to\\b)|see(?! to\\b)",
    "know|assume|guess|say|admit|think|let (?:you|everyone|them) know",
  ),
  "iuy",
)
const NO_ASK = new RegExp(
  wholeWords(
    "note|notice|find|see|be|feel|ignore|disregard|excuse|forgive|bear|accept|advise|refer|keep in mind",
    "let (?:me|us) know|(?:do not|don['’]t|never)(?! forget\\b)",
  ),
  "iuy",
)

function selfPromise(text: string, from: number, sender: string): Cue | null {
  const bodyAt = endOf(SELF_PROMISE, text, from)
  if (bodyAt === null || matchAt(NO_PROMISE, text, bodyAt)) return null
  return { kind: "promise", owner: sender, bodyAt }
}

const NAMED = new RegExp(`(@?)(${NAME_PATTERN})(?:\\s(?:and|&)\\s@?${NAME_PATTERN})?`, "uy")
const ASKED =
  /\s*[,:—–-]?\s*(?:(?:please|kindly)\s+|(?:can|could|would|will) you\s+(?:(?:please|kindly|also)\s+)*)/iy
const PROMISED = new RegExp(
  `(?:\\s(?:will|is going to)|['’]ll)\\s+|\\sto\\s+(?=${REQUEST_VERB_PATTERN}\\b)`,
  "iy",
)
const ORDERED = new RegExp(
  `\\s*[,:—–-]?\\s*(?=${REQUEST_VERB_PATTERN}\\b(?! (?:[a-z]+ed|is|was|has|are|were)\\b))`,
  "iy",
)

/** "@Name please …", "Name will …", "Name to review …": the first name owns the work when two share it. */
function namedCue(text: string, from: number, names: AgentNames): Cue | null {
  const address = matchAt(NAMED, text, from)
  if (!address) return null
  const [whole, at = "", word = ""] = address
  const known = names.known(at, word)
  const end = from + whole.length
  const owner = known ?? (at === "@" ? word : null)
  const askedAt = endOf(ASKED, text, end)
  if (owner === null) return null
  if (askedAt !== null) {
    return matchAt(NO_ASK, text, askedAt) ? null : { kind: "ask", owner, bodyAt: askedAt }
  }
  // An unknown @word may be a decorator or a package scope, which only a polite request rules out.
  if (known === null) return null
  const promisedAt = endOf(PROMISED, text, end)
  if (promisedAt !== null) {
    return matchAt(NO_PROMISE, text, promisedAt) ? null : { kind: "promise", owner, bodyAt: promisedAt }
  }
  const orderedAt = at === "@" ? endOf(ORDERED, text, end) : null
  return orderedAt === null ? null : { kind: "order", owner, bodyAt: orderedAt }
}

const OPEN_ASK = /(?:please|kindly)[,\s]\s*/iy
const OPEN_QUESTION = new RegExp(
  `(?:can|could|would) you\\s+(?:(?:please|kindly|also)\\s+)*(?=${REQUEST_VERB_PATTERN}\\b)`,
  "iy",
)
const VOCATIVE = new RegExp(`(@?)(${NAME_PATTERN}),?\\s+`, "uy")
const CLOSING_VOCATIVE = new RegExp(`(?:,\\s|\\s(?=@))(@?)(${NAME_PATTERN})[.!?]?$`, "u")

/** "Please …" and "Can you …": owned by nobody unless a name is called right after the cue or at the end. */
function openAsk(text: string, from: number, names: AgentNames, isFirst: boolean): Cue | null {
  const askedAt = endOf(OPEN_ASK, text, from) ?? (isFirst ? endOf(OPEN_QUESTION, text, from) : null)
  if (askedAt === null) return null
  const vocative = matchAt(VOCATIVE, text, askedAt)
  const called = vocative ? names.known(vocative[1] ?? "", vocative[2] ?? "") : null
  const bodyAt = called === null ? askedAt : askedAt + (vocative?.[0].length ?? 0)
  if (matchAt(NO_ASK, text, bodyAt)) return null
  const [, at = "", word = ""] = CLOSING_VOCATIVE.exec(text) ?? []
  return { kind: "ask", owner: called ?? names.known(at, word), bodyAt }
}

const JOINING_TAIL = new RegExp(`[\\s,;:.!?—–(-]+(?:${JOINING_WORD}[\\s,]*)?$`, "i")

function taskText(text: string): string {
  const trimmed = text.trim()
  return trimmed.length > EXCERPT_LIMIT ? excerpt(trimmed) : trimmed.replace(JOINING_TAIL, "")
}

function matchAt(pattern: RegExp, text: string, offset: number): RegExpExecArray | null {
  pattern.lastIndex = offset
  return pattern.exec(text)
}

function endOf(pattern: RegExp, text: string, offset: number): number | null {
  const match = matchAt(pattern, text, offset)
  return match === null ? null : offset + match[0].length
}
