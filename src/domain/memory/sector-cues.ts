/**
 * The English cues that tell the sectors of memories apart, and what each is worth; `sector.ts` reads texts by them. A
 * cue that is at home in any technical text (run, type, read, know, first, then, like, fail) has no place here unless
 * its surroundings make it clear.
 */

import { SENTENCE_STOP_WORDS } from "../text/stop-words.ts"
import { wholeWords } from "../text/whole-words.ts"
import { SECTORS } from "./memory.ts"

const MONTH =
  "(?:(?:jan|febr)(?:uary)?|feb|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|(?:sept?|oct|nov|dec)(?:ember|ober)?)"
const WEEKDAY = "(?:mon|tues|wednes|thurs|fri|satur|sun)day"
const PERSON = `(?:i|i'm|we|we're|he|she|they|you|people|(?:every|some)(?:one|body)|nobody|it makes (?:me|us)
|support|owner|boss|manager|lead|office|crew|staff|(?:user|developer|team|customer|client|engineer|designer|tester
|player|operator|reviewer|maintainer|colleague|vendor)s?)`
/** Words that end like a past form and tell a state or a thought. */
const STATE = `based|used|required|limited|shared|deprecated|related|managed|advanced|supported|expected|generated|named
|nested|typed|signed|hosted|embedd?ed|detailed|fixed|failed|speed|cached|stored|allowed|seemed|needed|learned|turned
|underestimated|misjudged|believed|embarrassed|worked`
const EVENT = String.raw`(?:(?!(?:${STATE})(?![\p{L}]))[a-z]{2,15}[a-df-z]ed|began|broke|came|chose|cut over|fell|forgot
|found|gave|hit|left|lost|met|ran|rebuilt|rewrote|rose|said|saw|sent|shut down|spent|split|told|took|went|wrote)`
/** Verbs that are no nouns; those that are tell an instruction with an object after them only. */
const VERB = `(?:add|ask|avoid|choose|configure|create|define|ensure|execute|follow|generate|give|install|keep
|log (?:in|out)|make|name|open|pass|prefer|press|push|put|rebuild|register|remove|rename|replace|reset|restart|run|select
|send|stick to|switch|take|tell|turn (?:on|off)|unset|update|upgrade|use|validate|verify|wait|wrap|write)`
const OBJECT = String.raw`(?:the|an?|all|any|each|every|your|it|its|them|this|that|these|those|new|only|both)(?![\p{L}])`
const INSTRUCTION = `(?:(?:please|always|then|first|finally|next|also|now|just|simply|instead|only|and
|you (?:should|must|can|need to)) ){0,2}(?:${VERB}(?= )
|(?!(?:${[...SENTENCE_STOP_WORDS, EVENT].join("|")}) )[a-z]{2,12}(?<!ed|ing|ly|[^s]s)(?= ${OBJECT}))`

/** A sector and a weight, below it alternatives; `^` where a sentence, an entry of a list or a clause begins. */
const CUES = String.raw`
episodic 2
yesterday|the day before|earlier (?:today|this|in this)|just now|this (?:morning|afternoon|evening)|tonight
the other day|last (?:night|week|month|quarter|year|spring|summer|autumn|winter|sprint|${WEEKDAY}|${MONTH})
(?:this|last) session
(?:\d{1,3}|an?|one|two|three|four|five|six|a few|several) (?:minutes?|hours?|days?|weeks?|months?|years?) ago
on (?:\d{4}-\d{2}-\d{2}|(?:last )?${WEEKDAY}|(?:the )?\d{1,2}(?:st|nd|rd|th)?(?: of)? ${MONTH})|^today
^session (?:summary|notes?|log)|^incident|^stand-?up|^status update|^progress
episodic 1.4
${PERSON} (?:(?:also|just|then|had|have|has|all|both|first|finally) ){0,2}(?:${EVENT}|failed|fixed)
episodic 1.2
\d{4}-\d{2}-\d{2}(?:[ t]\d{2}:\d{2})?|\d{1,2}:\d{2}(?: (?:utc|am|pm|cet))?|today|\d{1,2} ${MONTH}(?: \d{4})?
in ${MONTH}(?: \d{4})?|${MONTH} \d{1,2}(?:st|nd|rd|th)?
(?:by|since|until|this) (?:${WEEKDAY}|week|outage|release)|${WEEKDAY}'s [\p{L}]{2,20}
episodic 1
^(?:just |previously |already )?(?:${EVENT}|fixed)|outage|incident|rollback|went down|meeting with
in the meeting|(?:stand-?up|kick-?off|review|planning|team|client|customer) (?:meeting|call)
episodic 0.6
(?<!\b(?:is|are|be|been|being|gets?|as|if|when|not|by|an?|the)\s{1,4})(?:${EVENT}|failed|fixed)
episodic 0.5
was|were|had been|did|got|became|made|kept|turned out
semantic 1
is an?|(?:is|are) the|means|stands for|refers to|consists of|(?:is|are) called|owns|at most|by default
has (?:an?|the|\d{1,6}|two|three|four)
(?:is|are) [\p{L}]{1,9}(?:ed|en|t|ad|ld) (?:by|in|to|as|at|for|on|with|from|under)|written in|runs on
lives? in|contains?|(?:depend|belong|listen|come|correspond|default|map|expire)s? (?:on|to|from|after)
supports|returns|accepts|rejects|requires|provides|follows?
(?:port|version|window|dimension|column|table) \d{1,6}|^(?:our|decision|fact|note)
semantic 0.7
uses?|has|have|holds|is|are|includes|between|per (?:minute|second|day|hour|key|user|node)
procedural 2.2
^(?:(?:in order )?to|if|when|whenever|after|before|once|for|in|should|while|on|unless|until) [^,]{2,120}, (?:${INSTRUCTION}|[a-z]{2,12} (?=\x60))
^(?:if|when|whenever|after|before|once|until) [^,]{2,120}, you (?:must|need|have|should)
procedural 2
^(?:never|always|do not|don't|make sure|remember to|be sure to|please|no need to|how (?:to|do i|we)|howto|steps?|to do)
^(?:procedure|instructions?|workflow|recipe|checklist|runbook|rule|convention|guide)
^the (?:way|right way|right order|recommended way|recipe|steps|procedure|command) (?:to|for|is)
^~{3,9}(?:sh|bash|shell|console|zsh|powershell|bat|cmd)
procedural 1.8
make sure (?:to|that|you|the)|how to|step by step|you (?:must|need to|have to|should|can then)|remember to
be sure to|(?:always|never) (?:${VERB}|commit|ship|edit|call|merge|deploy|start|answer|check|test)
instead of [\p{L}]{2,12}ing|must (?:be|have|always|not|never)|should (?:always|never)
(?:ha[sv]e?|needs?) to (?:be|have|name)|checklist|step \d{1,2}
(?:by|and) (?:setting|pressing|holding|sending)|before (?:you|[\p{L}]{3,12}ing)
procedural 1.4
^${INSTRUCTION}
procedural 0.8
(?:run|execute|call|running|type|via|using|with|set|build with|use) (?=\x60)|(?<=, )${INSTRUCTION}
(?:and|then|by) (?:run|call|use|open|add|set|restart|tag|push|try again)
emotional 2.2
(?:lov|hat|ador|loath|despis|detest|dread|resent|frustrat|annoy|irritat|infuriat|embarrass|disappoint)(?:e?[ds]|e)?
(?:demorali[sz]|dislik|discourag|excit|delight|thrill|enjoy|worr|upset|scar|terrif|frighten|mourn|satisf|sadden)(?:[ei]?e[ds]|s|y)?
(?:frustrat|annoy|irritat|infuriat|embarrass|disappoint|excit|enjoy|worry|lov|satisfy)(?:ing|ance|ion|ment|able)
stress(?:ed|ful)|furious|angry|anger|anxious|anxiety|nervous|afraid|happy (?:with|about|to see|that|because)
happ(?:ily|ier)|unhappy|glad|enthusiastic|proud|pride|grateful|thankful|gratitude|relieved|relief|ashamed
shame|guilty|guilt|jealous|envious|sad|sadness|miserable|lonely|fed up|sick of|tired of|can(?:no|')t stand
impatient|impatience|desperate|overjoyed|burn(?:ed|t)? ?out|over the moon|joy|morale|mood|nightmare|fond of
praise|celebrated
emotional 2
${PERSON} (?:\S{1,15} ){0,4}(?:exhausted|overwhelmed|panic|confused|bored|tired|happy(?! path)|hurt|ignored|calm|fears?|complain(?:s|ed)|moved|motivated|pleased|uneasy|uncomfortable|hopeful|optimistic|passionate|curious|at ease|mad|smile)
emotional 1.4
feels?|feelings?|felt|emotional|emotions?|favou?rite|appreciate[sd]?|painful|confident about|hurts?|amazing
awesome|awful|terrible|horrible|ugly|wonderful|fantastic|pleasure|fun|thank you|thanks|laughed|cheered|cried
crying|tears|smiled|ugh|shocked|regret(?:s|ted)?|rude|harsh|unwelcome|grumbles?|wow|yay|hooray|phew|damn
so (?:tired|happy|good to)|really (?:likes?|wants?)|made my (?:day|week)
[\u{1F600}-\u{1F64F}\u{1F389}\u{1F923}-\u{1F92F}\u{1F970}\u{2764}\u{1F494}]
reflective 3.5
(?:in|with) (?:hindsight|retrospect)|(?:looking|thinking|look) back|on reflection|reflecting on|lessons?
next time|learn(?:ed|t) that|(?:i|we|i've|we've|have|has) learn(?:ed|t)|the hard way|takeaways?
(?:should|could|would)(?: not|n't)? have(?: been)?|(?:taught|teach|teaches) (?:me|us|them)
do(?:ne)? differently|moral of the story|rule of thumb|if i (?:could start over|did it again)|what i would
i've come to|(?:i|we) (?:have )?(?:reali[sz]ed|came to|come to|used to [\p{L}]{3,20})
had (?:i|we) [\p{L}]{2,20}|(?:what|things that) (?:went|worked|made) (?:well|wrong|badly|the difference)
worth remembering
^(?:retro(?:spective)?(?=:)|reflections?|self-review|post-?mortem [\p{L}]{6,12}|(?:my )?conclusions?)
reflective 2
(?:my|our|a|the|recurring|biggest|common) mistakes?(?: was)?|mistakes? (?:i|we) (?:made|make)
(?:was|been) wrong|(?:my|our|the|wrong|false|many|hidden) assumptions?|(?:key )?insights?
(?:under|over)estimat(?:es?|ed|ing)|the trade-?off|trade-?offs? (?:turned|was|were|is)
(?:i now|now i) [\p{L}]{3,12}|i(?:'ve| have)? (?:found|noticed?) that|the more (?:i|we)
the pattern (?:i|we|behind)|(?:we|i) (?:tend|keep|kept|understood|misjudged|believed)(?: to)?
(?:more|i'm|i am|now) convinced|is the enemy of|in the long run
the (?:real|deeper) (?:cost|problem|lesson|reason|cause)|the hard part|pa(?:ys|id|y) off|was naive
wish (?:i|we) had|matters? more than|(?:i|we) was too|worth (?:nothing|it|the)|turn(?:ed|s) out that
why d(?:id|o) (?:this|we|our)|works? better|wrong (?:choice|abstraction|level)
we should (?:invest|stop|start|aim|be)
reflective 1
in the end|better (?:than|to)|turn(?:ed|s) out|beats?|afterthought|(?:showed|shown) (?:me|us)|cost us
too (?:early|late)|simpler|in the future|(?:i|we) should|not because`

/** The heaviest kinds first. A cue is of whole words, may be broken over two lines, and has no unbounded quantifier. */
export const CUE_KINDS = CUES.replaceAll("\n|", "|")
  .split(/\n(?=[a-z]+ [\d.]+$)/m)
  .flatMap((block) => {
    const [head = "", ...alternatives] = block.trim().split("\n")
    const source = wholeWords(...alternatives)
      .replaceAll(" ", "\\s{1,4}")
      .replaceAll("'", "['’]")
    const sector = SECTORS.find((name) => head.startsWith(name))
    return sector ? [{ sector, weight: Number(head.split(" ")[1]), pattern: new RegExp(source, "giu") }] : []
  })
  .sort((left, right) => right.weight - left.weight)
