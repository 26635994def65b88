/** Settings of the user's config file: what they change, what is warned of by name, and that the default holds then. */

import { mkdirSync, writeFileSync } from "node:fs"
import { dirname, join } from "node:path"
import fc from "fast-check"
import { describe, expect, test } from "vitest"
import { remove } from "../../scripts/removal.ts"
import { openAppAlone } from "../../src/app.ts"
import { type Config, readConfig } from "../../src/config/config.ts"
import {
  CONFIG_BYTES_MAX,
  HALF_LIFE_DAYS_DEFAULT,
  IGNORED_DOCUMENTS_DEFAULT,
  RATES_DEFAULT,
} from "../../src/config/limits.ts"
import { SECTORS } from "../../src/domain/memory/memory.ts"
import { AppError } from "../../src/errors.ts"
import { createLog } from "../../src/runtime/log.ts"
import { temporaryFolder } from "../support/temporary-folder.ts"
import { textAfter, world } from "../support/world.ts"

const DAY_MS = 86_400_000
const DEFAULTS = { episodic: 45, semantic: 140, procedural: 90, emotional: 60, reflective: 700 }

/** Makes a home folder that ends with the test, and a way to read the configuration with a config file in it. */
function home(): { path: string; read(content?: string | object): Config } {
  const folder = temporaryFolder()
  const path = join(folder, ".config", "signalbox", "config.json")
  const sources = { env: {}, home: folder, platform: "linux", workingFolder: folder } as const
  return {
    path,
    read(content) {
      if (content !== undefined) writeConfig(path, content)
      return readConfig(sources)
    },
  }
}

function writeConfig(path: string, content: string | object): void {
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(path, typeof content === "string" ? content : JSON.stringify(content))
}

const halfLives = (days: unknown) => ({ memory: { halfLifeDays: days } })

describe("half-lives", () => {
  test("are the defaults without a config file, and with one that does not name them", () => {
    const { read } = home()
    expect(HALF_LIFE_DAYS_DEFAULT).toEqual(DEFAULTS)
    for (const content of [
      undefined,
      {},
      { memory: {} },
      { memory: null },
      halfLives({}),
      halfLives(null),
      "null",
    ]) {
      const { halfLives: days, warnings } = read(content)
      expect([days, warnings]).toEqual([DEFAULTS, []])
    }
  })

  test("are those of the config file, each sector's by itself", () => {
    const { read } = home()
    for (const sector of SECTORS) {
      const { halfLives: days, warnings } = read(halfLives({ [sector]: 1.5 }))
      expect([days, warnings]).toEqual([{ ...DEFAULTS, [sector]: 1.5 }, []])
    }
    const all = { episodic: 1, semantic: 2, procedural: 3, emotional: 4, reflective: 5 }
    expect(read(`\uFEFF${JSON.stringify(halfLives(all))}`)).toMatchObject({ halfLives: all, warnings: [] })
  })

  test.each([Number.MIN_VALUE, 0.000_1, 1, 99_999.9, 100_000])("may be %d days", (days) => {
    const read = home().read(halfLives({ semantic: days }))
    expect([read.halfLives.semantic, read.warnings]).toEqual([days, []])
  })

  test.each([
    "0",
    "-0",
    "-1",
    "100000.1",
    "100001",
    "1e999",
    '"45"',
    '""',
    "true",
    "null",
    "[]",
    "[45]",
    "{}",
  ])("may not be %s: the setting is named, and the default holds", (json) => {
    const { path, read } = home()
    const { halfLives: days, warnings } = read(
      `{"memory": {"halfLifeDays": {"semantic": ${json}, "emotional": 7}}}`,
    )
    expect(days).toEqual({ ...DEFAULTS, emotional: 7 })
    expect(warnings).toEqual([
      `${path}: memory.halfLifeDays.semantic must be a number of days, above 0 and at most 100000`,
    ])
  })

  test.each(["semantics", "Semantic", "default", "", "toString", "constructor", "__proto__"])(
    "of the sector %j are unknown, and those that are known are named",
    (name) => {
      const { path, read } = home()
      const { halfLives: days, warnings } = read(
        `{"memory": {"halfLifeDays": {${JSON.stringify(name)}: 7, "emotional": 7}}}`,
      )
      expect({ ...days }).toEqual({ ...DEFAULTS, emotional: 7 })
      expect(warnings).toEqual([
        `${path}: memory.halfLifeDays.${name} is unknown; known are episodic, semantic, procedural, emotional, reflective`,
      ])
    },
  )

  test.each([
    [{ memory: [] }, "memory must be an object; the defaults hold"],
    [{ memory: 7 }, "memory must be an object; the defaults hold"],
    [halfLives([45]), "memory.halfLifeDays must be an object; the defaults hold"],
    [halfLives("45"), "memory.halfLifeDays must be an object; the defaults hold"],
    [{ memory: { halfLife: {} } }, "memory.halfLife is unknown; known is halfLifeDays"],
  ])("in %j are warned of", (content, warning) => {
    const { path, read } = home()
    const { halfLives: days, warnings } = read(content)
    expect([days, warnings]).toEqual([DEFAULTS, [`${path}: ${warning}`]])
  })

  test("are numbers above 0 for every sector, whatever JSON the file holds", () => {
    const { read } = home()
    const days = fc.dictionary(fc.constantFrom(...SECTORS, "other"), fc.oneof(fc.double(), fc.jsonValue()))
    fc.assert(
      fc.property(fc.oneof(days.map(halfLives), fc.jsonValue()), (content) => {
        const { halfLives: read_, rates } = read(JSON.stringify(content))
        expect(Object.keys(read_).sort()).toEqual([...SECTORS].sort())
        for (const sector of SECTORS) expect(read_[sector] > 0 && read_[sector] <= 100_000).toBe(true)
        expect(Object.keys(rates).sort()).toEqual(Object.keys(RATES_DEFAULT).sort())
      }),
      { numRuns: 200 },
    )
  })
})

describe("the days that events are kept", () => {
  test.each([1, 2, 30, 3_650])("may be %d", (keepDays) => {
    const read = home().read({ events: { keepDays } })
    expect([read.eventKeepDays, read.warnings]).toEqual([keepDays, []])
  })

  test.each(["0", "-1", "3651", "1.5", "1e999", '"30"', "true", "null", "[30]", "{}"])(
    "may not be %s: the setting is named, and the default holds",
    (json) => {
      const { path, read } = home()
      const { eventKeepDays, warnings } = read(`{"events": {"keepDays": ${json}}}`)
      expect(eventKeepDays).toBe(30)
      expect(warnings).toEqual([
        `${path}: events.keepDays must be a whole number of days, 1 to 3650; the default, 30, holds`,
      ])
    },
  )

  test.each([
    [{}, []],
    [{ events: {} }, []],
    [{ events: null }, []],
    [{ events: 7 }, ["events must be an object; the defaults hold"]],
    [{ events: { keep: 7 } }, ["events.keep is unknown; known is keepDays"]],
  ])("are the default with %j", (content, expected) => {
    const { path, read } = home()
    const { eventKeepDays, warnings } = read(content)
    expect([eventKeepDays, warnings]).toEqual([30, expected.map((text) => `${path}: ${text}`)])
  })
})

describe("a config file", () => {
  test.each(["", "{", "{memory: 1}", '{"memory": {"halfLifeDays": {"semantic": 1,}}}'])(
    "that is no JSON, %j, is warned of, and every default holds",
    (text) => {
      const { path, read } = home()
      const { halfLives: days, rates, warnings } = read(text)
      expect([days, rates]).toEqual([DEFAULTS, RATES_DEFAULT])
      expect(warnings).toEqual([
        expect.stringContaining(`${path} cannot be read as JSON, the defaults hold: `),
      ])
    },
  )

  test.each(["[]", "7", '"text"', "true"])("that holds no object but %s is warned of", (text) => {
    const { path, read } = home()
    const { halfLives: days, warnings } = read(text)
    expect(days).toEqual(DEFAULTS)
    expect(warnings).toEqual([expect.stringContaining(path)])
  })

  test("may have just so many bytes, and no folder's place", () => {
    const content = JSON.stringify(halfLives({ semantic: 1 }))
    const { path, read } = home()
    expect(read(content.padEnd(CONFIG_BYTES_MAX)).halfLives.semantic).toBe(1)
    const { halfLives: days, warnings } = read(content.padEnd(CONFIG_BYTES_MAX + 1))
    expect([days, warnings]).toEqual([
      DEFAULTS,
      [`${path} must be a file of at most ${CONFIG_BYTES_MAX} bytes; the defaults hold`],
    ])
    remove(path)
    mkdirSync(path)
    expect(read().warnings).toHaveLength(1)
  })

  test("that names an unknown rate, whatever it is called, is warned of", () => {
    const { path, read } = home()
    for (const name of ["memory_per_minute", "toString", "__proto__"]) {
      const { rates, warnings } = read(`{"limits": {${JSON.stringify(name)}: 7}}`)
      expect({ ...rates }).toEqual(RATES_DEFAULT)
      expect(warnings).toEqual([expect.stringContaining(`${path}: limits.${name} is unknown; known are `)])
    }
  })

  test("is warned of in the log when the database is opened, once a warning", async () => {
    const { read } = home()
    const logged: string[] = []
    const config = read({ memory: { halfLifeDays: { semantic: 0, other: 1 } } })
    const log = createLog("warn", (line) => logged.push(line))
    await (await openAppAlone(config, { log })).close()
    expect(logged.map((line) => JSON.parse(line).message)).toEqual(config.warnings)
    expect(logged).toHaveLength(2)
  })
})

test("the log tells of an error what caused it, all the way down", () => {
  const logged: string[] = []
  const cause = new Error("no permission", { cause: "the disk" })
  const error = new AppError("unavailable", "the model is damaged", { cause })
  createLog("warn", (line) => logged.push(line)).warn("it cannot be loaded", { error })
  expect(JSON.parse(logged[0] ?? "").error).toMatchObject({
    message: "the model is damaged",
    cause: { message: "no permission", cause: "the disk" },
  })
})

describe("a half-life from the config file", () => {
  async function fading(days: unknown) {
    const made = world()
    const { userConfigPath } = readConfig({ env: {}, home: made.folder, workingFolder: made.folder })
    writeConfig(userConfigPath, halfLives(days))
    const session = await made.session()
    const create = async (sector: string) =>
      textAfter(await session.call("create-memory", { content: `cache ${sector}`, sector }), "Memory id")
    return { made, session, id: await create("semantic"), other: await create("episodic") }
  }

  test("is what memories fade by, in everything that tells salience", async () => {
    const { made, session, id, other } = await fading({ semantic: 2 })
    made.advance(2 * DAY_MS)
    const shown = async (memory_id: string) =>
      textAfter(await session.call("get-memory", { memory_id }), "Sector")
        .split(" ")
        .at(-1)
    expect([await shown(id), await shown(other)]).toEqual(["0.5", "0.9697"])
    expect(textAfter(await session.call("get-memory-stats", {}), "Average salience")).toBe("0.7348")
    const found = await session.call("search-memories", { query: "cache", min_salience: 0.51 })
    expect(found).not.toContain(id)
    expect(found).toContain(other)
    const prune = (threshold: number) => session.call("prune-memories", { threshold, dry_run: false })
    expect(textAfter(await prune(0.5), "Deleted")).toBe("0")
    expect(textAfter(await prune(0.51), "Deleted")).toBe("1")
    await session.fail("get-memory", { memory_id: id })
  })

  test.each([
    [Number.MIN_VALUE, "1", "0"],
    [100_000, "1", "1"],
  ])(
    "of %d days, the least or the most there is, fades without an error",
    async (days, atOnce, aDayLater) => {
      const { made, session } = await fading(Object.fromEntries(SECTORS.map((sector) => [sector, days])))
      const average = async () => textAfter(await session.call("get-memory-stats", {}), "Average salience")
      expect(await average()).toBe(atOnce)
      made.advance(DAY_MS)
      expect(await average()).toBe(aDayLater)
      const pruned = textAfter(await session.call("prune-memories", { threshold: 0.1 }), "Would be deleted")
      expect(pruned).toBe(aDayLater === "0" ? "2" : "0")
    },
  )

  test("that is bad changes nothing", async () => {
    const { made, session, id } = await fading({ semantic: 0 })
    made.advance(140 * DAY_MS)
    const text = await session.call("get-memory", { memory_id: id })
    expect(textAfter(text, "Sector")).toBe("semantic, salience 0.5")
  })
})

describe("the folders in which no documentation is looked for", () => {
  test("are the vendored and generated ones unless the config file names others in their place", () => {
    const { read } = home()
    expect(read({}).ignoredDocuments).toEqual(IGNORED_DOCUMENTS_DEFAULT)
    expect(IGNORED_DOCUMENTS_DEFAULT).toContain("**/node_modules/**")
    expect(read({ documentation: { ignore: ["old/**"] } }).ignoredDocuments).toEqual(["old/**"])
    expect(read({ documentation: { ignore: [] } }).ignoredDocuments).toEqual([])
  })

  test.each([
    [
      { documentation: { ignore: "old/**" } },
      "documentation.ignore must be a list of globs; the default holds",
    ],
    [{ documentation: { ignore: [7] } }, "documentation.ignore must be a list of globs; the default holds"],
    [{ documentation: { ignored: [] } }, "documentation.ignored is unknown; known are ignore, hosts"],
    [{ documentation: [] }, "documentation must be an object; the defaults hold"],
  ])("in %j are warned of", (content, warning) => {
    const { path, read } = home()
    const { ignoredDocuments, warnings } = read(content)
    expect([ignoredDocuments, warnings]).toEqual([IGNORED_DOCUMENTS_DEFAULT, [`${path}: ${warning}`]])
  })
})

test("a database that is named relative to the working folder is the same file for every process", () => {
  const config = readConfig({ env: { SIGNALBOX_DB: "x.db" }, workingFolder: "/place/tree", home: "/home/me" })
  expect(config.databasePath).toBe("/place/tree/x.db")
  const named = readConfig({
    env: {},
    workingFolder: "/place/tree",
    home: "/home/me",
    databasePath: "../y.db",
  })
  expect(named.databasePath).toBe("/place/y.db")
})

test("a data folder that is relative counts from the working folder", () => {
  const env = { XDG_DATA_HOME: "share" }
  const config = readConfig({ env, home: "/home/ada", platform: "linux", workingFolder: "/project" })
  expect(config.dataFolder).toBe("/project/share/signalbox")
  expect(config.databasePath).toBe("/project/share/signalbox/signalbox.db")
})

describe("the hosts of which agents may connect repositories", () => {
  test("are none unless the user's config file names some", () => {
    const { read } = home()
    expect(read({}).documentationHosts).toEqual([])
    const hosts = ["GitHub.com", "git.example.com:8443", "[::1]:80"]
    const { documentationHosts, ignoredDocuments, warnings } = read({ documentation: { hosts } })
    expect(documentationHosts).toEqual(["github.com", "git.example.com:8443", "[::1]:80"])
    expect([ignoredDocuments, warnings]).toEqual([IGNORED_DOCUMENTS_DEFAULT, []])
  })

  test.each(["github.com", ["https://github.com"], ["*.github.com"], ["a b"], [7], {}])(
    "are none when they are %j, with a warning",
    (hosts) => {
      const { path, read } = home()
      const { documentationHosts, warnings } = read({ documentation: { hosts } })
      expect(documentationHosts).toEqual([])
      expect(warnings).toEqual([
        `${path}: documentation.hosts must be a list of host names, such as "github.com"; none is allowed`,
      ])
    },
  )
})
