/** What an edit needs and gets: conflicts, reservations made, reused and renewed, and what is told of them. */

import { describe, expect, test } from "vitest"
import { timeAndAge } from "../../src/operations/markdown.ts"
import { ALLOWED, edit, heldIn, reserve, toldBy } from "../support/hook.ts"
import { agents, textAfter, world } from "../support/world.ts"

const HOUR_S = 3_600
const DEFAULT_S = 7_200

describe("a file that another session holds", () => {
  test("exclusively is blocked, with holder, mode, time, reason and four offers", async () => {
    const [made, ada] = await agents("Ada")
    await reserve(ada, "src/auth/**", { reason: "new login" })
    const { exitCode, stdout, stderr } = await edit(made, ada.session.app, "src/auth/login.ts")
    expect([exitCode, stdout]).toEqual([2, ""])
    expect(stderr).toContain(
      "src/auth/login.ts is reserved by Ada (exclusive, 1 h left, pattern src/auth/**)",
    )
    expect(stderr).toContain("new login")
    expect(stderr).toContain(`message the holder: send-message to agent id ${ada.id} in project id`)
    expect(stderr).toContain("wait for the expiry: 2026-03-10T13:00:00.000Z")
    expect(stderr).toContain("work on another file")
    expect(stderr).toMatch(/override \S*src\/auth\/login\.ts .*--reason/)
  })

  test.each([
    ["exclusive", "src/a.ts", 2],
    ["shared", "src/a.ts", 0],
    ["exclusive", "package-lock.json", 2],
    ["shared", "package-lock.json", 2],
  ])("%s ends an edit of %s with exit code %i", async (mode, file, exitCode) => {
    const [made, ada] = await agents("Ada")
    await reserve(ada, file, { exclusive: mode === "exclusive" })
    expect((await edit(made, ada.session.app, file)).exitCode).toBe(exitCode)
  })

  test("is blocked on behalf of another project that works in the same repository too", async () => {
    const made = world()
    const ada = await (await made.session({ name: "a" })).register("Ada", { project_key: "one" })
    const bob = await (await made.session({ name: "b" })).register("Bob", { project_key: "two" })
    await reserve(ada, "src/**")
    const { exitCode, stderr } = await edit(made, bob.session.app, "src/a.ts")
    expect(exitCode).toBe(2)
    // Mail reaches nobody in another project, so the offer must not send the agent there.
    expect(stderr).not.toContain("send-message")
    expect(stderr).toContain("another project")
  })

  test("is free again from the moment of expiry, release or session end on", async () => {
    const [made, ada] = await agents("Ada")
    const { app } = ada.session
    await reserve(ada, "src/a.ts", { duration_seconds: 60 })
    made.advance(59_999)
    expect((await edit(made, app, "src/a.ts")).exitCode).toBe(2)
    made.advance(1)
    expect(await edit(made, app, "src/a.ts")).toEqual(ALLOWED)
    await reserve(ada, "src/b.ts")
    expect((await edit(made, app, "src/b.ts")).exitCode).toBe(2)
    const { id, projectId } = ada
    await ada.session.call("release-file-reservations", { agent_id: id, coordination_project_id: projectId })
    expect(await edit(made, app, "src/b.ts")).toEqual(ALLOWED)
  })

  test("stays theirs: a blocked edit reserves nothing, of several files none", async () => {
    const [made, ada] = await agents("Ada")
    await reserve(ada, "src/b.ts")
    const { exitCode, stderr } = await edit(made, ada.session.app, ["src/a.ts", "src/b.ts", "src/c.ts"])
    expect(exitCode).toBe(2)
    expect(stderr).toContain("src/b.ts is reserved")
    expect(stderr).not.toContain("src/a.ts")
    expect(await heldIn(ada.session.app)).toEqual([`src/b.ts exclusive ${HOUR_S}`])
  })

  test("is offered for an override under a path that is right where the client works", async () => {
    const [made, ada] = await agents("Ada")
    await reserve(ada, "src/deep/a.ts")
    const folder = `${made.repositoryPath}/src`
    const { stderr } = await edit(made, ada.session.app, `${folder}/deep/a.ts`, { folder })
    const [, path] = /override (\S+)/.exec(stderr) ?? []
    expect([`${folder}/deep/a.ts`, "deep/a.ts", "./deep/a.ts"]).toContain(path)
  })
})

describe("a file that is free", () => {
  test("is reserved, shared, for two hours, for a session that had no agent", async () => {
    const [made, ada] = await agents("Ada")
    expect(await edit(made, ada.session.app, "src/a.ts")).toEqual(ALLOWED)
    expect(await heldIn(ada.session.app)).toEqual([`src/a.ts shared ${DEFAULT_S}`])
  })

  test.each(["package-lock.json", "web/yarn.lock", "db/migrations/001.sql", ".github/workflows/ci.yml"])(
    "is reserved exclusively when it is %s",
    async (file) => {
      const [made, ada] = await agents("Ada")
      expect(await edit(made, ada.session.app, file)).toEqual(ALLOWED)
      expect(await heldIn(ada.session.app)).toEqual([`${file} exclusive ${DEFAULT_S}`])
      expect((await edit(made, ada.session.app, file, { session: "c" })).exitCode).toBe(2)
    },
  )

  test.each([".git/config", "node_modules/a/b.js", "web/dist/a.js", "a/build/b", "x.log", "a/.DS_Store"])(
    "is left alone when it is %s, even when another holds it",
    async (file) => {
      const [made, ada] = await agents("Ada")
      expect(await edit(made, ada.session.app, file)).toEqual(ALLOWED)
      expect(await heldIn(ada.session.app)).toEqual([])
      await reserve(ada, "**")
      expect(await edit(made, ada.session.app, file)).toEqual(ALLOWED)
    },
  )

  test("among ignored ones is reserved alone", async () => {
    const [made, ada] = await agents("Ada")
    expect(await edit(made, ada.session.app, ["dist/a.js", "src/a.ts", "b.log"])).toEqual(ALLOWED)
    expect(await heldIn(ada.session.app)).toEqual([`src/a.ts shared ${DEFAULT_S}`])
  })

  test("named twice in one edit is reserved once", async () => {
    const [made, ada] = await agents("Ada")
    const absolute = `${made.repositoryPath}/src/a.ts`
    expect(await edit(made, ada.session.app, ["src/a.ts", absolute, "src/./a.ts"])).toEqual(ALLOWED)
    expect(await heldIn(ada.session.app)).toEqual([`src/a.ts shared ${DEFAULT_S}`])
  })
})

describe("the session's own reservation", () => {
  test("is no obstacle, and is reused", async () => {
    const [made, ada] = await agents("Ada")
    await reserve(ada, "src/auth/**")
    const session = "session-of-Ada"
    expect(await edit(made, ada.session.app, "src/auth/login.ts", { session })).toEqual(ALLOWED)
    expect(await heldIn(ada.session.app)).toEqual([`src/auth/** exclusive ${HOUR_S}`])
  })

  test("of the very file is reused while 60 s of it remain, and renewed when only 59 do", async () => {
    const [made, ada] = await agents("Ada")
    const { app } = ada.session
    await edit(made, app, "src/a.ts")
    made.advance((DEFAULT_S - 60) * 1_000)
    expect(await edit(made, app, "src/a.ts")).toEqual(ALLOWED)
    expect(await heldIn(app)).toEqual(["src/a.ts shared 60"])
    made.advance(1_000)
    expect(await edit(made, app, "src/a.ts")).toEqual(ALLOWED)
    expect(await heldIn(app)).toEqual([`src/a.ts shared ${DEFAULT_S}`])
  })

  test("of a wider pattern is joined by one of the file when it is about to run out", async () => {
    const [made, ada] = await agents("Ada")
    const { app } = ada.session
    await reserve(ada, "src/**", { exclusive: false, duration_seconds: 59 })
    await edit(made, app, "src/a.ts", { session: "session-of-Ada" })
    expect(await heldIn(app)).toEqual(["src/** shared 59", `src/a.ts shared ${DEFAULT_S}`])
  })

  test("that is exclusive stays so when an edit that could share renews it", async () => {
    const [made, ada] = await agents("Ada")
    await reserve(ada, "src/a.ts", { duration_seconds: 59 })
    await edit(made, ada.session.app, "src/a.ts", { session: "session-of-Ada" })
    expect(await heldIn(ada.session.app)).toEqual([`src/a.ts exclusive ${DEFAULT_S}`])
  })

  test("that is exclusive stays so beside a wider shared one, when both are renewed", async () => {
    const [made, ada] = await agents("Ada")
    await reserve(ada, "src/**", { exclusive: false, duration_seconds: 59 })
    await reserve(ada, "src/a.ts", { duration_seconds: 59 })
    await edit(made, ada.session.app, "src/a.ts", { session: "session-of-Ada" })
    expect(await heldIn(ada.session.app)).toContain(`src/a.ts exclusive ${DEFAULT_S}`)
  })

  test("that is exclusive and wider makes the file's own exclusive when it is about to run out", async () => {
    const [made, ada] = await agents("Ada")
    await reserve(ada, "src/**", { duration_seconds: 59 })
    await edit(made, ada.session.app, "src/a.ts", { session: "session-of-Ada" })
    expect(await heldIn(ada.session.app)).toContain(`src/a.ts exclusive ${DEFAULT_S}`)
  })

  test("that is shared becomes exclusive when the file asks for it, unless others share it", async () => {
    const [made, ada, bob] = await agents("Ada", "Bob")
    const { app } = ada.session
    await reserve(ada, "package-lock.json", { exclusive: false })
    await edit(made, app, "package-lock.json", { session: "session-of-Ada" })
    expect(await heldIn(app)).toEqual([`package-lock.json exclusive ${DEFAULT_S}`])
    await reserve(ada, "go.sum", { exclusive: false })
    await reserve(bob, "go.sum", { exclusive: false })
    expect((await edit(made, app, "go.sum", { session: "session-of-Ada" })).exitCode).toBe(2)
  })

  test("is one whichever of the session's agents holds it", async () => {
    const [made, ada] = await agents("Ada")
    const bob = await ada.session.register("Bob")
    await reserve(ada, "src/a.ts")
    await reserve(bob, "src/b.ts")
    const session = "session-of-Ada"
    expect(await edit(made, ada.session.app, ["src/a.ts", "src/b.ts"], { session })).toEqual(ALLOWED)
    expect(await heldIn(ada.session.app)).toEqual([
      `src/a.ts exclusive ${HOUR_S}`,
      `src/b.ts exclusive ${HOUR_S}`,
    ])
  })
})

describe("an edit beside others' shared reservations", () => {
  test("is told of once per file and session", async () => {
    const [made, ada] = await agents("Ada")
    const { app } = ada.session
    await reserve(ada, "src/**", { exclusive: false })
    expect(toldBy(await edit(made, app, "src/a.ts"))).toContain("src/a.ts is also reserved by Ada")
    expect(await edit(made, app, "src/a.ts")).toEqual(ALLOWED)
    expect(toldBy(await edit(made, app, "src/b.ts"))).toContain("src/b.ts")
    expect(toldBy(await edit(made, app, "src/a.ts", { session: "c" }))).toContain("Ada")
  })

  test("of several files is told of every one of them", async () => {
    const [made, ada] = await agents("Ada")
    await reserve(ada, "src/**", { exclusive: false })
    const text = toldBy(await edit(made, ada.session.app, ["src/a.ts", "src/b.ts"]))
    expect(text).toContain("src/a.ts")
    expect(text).toContain("src/b.ts")
  })

  test("is one line on stderr where the client's model cannot be told", async () => {
    const [made, ada] = await agents("Ada")
    await reserve(ada, "src/**", { exclusive: false })
    const { exitCode, stdout, stderr } = await edit(made, ada.session.app, "src/a.ts", { client: "codex" })
    expect([exitCode, stdout]).toEqual([0, ""])
    expect(stderr.trim().split("\n")).toHaveLength(1)
    expect(stderr).toContain("also reserved by Ada")
  })
})

test("whoever edits counts as active from then on", async () => {
  const [made, ada] = await agents("Ada")
  for (const file of ["src/a.ts", "src/a.ts", "src/b.ts"]) {
    made.advance(31_000)
    await edit(made, ada.session.app, file, { session: "session-of-Ada" })
    const profile = await ada.session.call("whois", { project_key: "demo", agent_name: "Ada" })
    expect(textAfter(profile, "Last active")).toContain(timeAndAge(made.nowMs, made.nowMs))
  }
})

test.each(["Read", "Grep", "mcp__files__write"])("a call of %s is no edit", async (tool) => {
  const [made, ada] = await agents("Ada")
  await reserve(ada, "**")
  const fields = { tool_name: tool, tool_input: { file_path: "src/a.ts", content: "x" } }
  expect(await edit(made, ada.session.app, [], { fields })).toEqual(ALLOWED)
})
