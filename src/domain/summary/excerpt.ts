/**
 * Owns how long a quoted sentence may be and how it is cut.
 * It refuses to rewrite a quote: apart from the cut, the words stay as they were written.
 */

import { isWithinCharacter } from "../text/characters.ts"

/** The longest quote a result may carry, in UTF-16 code units, the cut mark included. */
export const EXCERPT_LIMIT = 300

const CUT_MARK = "…"

/**
 * Cuts a text to at most EXCERPT_LIMIT code units, at a word boundary, ending in `…` when something was cut.
 * A text whose second half is one unbroken word is cut inside that word, never inside a surrogate pair.
 */
export function excerpt(text: string): string {
  if (text.length <= EXCERPT_LIMIT) return text
  const room = EXCERPT_LIMIT - CUT_MARK.length
  const lastSpace = text.lastIndexOf(" ", room)
  const cut = lastSpace > room / 2 ? lastSpace : isWithinCharacter(text, room) ? room - 1 : room
  return text.slice(0, cut) + CUT_MARK
}
