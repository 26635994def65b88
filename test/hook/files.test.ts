/**
 * Owns the hook's files in the data folder: what is recorded beside the hook, and their removal: the folder that
 * is the hook's goes, and nothing that a link points at.
 */

import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs"
import { join } from "node:path"
import { expect, onTestFinished, test, vi } from "vitest"
import { hookFolder, placeHookFiles, removeHookFiles } from "../../src/hook/files.ts"
import { temporaryFolder } from "../support/temporary-folder.ts"

/** A home with the user's own folder and a data folder, in which there is a folder for the hook. */
function makeData() {
  const home = temporaryFolder()
  const data = join(home, "data")
  const mine = join(home, "mine")
  for (const folder of [hookFolder(data), mine]) {
    mkdirSync(folder, { recursive: true })
    writeFileSync(join(folder, "file"), "1")
  }
  writeFileSync(join(data, "signalbox.db"), "")
  vi.stubEnv("HOME", home)
  onTestFinished(() => {
    vi.unstubAllEnvs()
  })
  return { home, data, mine }
}

test("the Node that runs us is recorded beside the hook, on a line, and anew when it is another", () => {
  const data = temporaryFolder()
  const record = join(hookFolder(data), "node")
  expect(placeHookFiles(data)).toContain(record)
  expect(readFileSync(record, "utf8")).toBe(`${process.execPath}\n`)
  expect(statSync(record).mode & 0o777).toBe(0o600)
  expect(placeHookFiles(data)).toEqual([])
  writeFileSync(record, "/opt/node-20/bin/node\n")
  expect(placeHookFiles(data)).toEqual([record])
  expect(readFileSync(record, "utf8")).toBe(`${process.execPath}\n`)
  removeHookFiles(data)
  expect(existsSync(record)).toBe(false)
})

test("the hook's folder is removed alone, once and again", () => {
  const { home, data } = makeData()
  removeHookFiles(data)
  removeHookFiles(data)
  removeHookFiles(join(home, "none"))
  expect(readdirSync(data)).toEqual(["signalbox.db"])
  expect(readdirSync(home)).toEqual(["data", "mine"])
})

test("in a data folder that is a link the hook's folder is removed, and the link stays", () => {
  const { home, data } = makeData()
  const link = join(home, "link")
  symlinkSync(data, link)
  removeHookFiles(link)
  expect(readdirSync(link)).toEqual(["signalbox.db"])
})

test("a link in the place of the hook's folder is removed, and not what it points at", () => {
  const { data, mine } = makeData()
  removeHookFiles(data)
  symlinkSync(mine, hookFolder(data))
  removeHookFiles(data)
  expect(readdirSync(data)).toEqual(["signalbox.db"])
  expect(readdirSync(mine)).toEqual(["file"])
})

test("nothing is removed of a home folder that is called as the hook's folder, or of no data folder", () => {
  const { data } = makeData()
  vi.stubEnv("HOME", hookFolder(data))
  expect(() => removeHookFiles(data)).toThrow("the home folder")
  vi.stubEnv("HOME", join(hookFolder(data), "deep", "home"))
  expect(() => removeHookFiles(data)).toThrow("the home folder")
  expect(() => removeHookFiles("")).toThrow("absolute")
  expect(existsSync(join(hookFolder(data), "file"))).toBe(true)
})
