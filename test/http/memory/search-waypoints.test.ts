/** What searching memories over HTTP adds along waypoints, how far it goes, and how it says so. */

import { describe, expect, test } from "vitest"
import { DAY_MS, type Found, idsOf, type MemoryRoom, memoryRoom, searched } from "../../support/memories.ts"

const DEPLOYMENT = "The deployment script restarts the billing service after the database migration."
const CAKE = "Grandmother bakes an apple cake with cinnamon every Sunday afternoon."

describe("what waypoints add to a search", () => {
  const BIRDS = "Swallows and storks migrate to Africa when the autumn storms begin."
  const long = (...texts: string[]) => texts.map((text) => `${text} `.repeat(120)).join("\n\n")

  /** Four memories in a row, of which only the first has the word. */
  async function chain(room: MemoryRoom, drafts: object[] = [{}, {}, {}, {}]): Promise<string[]> {
    const ids: string[] = []
    const contents = [`${DEPLOYMENT} zyzzyva`, long(DEPLOYMENT, CAKE), long(CAKE, BIRDS), BIRDS]
    for (const [index, content] of contents.entries())
      ids.push((await room.api.create({ content, ...drafts[index] })).id)
    return ids
  }
  const viaOf = ({ data }: Found) => Object.fromEntries(data.map(({ id, via }) => [id, via]))

  test.each([0, 1, 2, 3, 4, 5])("lies at most %i hops away, and each result says which way", async (hops) => {
    const room = await memoryRoom()
    const ids = await chain(room)
    const found = await searched(room.api, { query: "zyzzyva", max_hops: hops })
    expect(idsOf(found)).toEqual(ids.slice(0, hops + 1))
    for (const [index, { via }] of found.data.entries())
      expect(via).toEqual(index === 0 ? undefined : ids.slice(0, index))
    for (const [index, { score }] of found.data.entries())
      if (index > 0) expect(score).toBeLessThanOrEqual(0.8 * (found.data[index - 1]?.score ?? 0) + 0.0001)
    expect(found.meta.waypoints_expanded).toBe(hops > 0)
  })

  test("lies at most three hops away unless said otherwise, and is nothing when switched off", async () => {
    const room = await memoryRoom()
    const ids = await chain(room)
    expect(idsOf(await searched(room.api, { query: "zyzzyva" }))).toEqual(ids)
    for (const max_hops of [undefined, 0, 5]) {
      const found = await searched(room.api, { query: "zyzzyva", expand_waypoints: false, max_hops })
      expect(viaOf(found)).toEqual({ [String(ids[0])]: undefined })
      expect(found.meta).toMatchObject({ total: 1, waypoints_expanded: false })
    }
  })

  test("is counted in the total, so that it is never less than what is shown", async () => {
    const room = await memoryRoom()
    await chain(room)
    for (const body of [{}, { limit: 2 }, { max_hops: 1 }, { expand_waypoints: false }]) {
      const { data, meta } = await searched(room.api, { query: "zyzzyva", ...body })
      expect(meta.total, JSON.stringify(body)).toBeGreaterThanOrEqual(data.length)
    }
  })

  test("never makes more than the limit", async () => {
    const room = await memoryRoom()
    const ids = await chain(room)
    for (const limit of [1, 2, 3])
      expect(idsOf(await searched(room.api, { query: "zyzzyva", limit }))).toEqual(ids.slice(0, limit))
  })

  test.each<[name: string, drafts: object[], filter: object]>([
    [
      "sector",
      [{}, { sector: "emotional" }, { sector: "emotional" }, {}].map((draft) => ({
        sector: "semantic",
        ...draft,
      })),
      { sector: "semantic" },
    ],
    ["tags", [{ tags: ["a", "b"] }, { tags: ["a"] }, {}, { tags: ["b", "a"] }], { tags: ["a", "b"] }],
  ])("is nothing that the filter by %s keeps out", async (_, drafts, filter) => {
    const room = await memoryRoom()
    const [first, , , last] = await chain(room, drafts)
    const found = idsOf(await searched(room.api, { query: "zyzzyva", ...filter }))
    expect(found[0]).toBe(first)
    for (const id of found) expect([first, last]).toContain(id)
  })

  test("is nothing that has faded below min_salience", async () => {
    const room = await memoryRoom()
    const faded = await room.api.create({ content: DEPLOYMENT, sector: "episodic" })
    room.made.advance(45 * DAY_MS)
    const { id } = await room.api.create({ content: `${DEPLOYMENT} zyzzyva` })
    expect(idsOf(await searched(room.api, { query: "zyzzyva", min_salience: 0.5 }))).toEqual([id, faded.id])
    expect(idsOf(await searched(room.api, { query: "zyzzyva", min_salience: 0.51 }))).toEqual([id])
  })

  test("is nothing beyond a memory that was deleted", async () => {
    const room = await memoryRoom()
    const ids = await chain(room)
    await room.api.remove(String(ids[1]))
    expect(idsOf(await searched(room.api, { query: "zyzzyva" }))).toEqual([ids[0]])
    expect(idsOf(await searched(room.api, { query: "storks", expand_waypoints: false })).sort()).toEqual(
      ids.slice(2).sort(),
    )
  })
})
