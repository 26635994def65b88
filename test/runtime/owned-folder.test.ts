/**
 * What may be removed and what never is. Nothing here asks for the removal of what must stay before the check alone
 * has refused it, and all of it lies in the test's own folder; `/` is given to the check only.
 */

import { existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs"
import { basename, dirname, join, resolve } from "node:path"
import { beforeEach, describe, expect, onTestFinished, test, vi } from "vitest"
import {
  isOwned,
  makeTemporaryFolder,
  removeEmptyAbove,
  removeOwned,
  removeOwnedSync,
  requireOwned,
} from "../../src/runtime/owned-folder.ts"
import { temporaryFolder } from "../support/temporary-folder.ts"

/** A home with a folder of ours in it, files beside it, and a link to each. */
function makeHome() {
  const home = join(temporaryFolder(), "home")
  const owned = join(home, "data", "clones")
  const elsewhere = join(home, "elsewhere")
  for (const folder of [join(owned, "one", "deep"), elsewhere, `${owned}-not-ours`]) {
    mkdirSync(folder, { recursive: true })
    writeFileSync(join(folder, "file"), "kept")
  }
  symlinkSync(elsewhere, join(owned, "link"))
  symlinkSync(join(home, "data"), join(home, "data-link"))
  vi.stubEnv("HOME", home)
  onTestFinished(() => {
    vi.unstubAllEnvs()
  })
  return { home, owned, elsewhere }
}

describe("a path is ours", () => {
  let at: ReturnType<typeof makeHome>
  beforeEach(() => {
    at = makeHome()
  })

  const refused: [what: string, path: (place: typeof at) => string][] = [
    ["empty", () => ""],
    ["relative", () => "one"],
    ["a dot", () => "."],
    ["the folder above the working one", () => ".."],
    ["the root", () => "/"],
    ["the home folder", ({ home }) => home],
    ["above the home folder", ({ home }) => dirname(home)],
    ["the folder itself", ({ owned }) => owned],
    ["the folder itself, with a slash", ({ owned }) => `${owned}/`],
    ["the folder itself, from within", ({ owned }) => `${owned}/one/..`],
    ["the folder itself, by a link above", ({ home }) => join(home, "data-link", "clones")],
    ["above the folder", ({ owned }) => `${owned}/..`],
    ["a dozen steps above", ({ owned }) => `${owned}${"/..".repeat(12)}`],
    ["beside the folder", ({ elsewhere }) => elsewhere],
    ["beside the folder, by way of it", ({ owned }) => `${owned}/../../elsewhere/file`],
    ["of a name that begins like the folder's", ({ owned }) => `${owned}-not-ours`],
    ["behind a link that leads out", ({ owned }) => join(owned, "link", "file")],
    ["not there, behind a link that leads out", ({ owned }) => join(owned, "link", "a", "b")],
  ]
  test.each(refused)("unless it is %s", async (_, pathOf) => {
    const path = pathOf(at)
    expect(isOwned(at.owned, path)).toBe(false)
    expect(() => requireOwned(at.owned, path)).toThrow(
      expect.objectContaining({
        code: "refused",
        message: expect.stringContaining(`'${path}' is not removed: it`),
      }),
    )
    if (!resolve(path).startsWith(`${at.home}/`)) return
    const before = readdirSync(at.home, { recursive: true })
    await expect(removeOwned(at.owned, path)).rejects.toMatchObject({ code: "refused" })
    expect(() => removeOwnedSync(at.owned, path)).toThrow("is not removed")
    expect(readdirSync(at.home, { recursive: true })).toEqual(before)
  })

  test("unless the folder is relative", () => {
    for (const owned of ["", ".", "..", basename(at.owned)]) {
      expect(isOwned(owned, join(at.owned, "one"))).toBe(false)
      expect(isOwned(owned, join(process.cwd(), "one"))).toBe(false)
    }
  })

  test("unless the home folder is in it, however large the folder of ours is", () => {
    for (const path of [at.home, dirname(at.home)]) {
      expect(isOwned("/", path)).toBe(false)
      expect(() => requireOwned(dirname(dirname(at.home)), path)).toThrow("the home folder or holds it")
    }
    expect(isOwned(at.home, at.owned)).toBe(true)
  })

  test("below the folder, also by links above that and when nothing is there", () => {
    const { home, owned } = at
    const real = join(owned, "one")
    for (const path of [real, `${real}/`, join(home, "data-link", "clones", "one"), `${owned}/two/../one`])
      expect(requireOwned(owned, path)).toBe(real)
    expect(requireOwned(join(home, "data-link", "clones"), real)).toBe(real)
    expect(requireOwned(owned, join(real, "file", "none"))).toBe(join(real, "file", "none"))
    expect(requireOwned(join(home, "none"), join(home, "none", "a"))).toBe(join(home, "none", "a"))
    expect(requireOwned(owned, join(owned, "link"))).toBe(join(owned, "link"))
  })
})

describe.each([
  ["at once", async (owned: string, path: string) => removeOwnedSync(owned, path)],
  ["in time", removeOwned],
])("what is ours is removed %s", (_, remove) => {
  test("with all that is in it, and nothing else", async () => {
    const { owned, elsewhere } = makeHome()
    await remove(owned, join(owned, "one"))
    expect(readdirSync(owned)).toEqual(["link"])
    await remove(owned, join(owned, "one"))
    expect(readdirSync(elsewhere)).toEqual(["file"])
  })

  test("as a link alone where it is one, also with a slash behind it, and links in it", async () => {
    const { owned, elsewhere } = makeHome()
    symlinkSync(elsewhere, join(owned, "one", "inner"))
    symlinkSync(owned, join(owned, "loop"))
    await remove(owned, `${join(owned, "link")}/`)
    await remove(owned, join(owned, "loop"))
    expect(readdirSync(owned)).toEqual(["one"])
    await remove(owned, join(owned, "one"))
    expect(readdirSync(owned)).toEqual([])
    expect(readFileSync(join(elsewhere, "file"), "utf8")).toBe("kept")
  })

  test("where the folder of ours is a link itself, which stays", async () => {
    const { home, owned } = makeHome()
    const linked = join(home, "data-link", "clones")
    await remove(linked, join(linked, "one"))
    expect(readdirSync(owned)).toEqual(["link"])
    expect(readdirSync(linked)).toEqual(["link"])
  })
})

describe("a folder that was made for a file", () => {
  test("goes when it is empty, the inner ones first", () => {
    const { home } = makeHome()
    const outer = join(home, "made")
    mkdirSync(join(outer, "inner"), { recursive: true })
    const file = join(outer, "inner", "file")
    expect(removeEmptyAbove(file, outer)).toBe(false)
    expect(removeEmptyAbove(file, join(outer, "inner"))).toBe(true)
    expect(removeEmptyAbove(file, outer)).toBe(true)
    expect(existsSync(outer)).toBe(false)
  })

  test("stays when it is not above that file, is a link, or has the home folder in it", () => {
    const { home, owned } = makeHome()
    const empty = join(home, "empty")
    mkdirSync(empty)
    symlinkSync(empty, join(home, "empty-link"))
    const file = join(owned, "one", "deep", "file")
    for (const folder of [empty, `${owned}/../../empty`, "", ".", "..", "/", home, dirname(home)])
      expect(removeEmptyAbove(file, folder), folder).toBe(false)
    expect(removeEmptyAbove(join(empty, "file"), join(home, "empty-link"))).toBe(false)
    // Empty or not, what is above the home folder is nobody's to remove.
    vi.stubEnv("HOME", join(empty, "home"))
    expect(removeEmptyAbove(join(empty, "file"), empty)).toBe(false)
    expect(existsSync(empty)).toBe(true)
  })
})

describe("a temporary folder", () => {
  test("is this user's alone, and goes with all that is in it when it is not needed any more", () => {
    const { home } = makeHome()
    vi.stubEnv("TMPDIR", join(home, "elsewhere"))
    const { path, discard } = makeTemporaryFolder("a-")
    expect(dirname(path)).toBe(join(home, "elsewhere"))
    mkdirSync(join(path, "deep"))
    discard()
    expect(readdirSync(join(home, "elsewhere"))).toEqual(["file"])
    discard()
  })

  test("may lie behind a link, and when a link has taken its place that alone goes", () => {
    const { home, owned } = makeHome()
    vi.stubEnv("TMPDIR", join(home, "data-link"))
    const { path, discard } = makeTemporaryFolder("a-")
    discard()
    symlinkSync(owned, path)
    discard()
    expect(readdirSync(join(home, "data"))).toEqual(["clones", "clones-not-ours"])
    expect(readdirSync(owned)).toEqual(["link", "one"])
  })
})
