import { beforeEach, describe, expect, test, vi } from "vitest"
import type { EventKind } from "../../../src/domain/events/kinds.ts"
import { servedHttp } from "../../../src/serve.ts"
import { type NewEvent, newestEventId, recordEvent, removeEventsUpTo } from "../../../src/store/events.ts"
import { EventStreamReader } from "../../support/event-stream.ts"
import { expectCommonHeaders, type HttpEntry, serveHttp } from "../../support/http.ts"
import { type Session, type TestAgent, world } from "../../support/world.ts"

const PATH = "/api/v1/events"

interface Page {
  events: { id: number; kind: string; data: Record<string, unknown> }[]
  next_after: number
  has_more: boolean
  reset?: { reason: string; resume_after: number }
}

let session: Session
let agent: TestAgent
let http: HttpEntry
/** The id of the newest event before the test. */
let start: number

beforeEach(async () => {
  session = await world().session()
  agent = await session.register("BlueLake")
  http = await serveHttp(session, { makeHttp: (url) => servedHttp(session.app).makeHttp({ url }) })
  await http.send(PATH)
  start = await newestEventId(session.app.db)
})

/** Records events of the agent's project. */
async function record(...events: (Partial<NewEvent> & { kind: EventKind })[]): Promise<number> {
  const { app } = session
  return app.db.transaction("keys", async (tx) => {
    for (const event of events)
      await recordEvent(tx, { projectId: agent.projectId, agentId: agent.id, data: {}, ...event }, app.now())
    return newestEventId(tx)
  })
}

async function page(
  query = "",
  options: { key?: string; headers?: Record<string, string> } = {},
): Promise<Page> {
  const reply = await http.send(`${PATH}?${query}`, options)
  expect(reply.status, reply.text).toBe(200)
  return reply.json as Page
}

const idsOf = ({ events }: { events: readonly { id: number }[] }) => events.map(({ id }) => id)

async function opened(query = ""): Promise<EventStreamReader> {
  return new EventStreamReader().open(http.port, `${PATH}?${query}`, http.localKey)
}

describe("as JSON", () => {
  test("an event tells its time, and its ids with their names", async () => {
    const subject = { subject: "Lunch", to: ["RedFox"] }
    const id = await record({ kind: "message.sent", data: subject, repositoryId: agent.repositoryId })
    const reply = await http.send(`${PATH}?after=${start}`)
    expectCommonHeaders(reply)
    expect(reply.json).toEqual({
      events: [
        {
          id,
          kind: "message.sent",
          time: new Date(session.app.now()).toISOString(),
          project: { id: agent.projectId, key: expect.any(String) },
          repository: { id: agent.repositoryId, name: expect.any(String) },
          actor: { agent_id: agent.id, name: agent.name },
          data: subject,
        },
      ],
      next_after: id,
      has_more: false,
    })
  })

  test("without an id it gives the latest, and the id to go on after", async () => {
    const last = await record(
      { kind: "message.sent" },
      { kind: "message.read" },
      { kind: "message.acknowledged" },
    )
    const latest = await page("limit=2")
    expect(idsOf(latest)).toEqual([last - 1, last])
    expect(latest).toMatchObject({ next_after: last, has_more: false })
    expect(await page(`after=${last}`)).toEqual({ events: [], next_after: last, has_more: false })
  })

  test("a page says whether there is more, and the pages are all of it", async () => {
    const last = await record(...Array.from({ length: 7 }, () => ({ kind: "message.sent" as const })))
    const seen: number[] = []
    let after = start
    for (let hasMore = true; hasMore; ) {
      const next = await page(`after=${after}&limit=3`)
      seen.push(...idsOf(next))
      after = next.next_after
      hasMore = next.has_more
    }
    expect(seen).toEqual(Array.from({ length: 7 }, (_, index) => last - 6 + index))
    expect((await page(`after=${start}&limit=7`)).has_more).toBe(false)
  })

  test("what is filtered out is passed by, so that nobody looks at it twice", async () => {
    const last = await record({ kind: "message.sent" }, { kind: "memory.created" }, { kind: "message.read" })
    expect(await page(`after=${start}&kinds=memory.*`)).toMatchObject({ next_after: last, has_more: false })
    expect((await page(`after=${start}&kinds=memory.*`)).events.map(({ kind }) => kind)).toEqual([
      "memory.created",
    ])
    expect(idsOf(await page(`after=${start}&kinds=message.sent,message.read`))).toEqual([last - 2, last])
  })

  test("an id that was pruned, or never was, is answered by a reset", async () => {
    const last = await record({ kind: "message.sent" }, { kind: "message.read" })
    const { db } = session.app
    await db.run("UPDATE event_horizon SET told_after = ?", [last - 1])
    expect(await page(`after=${last - 2}`)).toMatchObject({
      reset: { reason: "pruned", resume_after: last - 1 },
      events: [{ id: last }],
    })
    expect((await page(`after=${last - 1}`)).reset).toBeUndefined()
    expect((await page(`after=${last}`)).reset).toBeUndefined()
    expect(await page(`after=${last + 1}`)).toMatchObject({
      reset: { reason: "unknown", resume_after: last },
      events: [],
      next_after: last,
    })
  })

  test("what is pruned while a page is read is a reset, not a gap", async () => {
    const last = await record({ kind: "message.sent" }, { kind: "message.read" }, { kind: "message.sent" })
    const { db } = session.app
    const all = db.all.bind(db)
    const listing = vi.spyOn(db, "all").mockImplementation(async (sql, args) => {
      if (!sql.includes("FROM events e")) return all(sql, args)
      listing.mockRestore()
      await db.transaction("events", (tx) => removeEventsUpTo(tx, last - 1))
      return all(sql, args)
    })
    expect(await page(`after=${start}`)).toMatchObject({
      reset: { reason: "pruned", resume_after: last - 1 },
      events: [{ id: last }],
      next_after: last,
    })
  })

  test("what is given empty is not given", async () => {
    const last = await record({ kind: "message.sent" })
    const empty = "kinds=&project=&repository=&agent=&after=&limit="
    expect(idsOf(await page(empty, { headers: { "Last-Event-ID": "" } })).at(-1)).toBe(last)
  })

  test.each(["x", "1.5", "-1", "1".repeat(16)])("Last-Event-ID %s is refused", async (id) => {
    const reply = await http.send(PATH, { headers: { "Last-Event-ID": id } })
    expect(reply.status, reply.text).toBe(400)
    expect(reply.text).toMatch(/last-event-id.*id of an event/i)
  })

  test.each([
    ["kinds=message.gone", 400, /unknown kind.*message\.sent/],
    ["kinds=message", 400, /unknown kind/],
    ["limit=0", 400, /limit/],
    ["limit=1001", 400, /limit/],
    ["after=-1", 400, /event/],
    ["project=/nowhere", 404, /not found/],
    ["repository=nowhere", 404, /not found/],
    ["agent=999", 404, /agent 999/],
    ["who=me", 400, /who/],
  ])("%s is refused with %d", async (query, status, text) => {
    const reply = await http.send(`${PATH}?${query}`)
    expect(reply.status, reply.text).toBe(status)
    expect(reply.text).toMatch(text)
  })

  test("filters take what its id and its name stand for", async () => {
    const other = await session.register("RedFox", { project_key: "another-project" })
    const since = await newestEventId(session.app.db)
    const [own, others, inRepository] = [
      await record({ kind: "message.sent" }),
      await record({ kind: "message.sent", projectId: other.projectId, agentId: other.id }),
      await record({ kind: "reservation.granted", repositoryId: agent.repositoryId }),
    ]
    const asked = async (query: string) => idsOf(await page(`after=${since}&${query}`))
    expect(await asked("project=another-project")).toEqual([others])
    expect(await asked(`project=${agent.projectId}`)).toEqual([own, inRepository])
    expect(await asked(`repository=${agent.repositoryId}`)).toEqual([inRepository])
  })
})

describe("what concerns an agent", () => {
  test("is given to its own session: what it did, what it is named in, its contacts", async () => {
    const key = await http.key({ scopes: ["*"] })
    const own = await session.register("RedFox")
    await session.app.db.run("UPDATE agents SET session = ? WHERE id = ?", [`http:${key.id}`, own.id])
    const since = await newestEventId(session.app.db)
    const last = await record(
      { kind: "message.sent", data: { to: ["Nobody"] } },
      { kind: "message.sent", data: { to: ["RedFox"] } },
      { kind: "message.sent", data: { cc: ["RedFox"] } },
      { kind: "message.read", agentId: own.id },
      { kind: "contact.requested", partyId: own.id },
      { kind: "contact.blocked", partyId: own.id },
    )
    const given = await page(`after=${since}&agent=${own.id}`, { key: key.text })
    expect(idsOf(given)).toEqual([last - 4, last - 3, last - 2, last - 1])
    expect((await page(`after=${since}&kinds=contact.*`, { key: key.text })).events).toEqual([])
  })

  test("is given to others without what is between two agents", async () => {
    const since = await newestEventId(session.app.db)
    const last = await record(
      { kind: "message.sent", data: {} },
      { kind: "contact.requested", partyId: agent.id },
      { kind: "contact.blocked" },
      { kind: "message.read" },
    )
    expect(idsOf(await page(`after=${since}&agent=${agent.id}`))).toEqual([last - 3, last])
  })
})

describe("as a stream", () => {
  test("tells what comes from its opening on, under headers that no proxy keeps back", async () => {
    const reader = await opened()
    expect(reader.headers).toMatchObject({
      "content-type": "text/event-stream; charset=utf-8",
      "cache-control": "no-store, no-transform",
      "x-accel-buffering": "no",
      "x-ratelimit-limit": expect.any(String),
    })
    const id = await record({ kind: "message.sent", data: { subject: "Line\nbreak" } })
    await reader.until((events) => events.length > 0)
    expect(reader.events).toEqual([
      { id, event: "message.sent", data: expect.objectContaining({ id, data: { subject: "Line\nbreak" } }) },
    ])
    reader.close()
  })

  test("goes on after the id that a reader comes back with, which wins over the one in its address", async () => {
    const last = await record(
      { kind: "message.sent" },
      { kind: "message.read" },
      { kind: "message.acknowledged" },
    )
    const reader = new EventStreamReader()
    reader.lastEventId = last - 2
    await reader.open(http.port, `${PATH}?after=${last}`, http.localKey)
    await reader.until((events) => events.length === 2)
    expect(idsOf(reader)).toEqual([last - 1, last])
    reader.close()
  })

  test("a reader far behind gets everything once and in order", async () => {
    const many = Array.from({ length: 2_500 }, () => ({ kind: "message.sent" as const }))
    const fresh = await opened(`after=${start}`)
    const last = await record(...many)
    const late = await opened(`after=${start}`)
    const all = Array.from(many, (_, index) => last - many.length + 1 + index)
    for (const reader of [fresh, late]) {
      await reader.until((events) => events.length >= many.length)
      expect(idsOf(reader)).toEqual(all)
      reader.close()
    }
  })

  test("begins with a reset where an id leads nowhere", async () => {
    const reader = await opened(`after=${start + 100}`)
    await reader.until((events) => events.length > 0)
    expect(reader.events[0]).toEqual({
      id: start,
      event: "reset",
      data: { reason: "unknown", resume_after: start },
    })
    const id = await record({ kind: "message.sent" })
    await reader.until((events) => events.length > 1)
    expect(reader.events[1]?.id).toBe(id)
    reader.close()
  })

  test("ends at once when the listener closes", async () => {
    const reader = await opened()
    await http.server.close()
    await reader.ended()
    // Connections that go on for a second more are broken off.
    expect(reader.isWhole).toBe(true)
    expect(reader.events).toEqual([])
  })

  test("of a head there is only the head", async () => {
    const reply = await http.send(PATH, { method: "HEAD", headers: { accept: "text/event-stream" } })
    expect(reply).toMatchObject({ status: 200, text: "" })
    expect(reply.headers["content-type"]).toMatch(/^text\/event-stream/)
  })
})
