import { execFileSync } from "node:child_process"
import { mkdirSync, symlinkSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { describe, expect, test } from "vitest"
import { type TestAgent, textAfter, type World, world } from "../../support/world.ts"

async function room(): Promise<{ made: World; ada: TestAgent; bob: TestAgent }> {
  const made = world()
  const ada = await (await made.session()).register("Ada")
  const bob = await (await made.session()).register("Bob")
  return { made, ada, bob }
}

const reservation = (agent: TestAgent, pattern: unknown, args: Record<string, unknown> = {}) => ({
  agent_id: agent.id,
  repository_id: agent.repositoryId,
  coordination_project_id: agent.projectId,
  path_pattern: pattern,
  ...args,
})
/** Reserves and returns the pattern as it was stored. */
const stored = async (agent: TestAgent, pattern: string) =>
  textAfter(await agent.session.call("reserve-file-paths", reservation(agent, pattern)), "Path pattern")
const refused = (agent: TestAgent, pattern: unknown, args: Record<string, unknown> = {}) =>
  agent.session.fail("reserve-file-paths", reservation(agent, pattern, args))
/** Whether one agent's exclusive reservation keeps the other from another pattern. */
async function conflict(held: string, wanted: string): Promise<boolean> {
  const { ada, bob } = await room()
  await stored(ada, held)
  const result = await bob.session.client.callTool({
    name: "reserve-file-paths",
    arguments: reservation(bob, wanted),
  })
  if (result.isError === true) expect(JSON.stringify(result.content)).toContain("Conflicting agent: Ada")
  return result.isError === true
}
const git = (folder: string, ...args: string[]) =>
  execFileSync("git", ["-C", folder, "-c", "user.name=t", "-c", "user.email=t@t", ...args], {
    stdio: "ignore",
  })
/** Adds a second work tree of the world's repository; returns its root. */
function addWorktree(made: World): string {
  const root = join(made.folder, "second-tree")
  git(made.repositoryPath, "commit", "--quiet", "--allow-empty", "-m", "first")
  git(made.repositoryPath, "worktree", "add", "--quiet", root)
  return root
}

describe("what a pattern covers", () => {
  test.each([
    ["a path without wildcard covers itself and everything below it", "src/api", "src/api/v1/users.ts", true],
    ["a path is covered by the folder above it", "src/api/v1/users.ts", "src", true],
    ["a path without wildcard does not cover its neighbour", "src/api", "src/api.ts", false],
    ["** matches any number of folders", "src/**/users.ts", "src/users.ts", true],
    ["* stays within one segment", "src/*", "src/api/users.ts", false],
    ["a wildcard matches dotfiles", "*", ".env", true],
    ["? matches one character", "src/?.ts", "src/ab.ts", false],
    ["braces may hold a slash", "{src/a,docs}/*.md", "src/a/x.md", true],
    ["a single item in braces is literal", "src/{a}.ts", "src/a.ts", false],
    ["a range in braces is literal", "src/{1..3}.ts", "src/2.ts", false],
    ["parentheses are literal", "app/(auth)/page.tsx", "app/(auth)/page.tsx", true],
    ["! and # at the start are literal", "!src", "src", false],
    ["a backslash takes the meaning from a wildcard", "src/\\*.ts", "src/a.ts", false],
    ["[!...] matches what is not listed", "src/[!a]*.ts", "src/app.ts", false],
    ["brackets stand for the literal text", "app/[id]/page.tsx", "app/\\[id\\]/page.tsx", true],
    ["brackets stand for the character class as well", "app/[id]/page.tsx", "app/i/page.tsx", true],
    ["brackets stand for nothing else", "app/[id]/page.tsx", "app/x/page.tsx", false],
    ["a folder with brackets in its name covers what is below it", "app/[id]", "app/\\[id\\]/page.tsx", true],
    ["composed and decomposed characters are the same", "caf\u00e9.ts", "cafe\u0301.ts", true],
    ["case is told apart unless the repository says otherwise", "src/App.ts", "src/app.ts", false],
  ])("%s", async (_, held, wanted, expected) => {
    expect(await conflict(held, wanted)).toBe(expected)
    expect(await conflict(wanted, held)).toBe(expected)
  })

  test.each([
    ["./src//app.ts", "src/app.ts"],
    ["src/x/../app.ts", "src/app.ts"],
    ["src/app/", "src/app"],
    ["..data/x", "..data/x"],
    ["src/cafe\u0301.ts", "src/café.ts"],
  ])("%s is kept as %s", async (given, kept) => {
    const { ada } = await room()
    expect(await stored(ada, given)).toBe(kept)
  })
})

describe("a repository with core.ignorecase=true", () => {
  async function foldingRoom() {
    const made = world()
    git(made.repositoryPath, "config", "core.ignorecase", "true")
    const ada = await (await made.session()).register("Ada")
    return { made, ada, bob: await (await made.session()).register("Bob") }
  }

  test("does not tell case apart when patterns are compared", async () => {
    const { ada, bob } = await foldingRoom()
    await stored(ada, "SRC/App.ts")
    expect(await refused(bob, "src/**/*.TS")).toContain("Conflicting agent: Ada")
  })

  test("renews a reservation of the same pattern in another case", async () => {
    const { ada } = await foldingRoom()
    await stored(ada, "src/App.ts")
    await stored(ada, "SRC/app.ts")
    const text = await ada.session.call("list-file-reservations", { coordination_project_id: ada.projectId })
    expect(text).toMatch(/^Total: 1$/m)
  })
})

describe("an absolute path", () => {
  test("in the repository is kept relative to its root, whether the file exists or not", async () => {
    const { made, ada } = await room()
    mkdirSync(join(made.repositoryPath, "src"))
    writeFileSync(join(made.repositoryPath, "src", "old.ts"), "")
    expect(await stored(ada, join(made.repositoryPath, "src/old.ts"))).toBe("src/old.ts")
    expect(await stored(ada, join(made.repositoryPath, "src/new/deep.ts"))).toBe("src/new/deep.ts")
  })

  test("may end in a glob", async () => {
    const { made, ada } = await room()
    expect(await stored(ada, join(made.repositoryPath, "src/**/*.ts"))).toBe("src/**/*.ts")
    expect(await stored(ada, join(made.repositoryPath, "app/[id]/page.tsx"))).toBe("app/[id]/page.tsx")
  })

  test("may end in a glob right below the root", async () => {
    const { made, ada } = await room()
    expect(await stored(ada, `${made.repositoryPath}/*.md`)).toBe("*.md")
    expect(await stored(ada, `${made.repositoryPath}/**`)).toBe("**")
  })

  test("may name a file that begins with two dots", async () => {
    const { made, ada } = await room()
    expect(await stored(ada, `${made.repositoryPath}/..data/x.ts`)).toBe("..data/x.ts")
  })

  test("in another work tree of the clone is relative to that tree, and conflicts with the first", async () => {
    const { made, ada, bob } = await room()
    const second = addWorktree(made)
    expect(await stored(ada, join(second, "src/app.ts"))).toBe("src/app.ts")
    expect(await refused(bob, join(made.repositoryPath, "src/app.ts"))).toContain("Conflicting agent: Ada")
  })

  test("in a work tree that lies inside the first one is relative to its own root", async () => {
    const { made, ada } = await room()
    git(made.repositoryPath, "commit", "--quiet", "--allow-empty", "-m", "first")
    git(made.repositoryPath, "worktree", "add", "--quiet", join(made.repositoryPath, ".trees/one"))
    expect(await stored(ada, join(made.repositoryPath, ".trees/one/src/app.ts"))).toBe("src/app.ts")
  })

  test("through a symbolic link is the path behind it", async () => {
    const { made, ada } = await room()
    mkdirSync(join(made.repositoryPath, "src"))
    symlinkSync(made.repositoryPath, join(made.folder, "alias"))
    symlinkSync("src", join(made.repositoryPath, "link"))
    expect(await stored(ada, join(made.folder, "alias/src/app.ts"))).toBe("src/app.ts")
    expect(await stored(ada, join(made.repositoryPath, "link/new.ts"))).toBe("src/new.ts")
  })

  test("outside of the repository is refused, whatever it begins with", async () => {
    const { made, ada } = await room()
    const neighbour = `${made.repositoryPath}-two`
    mkdirSync(neighbour)
    symlinkSync(neighbour, join(made.repositoryPath, "way-out"))
    for (const path of [
      "/",
      "/etc/passwd",
      join(neighbour, "a.ts"),
      join(made.repositoryPath, "way-out/a.ts"),
    ]) {
      const text = await refused(ada, path)
      expect(text).toMatch(/^Failed to reserve file paths: path_pattern /)
      expect(text).toContain("outside repository 1")
    }
  })

  test("in another repository is refused, even inside the first one", async () => {
    const { made, ada } = await room()
    const nested = join(made.repositoryPath, "vendor/lib")
    execFileSync("git", ["init", "--quiet", nested])
    expect(await refused(ada, join(nested, "a.ts"))).toContain("outside repository 1")
  })

  test("works in a repository whose own folder has brackets in its name", async () => {
    const made = world()
    const root = join(made.folder, "app [v2]")
    execFileSync("git", ["init", "--quiet", root])
    const ada = await (await made.session({ workingFolder: root })).register("Ada")
    expect(await stored(ada, join(root, "src/app.ts"))).toBe("src/app.ts")
  })
})

describe("a pattern that is refused", () => {
  test.each([
    ["empty", "", /at least one path segment/],
    ["nothing but dots and slashes", "./.", /at least one path segment/],
    ["leading out of the root", "../secrets.txt", /inside the repository/],
    ["leading out of the root later on", "src/../../x", /inside the repository/],
    ["holding NUL", "src/\0.ts", /NUL/],
    ["not a text", 7, /must be a string/],
  ])("%s", async (_, pattern, rule) => {
    const { ada } = await room()
    const text = await refused(ada, pattern)
    expect(text).toMatch(/^Failed to reserve file paths: path_pattern /)
    expect(text).toMatch(rule)
  })

  test("is one of more than 512 characters, as a relative and as an absolute path", async () => {
    const { made, ada } = await room()
    expect(await stored(ada, "a".repeat(512))).toBe("a".repeat(512))
    expect(await refused(ada, "a".repeat(513))).toMatch(
      /path_pattern must (have|be) at most 512 characters.*513/,
    )
    const absolute = `${made.repositoryPath}/`.padEnd(512, "b")
    expect(await stored(ada, absolute)).toMatch(/^b+$/)
  })

  test("is one of more than 1,000 brace expansions", async () => {
    const { ada } = await room()
    const choice = (count: number) => `{${Array.from({ length: count }, (_, index) => index).join(",")}}`
    await stored(ada, `a${choice(10)}${choice(10)}${choice(10)}`)
    const text = await refused(ada, `a${choice(7)}${choice(11)}${choice(13)}`)
    expect(text).toMatch(/path_pattern .*1,?000 patterns/)
  })

  test("is one with half a character, if two agents could hold it at once otherwise", async () => {
    const { ada, bob } = await room()
    const ask = (agent: TestAgent) =>
      agent.session.client.callTool({
        name: "reserve-file-paths",
        arguments: reservation(agent, "src/\ud800.ts"),
      })
    const granted = [await ask(ada), await ask(bob)].filter((result) => result.isError !== true)
    expect(granted.length).toBeLessThan(2)
  })
})

describe("whom and what a reservation names", () => {
  test.each(["reserve-file-paths", "release-file-reservations"])(
    "%s fails for an unknown agent",
    async (tool) => {
      const { ada } = await room()
      const args =
        tool === "reserve-file-paths" ? reservation(ada, "a") : { coordination_project_id: ada.projectId }
      const text = await ada.session.fail(tool, { ...args, agent_id: 999 })
      expect(text).toContain('agent 999 was not found in project "demo"')
      expect(text).toContain("list-agents")
    },
  )

  test.each(["reserve-file-paths", "release-file-reservations", "list-file-reservations"])(
    "%s fails for another project's agent",
    async (tool) => {
      const { made, ada } = await room()
      const eve = await (await made.session()).register("Eve", { project_key: "other" })
      const args =
        tool === "reserve-file-paths" ? reservation(ada, "a") : { coordination_project_id: ada.projectId }
      const text = await ada.session.fail(tool, { ...args, agent_id: eve.id })
      expect(text).toContain(`agent ${eve.id} was not found in project "demo"`)
    },
  )

  test.each(["reserve-file-paths", "release-file-reservations", "list-file-reservations"])(
    "%s fails for an unknown project, naming the tools that create one",
    async (tool) => {
      const { ada } = await room()
      const args = tool === "reserve-file-paths" ? reservation(ada, "a") : { agent_id: ada.id }
      const text = await ada.session.fail(tool, { ...args, coordination_project_id: 999 })
      expect(text).toContain("project with id 999 was not found")
      expect(text).toContain("register-agent")
      expect(text).toContain("macro-start-session")
    },
  )

  test("an unknown repository is refused with the way to connect one", async () => {
    const { ada } = await room()
    const text = await refused(ada, "a", { repository_id: 999 })
    expect(text).toMatch(/^Failed to reserve file paths: repository 999 was not found/)
    expect(text).toMatch(/Call list-repositories .* connect-repository/)
  })

  test("the same path in two repositories is two files", async () => {
    const { made, ada } = await room()
    const root = join(made.folder, "second")
    execFileSync("git", ["init", "--quiet", root])
    const bob = await (await made.session({ workingFolder: root })).register("Bob2")
    expect(bob.repositoryId).not.toBe(ada.repositoryId)
    await stored(ada, "src/app.ts")
    expect(await stored(bob, "src/app.ts")).toBe("src/app.ts")
  })

  test("the notifier holds no reservations", async () => {
    const { ada } = await room()
    expect(await refused(ada, "a", { agent_id: 1 })).toContain("agent_id must be an agent of your own")
  })

  test("a missing or unknown parameter is named, with those that are allowed", async () => {
    const { ada } = await room()
    const { repository_id: _, ...rest } = reservation(ada, "a")
    expect(await ada.session.fail("reserve-file-paths", rest)).toContain("repository_id is required")
    expect(await refused(ada, "a", { ttl: 5 })).toMatch(/unknown parameter "ttl".*duration_seconds/)
  })
})
