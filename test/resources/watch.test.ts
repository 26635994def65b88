import fc from "fast-check"
import { describe, expect, test, vi } from "vitest"
import * as z from "zod"
import { UPDATE_STEP_MS } from "../../src/config/subscription-limits.ts"
import { createKey, revokeKeyById } from "../../src/operations/keys.ts"
import { RESOURCES } from "../../src/resources/index.ts"
import { defineResource } from "../../src/resources/resource.ts"
import { ResourceWatch, restAfter } from "../../src/resources/watch.ts"
import { agents, type Session, send, type TestAgent, type World, world } from "../support/world.ts"

/** What one session follows, and which updates it got, by path. */
class Ear {
  readonly told: string[] = []
  readonly #session: Session
  readonly #watch: ResourceWatch

  constructor(session: Session) {
    this.#session = session
    this.#watch = new ResourceWatch(session.app, RESOURCES)
  }

  async follow(path: string, query = "project_key=demo"): Promise<() => void> {
    const uri = `signalbox://coordination/${path}?${query}`
    const onUpdate = () => this.told.push(path) > 0
    const onEnd = () => void this.told.push(`end of ${path}`)
    const state = await this.#watch.read(this.#session, uri)
    return this.#watch.follow(this.#session, uri, state, { onUpdate, onEnd })
  }

  /** Resolves when exactly these paths were told of since the last time. */
  async hears(...paths: string[]): Promise<void> {
    await vi.waitFor(() => expect([...this.told].sort()).toEqual(paths.sort()), {
      timeout: 5_000,
      interval: 5,
    })
    this.told.length = 0
  }
}

async function room(): Promise<{ made: World; ada: TestAgent; bob: TestAgent; cleo: TestAgent }> {
  const [made, ada, bob, cleo] = await agents("Ada", "Bob", "Cleo")
  return { made, ada, bob, cleo }
}

const own = (agent: TestAgent, message_id: number) => ({
  agent_name: agent.name,
  project_id: agent.projectId,
  message_id,
})
const reserve = (agent: TestAgent, path: string) =>
  agent.session.call("reserve-file-paths", {
    agent_id: agent.id,
    coordination_project_id: agent.projectId,
    repository_id: agent.repositoryId,
    path_pattern: path,
  })

/** Resolves when all that an ear follows was looked at since, and nothing told but the reservations that it follows too. */
async function untilLooked(other: TestAgent, ear: Ear): Promise<void> {
  // The look that tells of the second change begins after the one that told of the first.
  for (const path of ["first.ts", "second.ts"]) {
    await reserve(other, path)
    await ear.hears("file-reservations")
  }
}

describe("who follows a resource is told when it shows something else", () => {
  test("the inbox, the outbox, a thread and the views: mail that comes, is read and acknowledged", async () => {
    const { ada, bob } = await room()
    const sent = { importance: "urgent", ack_required: true, thread_id: "plan" }
    const { messageId } = await send(ada, [bob], sent)
    const bobs = new Ear(bob.session)
    const adas = new Ear(ada.session)
    for (const path of ["views/urgent-unread", "views/ack-required", "thread/plan", "inbox/Bob"])
      await bobs.follow(path)
    await adas.follow(`message/${messageId}`)
    await adas.follow("outbox/Ada")
    await send(ada, [bob], sent)
    await bobs.hears("views/urgent-unread", "views/ack-required", "thread/plan", "inbox/Bob")
    await adas.hears("outbox/Ada")
    await bob.session.call("read-message", own(bob, messageId))
    await bobs.hears("views/urgent-unread", "views/ack-required", "inbox/Bob")
    await adas.hears("outbox/Ada")
    await bob.session.call("ack-message", own(bob, messageId))
    await bobs.hears("views/ack-required", "thread/plan", "inbox/Bob")
    await adas.hears(`message/${messageId}`, "outbox/Ada")
  })

  test("reservations that are granted or run out, agents that come and idle, contacts", async () => {
    const { made, ada, bob, cleo } = await room()
    const ear = new Ear(bob.session)
    await ear.follow("file-reservations")
    await ear.follow("contacts", "project_key=demo&agent=Bob")
    await ear.follow("agents")
    await reserve(ada, "a.ts")
    await ear.hears("file-reservations")
    await (await made.session()).register("Dora")
    await ear.hears("agents")
    await bob.session.call("set-contact-policy", {
      agent_name: "Bob",
      project_id: bob.projectId,
      contact_policy: "contacts_only",
    })
    await ear.hears("agents")
    await cleo.session.call("request-contact", {
      requester_name: "Cleo",
      recipient_name: "Bob",
      project_id: cleo.projectId,
      reason: "to talk",
    })
    await ear.hears("contacts")
    made.advance(3_601_000)
    await reserve(ada, "b.ts")
    await ear.hears("agents", "file-reservations")
  })

  test("only for what it shows: nobody hears of the mail, the blind copies or the calls of others", async () => {
    const { ada, bob, cleo } = await room()
    const { messageId } = await send(ada, [bob], {
      thread_id: "plan",
      bcc_agent_ids: [cleo.id],
      ack_required: true,
    })
    const bobs = new Ear(bob.session)
    const cleos = new Ear(cleo.session)
    for (const path of ["thread/plan", `message/${messageId}`, "views/ack-required", "agents", "inbox/Bob"])
      await bobs.follow(path)
    await bobs.follow("file-reservations")
    await cleos.follow("inbox/Cleo")
    await cleo.session.call("ack-message", own(cleo, messageId))
    await cleos.hears("inbox/Cleo")
    await send(ada, [cleo], { thread_id: "other" })
    await cleos.hears("inbox/Cleo")
    await untilLooked(ada, bobs)
  })

  test("no longer, once that was ended", async () => {
    const { ada, bob } = await room()
    const ear = new Ear(bob.session)
    const end = await ear.follow("inbox/Bob")
    await ear.follow("file-reservations")
    end()
    await send(ada, [bob])
    await untilLooked(ada, ear)
  })

  test("no longer, once the key was revoked: then it ends", async () => {
    const { made, ada } = await room()
    const { key, text } = await createKey(ada.session.app, {
      name: "test",
      environment: "live",
      scopes: ["*"],
      plan: "starter",
      expiresAtMs: null,
    })
    const ear = new Ear(await made.session({ apiKey: text }))
    await ear.follow("file-reservations")
    await revokeKeyById(ada.session.app, key.id)
    await reserve(ada, "a.ts")
    await ear.hears("end of file-reservations")
  })
})

describe("following is refused like reading", () => {
  test.each([
    ["another's inbox", "signalbox://coordination/inbox/Ada?project_key=demo"],
    ["an agent that does not exist", "signalbox://coordination/inbox/Nobody?project_key=demo"],
    ["what is no resource of ours", "https://example.com/"],
    ["a limit out of bounds", "signalbox://coordination/inbox/Bob?project_key=demo&limit=0"],
  ])("%s", async (_, uri) => {
    const { bob } = await room()
    const reason = (await bob.session.client.readResource({ uri }).catch((error: Error) => error)) as Error
    const failure = new ResourceWatch(bob.session.app, RESOURCES).read(bob.session, uri)
    await expect(failure).rejects.toSatisfy((error: { text: string }) => reason.message.includes(error.text))
  })
})

test("with a key that counts for nothing following is refused, like reading", async () => {
  const session = await world().session({ apiKey: "sbx_live_nothing" })
  const uri = "signalbox://coordination/file-reservations?project_key=demo"
  const refused = new ResourceWatch(session.app, RESOURCES).read(session, uri)
  await expect(refused).rejects.toMatchObject({ code: "unauthenticated", hint: expect.any(String) })
})

test("the database is watched only while somebody follows", async () => {
  const { app, caller } = await world().session()
  let watchers = 0
  vi.spyOn(app.db, "watch").mockImplementation(() => {
    watchers += 1
    return () => {
      watchers -= 1
    }
  })
  const watch = new ResourceWatch(app, RESOURCES)
  expect(watchers).toBe(0)
  const follow = () =>
    watch.follow({ app, caller }, "signalbox://coordination/tools", "", { onUpdate: () => true })
  const ends = [follow(), follow()]
  expect(watchers).toBe(1)
  for (const end of ends) end()
  expect(watchers).toBe(0)
})

/** A watch of one resource that shows a number, with what wakes the watch. */
async function counter() {
  const { app, caller } = await world().session()
  const made = { value: 0, reads: 0, change: () => {} }
  vi.spyOn(app.db, "watch").mockImplementation((onChange) => {
    made.change = onChange
    return () => {}
  })
  const resource = defineResource({
    name: "counter",
    title: "Counter",
    path: "counter",
    description: "Counts.",
    parameters: z.strictObject({}),
    async read() {
      made.reads += 1
      return { value: made.value }
    },
  })
  const watch = new ResourceWatch(app, [resource])
  const uri = "signalbox://counter"
  const follow = async (onUpdate: () => boolean) =>
    watch.follow({ app, caller }, uri, await watch.read({ app, caller }, uri), { onUpdate })
  return { made, follow }
}

test("what changes while a resource was just looked at is told together, after a rest", async () => {
  const { made, follow } = await counter()
  const told: number[] = []
  await follow(() => told.push(made.value) > 0)
  await vi.waitFor(() => expect(made.reads).toBe(2))
  for (made.value = 1; made.value < 10; made.value += 1) made.change()
  await vi.waitFor(() => expect(told).toEqual([10]))
  made.change()
  made.value = 11
  made.change()
  await vi.waitFor(() => expect(told).toEqual([10, 11]))
  expect(made.reads).toBe(4)
})

test("what could not be told is told after a rest", async () => {
  const { made, follow } = await counter()
  const tries: number[] = []
  await follow(() => tries.push(made.value) >= 3)
  made.value = 1
  made.change()
  await vi.waitFor(() => expect(tries).toEqual([1, 1, 1]))
  made.value = 2
  made.change()
  await vi.waitFor(() => expect(tries).toEqual([1, 1, 1, 2]))
})

test("who takes nothing has nothing read again meanwhile", async () => {
  const { made, follow } = await counter()
  const tries: number[] = []
  await follow(() => tries.push(made.value) > 4)
  await vi.waitFor(() => expect(made.reads).toBe(2))
  made.value = 1
  made.change()
  await vi.waitFor(() => expect(tries).toHaveLength(5))
  expect(made.reads).toBe(3)
})

test("looking takes a quarter of the time at most, and comes ten times a second at most", () => {
  fc.assert(
    fc.property(fc.nat(), (tookMs) => {
      const restMs = restAfter(tookMs)
      expect(restMs).toBeGreaterThanOrEqual(UPDATE_STEP_MS)
      expect(restMs / (restMs + tookMs)).toBeGreaterThanOrEqual(0.75)
    }),
  )
})

test("a state that was told before tells what has changed since", async () => {
  const { ada, bob } = await room()
  const watch = new ResourceWatch(bob.session.app, RESOURCES)
  const uri = "signalbox://coordination/inbox/Bob?project_key=demo"
  const states: string[] = []
  const follow = (since: string) =>
    watch.follow(bob.session, uri, since, { onUpdate: (state) => states.push(state) > 0 })
  const end = follow(await watch.read(bob.session, uri))
  await send(ada, [bob])
  await vi.waitFor(() => expect(states).toHaveLength(1))
  end()
  await send(ada, [bob])
  follow(states[0] ?? "")
  await vi.waitFor(() => expect(states).toHaveLength(2))
  expect(states[1]).not.toBe(states[0])
})
