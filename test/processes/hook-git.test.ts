import { spawn } from "node:child_process"
import { chmodSync, mkdirSync, writeFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { remove } from "../../scripts/removal.ts"
import { named } from "../../src/domain/foreign-text/markdown.ts"
import { removeHookFiles } from "../../src/hook/files.ts"
import { git as gitClient } from "../../src/install/clients/git.ts"
import { blockEdit } from "../../src/install/text-block.ts"
import {
  editOf,
  type Holder,
  holderAt,
  reservationsOf,
  reserve,
  runHook,
  SERVER_ENV,
  SILENT,
} from "../support/hook-process.ts"
import { environment, type Place, place, ServerProcess } from "../support/server-process.ts"

const BOB = { SIGNALBOX_AGENT: "Bob", SIGNALBOX_SESSION: "session-b" }
const PERSON = {}

const NAMES = [
  "with spaces.ts",
  `it's "quoted".ts`,
  "größe-日本.ts",
  "back\\slash.ts",
  "a[b]{c,d}*.ts",
  "tab\there.ts",
]

interface Ending {
  exitCode: number
  stderr: string
}

/**
 * Runs git in an environment that tells it nothing but what is given, and as an orphan: the processes above
 * these tests may be those of a coding agent, whose session it would count for.
 */
async function git(where: Place, env: Record<string, string>, ...args: string[]): Promise<Ending> {
  const orphan = `( while kill -0 $$ 2>/dev/null; do :; done; "$@"; echo "$?" ) &`
  const child = spawn("/bin/sh", ["-c", orphan, "sh", "git", ...args], {
    cwd: where.repository,
    env: environment(where, {
      GIT_CONFIG_GLOBAL: "/dev/null",
      GIT_CONFIG_NOSYSTEM: "1",
      GIT_AUTHOR_NAME: "Dev",
      GIT_AUTHOR_EMAIL: "dev@example.com",
      GIT_COMMITTER_NAME: "Dev",
      GIT_COMMITTER_EMAIL: "dev@example.com",
      GIT_EDITOR: "true",
      ...env,
    }),
    stdio: ["ignore", "pipe", "pipe"],
  })
  const [stdout, stderr] = await Promise.all([
    child.stdout.setEncoding("utf8").toArray(),
    child.stderr.setEncoding("utf8").toArray(),
  ])
  const lines = stdout.join("").trim().split("\n")
  return { exitCode: Number(lines.at(-1)), stderr: stderr.join("") }
}

/** Runs git where it must succeed without a word on stderr of its own or ours. */
async function quietly(where: Place, env: Record<string, string>, ...args: string[]): Promise<void> {
  expect(await git(where, env, ...args), args.join(" ")).toEqual({ exitCode: 0, stderr: "" })
}

function write(where: Place, file: string, text = `${Math.random()}\n`): void {
  mkdirSync(dirname(join(where.repository, file)), { recursive: true })
  writeFileSync(join(where.repository, file), text)
}

/** Writes files and stages them. */
async function stage(where: Place, ...files: string[]): Promise<void> {
  for (const file of files) write(where, file)
  await quietly(where, PERSON, "add", "--", ...files.map((file) => `:(literal)${file}`))
}

const commit = (where: Place, env: Record<string, string>, ...args: string[]) =>
  git(where, env, "commit", "--quiet", "--message", "Work", ...args)

/** Puts the blocks into the repository's hooks, as `install` does. */
function installBlocks(where: Place): void {
  const machine = { home: where.home, platform: process.platform, env: {}, launcher: "" }
  for (const file of gitClient.files({ machine, scope: "project", root: where.repository })) {
    if (file.form !== "block") throw new Error("git hooks are blocks in scripts")
    writeFileSync(file.path, blockEdit(file).add("").text)
    chmodSync(file.path, 0o755)
  }
}

function configure(where: Place, preEdit: object): void {
  const file = join(where.home, "config", "signalbox", "config.json")
  mkdirSync(dirname(file), { recursive: true })
  writeFileSync(file, JSON.stringify({ hooks: { preEdit } }))
}

function expectStopped({ exitCode, stderr }: Ending, file: string): void {
  expect(exitCode, stderr).toBe(1)
  expect(stderr).toContain(`signalbox blocked this commit: ${file} is reserved by Ada (exclusive, `)
}

async function bobAt(where: Place): Promise<Holder> {
  const server = await ServerProcess.start(where, { env: { ...SERVER_ENV, SIGNALBOX_SESSION: "session-b" } })
  return { server, agent: await server.register("Bob") }
}

describe("the git hooks", () => {
  const ends: (() => Promise<void> | void)[] = []
  let where: Place
  let bob: Holder

  beforeAll(async () => {
    where = place((end) => ends.push(end))
    await stage(where, "README.md", "src/auth/login.ts", "src/auth/session.ts")
    await quietly(where, PERSON, "commit", "--quiet", "--message", "Begin")
    await holderAt(where)
    bob = await bobAt(where)
    installBlocks(where)
    configure(where, { releaseOnCommit: true })
  })

  afterAll(async () => {
    for (const end of ends.reverse()) await end()
  })

  test.each([
    ["SIGNALBOX_AGENT", BOB],
    ["its session", { SIGNALBOX_SESSION: "session-b" }],
  ])("a commit of an agent known by %s releases what it committed, no more", async (name, env) => {
    const folder = `src/${name.length}`
    for (const pattern of ["done.ts", "open.ts", "wide/**"]) await reserve(bob, `${folder}/${pattern}`)
    write(where, `${folder}/open.ts`)
    await stage(where, `${folder}/done.ts`, `${folder}/wide/one.ts`)
    expect(await commit(where, env)).toEqual({ exitCode: 0, stderr: "" })
    const held = await reservationsOf(bob, `${folder}/`)
    expect([...held.keys()].sort()).toEqual([`${folder}/open.ts`, `${folder}/wide/**`])
  })

  test("a commit of somebody else releases nothing", async () => {
    await reserve(bob, "src/of-bob.ts")
    await stage(where, "src/of-bob.ts")
    const { exitCode, stderr } = await commit(where, PERSON)
    expect(exitCode).toBe(0)
    expect(stderr).toContain("signalbox warns: this commit touches reserved files: src/of-bob.ts")
    expect((await reservationsOf(bob, "src/of-bob.ts")).size).toBe(1)
  })

  test("a commit releases nothing unless that is configured", async () => {
    configure(where, {})
    try {
      await reserve(bob, "src/kept.ts")
      await stage(where, "src/kept.ts")
      expect(await commit(where, BOB)).toEqual({ exitCode: 0, stderr: "" })
      expect((await reservationsOf(bob, "src/kept.ts")).size).toBe(1)
    } finally {
      configure(where, { releaseOnCommit: true })
    }
  })

  test.each(NAMES)("a commit of the file %j releases it", async (name) => {
    const file = `names/${name}`
    expect(await runHook(where, { payload: editOf(where, file) })).toEqual(SILENT)
    expect((await reservationsOf(bob, "names/")).size).toBe(1)
    await stage(where, file)
    expect(await commit(where, BOB)).toEqual({ exitCode: 0, stderr: "" })
    expect((await reservationsOf(bob, "names/")).size).toBe(0)
  })

  test("an amended commit releases what was added to it", async () => {
    await stage(where, "src/amended.ts")
    expect(await commit(where, BOB)).toEqual({ exitCode: 0, stderr: "" })
    await reserve(bob, "src/added.ts")
    await stage(where, "src/added.ts")
    expect(await commit(where, BOB, "--amend")).toEqual({ exitCode: 0, stderr: "" })
    expect((await reservationsOf(bob, "src/added.ts")).size).toBe(0)
  })

  test("a merge releases what it brings", async () => {
    await quietly(where, PERSON, "checkout", "--quiet", "-b", "side")
    await stage(where, "src/merged.ts")
    expect(await commit(where, BOB)).toEqual({ exitCode: 0, stderr: "" })
    await quietly(where, PERSON, "checkout", "--quiet", "main")
    await stage(where, "src/meanwhile.ts")
    expect(await commit(where, BOB)).toEqual({ exitCode: 0, stderr: "" })
    await reserve(bob, "src/merged.ts")
    expect((await git(where, BOB, "merge", "--quiet", "--no-ff", "--no-commit", "side")).exitCode).toBe(0)
    expect(await commit(where, BOB)).toEqual({ exitCode: 0, stderr: "" })
    expect((await reservationsOf(bob, "src/merged.ts")).size).toBe(0)
  })

  describe("stop an agent's commit", () => {
    const stopped: [string, string, () => Promise<Ending>][] = [
      [
        "of a staged file",
        "src/auth/login.ts",
        async () => {
          await stage(where, "src/auth/login.ts")
          return commit(where, BOB)
        },
      ],
      [
        "of all that is changed",
        "src/auth/login.ts",
        async () => {
          write(where, "src/auth/login.ts")
          return commit(where, BOB, "--all")
        },
      ],
      [
        "of one path among staged ones",
        "src/auth/session.ts",
        async () => {
          write(where, "src/auth/session.ts")
          return commit(where, BOB, "--", "src/auth/session.ts")
        },
      ],
      [
        "that deletes a file",
        "src/auth/login.ts",
        async () => {
          await quietly(where, PERSON, "rm", "--quiet", "src/auth/login.ts")
          return commit(where, BOB)
        },
      ],
      [
        "that moves a file away",
        "src/auth/login.ts",
        async () => {
          await quietly(where, PERSON, "mv", "src/auth/login.ts", "src/elsewhere.ts")
          return commit(where, BOB)
        },
      ],
      [
        "that is amended",
        "src/auth/login.ts",
        async () => {
          await stage(where, "src/auth/login.ts")
          return commit(where, BOB, "--amend")
        },
      ],
      [
        "in the name of its session",
        "src/auth/login.ts",
        async () => {
          await stage(where, "src/auth/login.ts")
          return commit(where, { SIGNALBOX_SESSION: "session-b" })
        },
      ],
    ]
    test.each(stopped)("%s", async (_name, file, attempt) => {
      try {
        expectStopped(await attempt(), file)
      } finally {
        await quietly(where, PERSON, "reset", "--quiet", "--hard")
      }
    })

    test.each(NAMES)("of the file %j", async (name) => {
      const file = `src/auth/${name}`
      try {
        await stage(where, file)
        expectStopped(await commit(where, BOB), named(file))
      } finally {
        await quietly(where, PERSON, "reset", "--quiet", "--hard")
      }
    })

    test("in another work tree", async () => {
      const other = { ...where, repository: join(where.home, "other") }
      await quietly(where, PERSON, "worktree", "add", "--quiet", "-b", "other", other.repository)
      await stage(other, "src/auth/login.ts")
      expectStopped(await commit(other, BOB), "src/auth/login.ts")
    })
  })

  test("warn a person, whose commit goes on", async () => {
    await stage(where, "src/auth/by-a-person.ts")
    const { exitCode, stderr } = await commit(where, PERSON)
    expect(exitCode, stderr).toBe(0)
    expect(stderr).toMatch(/^signalbox warns: this commit touches reserved files: src\/auth\/by-a-person\.ts/)
    await quietly(where, PERSON, "diff", "--exit-code", "HEAD")
  })

  test("say nothing to the holder", async () => {
    await stage(where, "src/auth/by-ada.ts")
    expect(await commit(where, { SIGNALBOX_AGENT: "Ada", SIGNALBOX_SESSION: "session-a" })).toEqual({
      exitCode: 0,
      stderr: "",
    })
  })

  test("say nothing of a commit without files", async () => {
    expect(await commit(where, BOB, "--allow-empty")).toEqual({ exitCode: 0, stderr: "" })
  })
})

test("the first commit of a repository is checked and settled without a listener, too", async () => {
  const where = place()
  const ada = await holderAt(where)
  const bob = await bobAt(where)
  await reserve(bob, "src/first.ts")
  await Promise.all([ada.server.stop(), bob.server.stop()])
  installBlocks(where)
  configure(where, { releaseOnCommit: true })

  await stage(where, "src/first.ts", "src/auth/login.ts")
  expectStopped(await commit(where, BOB), "src/auth/login.ts")
  await quietly(where, PERSON, "rm", "--quiet", "--cached", "src/auth/login.ts")
  expect(await commit(where, BOB)).toEqual({ exitCode: 0, stderr: "" })
  const server = await ServerProcess.start(where, { env: SERVER_ENV })
  const held = await reservationsOf({ ...bob, server }, "src/")
  expect([...held.keys()]).toEqual(["src/auth/**"])
})

test("commits go on, for agents too, when there is no database, and when the hook is gone", async () => {
  const where = place()
  const ada = await holderAt(where)
  await ada.server.stop()
  installBlocks(where)
  remove(where.databasePath)
  await stage(where, "src/auth/login.ts")
  const { exitCode, stderr } = await commit(where, BOB)
  expect(exitCode, stderr).toBe(0)
  expect(stderr).toMatch(/^signalbox: not checked, .*no database.*\n$/)
  removeHookFiles(where.dataFolder)
  await stage(where, "src/auth/login.ts")
  expect(await commit(where, BOB)).toEqual({ exitCode: 0, stderr: "" })
})
