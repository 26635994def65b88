/** What is told of agents that come and go. */

import { describe, expect, test } from "vitest"
import type { App } from "../../../src/operations/app.ts"
import { tendDeadSessions } from "../../../src/operations/coordination/dead-sessions.ts"
import { eventsDuring, eventsIn } from "../../support/events.ts"
import { clientProcess, edit, introducedBy, reserve, sessionEvent } from "../../support/hook.ts"
import { agents, world } from "../../support/world.ts"

const onPosix = test.skipIf(process.platform === "win32")

/** What happened to agents and files; that the local key is used tells nothing of them. */
const kindsOf = (events: readonly { kind: string; data: object }[]) =>
  events
    .filter(({ kind }) => !kind.startsWith("key."))
    .map(({ kind, data }) => `${kind} ${(data as { name?: string }).name ?? ""}`.trim())

test("an agent is told of when it registers first, and not when its own session registers it again", async () => {
  const [, ada] = await agents("Ada")
  const { app } = ada.session
  await ada.session.register("Ada")
  expect(await eventsIn(app.db, "agent.")).toMatchObject([
    {
      kind: "agent.registered",
      agentId: ada.id,
      subjectId: ada.id,
      projectId: ada.projectId,
      repositoryId: ada.repositoryId,
      data: { agent_id: ada.id, name: "Ada", program: "test-program" },
    },
  ])
})

test("an agent that another session takes up is told of, and once more when the first one returns", async () => {
  const [made, ada] = await agents("Ada")
  await ada.session.close()
  const other = await made.session({ name: "other" })
  const taken = await eventsDuring(other.app, () => other.register("Ada"))
  expect(kindsOf(taken)).toEqual(["agent.resumed Ada"])
  const back = await made.session({ name: "session-of-Ada" })
  const returned = await eventsDuring(other.app, () => back.register("Ada"))
  // The session that loses it goes on under a new name.
  const names = kindsOf(returned)
  expect(names).toHaveLength(2)
  expect(names[0]).toMatch(/^agent\.registered \w+$/)
  expect(names[1]).toBe("agent.resumed Ada")
})

describe("a session that only the hook knows", () => {
  test("is told of with its first edit, when it ends, and when it is there again", async () => {
    const made = world()
    const { app } = await made.session()
    const began = await eventsDuring(app, () => edit(made, app, "src/a.ts"))
    const name = began.find(({ kind }) => kind === "agent.registered")?.data.name
    expect(kindsOf(began)).toEqual([`agent.registered ${name}`, "reservation.granted"])
    const ended = () => sessionEvent(made, app, "session-end")
    expect(kindsOf(await eventsDuring(app, ended))).toEqual(["reservation.released", `agent.gone ${name}`])
    expect(await eventsDuring(app, ended)).toEqual([])
    const began2 = () => sessionEvent(made, app, "session-start")
    expect(kindsOf(await eventsDuring(app, began2))).toEqual([`agent.resumed ${name}`])
    expect(await eventsDuring(app, began2)).toEqual([])
  })

  test("is told of under the name that its own agent takes when it registers", async () => {
    const made = world()
    const session = await made.session({ name: "b" })
    const { name: given } = introducedBy(await sessionEvent(made, session.app, "session-start"))
    const registered = await eventsDuring(session.app, () => session.register("Ada"))
    expect(given).not.toBe("Ada")
    const project = await eventsIn(session.app.db, "agent.registered")
    expect(kindsOf(project)).toEqual([`agent.registered ${given}`])
    expect(kindsOf(registered)).toEqual(["agent.resumed Ada"])
  })
})

onPosix("a session that is found dead is told of at once, and again when it has come back", async () => {
  const made = world()
  const { app } = await made.session()
  const { pid } = await clientProcess("codex")
  await edit(made, app, "src/a.ts", { client: "codex", parentPid: pid })
  const later: App = { ...app, markOf: (other) => (other === pid ? undefined : app.markOf(other)) }
  const died = () => tendDeadSessions(later)
  expect((await eventsDuring(app, died)).map(({ kind }) => kind)).toEqual(["agent.gone"])
  expect(await eventsDuring(app, died)).toEqual([])
  expect((await eventsDuring(app, () => tendDeadSessions(app))).map(({ kind }) => kind)).toEqual([
    "agent.resumed",
  ])
  await tendDeadSessions(later)
  made.advance(600_000)
  expect((await eventsDuring(app, died)).map(({ kind }) => kind)).toEqual(["reservation.released"])
})

test("an agent that is gone and registers again is told of", async () => {
  const [made, ada] = await agents("Ada")
  const { app } = ada.session
  await reserve(ada, "src/**")
  await sessionEvent(made, app, "session-end", { session: "session-of-Ada" })
  expect(kindsOf(await eventsIn(app.db, "agent.gone"))).toEqual(["agent.gone Ada"])
  expect(kindsOf(await eventsDuring(app, () => ada.session.register("Ada")))).toEqual(["agent.resumed Ada"])
})
