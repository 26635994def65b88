/** What an agent may connect by itself, and what it is told of all else. */

import { execFileSync } from "node:child_process"
import { mkdirSync, renameSync, symlinkSync, writeFileSync } from "node:fs"
import { basename, dirname, join } from "node:path"
import { pathToFileURL } from "node:url"
import { describe, expect, test } from "vitest"
import { toolDefinition } from "../../../src/mcp/definitions.ts"
import { connectRepository } from "../../../src/operations/documentation/repositories.ts"
import { OPERATIONS } from "../../../src/operations/index.ts"
import { ownCommand } from "../../../src/runtime/own-command.ts"
import { commitFiles, DOCS, git, LIMITS, newRepository, writeFiles } from "../../support/documentation.ts"
import { setVariables } from "../../support/environment.ts"
import { startGitHost } from "../../support/git-host.ts"
import { temporaryFolder } from "../../support/temporary-folder.ts"
import { type Session, textAfter, type World, world } from "../../support/world.ts"

interface Neighbourhood {
  made: World
  session: Session
}

/** A session in a repository with documentation, and what the user's config file says of that. */
async function neighbourhood(documentation: object = {}): Promise<Neighbourhood> {
  const made = world()
  commitFiles(made.repositoryPath, DOCS)
  writeFiles(made.folder, { ".config/signalbox/config.json": JSON.stringify({ documentation }) })
  return { made, session: await made.session() }
}

async function rootConnected({ session }: Neighbourhood, path_or_url: string): Promise<string> {
  return textAfter(await session.call("connect-repository", { path_or_url }), "Root")
}

/** Fails the test unless the tool refuses, and leaves connected what was; returns what it says. */
async function refused({ session }: Neighbourhood, args: object): Promise<string> {
  const before = await session.call("list-repositories", {})
  const text = await session.fail("connect-repository", { ...args })
  expect(text).toMatch(/^Failed to connect repository: /)
  expect(await session.call("list-repositories", {})).toBe(before)
  return text
}

/** A repository in a folder of its own, in no neighbourhood. */
function strange(name = "strange"): string {
  const folder = join(temporaryFolder(), name)
  mkdirSync(folder)
  git(folder, "init", "--quiet", "--initial-branch=main")
  commitFiles(folder, { "guide.md": LIMITS })
  return folder
}

describe("an agent connects by itself", () => {
  test("a work tree beside a connected one, by any folder in it, a link or its address", async () => {
    const here = await neighbourhood()
    const beside = newRepository(here.made, "beside", { "docs/guide.md": LIMITS })
    expect(await rootConnected(here, join(beside, "docs"))).toBe(beside)
    const other = newRepository(here.made, "other", { "guide.md": LIMITS })
    const link = join(temporaryFolder(), "link")
    symlinkSync(other, link)
    expect(await rootConnected(here, link)).toBe(other)
    expect(await rootConnected(here, pathToFileURL(beside).href)).toContain("signalbox.repositories")
  })

  test("linked work trees of a connected repository, wherever they are", async () => {
    const here = await neighbourhood()
    const { repositoryPath } = here.made
    for (const path of [
      join(temporaryFolder(), "away"),
      join(repositoryPath, ".claude", "worktrees", "one"),
    ]) {
      git(repositoryPath, "worktree", "add", "--quiet", "-b", basename(path), path)
      expect(await rootConnected(here, path)).toBe(repositoryPath)
    }
  })

  test("what is connected already, whoever connected it", async () => {
    const here = await neighbourhood()
    const folder = strange()
    await refused(here, { path_or_url: folder })
    await connectRepository(here.session.app, { target: folder })
    expect(await rootConnected(here, folder)).toBe(folder)
  })

  test.skipIf(process.platform === "win32")(
    "a repository at a host that the user's config file names, and asks no other",
    async () => {
      const origin = strange()
      const { port, asked } = await startGitHost(dirname(origin), "ada:x")
      setVariables({ GIT_SSL_NO_VERIFY: "1", no_proxy: "127.0.0.1", GIT_CONFIG_GLOBAL: "/dev/null" })
      const path_or_url = `https://ada:x@127.0.0.1:${port}/strange`
      const text = await refused(await neighbourhood({ hosts: ["127.0.0.1", "example.com"] }), {
        path_or_url,
      })
      expect(text).toContain(`127.0.0.1:${port} is no host that an agent may connect by itself.`)
      expect(text).toContain(`\`${ownCommand()} repos add https://127.0.0.1:${port}/strange\``)
      expect(text).toContain(`add "127.0.0.1:${port}" to documentation.hosts`)
      expect(text).not.toContain("ada")
      expect(asked).toEqual([])
      const here = await neighbourhood({ hosts: [`127.0.0.1:${port}`] })
      expect(await rootConnected(here, path_or_url)).toContain("signalbox.repositories")
      expect(asked.length).toBeGreaterThan(0)
    },
  )
})

describe("a person has to connect", () => {
  test("a work tree elsewhere, with the command that the answer says", async () => {
    const here = await neighbourhood()
    const folder = strange("it's a strange one")
    const text = await refused(here, { path_or_url: folder, name: "A name", branches: ["main", "a b"] })
    const command = /run `(.*)`\./.exec(text)?.[1] ?? ""
    expect(command.startsWith(`${ownCommand()} repos add '`)).toBe(true)
    const words = execFileSync("sh", ["-c", `printf '%s\\n' ${command.slice(ownCommand().length)}`], {
      encoding: "utf8",
    })
    expect(words).toBe(
      ["repos", "add", folder, "--name=A name", "--branch=main", "--branch=a b", ""].join("\n"),
    )
  })

  test("a folder without git, a bare repository, a repository elsewhere behind a work tree, and an address of it", async () => {
    const here = await neighbourhood()
    const { folder } = here.made
    const plain = join(folder, "plain")
    writeFiles(plain, { "guide.md": LIMITS })
    const bare = join(folder, "bare.git")
    git(folder, "init", "--quiet", "--bare", bare)
    const elsewhere = strange()
    const pretended = join(folder, "pretended")
    writeFiles(pretended, { ".git": `gitdir: ${join(elsewhere, ".git")}\n` })
    const linked = newRepository(here.made, "linked", { "guide.md": LIMITS })
    renameSync(join(linked, ".git"), join(elsewhere, "separate"))
    symlinkSync(join(elsewhere, "separate"), join(linked, ".git"))
    for (const path of [plain, bare, pretended, linked, elsewhere]) {
      expect(await refused(here, { path_or_url: path })).toContain(`\`${ownCommand()} repos add ${path}\``)
      const url = pathToFileURL(path).href
      expect(await refused(here, { path_or_url: url })).toContain(`\`${ownCommand()} repos add ${url}\``)
    }
  })

  test("what stands beside it in the home folder, or above that", async () => {
    const here = await neighbourhood()
    const beside = newRepository(here.made, "beside", { "guide.md": LIMITS })
    for (const home of [here.made.folder, here.made.repositoryPath]) {
      setVariables({ HOME: home })
      expect(await refused(here, { path_or_url: beside })).toContain("repos add")
    }
  })

  test("what stands beside a clone of signalbox's own", async () => {
    const here = await neighbourhood()
    await connectRepository(here.session.app, { target: pathToFileURL(strange()).href })
    const clones = `${here.made.databasePath.replace(/\.db$/, "")}.repositories`
    const folder = join(clones, "mine")
    mkdirSync(folder)
    git(folder, "init", "--quiet")
    expect(await refused(here, { path_or_url: folder })).toContain("repos add")
  })

  test.each(["https://example.com/a/b", "ssh://git@example.com/a/b", "git@example.com:a/b.git"])(
    "a repository at a host that is not named: %s",
    async (path_or_url) => {
      const here = await neighbourhood({ hosts: ["github.com", "xample.com", "www.example.com"] })
      const text = await refused(here, { path_or_url })
      expect(text).toContain("example.com is no host that an agent may connect by itself")
      expect(text).toContain(`\`${ownCommand()} repos add ${path_or_url}\``)
    },
  )

  test("what opens Markdown, which stays code in the answer", async () => {
    const here = await neighbourhood()
    const folder = strange("a`b](c)")
    const text = await refused(here, { path_or_url: folder })
    expect(text).toContain(`: \`\`${folder}\`\` is no work tree`)
    expect(text).toContain(`run \`\`${ownCommand()} repos add '${folder}'\`\`.`)
  })

  test("what has characters in it that cannot be seen, and is not offered the command", async () => {
    const here = await neighbourhood()
    for (const odd of ["a\nb", "a\u202eb", "a\u001bb", "a\u200bb"]) {
      const text = await refused(here, { path_or_url: join(here.made.folder, odd) })
      expect(text).toContain("path_or_url must not contain control characters")
      const elsewhere = { path_or_url: strange(), branches: [odd] }
      expect(await refused(here, elsewhere)).toContain("branches must not contain control characters")
    }
    const folder = join(here.made.folder, "a\nb")
    mkdirSync(folder)
    symlinkSync(folder, join(here.made.folder, "link"))
    expect(await refused(here, { path_or_url: join(here.made.folder, "link") })).not.toContain("repos add")
  })
})

describe("no agent connects, and no command is offered for", () => {
  test("the root of all, the home folder and what holds it, by whatever way", async () => {
    const here = await neighbourhood()
    const home = join(here.made.folder, "home")
    mkdirSync(join(home, "work"), { recursive: true })
    git(home, "init", "--quiet")
    symlinkSync(home, join(here.made.folder, "link"))
    setVariables({ HOME: home })
    for (const path of [
      "/",
      home,
      `${home}/`,
      join(here.made.folder, "link"),
      join(home, "work"),
      here.made.folder,
    ]) {
      const text = await refused(here, { path_or_url: path })
      expect(text, path).toMatch(/is the home folder or holds it, which no agent connects/)
      expect(text).not.toContain("repos add")
    }
  })

  test("folders with a dot, links to them included", async () => {
    const here = await neighbourhood()
    const { folder } = here.made
    const inDot = newRepository(here.made, ".ssh", { "guide.md": LIMITS })
    const deep = newRepository(here.made, ".config/deep/one", { "guide.md": LIMITS })
    symlinkSync(inDot, join(folder, "innocent"))
    for (const path of [
      inDot,
      deep,
      join(folder, "innocent"),
      pathToFileURL(inDot).href,
      join(folder, ".config"),
    ]) {
      const text = await refused(here, { path_or_url: path })
      expect(text, path).toMatch(/lies in \.\w+; an agent connects no folder whose name begins with a dot/)
      expect(text).not.toContain("repos add")
    }
  })

  test("but a home folder below a folder with a dot is like any other", async () => {
    const home = join(temporaryFolder(), ".users", "ada")
    const here = await neighbourhood()
    const one = join(home, "work", "one")
    const two = join(home, "work", "two")
    for (const path of [one, two]) {
      mkdirSync(path, { recursive: true })
      git(path, "init", "--quiet", "--initial-branch=main")
      writeFileSync(join(path, "guide.md"), LIMITS)
      commitFiles(path, {})
    }
    setVariables({ HOME: home })
    await connectRepository(here.session.app, { target: one })
    expect(await rootConnected(here, two)).toBe(two)
  })
})

test("the one tool that reaches other machines is the one that says so", () => {
  const open = OPERATIONS.filter((operation) => toolDefinition(operation).annotations.openWorldHint)
  expect(open.map(({ name }) => name)).toEqual(["connect-repository"])
})
