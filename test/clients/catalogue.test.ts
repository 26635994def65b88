/** Which clients the harness drives, and under which names. */

import { expect, test } from "vitest"
import { ROWS, STEP_NAMES, UNDRIVEN } from "../../clients/catalogue.ts"
import { RELEASES } from "../../clients/versions.ts"
import { CLIENTS } from "../../src/hook/clients.ts"

test("every client is driven, or stands in the table as one that is not", () => {
  const families = new Set(ROWS.map(({ id }) => id.split(":")[0]))
  const titles = CLIENTS.filter(({ name }) => !families.has(name)).map(({ title }) => title)
  expect(UNDRIVEN).toEqual(titles)
  for (const title of ["Cursor", "VS Code", "Windsurf (Cascade)", "Kiro", "Devin"])
    expect(UNDRIVEN).toContain(title)
})

test("rows have ids of their own, and steps too", () => {
  expect(new Set(ROWS.map(({ id }) => id)).size).toBe(ROWS.length)
  expect(STEP_NAMES).toEqual(
    expect.arrayContaining(["settings", "blocked", "uninstall", "trust", "subagent"]),
  )
})

test("every release is pinned, and used or needed by one that is", () => {
  const used: Set<string> = new Set(ROWS.flatMap(({ releases }) => releases))
  const unused = Object.keys(RELEASES).filter((name) => !used.has(name))
  expect(unused).toEqual(["node"])
  for (const { version } of Object.values(RELEASES)) expect(version).toMatch(/^\d+\.\d+\.\d+$/)
})
