import fc from "fast-check"
import { describe, expect, test } from "vitest"
import { serverInstructions } from "../../src/config/instructions.ts"
import { OPERATIONS } from "../../src/operations/index.ts"

type Settings = Parameters<typeof serverInstructions>[0]

const settings = (given: Partial<Settings> = {}): Settings => ({
  project: undefined,
  program: undefined,
  model: undefined,
  workingFolder: "/srv/code",
  ...given,
})
const bytesOf = (text: string) => Buffer.byteLength(text, "utf8")
const ORDER = ["macro-start-session", "reserve-file-paths", "fetch-inbox", "ack-message"]

function expectFit(text: string): void {
  expect(bytesOf(text)).toBeLessThanOrEqual(2_048)
  const places = ORDER.map((tool) => text.indexOf(tool))
  expect(places).not.toContain(-1)
  expect(places).toEqual([...places].sort((a, b) => a - b))
}

describe("the server instructions", () => {
  test("name the four steps in order, in the first lines", () => {
    const text = serverInstructions(settings())
    expectFit(text)
    expect(text.indexOf("macro-start-session")).toBeLessThan(200)
  })

  test("say in the first 150 characters of their first line what to do", () => {
    const [line = ""] = serverInstructions(settings()).split("\n")
    const start = line.slice(0, 150)
    expect(start).toMatch(/call macro-start-session first/)
    expect(start).toMatch(/reserve-file-paths before you edit/)
    expect(start).toMatch(/fetch-inbox for mail\./)
  })

  test("name the configured project, program and model", () => {
    const text = serverInstructions(settings({ project: "shop", program: "codex", model: "gpt-5" }))
    expect(text).toContain('project_key: "shop"')
    expect(text).toContain('program: "codex"')
    expect(text).toContain('model: "gpt-5"')
    expect(text).not.toContain("/srv/code")
  })

  test("name the working folder as project when none is configured", () => {
    const text = serverInstructions(settings())
    expect(text).toContain('project_key: "/srv/code"')
    expect(text).not.toContain("program:")
    expect(text).not.toContain("model:")
  })

  test("name tools that exist only", () => {
    const known = new Set(OPERATIONS.map((operation) => operation.name))
    const named = serverInstructions(settings({ workingFolder: "/x" })).match(/\b[a-z]+(?:-[a-z]+)+\b/g) ?? []
    expect(
      named.filter(
        (name) =>
          /^(?:macro|get|list|send|reply|fetch|read|ack|search|summarize|reserve|release|register)-/.test(
            name,
          ) && !known.has(name),
      ),
    ).toEqual([])
    expect(named.filter((name) => known.has(name)).length).toBeGreaterThan(8)
  })

  test.each([
    ["long", "x".repeat(10_000)],
    ["at the edge", "x".repeat(300)],
    ["not Latin", "日".repeat(300)],
    ["made of emoji", "😀".repeat(150)],
  ])("have at most 2,048 bytes when every setting is %s", (_, value) => {
    expectFit(
      serverInstructions(settings({ project: value, program: value, model: value, workingFolder: value })),
    )
  })

  test("cut a long setting between characters", () => {
    const value = `x${"😀".repeat(200)}`
    const text = serverInstructions(settings({ project: value, program: value, model: value }))
    expect(text).not.toMatch(/\p{Surrogate}/u)
  })

  test("have at most 2,048 bytes, whatever the settings are", () => {
    const value = fc.option(
      fc.oneof(
        fc.string({ unit: "binary", maxLength: 400 }),
        fc.string({ unit: "grapheme", maxLength: 150 }),
      ),
      { nil: undefined },
    )
    fc.assert(
      fc.property(value, value, value, (project, program, model) => {
        expectFit(serverInstructions(settings({ project, program, model })))
      }),
      { numRuns: 300 },
    )
  })
})
