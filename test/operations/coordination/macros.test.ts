import { execFileSync } from "node:child_process"
import { join } from "node:path"
import { describe, expect, test } from "vitest"
import {
  numberAfter,
  type Session,
  send,
  type TestAgent,
  textAfter,
  type World,
  world,
} from "../../support/world.ts"

async function room(): Promise<{ made: World; ada: TestAgent; bob: TestAgent }> {
  const made = world()
  const ada = await (await made.session()).register("Ada")
  const bob = await (await made.session()).register("Bob")
  return { made, ada, bob }
}

const introduction = { project_key: "demo", program: "claude-code", model: "opus" }
const start = (session: Session, args: Record<string, unknown> = {}) =>
  session.call("macro-start-session", { ...introduction, ...args })
const claimArgs = (agent: TestAgent, paths: unknown, args: Record<string, unknown>) => ({
  agent_name: agent.name,
  project_id: agent.projectId,
  repository_id: agent.repositoryId,
  file_paths: paths,
  ...args,
})
const claim = (agent: TestAgent, paths: string[], args: Record<string, unknown> = {}) =>
  agent.session.call("macro-claim-cycle", claimArgs(agent, paths, args))
const claimFails = (agent: TestAgent, paths: unknown, args: Record<string, unknown> = {}) =>
  agent.session.fail("macro-claim-cycle", claimArgs(agent, paths, args))
const held = async (agent: TestAgent, by: TestAgent = agent) =>
  [
    ...(
      await agent.session.call("list-file-reservations", {
        coordination_project_id: agent.projectId,
        agent_id: by.id,
      })
    ).matchAll(/^### (.*)$/gm),
  ].map((match) => match[1])
const inbox = (agent: TestAgent) =>
  agent.session.call("fetch-inbox", { agent_name: agent.name, project_id: agent.projectId })
const messageIds = (text: string) =>
  [...text.matchAll(/^Message id: (\d+)$/gm)].map((match) => Number(match[1]))
const paths = (count: number) => Array.from({ length: count }, (_, index) => `src/file-${index}.ts`)

describe("macro-start-session", () => {
  test("registers the agent and tells its name, its ids and its empty inbox", async () => {
    const text = await start(await world().session(), { name_hint: "Ada" })
    expect(textAfter(text, "Name")).toBe("Ada")
    expect(textAfter(text, "Program")).toBe("claude-code")
    expect(textAfter(text, "Model")).toBe("opus")
    expect(textAfter(text, "Project id")).toBe("1")
    expect(textAfter(text, "Agent id")).toBe("2")
    expect(textAfter(text, "Repository id")).toBe("1")
    expect(textAfter(text, "Total")).toBe("0")
    expect(textAfter(text, "Unread")).toBe("0")
    expect(text).not.toContain("Reservations")
  })

  test("resumes an agent with its inbox, of which nothing is marked read", async () => {
    const { ada, bob } = await room()
    const { messageId } = await send(ada, [bob], { subject: "Welcome back" })
    const text = await start(bob.session, { name_hint: "bob" })
    expect(numberAfter(text, "Agent id")).toBe(bob.id)
    expect(textAfter(text, "Unread")).toBe("1")
    expect(messageIds(text)).toEqual([messageId])
    expect(text).toMatch(/^### Welcome back$/m)
    expect(textAfter(await inbox(bob), "Unread")).toBe("1")
  })

  test("shows 20 messages of the inbox, and the number of all", async () => {
    const { ada, bob } = await room()
    for (let index = 0; index < 21; index += 1) await send(ada, [bob])
    const text = await start(bob.session, { name_hint: "Bob" })
    expect(messageIds(text)).toHaveLength(20)
    expect(textAfter(text, "Total")).toBe("21")
  })

  test("reserves file_paths shared for an hour when nothing else is asked for", async () => {
    const text = await start(await world().session(), { file_paths: ["src/**", "./docs//a.md"] })
    expect(text).toMatch(/^Granted: 2$/m)
    expect(text).toMatch(/^Refused: 0$/m)
    expect(text).toMatch(/^### src\/\*\*\nReservation id: 1\nMode: shared$/m)
    expect(text).toMatch(/^### docs\/a\.md$/m)
    expect(textAfter(text, "Expires")).toContain("2026-03-10T13:00:00Z")
  })

  test.each([
    [1, "2026-03-10T12:00:01Z"],
    [28_800, "2026-03-10T20:00:00Z"],
  ])("reserves exclusively and for %i s when asked", async (seconds, expiry) => {
    const text = await start(await world().session(), {
      file_paths: ["a"],
      exclusive: true,
      reservation_ttl: seconds,
    })
    expect(textAfter(text, "Mode")).toBe("exclusive")
    expect(textAfter(text, "Expires")).toContain(expiry)
  })

  test("grants what is free and reports each conflict", async () => {
    const { made, ada } = await room()
    await claim(ada, ["src/a.ts", "src/b.ts"])
    const text = await start(await made.session(), { file_paths: ["src/a.ts", "src/b.*", "docs"] })
    expect(text).toMatch(/^Granted: 1$/m)
    expect(text).toMatch(/^Refused: 2$/m)
    expect(text).toMatch(/^### docs$/m)
    expect(text).toMatch(/^Not reserved: src\/a\.ts \(shared\) conflicts with 1 reservation/m)
    expect(text).toMatch(/^Not reserved: src\/b\.\* \(shared\) conflicts with 1 reservation/m)
    expect(text.match(/^Conflicting agent: Ada /gm)).toHaveLength(2)
    expect(text).toMatch(/^## Inbox$/m)
  })

  test("says that nothing is reserved where no repository is connected, and how to connect one", async () => {
    const made = world()
    const session = await made.session({ workingFolder: made.folder })
    const text = await start(session, { file_paths: ["src/**"] })
    expect(textAfter(text, "Repository id")).toBe("none")
    expect(text).toContain("Nothing is reserved: no repository is connected.")
    expect(text).toContain("signalbox repos add")
    expect(text).not.toContain("Granted")
  })

  test("reserves in the repository that is named", async () => {
    const { made, ada } = await room()
    const root = join(made.folder, "second")
    execFileSync("git", ["init", "--quiet", root])
    const bob = await (await made.session({ workingFolder: root })).register("Bob2")
    await claim(ada, ["src/a.ts"])
    const text = await start(await made.session(), {
      repository_id: bob.repositoryId,
      file_paths: ["src/a.ts"],
    })
    expect(text).toMatch(/^Granted: 1$/m)
    expect(textAfter(text, "Repository id")).toBe(String(bob.repositoryId))
  })

  test.each([
    [{ file_paths: ["ok", "../out"] }, "file_paths.1 must stay inside the repository"],
    [{ file_paths: ["ok", "p".repeat(513)] }, "file_paths.1 must have at most 512 characters"],
    [{ file_paths: [""] }, "file_paths.0 must name at least one path segment"],
    [{ file_paths: paths(101) }, "file_paths must have at most 100 entries (got 101)"],
    [{ reservation_ttl: 0 }, "reservation_ttl must be at least 1"],
    [{ reservation_ttl: 28_801 }, "reservation_ttl must be at most 28,800"],
    [{ repository_id: 99 }, "repository 99 was not found"],
  ])("writes nothing when it is given %j", async (args, rule) => {
    const session = await world().session()
    const text = await session.fail("macro-start-session", { ...introduction, ...args })
    expect(text).toMatch(/^Failed to start session: /)
    expect(text).toContain(rule)
    expect(await session.fail("list-agents", { project_key: "demo" })).toContain(
      'project "demo" was not found',
    )
  })

  test("takes 100 file paths", async () => {
    expect(await start(await world().session(), { file_paths: paths(100) })).toMatch(/^Granted: 100$/m)
  })
})

describe("macro-claim-cycle", () => {
  test("reserves the files exclusively for half an hour when nothing else is asked for", async () => {
    const { ada, bob } = await room()
    const text = await claim(ada, ["src/a.ts", "src/b.ts", "./src/b.ts"])
    expect(textAfter(text, "Agent")).toBe("Ada")
    expect(text).toMatch(/^Granted: 2$/m)
    expect(textAfter(text, "Mode")).toBe("exclusive")
    expect(textAfter(text, "Expires")).toContain("2026-03-10T12:30:00Z")
    expect(await held(bob, ada)).toEqual(["src/a.ts", "src/b.ts"])
  })

  test.each([
    [1, "2026-03-10T12:00:01Z"],
    [28_800, "2026-03-10T20:00:00Z"],
  ])("reserves them shared and for %i s when asked", async (seconds, expiry) => {
    const { ada, bob } = await room()
    const text = await claim(ada, ["a"], { exclusive: false, cycle_duration_seconds: seconds })
    expect(textAfter(text, "Mode")).toBe("shared")
    expect(textAfter(text, "Expires")).toContain(expiry)
    expect(await claim(bob, ["a"], { exclusive: false })).toMatch(/^Granted: 1$/m)
  })

  test("lists urgent messages that are unread, and no others", async () => {
    const { ada, bob } = await room()
    await send(ada, [bob])
    await send(ada, [bob], { importance: "high" })
    const done = await send(ada, [bob], { importance: "urgent" })
    await bob.session.call("read-message", {
      agent_name: "Bob",
      project_id: bob.projectId,
      message_id: done.messageId,
    })
    const { messageId } = await send(ada, [bob], { importance: "urgent", subject: "Stop" })
    const text = await claim(bob, ["a"])
    expect(messageIds(text)).toEqual([messageId])
    expect(text).toMatch(/^### Stop$/m)
    expect(textAfter(text, "Unread")).toBe("1")
    expect(textAfter(await inbox(bob), "Unread")).toBe("3")
  })

  test("grants what is free and reports each conflict, and that is no error", async () => {
    const { ada, bob } = await room()
    await claim(ada, ["src/a.ts"])
    const some = await claim(bob, ["src/**", "docs"])
    expect(some).toMatch(/^Granted: 1$/m)
    expect(some).toMatch(/^Refused: 1$/m)
    expect(some).toMatch(/^Not reserved: src\/\*\* \(exclusive\) conflicts with 1 reservation/m)
    expect(some).toMatch(/^Both match, for example: src\/a\.ts$/m)
    expect(await held(bob)).toEqual(["docs"])
    expect(await claim(bob, ["src/a.ts"])).toMatch(/^Granted: 0$/m)
  })

  test.each(["macro-claim-cycle", "macro-start-session"])(
    "names with each grant the other shared holders beside it: %s",
    async (tool) => {
      const { ada, bob } = await room()
      await claim(ada, ["src/a.ts", "docs"], { exclusive: false })
      const [paths, terms] = [["src/**", "own.ts"], { exclusive: false }]
      const text =
        tool === "macro-claim-cycle"
          ? await claim(bob, paths, terms)
          : await start(bob.session, { name_hint: "Bob", file_paths: paths, ...terms })
      expect(text).toMatch(/^Granted: 2$/m)
      const entry = (pattern: string) => text.split(`### ${pattern}\n`)[1]?.split("\n\n")[0]
      expect(entry("src/**")).toMatch(new RegExp(`^Shared with: Ada \\(agent ${ada.id}\\)$`, "m"))
      expect(entry("own.ts")).not.toContain("Shared with")
    },
  )

  test("renews what the agent holds, under the same id", async () => {
    const { made, ada } = await room()
    const id = numberAfter(await claim(ada, ["a"]), "Reservation id")
    made.advance(60_000)
    const again = await claim(ada, ["a"])
    expect(numberAfter(again, "Reservation id")).toBe(id)
    expect(textAfter(again, "Expires")).toContain("2026-03-10T12:31:00Z")
  })

  test.each([
    [["ok", "../out"], {}, "file_paths.1 must stay inside the repository"],
    [[], {}, "file_paths must have at least 1 entry"],
    [paths(101), {}, "file_paths must have at most 100 entries"],
    [undefined, {}, "file_paths is required"],
    [["ok"], { cycle_duration_seconds: 0 }, "cycle_duration_seconds must be at least 1"],
    [["ok"], { cycle_duration_seconds: 28_801 }, "cycle_duration_seconds must be at most 28,800"],
    [["ok"], { agent_name: "Nobody" }, 'agent "Nobody" was not found in project "demo"'],
    [["ok"], { project_id: 99 }, "project with id 99 was not found"],
    [["ok"], { repository_id: 99 }, "repository 99 was not found"],
  ])("reserves nothing when it is given %j and %j", async (filePaths, args, rule) => {
    const { ada } = await room()
    const text = await claimFails(ada, filePaths, args)
    expect(text).toMatch(/^Failed to claim cycle: /)
    expect(text).toContain(rule)
    expect(await held(ada)).toEqual([])
  })

  test("takes 100 file paths, and says so when their report does not fit", async () => {
    const { ada, bob } = await room()
    const long = paths(100).map((path) => `${"folder/".repeat(60)}${path}`)
    await claim(ada, long)
    const text = await claim(bob, long)
    expect(text.length).toBeLessThanOrEqual(25_000)
    expect(text).toMatch(/^Refused: 100$/m)
    expect(text).toMatch(/more did not fit\. .*list-file-reservations/)
  })

  test("tells the number of urgent messages however many conflicts there are", async () => {
    const { ada, bob } = await room()
    const long = paths(50).map((path) => `${"folder/".repeat(60)}${path}`)
    await claim(ada, long)
    await send(ada, [bob], { importance: "urgent" })
    expect(await claim(bob, long)).toMatch(/^Unread: 1$/m)
  })
})

describe("macro-prepare-thread", () => {
  const prepare = (agent: TestAgent, thread: string) =>
    agent.session.call("macro-prepare-thread", {
      agent_name: agent.name,
      project_id: agent.projectId,
      thread_id: thread,
    })
  const prepareFails = (agent: TestAgent, thread: string, args: Record<string, unknown> = {}) =>
    agent.session.fail("macro-prepare-thread", {
      agent_name: agent.name,
      project_id: agent.projectId,
      thread_id: thread,
      ...args,
    })

  test("summarises the thread, shows its messages in order and marks them read for the agent alone", async () => {
    const { made, ada, bob } = await room()
    const cleo = await (await made.session()).register("Cleo")
    const first = await send(ada, [bob, cleo], { thread_id: "plan", body_md: "We decided to use SQLite." })
    const second = await send(ada, [bob, cleo], { thread_id: "plan", body_md: "Second" })
    await send(ada, [bob], { thread_id: "other" })
    const text = await prepare(bob, "plan")
    expect(text).toMatch(/^Thread id: plan$/m)
    expect(text).toMatch(/^## Key decisions\n- We decided to use SQLite\./m)
    expect(textAfter(text, "Marked read")).toBe("2")
    expect(messageIds(text)).toEqual([first.messageId, second.messageId])
    expect(textAfter(await inbox(bob), "Unread")).toBe("1")
    expect(textAfter(await inbox(cleo), "Unread")).toBe("2")
  })

  test("changes nothing more when it is called again", async () => {
    const { made, ada, bob } = await room()
    await send(ada, [bob], { thread_id: "plan" })
    await prepare(bob, "plan")
    made.advance(60_000)
    expect(textAfter(await prepare(bob, "plan"), "Marked read")).toBe("0")
  })

  test("keeps the latest messages of a long thread, and marks those read that it shows", async () => {
    const { ada, bob } = await room()
    const ids: number[] = []
    for (let index = 0; index < 6; index += 1)
      ids.push((await send(ada, [bob], { thread_id: "long", body_md: "word ".repeat(1_500) })).messageId)
    const text = await prepare(bob, "long")
    expect(text.length).toBeLessThanOrEqual(25_000)
    const shown = messageIds(text)
    expect(shown.length).toBeGreaterThan(1)
    expect(shown).toEqual(ids.slice(-shown.length))
    expect(text).toMatch(/more did not fit\. .*read-message/)
    expect(textAfter(await inbox(bob), "Unread")).toBe(String(ids.length - shown.length))
  })

  test("has room for messages beside the summary of a thread with very many tasks", async () => {
    const { ada, bob } = await room()
    const tasks = (from: number) =>
      Array.from(
        { length: 200 },
        (_, index) => `- [ ] Write chapter ${from + index} of the operators handbook`,
      )
    for (const from of [0, 200, 400])
      await send(ada, [bob], { thread_id: "tasks", body_md: tasks(from).join("\n") })
    const last = await send(ada, [bob], { thread_id: "tasks", body_md: "That is all." })
    const text = await prepare(bob, "tasks")
    expect(text.length).toBeLessThanOrEqual(25_000)
    expect(messageIds(text)).toContain(last.messageId)
  })

  test("serves an agent that takes no part in the thread, and marks nothing read for it", async () => {
    const { made, ada, bob } = await room()
    const cleo = await (await made.session()).register("Cleo")
    await send(ada, [bob], { thread_id: "plan" })
    const text = await prepare(cleo, "plan")
    expect(text).toContain("# Summary: Subject")
    expect(text).toMatch(/^> Body$/m)
    expect(text).toMatch(/^Marked read: 0$/m)
    expect(textAfter(await inbox(bob), "Unread")).toBe("1")
  })

  test("fails for an unknown agent, thread or project", async () => {
    const { ada, bob } = await room()
    await send(ada, [bob], { thread_id: "plan" })
    expect(await prepareFails(ada, "nothing")).toContain('thread "nothing" was not found in project "demo"')
    expect(await prepareFails(ada, "plan", { agent_name: "Nobody" })).toContain(
      'agent "Nobody" was not found',
    )
    expect(await prepareFails(ada, "plan", { project_id: 99 })).toContain("project with id 99 was not found")
  })
})
