/**
 * What tests, benchmarks and scripts delete, and what they never do. Of what lies beyond a test's own folders
 * only the check is asked.
 */

import { existsSync, mkdirSync, realpathSync, symlinkSync, writeFileSync } from "node:fs"
import { homedir, tmpdir } from "node:os"
import { dirname, join, parse, relative } from "node:path"
import { fileURLToPath } from "node:url"
import { describe, expect, onTestFinished, test } from "vitest"
import { makeTemporaryFolder, remove, removeBelow, requireBelow, requireMade } from "../scripts/removal.ts"
import { makeTemporaryFolder as makeByOthers } from "../src/runtime/owned-folder.ts"
import { temporaryFolder } from "./support/temporary-folder.ts"

const REFUSAL = / stays: it | is no folder of generated files/

/** Expects that a path in the test's own folder stays: the check alone has to say so before deletion is tried. */
function expectStays(path: string): void {
  expect(() => requireMade(path)).toThrow(REFUSAL)
  expect(() => remove(path)).toThrow(REFUSAL)
}

function expectStaysBelow(folder: string, path: string): void {
  expect(() => requireBelow(folder, path)).toThrow(REFUSAL)
  expect(() => removeBelow(folder, path)).toThrow(REFUSAL)
}

/** Makes a file with the folders above it; returns its path. */
function file(...path: string[]): string {
  const made = join(...path)
  mkdirSync(dirname(made), { recursive: true })
  writeFileSync(made, "")
  return made
}

/** Makes a temporary folder that the module knows nothing of, which goes with the test. */
function folderOfOthers(): string {
  const { path, discard } = makeByOthers("signalbox-others-")
  onTestFinished(discard)
  return path
}

const CHECKOUT = dirname(dirname(fileURLToPath(import.meta.url)))

/** Paths that nobody may delete, whatever was made before. */
const HOSTILE: [what: string, path: string][] = [
  ["an empty path", ""],
  ["the working folder", "."],
  ["the folder above", ".."],
  ["a relative path", "dist"],
  ["the root", parse(CHECKOUT).root],
  ["the home", homedir()],
  ["the checkout", CHECKOUT],
  ["the folder above the checkout", dirname(CHECKOUT)],
  ["a file of the checkout", join(CHECKOUT, "package.json")],
  ["the temporary folder", tmpdir()],
  ["the real temporary folder", realpathSync(tmpdir())],
]

describe("a temporary folder", () => {
  test("lies in the system's, is empty and the caller's alone", () => {
    const [one, other] = [temporaryFolder(), temporaryFolder()]
    expect(one).not.toBe(other)
    expect(dirname(one)).toBe(realpathSync(tmpdir()))
    expect(realpathSync(one)).toBe(one)
  })

  test("goes with all that is in it, and may be gone already", () => {
    const folder = makeTemporaryFolder()
    file(folder, "a", "b")
    remove(folder)
    expect(existsSync(folder)).toBe(false)
    remove(folder)
  })

  test("goes when the work for the end is done, and not before", () => {
    const works: (() => void)[] = []
    const folder = temporaryFolder((work) => works.push(work))
    expect(existsSync(folder)).toBe(true)
    for (const work of works) work()
    expect(existsSync(folder)).toBe(false)
  })

  test("loses what is taken from it, which has to be there", () => {
    const folder = temporaryFolder()
    const kept = file(folder, "kept")
    for (const path of [
      file(folder, "a", "b"),
      join(folder, "a"),
      file(folder, "c", "..d"),
      file(folder, "..e"),
    ]) {
      remove(path)
      expect(existsSync(path)).toBe(false)
      expect(() => remove(path)).toThrow("ENOENT")
    }
    expect(existsSync(kept)).toBe(true)
  })
})

describe("nothing is deleted", () => {
  test.each(HOSTILE)("that is %s", (_, path) => {
    const folder = temporaryFolder()
    expect(() => requireMade(path)).toThrow(REFUSAL)
    expect(() => requireBelow(folder, path)).toThrow(REFUSAL)
  })

  test("that has a way up in it, or a separator at its end", () => {
    const folder = temporaryFolder()
    file(folder, "a", "b")
    for (const way of ["/..", "/a/..", "/a/../../x", "/a/../a", "/a/", "//a", "/./a", "/"])
      expectStays(`${folder}${way}`)
    expectStays(relative(process.cwd(), folder))
  })

  test("whose name only begins like a temporary folder's", () => {
    expectStays(`${temporaryFolder()}x`)
  })

  test("that somebody else has made", () => {
    const theirs = folderOfOthers()
    const inside = file(theirs, "a")
    for (const path of [theirs, inside]) expectStays(path)
    expect(existsSync(inside)).toBe(true)
  })

  test("that a link leads to", () => {
    const theirs = folderOfOthers()
    const target = file(theirs, "a", "b")
    const folder = temporaryFolder()
    const link = join(folder, "link")
    symlinkSync(theirs, link)
    for (const path of [join(link, "a"), join(link, "a", "b")]) {
      expectStays(path)
      expectStaysBelow(folder, path)
    }
    remove(link)
    expect([existsSync(link), existsSync(target)]).toEqual([false, true])
    symlinkSync(theirs, join(folder, "other"))
    remove(folder)
    expect([existsSync(folder), existsSync(target)]).toEqual([false, true])
    // In the place of the folder itself a link is as good as any other.
    symlinkSync(theirs, folder)
    expectStays(join(folder, "a"))
    remove(folder)
    expect([existsSync(folder), existsSync(target)]).toEqual([false, true])
  })
})

describe("of a folder of generated files", () => {
  test("what lies below is deleted, and nothing beside", () => {
    const root = temporaryFolder()
    const generated = join(root, "generated")
    const [stale, kept, beside] = [
      file(generated, "stale"),
      file(generated, "kept"),
      file(root, "generated-too", "a"),
    ]
    removeBelow(generated, stale)
    expect(existsSync(stale)).toBe(false)
    for (const path of [generated, root, beside, dirname(beside)]) expectStaysBelow(generated, path)
    expect([existsSync(kept), existsSync(beside)]).toEqual([true, true])
  })

  test.each(HOSTILE.filter(([, path]) => !path.endsWith("package.json")))("none is %s", (_, path) => {
    expect(() => requireBelow(path, join(path, "a"))).toThrow(REFUSAL)
  })

  test("none is a link or a file", () => {
    const folder = temporaryFolder()
    file(folder, "target", "a")
    symlinkSync(join(folder, "target"), join(folder, "link"))
    expectStaysBelow(join(folder, "link"), join(folder, "link", "a"))
    expectStaysBelow(join(folder, "target", "a"), join(folder, "target", "a"))
  })
})
