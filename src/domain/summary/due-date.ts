/** Due dates as somebody wrote them, and the day that is meant where the mail's own time tells it. */

const MONTH =
  "(?:jan|feb|mar|apr|jun|jul|aug|sept?|oct|nov|dec|january|february|march|april|may|june|july|august|september" +
  "|october|november|december)"
const WEEKDAY = "(?:mon|tues|wednes|thurs|fri|satur|sun)day"
const CLOCK = "(?:\\d{1,2}(?::\\d{2})?\\s?(?:am|pm)|\\d{1,2}:\\d{2})(?:\\s(?:UTC|GMT))?"
const ISO = "\\d{4}-\\d{2}-\\d{2}(?:T\\d{2}:\\d{2}(?::\\d{2})?Z?)?"
const NAMED_DAY = `(?:(?:(?:next|this)\\s)?${WEEKDAY}|tomorrow|today)(?:\\s(?:morning|noon|afternoon|evening|night))?|tonight`
const DAY = [
  `${MONTH}\\s\\d{1,2}(?:st|nd|rd|th)?(?:,?\\s\\d{4})?|the\\s\\d{1,2}(?:st|nd|rd|th)(?:\\s(?:of\\s)?${MONTH})?`,
  `\\d{1,2}(?:st|nd|rd|th)?\\s(?:of\\s)?${MONTH}(?:\\s\\d{4})?`,
  NAMED_DAY,
  "(?:next|this)\\s(?:week|month|sprint|quarter)|noon|midnight|EOD|EOW|EOM|COB",
  "(?:the\\s)?end\\sof\\s(?:(?:the|this|next)\\s)?(?:day|week|month|sprint|quarter|year)",
].join("|")
const AT_CLOCK = `(?:(?:\\sat)?\\s${CLOCK})?`
const MARKED =
  "(?:due|by|before|until|till|no later than|deadline):?\\s(?:(?:on|by|at)\\s)?" +
  `(?:${ISO}|(?:${DAY}|${CLOCK})${AT_CLOCK})(?![\\p{L}\\p{N}]|['’]s)`
/** Without such a word a day counts where it is no part of something else: neither "since Monday" nor "Monday's build". */
const UNMARKED =
  "(?<!\\b(?:since|from|after|last|past|the|of|every|each|than|for|until|was|were)\\s)" +
  `(?:on\\s)?(?:${NAMED_DAY}|this\\sweek)${AT_CLOCK}` +
  "(?=[.,;:!?)—–]|$|\\s(?:and|at|or|so|if|as|before|after|when|while|to|in|with|because|please|then|[-—–])(?!\\p{L}))"
const WRITTEN_DUE = new RegExp(`(?<![\\p{L}\\p{N}-])(?:${MARKED}|${UNMARKED})`, "iu")
const ISO_AT_THE_END = new RegExp(`(?:\\(|[\\s,–—-])(${ISO})\\)?[.!]?$`, "i")
const ISO_DATE = new RegExp(ISO)

const DAY_MS = 86_400_000
const WEEKDAYS = ["sunday", "monday", "tuesday", "wednesday", "thursday", "friday", "saturday"]
const NAME_OF_DAY = new RegExp(`(next\\s)?(${WEEKDAY}|tomorrow|today|tonight)`, "i")

/**
 * The due date written in a text of a mail that was sent at `sentAtMs`, or null: an ISO date bare, where it follows
 * due, by, before, until or deadline, or ends the text; else the words ("before EOD"), and for a day of the week, today
 * and tomorrow the day that is meant, in UTC: "by Friday (2026-01-09)". That is the first such day from the day of the
 * mail on, and with "next" the one in the week after, weeks beginning on Monday.
 */
export function dueIn(text: string, sentAtMs: number): string | null {
  const written = WRITTEN_DUE.exec(text)?.[0].trim()
  if (written === undefined) return ISO_AT_THE_END.exec(text)?.[1] ?? null
  const date = ISO_DATE.exec(written)?.[0]
  if (date !== undefined) return date
  const [, next, name] = NAME_OF_DAY.exec(written) ?? []
  const day = name === undefined ? null : dayMeant(name.toLowerCase(), next !== undefined, sentAtMs)
  return day === null ? written : `${written} (${day})`
}

function dayMeant(name: string, isNext: boolean, sentAtMs: number): string {
  const sent = new Date(sentAtMs).getUTCDay()
  const wanted = WEEKDAYS.indexOf(name)
  let days = name === "tomorrow" ? 1 : 0
  if (wanted >= 0) days = isNext ? 7 - ((sent + 6) % 7) + ((wanted + 6) % 7) : (wanted - sent + 7) % 7
  return new Date(sentAtMs + days * DAY_MS).toISOString().slice(0, 10)
}

/** The text without its due date, so that "write docs by Friday" and "write docs" name one task. */
export function withoutDue(text: string): string {
  return text.replace(WRITTEN_DUE, " ").replace(ISO_AT_THE_END, " ")
}
