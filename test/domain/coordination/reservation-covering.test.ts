/** Owns the law of covering: which reservation of one's own already gives a path, and who counts as oneself. */

import * as fc from "fast-check"
import { describe, expect, test } from "vitest"
import {
  type Candidate,
  findConflicts,
  findCovering,
  findOwn,
} from "../../../src/domain/coordination/reservation.ts"
import { escapePath } from "../../../src/domain/glob/literal.ts"

const NOW_MS = 1_000_000
const request = { agentId: 1, path: "src/a.ts", exclusive: false }
const terms = { ignoreCase: false, nowMs: NOW_MS, untilMs: NOW_MS + 100 }

function held(changes: Partial<Candidate> = {}): Candidate {
  return {
    id: 1,
    agentId: 1,
    pathPattern: "src/**",
    exclusive: true,
    expiresAtMs: NOW_MS + 1_000,
    endedAtMs: null,
    ...changes,
  }
}

const covers = (
  changes: Partial<Candidate>,
  wanted: Partial<typeof request> = {},
  other: Partial<typeof terms> = {},
) => findCovering({ ...request, ...wanted }, [held(changes)], { ...terms, ...other }) !== undefined

describe("a path is covered", () => {
  test.each([
    ["src/**", true],
    ["src", true],
    ["src/a.ts", true],
    ["**/*.ts", true],
    ["src/[ab].ts", true],
    ["src/b.ts", false],
    ["src/a.ts/b", false],
    ["*.ts", false],
  ])("by %s: %s", (pathPattern, isCovered) => {
    expect(covers({ pathPattern })).toBe(isCovered)
  })

  test("as plain text, whatever characters it has", () => {
    expect(covers({ pathPattern: "src/a.ts" }, { path: "src/*.ts" })).toBe(false)
    expect(covers({ pathPattern: "src/?.ts" }, { path: "src/*.ts" })).toBe(true)
    expect(covers({ pathPattern: escapePath("a/[b]") }, { path: "a/[b]" })).toBe(true)
    expect(covers({ pathPattern: escapePath("a/[b]") }, { path: "a/b" })).toBe(false)
  })

  test.each([
    [true, true, true],
    [true, false, true],
    [false, false, true],
    [false, true, false],
  ])("by exclusive %s for exclusive %s: %s", (exclusive, wanted, isCovered) => {
    expect(covers({ exclusive }, { exclusive: wanted })).toBe(isCovered)
  })

  test("until the time that is asked for, and no longer", () => {
    expect(covers({ expiresAtMs: NOW_MS + 100 })).toBe(true)
    expect(covers({ expiresAtMs: NOW_MS + 99 })).toBe(false)
  })

  test("never by what has expired or was ended", () => {
    expect(covers({ expiresAtMs: NOW_MS }, {}, { untilMs: NOW_MS })).toBe(false)
    expect(covers({ expiresAtMs: NOW_MS + 1 }, {}, { untilMs: NOW_MS })).toBe(true)
    expect(covers({ endedAtMs: NOW_MS })).toBe(false)
  })

  test("by one's own and by those of agents that count as oneself, by no other's", () => {
    expect(covers({ agentId: 2 })).toBe(false)
    const own = { ...terms, ownAgentIds: new Set([2]) }
    const covering = (agentId: number) => findCovering(request, [held({ agentId })], own)
    expect([1, 2, 3].map((agentId) => covering(agentId) !== undefined)).toEqual([true, true, false])
  })

  test("in another case only where the repository does not tell case apart", () => {
    expect(covers({ pathPattern: "SRC/A.ts" })).toBe(false)
    expect(covers({ pathPattern: "SRC/A.ts" }, {}, { ignoreCase: true })).toBe(true)
  })
})

describe("agents that count as the requester", () => {
  const own = { ignoreCase: false, nowMs: NOW_MS, ownAgentIds: new Set([1, 2]) }

  test("are never in its way, others are", () => {
    const all = [1, 2, 3].map((id) => held({ id, agentId: id }))
    const found = findConflicts({ agentId: 1, pathPattern: "src/a.ts", exclusive: true }, all, own)
    expect(found.map(({ reservation }) => reservation.id)).toEqual([3])
  })

  test("include it without being told so", () => {
    const wanted = { agentId: 9, pathPattern: "src/a.ts", exclusive: true }
    expect(findConflicts(wanted, [held({ agentId: 9 })], own)).toEqual([])
  })

  test("do not lend it their reservations to renew", () => {
    const wanted = { agentId: 1, pathPattern: "src/**", exclusive: true }
    expect(findOwn(wanted, [held({ agentId: 2 })], own)).toBeUndefined()
    expect(findOwn(wanted, [held({ agentId: 1 })], own)).toMatchObject({ agentId: 1 })
  })
})

test("what is covered for oneself is in the way of everybody who is not shared with", () => {
  const name = fc.constantFrom("a", "b", "*", "**", "[ab]", "c.ts")
  const pattern = fc.array(name, { minLength: 1, maxLength: 3 }).map((parts) => parts.join("/"))
  const path = fc
    .array(fc.constantFrom("a", "b", "c.ts"), { minLength: 1, maxLength: 3 })
    .map((parts) => parts.join("/"))
  fc.assert(
    fc.property(pattern, path, fc.boolean(), fc.boolean(), (pathPattern, file, exclusive, wanted) => {
      const reservation = held({ pathPattern, exclusive })
      const isCovered = findCovering({ ...request, path: file }, [reservation], terms) !== undefined
      const stranger = { agentId: 2, pathPattern: escapePath(file), exclusive: wanted }
      const isInTheWay = findConflicts(stranger, [reservation], terms).length > 0
      if (isCovered) expect(isInTheWay).toBe(exclusive || wanted)
    }),
  )
})
