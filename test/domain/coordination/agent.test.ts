import fc from "fast-check"
import { describe, expect, test } from "vitest"
import {
  type Agent,
  closestName,
  generateName,
  isActive,
  isNotifier,
  isReservedName,
  NOTIFIER_NAME,
  nameKey,
  numberedName,
} from "../../../src/domain/coordination/agent.ts"
import { ADJECTIVES, NOUNS } from "../../../src/domain/coordination/name-words.ts"

const HALF_HOUR_MS = 30 * 60_000
const NOW_MS = Date.parse("2026-03-10T12:00:00.000Z")

const hint = () => fc.stringMatching(/^[A-Za-z0-9_-]{2,40}$/)
/** What Math.random returns: 0 included, 1 not. */
const draws = () => fc.array(fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }), { minLength: 1 })

/** Draws the given numbers again and again. */
function repeating(numbers: readonly number[]): () => number {
  let next = 0
  return () => numbers[next++ % numbers.length] ?? 0
}

function agentActiveAt(lastActiveAtMs: number): Agent {
  return {
    id: 1,
    projectId: 1,
    name: "Ada",
    program: "program",
    model: "model",
    taskDescription: null,
    repositoryId: null,
    contactPolicy: "auto",
    session: null,
    isClaimed: true,
    lastActiveAtMs,
    createdAtMs: 0,
    workTree: null,
  }
}

describe("generateName", () => {
  test("without a hint is an adjective and a noun of the lists, in PascalCase", () => {
    fc.assert(
      fc.property(draws(), (numbers) => {
        const name = generateName(undefined, () => false, repeating(numbers))
        const [adjective, noun] = name.split(/(?<=[a-z])(?=[A-Z])/)
        expect(ADJECTIVES).toContain(adjective)
        expect(NOUNS).toContain(noun)
      }),
    )
  })

  test("with a hint starts with the hint and is longer than it", () => {
    fc.assert(
      fc.property(hint(), draws(), (given, numbers) => {
        const name = generateName(given, () => false, repeating(numbers))
        expect(name.startsWith(given)).toBe(true)
        expect(name.length).toBeGreaterThan(given.length)
      }),
    )
  })

  test("is never a name that is taken in another case", () => {
    fc.assert(
      fc.property(fc.option(hint(), { nil: undefined }), draws(), fc.nat(200), (given, numbers, count) => {
        const taken = new Set<string>()
        const random = repeating(numbers)
        for (let made = 0; made <= count; made += 1) {
          const name = generateName(given, (candidate) => taken.has(nameKey(candidate)), random)
          expect(taken.has(nameKey(name))).toBe(false)
          taken.add(nameKey(name))
        }
      }),
      { numRuns: 30 },
    )
  })

  test("ends with a number when every name that is drawn is taken", () => {
    const name = generateName(undefined, (candidate) => !/\d$/.test(candidate), Math.random)
    expect(name).toMatch(/^[A-Z][a-z]+[A-Z][a-z]+2$/)
  })

  test("counts on past numbers that are taken too", () => {
    const name = generateName("Ada", (candidate) => !candidate.endsWith("5"), Math.random)
    expect(name).toMatch(/^Ada[A-Z][a-z]+5$/)
  })

  test("is never longer than the 80 characters of an agent name parameter, after the longest hint", () => {
    fc.assert(
      fc.property(draws(), fc.integer({ min: 2, max: 9_999 }), (numbers, free) => {
        const name = generateName(
          "x".repeat(40),
          (candidate) => !candidate.endsWith(String(free)),
          repeating(numbers),
        )
        expect(name.length).toBeLessThanOrEqual(80)
      }),
    )
  })
})

describe("the word lists", () => {
  test.each([
    ["adjectives", ADJECTIVES],
    ["nouns", NOUNS],
  ])("the %s are capitalised plain words without repetition", (_, words) => {
    for (const word of words) expect(word).toMatch(/^[A-Z][a-z]+$/)
    expect(new Set(words).size).toBe(words.length)
  })

  test("every pair makes a name of its own, and none is the notifier's", () => {
    const names = ADJECTIVES.flatMap((adjective) => NOUNS.map((noun) => nameKey(adjective + noun)))
    expect(new Set(names).size).toBe(names.length)
    expect(names).not.toContain(nameKey(NOTIFIER_NAME))
  })
})

describe("isActive", () => {
  test("holds until 30 minutes have passed, and not a millisecond longer", () => {
    const agent = agentActiveAt(NOW_MS)
    expect(isActive(agent, NOW_MS)).toBe(true)
    expect(isActive(agent, NOW_MS + HALF_HOUR_MS)).toBe(true)
    expect(isActive(agent, NOW_MS + HALF_HOUR_MS + 1)).toBe(false)
  })
})

describe("isNotifier", () => {
  test("knows the reserved name in any case, and nothing else", () => {
    for (const name of ["Signalbox", "signalbox", "SIGNALBOX", "sIgNaLbOx"])
      expect(isNotifier(name)).toBe(true)
    for (const name of ["Signalbo", "Signalbox2", "Signal-box", "xSignalbox"])
      expect(isNotifier(name)).toBe(false)
  })
})

describe("closestName", () => {
  test("finds a name within one edit, whatever the case", () => {
    const edited = hint().chain((name) =>
      fc.record({
        name: fc.constant(name),
        at: fc.nat(name.length - 1),
        letter: fc.constantFrom("x", "7", ""),
      }),
    )
    fc.assert(
      fc.property(edited, ({ name, at, letter }) => {
        const mistyped = name.slice(0, at) + letter + name.slice(at + 1)
        expect(closestName(mistyped.toUpperCase(), [name])).toBe(name)
      }),
    )
  })

  test("takes the nearest of several", () => {
    expect(closestName("BlueFix", ["RedFox", "BlueFoxx", "BlueFox"])).toBe("BlueFox")
  })

  test("names nothing that is three edits away", () => {
    expect(closestName("BlueFox", ["BlueOtter", "RedFox", "BlueFoxABC"])).toBeUndefined()
  })

  test("names nothing where nobody is known", () => {
    expect(closestName("Ada", [])).toBeUndefined()
  })
})

describe("a name that no agent may ask for", () => {
  test.each([
    ...["Human", "human", "HUMANS", "User", "user-2", "The_User", "EndUser", "us3r", "u53r", "User99"],
    ...["System", "sy5tem", "SYSTEM_1", "syst3m7", "Admin", "adm1n", "adrnin", "Admin-User", "administrator"],
    ...["Root", "r00t", "roo7", "root--0", "Owner", "owner_007", "Operator", "everyone", "someb0dy"],
    ...[
      "Signalbox",
      "signa1box",
      "SignalB0x",
      "signal-box",
      "Signalbox2",
      "SignalboxSupport",
      "the-signalbox",
    ],
  ])("is %s", (name) => {
    expect(isReservedName(name)).toBe(true)
  })

  test.each([
    ...[
      "Ada",
      "BlueLake",
      "Rooster",
      "RootCause",
      "UserService",
      "user-service",
      "AdminPanel",
      "SystemTests",
    ],
    ...[
      "Humane",
      "Signal",
      "Box",
      "signal-tower",
      "claude-1",
      "codex",
      "worker",
      "ada-2",
      "Perseus",
      "a1",
      "-_",
    ],
  ])("is not %s", (name) => {
    expect(isReservedName(name)).toBe(false)
  })

  test("is none of those that are generated", () => {
    for (const adjective of ADJECTIVES)
      expect(NOUNS.filter((noun) => isReservedName(`${adjective}${noun}`))).toEqual([])
  })
})

test("a taken name is numbered from 2 within its bounds", () => {
  const taken = new Set(["ada-2"])
  expect(numberedName("ada", (name) => taken.has(name))).toBe("ada-3")
  expect(numberedName("a".repeat(40), () => false)).toBe(`${"a".repeat(38)}-2`)
})
