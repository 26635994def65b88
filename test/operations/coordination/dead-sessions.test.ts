/** Sessions whose client or server was killed: what they hold is marked, and released after a grace of ten minutes. */

import { describe, expect, onTestFinished, test } from "vitest"
import type { App } from "../../../src/operations/app.ts"
import { tendDeadSessions } from "../../../src/operations/coordination/dead-sessions.ts"
import { livingSessions, removeDeadProcesses } from "../../../src/operations/processes.ts"
import { listReservationsIn } from "../../../src/store/coordination/reservations.ts"
import { insertProcess, listProcesses } from "../../../src/store/processes.ts"
import { ALLOWED, clientProcess, edit, serverBelow } from "../../support/hook.ts"
import { type Session, World } from "../../support/world.ts"

const GRACE_MS = 600_000
const onPosix = test.skipIf(process.platform === "win32")

function world(): World {
  const made = new World({})
  onTestFinished(() => made.close())
  return made
}

/** The app as it sees a machine on which these processes, by pid, have ended. */
function without(app: App, ...pids: number[]): App {
  return { ...app, markOf: (pid) => (pids.includes(pid) ? undefined : app.markOf(pid)) }
}

async function held(made: World, { app }: Session) {
  return (await listReservationsIn(app.db, 1, made.nowMs, 100)).map(({ pathPattern, diedAtMs }) => ({
    pathPattern,
    diedAtMs,
  }))
}

const NONE = { released: 0, hasChanged: false }
const NOTED = { released: 0, hasChanged: true }

describe("a session that only the hook knows", () => {
  onPosix("keeps its files while its client lives, and for ten minutes after its death", async () => {
    const made = world()
    const other = await made.session()
    const { pid } = await clientProcess("codex")
    expect(await edit(made, other.app, "src/a.ts", { client: "codex", parentPid: pid })).toEqual(ALLOWED)
    expect(await tendDeadSessions(other.app)).toEqual(NONE)

    const later = without(other.app, pid)
    const diedAtMs = made.nowMs
    expect(await tendDeadSessions(later)).toEqual(NOTED)
    expect(await held(made, other)).toEqual([{ pathPattern: "src/a.ts", diedAtMs }])
    made.advance(GRACE_MS - 1)
    expect(await tendDeadSessions(later)).toEqual(NONE)
    made.advance(1)
    expect(await tendDeadSessions(later)).toEqual({ released: 1, hasChanged: true })
    expect(await held(made, other)).toEqual([])
  })

  onPosix("that comes back has its grace anew", async () => {
    const made = world()
    const other = await made.session()
    const { pid } = await clientProcess("claude")
    await edit(made, other.app, "src/a.ts", { parentPid: pid })
    const later = without(other.app, pid)
    await tendDeadSessions(later)
    made.advance(GRACE_MS - 1)
    expect(await tendDeadSessions(other.app)).toEqual(NOTED)
    expect(await held(made, other)).toEqual([{ pathPattern: "src/a.ts", diedAtMs: null }])
    made.advance(GRACE_MS)
    expect(await tendDeadSessions(later)).toEqual(NOTED)
    made.advance(GRACE_MS - 1)
    expect(await tendDeadSessions(later)).toEqual(NONE)
  })

  onPosix("is not known to have died where nothing was seen of its client", async () => {
    const made = world()
    const { app } = await made.session()
    const { pid } = await clientProcess("codex")
    await edit(made, app, "src/a.ts", { client: "claude-code", parentPid: pid })
    expect(await tendDeadSessions(without(app, pid))).toEqual(NONE)
  })

  onPosix("is found dead by whom it stands in the way of, though nobody listens", async () => {
    const made = world()
    const { app } = await made.session()
    const { pid } = await clientProcess("codex")
    const holder = { client: "codex", parentPid: pid, session: "dead" }
    await edit(made, app, "package-lock.json", holder)
    const later = without(app, pid)
    const blocked = await edit(made, later, "package-lock.json", { session: "c" })
    expect(blocked.exitCode).toBe(2)
    expect(blocked.stderr).toMatch(/its session has died; released at 2026-03-10T12:10:00\.000Z/)
    made.advance(GRACE_MS)
    expect(await edit(made, later, "package-lock.json", { session: "c" })).toEqual(ALLOWED)
  })

  onPosix("is looked at only where it stands in the way of the edit", async () => {
    const made = world()
    const { app } = await made.session()
    const { pid } = await clientProcess("codex")
    await edit(made, app, "src/a.ts", { client: "codex", parentPid: pid, session: "dead" })
    const later = without(app, pid)
    await edit(made, app, "package-lock.json", { session: "living" })
    expect((await edit(made, later, "package-lock.json", { session: "c" })).exitCode).toBe(2)
    const diedAtMs = (await held(made, { app } as Session)).map((one) => one.diedAtMs)
    expect(diedAtMs).toEqual([null, null])
  })

  onPosix("is dead when its client was killed", async () => {
    const made = world()
    const other = await made.session()
    const { pid } = await clientProcess("codex")
    await edit(made, other.app, "src/a.ts", { client: "codex", parentPid: pid })
    process.kill(pid, "SIGKILL")
    await expect.poll(async () => (await tendDeadSessions(other.app)).hasChanged).toBe(true)
    expect((await held(made, other))[0]?.diedAtMs).toBe(made.nowMs)
  })
})

describe("a session with a server", () => {
  const ABOVE = ["process:4000000:mark"]

  async function reserveAs(session: Session, name: string): Promise<void> {
    const ada = await session.register(name)
    await session.call("reserve-file-paths", {
      agent_id: ada.id,
      coordination_project_id: ada.projectId,
      repository_id: ada.repositoryId,
      path_pattern: "src/**",
    })
  }

  test.each([
    ["that was told its id", "told"],
    ["that was told none", undefined],
  ])("%s lives as long as its server, and dies with server and client", async (_, name) => {
    const made = world()
    const other = await made.session()
    const server = await serverBelow(made, ABOVE, name)
    await reserveAs(server, "Ada")
    expect(await tendDeadSessions(other.app)).toEqual(NONE)
    await server.close()
    if (name === undefined) {
      // Its session is named after this process, which lives on.
      expect(await tendDeadSessions(other.app)).toEqual(NONE)
      expect(await tendDeadSessions(without(other.app, process.pid))).toEqual(NOTED)
    } else expect(await tendDeadSessions(other.app)).toEqual(NOTED)
  })

  test("lives on without its server while its client does", async () => {
    const made = world()
    const other = await made.session()
    const server = await serverBelow(made, [`process:${process.pid}:${other.app.processMark}`], "told")
    await reserveAs(server, "Ada")
    await server.close()
    expect(await tendDeadSessions(other.app)).toEqual(NONE)
    expect(await tendDeadSessions(without(other.app, process.pid))).toEqual(NOTED)
  })

  test("of whose client nothing was seen keeps its files until they run out", async () => {
    const made = world()
    const other = await made.session()
    const server = await serverBelow(made, [], "told")
    await reserveAs(server, "Ada")
    await server.close()
    expect(await tendDeadSessions(other.app, { withoutGrace: true })).toEqual(NONE)
  })

  test("is not known to have died where its container's processes are not seen, nor a machine's from a sandbox", async () => {
    const made = world()
    const other = await made.session()
    const contained = await serverBelow(made, ["process:4000000:boot:12:pid:[4026532000]"], "contained")
    await reserveAs(contained, "Ada")
    await contained.close()
    const seenFrom = (namespace: string) => ({ ...other.app, processMark: `boot:34${namespace}` })
    expect(await tendDeadSessions(seenFrom(""), { withoutGrace: true })).toEqual(NONE)
    expect(await tendDeadSessions(seenFrom(":pid:[4026532001]"), { withoutGrace: true })).toEqual(NONE)
    expect(await tendDeadSessions(seenFrom(":pid:[4026532000]"))).toEqual(NOTED)
  })

  test("stays listed when a sandbox does not see its process", async () => {
    const { app } = await world().session()
    const process = { pid: 4_000_000, identityMark: "boot:12", session: "client:outside" }
    await app.db.transaction("processes", (tx) => insertProcess(tx, process, 0))
    const sandboxed = { ...app, processMark: "boot:34:pid:[4026532001]" }
    await removeDeadProcesses(sandboxed)
    expect(await livingSessions(sandboxed)).toContain("client:outside")
    await removeDeadProcesses({ ...app, processMark: "boot:34" })
    expect((await listProcesses(app.db)).map(({ session }) => session)).not.toContain("client:outside")
  })

  test("loses at once what it held when its grace is not asked for", async () => {
    const made = world()
    const other = await made.session()
    const server = await serverBelow(made, ABOVE, "told")
    await reserveAs(server, "Ada")
    await server.close()
    expect(await tendDeadSessions(other.app, { withoutGrace: true })).toEqual({
      released: 1,
      hasChanged: true,
    })
  })
})
