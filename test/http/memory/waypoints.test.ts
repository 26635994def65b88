/** Waypoints over HTTP: what a memory is connected with, from both ends, and only as long as it is so. */

import { describe, expect, test } from "vitest"
import {
  DAY_MS,
  expectError,
  type MemoryCaller,
  memoryRoom,
  secondTenant,
  whileNextWriteWaits,
} from "../../support/memories.ts"

const DEPLOYMENT = "The deployment script restarts the billing service after the database migration."
const ALSO_DEPLOYMENT =
  "After the database migration the billing service is restarted by the deployment script."
const CAKE = "Grandmother bakes an apple cake with cinnamon every Sunday afternoon."

async function weights(api: MemoryCaller, id: string): Promise<Map<string, number>> {
  const { data, meta } = await api.waypoints(id, "?min_weight=0&limit=100")
  expect(meta.total_waypoints).toBe(data.length)
  return new Map(data.map((waypoint) => [waypoint.connected_memory_id, waypoint.weight]))
}

/** Fails unless each connection is seen from its other end, with the same weight, and statistics count pairs. */
async function expectSymmetry(api: MemoryCaller): Promise<void> {
  const { data } = await api.list({ limit: "100" })
  const from = new Map<string, Map<string, number>>()
  for (const { id } of data) from.set(id, await weights(api, id))
  let ends = 0
  for (const [id, connected] of from) {
    for (const [otherId, weight] of connected) {
      expect(otherId).not.toBe(id)
      expect(weight).toBeGreaterThanOrEqual(0.5)
      expect(weight).toBeLessThanOrEqual(1)
      expect(from.get(otherId)?.get(id)).toBe(weight)
      ends += 1
    }
  }
  expect((await api.stats()).total_waypoints).toBe(ends / 2)
}

describe("waypoints", () => {
  test("connect the same content twice, from both ends, with a weight near 1", async () => {
    const { api, made } = await memoryRoom()
    const one = await api.create({ content: DEPLOYMENT, sector: "procedural" })
    const other = await api.create({ content: DEPLOYMENT, sector: "episodic" })
    made.advance(45 * DAY_MS)
    const { data, meta } = await api.waypoints(one.id)
    expect(data).toEqual([
      {
        connected_memory_id: other.id,
        weight: expect.any(Number),
        connected_memory: { id: other.id, content: DEPLOYMENT, sector: "episodic", salience: 0.5 },
      },
    ])
    expect(data[0]?.weight).toBeGreaterThan(0.95)
    expect(meta).toEqual({ total_waypoints: 1 })
    expect((await api.waypoints(other.id)).data).toMatchObject([
      { connected_memory_id: one.id, weight: data[0]?.weight },
    ])
  })

  test("connect what is clearly related at the default weight, and leave out what is not", async () => {
    const { api } = await memoryRoom()
    const one = await api.create({ content: DEPLOYMENT })
    const related = await api.create({ content: ALSO_DEPLOYMENT })
    const unrelated = await api.create({ content: CAKE })
    expect([...(await weights(api, one.id)).keys()]).toEqual([related.id])
    expect((await api.waypoints(one.id)).data).toHaveLength(1)
    expect((await weights(api, unrelated.id)).size).toBe(0)
    await expectSymmetry(api)
  })

  test("of one who has none are an empty list", async () => {
    const { api } = await memoryRoom()
    const { id } = await api.create({ content: CAKE })
    expect(await api.waypoints(id)).toEqual({ data: [], meta: { total_waypoints: 0 } })
  })

  test("come the strongest first; min_weight and limit cut, and the total is before the limit", async () => {
    const { api } = await memoryRoom()
    const { id } = await api.create({ content: DEPLOYMENT })
    for (const content of [
      DEPLOYMENT,
      ALSO_DEPLOYMENT,
      `${DEPLOYMENT} ${CAKE}`,
      "The billing service restarts.",
      "Database migration of the deployment.",
    ])
      await api.create({ content })
    const { data } = await api.waypoints(id, "?min_weight=0")
    expect(data.length).toBeGreaterThanOrEqual(3)
    const found = data.map(({ weight }) => weight)
    expect(found).toEqual([...found].sort((one, other) => other - one))
    for (let limit = 1; limit <= data.length; limit += 1)
      expect(await api.waypoints(id, `?min_weight=0&limit=${limit}`)).toEqual({
        data: data.slice(0, limit),
        meta: { total_waypoints: data.length },
      })
    for (const weight of [0.5, 0.75, 0.8, 0.9, 0.95, 1]) {
      const strong = data.filter((waypoint) => waypoint.weight >= weight)
      expect(await api.waypoints(id, `?min_weight=${weight}`)).toEqual({
        data: strong,
        meta: { total_waypoints: strong.length },
      })
    }
    expect(await api.waypoints(id)).toEqual(await api.waypoints(id, "?min_weight=0.75&limit=20"))
    await expectSymmetry(api)
  })

  test("are made to the eight nearest, and come from as many as chose it", async () => {
    const { api } = await memoryRoom()
    const ids: string[] = []
    for (let count = 0; count < 12; count += 1) ids.push((await api.create({ content: DEPLOYMENT })).id)
    const { id } = await api.create({ content: DEPLOYMENT })
    expect((await weights(api, id)).size).toBe(8)
    const sizes: number[] = []
    for (const one of ids) sizes.push((await weights(api, one)).size)
    expect(Math.max(...sizes)).toBeGreaterThan(8)
    await expectSymmetry(api)
  })

  test("are gone from the other end when a memory is deleted or pruned", async () => {
    const { api, made } = await memoryRoom()
    const { id } = await api.create({ content: DEPLOYMENT, sector: "reflective" })
    const deleted = await api.create({ content: DEPLOYMENT, sector: "reflective" })
    const pruned = await api.create({ content: DEPLOYMENT, sector: "episodic" })
    expect(new Set((await weights(api, id)).keys())).toEqual(new Set([deleted.id, pruned.id]))
    await api.remove(deleted.id)
    expect([...(await weights(api, id)).keys()]).toEqual([pruned.id])
    made.advance(90 * DAY_MS)
    await api.prune({ threshold: 0.3 })
    expect((await weights(api, id)).size).toBe(0)
    expect((await api.stats()).total_waypoints).toBe(0)
  })

  test("follow a change of content, and stay with any other change", async () => {
    const { api } = await memoryRoom()
    const deployment = await api.create({ content: DEPLOYMENT })
    const cake = await api.create({ content: CAKE })
    const { id } = await api.create({ content: DEPLOYMENT })
    expect([...(await weights(api, id)).keys()]).toEqual([deployment.id])
    await api.change(id, { tags: ["t"], source: "s", metadata: { a: 1 }, content: DEPLOYMENT })
    expect([...(await weights(api, id)).keys()]).toEqual([deployment.id])
    await api.change(id, { content: CAKE })
    expect([...(await weights(api, id)).keys()]).toEqual([cake.id])
    expect((await weights(api, deployment.id)).size).toBe(0)
    expect([...(await weights(api, cake.id)).keys()]).toEqual([id])
    expect((await api.waypoints(cake.id)).data[0]?.connected_memory.content).toBe(CAKE)
    await expectSymmetry(api)
  })

  test("never lead to another tenant", async () => {
    const room = await memoryRoom()
    const other = await secondTenant(room)
    const mine = await room.api.create({ content: DEPLOYMENT })
    const theirs = await other.create({ content: DEPLOYMENT })
    await other.change(theirs.id, { content: CAKE })
    await other.change(theirs.id, { content: DEPLOYMENT })
    expect((await weights(room.api, mine.id)).size).toBe(0)
    expect((await weights(other, theirs.id)).size).toBe(0)
  })

  test("of a long content are those of its best part", async () => {
    const { api } = await memoryRoom()
    const { id } = await api.create({
      content: `${`${CAKE} `.repeat(120)}\n\n${`${DEPLOYMENT} `.repeat(120)}`,
    })
    const cake = await api.create({ content: CAKE })
    const deployment = await api.create({ content: DEPLOYMENT })
    const found = await weights(api, id)
    expect(found.get(cake.id)).toBeGreaterThan(0.75)
    expect(found.get(deployment.id)).toBeGreaterThan(0.75)
  })
})

describe("at the same moment", () => {
  test("memories of the same content find each other", async () => {
    const { api } = await memoryRoom()
    await api.create({ content: CAKE })
    const created = await Promise.all([...Array(6)].map(() => api.create({ content: DEPLOYMENT })))
    for (const { id } of created) expect((await weights(api, id)).size).toBe(5)
    await expectSymmetry(api)
  })

  test("memories that come to the same content by a change find each other", async () => {
    const { api } = await memoryRoom()
    const ids: string[] = []
    for (let count = 0; count < 6; count += 1)
      ids.push((await api.create({ content: `${CAKE} ${"Sunday ".repeat(count)}` })).id)
    await Promise.all(ids.map((id) => api.change(id, { content: DEPLOYMENT })))
    for (const id of ids) expect((await weights(api, id)).size).toBe(5)
    await expectSymmetry(api)
  })

  test("changes and deletions leave no connection that is wrong", async () => {
    const { api } = await memoryRoom()
    const ids: string[] = []
    for (let count = 0; count < 9; count += 1) ids.push((await api.create({ content: DEPLOYMENT })).id)
    await Promise.all(
      ids.map(async (id, index) => {
        if (index % 3 === 0) await api.change(id, { content: CAKE })
        if (index % 3 === 1) await api.remove(id)
      }),
    )
    const { data } = await api.list()
    expect(data).toHaveLength(6)
    for (const { id, content } of data) {
      const { data: connected } = await api.waypoints(id, "?min_weight=0")
      expect(connected.map((one) => one.connected_memory.content)).toEqual([content, content])
    }
    await expectSymmetry(api)
  })
})

describe("while a writing waits for its turn", () => {
  test("a memory that comes is connected with it", async () => {
    const room = await memoryRoom()
    const { api } = room
    let meanwhile = ""
    whileNextWriteWaits(room, async () => {
      meanwhile = (await api.create({ content: DEPLOYMENT })).id
    })
    const { id } = await api.create({ content: DEPLOYMENT })
    expect([...(await weights(api, id)).keys()]).toEqual([meanwhile])
    await expectSymmetry(api)
  })

  test.each(["create", "change"])(
    "a memory that others are nearer to, and whose content becomes the same, is connected: %s",
    async (way) => {
      const room = await memoryRoom()
      const { api } = room
      const cake = await api.create({ content: CAKE })
      const other = await api.create({ content: `${CAKE} And a pear cake on Monday.` })
      for (let number = 0; number < 12; number += 1)
        await api.create({ content: `Billing service, script ${number}` })
      whileNextWriteWaits(room, () => api.change(cake.id, { content: DEPLOYMENT }))
      const { id } =
        way === "create"
          ? await api.create({ content: DEPLOYMENT })
          : await api.change(other.id, { content: DEPLOYMENT })
      expect((await weights(api, id)).get(cake.id)).toBeGreaterThan(0.95)
      await expectSymmetry(api)
    },
  )

  test("a memory whose content changes to something else is not connected any more", async () => {
    const room = await memoryRoom()
    const { api } = room
    const { id: otherId } = await api.create({ content: DEPLOYMENT })
    whileNextWriteWaits(room, () => api.change(otherId, { content: CAKE }))
    const { id } = await api.create({ content: DEPLOYMENT })
    expect((await weights(api, id)).size).toBe(0)
    await expectSymmetry(api)
  })

  test("a memory that goes leaves nothing, be it the neighbour or the one that is written", async () => {
    const room = await memoryRoom()
    const { api } = room
    const { id: otherId } = await api.create({ content: DEPLOYMENT })
    whileNextWriteWaits(room, () => api.remove(otherId))
    const { id } = await api.create({ content: DEPLOYMENT })
    expect((await weights(api, id)).size).toBe(0)
    whileNextWriteWaits(room, () => api.remove(id))
    expectError(await api.ask("PATCH", `/${id}`, { content: CAKE }), 404)
    expect((await api.stats()).total_memories).toBe(0)
  })
})
