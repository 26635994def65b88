/**
 * Owns the cues by which a statement announces what comes next: "Next steps: …", "Next, …", "next up".
 * It refuses words that merely contain one, such as Next.js, next-gen or context.
 */

import { isQuestion } from "../text/sentences.ts"
import { dueIn } from "./due-date.ts"
import { excerpt } from "./excerpt.ts"
import type { Request } from "./request.ts"
import { isListEntry, type Statement } from "./statement.ts"

const DETERMINER = "(?:(?:the|our|my|immediate)\\s)*"
const PUNCTUATED = "(?:\\s?[,:：]|\\s[—–-])\\s*"
const LINKED = "\\s(?:is|are|will be)(?:\\sto)?\\s"
const STEP = `next steps?(?:${PUNCTUATED}|${LINKED})`
const UP = `next up(?:${PUNCTUATED}|${LINKED}|\\s)`
const CUE = new RegExp(`^${DETERMINER}(?:${STEP}|${UP}|next${PUNCTUATED})(?=\\S)`, "i")

/**
 * The step a statement announces, worded without its cue, or null. Entries under a "Next steps" title
 * count.
 */
export function nextStepIn(statement: Statement): Request | null {
  const { sentence, section, cueText } = statement
  if (sentence.kind === "heading" || isQuestion(sentence.text) || sentence.text.endsWith(":")) return null
  const cue = CUE.exec(cueText)?.[0]
  const isListed = section === "next" && isListEntry(statement)
  if (cue === undefined && !isListed) return null
  const description = excerpt(sentence.text.slice(cue?.length ?? 0).trim())
  const isDone = sentence.kind === "checkbox" && sentence.checked
  return { description, owner: null, due: dueIn(cueText), isDone }
}
