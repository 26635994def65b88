import BetterSqlite3 from "better-sqlite3"
import fc from "fast-check"
import { afterAll, expect, test } from "vitest"
import { HALF_LIFE_DAYS_DEFAULT } from "../../../src/config/limits.ts"
import { SECTORS } from "../../../src/domain/memory/memory.ts"
import { salienceAt, shownSalience } from "../../../src/domain/memory/salience.ts"
import { SALIENCE_NOW, salienceArguments, shownInSql } from "../../../src/store/memory/salience.ts"

const DAY_MS = 86_400_000
const NOW_MS = Date.parse("2026-03-10T12:00:00.000Z")

const db = new BetterSqlite3(":memory:")
afterAll(() => {
  db.close()
})
const select = db.prepare<unknown[], { salience: number }>(`
  SELECT ${SALIENCE_NOW} AS salience FROM (
    SELECT ? AS sector, ? AS salience_base, ? AS salience_anchor_ms, ? AS salience_stability) m`)

/** SALIENCE_NOW stands before the row, so its parameters come first. */
function inSql(sector: string, base: number, anchorMs: number, stability: number, nowMs: number): number {
  const args = [...salienceArguments(HALF_LIFE_DAYS_DEFAULT, nowMs), sector, base, anchorMs, stability]
  return select.get(args)?.salience ?? Number.NaN
}

test("salience in SQL is the law of the domain, for every state and time", () => {
  fc.assert(
    fc.property(
      fc.constantFrom(...SECTORS),
      fc.double({ min: 0, max: 1, noNaN: true }),
      fc.integer({ min: -1_000, max: 20_000 }),
      fc.integer({ min: 0, max: DAY_MS }),
      fc.double({ min: 1, max: 8, noNaN: true }),
      (sector, base, days, restMs, stability) => {
        const anchorMs = NOW_MS - days * DAY_MS - restMs
        const law = salienceAt({ base, anchorMs, stability }, sector, HALF_LIFE_DAYS_DEFAULT, NOW_MS)
        expect(inSql(sector, base, anchorMs, stability, NOW_MS)).toBeCloseTo(law, 12)
      },
    ),
  )
})

const round = db.prepare<[number], { shown: number }>(
  `SELECT ${shownInSql("m.value")} AS shown FROM (SELECT ? AS value) m`,
)

test("what is shown of a salience is the same in SQL", () => {
  const steps = fc.integer({ min: 0, max: 20_000 }).map((half) => half / 20_000)
  fc.assert(
    fc.property(fc.oneof(fc.double({ min: 0, max: 1, noNaN: true }), steps), (salience) => {
      expect(round.get(salience)?.shown).toBe(shownSalience(salience))
    }),
  )
})

test.each(SECTORS)("a %s memory has half its salience after its half-life, exactly", (sector) => {
  const ageMs = HALF_LIFE_DAYS_DEFAULT[sector] * DAY_MS
  expect(inSql(sector, 1, NOW_MS - ageMs, 1, NOW_MS)).toBe(0.5)
  expect(inSql(sector, 1, NOW_MS - 2 * ageMs, 2, NOW_MS)).toBe(0.5)
  expect(inSql(sector, 1, NOW_MS + DAY_MS, 1, NOW_MS)).toBe(1)
})
