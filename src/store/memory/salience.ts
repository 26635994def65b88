/** The law of salience in SQL: store and search filter by it before anything is cut off. */

import type { SqlValue } from "../../db/database.ts"
import { type HalfLives, SECTORS } from "../../domain/memory/memory.ts"
import { DAY_MS } from "../../domain/time-units.ts"

/**
 * The salience of a row as it is now: `salienceAt` of domain/memory/salience.ts for a row `m`
 * of memories. Its seven parameters are those of `salienceArguments`.
 */
export const SALIENCE_NOW = `(m.salience_base * power(2.0,
  -1.0 * (CASE WHEN m.salience_anchor_ms < ? THEN ? - m.salience_anchor_ms ELSE 0 END)
  / (m.salience_stability * (CASE m.sector
    ${SECTORS.map((sector) => `WHEN '${sector}' THEN ?`).join(" ")} END))))`

/** Returns a salience in SQL as it is shown: with four decimals. Filters and thresholds go by that. */
export function shownInSql(salience: string): string {
  return `(floor(${salience} * 10000.0 + 0.5) / 10000.0)`
}

/** `shownSalience` of domain/memory/salience.ts for `SALIENCE_NOW`, with the same parameters. */
export const SALIENCE_SHOWN = shownInSql(SALIENCE_NOW)

/** Returns the arguments of `SALIENCE_NOW`, in order. */
export function salienceArguments(halfLives: HalfLives, nowMs: number): SqlValue[] {
  return [nowMs, nowMs, ...SECTORS.map((sector) => halfLives[sector] * DAY_MS)]
}
