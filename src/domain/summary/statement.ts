/**
 * Owns the thread as one list of statements: each sentence with the mail it cites and the section it stands
 * in. It refuses to judge what a statement means; the cue modules do.
 */

import { maskCode } from "../text/code-spans.ts"
import { indexableText } from "../text/words.ts"
import { excerpt } from "./excerpt.ts"
import { readSentences, type Sentence } from "./sentence.ts"
import type { ThreadMessage } from "./thread-message.ts"

/** What a heading or a lead-in such as "Next steps:" promises of the bullets below it. */
export type Section = "action" | "decision" | "done" | "next"

export interface Statement {
  sentence: Sentence
  message: ThreadMessage
  /** Position of the mail in the thread, from 0. */
  messageIndex: number
  section: Section | null
  /** The first CUE_WINDOW characters with inline code masked: offsets agree with the sentence's text. */
  cueText: string
}

/** A sentence of the thread, cut to EXCERPT_LIMIT, and the mail that holds it. */
export interface CitedSentence {
  text: string
  messageId: number
  sender: string
}

/** Cues are sought in this many characters: what runs longer without a full stop is data, not a statement. */
const CUE_WINDOW = 1000

/** Reads a thread, oldest mail first, as its statements in order. */
export function readStatements(messages: readonly ThreadMessage[]): Statement[] {
  return messages.flatMap((message, messageIndex) => {
    let section: Section | null = null
    return readSentences(message.body).map((sentence): Statement => {
      section = sectionFor(sentence, section)
      const cueText = maskCode(sentence.text.slice(0, CUE_WINDOW))
      return { sentence, message, messageIndex, section, cueText }
    })
  })
}

/** Cites a statement as a result does. */
export function cite(statement: Statement): CitedSentence {
  const { id, sender } = statement.message
  return { text: excerpt(statement.sentence.text), messageId: id, sender }
}

/** Whether a statement is an entry of a list, and so inherits what its section promises. */
export function isListEntry(statement: Statement): boolean {
  return statement.sentence.kind === "bullet" || statement.sentence.kind === "checkbox"
}

const SECTION_TITLES: readonly [Section, RegExp][] = [
  ["action", /^(?:(?:open|remaining|pending|new) )?(?:action items?|actions|to ?dos?)$/],
  ["decision", /^(?:(?:key|final) )?decisions?(?: made| so far)?$/],
  [
    "done",
    /^(?:what s )?(?:done|completed|finished|shipped|merged|resolved|fixed|closed)(?: so far| today)?$/,
  ],
  ["next", /^(?:(?:my|our|the|proposed|immediate) )?next(?: steps?| up)?$|^what s next$/],
]

function sectionFor(sentence: Sentence, current: Section | null): Section | null {
  const isTitle = sentence.kind === "heading" || /[:：]$/.test(sentence.text.slice(-1))
  if (isTitle && sentence.text.length <= 60) {
    const title = indexableText(sentence.text)
    const named = SECTION_TITLES.find(([, pattern]) => pattern.test(title))?.[0] ?? null
    if (named !== null || sentence.kind !== "bullet") return named
  }
  return sentence.kind === "paragraph" || sentence.kind === "heading" ? null : current
}
