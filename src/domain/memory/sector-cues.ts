/**
 * The English cues that tell the sectors of memories apart. Owns the words and what each is worth; it
 * refuses to read texts, which `sector.ts` does. A cue that is at home in any technical text (run, type,
 * read, write, know, first, then, like, fail) has no place here unless its surroundings make it clear.
 */

import { wholeWords } from "../text/whole-words.ts"
import type { Sector } from "./memory.ts"

/** Cues of one kind: however many of them a text has, only the first few count. */
export interface CueKind {
  readonly sector: Sector
  readonly weight: number
  /** Matches whole words in a part of a sentence; without quantifiers that have no small bound. */
  readonly pattern: RegExp
}

/** Cues that count wherever they stand. Each argument is a list of alternatives separated by `|`. */
function anywhere(sector: Sector, weight: number, ...cues: readonly string[]): CueKind {
  return { sector, weight, pattern: new RegExp(wholeWords(...cues.map(spaced)), "giu") }
}

/** Cues that count only where a sentence, a list item or the part after a colon begins. */
function opening(sector: Sector, weight: number, ...cues: readonly string[]): CueKind {
  return { sector, weight, pattern: new RegExp(`^${wholeWords(...cues.map(spaced))}`, "giu") }
}

/** A cue may be broken over two lines, and apostrophes come in two forms. */
function spaced(cue: string): string {
  return cue.replaceAll(" ", "\\s{1,4}").replaceAll("'", "['’]")
}

const MONTH =
  "(?:jan|feb|mar|apr|jun|jul|aug|sept?|oct|nov|dec)|january|february|march|april|may|june|july|august" +
  "|september|october|november|december"
const WEEKDAY = "(?:mon|tues|wednes|thurs|fri|satur|sun)day"
const NUMBER = "(?:\\d{1,3}|a|one|two|three|four|five|six|seven|a few|a couple of|some|several)"
const PERSON =
  "(?:i|i'm|we|we're|he|she|they|you|it makes (?:me|us)|people|every(?:one|body)|developers?|users?|teams?" +
  "|customers?|clients?|engineers?|designers?|testers?|players|operators|reviewers?|maintainers?" +
  "|colleagues?|support|owner|boss|manager|lead|office|crew|staff)"

/** Said of a person these are feelings; of a pool, a server or a thread they are not. */
const HUMAN_STATES =
  "exhausted|overwhelmed|panic|confused|bored|tired|happy(?! path)|hurt|ignored|calm|fears?|complains?" +
  "|complained|moved|motivated|pleased|uneasy|uncomfortable|hopeful|pessimistic|optimistic|passionate|curious"

/** Past forms that report an event; after "is", "are" and the like they describe a state. */
const NOT_PASSIVE = "(?<!\\b(?:is|are|be|being|gets?|as|if|when|not)\\s{1,4})"
const EVENTS =
  "added|agreed|announced|approved|asked|attended|arrived|attempted|began|broke|bumped|called|cancelled" +
  "|canceled" +
  "|changed|chose|cleaned up|closed|came back|came up|committed|completed|corrupted|crashed|created" +
  "|cut over" +
  "|debugged|decided|deleted|demoed|deployed|destroyed|disabled|discovered|discussed|dropped|enabled" +
  "|expired" +
  "|extracted|failed|fell|filed|finished|fixed|found|gave|handed|happened|hired|hit|implemented|installed" +
  "|introduced|investigated|joined|landed|launched|left|lost|merged|met|migrated|missed|moved|noticed" +
  "|opened" +
  "|ordered|paged|pasted|paused|pointed out|presented|promised|proposed|pushed|ran|raised|reached|rebooted" +
  "|rebuilt|received|refactored|rejected|released|removed|renamed|renewed|replaced|reported|reproduced" +
  "|requested|resolved|restarted|restored|retrained|reverted|reviewed|rewrote|rolled back|rolled out|rose" +
  "|said|saw|sent|shipped|showed|shut down|signed|spent|split|started|stopped|switched|talked|tested|told" +
  "|took|traced|tried|tried out|turned off|turned on|updated|upgraded|visited|voted|went|withdrew|worked" +
  "|wrote"

/** Words that end like a past form at the beginning of a sentence about how things are. */
const NOT_DONE =
  "based|used|unused|required|limited|shared|deprecated|related|distributed|managed|advanced|supported" +
  "|expected|generated|named|nested|typed|signed|hosted|embed|embedded|detailed|fixed-|failed|speed"

const EPISODIC: readonly CueKind[] = [
  anywhere(
    "episodic",
    2,
    "yesterday|the day before|earlier (?:today|this|in this)|just now|this (?:morning|afternoon|evening)",
    "tonight",
    `last (?:night|week|month|quarter|year|spring|summer|autumn|winter|sprint|(?:${WEEKDAY})|(?:${MONTH}))`,
    `${NUMBER} (?:minutes?|hours?|days?|weeks?|months?|years?) ago|the other day|(?:this|last) session`,
    `on (?:\\d{4}-\\d{2}-\\d{2}|(?:last )?${WEEKDAY}|(?:the )?\\d{1,2}(?:st|nd|rd|th)?(?: of)? (?:${MONTH}))`,
  ),
  opening("episodic", 2, "today|session (?:summary|notes?|log)|incident|stand-?up|status update|progress"),
  anywhere(
    "episodic",
    1.2,
    "\\d{4}-\\d{2}-\\d{2}(?:[ t]\\d{2}:\\d{2})?|\\d{1,2}:\\d{2}(?: (?:utc|am|pm|cet))?|today",
    `\\d{1,2} (?:${MONTH})(?: \\d{4})?|in (?:${MONTH})(?: \\d{4})?|(?:${MONTH}) \\d{1,2}(?:st|nd|rd|th)?`,
    `(?:by|since|until|${WEEKDAY}'s|this) (?:${WEEKDAY}|outage|playtest|release)`,
  ),
  anywhere(
    "episodic",
    1.4,
    "(?:i|we|he|she|they|team|the user|user|customer|client|vendor) " +
      `(?:(?:also|just|then|had|have|has|all|both|first|finally) ){0,2}(?:${EVENTS})`,
  ),
  opening("episodic", 1, `(?:just |previously |already )?(?:${EVENTS})`),
  // "Verified the backups": what a log says was done.
  opening("episodic", 0.9, `(?!${NOT_DONE})[a-z]{2,15}[a-df-z]ed`),
  anywhere("episodic", 0.6, `${NOT_PASSIVE}(?:${EVENTS})`),
  anywhere("episodic", 0.5, "was|were|had been|did|got|became|made|kept|turned out"),
  anywhere(
    "episodic",
    0.9,
    "(?:stand-?up|kick-?off|review|planning|team|design|client|customer) (?:meeting|call)|meeting with",
    "met with",
    "outage|incident|rollback|hackathon|demo day|game day|the meetup|the retro|in the meeting|went down",
  ),
]

const SEMANTIC: readonly CueKind[] = [
  anywhere(
    "semantic",
    1,
    "is an?|is the|are the|means|stands for|refers to|consists of|is defined as|is called|are called",
    "is based on",
    "(?:is|are) (?:stored|kept|located|hosted|generated|written|read|computed|configured|built|owned|served)",
    "(?:is|are) (?:limited|encoded|sorted|used|defined|mounted|exposed|versioned|required|deprecated) " +
      "(?:by|in|to|as|at|for|on|with|from|under)",
    "depends on|belongs to|listens on|lives? in|contains?|comes from|corresponds to|defaults to|maps to",
    "expires? after|runs on|written in|has (?:an?|the|\\d{1,6}|two|three|four|five|six|ten)",
    "have (?:an?|the|at most)",
    "supports|implements|inherits|exports|returns|accepts|rejects|requires|provides|follows?|targets|ranks",
    "owns",
    "(?:port|version|window|dimension|column|table|header|schema|topic) (?:of )?\\d{1,6}|at most|by default",
  ),
  anywhere(
    "semantic",
    0.7,
    "uses?|has|holds|is|are|reports|includes|equals|between|per (?:minute|second|day|hour|key|user|node)",
  ),
  opening(
    "semantic",
    0.8,
    "our|the project|decision|fact|definition|note|architecture|repository layout|stack",
  ),
]

const CLEAR_VERBS =
  "add|adjust|allow|append|apply|ask|assign|attach|avoid|bump|choose|clean up|clear|click|clone|combine" +
  "|configure" +
  "|connect|convert|create|define|delete|disable|document|download|drop|edit|enable|ensure|execute|export" +
  "|expose" +
  "|extend|extract|follow|generate|give|implement|include|increase|initiali[sz]e|inject|insert|install" +
  "|invoke|keep" +
  "|launch|leave|limit|look for|lower|make|migrate|modify|move|name|navigate|never|pass|paste|pin|place" +
  "|prefer" +
  "|press|provide|publish|push|put|rebase|rebuild|recreate|reduce|refactor|regenerate|register|reload" +
  "|remove" +
  "|rename|replace|rerun|reset|restart|restore|revoke|rotate|run|save|select|send|specify|split|squash" +
  "|stick to" +
  "|store|switch|take|tell|turn (?:on|off)|treat|unset|update|upgrade|upload|use|validate|verify|wait|watch" +
  "|wrap|write"
/** Verbs that are also nouns or adjectives: an instruction only with an object after them. */
const DOUBTFUL_VERBS =
  "branch|build|bundle|cache|call|change|check|commit|compile|copy|deploy|filter|fix|flash|format|import" +
  "|index" +
  "|lint|list|load|lock|log in|mark|merge|mock|open|order|patch|profile|pull|query|read|release|review" +
  "|search|set|set up|sign|start|stop|tag|test|train|tune|type|version"
const OBJECT =
  "(?= (?:(?:the|an?|all|any|each|every|your|it|its|them|this|that|these|those|new|only|both|in|on|with" +
  '|using|out|off|by)(?![\\p{L}])|[`"<\\d]))'
const INSTRUCTION =
  "(?:(?:please|always|then|first|finally|next|also|now|just|simply|instead|only|and" +
  "|you (?:should|must|can|need to)) ){0,2}" +
  `(?:(?:${CLEAR_VERBS})(?= )|(?:${DOUBTFUL_VERBS})${OBJECT}|log in)`

const PROCEDURAL: readonly CueKind[] = [
  opening("procedural", 1.4, INSTRUCTION),
  // The instruction after a condition: "To deploy, run ...", "If the schema changes, regenerate ...".
  opening(
    "procedural",
    2.2,
    "(?:to|if|when|whenever|after|before|once|for|in|should|while|on|unless|until) [^,]{2,120}, " +
      INSTRUCTION,
    "(?:if|when|whenever|after|before|once|until) [^,]{2,120}, you (?:must|need|have|should)",
  ),
  // Further steps of the same sentence.
  anywhere(
    "procedural",
    0.7,
    `(?<=, )(?:and |then |and then |or ){0,1}(?:${CLEAR_VERBS})(?= (?:the|an?|it|your|all|each|\`))`,
  ),
  anywhere(
    "procedural",
    0.7,
    "(?:and|then|and then|by) (?:run|call|use|open|add|set|restart|rerun|rebuild|tag|push|try again)",
  ),
  opening("procedural", 2, "never|always|do not|don't|make sure|remember to|be sure to|please|no need to"),
  opening(
    "procedural",
    2,
    "how to|how do i|howto|steps?|procedure|instructions?|workflow|recipe|checklist|runbook|rule",
    "convention|guide",
    "the (?:way|right way|recommended way|steps|procedure|command) (?:to|for|is)|to do",
  ),
  // A fence, whose marks the reader turns into tildes, around commands.
  opening("procedural", 1.5, "~{3,9}(?:sh|bash|shell|console|zsh|powershell|bat|cmd)"),
  anywhere(
    "procedural",
    1.8,
    "make sure (?:to|that|you|the)",
    "(?:always|never) (?:run|use|commit|add|include|ship|push|edit|call|merge|deploy|start|write|put" +
      "|answer|check|test|store|log|keep|return|ask|set)",
    "how to|step by step|you (?:must|need to|have to|should|can then)|remember to|be sure to",
    "instead of (?:using|calling|editing)",
    "must (?:be|have|run|always|not|never)|should (?:always|never|not be|be)|has to be|have to be",
    "need to be|needs to be",
    "before (?:opening|committing|pushing|merging|deploying|starting|running|releasing|exporting)",
    "before (?:deleting|you)",
    "by running|(?:by|and) (?:setting|pressing|holding|adding) (?=`)|checklist|step \\d{1,2}",
  ),
  // A command to type, as it is told from a name in code marks: a verb stands before it.
  anywhere("procedural", 1, "(?:run|execute|call|running|type|via|using|with|set|build with|use) (?=`)"),
]

const EMOTIONAL: readonly CueKind[] = [
  anywhere(
    "emotional",
    2.2,
    "love|loves|loved|loving|hate|hates|hated|adores?|adored|loathes?|despises?|detests?|dreads?|dreaded",
    "resents?",
    "frustrat(?:ed|ing|ion|es)|annoy(?:ed|ing|s|ance)|irritat(?:ed|ing|es|ion)|infuriat(?:ed|ing)|furious",
    "angry|anger",
    "upset|worried|worries|worry|worrying|anxious|anxiety|nervous|scared|afraid|terrified|frightened",
    "stressed|stressful",
    "happy (?:with|about|to see|that|because)|happily|happier|unhappy|glad|delighted|delights?|delightful",
    "thrilled",
    "excited|exciting|excitement|enthusiastic|proud|pride|grateful|thankful|gratitude|relieved|relief",
    "disappointed",
    "disappointing|disappointment|embarrass(?:ed|ing|ment)|ashamed|shame|guilty|guilt|jealous|envious|sad",
    "sadness",
    "saddened|depressed|miserable|heartbroken|lonely|demorali[sz](?:ed|ing)|discouraged|fed up|sick of",
    "tired of",
    "can(?:no|')t stand|cannot bear|impatient|impatience|desperate|overjoyed|over the moon|joy|morale|mood",
    "enjoys?|enjoyed|enjoying|enjoyable|dislikes?|disliked|burn(?:ed|t) out|burnout|nightmare|heartfelt",
    "fond of",
  ),
  anywhere(
    "emotional",
    1.4,
    "feels?|feeling|feelings|felt|emotional|emotions?|favou?rite|appreciates?|appreciated|painful",
    "confident about",
    "amazing|awesome|awful|terrible|horrible|ugly|wonderful|fantastic|pleasure|fun|thank you|thanks",
    "laughed|cheered",
    "cried|crying|tears|smiled|shocked|surprised|regrets?|regretted|rude|harsh|hostile|unwelcome|grumbles?",
    "moans?",
    "ugh|argh|wow|yay|hooray|phew|sigh|damn|so (?:tired|happy|good to)|really (?:like|likes|want|wants)",
    "admires?|admirable|dear to",
  ),
  // Words that machines share: pools are exhausted, servers overwhelmed, threads panic.
  anywhere("emotional", 2, `${PERSON} (?:\\S{1,15} ){0,4}(?:${HUMAN_STATES})`),
  anywhere(
    "emotional",
    1.5,
    "[\\u{1F600}-\\u{1F64F}\\u{1F389}\\u{1F923}-\\u{1F92F}\\u{1F970}\\u{2764}\\u{1F494}]",
  ),
]

const REFLECTIVE: readonly CueKind[] = [
  anywhere(
    "reflective",
    3.5,
    "in hindsight|with hindsight|in retrospect|looking back|on reflection|reflecting on",
    "lessons? learn(?:ed|t)|lessons?|as i look back",
    "(?:i|we|i've|we've|have|has) learn(?:ed|t)|learn(?:ed|t) (?:that|the hard way)|the hard way|next time",
    "takeaways?",
    "(?:should|could|would)(?: not|n't)? have(?: been)?|taught (?:me|us|them)|teach(?:es)? us",
    "do differently|done differently",
    "moral of the story|rule of thumb|blind spots?|if i could start over|what i would",
    "(?:i|we) (?:have )?(?:reali[sz]ed|came to|come to (?:believe|see|realise|think))|i've come to",
    "(?:i|we) used to [\\p{L}]{3,20}",
    "(?:what|things that) (?:went|worked) (?:well|wrong|badly)|had (?:i|we) [\\p{L}]{2,20}|worth remembering",
  ),
  opening(
    "reflective",
    2.5,
    "retro(?:spective)?(?=:)|reflections?|self-review|post-?mortem (?:conclusion|lesson)s?|conclusions?",
  ),
  anywhere(
    "reflective",
    2,
    "was (?:a|my|our|the) mistake|(?:my|our|recurring|biggest|common) mistakes?(?: was)?",
    "(?:was|were|been) wrong(?: about)?",
    "(?:my|our|the|wrong|false|many|hidden) assumptions?|mistakes? (?:i|we) (?:made|make)",
    "(?:key )?insights?|(?:under|over)estimat(?:e|es|ed|ing)|trade-?offs? (?:turned|was|were|is)",
    "the trade-?off",
    "i now (?:see|understand|believe|think|know)|now i (?:see|understand|believe|think)",
    "i(?:'ve| have)? (?:found|noticed|notice) that",
    "the more (?:i|we)|the pattern (?:i|we)|(?:we|i) (?:tend|keep|kept) (?:to )?[\\p{L}]{3,20}",
    "(?:more|i'm|i am|now) convinced|is the enemy of|in the long run",
    "root cause was not|the real (?:cost|problem|lesson|reason|cause|issue)|the hard part",
    "pa(?:ys|id|y) off|was naive|(?:i|we) understood(?: that)?|wish (?:i|we) had",
    "matters? more than|worth (?:nothing|it|the)|wrong (?:choice|abstraction|level)",
    "we should (?:invest|stop|start|aim|be)",
  ),
  anywhere(
    "reflective",
    1,
    "turn(?:ed|s) out(?: that)?|in the end|better than|better to|works better|beats?|afterthought",
    "premature(?:ly)?|i believe",
    "hindsight|why did|(?:showed|shown) (?:me|us)|cost us|too (?:early|late)|simpler|in the future",
    "i should|we should|not because|over-?engineered",
  ),
]

/** The cues of each sector, the heaviest kinds first. */
export const CUE_KINDS: readonly CueKind[] = [
  ...EPISODIC,
  ...SEMANTIC,
  ...PROCEDURAL,
  ...EMOTIONAL,
  ...REFLECTIVE,
].sort((left, right) => right.weight - left.weight)
