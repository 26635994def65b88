/** Files of other programs are replaced in one step, with their mode, and never over somebody's change. */

import { existsSync, readdirSync, statSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { expect, test } from "vitest"
import { deleteFile, readSnapshot, replaceFile } from "../../src/install/settings-file.ts"
import { createMachine } from "./support.ts"

test("a file that changed since it was read is neither replaced nor deleted, and nothing is left behind", () => {
  const { home } = createMachine()
  const path = join(home, "settings.json")
  writeFileSync(path, "{}")
  const snapshot = readSnapshot(path)
  writeFileSync(path, `{"theirs":1}`)
  const before = readdirSync(home)
  expect(() => replaceFile(snapshot, Buffer.from("ours"))).toThrow("was changed by another program")
  expect(() => deleteFile(snapshot)).toThrow("was changed by another program")
  expect(readdirSync(home)).toEqual(before)
  expect(readSnapshot(path).bytes?.toString()).toBe(`{"theirs":1}`)
})

test("a file that another program made meanwhile is not replaced", () => {
  const { home } = createMachine()
  const path = join(home, "settings.json")
  const snapshot = readSnapshot(path)
  writeFileSync(path, "theirs")
  expect(() => replaceFile(snapshot, Buffer.from("ours"))).toThrow("was changed by another program")
})

test.each([0o600, 0o644, 0o666, 0o755])("mode %o is kept, whatever the umask says", (mode) => {
  const { home } = createMachine()
  const path = join(home, "deep", "down", "file")
  const folders = replaceFile({ path, bytes: undefined, mode }, Buffer.from("one"))
  expect(folders).toEqual([join(home, "deep"), join(home, "deep", "down")])
  expect(statSync(path).mode & 0o777).toBe(mode)
  replaceFile(readSnapshot(path), Buffer.from("two"))
  expect(statSync(path).mode & 0o777).toBe(mode)
  deleteFile(readSnapshot(path))
  expect(existsSync(path)).toBe(false)
})
