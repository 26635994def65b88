/** Owns which entries of PATH a project cannot have brought, and when this package is one that it has. */

import { mkdirSync, symlinkSync } from "node:fs"
import { join } from "node:path"
import { afterEach, expect, test, vi } from "vitest"
import { isBroughtByProject, trustedEntries } from "../../src/runtime/trusted-path.ts"
import { createMachine } from "../install/support.ts"

afterEach(() => vi.unstubAllEnvs())

test("entries are trusted that are absolute and outside of the work tree and of every node_modules", () => {
  const machine = createMachine()
  const { home, project } = machine
  const inside = join(project, "tools")
  const deep = join(project, "src", "deep")
  const modules = join(home, "other", "node_modules", ".bin")
  const good = join(home, "bin")
  for (const folder of [inside, deep, modules, good]) mkdirSync(folder, { recursive: true })
  symlinkSync(inside, join(home, "linked"))
  const path = [
    "",
    ".",
    "tools",
    inside,
    project,
    join(home, "linked"),
    modules,
    "/nowhere",
    good,
    "/usr/bin",
  ]
  expect(trustedEntries(path.join(":"), deep)).toEqual([good, "/usr/bin"])
})

test("without a work tree the folder itself is not trusted, but the home folder is", () => {
  const machine = createMachine()
  vi.stubEnv("HOME", machine.home)
  const bin = join(machine.home, "plain", "bin")
  mkdirSync(bin, { recursive: true })
  expect(trustedEntries(bin, join(machine.home, "plain"))).toEqual([])
  expect(trustedEntries(bin, machine.home)).toEqual([bin])
  expect(trustedEntries(bin, "/")).toEqual([bin])
})

test("a package is the project's where it lies in the project's work tree, but for a clone, which is all of it", () => {
  const { home, project } = createMachine()
  vi.stubEnv("HOME", home)
  const deep = join(project, "apps", "web")
  const brought = join(project, "node_modules", "signalbox")
  const elsewhere = join(home, ".npm", "_npx", "1", "node_modules", "signalbox")
  for (const folder of [deep, brought, elsewhere]) mkdirSync(folder, { recursive: true })
  symlinkSync(brought, join(home, "linked"))
  const packages = [brought, join(home, "linked"), join(project, "vendor", "signalbox"), project, elsewhere]
  for (const folder of [project, deep])
    expect(packages.map((one) => isBroughtByProject(folder, one))).toEqual([true, true, true, false, false])
  expect(packages.map((one) => isBroughtByProject(home, one))).toEqual(packages.map(() => false))
})
