/** Events on their way to receivers: in order, at least once, again after failures, and no further than was asked for. */

import { Webhook as Verifier } from "standardwebhooks"
import { describe, expect, onTestFinished, test } from "vitest"
import { WEBHOOK_PAUSES_SECONDS } from "../../../src/config/webhook-limits.ts"
import { type Delivery, startWebhookDelivery } from "../../../src/operations/webhooks/delivery.ts"
import type { SendOptions } from "../../../src/operations/webhooks/sending.ts"
import { secretOf } from "../../../src/operations/webhooks/signing.ts"
import type { NewEvent } from "../../../src/store/events.ts"
import { recordEvent } from "../../../src/store/events.ts"
import {
  findWebhook,
  insertWebhook,
  type NewWebhook,
  pauseWebhook,
  removeWebhook,
  resumeWebhook,
} from "../../../src/store/webhooks.ts"
import { type Receiver, receiver } from "../../support/receiver.ts"
import { type Session, type World, world } from "../../support/world.ts"

const SECRET = secretOf(new Uint8Array(32).fill(7))

interface Room {
  made: World
  session: Session
  to: Receiver
  delivery: Delivery
  hook: number
}

async function add({ session, to, made }: Omit<Room, "delivery" | "hook">, given: Partial<NewWebhook> = {}) {
  const webhook = await session.app.db.transaction("webhooks", (tx) =>
    insertWebhook(
      tx,
      {
        name: "test",
        url: to.url,
        secret: SECRET,
        kinds: [],
        format: "json",
        includesContent: false,
        allowsPrivate: true,
        cursor: 0,
        ...given,
      },
      made.nowMs,
    ),
  )
  return webhook.id
}

function deliver({ session }: Pick<Room, "session">, options: SendOptions = {}): Delivery {
  const delivery = startWebhookDelivery({ ...session.app, random: () => 0.5 }, options)
  onTestFinished(() => delivery.close())
  return delivery
}

async function room(given: Partial<NewWebhook> = {}, options: SendOptions = {}): Promise<Room> {
  const made = world()
  made.nowMs = Date.now()
  const session = await made.session()
  const to = await receiver()
  const hook = await add({ made, session, to }, given)
  return { made, session, to, hook, delivery: deliver({ session }, options) }
}

async function record({ session, made }: Pick<Room, "session" | "made">, ...events: NewEvent[]) {
  await session.app.db.transaction("keys", async (tx) => {
    for (const event of events) await recordEvent(tx, event, made.nowMs)
  })
}

const key = (name: string): NewEvent => ({ kind: "key.created", actor: "ada", subjectId: 1, data: { name } })
const names = ({ received }: Receiver) => received.map(({ json }) => json.data.name)
const state = async ({ session, hook }: Pick<Room, "session" | "hook">) => findWebhook(session.app.db, hook)

describe("an event", () => {
  test("arrives signed as Standard Webhooks says, in the form that it has everywhere", async () => {
    const in_ = await room()
    await record(in_, key("ci"))
    await in_.delivery.settle()
    const [first] = in_.to.received
    expect(new Verifier(SECRET).verify(first?.body ?? "", first?.headers ?? {})).toEqual({
      type: "key.created",
      timestamp: new Date(in_.made.nowMs).toISOString(),
      id: 1,
      kind: "key.created",
      time: new Date(in_.made.nowMs).toISOString(),
      project: null,
      repository: null,
      actor: { name: "ada" },
      data: { name: "ci" },
    })
    const tampered = first?.body.replace("ci", "cd") ?? ""
    expect(() => new Verifier(SECRET).verify(tampered, first?.headers ?? {})).toThrow("No matching signature")
    expect(first?.headers["content-type"]).toBe("application/json")
  })

  test("arrives after those before it, and soon after its commit by whatever connection", async () => {
    const in_ = await room()
    const other = await in_.made.session()
    await record({ ...in_, session: other }, key("1"), key("2"), key("3"))
    await in_.to.until(3)
    expect(names(in_.to)).toEqual(["1", "2", "3"])
    const ids = in_.to.received.map(({ headers }) => headers["webhook-id"])
    expect(new Set(ids).size).toBe(3)
  })

  test("that concerns two agents alone reaches no webhook, whatever it asks for", async () => {
    const in_ = await room({ kinds: ["contact.*", "key.*"] })
    const hidden = ["contact.requested", "contact.answered", "contact.blocked"] as const
    await record(in_, ...hidden.map((kind): NewEvent => ({ kind, data: {} })), key("last"))
    await in_.delivery.settle()
    expect(in_.to.received.map(({ json }) => json.type)).toEqual(["key.created"])
  })

  test("of a kind that was not asked for is passed over, which is noted a minute later or at the end", async () => {
    const in_ = await room({ kinds: ["memory.*", "documentation.indexed"] })
    await record(in_, key("x"), { kind: "documentation.updated", data: {} })
    await in_.delivery.settle()
    expect(await state(in_)).toMatchObject({ cursor: 0 })
    in_.made.advance(60_000)
    await in_.delivery.settle()
    expect(await state(in_)).toMatchObject({ cursor: 2 })
    await record(in_, key("y"))
    await in_.delivery.settle()
    await in_.delivery.close()
    expect(await state(in_)).toMatchObject({ cursor: 3 })
    expect(in_.to.received).toEqual([])
  })
})

describe("a receiver that fails", () => {
  test("is tried again with growing pauses for a day, gets the same letter each time and the next ones after it", async () => {
    const in_ = await room()
    in_.to.answer = (response) => response.writeHead(500).end()
    await record(in_, key("1"), key("2"))
    const start = in_.made.nowMs
    for (const seconds of WEBHOOK_PAUSES_SECONDS) {
      await in_.delivery.settle()
      const tries = in_.to.received.length
      in_.made.advance(seconds * 1_000 - 1)
      await in_.delivery.settle()
      expect(in_.to.received).toHaveLength(tries)
      in_.made.advance(1)
    }
    expect(in_.made.nowMs - start).toBeGreaterThan(23 * 3_600_000)
    expect(await state(in_)).toMatchObject({ isPaused: false, lastError: "it answered 500" })
    await in_.delivery.settle()
    expect(new Set(names(in_.to))).toEqual(new Set(["1"]))
    expect(new Set(in_.to.received.map(({ headers }) => headers["webhook-id"])).size).toBe(1)
    expect(in_.to.received).toHaveLength(WEBHOOK_PAUSES_SECONDS.length + 1)
    expect(await state(in_)).toMatchObject({
      isPaused: true,
      pauseReason: "its deliveries failed for a day",
      cursor: 0,
    })
  })

  test("and recovers gets all of it, once and in order", async () => {
    const in_ = await room()
    in_.to.answer = (response) => response.writeHead(503).end()
    await record(in_, key("1"), key("2"))
    await in_.delivery.settle()
    expect(await state(in_)).toMatchObject({ failures: 1, lastError: "it answered 503" })
    in_.to.answer = (response) => response.writeHead(200).end()
    in_.made.advance(5_000)
    await in_.delivery.settle()
    expect(names(in_.to)).toEqual(["1", "1", "2"])
    expect(await state(in_)).toMatchObject({
      failures: 0,
      lastError: null,
      cursor: 2,
      lastDeliveredAtMs: in_.made.nowMs,
    })
  })

  test.each([
    ["1", 5],
    ["60", 60],
    ["3600", 3_600],
    ["3601", 3_600],
    ["-1", 5],
    ["Wed, 21 Oct 2026 07:28:00 GMT", 5],
  ])("may ask for a longer pause, up to an hour: %s", async (asked, seconds) => {
    const in_ = await room()
    in_.to.answer = (response) => response.writeHead(429, { "retry-after": asked }).end()
    await record(in_, key("1"))
    await in_.delivery.settle()
    expect((await state(in_))?.nextAttemptAtMs).toBe(in_.made.nowMs + seconds * 1_000)
  })

  test("hangs, redirects or is refused is told so, and keeps no other one waiting", async () => {
    const in_ = await room({}, { answerMsMax: 100 })
    const good = await receiver()
    await add({ ...in_, to: good })
    const trap = await receiver()
    const moved = await receiver()
    moved.answer = (response) => response.writeHead(302, { location: trap.url }).end()
    const movedId = await add({ ...in_, to: moved })
    const barredId = await add(in_, { allowsPrivate: false, url: in_.to.url.replace("http:", "https:") })
    in_.to.answer = () => {}
    await record(in_, key("1"), key("2"))
    await good.until(2)
    await in_.delivery.settle()
    expect(await state(in_)).toMatchObject({ lastError: "no answer within 0.1 s", failures: 1 })
    expect(await state({ ...in_, hook: movedId })).toMatchObject({
      lastError: "it answered 302, and redirects are not followed",
    })
    expect(await state({ ...in_, hook: barredId })).toMatchObject({
      lastError: "its name leads to a private address, which was not allowed for it",
    })
    expect(trap.received).toEqual([])
    expect(names(in_.to)).toEqual(["1"])
  })

  test("and says that it is gone is paused at once", async () => {
    const in_ = await room()
    in_.to.answer = (response) => response.writeHead(410).end()
    await record(in_, key("1"))
    await in_.delivery.settle()
    expect(await state(in_)).toMatchObject({
      isPaused: true,
      pauseReason: "its receiver says that it is gone (410)",
    })
    in_.made.advance(86_400_000)
    await record(in_, key("2"))
    await in_.delivery.settle()
    expect(names(in_.to)).toEqual(["1"])
  })
})

describe("a webhook", () => {
  test("that is paused gets nothing, and after that all that happened meanwhile, or only what comes", async () => {
    const in_ = await room()
    const { db } = in_.session.app
    const skipping = await receiver()
    const other = await add({ ...in_, to: skipping })
    for (const id of [in_.hook, other]) await db.transaction("webhooks", (tx) => pauseWebhook(tx, id))
    await record(in_, key("1"))
    await in_.delivery.settle()
    expect(in_.to.received).toEqual([])
    await db.transaction("webhooks", async (tx) => {
      await resumeWebhook(tx, in_.hook, 0)
      await resumeWebhook(tx, other, 1)
    })
    await record(in_, key("2"))
    await in_.delivery.settle()
    expect([names(in_.to), names(skipping)]).toEqual([["1", "2"], ["2"]])
  })

  test("that is resumed while its last try is under way has all tries before it again", async () => {
    const in_ = await room()
    const { db } = in_.session.app
    in_.to.answer = (response) => response.writeHead(500).end()
    await record(in_, key("1"))
    for (const seconds of WEBHOOK_PAUSES_SECONDS) {
      await in_.delivery.settle()
      in_.made.advance(seconds * 1_000)
    }
    in_.to.answer = async (response) => {
      await db.transaction("webhooks", (tx) => resumeWebhook(tx, in_.hook, 0))
      in_.to.answer = (next) => next.writeHead(204).end()
      response.writeHead(500).end()
    }
    await in_.delivery.settle()
    expect(await state(in_)).toMatchObject({ isPaused: false, failures: 0, cursor: 1 })
  })

  test("that is removed while a letter is on its way is not brought back by the answer", async () => {
    const in_ = await room()
    const { db } = in_.session.app
    in_.to.answer = async (response) => {
      await db.transaction("webhooks", (tx) => removeWebhook(tx, in_.hook))
      in_.made.advance(1)
      expect(await add(in_, { cursor: 5 })).toBe(in_.hook)
      await record(in_, key("2"))
      response.writeHead(200).end()
      in_.to.answer = (next) => next.writeHead(204).end()
    }
    await record(in_, key("1"))
    await in_.delivery.settle()
    expect(await state(in_)).toMatchObject({ cursor: 2 })
    expect(in_.to.received.map(({ json }) => json.type)).toEqual(["key.created", "events.reset"])
  })

  test("goes on where it was under the next listener, which sends what was under way once more", async () => {
    const in_ = await room()
    await record(in_, key("1"))
    await in_.delivery.settle()
    in_.to.answer = () => {}
    await record(in_, key("2"), key("3"))
    await in_.to.until(2)
    await in_.delivery.close()
    expect(await state(in_)).toMatchObject({ cursor: 1, failures: 0 })
    in_.to.answer = (response) => response.writeHead(204).end()
    await deliver(in_).settle()
    expect(names(in_.to)).toEqual(["1", "2", "2", "3"])
  })

  test("whose events were pruned is told so once, and goes on from there", async () => {
    const in_ = await room()
    const { db } = in_.session.app
    await in_.delivery.close()
    await record(in_, key("1"), key("2"), key("3"), key("4"))
    await db.transaction("keys", async (tx) => {
      await tx.run("DELETE FROM events WHERE id <= 3")
      await tx.run("UPDATE event_horizon SET told_after = 3")
    })
    const delivery = deliver(in_)
    await delivery.settle()
    await delivery.settle()
    expect(in_.to.received.map(({ json }) => [json.type, json.data])).toEqual([
      ["events.reset", expect.objectContaining({ missed_after: 0, resume_after: 3 })],
      ["key.created", { name: "4" }],
    ])
  })
})
