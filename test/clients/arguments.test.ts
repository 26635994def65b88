/** The command line of `npm run clients`. */

import { describe, expect, test } from "vitest"
import { isAskedFor, readArguments } from "../../clients/arguments.ts"

const ROWS = ["claude-code", "codex:gpt-5.5", "codex:gpt-6", "nested:codex"]
const STEPS = ["blocked", "free"]
const read = (...argv: string[]) => readArguments(argv, ROWS, STEPS, { XDG_CACHE_HOME: "/cache" })

test("without arguments all clients run, in the user's cache folder, and nothing is kept or written", () => {
  expect(read()).toEqual({
    names: [],
    folder: "/cache/signalbox-clients",
    keeps: false,
    dumps: false,
    writes: false,
  })
})

test("clients, steps and a folder can be chosen", () => {
  expect(read("codex", "nested:codex", "--only", "free,blocked", "--folder", "/a/../b")).toMatchObject({
    names: ["codex", "nested:codex"],
    only: ["free", "blocked"],
    folder: "/b",
  })
})

test("dumped payloads are kept", () => {
  expect(read("--dump")).toMatchObject({ dumps: true, keeps: true })
  expect(read("--keep")).toMatchObject({ dumps: false, keeps: true })
})

test.each([
  [["claude"], "unknown client: claude; known are: claude-code, codex, codex:gpt-5.5, codex:gpt-6, nested"],
  [["--only", "free,fre"], "unknown step: fre; known are: blocked, free"],
  [["--all"], "--all"],
  [["--write", "codex"], "--write needs all clients and all steps"],
  [["--write", "--only", "free"], "--write needs all clients and all steps"],
])("%j is refused, with what is wrong", (argv, message) => {
  expect(() => read(...argv)).toThrow(message)
})

test("the table of all clients can be written", () => {
  expect(read("--write")).toMatchObject({ writes: true })
})

describe("a row is asked for", () => {
  test.each([
    ["codex:gpt-5.5", [], true],
    ["codex:gpt-5.5", ["codex"], true],
    ["codex:gpt-5.5", ["codex:gpt-5.5"], true],
    ["codex:gpt-5.5", ["codex:gpt-6"], false],
    ["nested:codex", ["codex"], false],
  ])("%s by %j: %s", (id, names, expected) => {
    expect(isAskedFor(id, names)).toBe(expected)
  })
})
