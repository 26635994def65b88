/** Times as people and agents write them: ISO 8601, and UTC where no zone is given. */

const ISO_8601 = /^\d{4}-\d{2}-\d{2}(?:[T ]\d{2}:\d{2}(?::\d{2}(?:\.\d{1,9})?)?(?:Z|[+-]\d{2}:?\d{2})?)?$/

export interface WrittenTime {
  /** Milliseconds since 1970; of a mere date its first moment. */
  startMs: number
  isDate: boolean
}

/** Reads a time in ISO 8601; undefined for any other text, and for a day that its month does not have. */
export function parseIsoTime(text: string): WrittenTime | undefined {
  if (!ISO_8601.test(text) || !isDayOfItsMonth(text.slice(0, 10))) return undefined
  const isDate = text.length === 10
  const hasZone = isDate || /(?:Z|[+-]\d{2}:?\d{2})$/.test(text)
  const startMs = Date.parse(hasZone ? text : `${text}Z`)
  return Number.isNaN(startMs) ? undefined : { startMs, isDate }
}

/** `Date.parse` takes 2026-02-31 for the third of March. */
function isDayOfItsMonth(date: string): boolean {
  const timeMs = Date.parse(date)
  return !Number.isNaN(timeMs) && new Date(timeMs).toISOString().startsWith(date)
}
