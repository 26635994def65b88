/** How what was seen of clients becomes a table, a verdict, and a part of docs/clients.md. */

import { readFileSync } from "node:fs"
import { expect, test } from "vitest"
import { type Check, COLUMNS, complaintsOf, type Report, stateOf } from "../../clients/report/checks.ts"
import { END, START, withTables } from "../../clients/report/document.ts"
import { tables } from "../../clients/report/table.ts"

const check = (column: Check["column"], holds: boolean): Check => ({
  column,
  what: `a look at ${column}`,
  holds,
  detail: "seen",
})

function report(parts: Partial<Report>): Report {
  return { id: "a", title: "A", version: "1.0", seconds: 1, checks: [], notes: {}, limits: {}, ...parts }
}

/** The cells of a table's last row, without the client and its version. */
function cells(one: Report): string[] {
  const row = tables([one]).split("\n")[2] ?? ""
  return row.split(" | ").slice(2)
}

test("a column holds when all its checks do", () => {
  const one = report({
    checks: [check("free", true), check("free", true), check("self", true), check("self", false)],
  })
  expect(stateOf(one, "free")).toBe("holds")
  expect(stateOf(one, "self")).toBe("fails")
  expect(stateOf(one, "mail")).toBe("unseen")
})

test("a row has a cell for each column: yes, no, what was noted, or nothing seen", () => {
  const checks = [
    check("connected", true),
    check("tools", true),
    check("instructions", false),
    check("start", false),
  ]
  const one = report({ checks, notes: { tools: "41", instructions: "none" } })
  expect(cells(one).slice(0, 5)).toEqual(["yes", "41", "**no**: none", "**no**", "-"])
  expect(cells(one)).toHaveLength(Object.keys(COLUMNS).length)
})

test("what is known not to hold fails nothing, and its reason stands below the table", () => {
  const one = report({ checks: [check("start", false)], limits: { start: "it calls no hook at the start" } })
  expect(complaintsOf(one)).toEqual([])
  expect(tables([one])).toContain("| no* |")
  expect(tables([one])).toContain("- A, session-start text: it calls no hook at the start")
})

test("a limit that is none any more is a failure, and stands below no table", () => {
  const one = report({ checks: [check("start", true)], limits: { start: "it calls no hook at the start" } })
  expect(complaintsOf(one)).toEqual([expect.stringContaining('the limit on "start" is none any more')])
  expect(tables([one])).not.toContain("it calls no hook")
})

test("every check that fails is told, and so is what kept a run from its end", () => {
  const one = report({ checks: [check("free", true), check("mail", false)], failure: "it never began" })
  expect(complaintsOf(one)).toEqual(["a: it never began", "a: a look at mail"])
})

test("nested clients have a table of their own", () => {
  const nested = report({ id: "nested:b", title: "A > B", checks: [check("apart", true)] })
  expect(tables([report({}), nested]).split("\n\n")).toEqual([
    expect.stringContaining("| Client | version | MCP connected |"),
    expect.stringContaining("| Nested clients | version | two agents |"),
  ])
})

test("a client that is not driven has a row that says so", () => {
  expect(
    tables([report({})], ["B"])
      .split("\n")
      .at(-1),
  ).toMatch(/^\| B \| documentation only( \| -)+ \|$/)
})

test("cells keep a table together, whatever they hold", () => {
  expect(tables([report({ title: "a|b\nc" })])).toContain("| a\\|b c | 1.0 |")
})

test("a document gets the tables between its markers, and stays as it is elsewhere", () => {
  const written = withTables(
    `before\n${START}\nof another day\n${END}\nafter\n`,
    [report({})],
    [],
    "2026-01-02",
  )
  expect(written).toMatch(/^before\n/)
  expect(written).toMatch(/\nafter\n$/)
  expect(written).toContain("Run on 2026-01-02.")
  expect(written).not.toContain("of another day")
  expect(withTables(written, [report({})], [], "2026-01-02")).toBe(written)
})

test.each([["nothing"], [START], [`${END}${START}`], [`${START}${START}${END}`], [`${START}${END}${END}`]])(
  "a document without its markers is refused: %s",
  (text) => {
    expect(() => withTables(text, [], [], "2026-01-02")).toThrow("the document needs one")
  },
)

test("docs/clients.md has them", () => {
  const document = readFileSync(new URL("../../docs/clients.md", import.meta.url), "utf8")
  expect(() => withTables(document, [], [], "2026-01-02")).not.toThrow()
})
