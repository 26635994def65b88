/**
 * Owns the recognition of a due date as somebody wrote it.
 * It refuses to resolve it: "by Friday" stays "by Friday", for no clock or time zone is known here.
 */

const MONTH =
  "(?:jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|" +
  "oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)"
const WEEKDAY = "(?:mon|tues?|wednes|thurs?|fri|satur|sun)day"
const CLOCK = "(?:\\d{1,2}(?::\\d{2})?\\s?(?:am|pm)|\\d{1,2}:\\d{2})(?:\\s(?:UTC|GMT))?"
const ISO = "\\d{4}-\\d{2}-\\d{2}(?:T\\d{2}:\\d{2}(?::\\d{2})?Z?)?"
const DAY = [
  `the\\s\\d{1,2}(?:st|nd|rd|th)(?:\\s(?:of\\s)?${MONTH})?`,
  `${MONTH}\\s\\d{1,2}(?:st|nd|rd|th)?(?:,?\\s\\d{4})?`,
  `\\d{1,2}(?:st|nd|rd|th)?\\s(?:of\\s)?${MONTH}(?:\\s\\d{4})?`,
  `(?:(?:next|this)\\s)?${WEEKDAY}(?:\\s(?:morning|noon|afternoon|evening|night))?`,
  "(?:next|this)\\s(?:week|month|sprint|quarter)",
  "(?:the\\s)?end\\sof\\s(?:(?:the|this|next)\\s)?(?:day|week|month|sprint|quarter|year)",
  "tomorrow(?:\\s(?:morning|noon|afternoon|evening|night))?|today|tonight|noon|midnight|EOD|EOW|EOM|COB",
].join("|")
const MARKER = "(?:due|by|before|until|till|no later than|deadline)"

const DAY_AND_TIME = `(?:${DAY}|${CLOCK})(?:(?:\\sat)?\\s${CLOCK})?`

const WRITTEN_DUE = new RegExp(
  `\\b${MARKER}:?\\s(?:(?:on|by|at)\\s)?(?:${ISO}|${DAY_AND_TIME})(?![\\p{L}\\p{N}])`,
  "iu",
)
const ISO_AT_THE_END = new RegExp(`(?:\\(|[\\s,–—-])(${ISO})\\)?[.!]?$`, "i")
const ISO_DATE = new RegExp(ISO)

/**
 * The due date written in a text, or null.
 * Words are returned with their preposition ("by Friday", "before EOD", "by the 3rd of May"), an ISO date
 * bare; an ISO date counts after due/by/before/until/deadline or where it ends the text, as in
 * "(2026-01-05)".
 */
export function dueIn(text: string): string | null {
  const written = WRITTEN_DUE.exec(text)?.[0]
  if (written === undefined) return ISO_AT_THE_END.exec(text)?.[1] ?? null
  return ISO_DATE.exec(written)?.[0] ?? written
}

/** The text without its due date, so that "write docs by Friday" and "write docs" name one task. */
export function withoutDue(text: string): string {
  return text.replace(WRITTEN_DUE, " ").replace(ISO_AT_THE_END, " ")
}
