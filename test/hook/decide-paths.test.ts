/** Which file an edit means: names are literal, and one file is one file under whatever path it is reached. */

import { symlinkSync } from "node:fs"
import { join } from "node:path"
import { describe, expect, test } from "vitest"
import { connectFolder } from "../../src/operations/connect.ts"
import {
  ALLOWED,
  commitAll,
  configure,
  edit,
  git,
  heldIn,
  reserve,
  runHook,
  sessionEvent,
  toldBy,
  writeFile,
} from "../support/hook.ts"
import { agents, type World } from "../support/world.ts"

/** Makes another repository in the world's folder; returns its path. */
function otherRepository(made: World, name = "other"): string {
  const path = join(made.folder, name)
  git(made.folder, "init", "--quiet", path)
  return path
}

/** Every folder on the way would be looked at, each in time that grows with what is above it. */
const ENDLESS = "/x".repeat(500_000)

test("a path too long to be opened is not looked for, be it a file's or the session's folder", async () => {
  const [made, ada] = await agents("Ada")
  const { app } = ada.session
  expect(await edit(made, app, `${made.repositoryPath}${ENDLESS}`)).toEqual(ALLOWED)
  expect(await edit(made, app, "a.ts", { folder: `${made.repositoryPath}${ENDLESS}` })).toEqual(ALLOWED)
  expect(await sessionEvent(made, app, "mail", { folder: ENDLESS })).toEqual(ALLOWED)
  expect(await heldIn(app)).toEqual([])
})

describe("a name is literal", () => {
  test.each([
    ["app/[id]/page.tsx", "app/i/page.tsx"],
    ["a{b,c}.ts", "ab.ts"],
    ["*.ts", "a.ts"],
    ["**", "a.ts"],
    ["src/?.ts", "src/a.ts"],
    ["back\\*slash.ts", "back*slash.ts"],
    ["!a.ts", "b.ts"],
    ["#a.ts", "a.ts"],
    ["(a|b).ts", "a.ts"],
    ["{1..3}.ts", "1.ts"],
  ])("%s is that file and not %s", async (file, other) => {
    const [made, ada] = await agents("Ada")
    const { app } = ada.session
    configure(made, { defaultMode: "exclusive" })
    expect(await edit(made, app, file)).toEqual(ALLOWED)
    expect((await edit(made, app, file, { session: "c" })).exitCode).toBe(2)
    expect(await edit(made, app, other, { session: "c" })).toEqual(ALLOWED)
    expect(await edit(made, app, file)).toEqual(ALLOWED)
    expect(await heldIn(app)).toHaveLength(2)
  })

  test.each([
    "with space.ts",
    "it's.ts",
    'say "hi".ts',
    "new\nline.ts",
    "tab\there.ts",
    "-dash.ts",
    "..dots.ts",
    "$(echo).ts",
    "grün/日本語.ts",
    "😀.ts",
    "a/b/c/d/e/f/g/not/there/yet.ts",
  ])("%j is reserved and found again", async (file) => {
    const [made, ada] = await agents("Ada")
    configure(made, { defaultMode: "exclusive" })
    expect(await edit(made, ada.session.app, file)).toEqual(ALLOWED)
    const { exitCode, stderr } = await edit(made, ada.session.app, file, { session: "c" })
    expect(exitCode).toBe(2)
    expect(stderr).toContain("is reserved by")
  })

  test("also as a tool's pattern that has both readings", async () => {
    const [made, ada] = await agents("Ada")
    await reserve(ada, "app/[id]/page.tsx")
    expect((await edit(made, ada.session.app, "app/[id]/page.tsx")).exitCode).toBe(2)
    expect((await edit(made, ada.session.app, "app/i/page.tsx")).exitCode).toBe(2)
    expect((await edit(made, ada.session.app, "app/x/page.tsx")).exitCode).toBe(0)
  })

  test("composed and decomposed letters are one name", async () => {
    const [made, ada] = await agents("Ada")
    await reserve(ada, "gr\u00fcn.ts")
    expect((await edit(made, ada.session.app, "gru\u0308n.ts")).exitCode).toBe(2)
    configure(made, { ignorePatterns: ["gr\u00fcn.ts"] })
    expect(await edit(made, ada.session.app, "gru\u0308n.ts")).toEqual(ALLOWED)
  })

  test("a name that begins with a dash is offered for an override as a path, not as an option", async () => {
    const [made, ada] = await agents("Ada")
    await reserve(ada, "-rf.ts")
    const { stderr } = await edit(made, ada.session.app, "-rf.ts")
    expect(stderr).toContain("request an override")
    expect(stderr).not.toMatch(/override '?-rf/)
  })

  test("a folder is in the way of what is below it, and the other way round", async () => {
    const [made, ada] = await agents("Ada")
    await reserve(ada, "src/deep/a.ts")
    configure(made, { defaultMode: "exclusive" })
    expect((await edit(made, ada.session.app, "src")).exitCode).toBe(2)
    expect((await edit(made, ada.session.app, "src/deep/a.ts/b")).exitCode).toBe(2)
  })

  test.each([
    ["a NUL", "a\0b.ts"],
    ["half a character", "a\ud800.ts"],
    ["more characters than a pattern may have", `${"a/".repeat(300)}b.ts`],
  ])("a name with %s is let go with one line, and is no defect of ours", async (_, file) => {
    const [made, ada] = await agents("Ada")
    const { exitCode, stdout, stderr } = await edit(made, ada.session.app, file)
    expect([exitCode, stdout]).toEqual([0, ""])
    expect(stderr.trim().split("\n")).toHaveLength(1)
    expect(made.logged).toEqual([])
  })

  test("a name that cannot be checked does not take the check from the other files of the edit", async () => {
    const [made, ada] = await agents("Ada")
    await reserve(ada, "src/a.ts")
    const files = [`${"a/".repeat(300)}b.ts`, "src/a.ts"]
    expect((await edit(made, ada.session.app, files)).exitCode).toBe(2)
  })

  test("a long name that is ignored is ignored", async () => {
    const [made, ada] = await agents("Ada")
    expect(await edit(made, ada.session.app, `node_modules/${"a/".repeat(300)}b.js`)).toEqual(ALLOWED)
    expect(made.logged).toEqual([])
  })
})

describe("case", () => {
  test("tells files apart where git does", async () => {
    const [made, ada] = await agents("Ada")
    git(made.repositoryPath, "config", "core.ignorecase", "false")
    await reserve(ada, "src/App.ts")
    expect(await edit(made, ada.session.app, "SRC/app.ts")).toEqual(ALLOWED)
  })

  test("tells no files apart where git does not", async () => {
    const [made, ada] = await agents("Ada")
    const path = otherRepository(made)
    git(path, "config", "core.ignorecase", "true")
    const { app } = ada.session
    const { id } = await connectFolder(app.db, path, made.nowMs)
    await reserve({ ...ada, repositoryId: id }, "src/App.ts", { duration_seconds: 60 })
    expect((await edit(made, app, join(path, "SRC/app.ts"))).exitCode).toBe(2)
    await edit(made, app, join(path, "SRC/app.ts"), { session: "session-of-Ada" })
    made.advance(1_000)
    await edit(made, app, join(path, "SRC/app.ts"), { session: "session-of-Ada" })
    expect(await heldIn(app, id)).toEqual(["src/App.ts exclusive 7200"])
  })
})

describe("one file is one", () => {
  test("through a symbolic link to it, or to a folder above it", async () => {
    const [made, ada] = await agents("Ada")
    const { app } = ada.session
    const inside = (path: string) => join(made.repositoryPath, path)
    writeFile(inside("src/a.ts"))
    symlinkSync(inside("src/a.ts"), inside("link.ts"))
    symlinkSync(inside("src"), inside("folder"))
    symlinkSync(made.repositoryPath, join(made.folder, "way"))
    await reserve(ada, "src/a.ts")
    for (const path of ["link.ts", "folder/a.ts", join(made.folder, "way/src/a.ts")])
      expect((await edit(made, app, path)).exitCode).toBe(2)
    await reserve(ada, "src/new/b.ts")
    expect((await edit(made, app, "folder/new/b.ts")).exitCode).toBe(2)
  })

  test("through a link whose target is yet to be written", async () => {
    const [made, ada] = await agents("Ada")
    symlinkSync("later.ts", join(made.repositoryPath, "link.ts"))
    await reserve(ada, "later.ts")
    expect((await edit(made, ada.session.app, "link.ts")).exitCode).toBe(2)
  })

  test("in every work tree of one clone", async () => {
    const [made, ada] = await agents("Ada")
    commitAll(made.repositoryPath)
    const folder = join(made.folder, "tree")
    git(made.repositoryPath, "worktree", "add", "--quiet", folder)
    await reserve(ada, "src/a.ts")
    const { exitCode, stderr } = await edit(made, ada.session.app, join(folder, "src/a.ts"), { folder })
    expect(exitCode).toBe(2)
    expect(stderr).toContain("src/a.ts is reserved by Ada")
  })

  test("under a path that starts from the folder of the payload", async () => {
    const [made, ada] = await agents("Ada")
    await reserve(ada, "src/a.ts")
    const folder = join(made.repositoryPath, "src")
    for (const path of ["a.ts", "./a.ts", "../src/a.ts", "deep/../a.ts"])
      expect((await edit(made, ada.session.app, path, { folder })).exitCode).toBe(2)
    expect((await edit(made, ada.session.app, "src/a.ts", { folder })).exitCode).toBe(0)
  })

  test("under a path that starts from the hook's folder when the payload names none", async () => {
    const [made, ada] = await agents("Ada")
    await reserve(ada, "src/a.ts")
    const payload = { session_id: "b", tool_name: "Edit", tool_input: { file_path: "a.ts" } }
    const folder = join(made.repositoryPath, "src")
    const { exitCode } = await runHook(made, ada.session.app, JSON.stringify(payload), { folder })
    expect(exitCode).toBe(2)
  })
})

describe("a file elsewhere", () => {
  test("outside of any repository is let go, and nothing is made of it", async () => {
    const [made, ada] = await agents("Ada")
    expect(await edit(made, ada.session.app, [join(made.folder, "loose.ts"), "../loose.ts"])).toEqual(ALLOWED)
    expect(await heldIn(ada.session.app)).toEqual([])
    expect(await ada.session.call("list-agents", { project_key: "demo" })).toContain("Total: 1")
  })

  test("in a repository that nobody connected is let go, and does not connect it", async () => {
    const [made, ada] = await agents("Ada")
    const path = otherRepository(made)
    expect(await edit(made, ada.session.app, join(path, "a.ts"))).toEqual(ALLOWED)
    expect(await heldIn(ada.session.app, 2)).toEqual([])
  })

  test("in a repository that was connected is reserved there, beside one of the home repository", async () => {
    const [made, ada] = await agents("Ada")
    const path = otherRepository(made)
    const { id } = await connectFolder(ada.session.app.db, path, made.nowMs)
    expect(await edit(made, ada.session.app, ["a.ts", join(path, "a.ts")])).toEqual(ALLOWED)
    expect(await heldIn(ada.session.app, 1)).toEqual(["a.ts shared 7200"])
    expect(await heldIn(ada.session.app, id)).toEqual(["a.ts shared 7200"])
  })

  test("in the new repository that the client works in connects that", async () => {
    const [made, ada] = await agents("Ada")
    const folder = otherRepository(made)
    expect(await edit(made, ada.session.app, "a.ts", { folder })).toEqual(ALLOWED)
    expect(await heldIn(ada.session.app, 2)).toEqual(["a.ts shared 7200"])
  })

  test("in a submodule is that repository's own, unless the client works outside of it", async () => {
    const [made, ada] = await agents("Ada")
    const { app } = ada.session
    const source = otherRepository(made)
    commitAll(source)
    const allowFile = ["-c", "protocol.file.allow=always"]
    git(made.repositoryPath, ...allowFile, "submodule", "--quiet", "add", source, "module")
    const folder = join(made.repositoryPath, "module")
    await reserve(ada, "**")
    expect(await edit(made, app, "module/a.ts")).toEqual(ALLOWED)
    expect(await heldIn(app, 2)).toEqual([])
    expect(await edit(made, app, "a.ts", { folder })).toEqual(ALLOWED)
    expect(await heldIn(app, 2)).toEqual(["a.ts shared 7200"])
  })

  test("in a connected folder without git is reserved there, also below it", async () => {
    const [made, ada] = await agents("Ada")
    const { app } = ada.session
    const plain = join(made.folder, "plain")
    writeFile(join(plain, "a.md"))
    const { id } = await connectFolder(app.db, plain, made.nowMs)
    await reserve({ ...ada, repositoryId: id }, "deep/b.md")
    const folder = join(plain, "deep")
    expect((await edit(made, app, "deep/b.md", { folder: plain })).exitCode).toBe(2)
    expect((await edit(made, app, "b.md", { folder })).exitCode).toBe(2)
    expect(await edit(made, app, join(made.folder, "plainer/b.md"))).toEqual(ALLOWED)
    writeFile(join(folder, "x.md"))
    expect(toldBy(await sessionEvent(made, app, "session-start", { folder: plain }))).toContain("deep/b.md")
    expect(toldBy(await sessionEvent(made, app, "session-start", { folder, session: "c" }))).toContain(
      "deep/b.md",
    )
  })
})
