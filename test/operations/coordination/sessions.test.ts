/** Whose agents a session speaks for, and how its own agent takes over what its hook has made. */

import { describe, expect, test } from "vitest"
import {
  clientSession,
  earlierSession,
  isHeldByOthers,
  listOwnAgents,
  sessionNames,
} from "../../../src/operations/coordination/sessions.ts"
import { removeDeadProcesses } from "../../../src/operations/processes.ts"
import { processMark } from "../../../src/runtime/process-identity.ts"
import { findAgentById } from "../../../src/store/coordination/agents.ts"
import { listHeldByAgent } from "../../../src/store/coordination/reservations.ts"
import {
  listSessionsAt,
  noteOnce,
  putAnchors,
  removeOldSessionNotes,
} from "../../../src/store/coordination/sessions.ts"
import { insertProcess, isSessionListed } from "../../../src/store/processes.ts"
import { edit, introducedBy, reserve, serverBelow, sessionEvent } from "../../support/hook.ts"
import {
  agents,
  numberAfter,
  type Session,
  send,
  type TestAgent,
  textAfter,
  type World,
  world,
} from "../../support/world.ts"

describe("the names of a session", () => {
  /** Ties sessions to anchors, given as `session: anchors, nearest first`; returns how to ask for names. */
  async function tied(ties: Record<string, readonly string[]>) {
    const made = world()
    const { app } = await made.session({ name: "looking" })
    await app.db.transaction("sessions", async (tx) => {
      for (const [session, anchors] of Object.entries(ties))
        await putAnchors(tx, session, anchors, made.nowMs)
    })
    return async (session: string) => (await sessionNames(app.db, session)).sort()
  }
  const P1 = "process:1:boot:1"
  const P2 = "process:2:boot:2"

  test("are its own alone where nothing ties it", async () => {
    const names = await tied({ "client:b": [P1], "process:9:x": [P2] })
    expect(await names("client:a")).toEqual(["client:a"])
    expect(await names("client:b")).toEqual(["client:b"])
  })

  test("are those of a server without an id below the same process too, both ways", async () => {
    const names = await tied({ "client:a": [P1], "process:9:x": [P1] })
    expect(await names("client:a")).toEqual(["client:a", "process:9:x"])
    expect(await names("process:9:x")).toEqual(["client:a", "process:9:x"])
  })

  test("are never those of another client id at the same process", async () => {
    const names = await tied({ "client:a": [P1], "client:b": [P1], "process:9:x": [P1] })
    expect(await names("client:a")).toEqual(["client:a", "process:9:x"])
    expect(await names("client:b")).toEqual(["client:b", "process:9:x"])
  })

  test("are never those of another server process at the same client", async () => {
    const names = await tied({ "process:8:x": [P1], "process:9:x": [P1] })
    expect(await names("process:8:x")).toEqual(["process:8:x"])
  })

  test("are tied by the nearest process that ties anything, and by no further one", async () => {
    const names = await tied({ "client:a": [P1, P2], "process:8:x": [P1], "process:9:x": [P2] })
    expect(await names("client:a")).toEqual(["client:a", "process:8:x"])
    const further = await tied({ "client:a": [P1, P2], "process:9:x": [P2] })
    expect(await further("client:a")).toEqual(["client:a", "process:9:x"])
  })

  test("are those of the earlier session that it goes on with, both ways", async () => {
    const names = await tied({ "client:b": [earlierSession("client:a")] })
    expect(await names("client:b")).toEqual(["client:a", "client:b"])
    expect(await names("client:a")).toEqual(["client:a", "client:b"])
  })

  test("do not come from what is no process, such as the mark of having found none", async () => {
    const names = await tied({ "client:a": ["none"], "process:9:x": ["none"] })
    expect(await names("client:a")).toEqual(["client:a"])
  })
})

describe("the agents of a session", () => {
  test("are those of all its names, the most recently active first", async () => {
    const made = world()
    const one = await made.session({ name: "one" })
    const ada = await one.register("Ada")
    made.advance(1)
    const bob = await (await made.session({ name: "two" })).register("Bob")
    made.advance(1)
    await one.register("Eve", { project_key: "other" })
    const names = async (...sessions: string[]) =>
      (await listOwnAgents(one.app.db, sessions.map(clientSession))).map(({ name }) => name)
    expect(await names("one", "two")).toEqual(["Eve", "Bob", "Ada"])
    expect(await names("two")).toEqual([bob.name])
    expect(await names("three")).toEqual([])
    made.advance(1)
    await reserve(ada, "a.ts")
    expect(await names("one", "two")).toEqual(["Ada", "Eve", "Bob"])
  })
})

describe("a server process", () => {
  test.each([
    ["now", "mark", "pid-only"],
    ["when it entered", "pid-only", "mark"],
  ])("lives although its mark could not be read %s", async (_, entered, current) => {
    const { app } = await world().session({ name: "a" })
    await insertProcess(app.db, { pid: process.pid, identityMark: entered, session: "client:b" }, 0)
    await removeDeadProcesses({ ...app, markOf: () => current })
    expect(await isSessionListed(app.db, "client:b")).toBe(true)
    await removeDeadProcesses({ ...app, markOf: () => (entered === "mark" ? "another" : undefined) })
    expect(await isSessionListed(app.db, "client:b")).toBe(false)
  })
})

describe("what ties sessions and what they were told", () => {
  test("is forgotten once it is older than a given time, and not before", async () => {
    const made = world()
    const { app } = await made.session({ name: "a" })
    await app.db.transaction("sessions", async (tx) => {
      await putAnchors(tx, "client:x", ["process:1:m"], 1_000)
      expect(await noteOnce(tx, "client:x", "n", 1_000)).toBe(true)
      expect(await noteOnce(tx, "client:x", "n", 2_000)).toBe(false)
      await removeOldSessionNotes(tx, 1_000)
      expect(await listSessionsAt(tx, "process:1:m", "")).toEqual(["client:x"])
      expect(await noteOnce(tx, "client:x", "n", 2_000)).toBe(false)
      await removeOldSessionNotes(tx, 1_001)
      expect(await listSessionsAt(tx, "process:1:m", "")).toEqual([])
      expect(await noteOnce(tx, "client:x", "n", 2_000)).toBe(true)
    })
  })
})

const introduction = { project_key: "demo", program: "another-program", model: "m" }

/** A session in which only the hook has acted: its agent, with a reservation and a message, and Bob beside it. */
async function withHookMade(): Promise<[World, Session, { id: number; name: string }, TestAgent]> {
  const [made, bob] = await agents("Bob")
  const { app } = bob.session
  await edit(made, app, "src/a.ts")
  const { id, name } = introducedBy(await sessionEvent(made, app, "session-start"))
  await send(bob, [{ ...bob, id }], { subject: "Welcome" })
  return [made, await made.session({ name: "b" }), { id, name }, bob]
}

async function holdings(session: Session, agentId: number): Promise<string[]> {
  const held = await listHeldByAgent(session.app.db, agentId, session.app.now())
  return held.map(({ pathPattern }) => pathPattern)
}

describe.each(["register-agent", "macro-start-session"])(
  "the first %s of a session whose hook made an agent",
  (tool) => {
    test("takes it over whatever its program: same id and name, mail and reservations kept", async () => {
      const [, session, { id, name }] = await withHookMade()
      const text = await session.call(tool, introduction)
      expect(numberAfter(text, "Agent id")).toBe(id)
      expect(textAfter(text, "Name")).toBe(name)
      expect(textAfter(text, "Program")).toBe("another-program")
      const projectId = numberAfter(text, "Project id")
      expect(await session.call("fetch-inbox", { agent_name: name, project_id: projectId })).toContain(
        "Welcome",
      )
      expect(await holdings(session, id)).toEqual(["src/a.ts"])
    })

    test("with a free name takes it over under that name", async () => {
      const [, session, { id, name }] = await withHookMade()
      const text = await session.call(tool, { ...introduction, name_hint: "Ada" })
      expect(numberAfter(text, "Agent id")).toBe(id)
      expect(textAfter(text, "Name")).toBe("Ada")
      expect(await holdings(session, id)).toEqual(["src/a.ts"])
      expect(await session.fail("whois", { project_key: "demo", agent_name: name })).toContain("not found")
    })

    test("with its very name, in any case, takes it over", async () => {
      const [, session, { id, name }] = await withHookMade()
      const text = await session.call(tool, { ...introduction, name_hint: name.toUpperCase() })
      expect(numberAfter(text, "Agent id")).toBe(id)
      expect(textAfter(text, "Name")).toBe(name)
    })

    test("with the name of an agent that nobody speaks for resumes that, and moves the reservations there", async () => {
      const [made, session, { id }] = await withHookMade()
      const before = await made.session({ name: "before" })
      const ada = await before.register("Ada")
      await before.close()
      const text = await session.call(tool, { ...introduction, name_hint: "Ada" })
      expect(numberAfter(text, "Agent id")).toBe(ada.id)
      expect(await holdings(session, ada.id)).toEqual(["src/a.ts"])
      expect(await holdings(session, id)).toEqual([])
    })

    test("with a name that another live session holds takes it over under a name that begins so", async () => {
      const [made, session, { id }, bob] = await withHookMade()
      const text = await session.call(tool, { ...introduction, name_hint: "bob" })
      expect(numberAfter(text, "Agent id")).toBe(id)
      expect(textAfter(text, "Name")).toMatch(/^bob\w+$/)
      expect(textAfter(text, "Name hint")).toContain("Bob is held by another live session")
      expect(await holdings(session, id)).toEqual(["src/a.ts"])
      const profile = await bob.session.call("whois", { project_key: "demo", agent_name: "Bob" })
      expect(numberAfter(profile, "Agent id")).toBe(bob.id)
      expect(made.logged).toEqual([])
    })

    test("is the only one: the next makes a new agent", async () => {
      const [, session, { id }] = await withHookMade()
      await session.call(tool, introduction)
      const text = await session.call(tool, introduction)
      expect(numberAfter(text, "Agent id")).not.toBe(id)
    })

    test("that resumes another agent leaves nothing for the next to take over", async () => {
      const [made, session, { id }] = await withHookMade()
      const before = await made.session({ name: "before" })
      await before.register("Ada")
      await before.close()
      await session.call(tool, { ...introduction, name_hint: "Ada" })
      const text = await session.call(tool, introduction)
      expect(numberAfter(text, "Agent id")).not.toBe(id)
    })

    test("of another session leaves it alone", async () => {
      const [made, , { id }] = await withHookMade()
      const other = await made.session({ name: "other" })
      expect(numberAfter(await other.call(tool, introduction), "Agent id")).not.toBe(id)
    })

    test("takes it over also where only the client's process ties the server to the hook", async () => {
      const [made, bob] = await agents("Bob")
      const anchor = `process:${process.pid}:${processMark(process.pid)}`
      await bob.session.app.db.transaction("sessions", (tx) =>
        putAnchors(tx, "client:b", [anchor], made.nowMs),
      )
      const { id } = introducedBy(await sessionEvent(made, bob.session.app, "session-start"))
      const server = await serverBelow(made, [anchor])
      expect(numberAfter(await server.call(tool, introduction), "Agent id")).toBe(id)
    })
  },
)

describe("the first registration in another project than the hook's", () => {
  const elsewhere = { ...introduction, project_key: "elsewhere" }

  test("takes over an agent that nobody knows by mail, with its reservations", async () => {
    const [made, bob] = await agents("Bob")
    await edit(made, bob.session.app, "src/a.ts")
    const { id, name } = introducedBy(await sessionEvent(made, bob.session.app, "session-start"))
    const session = await made.session({ name: "b" })
    const text = await session.call("register-agent", elsewhere)
    expect([numberAfter(text, "Agent id"), textAfter(text, "Name")]).toEqual([id, name])
    const projectId = numberAfter(text, "Project id")
    expect(projectId).not.toBe(bob.projectId)
    const listed = { coordination_project_id: projectId }
    expect(await session.call("list-file-reservations", listed)).toContain("### src/a.ts")
    expect(await session.call("list-agents", { project_key: "demo" })).not.toContain(name)
  })

  test("gives it another name where its own is taken", async () => {
    const [made, bob] = await agents("Bob")
    const { id, name } = introducedBy(await sessionEvent(made, bob.session.app, "session-start"))
    const taken = await bob.session.register(name, { project_key: "elsewhere" })
    const session = await made.session({ name: "b" })
    const text = await session.call("register-agent", elsewhere)
    expect(numberAfter(text, "Agent id")).toBe(id)
    expect(textAfter(text, "Name")).not.toBe(name)
    expect(taken.name).toBe(name)
  })

  test("leaves one with mail where its mail is, and takes the reservations along", async () => {
    const [, session, { id, name }, bob] = await withHookMade()
    const text = await session.call("register-agent", elsewhere)
    const ownId = numberAfter(text, "Agent id")
    expect(ownId).not.toBe(id)
    expect(await holdings(session, ownId)).toEqual(["src/a.ts"])
    const inbox = { agent_name: name, project_id: bob.projectId }
    expect(await session.call("fetch-inbox", inbox)).toContain("Welcome")
  })
})

describe("an agent that a hook has made", () => {
  test("is held by its session for as long as it is active, then anybody may resume it", async () => {
    const [made, session, { id, name }, bob] = await withHookMade()
    await session.close()
    const { db } = bob.session.app
    const isHeld = async (...own: string[]) => {
      const agent = await findAgentById(db, id)
      return agent && isHeldByOthers(db, agent, own, made.nowMs)
    }
    expect(await isHeld()).toBe(true)
    expect(await isHeld("client:b")).toBe(false)
    made.advance(30 * 60_000)
    expect(await isHeld()).toBe(true)
    made.advance(1)
    expect(await isHeld()).toBe(false)
    const other = await made.session({ name: "other" })
    const text = await other.call("register-agent", { ...introduction, name_hint: name })
    expect(numberAfter(text, "Agent id")).toBe(id)
  })

  test("keeps the name that it had when somebody else asks for it", async () => {
    const [made, , { id, name }] = await withHookMade()
    const other = await made.session({ name: "other" })
    const text = await other.call("register-agent", { ...introduction, name_hint: name })
    expect(numberAfter(text, "Agent id")).not.toBe(id)
    expect(textAfter(text, "Name")).toMatch(new RegExp(`^${name}\\w+$`))
  })
})

test("reservations that move join those of the same pattern", async () => {
  const [made, bob] = await agents("Bob")
  const before = await made.session({ name: "before" })
  const ada = await before.register("Ada")
  await reserve(ada, "src/a.ts", { exclusive: false })
  await edit(made, bob.session.app, "src/a.ts")
  await before.close()
  const session = await made.session({ name: "b" })
  await session.call("register-agent", { ...introduction, name_hint: "Ada" })
  expect(await holdings(session, ada.id)).toEqual(["src/a.ts"])
})
