import { execFileSync } from "node:child_process"
import { join } from "node:path"
import { describe, expect, test } from "vitest"
import { type Session, type TestAgent, textAfter, type World, world } from "../../support/world.ts"

const HALF_HOUR_MS = 30 * 60_000

/** A world with Ada in it, and a session that looks on. */
async function watched(): Promise<{ made: World; ada: TestAgent; watcher: Session }> {
  const made = world()
  const ada = await (await made.session()).register("Ada", { task_description: "Parsing" })
  return { made, ada, watcher: await made.session() }
}

async function lastActive(watcher: Session, name: string): Promise<string> {
  return textAfter(await watcher.call("whois", { project_key: "demo", agent_name: name }), "Last active")
}

describe("whois", () => {
  test("shows the whole profile with ids, repository and last activity", async () => {
    const { ada, watcher } = await watched()
    const text = await watcher.call("whois", { project_key: "demo", agent_name: "Ada" })
    expect(textAfter(text, "Agent id")).toBe(String(ada.id))
    expect(textAfter(text, "Project id")).toBe(String(ada.projectId))
    expect(textAfter(text, "Repository id")).toBe(String(ada.repositoryId))
    expect(textAfter(text, "Name")).toBe("Ada")
    expect(textAfter(text, "Program")).toBe("test-program")
    expect(textAfter(text, "Model")).toBe("test-model")
    expect(textAfter(text, "Contact policy")).toBe("auto")
    expect(textAfter(text, "Created")).toBe("2026-03-10T12:00:00Z, 0 s ago")
    expect(textAfter(text, "Task")).toBe("Parsing")
    expect(textAfter(text, "Last active")).toBe("2026-03-10T12:00:00Z, 0 s ago (active)")
  })

  test("finds an agent whatever the case of the name", async () => {
    const { watcher } = await watched()
    const text = await watcher.call("whois", { project_key: "demo", agent_name: "aDA" })
    expect(textAfter(text, "Name")).toBe("Ada")
  })

  test("calls an agent active for 30 minutes and inactive after them", async () => {
    const { made, watcher } = await watched()
    made.advance(HALF_HOUR_MS)
    expect(await lastActive(watcher, "Ada")).toMatch(/\(active\)$/)
    made.advance(1)
    expect(await lastActive(watcher, "Ada")).toMatch(/\(inactive\)$/)
  })

  test("names the agent and the project where an agent is unknown, and the likely meaning", async () => {
    const { watcher } = await watched()
    const text = await watcher.fail("whois", { project_key: "demo", agent_name: "Adda" })
    expect(text).toMatch(/^Failed to whois: agent "Adda" was not found in project "demo"/)
    expect(text).toContain("Ada?")
    expect(text).toContain("list-agents")
  })

  test("does not know an agent of another project", async () => {
    const { made, watcher } = await watched()
    await (await made.session()).register("Eve", { project_key: "other" })
    expect(await watcher.fail("whois", { project_key: "demo", agent_name: "Eve" })).toContain(
      '"Eve" was not found',
    )
  })

  test("does not move the last activity of the agent that is looked up", async () => {
    const { made, watcher } = await watched()
    made.advance(60_000)
    await lastActive(watcher, "Ada")
    expect(await lastActive(watcher, "Ada")).toMatch(/^2026-03-10T12:00:00Z, /)
  })

  test("takes an agent name of 80 characters and refuses 81 with the figure", async () => {
    const { watcher } = await watched()
    const longest = await watcher.fail("whois", { project_key: "demo", agent_name: "x".repeat(80) })
    expect(longest).toContain("was not found")
    expect(await watcher.fail("whois", { project_key: "demo", agent_name: "x".repeat(81) })).toMatch(
      /agent_name .*\b80\b/,
    )
  })
})

describe("last activity", () => {
  const DEMO = { project_key: "demo" }
  const CALLS: [string, Record<string, unknown>][] = [
    ["send-message", { sender_name: "Ada", to_agent_ids: [3], subject: "s", body_md: "b" }],
    ["reply-message", { sender_name: "Ada", parent_message_id: 1, body_md: "b" }],
    ["fetch-inbox", { agent_name: "Ada" }],
    ["read-message", { agent_name: "Ada", message_id: 1 }],
    ["ack-message", { agent_name: "Ada", message_id: 1 }],
    ["request-contact", { requester_name: "Ada", recipient_name: "Bob", reason: "r" }],
    ["list-contacts", { agent_name: "Ada" }],
    ["set-contact-policy", { agent_name: "Ada", contact_policy: "open" }],
    ["block-agent", { blocker_name: "Ada", blocked_name: "Bob" }],
    ["macro-contact-handshake", { requester_name: "Ada", recipient_name: "Bob", reason: "r" }],
  ]

  test.each(CALLS)("is moved by a call of %s on behalf of the agent", async (tool, args) => {
    const { made, ada } = await watched()
    const bob = await (await made.session()).register("Bob")
    const letter = {
      sender_name: "Bob",
      to_agent_ids: [ada.id],
      subject: "s",
      body_md: "b",
      project_id: ada.projectId,
    }
    await bob.session.call("send-message", letter)
    made.advance(60_000)
    await ada.session.call(tool, { project_id: ada.projectId, ...args })
    expect(await lastActive(ada.session, "Ada")).toMatch(/^2026-03-10T12:01:00Z, /)
    expect(await lastActive(ada.session, "Bob")).toMatch(/^2026-03-10T12:00:00Z, /)
  })

  test.each(["inbox/Ada", "outbox/Ada", "contacts", "views/urgent-unread", "views/ack-required"])(
    "is moved by the agent's own look at a resource: %s",
    async (path) => {
      const { made, ada } = await watched()
      made.advance(60_000)
      await ada.session.read(path, path.includes("/Ada") ? DEMO : { ...DEMO, agent: "Ada" })
      expect(await lastActive(ada.session, "Ada")).toMatch(/^2026-03-10T12:01:00Z, /)
    },
  )

  test.each<[string, string?]>([["agents"], ["views/urgent-unread"], ["file-reservations", "Ada"]])(
    "is not moved by a look at a resource that is nobody's own: %s",
    async (path, agent) => {
      const { made, watcher } = await watched()
      made.advance(60_000)
      await watcher.read(path, agent === undefined ? DEMO : { ...DEMO, agent })
      expect(await lastActive(watcher, "Ada")).toMatch(/^2026-03-10T12:00:00Z, /)
    },
  )
})

describe("list-agents", () => {
  test("counts and lists active agents before inactive ones, each with its id", async () => {
    const { made, ada, watcher } = await watched()
    made.advance(HALF_HOUR_MS + 1)
    const bob = await watcher.register("Bob")
    const text = await watcher.call("list-agents", { project_key: "demo" })
    expect(textAfter(text, "Project id")).toBe(String(ada.projectId))
    expect(textAfter(text, "Total")).toBe("2")
    expect(textAfter(text, "Active")).toBe("1")
    expect(textAfter(text, "Inactive")).toBe("1")
    expect(text.split("\n").filter((line) => line.startsWith("#"))).toEqual([
      "# Agents of demo",
      "## Active agents",
      "### Bob",
      "## Inactive agents",
      "### Ada",
    ])
    expect(text).toContain(`Agent id: ${ada.id}`)
    expect(text).toContain(`Agent id: ${bob.id}`)
  })

  test("calls an agent active for 30 minutes and inactive after them", async () => {
    const { made, watcher } = await watched()
    made.advance(HALF_HOUR_MS)
    expect(textAfter(await watcher.call("list-agents", { project_key: "demo" }), "Active")).toBe("1")
    made.advance(1)
    expect(textAfter(await watcher.call("list-agents", { project_key: "demo" }), "Active")).toBe("0")
  })

  test("shows inactive agents by default and leaves them out with active_only, but counts them", async () => {
    const { made, watcher } = await watched()
    made.advance(HALF_HOUR_MS + 1)
    expect(await watcher.call("list-agents", { project_key: "demo" })).toContain("### Ada")
    const text = await watcher.call("list-agents", { project_key: "demo", active_only: true })
    expect(text).not.toContain("### Ada")
    expect(textAfter(text, "Inactive")).toBe("1")
  })

  test("shows only the agents of the repository that is named", async () => {
    const { made, watcher } = await watched()
    const other = join(made.folder, "other")
    execFileSync("git", ["init", "--quiet", other])
    const bob = await (await made.session({ workingFolder: other })).register("Bob")
    const text = await watcher.call("list-agents", { project_key: "demo", repository_id: bob.repositoryId })
    expect(text).toContain("### Bob")
    expect(text).not.toContain("### Ada")
    expect(textAfter(text, "Total")).toBe("1")
  })

  test("marks a person as one, and an agent with its program and model", async () => {
    const { watcher, ada } = await watched()
    const bob = await watcher.register("Bob")
    await watcher.app.db.transaction("test", (tx) =>
      tx.run("UPDATE agents SET session = 'user:1', program = 'human', model = 'human' WHERE id = ?", [
        ada.id,
      ]),
    )
    const text = await watcher.call("list-agents", { project_key: "demo" })
    expect(text).toContain(`### Ada\nAgent id: ${ada.id}\nPerson: yes, not a program\nContact policy: `)
    expect(text).toContain(`### Bob\nAgent id: ${bob.id}\nProgram: test-program, test-model\n`)
    expect(text).not.toContain("human")
  })

  test("says how to connect a repository that is unknown", async () => {
    const { watcher } = await watched()
    const text = await watcher.fail("list-agents", { project_key: "demo", repository_id: 9 })
    expect(text).toMatch(/^Failed to list agents: repository 9 was not found/)
    expect(text).toMatch(/Call list-repositories .* connect-repository/)
  })

  test("shows agents of its own project only, and never the notifier", async () => {
    const { made, watcher } = await watched()
    await (await made.session()).register("Eve", { project_key: "other" })
    const text = await watcher.call("list-agents", { project_key: "demo" })
    expect(text).not.toContain("Eve")
    expect(text).not.toContain("Signalbox")
    expect(textAfter(text, "Total")).toBe("1")
  })
})
