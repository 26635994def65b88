/** English words whose forms no stemmer brings together: went is a form of go, children of child. */

/**
 * A base form and its other forms. A form that is as common as another word's (lives, leaves, bound, ground) is
 * left out, since it would no longer be found as that.
 */
const FORMS = `
arise arose arisen|awake awoke awoken|bear borne|beat beaten|become became|begin began begun|bend bent|
bite bit bitten|bleed bled|blow blew blown|break broke broken|breed bred|bring brought|build built|
burn burnt|buy bought|catch caught|choose chose chosen|cling clung|come came|creep crept|deal dealt|dig dug|
draw drew drawn|dream dreamt|drink drank drunk|drive drove driven|dwell dwelt|eat ate eaten|fall fell fallen|
feed fed|feel felt|fight fought|find found|flee fled|fly flew flown|forbid forbade forbidden|
forget forgot forgotten|forgive forgave forgiven|freeze froze frozen|get got gotten|give gave given|
go went gone|grow grew grown|hang hung|hear heard|hide hid hidden|hold held|keep kept|kneel knelt|
know knew known|lay laid|lead led|lean leant|leap leapt|learn learnt|leave left|lend lent|light lit|lose lost|
make made|mean meant|meet met|pay paid|prove proven|ride rode ridden|ring rang rung|rise rose risen|run ran|
say said|see saw seen|seek sought|sell sold|send sent|sew sewn|shake shook shaken|shine shone|shoot shot|
show shown|shrink shrank shrunk|sing sang sung|sink sank sunk|sit sat|sleep slept|slide slid|smell smelt|
speak spoke spoken|spell spelt|spend spent|spill spilt|spin spun|spoil spoilt|spring sprang sprung|
stand stood|steal stole stolen|stick stuck|sting stung|strike struck|strive strove striven|swear swore sworn|
sweep swept|swell swollen|swim swam swum|swing swung|take took taken|teach taught|tear tore torn|tell told|
think thought|throw threw thrown|understand understood|undo undid undone|undergo underwent undergone|
wake woke woken|wear wore worn|weave wove woven|weep wept|win won|withdraw withdrew withdrawn|
write wrote written|rewrite rewrote rewritten|overcome overcame|rebuild rebuilt|child children|man men|
woman women|person people|foot feet|tooth teeth|goose geese|mouse mice|wife wives|knife knives|
half halves|shelf shelves|wolf wolves|thief thieves|loaf loaves|good better best|bad worse worst|
analysis analyses|crisis crises|index indices|vertex vertices|matrix matrices|
criterion criteria|phenomenon phenomena|hypothesis hypotheses|thesis theses|
die dying|lie lying|tie tying|travel travelling travelled|cancel cancelled cancelling|program programme`

const GROUPS = FORMS.split("|").map((group) => group.trim().split(" "))
const BASE_OF = new Map(
  GROUPS.flatMap(([base = "", ...others]) => others.map((form): [string, string] => [form, base])),
)
const OTHERS_OF = new Map(GROUPS.map(([base = "", ...others]): [string, string[]] => [base, others]))

/** Returns the base form of a folded word, or the word itself: `went` gives `go`. Applied twice it changes nothing. */
export function baseForm(word: string): string {
  return BASE_OF.get(word) ?? word
}

/**
 * Returns a folded word with its irregular forms, the word first, for a query to an index that stems but does
 * not know them: `went` gives `went`, `go`, `gone`. At most four words.
 */
export function irregularForms(word: string): string[] {
  const base = baseForm(word)
  return [...new Set([word, base, ...(OTHERS_OF.get(base) ?? [])])]
}
