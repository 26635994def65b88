import { readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import BetterSqlite3 from "better-sqlite3"
import { afterAll, describe, expect, test } from "vitest"
import { addSlowVectorFunctions } from "../../src/db/vector-functions.ts"
import { packageFile } from "../../src/runtime/package-root.ts"
import { searchSchema } from "../../src/search/sqlite.ts"
import { documentSearchSchema } from "../../src/search/sqlite-documents.ts"
import { memorySearchSchema } from "../../src/search/sqlite-memories.ts"

const SRC = fileURLToPath(new URL("../../src", import.meta.url))

/** Modules that export records of statements: all of the store, and the SQLite search. */
const MODULES = [
  ...readdirSync(join(SRC, "store"), { recursive: true, encoding: "utf8" })
    .filter((path) => path.endsWith(".ts"))
    .map((path) => `store/${path}`),
  "search/sqlite.ts",
  "search/sqlite-memories.ts",
  "search/sqlite-documents.ts",
]

interface NamedStatement {
  /** Such as `store/coordination/agents.ts agentStatements.findById`. */
  name: string
  module: string
  sql: string
}

async function statementsOf(module: string): Promise<NamedStatement[]> {
  const exported = (await import(join(SRC, module))) as Record<string, unknown>
  return Object.entries(exported)
    .filter(([name]) => name.endsWith("Statements"))
    .flatMap(([record, statements]) =>
      Object.entries(statements as Record<string, string>).map(([key, sql]) => ({
        name: `${module} ${record}.${key}`,
        module,
        sql,
      })),
    )
}

const STATEMENTS = (await Promise.all(MODULES.map(statementsOf))).flat()
const STORED = STATEMENTS.filter((statement) => statement.module.startsWith("store/"))

const schema = new BetterSqlite3(":memory:")
schema.exec(
  readFileSync(packageFile("schema.sql"), "utf8") + searchSchema + memorySearchSchema + documentSearchSchema,
)
addSlowVectorFunctions(schema)
afterAll(() => {
  schema.close()
})

test("there are statements for every store that asks the database", () => {
  const asking = MODULES.filter((module) =>
    /\b(db|tx)\.(all|get|run)\b/.test(readFileSync(join(SRC, module), "utf8")),
  )
  expect(asking.length).toBeGreaterThan(5)
  expect(asking.filter((module) => !STATEMENTS.some((statement) => statement.module === module))).toEqual([])
})

test("whatever the store asks the database stands in a record of statements", () => {
  for (const module of MODULES) {
    const source = readFileSync(join(SRC, module), "utf8")
    const asked = [...source.matchAll(/\b(?:db|tx)\.(?:all|get|run)(?:<[^(]*>)?\(\s*([^,)\s]+)/g)]
    for (const [, first] of asked) expect(first, module).toMatch(/^\w+Statements\./)
  }
})

test.each(STATEMENTS.map(({ name, sql }) => [name, sql]))(
  "%s can be prepared on a fresh database",
  (_, sql) => {
    expect(schema.prepare(sql).source).toBe(sql)
  },
)

describe("the subset of SQL that engines share", () => {
  const FORBIDDEN: [string, RegExp][] = [
    ["INSERT OR ...", /\binsert\s+or\b/i],
    ["REPLACE INTO", /\breplace\s+into\b/i],
    ["strftime()", /\bstrftime\s*\(/i],
    ["now()", /\bnow\s*\(|'now'|\bcurrent_timestamp\b/i],
    ["datetime()", /\b(datetime|julianday|unixepoch)\s*\(/i],
    ["rowid", /\b(rowid|oid|last_insert_rowid)\b/i],
    ["ifnull() and iif()", /\b(ifnull|iif)\s*\(/i],
    ["GLOB, MATCH and REGEXP", /\b(glob|match|regexp)\b/i],
    ["PRAGMA", /\bpragma\b/i],
    ["text in double quotes", /"/],
    ["numbered parameters", /\?\d|[@:$]\w/],
    ["AUTOINCREMENT", /\bautoincrement\b/i],
  ]

  test.each(FORBIDDEN)("no statement of the store uses %s", (_, forbidden) => {
    expect(STORED.length).toBeGreaterThan(40)
    expect(STORED.filter((statement) => forbidden.test(statement.sql)).map(({ name }) => name)).toEqual([])
  })

  test.each(FORBIDDEN)("schema.sql does not use %s", (_, forbidden) => {
    const sql = readFileSync(packageFile("schema.sql"), "utf8").replace(/--.*$/gm, "")
    expect(forbidden.exec(sql)?.[0]).toBeUndefined()
  })

  test("rowid stands in no source outside src/search and src/db", () => {
    const sources = readdirSync(SRC, { recursive: true, encoding: "utf8" }).filter((path) =>
      path.endsWith(".ts"),
    )
    const using = sources.filter((path) => /\browid\b/i.test(readFileSync(join(SRC, path), "utf8")))
    expect(using.filter((path) => !/^(search|db)\//.test(path))).toEqual([])
  })

  test("nothing outside src/store, src/search and src/db writes SQL", () => {
    const sources = readdirSync(SRC, { recursive: true, encoding: "utf8" }).filter((path) =>
      path.endsWith(".ts"),
    )
    const sql = /\b(SELECT\s.+\sFROM|INSERT INTO|UPDATE \w+ SET|DELETE FROM|CREATE (TABLE|INDEX)|PRAGMA)\b/s
    const using = sources.filter((path) => sql.test(readFileSync(join(SRC, path), "utf8")))
    expect(using.filter((path) => !/^(store|search|db)\//.test(path))).toEqual([])
  })
})
