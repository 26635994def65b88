import { readdirSync, readFileSync } from "node:fs"
import { dirname, join, normalize } from "node:path"
import { fileURLToPath } from "node:url"
import { describe, expect, test } from "vitest"

const SRC = fileURLToPath(new URL("../src", import.meta.url))

interface Source {
  /** Relative to src. */
  path: string
  text: string
  lines: string[]
  /** What it imports, in types too: paths relative to src, `node:` modules, package names. */
  imports: string[]
}

function readSource(path: string): Source {
  const text = readFileSync(join(SRC, path), "utf8")
  return { path, text, lines: text.split("\n"), imports: importsOf(path, text) }
}

function importsOf(path: string, text: string): string[] {
  const statements = [
    ...text.matchAll(/^(?:import|export)\b[^"'`]*?\bfrom\s+["']([^"']+)["']/gm),
    ...text.matchAll(/^import\s+["']([^"']+)["']/gm),
    ...text.matchAll(/\bimport\(\s*["']([^"']+)["']/g),
  ]
  return statements.map(([, named = ""]) =>
    named.startsWith(".") ? normalize(join(dirname(path), named)) : packageOf(named),
  )
}

function packageOf(named: string): string {
  if (named.startsWith("node:")) return named
  return named
    .split("/")
    .slice(0, named.startsWith("@") ? 2 : 1)
    .join("/")
}

const SOURCES = readdirSync(SRC, { recursive: true, encoding: "utf8" })
  .filter((path) => path.endsWith(".ts"))
  .sort()
  .map(readSource)

const isFile = (named: string) => named.endsWith(".ts")
const isPackage = (named: string) => !isFile(named) && !named.startsWith("node:")

/** Whether a path is a file that is named, or lies in a folder that is. */
function isWithin(path: string, places: readonly string[]): boolean {
  return places.some((place) => path === place || path.startsWith(`${place}/`))
}

/** Every import of the files in a place for which `isWrong` holds, as "file -> what it imports". */
function importsWhere(place: string, isWrong: (named: string) => boolean): string[] {
  const files = SOURCES.filter(({ path }) => isWithin(path, [place]))
  expect(files.length, `files in src/${place}`).toBeGreaterThan(0)
  return files.flatMap(({ path, imports }) => imports.filter(isWrong).map((named) => `${path} -> ${named}`))
}

test("all of src is read, and its imports are found", () => {
  expect(SOURCES.length).toBeGreaterThan(50)
  const known = new Set(SOURCES.map(({ path }) => path))
  const files = SOURCES.flatMap(({ imports }) => imports.filter(isFile))
  expect(files.length).toBeGreaterThan(150)
  expect(files.filter((path) => !known.has(path))).toEqual([])
  const mentioned = SOURCES.flatMap(({ text }) => [...text.matchAll(/\bfrom "|\bimport\("/g)]).length
  expect(SOURCES.flatMap(({ imports }) => imports)).toHaveLength(mentioned)
})

describe("who may import whom", () => {
  /** What the files of a place may import of src; nothing else. */
  const ONLY: [place: string, allowed: string[]][] = [
    ["domain", ["domain", "limits.ts"]],
    ["store", ["store", "domain", "db/database.ts"]],
    // The law of salience in SQL is needed by both.
    ["search", ["search", "domain", "db/database.ts", "store/salience.ts"]],
    ["db", ["db", "errors.ts", "limits.ts"]],
    ["limits.ts", []],
    ["errors.ts", []],
  ]
  test.each(ONLY)("src/%s imports of src only %j", (place, allowed) => {
    expect(importsWhere(place, (named) => isFile(named) && !isWithin(named, allowed))).toEqual([])
  })

  const NEVER: [place: string, forbidden: string[]][] = [
    ["operations", ["mcp", "http", "hook", "install", "commands", "resources", "cli.ts", "program.ts"]],
    ["resources", ["mcp", "http", "commands", "cli.ts", "program.ts"]],
    ["hook", ["mcp", "http", "commands", "install", "resources", "cli.ts", "program.ts", "serve.ts"]],
    ["mcp", ["http", "commands", "install", "cli.ts", "program.ts", "serve.ts"]],
    ["http", ["mcp", "commands", "install", "cli.ts", "program.ts", "serve.ts"]],
    ["install", ["mcp", "http", "commands", "operations", "store", "db", "cli.ts", "program.ts"]],
    ["commands", ["cli.ts", "program.ts"]],
    ["embed", ["operations", "resources", "mcp", "http", "hook", "commands", "store", "search"]],
    ["git", ["operations", "resources", "mcp", "http", "hook", "commands", "store", "search", "db"]],
  ]
  test.each(NEVER)("src/%s never imports %j", (place, forbidden) => {
    expect(importsWhere(place, (named) => isWithin(named, forbidden))).toEqual([])
  })

  test("the domain touches neither disk nor network nor process", () => {
    expect(importsWhere("domain", (named) => named.startsWith("node:"))).toEqual([])
  })

  test("no file imports itself by way of others", () => {
    expect(findCycle(new Map(SOURCES.map(({ path, imports }) => [path, imports.filter(isFile)])))).toEqual([])
  })
})

/** Returns the files of one cycle, in order, or nothing. */
function findCycle(graph: ReadonlyMap<string, readonly string[]>): string[] {
  const done = new Set<string>()
  const visit = (path: string, above: readonly string[]): string[] => {
    if (above.includes(path)) return [...above.slice(above.indexOf(path)), path]
    if (done.has(path)) return []
    for (const next of graph.get(path) ?? []) {
      const cycle = visit(next, [...above, path])
      if (cycle.length > 0) return cycle
    }
    done.add(path)
    return []
  }
  for (const path of graph.keys()) {
    const cycle = visit(path, [])
    if (cycle.length > 0) return cycle
  }
  return []
}

test("a cycle would be found", () => {
  expect(
    findCycle(
      new Map([
        ["a", ["b"]],
        ["b", ["c"]],
        ["c", ["b"]],
      ]),
    ),
  ).toEqual(["b", "c", "b"])
  expect(
    findCycle(
      new Map([
        ["a", ["b", "c"]],
        ["b", ["c"]],
        ["c", []],
      ]),
    ),
  ).toEqual([])
})

describe("every package has one home", () => {
  const HOMES: Record<string, string[]> = {
    "better-sqlite3": ["db"],
    "@modelcontextprotocol/server": ["mcp"],
    "@hono/node-server": ["http"],
    "@huggingface/transformers": ["embed"],
    commander: ["cli.ts", "program.ts", "program-documentation.ts", "program-memory.ts"],
    hono: ["http"],
    htmlparser2: ["indexing"],
    "jsonc-parser": ["install"],
    "markdown-it": ["indexing"],
    "smol-toml": ["install"],
    "sqlite-vec": ["db"],
    zod: ["operations", "resources", "mcp", "http"],
  }

  test("no package but those is used", () => {
    const used = new Set(SOURCES.flatMap(({ imports }) => imports.filter(isPackage)))
    expect([...used].sort()).toEqual(Object.keys(HOMES).sort())
  })

  test.each(Object.entries(HOMES))("%s is imported in %j only", (name, homes) => {
    const users = SOURCES.filter(({ imports }) => imports.includes(name)).map(({ path }) => path)
    expect(users.filter((path) => !isWithin(path, homes))).toEqual([])
  })
})

describe("the form of a source", () => {
  /** Every line of src that a pattern matches, as "file:line text". */
  function linesWith(pattern: RegExp): string[] {
    return SOURCES.flatMap(({ path, lines }) =>
      lines.flatMap((line, index) => (pattern.test(line) ? [`${path}:${index + 1} ${line.trim()}`] : [])),
    )
  }

  test("nothing is exported by default", () => {
    expect(linesWith(/^export default\b|\bas default\b/)).toEqual([])
  })

  test("nothing is written to the console", () => {
    expect(linesWith(/\bconsole\s*[.[]/)).toEqual([])
  })

  test("no check is silenced and no type is `any`", () => {
    expect(linesWith(/@ts-(ignore|expect-error|nocheck)|biome-ignore|\bas any\b|: any\b|<any>/)).toEqual([])
  })

  test("no file is longer than 400 lines", () => {
    const length = ({ text }: Source) => text.trimEnd().split("\n").length
    const long = SOURCES.filter((source) => length(source) > 400)
    expect(long.map((source) => `${source.path}: ${length(source)} lines`)).toEqual([])
  })

  test("no function is longer than 70 lines", () => {
    expect(SOURCES.flatMap(longFunctions)).toEqual([])
  })

  test("every file says at its top what it is for", () => {
    expect(SOURCES.filter(({ text }) => !text.startsWith("/**")).map(({ path }) => path)).toEqual([])
  })

  test("no file or folder has a name that says nothing", () => {
    const empty = /^(utils?|helpers?|services?|managers?|commons?|misc|shared|lib)$/i
    const named = SOURCES.filter(({ path }) =>
      path
        .replace(/\.ts$/, "")
        .split(/[/.-]/)
        .some((word) => empty.test(word)),
    )
    expect(named.map(({ path }) => path)).toEqual([])
  })
})

const FUNCTIONS_LINES_MAX = 70
/** A line that opens a function body: declarations, methods and arrows, also when it only ends the parameters. */
const OPENS_FUNCTION =
  /\bfunction\b.*\{$|=> \{$|^\s*\).*\{$|^\s*(?:(?:async|static|override|get|set) )*[#\w]+(?:<.*>)?\(.*\).*\{$/
const OPENS_OTHER = /^\s*(?:\} )?(?:if|else|for|while|switch|do|try|catch|finally|class|interface|type)\b/

/** Functions of a formatted source that are too long: the body ends where a line of the same depth begins with a brace. */
function longFunctions({ path, lines }: Source): string[] {
  return lines.flatMap((line, index) => {
    if (!OPENS_FUNCTION.test(line) || OPENS_OTHER.test(line)) return []
    const depth = line.search(/\S/)
    const end = lines.findIndex(
      (other, at) => at > index && other.search(/\S/) === depth && /^\s*[})]/.test(other),
    )
    const length = end - index + 1
    return length > FUNCTIONS_LINES_MAX ? [`${path}:${index + 1} ${length} lines`] : []
  })
}

test("a function that is too long would be found", () => {
  const body = Array.from({ length: FUNCTIONS_LINES_MAX }, () => "    call()")
  const method = ["class A {", "  async one(", "    a: number,", "  ): Promise<void> {", ...body, "  }", "}"]
  const declared = ["export function one(): void {", ...body, "}"]
  const arrow = ["const one = () => {", ...body.slice(2), "}"]
  const source = (lines: string[]): Source => ({ path: "a.ts", text: "", lines, imports: [] })
  expect(longFunctions(source(method))).toEqual(["a.ts:4 72 lines"])
  expect(longFunctions(source(declared))).toEqual(["a.ts:1 72 lines"])
  expect(longFunctions(source(arrow))).toEqual([])
})
