/** Listing memories over HTTP, page by page, while others write. */

import { describe, expect, test } from "vitest"
import {
  expectError,
  type MemoryCaller,
  memoryRoom,
  type Page,
  secondTenant,
} from "../../support/memories.ts"

const contentsOf = (page: Page) => page.data.map(({ content }) => content)

/** Makes memories named by their numbers, the first the oldest. */
async function fill(api: MemoryCaller, count: number, draft: (number: number) => object = () => ({})) {
  for (let number = 0; number < count; number += 1)
    await api.create({ content: String(number), ...draft(number) })
}

/** Follows the cursors from a page to one end; returns all pages, the given one first. */
async function walk(
  api: MemoryCaller,
  from: Page,
  query: Record<string, string>,
  cursorOf: (page: Page) => string | null,
): Promise<Page[]> {
  const pages = [from]
  for (let cursor = cursorOf(from); cursor !== null; ) {
    const page = await api.list({ ...query, cursor })
    pages.push(page)
    cursor = cursorOf(page)
  }
  return pages
}
const next = (page: Page) => page.meta.next_cursor
const previous = (page: Page) => page.meta.prev_cursor

describe("a listing", () => {
  test("of nothing is one empty page without cursors", async () => {
    const { api } = await memoryRoom()
    expect(await api.list()).toEqual({
      data: [],
      meta: { next_cursor: null, prev_cursor: null, has_more: false },
    })
  })

  test("has the newest first, also of the same moment, 20 unless asked otherwise", async () => {
    const { api, made } = await memoryRoom()
    await fill(api, 25)
    made.advance(1)
    await api.create({ content: "newest" })
    const page = await api.list()
    expect(contentsOf(page)).toEqual(["newest", ...[...Array(19).keys()].map((index) => String(24 - index))])
    expect(page.meta).toEqual({ next_cursor: expect.any(String), prev_cursor: null, has_more: true })
    expect((await api.list({ limit: "100" })).data).toHaveLength(26)
  })

  test.each([1, 2, 3, 6, 7, 8])("of seven in pages of %i goes to the end and back", async (limit) => {
    const { api, made } = await memoryRoom()
    await fill(api, 4)
    made.advance(5)
    await fill(api, 3)
    const all = contentsOf(await api.list())
    const query = { limit: String(limit) }
    const forward = await walk(api, await api.list(query), query, next)
    expect(forward.flatMap(contentsOf)).toEqual(all)
    expect(forward).toHaveLength(Math.ceil(7 / limit))
    for (const [index, { meta }] of forward.entries()) {
      expect(meta.prev_cursor === null).toBe(index === 0)
      expect(meta.next_cursor === null).toBe(index === forward.length - 1)
      expect(meta.has_more).toBe(meta.next_cursor !== null)
    }
    const backward = await walk(api, forward.at(-1) as Page, query, previous)
    expect(backward.map(contentsOf)).toEqual(forward.map(contentsOf).reverse())
    expect(backward.at(-1)?.meta.prev_cursor).toBeNull()
    const again = await walk(api, backward.at(-1) as Page, query, next)
    expect(again.map(contentsOf)).toEqual(forward.map(contentsOf))
  })

  test("may change the size of its pages on the way", async () => {
    const { api } = await memoryRoom()
    await fill(api, 6)
    const { meta } = await api.list({ limit: "2" })
    expect(contentsOf(await api.list({ limit: "3", cursor: String(meta.next_cursor) }))).toEqual([
      "3",
      "2",
      "1",
    ])
  })

  test("is narrowed by sector, by tag, and by both, page by page", async () => {
    const { api } = await memoryRoom()
    await fill(api, 12, (number) => ({
      sector: number % 2 === 0 ? "episodic" : "semantic",
      tags: number % 3 === 0 ? ["third", "t"] : ["t"],
    }))
    for (const [filter, expected] of [
      [{ sector: "episodic" }, [10, 8, 6, 4, 2, 0]],
      [{ tag: "third" }, [9, 6, 3, 0]],
      [{ sector: "episodic", tag: "third" }, [6, 0]],
      [{ sector: "emotional" }, []],
      [{ tag: "unknown" }, []],
      [{ sector: "reflective", tag: "t" }, []],
    ] as const) {
      const query = { ...filter, limit: "1" }
      const forward = await walk(api, await api.list(query), query, next)
      expect(forward.flatMap(contentsOf)).toEqual(expected.map(String))
      const backward = await walk(api, forward.at(-1) as Page, query, previous)
      expect(backward.flatMap(contentsOf)).toEqual(expected.map(String).reverse())
    }
  })
})

describe("a cursor", () => {
  test("counts only with the filters and the tenant it was made for", async () => {
    const room = await memoryRoom()
    const { api } = room
    const other = await secondTenant(room)
    for (const caller of [api, other]) await fill(caller, 3, () => ({ sector: "episodic", tags: ["a", "b"] }))
    const filters = [
      {},
      { sector: "episodic" },
      { sector: "semantic" },
      { tag: "a" },
      { tag: "b" },
      { sector: "episodic", tag: "a" },
    ]
    for (const filter of filters) {
      const cursor = (await api.list({ ...filter, limit: "1" })).meta.next_cursor
      if (cursor === null) continue
      expectError(await other.ask("GET", `?${new URLSearchParams({ ...filter, cursor })}`), 400, ["cursor"])
      for (const another of filters.filter((one) => one !== filter)) {
        const reply = await api.ask("GET", `?${new URLSearchParams({ ...another, cursor })}`)
        expectError(reply, 400, ["cursor"])
      }
      expect((await api.list({ ...filter, cursor })).data).toHaveLength(2)
    }
  })

  test("with any one character changed, added or left out is refused with 400", async () => {
    const { api } = await memoryRoom()
    await fill(api, 3)
    const first = await api.list({ limit: "1" })
    const second = await api.list({ limit: "1", cursor: String(first.meta.next_cursor) })
    const characters = ["A", "_", "=", "é"]
    for (const cursor of [String(first.meta.next_cursor), String(second.meta.prev_cursor)]) {
      const changed = new Set<string>()
      for (let index = 0; index <= cursor.length; index += 1) {
        const [before, after] = [cursor.slice(0, index), cursor.slice(index + 1)]
        changed.add(before + after)
        const code = cursor.charCodeAt(index)
        for (const character of [...characters, String.fromCharCode((code || 65) + 1)]) {
          changed.add(before + character + after)
          changed.add(before + character + cursor.slice(index))
        }
      }
      changed.delete(cursor)
      changed.delete("")
      expect(changed.size).toBeGreaterThan(7 * cursor.length)
      for (const text of changed) {
        const reply = await api.ask("GET", `?${new URLSearchParams({ cursor: text })}`)
        expect(reply.status, text).toBe(400)
        expectError(reply, 400, ["cursor"])
      }
    }
  })

  test("is good after the memories on both sides of it are gone", async () => {
    const { api } = await memoryRoom()
    await fill(api, 6)
    const all = (await api.list()).data
    const cursor = String((await api.list({ limit: "3" })).meta.next_cursor)
    for (const index of [2, 3]) await api.remove(String(all[index]?.id))
    expect(contentsOf(await api.list({ cursor }))).toEqual(["1", "0"])
  })

  test("to a page that has become empty leads back, past none", async () => {
    const { api } = await memoryRoom()
    await fill(api, 4)
    for (const [limit, expected] of [
      [2, ["3", "2"]],
      [1, ["3"]],
    ] as const) {
      const query = { limit: String(limit) }
      const cursor = String((await api.list(query)).meta.next_cursor)
      for (const { id } of (await api.list()).data.slice(limit)) await api.remove(id)
      const page = await api.list({ ...query, cursor })
      expect(page).toMatchObject({ data: [], meta: { next_cursor: null, has_more: false } })
      expect(page.meta.prev_cursor, "prev_cursor, for there are newer ones").not.toBeNull()
      const back = await api.list({ ...query, cursor: String(page.meta.prev_cursor) })
      expect(contentsOf(back)).toEqual(expected)
      expect(back.meta.prev_cursor).toBeNull()
    }
  })

  test("back to a page that has become empty leads on, past none", async () => {
    const { api } = await memoryRoom()
    await fill(api, 3)
    for (const [remaining, expected] of [
      [["1", "0"], "1"],
      [["0"], "0"],
    ] as const) {
      const first = await api.list({ limit: "1" })
      const second = await api.list({ limit: "1", cursor: String(first.meta.next_cursor) })
      await api.remove(String(first.data[0]?.id))
      expect(contentsOf(await api.list())).toEqual(remaining)
      const page = await api.list({ limit: "1", cursor: String(second.meta.prev_cursor) })
      expect(page).toMatchObject({ data: [], meta: { prev_cursor: null, has_more: true } })
      const on = await api.list({ limit: "1", cursor: String(page.meta.next_cursor) })
      expect(contentsOf(on)).toEqual([expected])
    }
  })

  test("to a page that has become empty ends where nothing is left", async () => {
    const { api } = await memoryRoom()
    await fill(api, 2)
    const cursor = String((await api.list({ limit: "1" })).meta.next_cursor)
    for (const { id } of (await api.list()).data) await api.remove(id)
    const nothing = { data: [], meta: { next_cursor: null, prev_cursor: null, has_more: false } }
    expect(await api.list({ limit: "1", cursor })).toEqual(nothing)
  })
})

test("a thousand pages, while others write and delete, repeat none and miss none of the old", async () => {
  const { api, made } = await memoryRoom()
  for (let batch = 0; batch < 50; batch += 1) {
    if (batch % 3 === 0) made.advance(1)
    await Promise.all([...Array(20).keys()].map((number) => api.create({ content: `${batch} ${number}` })))
  }
  const old = new Set<string>()
  const victims: string[] = []
  const everybody = await walk(api, await api.list({ limit: "100" }), { limit: "100" }, next)
  for (const [index, { id }] of everybody.flatMap(({ data }) => data).entries()) {
    if (index % 5 === 4) victims.push(id)
    else old.add(id)
  }
  expect([old.size, victims.length]).toEqual([800, 200])
  const seen: string[] = []
  let pages = 0
  for (let page = await api.list({ limit: "1" }); ; ) {
    pages += 1
    seen.push(...page.data.map(({ id }) => id))
    const cursor = page.meta.next_cursor
    if (cursor === null) break
    const victim = pages % 8 === 0 ? victims.pop() : undefined
    const [read] = await Promise.all([
      api.list({ limit: "1", cursor }),
      pages % 10 === 0 ? api.create({ content: `new ${pages}` }) : undefined,
      victim === undefined ? undefined : api.remove(victim),
    ])
    page = read
    if (pages % 100 === 0) made.advance(1)
  }
  expect(pages).toBeGreaterThan(850)
  expect(new Set(seen).size).toBe(seen.length)
  expect([...old].filter((id) => !seen.includes(id))).toEqual([])
}, 120_000)
