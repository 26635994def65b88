/** Permission bits that keep what is the user's alone from other users of the machine. */

import { chmodSync, mkdirSync, statSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { describe, expect, test } from "vitest"
import { closeToOthers, isWritableByOthers, openToOthers } from "../../src/runtime/private-files.ts"
import { temporaryFolder } from "../support/temporary-folder.ts"

describe.skipIf(process.platform === "win32")("what is the user's alone", () => {
  test.each([
    [0o600, false],
    [0o700, false],
    [0o640, true],
    [0o604, true],
    [0o601, true],
    [0o620, true],
  ])(
    "with the mode %o is open to others: %s, and is closed without losing what the owner may do",
    (mode, isOpen) => {
      const path = join(temporaryFolder(), "file")
      writeFileSync(path, "")
      chmodSync(path, mode)
      expect(openToOthers([path, `${path}.none`])).toEqual(isOpen ? [path] : [])
      expect(closeToOthers([path, `${path}.none`])).toEqual([])
      expect(openToOthers([path])).toEqual([])
      expect(statSync(path).mode & 0o777).toBe(mode & 0o700)
    },
  )

  test.each([
    [0o755, false],
    [0o775, true],
    [0o757, true],
    [0o1777, false],
  ])("in a folder with the mode %o can be replaced by others: %s", (mode, isExposed) => {
    const folder = join(temporaryFolder(), "folder")
    mkdirSync(folder)
    chmodSync(folder, mode)
    expect(isWritableByOthers(folder)).toBe(isExposed)
  })

  test("is what it is where there is nothing", () => {
    expect(isWritableByOthers(join(temporaryFolder(), "none"))).toBe(false)
  })
})
