/** The two ends of a session, and the mail that is told in between. */

import { join } from "node:path"
import { describe, expect, test } from "vitest"
import { connectFolder } from "../../src/operations/connect.ts"
import { timeAndAge } from "../../src/operations/markdown.ts"
import {
  ALLOWED,
  edit,
  git,
  heldIn,
  introducedBy,
  reserve,
  runHook,
  sessionEvent,
  toldBy,
  writeFile,
} from "../support/hook.ts"
import { agents, send, type TestAgent, textAfter, type World, world } from "../support/world.ts"

const introduction = { program: "claude-code", model: "m" }
const ADA = { session: "session-of-Ada" }
const BOB = { session: "session-of-Bob" }

describe("a session's start", () => {
  test("names the agent and all ids that its tools need, and the agent that registers is the same", async () => {
    const [made, ada] = await agents("Ada")
    const answer = await sessionEvent(made, ada.session.app, "session-start")
    const { name, id, projectId } = introducedBy(answer)
    expect(toldBy(answer)).toContain('project_key "demo"')
    expect(toldBy(answer)).toContain("macro-start-session")
    const session = await made.session({ name: "b" })
    const text = await session.call("macro-start-session", { ...introduction, project_key: "demo" })
    expect(textAfter(text, "Agent id")).toBe(String(id))
    expect(textAfter(text, "Name")).toBe(name)
    expect(textAfter(text, "Project id")).toBe(String(projectId))
  })

  test("opens the repository's own project where nobody has worked before", async () => {
    const made = world()
    const { app } = await made.session({ name: "listener" })
    const text = toldBy(await sessionEvent(made, app, "session-start"))
    expect(text).toContain(`project_key ${JSON.stringify(made.repositoryPath)}`)
    expect(text).toContain("No other agent has reserved files here.")
    expect(text).toContain("No unread mail.")
  })

  test("names an agent that has introduced itself by its own name", async () => {
    const [made, ada] = await agents("Ada")
    const answer = await sessionEvent(made, ada.session.app, "session-start", ADA)
    expect(introducedBy(answer)).toEqual({ name: "Ada", id: ada.id, projectId: ada.projectId })
    expect(toldBy(answer)).not.toContain("macro-start-session")
  })

  test("counts as activity of that agent", async () => {
    const [made, ada] = await agents("Ada")
    made.advance(60_000)
    await sessionEvent(made, ada.session.app, "session-start", ADA)
    const profile = await ada.session.call("whois", { project_key: "demo", agent_name: "Ada" })
    expect(textAfter(profile, "Last active")).toContain(timeAndAge(made.nowMs, made.nowMs))
  })

  test("lists what others hold, exclusive ones first, in any project, and not what is its own", async () => {
    const [made, ada, bob] = await agents("Ada", "Bob")
    const other = await (await made.session({ name: "o" })).register("Eve", { project_key: "other" })
    await reserve(bob, "shared/**", { exclusive: false })
    await reserve(other, "elsewhere/**", { duration_seconds: 60 })
    await reserve(ada, "mine/**")
    const text = toldBy(await sessionEvent(made, ada.session.app, "session-start", ADA))
    expect(text).toMatch(
      /- elsewhere\/\*\*: Eve, exclusive, 1 min left\n- shared\/\*\*: Bob, shared, 1 h left/,
    )
    expect(text).not.toContain("mine/")
  })

  test("counts what is too much to list", async () => {
    const [made, ada, bob] = await agents("Ada", "Bob")
    for (let number = 1; number <= 9; number += 1) await reserve(bob, `file-${number}`)
    const text = toldBy(await sessionEvent(made, ada.session.app, "session-start", ADA))
    expect(text.match(/^- file-/gm)).toHaveLength(8)
    expect(text).toContain("and 1 more: call list-file-reservations")
  })

  test("counts unread mail and the urgent part of it", async () => {
    const [made, ada, bob] = await agents("Ada", "Bob")
    const { messageId } = await send(bob, [ada])
    const start = async () => toldBy(await sessionEvent(made, ada.session.app, "session-start", ADA))
    expect(await start()).toContain("Unread mail: 1. Call fetch-inbox")
    await send(bob, [ada], { importance: "urgent" })
    expect(await start()).toContain("Unread mail: 2, 1 urgent.")
    const reading = { agent_name: "Ada", project_id: ada.projectId, message_id: messageId }
    await ada.session.call("read-message", reading)
    expect(await start()).toContain("Unread mail: 1, 1 urgent.")
  })

  test("outside of any repository says nothing", async () => {
    const [made, ada] = await agents("Ada")
    expect(await sessionEvent(made, ada.session.app, "session-start", { folder: made.folder })).toEqual(
      ALLOWED,
    )
  })

  test("of somebody whom nothing tells from others says nothing and makes no agent", async () => {
    const [made, ada] = await agents("Ada")
    expect(await sessionEvent(made, ada.session.app, "session-start", { session: null })).toEqual(ALLOWED)
    expect(await ada.session.call("list-agents", { project_key: "demo" })).toContain("Total: 1")
  })
})

describe("a start whose text the client drops", () => {
  test("is told at the first event that the model hears, once", async () => {
    const made = world()
    const { app } = await made.session({ name: "listener" })
    const qwen = (event: "session-start" | "mail", name: string) =>
      sessionEvent(made, app, event, { session: "q", client: "qwen-code", fields: { hook_event_name: name } })
    expect((await qwen("session-start", "SessionStart")).stdout).toBe("")
    expect(toldBy(await qwen("mail", "UserPromptSubmit"))).toContain("signalbox: you are")
    expect(await qwen("mail", "UserPromptSubmit")).toEqual(ALLOWED)
  })
})

describe("a session's end", () => {
  test("releases all that the session's agents hold in all projects and repositories, and nothing else", async () => {
    const [made, ada, bob] = await agents("Ada", "Bob")
    const { app } = ada.session
    const path = join(made.folder, "other")
    git(made.folder, "init", "--quiet", path)
    const { id } = await connectFolder(app.db, path, made.nowMs)
    const second = await ada.session.register("Second", { project_key: "two" })
    await reserve(ada, "a.ts")
    await reserve(second, "b.ts")
    await reserve({ ...ada, repositoryId: id }, "c.ts")
    await edit(made, app, "d.ts", ADA)
    await reserve(bob, "e.ts")
    await edit(made, app, "f.ts", { session: "c" })
    expect(await sessionEvent(made, app, "session-end", ADA)).toEqual(ALLOWED)
    expect(await heldIn(app)).toEqual(["e.ts exclusive 3600", "f.ts shared 7200"])
    expect(await heldIn(app, id)).toEqual([])
  })

  test("releases what the hook alone has reserved, and may come twice", async () => {
    const [made, ada] = await agents("Ada")
    const { app } = ada.session
    await edit(made, app, "src/a.ts")
    for (let ends = 0; ends < 2; ends += 1) {
      expect(await sessionEvent(made, app, "session-end")).toEqual(ALLOWED)
      expect(await heldIn(app)).toEqual([])
    }
  })

  test("releases also when it comes from a folder outside of any repository", async () => {
    const [made, ada] = await agents("Ada")
    await edit(made, ada.session.app, "src/a.ts")
    await sessionEvent(made, ada.session.app, "session-end", { folder: made.folder })
    expect(await heldIn(ada.session.app)).toEqual([])
  })

  test("releases also when the payload and the hook know no folder", async () => {
    const [made, ada] = await agents("Ada")
    await edit(made, ada.session.app, "src/a.ts")
    await runHook(made, ada.session.app, '{"session_id":"b"}', { event: "session-end", folder: undefined })
    expect(await heldIn(ada.session.app)).toEqual([])
  })

  test("releases also when the hook was switched off meanwhile", async () => {
    const [made, ada] = await agents("Ada")
    await edit(made, ada.session.app, "src/a.ts")
    writeFile(join(made.repositoryPath, ".signalbox.json"), '{"hooks":{"preEdit":{"enabled":false}}}')
    await sessionEvent(made, ada.session.app, "session-end")
    expect(await heldIn(ada.session.app)).toEqual([])
  })

  test("of an unknown session makes nobody", async () => {
    const [made, ada] = await agents("Ada")
    expect(await sessionEvent(made, ada.session.app, "session-end", { session: "new" })).toEqual(ALLOWED)
    expect(await ada.session.call("list-agents", { project_key: "demo" })).toContain("Total: 1")
  })
})

describe("mail", () => {
  const mail = (made: World, { session }: TestAgent) => sessionEvent(made, session.app, "mail", BOB)

  test.each([
    ["urgent", { importance: "urgent" }, "urgent mail for Bob"],
    ["to be acknowledged", { ack_required: true }, "needs your acknowledgment"],
  ])("that is %s is told once", async (_, args, text) => {
    const [made, ada, bob] = await agents("Ada", "Bob")
    const { messageId } = await send(ada, [bob], { ...args, subject: "Stop\nthe press" })
    const told = toldBy(await mail(made, bob))
    expect(told).toContain(text)
    expect(told).toContain(`from Ada: "Stop ⏎ the press" (message id ${messageId})`)
    expect(await mail(made, bob)).toEqual(ALLOWED)
  })

  test("that is ordinary is not told", async () => {
    const [made, ada, bob] = await agents("Ada", "Bob")
    await send(ada, [bob])
    await send(ada, [bob], { importance: "high" })
    expect(await mail(made, bob)).toEqual(ALLOWED)
  })

  test.each(["read-message", "ack-message"])("is not told after %s", async (tool) => {
    const [made, ada, bob] = await agents("Ada", "Bob")
    for (const args of [{ importance: "urgent" }, { ack_required: true }]) {
      const { messageId } = await send(ada, [bob], args)
      await bob.session.call(tool, { agent_name: "Bob", project_id: bob.projectId, message_id: messageId })
    }
    expect(await mail(made, bob)).toEqual(ALLOWED)
  })

  test("of several is one line that counts the others", async () => {
    const [made, ada, bob] = await agents("Ada", "Bob")
    for (const subject of ["One", "Two", "Three"]) await send(ada, [bob], { importance: "urgent", subject })
    const told = toldBy(await mail(made, bob))
    expect(told.split("\n")).toHaveLength(1)
    expect(told).toContain("2 more")
    expect(await mail(made, bob)).toEqual(ALLOWED)
    await send(ada, [bob], { importance: "urgent", subject: "Four" })
    expect(toldBy(await mail(made, bob))).toContain("Four")
  })

  test("that is new is told however much waits that was told before", async () => {
    const [made, ada, bob] = await agents("Ada", "Bob")
    for (let number = 1; number <= 25; number += 1) await send(ada, [bob], { ack_required: true })
    await mail(made, bob)
    await send(ada, [bob], { ack_required: true, subject: "The latest" })
    expect(toldBy(await mail(made, bob))).not.toBe("")
  })

  test("that is new is told however much was read and never acknowledged", async () => {
    const [made, ada, bob] = await agents("Ada", "Bob")
    for (let number = 1; number <= 21; number += 1) {
      const { messageId } = await send(ada, [bob], { ack_required: true })
      const reading = { agent_name: "Bob", project_id: bob.projectId, message_id: messageId }
      await bob.session.call("read-message", reading)
    }
    await send(ada, [bob], { ack_required: true, subject: "The latest" })
    expect(toldBy(await mail(made, bob))).toContain("The latest")
  })

  test("of each of the session's agents is told, and of nobody else's", async () => {
    const [made, ada, bob] = await agents("Ada", "Bob")
    const second = await bob.session.register("Second", { project_key: "two" })
    const eve = await (await made.session({ name: "e" })).register("Eve", { project_key: "two" })
    await send(ada, [bob], { importance: "urgent" })
    await send(eve, [second], { importance: "urgent" })
    const told = [toldBy(await mail(made, bob)), toldBy(await mail(made, bob))].join("\n")
    expect(told).toContain("urgent mail for Bob from Ada")
    expect(told).toContain("urgent mail for Second from Eve")
    expect(await sessionEvent(made, bob.session.app, "mail", { session: "c" })).toEqual(ALLOWED)
  })

  test("that nobody would read is not counted as told", async () => {
    const [made, ada, bob] = await agents("Ada", "Bob")
    await send(ada, [bob], { importance: "urgent" })
    const { app } = bob.session
    const deaf = { ...BOB, client: "vscode", fields: { hook_event_name: "UserPromptSubmit" } }
    expect((await sessionEvent(made, app, "mail", deaf)).stdout).toBe("")
    expect(toldBy(await mail(made, bob))).toContain("urgent mail")
  })

  test("event makes no agent", async () => {
    const [made, ada] = await agents("Ada")
    expect(await sessionEvent(made, ada.session.app, "mail", { session: "new" })).toEqual(ALLOWED)
    expect(await ada.session.call("list-agents", { project_key: "demo" })).toContain("Total: 1")
  })
})
