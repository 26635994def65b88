/** Owns that no link in a repository decides which file on the machine install and uninstall change. */

import { mkdirSync, readdirSync, readlinkSync, statSync, symlinkSync } from "node:fs"
import { dirname, join, relative } from "node:path"
import { describe, expect, test } from "vitest"
import { remove } from "../../scripts/removal.ts"
import { CLIENTS } from "../../src/install/catalogue.ts"
import { checkInstalled } from "../../src/install/check.ts"
import type { Outcome } from "../../src/install/outcome.ts"
import { createMachine, type TestMachine } from "./support.ts"

const THEIRS = "what nobody else may touch\n"
const REFUSED = /is left alone: .* leads out of the repository, or to nothing\. Put a folder or file/

/** The paths of a client's files in a project, and what stands in the place of one of them. */
const FORMS: [what: string, link: (machine: TestMachine, path: string) => string][] = [
  [
    "a link to a file outside",
    (machine, path) => {
      const target = join(machine.home, ".bashrc")
      machine.write(target, THEIRS)
      return linkTo(target, path)
    },
  ],
  [
    "a folder that is a link to one outside",
    (machine, path) => {
      const target = join(machine.home, "elsewhere")
      machine.write(join(target, "notes"), THEIRS)
      return linkTo(target, firstFolder(machine, path))
    },
  ],
  ["a link to nothing", (machine, path) => linkTo(join(machine.home, "none"), path)],
  [
    "a folder that is a link to nothing",
    (machine, path) => linkTo(join(machine.home, "none"), firstFolder(machine, path)),
  ],
  [
    "a link to nothing outside, by way of the repository",
    (_, path) => linkTo(join("..", "..", "none"), path),
  ],
]

function linkTo(target: string, path: string): string {
  mkdirSync(dirname(path), { recursive: true })
  symlinkSync(target, path)
  return path
}

/** The outermost folder that a file of a project has to itself; the file where it lies at the root. */
function firstFolder(machine: TestMachine, path: string): string {
  const git = join(machine.project, ".git")
  const root = path.startsWith(`${git}/`) ? git : machine.project
  return join(root, relative(root, path).split("/")[0] ?? "")
}

/** Where git itself resolves a folder of hooks, it is refused before any file of it is. */
const CASES = CLIENTS.flatMap(({ name }) =>
  FORMS.filter(([what]) => name !== "git" || !what.startsWith("a folder")).map(
    ([what, link]) => [name, what, link] as const,
  ),
)

/** What is on the machine beside the project. */
function surroundings(machine: TestMachine): object {
  return Object.fromEntries(Object.entries(machine.tree()).filter(([path]) => !path.startsWith("work")))
}

/** Runs `work` with a machine of its own for each file that a client has in a project. */
function forEachFile(client: string, work: (machine: TestMachine, path: string) => void): void {
  const count = createMachine().files(client, "project").length
  expect(count).toBeGreaterThan(0)
  for (let index = 0; index < count; index += 1) {
    const machine = createMachine()
    work(machine, machine.files(client, "project")[index]?.path ?? "")
  }
}

function expectRefused(outcomes: readonly Outcome[], path: string): void {
  const outcome = outcomes.find((one) => one.path === path)
  expect(outcome?.action, path).toBe("failed")
  expect(outcome?.reasons.join()).toMatch(REFUSED)
}

describe("settings of a project behind a link out of it", () => {
  test.each(CASES)("of %s are not written, %s", (client, _, link) => {
    forEachFile(client, (machine, path) => {
      const place = link(machine, path)
      const [before, target] = [surroundings(machine), readlinkSync(place)]
      expectRefused(machine.install(client, "project", { isDryRun: true }), path)
      expectRefused(machine.install(client, "project"), path)
      expect(surroundings(machine)).toEqual(before)
      expect(readlinkSync(place)).toBe(target)
    })
  })

  test.each(CASES)("of %s are not taken out, %s", (client, _, link) => {
    forEachFile(client, (machine, path) => {
      machine.install(client, "project")
      const text = machine.read(path)
      remove(firstFolder(machine, path))
      const place = link(machine, path)
      // Even what is ours stays where a link leads to it.
      if (statSync(path, { throwIfNoEntry: false })?.isFile() === true) machine.write(path, text)
      const [before, target] = [surroundings(machine), readlinkSync(place)]
      expectRefused(machine.uninstall(client, "project"), path)
      expect(surroundings(machine)).toEqual(before)
      expect(readlinkSync(place)).toBe(target)
    })
  })
})

test("a folder of git hooks that is a link out of the repository is refused as a whole", () => {
  const machine = createMachine()
  linkTo(join(machine.home, "elsewhere"), join(machine.project, ".git", "hooks"))
  for (const work of [machine.install, machine.uninstall])
    expect(() => work.call(machine, "git", "project")).toThrow("which others may share")
})

test("settings behind a link within the repository are written where they lie", () => {
  const machine = createMachine()
  mkdirSync(join(machine.project, "config", "claude"), { recursive: true })
  symlinkSync("config/claude", join(machine.project, ".claude"))
  const before = machine.tree()
  expect(machine.install("claude-code", "project").map(({ action }) => action)).toEqual([
    "created",
    "created",
  ])
  expect(readdirSync(join(machine.project, "config", "claude"))).toEqual(["settings.json"])
  machine.uninstall("claude-code", "project")
  expect(machine.tree()).toEqual(before)
})

test("a link that comes later is told by the doctor", () => {
  const machine = createMachine()
  machine.install("cursor", "project")
  remove(join(machine.project, ".cursor"))
  symlinkSync(machine.home, join(machine.project, ".cursor"))
  const [found] = checkInstalled(machine.dataFolder, machine.machine)
  expect(found?.faults.join()).toContain("leads out of the repository")
})
