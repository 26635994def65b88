/** How the hook's settings are read: every key good and bad, and two files of which the project's wins. */

import { execFileSync } from "node:child_process"
import { mkdirSync, symlinkSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import * as fc from "fast-check"
import { describe, expect, test } from "vitest"
import {
  HOOK_SETTINGS_DEFAULT,
  type HookSettings,
  matchesAny,
  modeFor,
  readHookSettings,
} from "../../src/config/hook-settings.ts"
import { SETTINGS_PATTERN_COST_MAX } from "../../src/config/limits.ts"
import { patternCost } from "../../src/domain/coordination/pattern-budget.ts"
import { temporaryFolder } from "../support/temporary-folder.ts"

/** Reads settings from the texts of both files; undefined for a file that is not there. */
function readFrom(userText?: string, projectText?: string) {
  const folder = temporaryFolder()
  const user = join(folder, "config.json")
  const project = join(folder, ".signalbox.json")
  if (userText !== undefined) writeFileSync(user, userText)
  if (projectText !== undefined) writeFileSync(project, projectText)
  return { ...readHookSettings(user, folder), user, project }
}

const withKeys = (preEdit: unknown) => JSON.stringify({ hooks: { preEdit } })
const PATTERN_OF_512 = "a".repeat(512)

/** Values that are accepted and refused, by key. */
const SWITCH = { good: [true, false], bad: ["true", 1, 0, null, [], {}, ""] }
/** 10 of 19,050 and 19 of 500: just what a list may cost. */
const TEN = "{a,b,c,d,e,f,g,h,i,j}"
const COSTLY = [
  ...Array.from({ length: 10 }, (_, nth) => `${TEN}${TEN}${TEN}${"x".repeat(11)}${nth}*`),
  ...Array.from({ length: 19 }, () => `${"x".repeat(446)}*`),
]
const PATTERNS = {
  good: [[], ["src/**"], ["a", "{b,c}/*.ts", "[x]"], [PATTERN_OF_512], [...COSTLY, "plain"]],
  bad: [
    "src/**",
    null,
    {},
    [1],
    [""],
    ["/etc"],
    ["../a"],
    ["a\0"],
    [`${PATTERN_OF_512}a`],
    ["a", ["b"]],
    [...COSTLY, "*"],
  ],
}
const VALUES: Record<keyof HookSettings, { good: readonly unknown[]; bad: readonly unknown[] }> = {
  enabled: SWITCH,
  autoReserve: SWITCH,
  defaultMode: { good: ["shared", "exclusive"], bad: ["Shared", "both", "", null, true, ["shared"]] },
  reservationDuration: {
    good: [1, 2, 28_799, 28_800, 60.0],
    bad: [0, -1, 28_801, 1.5, "7200", true, null, [7_200], 1e21],
  },
  blockConflicts: SWITCH,
  showGuidance: SWITCH,
  allowOverrides: SWITCH,
  requireAdminApproval: SWITCH,
  releaseOnCommit: SWITCH,
  exclusivePatterns: PATTERNS,
  ignorePatterns: PATTERNS,
}
const GOOD = Object.entries(VALUES).flatMap(([key, { good }]) => good.map((value) => [key, value] as const))
const BAD = Object.entries(VALUES).flatMap(([key, { bad }]) => bad.map((value) => [key, value] as const))
const brief = (value: unknown) => JSON.stringify(value).slice(0, 30)

test("the costly list costs just what a list may", () => {
  const costs = COSTLY.map(patternCost)
  expect(costs.reduce((sum, cost) => sum + cost, 0)).toBe(SETTINGS_PATTERN_COST_MAX)
})

describe("settings", () => {
  test("are the defaults where there is no file", () => {
    expect(readFrom()).toMatchObject({ settings: HOOK_SETTINGS_DEFAULT, warnings: [] })
    expect(readHookSettings("/nowhere/config.json", undefined)).toEqual({
      settings: HOOK_SETTINGS_DEFAULT,
      mail: { push: true },
      warnings: [],
      weakenings: [],
    })
  })

  test("are by default those of the reference configuration", () => {
    expect(HOOK_SETTINGS_DEFAULT).toMatchObject({
      enabled: true,
      autoReserve: true,
      defaultMode: "shared",
      reservationDuration: 7200,
      blockConflicts: true,
      showGuidance: true,
      allowOverrides: true,
      requireAdminApproval: false,
      releaseOnCommit: false,
    })
  })

  test.each(GOOD.map(([key, value]) => [key, brief(value), value] as const))(
    "%s takes %s",
    (key, _, value) => {
      const read = readFrom(withKeys({ [key]: value }))
      expect(read.warnings).toEqual([])
      expect(read.settings).toEqual({ ...HOOK_SETTINGS_DEFAULT, [key]: value })
    },
  )

  test.each(BAD.map(([key, value]) => [key, brief(value), value] as const))(
    "%s refuses %s with one sentence that names file, key and rule, and the default holds",
    (key, _, value) => {
      const read = readFrom(undefined, withKeys({ [key]: value }))
      expect(read.settings).toEqual(HOOK_SETTINGS_DEFAULT)
      expect(read.warnings).toHaveLength(1)
      expect(read.warnings[0]).toContain(`${read.project}: hooks.preEdit.${key} must be`)
    },
  )

  test.each(["enable", "__proto__", "constructor", ""])("do not know %j, and say what they know", (key) => {
    const read = readFrom(`{"hooks":{"preEdit":{${JSON.stringify(key)}:false,"autoReserve":false}}}`)
    expect(read.settings).toEqual({ ...HOOK_SETTINGS_DEFAULT, autoReserve: false })
    expect(read.warnings).toHaveLength(1)
    for (const part of [read.user, `hooks.preEdit.${key} `, "unknown", "reservationDuration"])
      expect(read.warnings[0]).toContain(part)
  })

  test.each([
    '{"hooks":[]}',
    '{"hooks":"on"}',
    '{"hooks":{"preEdit":[]}}',
    '{"hooks":{"preEdit":true}}',
    "[]",
    "null",
    "1",
  ])("in %s are none, with a warning", (text) => {
    const read = readFrom(text)
    expect(read.settings).toEqual(HOOK_SETTINGS_DEFAULT)
    expect(read.warnings).toEqual([expect.stringContaining("hooks.preEdit must be an object")])
  })

  test.each(["", "{", "{'hooks':{}}", '{"hooks":{"preEdit":{"enabled":false,}}}'])(
    "in %j, which is no JSON, are none, with a warning",
    (text) => {
      const read = readFrom(text)
      expect(read.settings).toEqual(HOOK_SETTINGS_DEFAULT)
      expect(read.warnings).toEqual([expect.stringContaining(`${read.user} cannot be read as JSON`)])
    },
  )

  test.each(["{}", '{"name":{}}', '{"hooks":{}}', '{"hooks":{"preEdit":{}}}', '{"hooks":{"postEdit":1}}'])(
    "in %s are none, without a warning",
    (text) => {
      expect(readFrom(text, text)).toMatchObject({ settings: HOOK_SETTINGS_DEFAULT, warnings: [] })
    },
  )

  test("after a byte order mark, as Windows writes it, are read", () => {
    const read = readFrom(`\uFEFF${withKeys({ enabled: false })}`)
    expect(read.warnings).toEqual([])
    expect(read.settings.enabled).toBe(false)
  })

  test("in something that is no file are none, with a warning", () => {
    const folder = temporaryFolder()
    mkdirSync(join(folder, ".signalbox.json"))
    const read = readHookSettings(join(folder, "none"), folder)
    expect(read.settings).toEqual(HOOK_SETTINGS_DEFAULT)
    expect(read.warnings).toEqual([expect.stringContaining("must be a file of at most 65536 bytes")])
  })

  test.skipIf(process.platform === "win32")("in a pipe or a device are not waited for", () => {
    const folder = temporaryFolder()
    symlinkSync("/dev/zero", join(folder, ".signalbox.json"))
    execFileSync("mkfifo", [join(folder, "pipe")])
    const read = readHookSettings(join(folder, "pipe"), folder)
    expect(read.settings).toEqual(HOOK_SETTINGS_DEFAULT)
    expect(read.warnings).toHaveLength(2)
  })

  test("count up to 64 KiB of a file", () => {
    const folder = temporaryFolder()
    const settings = JSON.stringify({ hooks: { preEdit: { enabled: false } } })
    const enabledAt = (bytes: number) => {
      writeFileSync(join(folder, ".signalbox.json"), settings.padEnd(bytes))
      return readHookSettings(join(folder, "none"), folder).settings.enabled
    }
    expect([enabledAt(65_536), enabledAt(65_537)]).toEqual([false, true])
  })
})

describe("of the two files", () => {
  test("the project's wins, key by key, and lists are not merged with the defaults", () => {
    const user = { defaultMode: "exclusive", enabled: false }
    const project = { exclusivePatterns: ["b"], enabled: true, reservationDuration: 9_000 }
    expect(readFrom(withKeys(user), withKeys(project))).toMatchObject({
      settings: {
        ...HOOK_SETTINGS_DEFAULT,
        defaultMode: "exclusive",
        exclusivePatterns: ["b"],
        enabled: true,
        reservationDuration: 9_000,
      },
      warnings: [],
    })
  })

  // What the user sets, what a weaker and a stricter project sets, and what holds of the latter.
  test.each([
    ["enabled", true, false, true],
    ["enabled", false, false, true],
    ["autoReserve", true, false, true],
    ["blockConflicts", true, false, true],
    ["blockConflicts", false, false, true],
    ["allowOverrides", false, true, false],
    ["allowOverrides", true, true, false],
    ["requireAdminApproval", true, false, true],
    ["defaultMode", "exclusive", "shared", "exclusive"],
    ["defaultMode", "shared", "shared", "exclusive"],
    ["reservationDuration", 600, 599, 601],
    ["ignorePatterns", ["a", "b"], ["a", "b", "c"], ["b"]],
  ] as const)("the project's can only make %s stricter than the user's %j", (key, user, weaker, stricter) => {
    const text = withKeys({ [key]: user })
    const path = expect.stringContaining(`hooks.preEdit.${key} than your own`)
    const held = readFrom(text, withKeys({ [key]: weaker }))
    expect(held.settings[key]).toEqual(user)
    expect(held.weakenings).toEqual(String(user) === String(weaker) ? [] : [path])
    const tightened = readFrom(text, withKeys({ [key]: stricter }))
    expect(tightened.settings[key]).toEqual(stricter)
    expect(tightened.weakenings).toEqual([])
  })

  test("the project's adds to the user's own exclusive files, and ignores none that the user's does not", () => {
    const user = withKeys({ exclusivePatterns: ["a"], ignorePatterns: ["x", "y"] })
    const { settings, weakenings } = readFrom(
      user,
      withKeys({ exclusivePatterns: ["b"], ignorePatterns: ["y", "**"] }),
    )
    expect(settings).toMatchObject({ exclusivePatterns: ["b", "a"], ignorePatterns: ["y"] })
    expect(weakenings).toEqual([expect.stringContaining("hooks.preEdit.ignorePatterns than your own")])
  })

  test("the project's may weaken a default that the user leaves, which is said", () => {
    const weaker: Partial<HookSettings> = {
      enabled: false,
      autoReserve: false,
      reservationDuration: 7_199,
      blockConflicts: false,
      exclusivePatterns: [],
      ignorePatterns: [...HOOK_SETTINGS_DEFAULT.ignorePatterns, "**"],
    }
    const read = readFrom(undefined, withKeys(weaker))
    expect(read.settings).toMatchObject(weaker)
    expect(read.weakenings).toEqual(
      Object.keys(weaker).map(
        (key) => `${read.project} weakens hooks.preEdit.${key}; set it in ${read.user} to decide it yourself`,
      ),
    )
    const { showGuidance, releaseOnCommit } = HOOK_SETTINGS_DEFAULT
    const harmless = { showGuidance: !showGuidance, releaseOnCommit: !releaseOnCommit }
    const stricter = {
      ...harmless,
      defaultMode: "exclusive",
      allowOverrides: false,
      requireAdminApproval: true,
    }
    expect(readFrom(undefined, withKeys(stricter)).weakenings).toEqual([])
    expect(readFrom(withKeys(weaker)).weakenings).toEqual([])
  })

  test("the project's says nothing of what is the user's alone", () => {
    const limits = { limits: { tool_calls_per_minute: 0 }, identity: "open", name: "app" }
    const { warnings } = readFrom(undefined, JSON.stringify({ ...limits, documentation: { hosts: ["a"] } }))
    expect(
      warnings.map((text) => / (\w+) counts in the user's own config file only$/.exec(text)?.[1]),
    ).toEqual(["limits", "identity", "documentation"])
    expect(readFrom(JSON.stringify(limits)).warnings).toEqual([])
  })

  test("a bad value of the project's leaves what the user's says", () => {
    const read = readFrom(withKeys({ reservationDuration: 60 }), withKeys({ reservationDuration: 0 }))
    expect(read.settings.reservationDuration).toBe(60)
    expect(read.warnings).toHaveLength(1)
  })

  test("one that is broken takes nothing from the other", () => {
    const read = readFrom("{", withKeys({ enabled: false }))
    expect(read.settings.enabled).toBe(false)
    expect(read.warnings).toHaveLength(1)
    expect(readFrom(withKeys({ enabled: false }), "{").settings.enabled).toBe(false)
  })

  test("the user's alone counts outside of any project", () => {
    const { user } = readFrom(withKeys({ enabled: false }), withKeys({ enabled: true }))
    expect(readHookSettings(user, undefined).settings.enabled).toBe(false)
  })

  test("whatever they hold, reading never fails and yields settings of the right kind", () => {
    const json = fc.jsonValue({ maxDepth: 3 })
    const keyed = fc.dictionary(fc.constantFrom(...Object.keys(VALUES), "x"), json).map(withKeys)
    const any = fc.oneof(
      fc.string(),
      json.map((value) => JSON.stringify(value)),
      keyed,
    )
    const folder = temporaryFolder()
    fc.assert(
      fc.property(any, any, fc.string(), (user, project, path) => {
        writeFileSync(join(folder, "user"), user)
        writeFileSync(join(folder, ".signalbox.json"), project)
        const { settings } = readHookSettings(join(folder, "user"), folder)
        expect(Object.keys(settings).sort()).toEqual(Object.keys(VALUES).sort())
        expect(settings.reservationDuration).toBeGreaterThanOrEqual(1)
        expect(["shared", "exclusive"]).toContain(modeFor(settings, path.replace(/\.\.|\0/g, "x")))
      }),
    )
  })
})

describe("a path", () => {
  test.each([
    ["**/*.log", "a/b.log", true],
    ["**/*.log", "b.log", true],
    ["*.log", "a/b.log", false],
    ["dist", "dist/a/b", true],
    ["dist/", "dist/a", true],
    ["./dist", "dist/a", true],
    ["dist", "web/dist/a", false],
    ["**/.git/**", ".git/config", true],
    ["src/{a,b}.ts", "src/b.ts", true],
    ["app/[id]/**", "app/[id]/page.tsx", true],
    ["**/*.ts", "a*.ts", true],
    ["a.ts", "*.ts", false],
  ])("%s against %s: %s", (pattern, path, matches) => {
    expect(matchesAny([pattern], path)).toBe(matches)
    expect(matchesAny(["nothing", pattern], path)).toBe(matches)
  })

  test("is exclusive when a pattern says so or the default does", () => {
    const settings = { ...HOOK_SETTINGS_DEFAULT, exclusivePatterns: ["*.lock"] }
    expect(modeFor(settings, "a.lock")).toBe("exclusive")
    expect(modeFor(settings, "a.ts")).toBe("shared")
    expect(modeFor({ ...settings, defaultMode: "exclusive" }, "a.ts")).toBe("exclusive")
  })
})
