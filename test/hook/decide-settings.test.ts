/** What each setting does to an edit. How settings are read is tested in settings.test.ts. */

import { join } from "node:path"
import { describe, expect, test } from "vitest"
import { HOOK_SETTINGS_DEFAULT } from "../../src/config/hook-settings.ts"
import { timeAndAge } from "../../src/operations/markdown.ts"
import {
  ALLOWED,
  commitAll,
  configure,
  configureProject,
  edit,
  git,
  heldIn,
  reserve,
  sessionEvent,
  toldBy,
  writeFile,
} from "../support/hook.ts"
import { agents, textAfter } from "../support/world.ts"

test("enabled false lets everything go on and says nothing", async () => {
  const [made, ada] = await agents("Ada")
  const { app } = ada.session
  await reserve(ada, "src/**")
  configure(made, { enabled: false })
  expect(await edit(made, app, ["src/a.ts", "docs/b.md"])).toEqual(ALLOWED)
  expect(await sessionEvent(made, app, "session-start")).toEqual(ALLOWED)
  expect(await heldIn(app)).toHaveLength(1)
})

describe("autoReserve false", () => {
  test("reserves nothing and makes no agent, and blocks as before", async () => {
    const [made, ada] = await agents("Ada")
    const { app } = ada.session
    configure(made, { autoReserve: false })
    expect(await edit(made, app, "src/a.ts")).toEqual(ALLOWED)
    expect(await heldIn(app)).toEqual([])
    expect(await ada.session.call("list-agents", { project_key: "demo" })).toContain("Total: 1")
    await reserve(ada, "src/**")
    expect((await edit(made, app, "src/a.ts")).exitCode).toBe(2)
    expect(await edit(made, app, "src/a.ts", { session: "session-of-Ada" })).toEqual(ALLOWED)
  })

  test("counts the mode in which the file would have been reserved", async () => {
    const [made, ada] = await agents("Ada")
    configure(made, { autoReserve: false })
    await reserve(ada, "**", { exclusive: false })
    expect((await edit(made, ada.session.app, "src/a.ts")).exitCode).toBe(0)
    expect((await edit(made, ada.session.app, "package-lock.json")).exitCode).toBe(2)
  })

  test("still marks the agent active for which it checks", async () => {
    const [made, ada] = await agents("Ada")
    configure(made, { autoReserve: false })
    made.advance(60_000)
    await edit(made, ada.session.app, "src/a.ts", { session: "session-of-Ada" })
    const profile = await ada.session.call("whois", { project_key: "demo", agent_name: "Ada" })
    expect(textAfter(profile, "Last active")).toContain(timeAndAge(made.nowMs, made.nowMs))
  })
})

describe("blockConflicts false", () => {
  test("warns once a file and session, names the holder, and reserves nothing of the edit", async () => {
    const [made, ada] = await agents("Ada")
    const { app } = ada.session
    await reserve(ada, "src/**")
    configure(made, { blockConflicts: false })
    const text = toldBy(await edit(made, app, ["src/a.ts", "docs/b.md"]))
    expect(text).toContain("warning")
    expect(text).toContain("src/a.ts is reserved by Ada (exclusive, 1 h left")
    expect(await heldIn(app)).toEqual(["src/** exclusive 3600"])
    expect(await edit(made, app, "src/a.ts")).toEqual(ALLOWED)
  })

  test("warns of every file that is not free, also beside one that was told of before", async () => {
    const [made, ada] = await agents("Ada")
    const { app } = ada.session
    await reserve(ada, "src/**")
    configure(made, { blockConflicts: false })
    expect(toldBy(await edit(made, app, "src/a.ts"))).toContain("src/a.ts")
    expect(toldBy(await edit(made, app, ["src/a.ts", "src/b.ts"]))).toContain("src/b.ts")
    expect(await edit(made, app, "src/b.ts")).toEqual(ALLOWED)
  })
})

describe("showGuidance false", () => {
  test("leaves the offers out of a refusal, not the facts", async () => {
    const [made, ada] = await agents("Ada")
    await reserve(ada, "src/**")
    configure(made, { showGuidance: false })
    const { exitCode, stderr } = await edit(made, ada.session.app, "src/a.ts")
    expect(exitCode).toBe(2)
    expect(stderr).toContain("src/a.ts is reserved by Ada (exclusive, 1 h left")
    expect(stderr).not.toMatch(/message the holder|wait for|another file|override/)
  })

  test("tells nothing of what goes on", async () => {
    const [made, ada] = await agents("Ada")
    await reserve(ada, "src/**", { exclusive: false })
    configure(made, { showGuidance: false })
    expect(await edit(made, ada.session.app, "src/a.ts")).toEqual(ALLOWED)
    configure(made, { showGuidance: false, blockConflicts: false, defaultMode: "exclusive" })
    expect(await edit(made, ada.session.app, "src/b.ts")).toEqual(ALLOWED)
  })
})

test("allowOverrides false leaves out that offer and no other", async () => {
  const [made, ada] = await agents("Ada")
  await reserve(ada, "src/**")
  configure(made, { allowOverrides: false })
  const { stderr } = await edit(made, ada.session.app, "src/a.ts")
  expect(stderr).not.toContain("override")
  for (const offer of ["message the holder", "wait for the expiry", "another file"])
    expect(stderr).toContain(offer)
})

test("defaultMode, reservationDuration, exclusivePatterns and ignorePatterns decide what is reserved", async () => {
  const [made, ada] = await agents("Ada")
  const { app } = ada.session
  configure(made, { defaultMode: "exclusive", reservationDuration: 61, ignorePatterns: ["*.md"] })
  expect(await edit(made, app, ["src/a.ts", "b.md", "x.log"])).toEqual(ALLOWED)
  expect(await heldIn(app)).toEqual(["src/a.ts exclusive 61", "x.log exclusive 61"])
  configure(made, { exclusivePatterns: ["docs/**"] })
  await edit(made, app, ["docs/c.md", "package-lock.json"])
  expect((await heldIn(app)).slice(2)).toEqual(["docs/c.md exclusive 7200", "package-lock.json shared 7200"])
})

test("a reservation shorter than the minute that makes it worth reusing is renewed by every edit", async () => {
  const [made, ada] = await agents("Ada")
  configure(made, { reservationDuration: 1 })
  for (let edits = 0; edits < 3; edits += 1)
    expect(await edit(made, ada.session.app, "src/a.ts")).toEqual(ALLOWED)
  expect(await heldIn(ada.session.app)).toEqual(["src/a.ts shared 1"])
})

describe("a broken configuration", () => {
  test.each([
    ["{ not JSON", "JSON"],
    ['{"hooks":[]}', "hooks.preEdit must be an object"],
    ['{"hooks":{"preEdit":{"enable":false,"defaultMode":"both"}}}', "enable"],
  ])("%s is one line on stderr, and the defaults hold", async (text, part) => {
    const [made, ada] = await agents("Ada")
    const { app } = ada.session
    writeFile(join(made.repositoryPath, ".signalbox.json"), text)
    const { exitCode, stdout, stderr } = await edit(made, app, "src/a.ts")
    expect([exitCode, stdout]).toEqual([0, ""])
    expect(stderr.trim().split("\n")).toHaveLength(1)
    expect(stderr).toContain(".signalbox.json")
    expect(stderr).toContain(part)
    const { defaultMode, reservationDuration } = HOOK_SETTINGS_DEFAULT
    expect(await heldIn(app)).toEqual([`src/a.ts ${defaultMode} ${reservationDuration}`])
  })

  test("does not come between a client and its refusal", async () => {
    const [made, ada] = await agents("Ada")
    await reserve(ada, "src/**")
    writeFile(join(made.repositoryPath, ".signalbox.json"), "{")
    const { exitCode, stderr } = await edit(made, ada.session.app, "src/a.ts")
    expect(exitCode).toBe(2)
    expect(stderr).toMatch(/^signalbox blocked this edit/)
  })

  test("does not come between a client and what its model is told", async () => {
    const [made, ada] = await agents("Ada")
    await reserve(ada, "src/**", { exclusive: false })
    writeFile(join(made.repositoryPath, ".signalbox.json"), "{")
    const answer = await edit(made, ada.session.app, "src/a.ts")
    expect(toldBy(answer)).toContain("also reserved by Ada")
    expect(answer.stderr).toContain(".signalbox.json")
  })
})

test("the project's file wins over the user's key by key", async () => {
  const [made, ada] = await agents("Ada")
  const { app } = ada.session
  const user = { hooks: { preEdit: { defaultMode: "exclusive", reservationDuration: 100 } } }
  writeFile(app.config.userConfigPath, JSON.stringify(user))
  configureProject(made, { reservationDuration: 200 })
  await edit(made, app, "src/a.ts")
  expect(await heldIn(app)).toEqual(["src/a.ts exclusive 200"])
})

test("a work tree's own file counts in it, at a session's start as before an edit", async () => {
  const [made, ada] = await agents("Ada")
  const { app } = ada.session
  commitAll(made.repositoryPath)
  const folder = join(made.folder, "tree")
  git(made.repositoryPath, "worktree", "add", "--quiet", folder)
  writeFile(join(folder, ".signalbox.json"), JSON.stringify({ hooks: { preEdit: { enabled: false } } }))
  await reserve(ada, "src/**")
  expect(toldBy(await edit(made, app, join(folder, "src/a.ts"), { folder }))).toContain("weakens")
  expect(await edit(made, app, join(folder, "src/a.ts"), { folder })).toEqual(ALLOWED)
  expect(await sessionEvent(made, app, "session-start", { folder })).toEqual(ALLOWED)
})

describe("a project's settings that are weaker than the defaults", () => {
  const weakens = (key: string) =>
    new RegExp(`^signalbox: .*\\.signalbox\\.json weakens hooks\\.preEdit\\.${key};`, "m")

  test("are told once a session, before or beside an edit", async () => {
    const [made, ada] = await agents("Ada")
    const { app } = ada.session
    configureProject(made, { enabled: false, ignorePatterns: ["**"] })
    const text = toldBy(await edit(made, app, "src/a.ts"))
    expect(text).toMatch(weakens("enabled"))
    expect(text).toMatch(weakens("ignorePatterns"))
    expect(await edit(made, app, "src/a.ts")).toEqual(ALLOWED)
    expect(toldBy(await sessionEvent(made, app, "session-start", { session: "session-c" }))).toMatch(
      weakens("enabled"),
    )
    expect(await edit(made, app, "src/a.ts", { session: "session-c" })).toEqual(ALLOWED)
  })

  test("are told of again when they became weaker, and after a block that left no room for them", async () => {
    const [made, ada] = await agents("Ada")
    const { app } = ada.session
    await reserve(ada, "src/**")
    configureProject(made, { reservationDuration: 1 })
    const blocked = await edit(made, app, "src/a.ts")
    expect([blocked.exitCode, blocked.stderr.includes("weakens")]).toEqual([2, false])
    expect(toldBy(await edit(made, app, "docs/a.md"))).toMatch(weakens("reservationDuration"))
    configureProject(made, { reservationDuration: 1, blockConflicts: false })
    const text = toldBy(await edit(made, app, "src/a.ts"))
    expect(text).toMatch(weakens("blockConflicts"))
    expect(text).not.toMatch(weakens("reservationDuration"))
  })

  test("do not count against what the user's own file sets, which is told as well", async () => {
    const [made, ada] = await agents("Ada")
    const { app } = ada.session
    await reserve(ada, "src/**")
    configure(made, { enabled: true, blockConflicts: true, ignorePatterns: [] })
    configureProject(made, { enabled: false, blockConflicts: false, ignorePatterns: ["src/**"] })
    expect((await edit(made, app, "src/a.ts")).exitCode).toBe(2)
    expect(toldBy(await edit(made, app, "docs/a.md"))).toContain("than your own")
  })
})
