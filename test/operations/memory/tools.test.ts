/** The ten tools on memories through a real client: what each says, what it does, and what it refuses. */

import Database from "better-sqlite3"
import { describe, expect, test } from "vitest"
import { makeDailyBackup } from "../../../src/db/daily-backups.ts"
import { type Session, textAfter, type World, world } from "../../support/world.ts"

const DAY_MS = 86_400_000
/** The id of no memory. */
const NO_ID = "0192f5a0-7b3c-7c4e-9d2f-0123456789ab"
const UUID = /[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}/

/** Tools on one memory, with what else they need. */
const ON_ONE: [tool: string, args: object][] = [
  ["get-memory", {}],
  ["update-memory", { source: "s" }],
  ["reinforce-memory", {}],
  ["delete-memory", {}],
  ["get-memory-waypoints", {}],
]
async function room(): Promise<{ made: World; session: Session }> {
  const made = world()
  return { made, session: await made.session() }
}

async function create(session: Session, content: string, more: object = {}): Promise<string> {
  return textAfter(await session.call("create-memory", { content, ...more }), "Memory id")
}

const idsIn = (text: string) => [...text.matchAll(/^Memory id: (.*)$/gm)].map(([, id]) => id)
const idsOf = async (session: Session, tool: string, args: Record<string, unknown> = {}) =>
  idsIn(await session.call(tool, args))

/** Gives memories and queries vectors in a plane, by the degrees that they name; none where they name none. */
function useAngles({ app }: Session): void {
  const vectorsOf = (text: string) =>
    [...text.matchAll(/(-?\d+)°/g)].map(([, degrees]) => {
      const angle = (Number(degrees) * Math.PI) / 180
      return Float32Array.from({ length: 256 }, (_, at) => [Math.cos(angle), Math.sin(angle)][at] ?? 0)
    })
  const { embedders } = app
  const load: typeof embedders.load = async (model) => ({
    model,
    embedPassages: async (texts) => texts.map(vectorsOf),
    embedQuery: async (text) => vectorsOf(text)[0] ?? null,
    close: async () => {},
  })
  app.embedders = { ...embedders, ready: () => undefined, load }
}

/** Everything in a database but who called when, as text. */
function dump({ databasePath }: World): string {
  const db = new Database(databasePath, { readonly: true })
  try {
    const tables = db
      .prepare(
        "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT IN ('api_keys', 'processes')",
      )
      .pluck()
      .all() as string[]
    expect(tables).toContain("memories")
    return JSON.stringify(tables.map((name) => [name, db.prepare(`SELECT * FROM "${name}"`).all()]))
  } finally {
    db.close()
  }
}

describe("create-memory", () => {
  test("says the id and the sector, each on a line of its own", async () => {
    const { session } = await room()
    const given = await session.call("create-memory", { content: "A fact.", sector: "procedural" })
    expect(given).toMatch(
      new RegExp(`^# Memory created\\n\\nMemory id: ${UUID.source}\\nSector: procedural$`),
    )
    const inferred = await session.call("create-memory", { content: "First run the build, then deploy it." })
    expect(textAfter(inferred, "Sector")).toBe("procedural (inferred)")
  })

  test("names up to three older memories that say much the same, and makes a memory all the same", async () => {
    const { session } = await room()
    useAngles(session)
    await session.call("create-memory", { content: "at a right angle 90°" })
    const ids: string[] = []
    for (const degrees of [0, 1, 2, 3]) {
      const text = await session.call("create-memory", { content: `nearly the same ${degrees}°` })
      const alike = [...text.matchAll(/^Much like: (.*) \((.*)\)$/gm)]
      expect(alike.map(([, id]) => id)).toEqual([...ids].reverse().slice(0, 3))
      for (const [, , weight] of alike) expect(weight).toBe("1.00")
      ids.push(textAfter(text, "Memory id"))
    }
    expect((await idsOf(session, "list-memories")).slice(0, 4)).toEqual(ids.reverse())
  })

  test("does not name what is just related", async () => {
    const { session } = await room()
    useAngles(session)
    const id = await create(session, "one 0°")
    // A weight of 0.84 with the built-in model's calibration.
    const text = await session.call("create-memory", { content: "related 58°" })
    expect(text).not.toContain("Much like")
    const waypoints = await session.call("get-memory-waypoints", {
      memory_id: textAfter(text, "Memory id"),
    })
    expect(idsIn(waypoints)).toEqual([id])
  })
})

describe("get-memory", () => {
  test("gives everything about a memory, and counts that as an access", async () => {
    const { made, session } = await room()
    const id = await create(session, "Line one.\n\n  Line three — ünï 😀", {
      sector: "episodic",
      tags: ["db", "two words"],
      source: "adr-7\nline",
      metadata: { b: [1, { a: null }], "": "x" },
    })
    made.advance(45 * DAY_MS)
    const lines = (accessed: string) => [
      `Memory id: ${id}`,
      "Sector: episodic, salience 0.5",
      "Created: 2026-03-10T12:00:00.000Z",
      "Tags: db, two words",
      `Accessed: ${accessed} times`,
      "Updated: 2026-03-10T12:00:00.000Z",
      'Source: "adr-7\\nline"',
      'Metadata: {"b":[1,{"a":null}],"":"x"}',
      "Embedding: completed",
      "",
      "> Line one.",
      "> ",
      ">   Line three — ünï 😀",
    ]
    await session.call("search-memories", { query: "Line" })
    await session.call("list-memories", {})
    await session.call("get-memory-waypoints", { memory_id: id })
    await session.call("get-memory", { memory_id: id })
    expect(await session.call("get-memory", { memory_id: id.toUpperCase() })).toBe(lines("2").join("\n"))
  })

  test("leaves out what a memory does not have", async () => {
    const { session } = await room()
    const text = await session.call("get-memory", { memory_id: await create(session, "x") })
    expect(text).not.toMatch(/^(Tags|Source|Metadata):/m)
  })
})

describe("update-memory", () => {
  test("changes what is given and nothing else", async () => {
    const { made, session } = await room()
    const draft = { sector: "emotional", tags: ["a"], source: "s", metadata: { m: 1 } }
    const id = await create(session, "First run this, then that.", draft)
    made.advance(1_000)
    const text = await session.call("update-memory", {
      memory_id: id,
      content: "A new content.",
      tags: ["b", "c"],
    })
    expect(text).toBe(`# Memory updated\n\nMemory id: ${id}\nUpdated: 2026-03-10T12:00:01.000Z`)
    const whole = await session.call("get-memory", { memory_id: id })
    expect(textAfter(whole, "Sector")).toBe("emotional, salience 1")
    expect(textAfter(whole, "Tags")).toBe("b, c")
    expect(textAfter(whole, "Source")).toBe('"s"')
    expect(textAfter(whole, "Metadata")).toBe('{"m":1}')
    expect(whole).toMatch(/\n\n> A new content\.$/)
    expect(await idsOf(session, "search-memories", { query: "first" })).toEqual([])
    expect(await idsOf(session, "search-memories", { query: "new content" })).toEqual([id])
  })

  test("with nothing to change changes nothing", async () => {
    const { made, session } = await room()
    const id = await create(session, "x")
    const before = dump(made)
    made.advance(1_000)
    const text = await session.call("update-memory", { memory_id: id })
    expect(textAfter(text, "Updated")).toBe("2026-03-10T12:00:00.000Z")
    expect(dump(made)).toBe(before)
  })
})

describe("reinforce-memory", () => {
  test("says the salience before and after, by the profile or by maintenance", async () => {
    const { made, session } = await room()
    const id = await create(session, "x", { sector: "semantic" })
    made.advance(140 * DAY_MS)
    const first = await session.call("reinforce-memory", { memory_id: id })
    expect(first).toBe(`# Memory reinforced\n\nMemory id: ${id}\nSalience: 0.5 -> 0.6 (maintenance)`)
    const second = await session.call("reinforce-memory", { memory_id: id, profile: "emergency" })
    expect(textAfter(second, "Salience")).toBe("0.6 -> 0.85 (emergency)")
  })
})

describe("delete-memory", () => {
  test("says that the daily backups hold what was there when they were made", async () => {
    const { session } = await room()
    const id = await create(session, "gone")
    makeDailyBackup(session.app.config.databasePath, { nowMs: 0, hint: "" })
    expect(await session.call("delete-memory", { memory_id: id })).toBe(
      `# Memory deleted\n\nMemory id: ${id}\nThe daily backups hold it until 3 newer ones are made, 3 days of work at most; --purge on the command line drops it from them too.`,
    )
    await create(session, "fades")
    const prune = (args: object) => session.call("prune-memories", { threshold: 1, ...args })
    session.app.now = () => Date.now() + 10 ** 12
    expect(await prune({ dry_run: true })).not.toContain("backups")
    expect(await prune({ dry_run: false })).toContain("The daily backups hold it")
    expect(await prune({ dry_run: false }), "nothing is left to delete").not.toContain("backups")
  })

  test("takes a memory away for good", async () => {
    const { session } = await room()
    const [id, kept] = [await create(session, "gone"), await create(session, "kept")]
    expect(await session.call("delete-memory", { memory_id: id })).toBe(
      `# Memory deleted\n\nMemory id: ${id}`,
    )
    for (const [tool, args] of ON_ONE)
      expect(await session.fail(tool, { memory_id: id, ...args })).toContain(`memory ${id} was not found`)
    expect(await idsOf(session, "list-memories")).toEqual([kept])
    expect(await idsOf(session, "search-memories", { query: "gone" })).toEqual([])
  })
})

describe("search-memories", () => {
  test("shows how many of how many, and of each its score and its beginning", async () => {
    const { session } = await room()
    const ids = [
      await create(session, "The cache is emptied every night.", { sector: "semantic", tags: ["ops"] }),
      await create(session, `The cache of images holds ${"much, ".repeat(100)}and no more.`),
    ]
    await create(session, "Nobody deploys on Fridays.")
    const args = { query: "When is the cache emptied?", expand_waypoints: false }
    const text = await session.call("search-memories", { ...args, limit: 1 })
    expect(text).toMatch(/^# Memories\n\nShown: 1 of 2 matches\n### Score [01]\.\d\d\nMemory id: /)
    expect(text.split("\n").slice(4)).toEqual([
      `Memory id: ${ids[0]}`,
      "Sector: semantic, salience 1",
      "Created: 2026-03-10T12:00:00.000Z",
      "Tags: ops",
      "",
      "> The cache is emptied every night.",
    ])
    expect(idsIn(await session.call("search-memories", args))).toEqual(ids)
  })

  test("filters by sector, tags and salience", async () => {
    const { made, session } = await room()
    const old = await create(session, "cache one", { sector: "semantic", tags: ["a", "b"] })
    made.advance(140 * DAY_MS)
    const fresh = await create(session, "cache two", { sector: "episodic", tags: ["a"] })
    const found = async (filter: object) =>
      (await idsOf(session, "search-memories", { query: "cache", ...filter })).sort()
    expect(await found({})).toEqual([old, fresh].sort())
    expect(await found({ sector: "episodic" })).toEqual([fresh])
    expect(await found({ tags: ["a", "b"] })).toEqual([old])
    expect(await found({ tags: ["a", "c"] })).toEqual([])
    expect(await found({ min_salience: 0.5 })).toEqual([old, fresh].sort())
    expect(await found({ min_salience: 0.51 })).toEqual([fresh])
  })

  test("names the way to what waypoints add, and adds nothing beyond what is asked", async () => {
    const { session } = await room()
    useAngles(session)
    const [a, b, c] = [
      await create(session, "alpha 0°"),
      await create(session, "beta 40°"),
      await create(session, "gamma 80°"),
    ]
    const search = (more: object) => session.call("search-memories", { query: "alpha", ...more })
    const text = await search({})
    expect(idsIn(text)).toEqual([a, b, c])
    expect([...text.matchAll(/^Via: (.*)$/gm)].map(([, via]) => via)).toEqual([a, `${a} -> ${b}`])
    expect(text).toContain(`\nVia: ${a}\n\n> beta 40°`)
    expect(textAfter(text, "Shown")).toBe("3 of 3 matches")
    expect(idsIn(await search({ max_hops: 1 }))).toEqual([a, b])
    for (const none of [
      { max_hops: 0 },
      { expand_waypoints: false },
      { expand_waypoints: false, max_hops: 5 },
    ])
      expect(idsIn(await search(none))).toEqual([a])
  })

  test("that finds nothing says what to try next", async () => {
    const { session } = await room()
    expect(await session.call("search-memories", { query: "x" })).toBe(
      "# Memories\n\nNothing was found. Try other words, or list-memories.",
    )
  })
})

describe("list-memories", () => {
  test("gives pages, newest first, until it says that this is the end", async () => {
    const { session } = await room()
    const ids: string[] = []
    for (let at = 0; at < 5; at += 1) ids.unshift(await create(session, `number ${at}`))
    const seen: (string | undefined)[] = []
    for (let cursor: string | undefined, pages = 1; ; pages += 1) {
      const text = await session.call("list-memories", {
        limit: 2,
        ...(cursor === undefined ? {} : { cursor }),
      })
      seen.push(...idsIn(text))
      expect(textAfter(text, "Shown")).toBe(pages === 3 ? "1" : "2")
      cursor = textAfter(text, "Next cursor")
      if (pages < 3) continue
      expect(cursor).toBe("none, this is the end")
      break
    }
    expect(seen).toEqual(ids)
  })

  test("filters by sector and by tag, and refuses a cursor of another listing", async () => {
    const { session } = await room()
    const one = await create(session, "one", { sector: "semantic", tags: ["a"] })
    const two = await create(session, "two", { sector: "episodic", tags: ["a"] })
    expect(await idsOf(session, "list-memories", { sector: "semantic" })).toEqual([one])
    expect(await idsOf(session, "list-memories", { tag: "a" })).toEqual([two, one])
    expect(await idsOf(session, "list-memories", { tag: "A" })).toEqual([])
    const cursor = textAfter(await session.call("list-memories", { limit: 1 }), "Next cursor")
    for (const args of [{ cursor, tag: "a" }, { cursor: "x" }])
      expect(await session.fail("list-memories", args)).toMatch(
        /^Failed to list memories: cursor must be the next_cursor .* Leave it out to begin with the first page\.$/,
      )
  })
})

describe("get-memory-waypoints", () => {
  test("shows the strongest first, with weights, from the least weight on", async () => {
    const { session } = await room()
    useAngles(session)
    const [one, near, far] = [
      await create(session, "one 0°"),
      await create(session, "near 10°"),
      await create(session, "far -65°"),
    ]
    const ask = (more: object) => session.call("get-memory-waypoints", { memory_id: one, ...more })
    // Mapped by the built-in model's calibration, the cosines are these weights.
    const text = await ask({ min_weight: 0 })
    expect(idsIn(text)).toEqual([near, far])
    expect(text).toMatch(/^# Waypoints\n\nShown: 2 of 2\n### Weight 1\.00\n[\s\S]*\n### Weight 0\.65\n/)
    expect(idsIn(await ask({}))).toEqual([near])
    const first = await ask({ min_weight: 0, limit: 1 })
    expect([idsIn(first), textAfter(first, "Shown")]).toEqual([[near], "1 of 2"])
  })
})

describe("prune-memories", () => {
  test("only counts unless told otherwise, and then deletes what is strictly below", async () => {
    const { made, session } = await room()
    const old = await create(session, "old", { sector: "episodic" })
    made.advance(45 * DAY_MS)
    const fresh = await create(session, "new", { sector: "episodic" })
    const prune = (args: Record<string, unknown>) => session.call("prune-memories", args)
    expect(await prune({})).toBe("# Memories pruned\n\nWould be deleted: 0\nBelow: 0.1")
    expect(textAfter(await prune({ threshold: 0.5 }), "Would be deleted")).toBe("0")
    const before = dump(made)
    expect(await prune({ threshold: 0.51, sector: "episodic" })).toBe(
      "# Memories pruned\n\nWould be deleted: 1\nBelow: 0.51\nSector: episodic\n" +
        "Call again with dry_run false to delete them for good.",
    )
    expect(dump(made)).toBe(before)
    const other = await prune({ threshold: 0.51, sector: "semantic", dry_run: false })
    expect(textAfter(other, "Deleted")).toBe("0")
    expect(await idsOf(session, "list-memories")).toEqual([fresh, old])
    expect(await prune({ threshold: 0.51, dry_run: false })).toBe(
      "# Memories pruned\n\nDeleted: 1\nBelow: 0.51",
    )
    expect(await idsOf(session, "list-memories")).toEqual([fresh])
  })
})

describe("get-memory-stats", () => {
  test("counts by sector, with salience, waypoints, embeddings of today and storage", async () => {
    const { made, session } = await room()
    useAngles(session)
    await create(session, "one 0°", { sector: "episodic" })
    made.advance(45 * DAY_MS)
    await create(session, "two 0°", { sector: "episodic" })
    await create(session, "three", { sector: "reflective" })
    expect((await session.call("get-memory-stats", {})).replace(/0\.00\d MB/, "<size> MB")).toBe(
      [
        "# Memory statistics\n\nMemories: 3",
        ..."episodic: 2,semantic: 0,procedural: 0,emotional: 0,reflective: 1"
          .split(",")
          .map((one) => `- ${one}`),
        "Average salience: 0.8333\nHot memories: 2\nWaypoints: 1\nEmbeddings today: 1\nStorage: <size> MB",
      ].join("\n"),
    )
  })
})

test("the tools that read write nothing, whatever they find", async () => {
  const { made, session } = await room()
  const ids = [
    await create(session, "The cache is slow.", { tags: ["a"] }),
    await create(session, "The cache is slow."),
  ]
  await session.call("get-memory", { memory_id: ids[0] })
  const before = dump(made)
  made.advance(100 * DAY_MS)
  for (const args of [
    { query: "cache" },
    { query: "nothing at all" },
    { query: "slow", tags: ["a"], full: true },
  ])
    await session.call("search-memories", args)
  await session.call("list-memories", { tag: "a" })
  await session.call("get-memory-waypoints", { memory_id: ids[1], min_weight: 0 })
  await session.call("get-memory-stats", {})
  await session.call("prune-memories", { threshold: 1 })
  for (const [tool, args] of ON_ONE) await session.fail(tool, { memory_id: NO_ID, ...args })
  expect(dump(made)).toBe(before)
})
