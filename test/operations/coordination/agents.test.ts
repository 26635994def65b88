import { execFileSync } from "node:child_process"
import { mkdirSync } from "node:fs"
import { join } from "node:path"
import { describe, expect, test } from "vitest"
import { type Session, textAfter, world } from "../../support/world.ts"

const PROFILE = { project_key: "demo", program: "test-program", model: "test-model" }

async function openSession(): Promise<Session> {
  return world().session()
}

describe("register-agent", () => {
  test("creates the project and returns every id that other tools need, each on its own line", async () => {
    const session = await openSession()
    const text = await session.call("register-agent", {
      project_key: "demo",
      program: "claude-code",
      model: "opus",
      task_description: "Refactoring",
    })
    expect(text).toMatch(/^Project id: 1$/m)
    expect(text).toMatch(/^Agent id: 2$/m)
    expect(text).toMatch(/^Repository id: 1$/m)
    expect(text).toMatch(/^Name: [A-Z][a-z]+[A-Z][a-z]+$/m)
    expect(text).toMatch(/^Program: claude-code$/m)
    expect(text).toMatch(/^Model: opus$/m)
    expect(text).toMatch(/^Contact policy: auto$/m)
    expect(text).toMatch(/^Created: 2026-03-10T12:00:00Z, 0 s ago$/m)
    expect(text).toMatch(/^Task: Refactoring$/m)
  })

  test.each(["open", "auto", "contacts_only", "block_all"])("takes the contact policy %s", async (policy) => {
    const session = await openSession()
    const text = await session.call("register-agent", { ...PROFILE, contact_policy: policy })
    expect(textAfter(text, "Contact policy")).toBe(policy)
  })

  test("names the four contact policies when another one is given", async () => {
    const text = await (await openSession()).fail("register-agent", { ...PROFILE, contact_policy: "closed" })
    expect(text).toMatch(/^Failed to register agent: contact_policy /)
    expect(text).toContain("open, auto, contacts_only, block_all")
  })

  test.each([
    ["project_key", 200],
    ["program", 100],
    ["model", 100],
    ["task_description", 2_000],
  ])("takes a %s of 1 to %i characters and refuses more with the figure", async (field, most) => {
    const session = await openSession()
    await session.call("register-agent", { ...PROFILE, [field]: "x" })
    await session.call("register-agent", { ...PROFILE, [field]: "x".repeat(most) })
    const tooLong = await session.fail("register-agent", { ...PROFILE, [field]: "x".repeat(most + 1) })
    expect(tooLong).toMatch(
      new RegExp(`^Failed to register agent: ${field} .*${most.toLocaleString("en-US")}`),
    )
    const empty = { ...PROFILE, [field]: "" }
    if (field === "task_description") await session.call("register-agent", empty)
    else expect(await session.fail("register-agent", empty)).toContain(field)
    expect(await session.fail("register-agent", { ...PROFILE, [field]: " \n" })).toContain(field)
  })

  test("takes a repository that is connected and says how to connect one that is not", async () => {
    const session = await openSession()
    await session.call("register-agent", { ...PROFILE, repository_id: 1 })
    const text = await session.fail("register-agent", { ...PROFILE, repository_id: 2 })
    expect(text).toMatch(/^Failed to register agent: repository 2 was not found/)
    expect(text).toMatch(/Call list-repositories .* connect-repository/)
  })

  test("creates nothing when the repository is not connected", async () => {
    const session = await openSession()
    await session.fail("register-agent", { ...PROFILE, repository_id: 2 })
    expect(await session.fail("list-agents", { project_key: "demo" })).toContain(
      'project "demo" was not found',
    )
  })

  test("joins the agent to the repository that is named, not to that of the folder", async () => {
    const made = world()
    const other = join(made.folder, "other")
    execFileSync("git", ["init", "--quiet", other])
    await made.session({ workingFolder: other })
    const text = await (await made.session()).call("register-agent", { ...PROFILE, repository_id: 1 })
    expect(textAfter(text, "Repository id")).toBe("1")
    const atHome = await (await made.session()).call("register-agent", PROFILE)
    expect(textAfter(atHome, "Repository id")).toBe("2")
  })

  test("registers an agent without a repository where the folder is in none", async () => {
    const made = world()
    const plain = join(made.folder, "plain")
    mkdirSync(plain)
    const session = await made.session({ workingFolder: plain })
    const text = await session.call("register-agent", PROFILE)
    expect(textAfter(text, "Repository id")).toBe("none")
  })
})

describe("name_hint", () => {
  test("becomes the name when it is free", async () => {
    const session = await openSession()
    const text = await session.call("register-agent", { ...PROFILE, name_hint: "build-Bot_7" })
    expect(textAfter(text, "Name")).toBe("build-Bot_7")
  })

  test("has 2 to 40 characters; one less or more is refused with the figure", async () => {
    const session = await openSession()
    for (const hint of ["ab", "a".repeat(40)])
      expect(textAfter(await session.call("register-agent", { ...PROFILE, name_hint: hint }), "Name")).toBe(
        hint,
      )
    expect(await session.fail("register-agent", { ...PROFILE, name_hint: "a" })).toMatch(/name_hint .*\b2\b/)
    expect(await session.fail("register-agent", { ...PROFILE, name_hint: "a".repeat(41) })).toMatch(
      /name_hint .*\b40\b/,
    )
  })

  test.each(["Ada B", "Ada.B", "Adä", "Ada\n", "@Ada", "Ada/B", "😀😀"])(
    "may hold letters, digits, - and _ only, so %j is refused",
    async (hint) => {
      const text = await (await openSession()).fail("register-agent", { ...PROFILE, name_hint: hint })
      expect(text).toMatch(/^Failed to register agent: name_hint .*letters, digits, - and _/)
    },
  )

  test.each(["Signalbox", "signalbox", "SIGNALBOX"])(
    "cannot be the reserved name, written %s",
    async (hint) => {
      const text = await (await openSession()).fail("register-agent", { ...PROFILE, name_hint: hint })
      expect(text).toMatch(/^Failed to register agent: name_hint .*reserved/)
    },
  )

  test("cannot be the reserved name in a project that has its agents already", async () => {
    const session = await openSession()
    await session.register("Ada")
    expect(await session.fail("register-agent", { ...PROFILE, name_hint: "signalBox" })).toContain("reserved")
  })

  test("left out makes a new identity each time, also in one session", async () => {
    const session = await openSession()
    const first = await session.call("register-agent", PROFILE)
    const second = await session.call("register-agent", PROFILE)
    expect(textAfter(second, "Agent id")).not.toBe(textAfter(first, "Agent id"))
    expect(textAfter(second, "Name")).not.toBe(textAfter(first, "Name"))
  })

  test("gives two live sessions with the same hint two agents, the second with a name that starts with it", async () => {
    const made = world()
    const first = await (await made.session()).register("Ada")
    const second = await (await made.session()).register("ada")
    expect(first.name).toBe("Ada")
    expect(second.name).toMatch(/^ada[A-Z][a-z]+$/)
    expect(second.id).not.toBe(first.id)
  })

  test("leaves the profile of an agent alone that another live session holds", async () => {
    const made = world()
    const first = await made.session()
    await first.register("Ada", { program: "one", contact_policy: "open" })
    await (await made.session()).register("Ada", { program: "two", contact_policy: "block_all" })
    const text = await first.call("whois", { project_key: "demo", agent_name: "Ada" })
    expect(textAfter(text, "Program")).toBe("one")
    expect(textAfter(text, "Contact policy")).toBe("open")
  })

  test("means another agent in another project", async () => {
    const session = await openSession()
    const here = await session.register("Ada")
    const there = await session.register("Ada", { project_key: "other" })
    expect(there.name).toBe("Ada")
    expect(there.id).not.toBe(here.id)
    expect(there.projectId).not.toBe(here.projectId)
  })
})

describe("resuming", () => {
  test("gives back the agent of a session that has ended, with its id and policy", async () => {
    const made = world()
    const session = await made.session({ name: "one" })
    const before = await session.register("Ada", {
      contact_policy: "contacts_only",
      task_description: "First",
    })
    await session.close()
    const again = await made.session({ name: "two" })
    const text = await again.call("register-agent", {
      project_key: "demo",
      program: "codex",
      model: "gpt",
      name_hint: "ADA",
    })
    expect(textAfter(text, "Agent id")).toBe(String(before.id))
    expect(textAfter(text, "Name")).toBe("Ada")
    expect(textAfter(text, "Program")).toBe("codex")
    expect(textAfter(text, "Model")).toBe("gpt")
    expect(textAfter(text, "Contact policy")).toBe("contacts_only")
    expect(textAfter(text, "Task")).toBe("First")
  })

  test("gives the same session its own agent back while it lives", async () => {
    const session = await openSession()
    const before = await session.register("Ada")
    expect((await session.register("aDa")).id).toBe(before.id)
  })

  test("gives another process of the same client session the agent back", async () => {
    const made = world()
    const before = await (await made.session({ name: "one" })).register("Ada")
    expect((await (await made.session({ name: "one" })).register("Ada")).id).toBe(before.id)
  })

  test("keeps an agent taken while one of two processes of its session still lives", async () => {
    const made = world()
    const first = await made.session({ name: "one" })
    await made.session({ name: "one" })
    const before = await first.register("Ada")
    await first.close()
    expect((await (await made.session({ name: "two" })).register("Ada")).id).not.toBe(before.id)
  })

  test("hands the agent over: its new session holds it against others", async () => {
    const made = world()
    const first = await made.session()
    const before = await first.register("Ada")
    await first.close()
    await (await made.session()).register("Ada")
    expect((await (await made.session()).register("Ada")).id).not.toBe(before.id)
  })

  test("takes a new policy and task when they are given", async () => {
    const session = await openSession()
    await session.register("Ada", { contact_policy: "open", task_description: "Old" })
    const text = await session.call("register-agent", {
      ...PROFILE,
      name_hint: "Ada",
      contact_policy: "block_all",
      task_description: "New",
    })
    expect(textAfter(text, "Contact policy")).toBe("block_all")
    expect(textAfter(text, "Task")).toBe("New")
  })

  test("keeps the inbox", async () => {
    const made = world()
    const first = await made.session()
    const ada = await first.register("Ada")
    const bob = await (await made.session()).register("Bob")
    const letter = {
      sender_name: "Bob",
      project_id: bob.projectId,
      to_agent_ids: [ada.id],
      subject: "For Ada",
      body_md: "x",
    }
    await bob.session.call("send-message", letter)
    await first.close()
    const again = await (await made.session()).register("Ada")
    const inbox = await again.session.call("fetch-inbox", { agent_name: "Ada", project_id: again.projectId })
    expect(inbox).toContain("For Ada")
    expect(textAfter(inbox, "Unread")).toBe("1")
  })

  test("keeps the time of creation and moves the last activity", async () => {
    const made = world()
    const session = await made.session()
    await session.register("Ada")
    made.advance(60_000)
    await session.register("Ada")
    const text = await session.call("whois", { project_key: "demo", agent_name: "Ada" })
    expect(textAfter(text, "Created")).toBe("2026-03-10T12:00:00Z, 1 min ago")
    expect(textAfter(text, "Last active")).toMatch(/^2026-03-10T12:01:00Z/)
  })
})
