/** Lengths of time as people type them: `90s`, `30m`, `4h`, `2h30m`, or plain seconds. */

import { RESERVATION_SECONDS_MAX } from "../../config/limits.ts"
import { echoed } from "../../domain/foreign-text/markdown.ts"
import { invalid } from "../../errors.ts"

const FORM = /^(?:(\d{1,6})h)?(?:(\d{1,6})m)?(?:(\d{1,6})s)?$/i

/** Returns seconds, 1 to 28,800 unless another maximum is given, a whole number of hours; fails with `invalid`, naming the field and the forms or the bounds. */
export function parseDuration(
  text: string,
  field = "duration",
  secondsMax = RESERVATION_SECONDS_MAX,
): number {
  const seconds = secondsIn(text.trim())
  if (seconds === undefined) {
    const rule = `${echoed(text)} is no length of time`
    throw invalid(field, rule, "Write it as 90s, 30m, 4h, 2h30m, or as plain seconds.")
  }
  if (seconds >= 1 && seconds <= secondsMax) return seconds
  const longest = `${secondsMax.toLocaleString("en-US")} s (${secondsMax / 3_600}h)`
  throw invalid(field, `must be 1 s to ${longest} (got ${echoed(text)})`)
}

function secondsIn(text: string): number | undefined {
  if (/^\d{1,6}$/.test(text)) return Number(text)
  const match = FORM.exec(text)
  if (match === null || text === "") return undefined
  const [, hours = 0, minutes = 0, seconds = 0] = match
  return Number(hours) * 3_600 + Number(minutes) * 60 + Number(seconds)
}
