/**
 * Repositories whose settings start programs wherever git lets them: none of ours is. Each program is a canary that
 * leaves a file of its name, and plain git shows that it would sing.
 */

import { execFileSync, spawnSync } from "node:child_process"
import { chmodSync, mkdirSync, readdirSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { pathToFileURL } from "node:url"
import { describe, expect, onTestFinished, test } from "vitest"
import { defaultBranchOf, findBranch, headCommit, listBranches } from "../../src/git/branches.ts"
import { cloneBare, fetchBranches } from "../../src/git/clone.ts"
import { GitError, runGit } from "../../src/git/git-process.ts"
import { lastChanges } from "../../src/git/history.ts"
import { changedEntries, listTree, readBlobs } from "../../src/git/objects.ts"
import { placeOfFile } from "../../src/git/place.ts"
import { findBareRepository, findWorkTree, readRepositoryFacts } from "../../src/git/repository.ts"
import { git as gitClient } from "../../src/install/clients/git.ts"
import type { Place } from "../../src/install/place.ts"
import { openIndex } from "../support/documentation-index.ts"
import { temporaryFolder } from "../support/temporary-folder.ts"
import { all, git, TestRepository } from "./support.ts"

/** Programs that leave a file of the name they are given, and all that have run so far. */
class Canaries {
  readonly #folder = temporaryFolder()
  readonly program = join(temporaryFolder(), "canary")

  constructor() {
    writeFileSync(this.program, `#!/bin/sh\n: > "${this.#folder}/$(basename "\${1:-fetch}")"\nexit 1\n`)
    chmodSync(this.program, 0o755)
  }

  command(name: string): string {
    return `'${this.program}' '${name}'`
  }

  /** Makes a file that is a canary itself. */
  file(path: string): string {
    writeFileSync(path, `#!/bin/sh\nexec '${this.program}' "$0"\n`)
    chmodSync(path, 0o755)
    return path
  }

  trace(name: string): string {
    return join(this.#folder, name)
  }

  get sung(): string[] {
    return readdirSync(this.#folder).sort()
  }
}

const HOOKS = ["reference-transaction", "post-checkout", "post-index-change", "pre-auto-gc", "post-merge"]
const GIT_COMMANDS = ["config", "diff-tree", "for-each-ref", "log", "ls-tree", "rev-list", "rev-parse"]
const PROGRAM_SETTINGS = [
  ...["core.alternateRefsCommand", "core.askPass", "core.editor", "core.fsmonitor", "core.gitProxy"],
  ...["core.pager", "core.sshCommand", "diff.evil.command", "diff.evil.textconv", "diff.external"],
  ...["filter.evil.clean", "filter.evil.process", "filter.evil.smudge", "gpg.ssh.program"],
  ...["hook.evil.command", "interactive.diffFilter", "merge.evil.driver", "remote.origin.receivepack"],
  ...["remote.origin.uploadpack", "sequence.editor", "uploadpack.packObjectsHook"],
  ...GIT_COMMANDS.map((name) => `pager.${name}`),
]

/** Sets all that starts a program, in the settings of a repository and in a file that they include. */
function makeHostile(gitFolder: string, canaries: Canaries): void {
  const included = join(gitFolder, "included")
  const set = (file: string, name: string, value: string) =>
    execFileSync("git", ["config", "--file", file, name, value])
  const hooks = join(gitFolder, "evil-hooks")
  mkdirSync(hooks)
  mkdirSync(join(gitFolder, "hooks"), { recursive: true })
  for (const hook of HOOKS) {
    canaries.file(join(hooks, hook))
    canaries.file(join(gitFolder, "hooks", hook))
  }
  writeFileSync(join(gitFolder, "evil-attributes"), "* diff=evil filter=evil merge=evil\n")
  const config = join(gitFolder, "config")
  for (const name of PROGRAM_SETTINGS) set(included, name, canaries.command(name))
  for (const name of GIT_COMMANDS) set(included, `alias.${name}`, `!${canaries.command(`alias.${name}`)}`)
  set(included, "credential.helper", `!${canaries.command("credential.helper")}`)
  for (const target of ["normalTarget", "eventTarget", "perfTarget"])
    set(included, `trace2.${target}`, canaries.trace(target))
  // Started without a shell, as a program of that name.
  set(included, "gpg.program", canaries.file(join(gitFolder, "gpg.program")))
  set(included, "hook.evil.event", "reference-transaction")
  set(included, "log.showSignature", "true")
  set(included, "core.attributesFile", join(gitFolder, "evil-attributes"))
  set(included, "core.hooksPath", hooks)
  for (const protocol of ["ext", "none", "file", "git"]) set(included, `protocol.${protocol}.allow`, "always")
  set(included, "protocol.allow", "always")
  set(included, "safe.bareRepository", "all")
  set(included, "url.ext::.insteadOf", "https://")
  set(config, "include.path", included)
}

/** Makes git one that does not obey GIT_NO_LAZY_FETCH, with what a PATH may hold for a protocol `none`. */
function gitOfOld(canaries: Canaries): void {
  const { stdout } = spawnSync("sh", ["-c", "command -v git"], { encoding: "utf8" })
  const folder = temporaryFolder()
  writeFileSync(join(folder, "git"), `#!/bin/sh\nGIT_NO_LAZY_FETCH=0 exec '${stdout.trim()}' "$@"\n`)
  chmodSync(join(folder, "git"), 0o755)
  canaries.file(join(folder, "git-remote-none"))
  const before = process.env.PATH
  process.env.PATH = `${folder}:${before}`
  onTestFinished(() => {
    process.env.PATH = before
  })
}

function projectAt(root: string): Place {
  return {
    machine: { home: root, platform: process.platform, env: {}, launcher: "x" },
    scope: "project",
    root,
  }
}

/** Makes every call of git that reads a repository. */
async function readAll(root: string, gitFolder: string, [from, to]: [string, string]): Promise<void> {
  const workTree = await findWorkTree(root)
  if (workTree !== undefined) await readRepositoryFacts(workTree)
  await placeOfFile(join(root, "new.md"))
  await findBareRepository(gitFolder)
  await defaultBranchOf(gitFolder)
  await findBranch(gitFolder, "main")
  await headCommit(gitFolder)
  await listBranches(gitFolder)
  const reading = async () => {
    const entries = await all(listTree(gitFolder, to))
    await all(changedEntries(gitFolder, from, to))
    await all(readBlobs(gitFolder, entries.map(({ hash }) => hash).concat("1".repeat(40)), { bytesMax: 99 }))
    await lastChanges(gitFolder, to, new Set(entries.map(({ path }) => path)), { since: from })
  }
  // What a partial clone left out cannot be read.
  await reading().catch(() => undefined)
  gitClient.files(projectAt(root))
}

/** Gives the newest commit a signature, which git would have a program look at to show the commit. */
function sign(repository: TestRepository): string {
  const [head, message] = repository.git("cat-file", "commit", "HEAD").split(/\n\n(.*)/s)
  const signature = "gpgsig -----BEGIN PGP SIGNATURE-----\n \n x\n -----END PGP SIGNATURE-----"
  const signed = execFileSync(
    "git",
    ["-C", repository.root, "hash-object", "-t", "commit", "-w", "--stdin"],
    {
      input: `${head}\n${signature}\n\n${message}`,
      encoding: "utf8",
    },
  ).trim()
  repository.git("update-ref", "HEAD", signed)
  return signed
}

describe.skipIf(process.platform === "win32")("a repository that sets all that starts a program", () => {
  function hostileRepository() {
    const repository = new TestRepository()
    const first = repository.commit({ "a.md": "# Anvil\n\nThe anvil is forged.\n" })
    repository.commit({ "b.md": "# Bellows\n\nThe bellows need leather.\n" })
    const commits: [string, string] = [first, sign(repository)]
    const canaries = new Canaries()
    makeHostile(repository.gitFolder, canaries)
    const { root, gitFolder } = repository
    return { repository, root, gitFolder, commits, canaries }
  }

  test("has none started when it is found, read, indexed and searched", async () => {
    const { root, gitFolder, commits, canaries } = hostileRepository()
    await readAll(root, gitFolder, commits).catch((error: Error) => expect(error.message).toMatch(/hooks/))
    const index = await openIndex()
    const id = await index.add(root)
    expect(await index.filesWith("anvil", { repository: id })).toEqual(["a.md"])
    expect(canaries.sung).toEqual([])
    spawnSync("git", ["-C", root, "status"])
    spawnSync("git", ["-C", root, "log", "-1"])
    expect(canaries.sung, "the canaries can sing").toEqual(
      expect.arrayContaining(["core.fsmonitor", "filter.evil.process", "gpg.program"]),
    )
  })

  test("has none started when another one is cloned into a folder of it", async () => {
    const { repository, canaries } = hostileRepository()
    const folder = join(repository.root, "data", "clone.git")
    // Nobody listens there.
    await expect(cloneBare("ssh://127.0.0.1:1/a", folder)).rejects.toThrow(GitError)
    expect(canaries.sung).toEqual([])
    spawnSync("git", ["-C", repository.root, "ls-remote", "ssh://127.0.0.1:1/a"])
    expect(canaries.sung, "the canary can sing").toContain("core.sshCommand")
  })

  test("has none started when it is cloned and fetched", async () => {
    const { repository, commits, canaries } = hostileRepository()
    const folder = join(temporaryFolder(), "clone.git")
    await cloneBare(repository.url, folder)
    writeFileSync(join(repository.gitFolder, "refs", "heads", "main"), `${commits[0]}\n`)
    expect((await fetchBranches(folder, undefined)).updated).toEqual(["main"])
    expect(canaries.sung).toEqual([])
    spawnSync("git", ["-C", repository.root, "update-ref", "refs/heads/new", commits[0]])
    expect(canaries.sung, "the canaries can sing").toContain("reference-transaction")
  })
})

describe.skipIf(process.platform === "win32")(
  "a folder of a work tree that looks like a bare repository",
  () => {
    function disguised() {
      const outer = new TestRepository()
      const inner = join(outer.root, "docs", "evil")
      mkdirSync(inner, { recursive: true })
      git(inner, ["init", "--quiet", "--bare", "."])
      const canaries = new Canaries()
      makeHostile(inner, canaries)
      git(inner, ["--git-dir=.", "config", "evil.name", "sung"])
      return { outer, inner, canaries }
    }

    test("is not opened by a git that stands in it", async () => {
      const { outer, inner, canaries } = disguised()
      for (const folder of [inner, join(inner, "objects")]) {
        expect(await runGit(["config", "--get", "evil.name"], { folder })).toBeUndefined()
        expect(await runGit(["rev-parse", "--git-dir"], { folder })).toBeUndefined()
        expect(await findWorkTree(folder)).toBeUndefined()
      }
      const { workTree } = await placeOfFile(join(inner, "a.md"))
      expect(workTree?.identityPath).toBe(outer.gitFolder)
      expect(gitClient.files(projectAt(inner))).toEqual([])
      expect(canaries.sung).toEqual([])
    })

    test("is opened when it is named, and starts nothing", async () => {
      const { inner, canaries } = disguised()
      const bare = await findBareRepository(inner)
      expect(bare).toEqual({ rootPath: inner, identityPath: inner, mainPath: inner })
      if (bare !== undefined) expect((await readRepositoryFacts(bare)).defaultBranch).not.toBeNull()
      expect(await findBareRepository(join(inner, "objects"))).toBeUndefined()
      expect(canaries.sung).toEqual([])
    })
  },
)

describe.skipIf(process.platform === "win32")("a partial clone", () => {
  test.each([
    ["by the program of its remote", (name: string) => ({ "remote.origin.uploadpack": name })],
    ["by a protocol that is a program", (name: string) => ({ "remote.origin.url": `ext::${name}` })],
    ["by a protocol that PATH has a program for", () => ({ "remote.origin.url": "none::x" })],
    ["by a program that speaks for the remote", () => ({ "remote.origin.vcs": "none" })],
    [
      "over ssh",
      (name: string) => ({ "remote.origin.url": "ssh://host.invalid/x", "core.sshCommand": name }),
    ],
    [
      "over a proxy",
      (name: string) => ({ "remote.origin.url": "git://host.invalid/x", "core.gitProxy": name }),
    ],
  ])("fetches nothing while it is read, on no git: %s", async (_, settings) => {
    const origin = new TestRepository()
    const from = origin.commit({ "docs/a.md": "1" })
    const to = origin.commit({ "docs/b.md": "2" })
    origin.git("config", "uploadpack.allowFilter", "true")
    const root = join(temporaryFolder(), "partial")
    git(origin.root, ["clone", "--quiet", "--no-checkout", "--filter=tree:0", origin.url, root])
    const canaries = new Canaries()
    for (const protocol of ["ext", "none", "git", "ssh"])
      git(root, ["config", `protocol.${protocol}.allow`, "always"])
    for (const [name, value] of Object.entries(settings(canaries.program))) git(root, ["config", name, value])
    gitOfOld(canaries)
    await readAll(root, join(root, ".git"), [from, to])
    expect(canaries.sung).toEqual([])
    spawnSync("git", ["-C", root, "ls-tree", "-r", to])
    expect(canaries.sung, "the canary can sing").toHaveLength(1)
  })

  test("that is cloned from sends no old git for what it lacks", async () => {
    const origin = new TestRepository()
    origin.commit({ "a.md": "1" })
    origin.git("config", "uploadpack.allowFilter", "true")
    const root = join(temporaryFolder(), "partial")
    git(origin.root, ["clone", "--quiet", "--no-checkout", "--filter=blob:none", origin.url, root])
    const canaries = new Canaries()
    git(root, ["config", "remote.origin.uploadpack", canaries.program])
    gitOfOld(canaries)
    await expect(cloneBare(pathToFileURL(root).href, join(temporaryFolder(), "clone.git"))).rejects.toThrow()
    expect(canaries.sung).toEqual([])
    spawnSync("git", ["clone", "--bare", pathToFileURL(root).href, join(temporaryFolder(), "clone.git")])
    expect(canaries.sung, "the canary can sing").toHaveLength(1)
  })
})
