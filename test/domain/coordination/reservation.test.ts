/** Owns the laws of reservations: what conflicts and what renewal does. Patterns themselves are tested in glob. */

import { describe, expect, test } from "vitest"
import {
  anyOverlap,
  findConflicts,
  isHeld,
  modeOf,
  type Reservation,
  renewedExpiry,
} from "../../../src/domain/coordination/reservation.ts"

const NOW_MS = 1_000_000

function held(changes: Partial<Reservation> = {}): Reservation {
  return {
    id: 1,
    projectId: 1,
    repositoryId: 1,
    agentId: 1,
    agentName: "Ada",
    isPersons: false,
    diedAtMs: null,
    pathPattern: "src/app.ts",
    exclusive: true,
    reason: null,
    createdAtMs: NOW_MS,
    expiresAtMs: NOW_MS + 1_000,
    endedAtMs: null,
    ...changes,
  }
}
const request = { agentId: 2, pathPattern: "src/app.ts", exclusive: true }
const options = { ignoreCase: false, nowMs: NOW_MS }
const conflictIds = (wanted: Partial<typeof request>, ...candidates: Reservation[]) =>
  findConflicts({ ...request, ...wanted }, candidates, options).map((conflict) => conflict.reservation.id)

describe("a reservation", () => {
  test("is held until its expiry is reached", () => {
    expect(isHeld(held(), NOW_MS + 999)).toBe(true)
    expect(isHeld(held(), NOW_MS + 1_000)).toBe(false)
  })

  test("is not held once it was ended, however late it would expire", () => {
    expect(isHeld(held({ endedAtMs: NOW_MS }), NOW_MS)).toBe(false)
  })

  test("is exclusive or shared", () => {
    expect([modeOf({ exclusive: true }), modeOf({ exclusive: false })]).toEqual(["exclusive", "shared"])
  })

  test("keeps the later expiry when it is renewed", () => {
    expect(renewedExpiry(10, 20)).toBe(20)
    expect(renewedExpiry(20, 10)).toBe(20)
  })
})

describe("a conflict", () => {
  test.each([
    [true, true, [1]],
    [true, false, [1]],
    [false, true, [1]],
    [false, false, []],
  ])("with held exclusive %s and wanted exclusive %s: %j", (heldExclusive, exclusive, ids) => {
    expect(conflictIds({ exclusive }, held({ exclusive: heldExclusive }))).toEqual(ids)
  })

  test("is never with one's own reservation", () => {
    expect(conflictIds({ agentId: 1 }, held())).toEqual([])
  })

  test("is never with a reservation that has expired or was ended", () => {
    expect(conflictIds({}, held({ expiresAtMs: NOW_MS }), held({ endedAtMs: NOW_MS - 1 }))).toEqual([])
  })

  test("is with every reservation in the way, and with no other", () => {
    const others = [
      held({ id: 1, pathPattern: "src" }),
      held({ id: 2, pathPattern: "docs" }),
      held({ id: 3, pathPattern: "**/*.ts" }),
    ]
    expect(conflictIds({}, ...others)).toEqual([1, 3])
  })

  test("comes with a path that both patterns match", () => {
    const [conflict] = findConflicts(
      { ...request, pathPattern: "src/*b.ts" },
      [held({ pathPattern: "src/a*" })],
      options,
    )
    expect(conflict?.witness).toMatch(/^src\/a[^/]*b\.ts$/)
  })

  test("does not tell case apart where the repository does not", () => {
    const candidates = [held({ pathPattern: "SRC/App.ts" })]
    expect(findConflicts(request, candidates, options)).toEqual([])
    expect(findConflicts(request, candidates, { ...options, ignoreCase: true })).toHaveLength(1)
  })
})

describe("lists of patterns overlap", () => {
  test("when any of one overlaps any of the other", () => {
    expect(anyOverlap(["docs", "src/*.ts"], ["test", "src/a.*"], false)).toBe(true)
    expect(anyOverlap(["docs", "src/*.ts"], ["test", "src/a.md"], false)).toBe(false)
    expect(anyOverlap([], ["**"], false)).toBe(false)
    expect(anyOverlap(["SRC"], ["src"], true)).toBe(true)
  })
})
