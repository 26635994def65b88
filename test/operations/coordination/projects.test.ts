import { execFileSync } from "node:child_process"
import { mkdirSync, symlinkSync } from "node:fs"
import { join } from "node:path"
import { describe, expect, test } from "vitest"
import { textAfter, type World, world } from "../../support/world.ts"

/** Registers an agent under a project key and returns the project's id. */
async function projectIdOf(made: World, projectKey: string): Promise<number> {
  return (await (await made.session()).register("Ada", { project_key: projectKey })).projectId
}

function git(folder: string, ...args: string[]): void {
  const identity = ["-c", "user.name=Test", "-c", "user.email=test@example.org"]
  execFileSync("git", ["-C", folder, ...identity, ...args], { stdio: "ignore" })
}

describe("a project key", () => {
  test("names the same project for everybody who uses it", async () => {
    const made = world()
    expect(await projectIdOf(made, "demo")).toBe(await projectIdOf(made, "demo"))
  })

  test("that differs names another project", async () => {
    const made = world()
    expect(await projectIdOf(made, "demo")).not.toBe(await projectIdOf(made, "demo2"))
  })

  test("that is a symbolic link to the repository names the repository's project", async () => {
    const made = world()
    const link = join(made.folder, "link")
    symlinkSync(made.repositoryPath, link)
    expect(await projectIdOf(made, link)).toBe(await projectIdOf(made, made.repositoryPath))
  })

  test("that is a folder below the repository names the repository's project", async () => {
    const made = world()
    const below = join(made.repositoryPath, "packages", "core")
    mkdirSync(below, { recursive: true })
    expect(await projectIdOf(made, below)).toBe(await projectIdOf(made, made.repositoryPath))
  })

  test("that is a symbolic link to a folder below the repository names the repository's project", async () => {
    const made = world()
    const link = join(made.folder, "link")
    mkdirSync(join(made.repositoryPath, "src"))
    symlinkSync(join(made.repositoryPath, "src"), link)
    expect(await projectIdOf(made, link)).toBe(await projectIdOf(made, made.repositoryPath))
  })

  test("that is a worktree of the clone names the clone's project", async () => {
    const made = world()
    const worktree = join(made.folder, "worktree")
    git(made.repositoryPath, "commit", "--quiet", "--allow-empty", "-m", "first")
    git(made.repositoryPath, "worktree", "add", "--quiet", worktree)
    expect(await projectIdOf(made, worktree)).toBe(await projectIdOf(made, made.repositoryPath))
  })

  test.each(["/", "/.", "/../repository"])(
    "that is the repository's path with %j after it is the same",
    async (tail) => {
      const made = world()
      expect(await projectIdOf(made, made.repositoryPath + tail)).toBe(
        await projectIdOf(made, made.repositoryPath),
      )
    },
  )

  test("that is the path of another clone names another project", async () => {
    const made = world()
    const clone = join(made.folder, "clone")
    git(made.folder, "clone", "--quiet", made.repositoryPath, clone)
    expect(await projectIdOf(made, clone)).not.toBe(await projectIdOf(made, made.repositoryPath))
  })

  test("that is a folder in no repository names a project of its own", async () => {
    const made = world()
    const plain = join(made.folder, "plain")
    mkdirSync(plain)
    const session = await made.session()
    const text = await session.call("register-agent", { project_key: plain, program: "p", model: "m" })
    expect(textAfter(text, "Project")).toBe(plain)
  })

  test("is shown in its canonical form, which is the main work tree's root", async () => {
    const made = world()
    const link = join(made.folder, "link")
    symlinkSync(made.repositoryPath, link)
    const session = await made.session()
    const text = await session.call("register-agent", { project_key: link, program: "p", model: "m" })
    expect(textAfter(text, "Project")).toBe(made.repositoryPath)
  })

  test("is understood in every form by tools and resources that look a project up", async () => {
    const made = world()
    const link = join(made.folder, "link")
    symlinkSync(made.repositoryPath, link)
    const session = await made.session()
    await session.register("Ada", { project_key: made.repositoryPath })
    expect(await session.call("list-agents", { project_key: link })).toContain("### Ada")
    expect((await session.read("agents", { project_key: link })).total_agents).toBe(1)
  })
})

describe("an unknown project", () => {
  const BY_KEY: [string, Record<string, unknown>][] = [
    ["whois", { agent_name: "Ada" }],
    ["list-agents", {}],
  ]
  const BY_ID: [string, Record<string, unknown>][] = [
    ["send-message", { sender_name: "Ada", to_agent_ids: [2], subject: "s", body_md: "b" }],
    ["reply-message", { sender_name: "Ada", parent_message_id: 1, body_md: "b" }],
    ["fetch-inbox", { agent_name: "Ada" }],
    ["read-message", { agent_name: "Ada", message_id: 1 }],
    ["ack-message", { agent_name: "Ada", message_id: 1 }],
    ["request-contact", { requester_name: "Ada", recipient_name: "Bob", reason: "r" }],
    ["respond-contact", { agent_name: "Ada", contact_request_id: 1, approved: true }],
    ["list-contacts", { agent_name: "Ada" }],
    ["set-contact-policy", { agent_name: "Ada", contact_policy: "open" }],
    ["block-agent", { blocker_name: "Ada", blocked_name: "Bob" }],
    ["macro-contact-handshake", { requester_name: "Ada", recipient_name: "Bob", reason: "r" }],
  ]

  test.each(BY_KEY)(
    "is not found by its key in %s, which names the tools that create one",
    async (tool, args) => {
      const session = await world().session()
      await session.register("Ada")
      const text = await session.fail(tool, { project_key: "nowhere", ...args })
      expect(text).toContain('project "nowhere" was not found')
      expect(text).toMatch(/register-agent.*macro-start-session/)
    },
  )

  test.each(BY_ID)(
    "is not found by its id in %s, which names the tools that create one",
    async (tool, args) => {
      const session = await world().session()
      await session.register("Ada")
      const text = await session.fail(tool, { project_id: 99, ...args })
      expect(text).toContain("project with id 99 was not found")
      expect(text).toMatch(/register-agent.*macro-start-session/)
    },
  )

  test("is not created by looking for it", async () => {
    const session = await world().session()
    await session.fail("list-agents", { project_key: "nowhere" })
    await session.fail("list-agents", { project_key: "nowhere" })
    expect((await session.register("Ada", { project_key: "somewhere" })).projectId).toBe(1)
  })
})
