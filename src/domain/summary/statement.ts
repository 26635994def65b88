/** The thread as a list of statements: each sentence with the mail it cites and the section it stands in. */

import { isWithinCharacter } from "../text/characters.ts"
import { maskCode } from "../text/code-spans.ts"
import { isQuestion } from "../text/sentences.ts"
import { indexableText } from "../text/words.ts"
import { readSentences, type Sentence } from "./markdown.ts"

/** One Markdown mail; `createdAtMs` is in milliseconds since the epoch, a thread lists its mails oldest first. */
export interface ThreadMessage {
  id: number
  sender: string
  subject: string
  body: string
  createdAtMs: number
}

/** What a heading or a lead-in such as "Next steps:" promises of the entries below it. */
type Section = "action" | "decision" | "done" | "next"

export type Statement = Sentence & {
  message: ThreadMessage
  /** Position of the mail in the thread, from 0. */
  messageIndex: number
  /** Of the section of a list entry, else null. */
  section: Section | null
  isQuestion: boolean
  /** A heading, or what leads in to something else. */
  isTitle: boolean
  /** The first CUE_WINDOW characters with inline code masked: offsets agree with `text`. */
  cueText: string
}

/** A sentence of the thread, cut to EXCERPT_CHARS_MAX, and the mail that holds it. */
export type CitedSentence = ReturnType<typeof cite>

/** Cues are sought in this many characters: what runs longer without a full stop is data, not a statement. */
const CUE_WINDOW = 1000
const TITLE_CHARS_MAX = 60
const SECTION_TITLES: readonly [Section, RegExp][] = [
  ["action", /^(?:(?:open|remaining|pending|new) )?(?:action items?|actions|to ?dos?|follow ups?)$/],
  ["decision", /^(?:(?:key|final) )?decisions?(?: made| so far)?$/],
  ["done", /^(?:what s )?(?:done|completed|finished|shipped|merged|resolved|fixed)(?: so far| today)?$/],
  ["next", /^(?:(?:my|our|the|proposed|immediate) )?next(?: steps?| up)?$|^what s next$/],
]

/** Reads a thread, oldest mail first, as its statements in order. */
export function readStatements(messages: readonly ThreadMessage[]): Statement[] {
  return messages.flatMap((message, messageIndex) => {
    let current: Section | null = null
    const prose = readSentences(message.body)
    // A mail of code or quotes alone can only be shown.
    const [line = ""] = prose.length > 0 ? [] : (/^.*[\p{L}\p{N}].*$/mu.exec(message.body) ?? [])
    const shown: Sentence[] = line === "" ? prose : [{ kind: "heading", text: line.trim() }]
    return shown.map((sentence): Statement => {
      const { kind, text } = sentence
      const isEntry = kind === "bullet" || kind === "checkbox"
      const isTitle = kind === "heading" || text.endsWith(":") || text.endsWith("：")
      const title = isTitle && text.length <= TITLE_CHARS_MAX ? indexableText(text) : ""
      const named = title === "" ? null : SECTION_TITLES.find(([, pattern]) => pattern.test(title))?.[0]
      current = named ?? (isEntry ? current : null)
      const cueText = maskCode(text.slice(0, CUE_WINDOW))
      const section = isEntry ? current : null
      const asks = isQuestion(text)
      return Object.assign(sentence, { message, messageIndex, section, isQuestion: asks, isTitle, cueText })
    })
  })
}

/** The longest quote a result may carry, in UTF-16 code units, the cut mark included. */
export const EXCERPT_CHARS_MAX = 300

/** Cites a statement as a result does. */
export function cite({ text, message }: Statement) {
  return { text: excerpt(text), messageId: message.id, sender: message.sender }
}

/** Cuts a text to EXCERPT_CHARS_MAX, ending in `…`: at a space of its second half, else never inside a character. */
export function excerpt(text: string): string {
  if (text.length <= EXCERPT_CHARS_MAX) return text
  const room = EXCERPT_CHARS_MAX - 1
  const lastSpace = text.lastIndexOf(" ", room)
  return `${text.slice(0, lastSpace > room / 2 ? lastSpace : isWithinCharacter(text, room) ? room - 1 : room)}…`
}

/** To be tried on the part before a cue when what follows may be negative. */
export const NEGATION =
  /\b(?:not|never|no|none|nobody|nothing|neither|nor|cannot|undecided|yet to|far from)\b|n['’]t\b/i
/** Makes what is said hang on a condition; "check if" and "even if" do not. */
export const CONDITION =
  /(?<!\b(?:ask|check|confirm|decide|determine|find out|investigate|know|look|see|test|verify|wonder|even) )\b(?:if(?! (?:possible|needed|necessary)\b)|unless|in case|provided|assuming)\b/i
