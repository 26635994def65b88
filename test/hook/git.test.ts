/** The git hooks: what a commit releases, and the check before it. */

import { join } from "node:path"
import * as fc from "fast-check"
import { describe, expect, test } from "vitest"
import { committedPaths } from "../../src/hook/git.ts"
import type { HookRequest } from "../../src/hook/request.ts"
import type { App } from "../../src/operations/app.ts"
import { connectFolder } from "../../src/operations/connect.ts"
import {
  ALLOWED,
  clientProcess,
  commitAll,
  configure,
  edit,
  git,
  heldIn,
  reserve,
  runHook,
  serverBelow,
  writeFile,
} from "../support/hook.ts"
import { agents, type TestAgent, type World, world } from "../support/world.ts"

const ADA = { sessionId: "session-of-Ada" }

function commitEvent(
  made: World,
  app: App,
  event: "pre-commit" | "post-commit",
  files: readonly string[],
  request: Partial<HookRequest> = {},
) {
  return runHook(made, app, `${files.join("\n")}\n`, {
    client: "git",
    event,
    sessionClient: "claude-code",
    ...request,
  })
}

describe("after a commit", () => {
  /** Reserves for Ada and commits files as her session; returns what is held then. */
  async function heldAfter(patterns: readonly string[], files: readonly string[], settings: object) {
    const [made, ada] = await agents("Ada")
    configure(made, settings)
    for (const pattern of patterns) await reserve(ada, pattern)
    expect(await commitEvent(made, ada.session.app, "post-commit", files, ADA)).toEqual(ALLOWED)
    return (await heldIn(ada.session.app)).map((line) => line.replace(/ exclusive \d+$/, ""))
  }
  const on = { releaseOnCommit: true }

  test.each([
    ["nothing is released by default", ["a.ts"], ["a.ts"], {}, ["a.ts"]],
    ["the committed paths are released", ["a.ts", "b.ts", "c/d.ts"], ["a.ts", "c/d.ts"], on, ["b.ts"]],
    [
      "a wider pattern is kept",
      ["src/**", "src", "src/*.ts"],
      ["src/a.ts"],
      on,
      ["src/**", "src", "src/*.ts"],
    ],
    ["a name with brackets is released", ["app/[id]/p.tsx"], ["app/[id]/p.tsx"], on, []],
    ["a name that is escaped is released", ["\\*.ts", "app/\\[id\\]"], ["*.ts", "app/[id]"], on, []],
    ["a pattern that reads like the name is kept", ["*.ts"], ["*.ts"], on, ["*.ts"]],
    ["a name in C quotes is released", ["gr\u00fcn.ts"], ['"gr\\303\\274n.ts"'], on, []],
    ["nothing is released when the hook is off", ["a.ts"], ["a.ts"], { ...on, enabled: false }, ["a.ts"]],
  ])("%s", async (_, patterns, files, settings, left) => {
    expect(await heldAfter(patterns, files, settings)).toEqual(left)
  })

  test("nobody else's reservations are released, and none of another repository", async () => {
    const [made, ada, bob] = await agents("Ada", "Bob")
    const { app } = ada.session
    configure(made, on)
    const path = join(made.folder, "other")
    git(made.folder, "init", "--quiet", path)
    const { id } = await connectFolder(app.db, path, made.nowMs)
    await reserve({ ...ada, repositoryId: id }, "a.ts")
    await reserve(bob, "a.ts")
    await commitEvent(made, app, "post-commit", ["a.ts"], ADA)
    expect(await heldIn(app)).toHaveLength(1)
    expect(await heldIn(app, id)).toHaveLength(1)
  })

  test("a person who commits releases nothing", async () => {
    const [made, ada] = await agents("Ada")
    configure(made, on)
    await reserve(ada, "a.ts")
    await commitEvent(made, ada.session.app, "post-commit", ["a.ts"])
    expect(await heldIn(ada.session.app)).toHaveLength(1)
  })

  test("the agent that the environment names is the one", async () => {
    const [made, ada] = await agents("Ada")
    configure(made, on)
    const eve = await ada.session.register("Eve")
    await reserve(ada, "a.ts")
    await reserve(eve, "b.ts")
    const named = { ...ADA, agentName: "Ada", projectKey: "demo" }
    await commitEvent(made, ada.session.app, "post-commit", ["a.ts"], named)
    expect(await heldIn(ada.session.app)).toEqual(["b.ts exclusive 3600"])
  })

  test("what the hook reserved is released under the name it has in a work tree", async () => {
    const [made, ada] = await agents("Ada")
    const { app } = ada.session
    commitAll(made.repositoryPath)
    const folder = join(made.folder, "tree")
    git(made.repositoryPath, "worktree", "add", "--quiet", folder)
    writeFile(join(folder, ".signalbox.json"), JSON.stringify({ hooks: { preEdit: on } }))
    const files = ["src/[a].ts", "it's {b,c}.ts"]
    await edit(made, app, files, { folder })
    expect(await heldIn(app)).toHaveLength(2)
    await commitEvent(made, app, "post-commit", files, { folder, sessionId: "b" })
    expect(await heldIn(app)).toEqual([])
  })

  test("case makes no difference where the repository makes none", async () => {
    const made = world()
    git(made.repositoryPath, "config", "core.ignorecase", "true")
    const ada = await (await made.session({ name: "session-of-Ada" })).register("Ada")
    configure(made, on)
    await reserve(ada, "SRC/App.ts")
    await commitEvent(made, ada.session.app, "post-commit", ["src/app.ts"], ADA)
    expect(await heldIn(ada.session.app)).toEqual([])
  })

  test.skipIf(process.platform === "win32")("the session is found by the client's process too", async () => {
    const made = world()
    configure(made, on)
    const above = await clientProcess("codex")
    const server = await serverBelow(made, above.anchors)
    await reserve(await server.register("Ada"), "a.ts")
    await commitEvent(made, server.app, "post-commit", ["a.ts"], { parentPid: above.pid })
    expect(await heldIn(server.app)).toEqual([])
  })

  test.skipIf(process.platform === "win32")(
    "what another client told in the environment does not count below a nearer one",
    async () => {
      const [made, ada] = await agents("Ada")
      const { app } = ada.session
      configure(made, on)
      await reserve(ada, "a.ts")
      const above = await clientProcess("gemini")
      await commitEvent(made, app, "post-commit", ["a.ts"], { ...ADA, parentPid: above.pid })
      expect(await heldIn(app)).toHaveLength(1)
      const own = { ...ADA, sessionClient: "gemini", parentPid: above.pid }
      await commitEvent(made, app, "post-commit", ["a.ts"], own)
      expect(await heldIn(app)).toEqual([])
    },
  )
})

describe("before a commit", () => {
  async function heldByAda(): Promise<[World, TestAgent, App]> {
    const [made, ada, bob] = await agents("Ada", "Bob")
    await reserve(ada, "src/**")
    return [made, bob, bob.session.app]
  }
  const BOB = { sessionId: "session-of-Bob" }

  test("of reserved files an agent is stopped and told why", async () => {
    const [made, , app] = await heldByAda()
    const { exitCode, stdout, stderr } = await commitEvent(made, app, "pre-commit", ["a", "src/b.ts"], BOB)
    expect([exitCode, stdout]).toEqual([1, ""])
    expect(stderr).toMatch(/^signalbox blocked this commit: src\/b\.ts is reserved by Ada/)
    expect(stderr).not.toContain("this edit")
    expect(stderr).toContain("send-message")
  })

  test("of reserved files a person is warned, and named the command that writes to the holder", async () => {
    const [made, , app] = await heldByAda()
    const { exitCode, stdout, stderr } = await commitEvent(made, app, "pre-commit", ["src/b.ts"])
    expect([exitCode, stdout]).toEqual([0, ""])
    expect(stderr).toContain("src/b.ts is reserved by Ada")
    expect(stderr).not.toContain("blocked")
    expect(stderr).toContain('signalbox send Ada "..."')
    expect(stderr).not.toContain("send-message")
  })

  test("of reserved files an agent is warned where conflicts do not block", async () => {
    const [made, , app] = await heldByAda()
    configure(made, { blockConflicts: false })
    const { exitCode, stderr } = await commitEvent(made, app, "pre-commit", ["src/b.ts"], BOB)
    expect(exitCode).toBe(0)
    expect(stderr).toContain("src/b.ts is reserved by Ada")
  })

  test("of one's own files, free ones, and ones that all share, nothing is said", async () => {
    const [made, bob, app] = await heldByAda()
    await reserve(bob, "docs/**")
    await reserve(bob, "lib/**", { exclusive: false })
    const files = ["docs/a.md", "lib/b.ts", "free.ts"]
    expect(await commitEvent(made, app, "pre-commit", files, BOB)).toEqual(ALLOWED)
    expect(await commitEvent(made, app, "pre-commit", ["lib/b.ts"], ADA)).toEqual(ALLOWED)
  })

  test("files that an edit may change unasked may be committed unasked", async () => {
    const [made, ada, bob] = await agents("Ada", "Bob")
    await reserve(ada, "**")
    const { app } = bob.session
    expect(await edit(made, app, "dist/a.js", { session: "session-of-Bob" })).toEqual(ALLOWED)
    expect(await commitEvent(made, app, "pre-commit", ["dist/a.js"], BOB)).toEqual(ALLOWED)
  })

  test("nothing is reserved and nobody made", async () => {
    const [made, , app] = await heldByAda()
    await commitEvent(made, app, "pre-commit", ["a.ts", "src/b.ts"], { sessionId: "new" })
    expect(await heldIn(app)).toEqual(["src/** exclusive 3600"])
  })

  test.each([[""], ["\n\n"], ["/outside/a.ts\n"]])(
    "of no file of the repository (%j) nothing is said",
    async (list) => {
      const [made, , app] = await heldByAda()
      expect(await runHook(made, app, list, { client: "git", event: "pre-commit", ...BOB })).toEqual(ALLOWED)
    },
  )

  test("an event that git does not have is let go", async () => {
    const [made, , app] = await heldByAda()
    expect((await runHook(made, app, "src/b.ts", { client: "git", event: "pre-edit" })).exitCode).toBe(0)
    expect((await runHook(made, app, "src/b.ts", { event: "pre-commit" })).exitCode).toBe(0)
  })
})

describe("git's list of files", () => {
  test.each([
    ["a.ts\nb c.ts\n", ["a.ts", "b c.ts"]],
    ["a.ts\r\nb.ts\r\n", ["a.ts", "b.ts"]],
    ['"tab\\there.ts"', ["tab\there.ts"]],
    ['"say \\"hi\\" \\\\.ts"', ['say "hi" \\.ts']],
    ['"\\346\\227\\245\\360\\237\\230\\200.ts"', ["日😀.ts"]],
    ['"\\a\\b\\t\\n\\v\\f\\r"', ["\x07\b\t\n\v\f\r"]],
    ["it's", ["it's"]],
    ["", []],
  ])("%j is %j", (list, paths) => {
    expect(committedPaths(list)).toEqual(paths)
  })

  test("is read as git writes it", () => {
    const made = world()
    const names = [
      "plain.ts",
      "b c.ts",
      'say "hi".ts',
      "back\\slash",
      "tab\t.ts",
      "new\nline",
      "grün/日😀.ts",
      "-x",
    ]
    for (const name of names) writeFile(join(made.repositoryPath, name))
    commitAll(made.repositoryPath)
    for (const quotePath of ["true", "false"]) {
      const args = ["-c", `core.quotePath=${quotePath}`, "ls-tree", "-r", "--name-only", "HEAD"]
      expect(committedPaths(git(made.repositoryPath, ...args)).sort()).toEqual([...names].sort())
    }
  })

  test("of any bytes in C quotes is the name again", () => {
    const quoted = (name: string) =>
      `"${[...Buffer.from(name)].map((byte) => `\\${byte.toString(8).padStart(3, "0")}`).join("")}"`
    fc.assert(
      fc.property(fc.array(fc.string({ unit: "grapheme", minLength: 1 })), (names) => {
        expect(committedPaths(names.map(quoted).join("\n"))).toEqual(names)
      }),
    )
  })
})
