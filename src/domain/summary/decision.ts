/** The statements that record a decision: those that say so, and proposals that somebody else agreed to. */

import { sentenceWords } from "../text/content-words.ts"
import { cues, openings, wholeWords } from "../text/whole-words.ts"
import { CONDITION, NEGATION, type Statement } from "./statement.ts"

// What is settled may itself hold a condition: "we agreed to roll back if errors exceed 1%".
const SETTLED = wholeWords(
  "decided|(?:final )?decision\\s?:|(?:final|our|the) decision (?:is|was)(?: to| that)?|settled on",
  "(?:final call|settled|verdict|resolution|outcome)\\s?:|we(?: have|['’]ve| all| both)* agreed",
  "agreed (?:to|that|on|upon)|we(?: have|['’]ve)? (?:chose|chosen|picked)|from now on",
)
// What is only intended is no decision while it depends on something: "we will use Redis if it holds".
const INTENDED = wholeWords(
  "let(?:['’]s| us) go with|we(?: will|['’]ll) (?:use|go with|adopt|stick|stay|keep|drop|take|switch|move to|support)",
  "(?:so|then|ok|okay|we) (?:go|stick|stay) with|(?:so|then|ok|okay|,) we (?:keep|drop|take|use)(?! \\w+ing)",
  "we(?: are|['’]re) (?:using|going to (?:use|take|drop|keep|move|switch))|going with|approved|it stays|it is[.!]?$",
)
const DECIDES = new RegExp(`(${SETTLED})|(${INTENDED})|^final\\s?:`, "giu")
const HYPOTHETICAL = cues(
  "should|could|would|might|may be|may have|must|can|needs?|to be|will be|waiting|until|once|when|whether|before|who",
)
const LEFT_OPEN =
  /^\s*(?:is |still )*(?:pending|tb[da]|open|none|unknown|deferred|postponed|undecided|to be|needed|required|not (?:yet|made|taken|final|known))\b/i

const PROPOSES = cues(
  "let['’]?s|let us|(?:i|we)(?:['’]d| would)? (?:propose|suggest|recommend|vote)|(?:i['’]d|i would) (?:use|take|go)",
  "(?:proposal|suggestion|recommendation)\\s?:|(?:how|what) about|why (?:not|don['’]t we)|(?:shall|should|can) we",
  "(?:we could|could we|we should)|best (?:is|to)|then\\s?\\?$|^(?:ok |so )?then(?= [^?]*\\?$)",
)
/** "Then 14 with the check. Agreed?" */
const ASKS_FOR_AGREEMENT = /^(?:agreed|ok|okay|objections|any objections|deal|everyone ok)\b.{0,20}\?$/i
const AGREES = openings(
  "(?:(?:yes|ok|okay|sure|great)[,.!]? )?(?:(?:i )?agreed?|seconded|deal|approved|convinced|works for me|lgtm|go ahead)",
  "(?:(?:yes|ok|okay|sure|great)[,.!]? )?(?:sounds good|fine (?:by|with) me|ship it|(?:let['’]?s )?do (?:it|that))",
  "i['’]m (?:in|for it)|no objections?|all for it|\\+1|👍|✅",
)
/** These may as well answer something else, so they count in the next mail only. */
const NODS = openings("yes|yep|yeah|ok|okay|sure|of course|makes sense|good (?:idea|plan)|great|perfect")
const REJECTS = cues(
  "^(?:(?:hm+|well|ok|okay|sorry)[,.]? )?(?:no|nope|-1|dropped|rejected|not convinced|too early|let['’]?s not)",
  "^(?:(?:hm+|well|ok|okay|sorry)[,.]? )?(?:i disagree|(?:i['’]m|i am) (?:not|against)|i (?:don['’]t|do not))",
  "but|however|instead|won['’]t work",
)
/** Agreement reaches back this many mails. */
const PROPOSAL_REACH = 6

/** Returns the statements that record a decision, in the order written: of a proposal agreed to, the proposal. */
export function decisionsIn(statements: readonly Statement[]): Statement[] {
  const decided = new Set(statements.filter(isDecision))
  let proposals: Statement[] = []
  statements.forEach((statement, at) => {
    const { message, messageIndex, cueText, isQuestion, isTitle } = statement
    const [latest] = proposals
    const distance = messageIndex - (latest?.messageIndex ?? messageIndex)
    const isFirst = statements[at - 1]?.messageIndex !== messageIndex
    if (distance > 0 && distance <= PROPOSAL_REACH && latest?.message.sender !== message.sender) {
      const isRejection = isFirst && REJECTS.test(cueText)
      const mayNod = isFirst && distance === 1
      const isAgreement = !isQuestion && (AGREES.test(cueText) || (mayNod && NODS.test(cueText)))
      if (isAgreement && !isRejection) for (const proposal of proposals) decided.add(proposal)
      if (isAgreement || isRejection) proposals = []
    }
    const isAsked = ASKS_FOR_AGREEMENT.test(cueText)
    const proposed = statements[isAsked ? at - 1 : at]
    if (!proposed || isTitle || !(isAsked || PROPOSES.test(cueText))) return
    // A question that names a choice proposes nothing, nor does a denial.
    if (!isAsked && (NEGATION.test(cueText) || (isQuestion && / or /.test(cueText)))) return
    if (proposals[0]?.messageIndex !== proposed.messageIndex) proposals = []
    proposals.push(proposed)
  })
  return statements.filter((statement) => decided.has(statement))
}

/** Whether one cue stands in a clause that neither asks, denies nor supposes, and something is decided. */
function isDecision({ section, cueText, isQuestion, isTitle }: Statement): boolean {
  if (isTitle || isQuestion) return false
  if (section === "decision") return !LEFT_OPEN.test(cueText)
  const [, settled = ""] = /^agreed,? (.*)$/i.exec(cueText) ?? []
  if (sentenceWords(settled).length > 0 && !NEGATION.test(settled) && !REJECTS.test(settled)) return true
  return cueText.search(DECIDES) >= 0 && [...cueText.matchAll(DECIDES)].some((cue) => isMeant(cueText, cue))
}

function isMeant(text: string, cue: RegExpExecArray): boolean {
  const before = text.slice(0, cue.index)
  const clause = /[^;,—:]*$/.exec(before)?.[0] ?? ""
  const after = text.slice(cue.index + cue[0].length)
  if (NEGATION.test(clause) || HYPOTHETICAL.test(clause) || LEFT_OPEN.test(after)) return false
  return !CONDITION.test(cue[2] === undefined ? before : text) && sentenceWords(before + after).length > 0
}
