/** What is told of refused reservations, blocked edits, and edits that go on beside others. */

import { describe, expect, test, vi } from "vitest"
import { REFUSAL_EVENT_MS } from "../../../src/config/event-limits.ts"
import { reserveFiles } from "../../../src/operations/coordination/file-reservations.ts"
import { reserveTargets, resolveTargets } from "../../../src/operations/coordination/typed-paths.ts"
import { findAgentById } from "../../../src/store/coordination/agents.ts"
import { findProjectById } from "../../../src/store/projects.ts"
import { eventsDuring, eventsIn } from "../../support/events.ts"
import { ALLOWED, configure, contextOf, edit, reserve, toldBy } from "../../support/hook.ts"
import { agents, type TestAgent, type World } from "../../support/world.ts"

/** A connection as it is asked for a lock of its own. */
interface Locked {
  exec(sql: string): void
}

const refused = (agent: TestAgent, pattern: string) =>
  agent.session.fail("reserve-file-paths", {
    agent_id: agent.id,
    repository_id: agent.repositoryId,
    coordination_project_id: agent.projectId,
    path_pattern: pattern,
  })

describe("a reservation that is refused", () => {
  const WAYS: [string, (agent: TestAgent, made: World) => Promise<unknown>][] = [
    ["the tool", (agent) => refused(agent, "src/a.ts")],
    [
      "macro-claim-cycle",
      (agent) =>
        agent.session.call("macro-claim-cycle", {
          agent_name: agent.name,
          project_id: agent.projectId,
          repository_id: agent.repositoryId,
          file_paths: ["src/a.ts"],
        }),
    ],
    [
      "macro-start-session",
      (agent) =>
        agent.session.call("macro-start-session", {
          project_key: "demo",
          program: "p",
          model: "m",
          name_hint: agent.name,
          file_paths: ["src/a.ts"],
          exclusive: true,
        }),
    ],
    [
      "REST",
      async (agent) =>
        reserveFiles(
          { ...(await contextOf(agent.session.app)), caller: agent.session.caller },
          {
            agentId: String(agent.id),
            paths: ["src/a.ts"],
            repositoryId: agent.repositoryId,
            mode: "exclusive",
            durationSeconds: 60,
            reason: null,
          },
        ),
    ],
    [
      "the command line",
      async (agent, made) => {
        const { app } = agent.session
        const [target] = await resolveTargets(app, ["src/a.ts"], made.repositoryPath)
        const known = await findAgentById(app.db, agent.id)
        const project = await findProjectById(app.db, agent.projectId)
        if (!(target && known && project)) throw new Error("not there")
        const claim = { ...target, exclusive: true, durationSeconds: 60, reason: null }
        const claimant = { agent: known, project, ownAgentIds: new Set([agent.id]) }
        return reserveTargets(await contextOf(app), claimant, [claim])
      },
    ],
  ]

  test.each(WAYS)("by %s is told with who holds it, and again after a minute", async (_, ask) => {
    const [made, ada, bob] = await agents("Ada", "Bob")
    const { app } = bob.session
    await reserve(ada, "src/**")
    await reserve(ada, "src/*.ts")
    await ask(bob, made)
    const told = {
      kind: "reservation.refused",
      agentId: bob.id,
      partyId: ada.id,
      projectId: bob.projectId,
      repositoryId: bob.repositoryId,
      data: { path_pattern: "src/a.ts", mode: "exclusive", holders: ["Ada"] },
    }
    expect(await eventsIn(app.db, "reservation.refused")).toMatchObject([told])
    made.advance(REFUSAL_EVENT_MS - 1)
    await ask(bob, made)
    expect(await eventsIn(app.db, "reservation.refused")).toHaveLength(1)
    made.advance(1)
    await ask(bob, made)
    expect(await eventsIn(app.db, "reservation.refused")).toMatchObject([told, told])
  })

  test("is told of for each agent and each path, and changes nothing else", async () => {
    const [, ada, bob, cid] = await agents("Ada", "Bob", "Cid")
    await reserve(ada, "src/**")
    const events = await eventsDuring(ada.session.app, async () => {
      await refused(bob, "src/a.ts")
      await refused(bob, "src/b.ts")
      await refused(cid, "src/a.ts")
      await refused(cid, "src/a.ts")
    })
    expect(events.map(({ kind, agentId, data }) => [kind, agentId, data.path_pattern])).toEqual([
      ["reservation.refused", bob.id, "src/a.ts"],
      ["reservation.refused", bob.id, "src/b.ts"],
      ["reservation.refused", cid.id, "src/a.ts"],
    ])
  })

  test("is refused all the same where that cannot be told", async () => {
    const [, ada, bob] = await agents("Ada", "Bob")
    await reserve(ada, "src/**")
    const { db } = bob.session.app
    const transaction = db.transaction.bind(db)
    let calls = 0
    vi.spyOn(db, "transaction").mockImplementation((lock, body, options) => {
      calls += 1
      return calls === 1 ? transaction(lock, body, options) : Promise.reject(new Error("the disk is full"))
    })
    expect(await refused(bob, "src/a.ts")).toContain("conflicts with 1 reservation")
    expect(calls).toBe(2)
    vi.restoreAllMocks()
    expect(await eventsIn(db, "reservation.refused")).toEqual([])
  })
})

describe("an edit that others stand in the way of", () => {
  test("is told as blocked, once a minute, by the program where its session has no agent", async () => {
    const [made, ada] = await agents("Ada")
    const { app } = ada.session
    await reserve(ada, "src/**")
    expect((await edit(made, app, ["src/a.ts", "src/b.ts", "docs/c.md"])).exitCode).toBe(2)
    await edit(made, app, "src/a.ts")
    const of = { kind: "edit.blocked", agentId: null, actor: "claude-code", partyId: ada.id, repositoryId: 1 }
    const told = [
      { ...of, data: { path: "src/a.ts", holders: ["Ada"] } },
      { ...of, data: { path: "src/b.ts", holders: ["Ada"] } },
    ]
    expect(await eventsIn(app.db, "edit.")).toMatchObject(told)
    made.advance(REFUSAL_EVENT_MS)
    await edit(made, app, "src/a.ts")
    expect(await eventsIn(app.db, "edit.")).toMatchObject([...told, told[0]])
  })

  test("is told with the agent of its session, where it has one", async () => {
    const [made, ada, bob] = await agents("Ada", "Bob")
    await reserve(ada, "src/**")
    await edit(made, bob.session.app, "src/a.ts", { session: "session-of-Bob" })
    expect(await eventsIn(bob.session.app.db, "edit.")).toMatchObject([
      { kind: "edit.blocked", agentId: bob.id, projectId: bob.projectId, actor: null },
    ])
  })

  test("is blocked, and the next one too, while another process holds the write lock", async () => {
    const [made, ada] = await agents("Ada")
    const { app } = ada.session
    await reserve(ada, "src/**")
    await edit(made, app, "docs/other.md")
    const other = await made.session()
    let release = () => {}
    const held = new Promise<void>((resolve) => {
      release = resolve
    })
    const locking = (
      other.app.db as unknown as { exclusively(work: (db: Locked) => unknown): Promise<unknown> }
    ).exclusively(async (connection) => {
      connection.exec("BEGIN IMMEDIATE")
      await held
      connection.exec("ROLLBACK")
    })
    expect((await edit(made, app, "src/a.ts")).exitCode).toBe(2)
    expect((await edit(made, app, "src/b.ts")).exitCode).toBe(2)
    release()
    await locking
  })

  test("is told as allowed once for each file and session where conflicts do not block", async () => {
    const [made, ada] = await agents("Ada")
    const { app } = ada.session
    configure(made, { blockConflicts: false, defaultMode: "exclusive" })
    await reserve(ada, "src/**")
    for (const session of ["b", "b", "c"]) await edit(made, app, "src/a.ts", { session })
    await edit(made, app, "src/b.ts")
    made.advance(10 * REFUSAL_EVENT_MS)
    await edit(made, app, "src/b.ts")
    const of = { kind: "edit.allowed", partyId: ada.id, repositoryId: 1 }
    expect(await eventsIn(app.db, "edit.")).toMatchObject([
      { ...of, data: { path: "src/a.ts", holders: ["Ada"] } },
      { ...of, data: { path: "src/a.ts", holders: ["Ada"] } },
      { ...of, data: { path: "src/b.ts", holders: ["Ada"] } },
    ])
  })
})

test.each([true, false])("an edit beside those who share is told as allowed, guidance %s", async (shown) => {
  const [made, ada] = await agents("Ada")
  const { app } = ada.session
  configure(made, { showGuidance: shown, defaultMode: "shared" })
  await reserve(ada, "src/**", { exclusive: false })
  const answer = await edit(made, app, "src/a.ts")
  await edit(made, app, "src/a.ts")
  expect(toldBy(answer) !== "").toBe(shown)
  const [event, ...more] = await eventsIn(app.db, "edit.")
  expect(more).toEqual([])
  const [maker] = await eventsIn(app.db, "agent.registered").then((all) => all.slice(-1))
  expect(event).toMatchObject({
    kind: "edit.allowed",
    agentId: maker?.agentId,
    data: { path: "src/a.ts", holders: ["Ada"] },
  })
})

test("an edit of one's own file, or of one that nobody holds, tells of nothing but what it reserves", async () => {
  const [made, ada] = await agents("Ada")
  const { app } = ada.session
  expect(await edit(made, app, "src/a.ts", { session: "session-of-Ada" })).toEqual(ALLOWED)
  const events = await eventsDuring(app, () => edit(made, app, "src/a.ts", { session: "session-of-Ada" }))
  expect(events).toEqual([])
  expect(await eventsIn(app.db, "edit.")).toEqual([])
})

test("paths that begin alike, with whatever characters, are told of each by itself", async () => {
  const [, ada, bob] = await agents("Ada", "Bob")
  await reserve(ada, "**")
  const paths = ["a", 'a",', "a/b", "ä/😀", "ä/😀b"]
  for (const path of [...paths, ...paths]) await refused(bob, path)
  const told = await eventsIn(bob.session.app.db, "reservation.refused")
  expect(told.map(({ data }) => data.path_pattern)).toEqual(paths)
})
