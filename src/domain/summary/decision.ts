/**
 * Owns the cues by which a statement records a decision.
 * It refuses proposals: questions, denials and conditions are not decisions, whatever words they use.
 */

import { isQuestion } from "../text/sentences.ts"
import { wholeWords } from "../text/whole-words.ts"
import { isConditional, isNegated } from "./modality.ts"
import { isListEntry, type Statement } from "./statement.ts"

// What is settled may itself hold a condition: "we agreed to roll back if errors exceed 1%".
const SETTLED = [
  "decided",
  "(?:final )?decision\\s?:",
  "(?:final|our|the) decision (?:is|was)(?: to| that)?",
  "we(?: have|['’]ve| all| both)* agreed",
  "agreed (?:to|that|on|upon)",
  "settled on",
  "we(?: have|['’]ve)? (?:chose|chosen|picked)",
]
// What is only intended is no decision while it depends on something: "we will use Redis if it holds".
const INTENDED = [
  "let(?:['’]s| us) go with",
  "we(?: will|['’]ll) (?:use|go with|adopt|stick with|stick to)",
  "going with",
  "approved",
]

const CUE = new RegExp(wholeWords(`(${SETTLED.join("|")})`, `(${INTENDED.join("|")})`, "^final\\s?:"), "giu")

const HYPOTHETICAL = new RegExp(
  wholeWords(
    "should|could|would|might|may be|may have|must|can|needs?|to be|will be|waiting",
    "until|once|when|whether|before|whoever|who",
  ),
  "iu",
)
const STILL_OPEN =
  "pending|tbd|tba|open|none|unknown|deferred|postponed|undecided|to be|needed|required|" +
  "not (?:yet|made|taken|final|known)"
const LEFT_OPEN = new RegExp(`^\\s*(?:is |still )*${wholeWords(STILL_OPEN)}`, "iu")

/**
 * Whether a statement records a decision: one cue stands in a clause that neither asks, denies nor
 * supposes.
 */
export function isDecision(statement: Statement): boolean {
  const { sentence, section, cueText } = statement
  if (sentence.kind === "heading" || isQuestion(sentence.text) || sentence.text.endsWith(":")) return false
  if (section === "decision" && isListEntry(statement)) return !LEFT_OPEN.test(cueText)
  for (const cue of cueText.matchAll(CUE)) {
    if (isMeant(cueText, cue)) return true
  }
  return false
}

function isMeant(text: string, cue: RegExpExecArray): boolean {
  const before = text.slice(0, cue.index)
  const after = text.slice(cue.index + cue[0].length)
  const clause = before.slice(Math.max(...[";", ",", "—", ":"].map((mark) => before.lastIndexOf(mark))) + 1)
  const isIntention = cue[2] !== undefined
  if (isNegated(clause) || HYPOTHETICAL.test(clause) || LEFT_OPEN.test(after)) return false
  return !isConditional(isIntention ? text : before)
}
