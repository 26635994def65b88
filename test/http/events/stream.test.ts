import { beforeEach, describe, expect, test, vi } from "vitest"
import { EVENT_STREAMS_MAX, EVENT_WRITE_BYTES_MAX } from "../../../src/config/event-limits.ts"
import { eventRoutes } from "../../../src/http/events/events.ts"
import { countEventStreams, openEventStream, type StreamTimes } from "../../../src/http/events/stream.ts"
import { revokeKeyById } from "../../../src/operations/keys.ts"
import { newestEventId, recordEvent } from "../../../src/store/events.ts"
import { EventStreamReader } from "../../support/event-stream.ts"
import { type HttpEntry, serveHttp } from "../../support/http.ts"
import { type Session, world } from "../../support/world.ts"

const PATH = "/api/v1/events"
const KIB = 1_024
/** Sees everything, for ever. */
const ANYBODY = { sees: () => true, refusal: async () => null }

let session: Session

beforeEach(async () => {
  session = await world().session()
})

/** Records events, each with so many bytes of data. */
function record(count: number, bytes = 1): Promise<number> {
  const { app } = session
  return app.db.transaction("keys", async (tx) => {
    const data = { name: "x".repeat(bytes) }
    for (let index = 0; index < count; index += 1)
      await recordEvent(tx, { kind: "key.created", data }, app.now())
    return newestEventId(tx)
  })
}

function served(times: StreamTimes): Promise<HttpEntry> {
  return serveHttp(session, { routes: eventRoutes(times) })
}

const allAfter = (first: number, last: number) =>
  Array.from({ length: last - first }, (_, index) => first + 1 + index)

describe("a reader that does not read", () => {
  test("is told where to resume and cut off, and misses nothing when it does", {
    timeout: 60_000,
  }, async () => {
    const http = await served({ stallMs: 300 })
    const start = await newestEventId(session.app.db)
    const reader = await new EventStreamReader().open(http.port, `${PATH}?after=${start}`, http.localKey)
    reader.pause()
    const last = await record(1_500, 20 * KIB)
    await vi.waitFor(() => expect(countEventStreams(session.app)).toBe(0), { timeout: 20_000 })
    reader.resume()
    await reader.ended()
    const cut = reader.events.pop()
    const reached = reader.events.at(-1)?.id ?? start
    expect(cut).toEqual({ id: reached, event: "cut", data: { reason: "too slow", resume_after: reached } })
    expect(reached).toBeLessThan(last)
    const patient = await served({})
    await reader.open(patient.port, PATH, http.localKey)
    await reader.until((events) => events.at(-1)?.id === last)
    expect(reader.events.map(({ id }) => id)).toEqual(allAfter(start, last))
    reader.close()
  })

  test("has little written for it, whatever happens", async () => {
    const { app } = session
    const start = await newestEventId(app.db)
    const body = openEventStream(app, ANYBODY, { after: start, reset: undefined }, { stallMs: 50 })
    const last = await record(2_000, 2 * KIB)
    await vi.waitFor(() => expect(countEventStreams(app)).toBe(0), { timeout: 10_000 })
    const text = await new Response(body).text()
    expect(text.length).toBeLessThan(2 * EVENT_WRITE_BYTES_MAX)
    expect(text).toMatch(/event: cut\ndata: \{"reason":"too slow","resume_after":\d+\}\n\n$/)
    expect(Number(/"resume_after":(\d+)/.exec(text)?.[1])).toBeLessThan(last)
  })

  test("is left alone as long as nothing happens that it would have to read", async () => {
    const { app } = session
    const start = await newestEventId(app.db)
    const body = openEventStream(app, ANYBODY, { after: start, reset: undefined }, { stallMs: 20 })
    const reader = body.getReader()
    const first = await reader.read()
    expect(new TextDecoder().decode(first.value)).toBe(`retry: 1000\nid: ${start}\n\n`)
    const next = reader.read()
    await new Promise((resolve) => setTimeout(resolve, 80))
    const id = await record(1)
    expect(new TextDecoder().decode((await next).value)).toMatch(
      new RegExp(`^id: ${id}\nevent: key.created\n`),
    )
    await reader.cancel()
  })
})

test("a reader is told how far it is while nothing comes that it may see", async () => {
  const http = await served({ heartbeatMs: 30 })
  const reader = await new EventStreamReader().open(http.port, `${PATH}?kinds=message.*`, http.localKey)
  const last = await record(3)
  await vi.waitFor(() => expect(reader.lastEventId).toBe(last), { timeout: 10_000 })
  expect(reader.events).toEqual([])
  reader.close()
})

test("a stream ends with its key, saying so", async () => {
  const http = await served({ keyCheckMs: 20 })
  const key = await http.key()
  const reader = await new EventStreamReader().open(http.port, PATH, key.text)
  await revokeKeyById(session.app, key.id)
  await reader.ended()
  const last = await newestEventId(session.app.db)
  const cut = reader.events.at(-1)
  expect(cut).toMatchObject({ event: "cut", data: { reason: "the key was revoked" } })
  expect(cut?.id).toBeLessThanOrEqual(last)
})

test("a connection that is lost frees its stream", async () => {
  const http = await served({})
  const reader = await new EventStreamReader().open(http.port, PATH, http.localKey)
  expect(countEventStreams(session.app)).toBe(1)
  reader.close()
  await vi.waitFor(() => expect(countEventStreams(session.app)).toBe(0), { timeout: 10_000 })
})

test(`of ${EVENT_STREAMS_MAX} streams one more is refused, with the time to come back`, async () => {
  const { app } = session
  const http = await served({})
  const open = () => openEventStream(app, ANYBODY, { after: 0, reset: undefined })
  const streams = Array.from({ length: EVENT_STREAMS_MAX }, open)
  const reply = await http.send(PATH, { headers: { accept: "text/event-stream" } })
  expect(reply.status).toBe(503)
  expect(reply.headers["retry-after"]).toBe("10")
  expect((await http.send(PATH)).status).toBe(200)
  await streams[0]?.cancel()
  const reader = await new EventStreamReader().open(http.port, PATH, http.localKey)
  expect(reader.status).toBe(200)
  reader.close()
  for (const stream of streams.slice(1)) await stream.cancel()
})

test("the database is read as often for many readers as for one", async () => {
  const { app } = session
  const start = await newestEventId(app.db)
  const all = vi.spyOn(app.db, "all")
  const reads = async (readers: number): Promise<number> => {
    const streams = Array.from({ length: readers }, () =>
      openEventStream(app, ANYBODY, { after: start, reset: undefined }).getReader(),
    )
    for (const stream of streams) await stream.read()
    const before = all.mock.calls.length
    const next = streams.map((stream) => stream.read())
    await record(3)
    await Promise.all(next)
    const made = all.mock.calls.length - before
    for (const stream of streams) await stream.cancel()
    return made
  }
  const one = await reads(1)
  expect(await reads(12)).toBeLessThanOrEqual(one + 4)
})
