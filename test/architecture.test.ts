import { readdirSync, readFileSync } from "node:fs"
import { dirname, join, normalize } from "node:path"
import { fileURLToPath } from "node:url"
import { describe, expect, test } from "vitest"

const SRC = fileURLToPath(new URL("../src", import.meta.url))
const CHECKOUT = dirname(SRC)

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
    ["domain", ["domain", "config/limits.ts", "config/webhook-limits.ts"]],
    ["store", ["store", "domain", "db/database.ts"]],
    // The law of salience in SQL is needed by both.
    ["search", ["search", "domain", "db/database.ts", "store/memory/salience.ts"]],
    ["db", ["db", "errors.ts", "config/limits.ts"]],
    ["config/limits.ts", []],
    ["config/webhook-limits.ts", []],
    ["errors.ts", []],
  ]
  test.each(ONLY)("src/%s imports of src only %j", (place, allowed) => {
    expect(importsWhere(place, (named) => isFile(named) && !isWithin(named, allowed))).toEqual([])
  })

  const NEVER: [place: string, forbidden: string[]][] = [
    ["operations", ["mcp", "http", "hook", "install", "commands", "resources", "cli.ts"]],
    ["resources", ["mcp", "http", "commands", "cli.ts"]],
    ["hook", ["mcp", "http", "commands", "install", "resources", "cli.ts", "serve.ts"]],
    ["mcp", ["http", "commands", "install", "cli.ts", "serve.ts"]],
    ["http", ["mcp", "commands", "install", "cli.ts", "serve.ts"]],
    ["install", ["mcp", "http", "commands", "operations", "store", "db", "cli.ts"]],
    ["commands", ["cli.ts"]],
    ["embed", ["operations", "resources", "mcp", "http", "hook", "commands", "store", "search"]],
    ["git", ["operations", "resources", "mcp", "http", "hook", "commands", "store", "search", "db"]],
  ]
  test.each(NEVER)("src/%s never imports %j", (place, forbidden) => {
    expect(importsWhere(place, (named) => isWithin(named, forbidden))).toEqual([])
  })

  test("the domain touches neither disk nor network nor process", () => {
    expect(importsWhere("domain", (named) => named.startsWith("node:"))).toEqual([])
  })

  test("only operations and resources reach into the store", () => {
    expect(usersOfStore(SOURCES)).toEqual([])
    expect(usersOfStore([{ path: "hook/a.ts", imports: ["store/keys.ts"] }])).toEqual(["hook/a.ts"])
    expect(usersOfStore([{ path: "app.ts", imports: ["store/keys.ts"] }])).toEqual(["app.ts"])
  })

  test("a server that starts has no reader of Markdown, which the first summary loads", () => {
    expect(packagesLoadedWith("mcp/stdio.ts")).toContain("zod")
    expect(packagesLoadedWith("mcp/stdio.ts")).not.toContain("markdown-it")
    expect(packagesLoadedWith("domain/summary/summary.ts")).toContain("markdown-it")
  })

  test("no file imports itself by way of others", () => {
    expect(findCycle(new Map(SOURCES.map(({ path, imports }) => [path, imports.filter(isFile)])))).toEqual([])
  })
})

/** Files that import the store and may not: beside operations and resources only search does, the law of salience. */
function usersOfStore(sources: readonly Pick<Source, "path" | "imports">[]): string[] {
  const users = sources.filter(({ path }) => !isWithin(path, ["store", "operations", "resources", "search"]))
  return users
    .filter(({ imports }) => imports.some((named) => isWithin(named, ["store"])))
    .map(({ path }) => path)
}

describe("transactions", () => {
  /** What makes them, and what every operation may open one through. */
  const MAKERS = ["db", "operations/transaction.ts"]

  test("are opened by operations only", () => {
    expect(openersOfTransactions(SOURCES)).toEqual([])
    expect(openersOfTransactions([{ path: "http/a.ts", text: 'db.transaction("x", f)' }])).toEqual([
      "http/a.ts",
    ])
    expect(openersOfTransactions([{ path: "a.ts", text: "inTransaction(c, lock, f)" }])).toEqual(["a.ts"])
  })

  test("take the locks that ARCHITECTURE.md lists", () => {
    const opened = SOURCES.filter(({ path }) => !isWithin(path, MAKERS))
    const calls = opened.flatMap(({ text }) => [...text.matchAll(OPENS_TRANSACTION)])
    const locks = opened.flatMap(({ text }) => locksIn(text))
    expect(locks).toHaveLength(calls.length)
    const architecture = readFileSync(join(SRC, "../ARCHITECTURE.md"), "utf8")
    const listed = [...architecture.matchAll(/^\| `([^`]+)` \|/gm)].map(([, lock = ""]) => formOf(lock))
    expect([...new Set(locks)].sort()).toEqual(listed)
  })

  test("have locks that are found, whatever the call looks like", () => {
    const hole = ["$", "{a.b}"].join("")
    expect(locksIn('app.db.transaction("keys", f)')).toEqual(["keys"])
    expect(locksIn(`db.transaction(\n \`rate:${hole}\`, f)`)).toEqual(["rate:<>"])
    expect(locksIn(`inTransaction({ ...c, actor }, \`agent:${hole}\`, f)`)).toEqual(["agent:<>"])
    expect(locksIn("inTransaction(context, lockOf(repository.id), f)")).toEqual(["memories:<>"])
  })

  const OPENS_TRANSACTION = /\.transaction\(|\binTransaction\(/g

  function openersOfTransactions(sources: readonly Pick<Source, "path" | "text">[]): string[] {
    const others = sources.filter(({ path }) => !isWithin(path, ["db", "operations"]))
    return others.filter(({ text }) => text.search(OPENS_TRANSACTION) >= 0).map(({ path }) => path)
  }

  /** The forms of all locks that a text takes: `rate:<>` for a template with one placeholder. */
  function locksIn(text: string): string[] {
    const calls =
      /(?:\.transaction\(|\binTransaction\(\s*(?:\{[^}]*\}|\w+),)\s*(?:"([^"]+)"|`([^`]+)`|(lockOf)\()/g
    return [...text.matchAll(calls)].map(([, plain, template, ofMemories]) =>
      formOf(plain ?? template ?? (ofMemories && "memories:<repository>") ?? ""),
    )
  }

  function formOf(lock: string): string {
    return lock.replace(/\$\{[^}]*\}|<[^>]*>/g, "<>")
  }
})

/** The packages that come with a file: those of types and those imported when they are called do not. */
function packagesLoadedWith(path: string): string[] {
  const loaded = new Set([path])
  for (const each of loaded) {
    const text = SOURCES.find((source) => source.path === each)?.text ?? ""
    const atOnce = text.replace(/^(?:import|export) type\b[^"]*"[^"]*"/gm, "").replace(/\bimport\(/g, "")
    for (const named of importsOf(each, atOnce)) loaded.add(named)
  }
  return [...loaded].filter(isPackage)
}

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
    chardet: ["indexing"],
    commander: ["commands"],
    diff: ["install"],
    hono: ["http"],
    htmlparser2: ["indexing"],
    "jsonc-parser": ["install", "indexing"],
    "markdown-it": ["indexing", "domain/summary"],
    "smol-toml": ["install"],
    "sqlite-vec": ["db"],
    standardwebhooks: ["operations/webhooks/signing.ts"],
    stemmer: ["domain/text"],
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

const REMOVES_FOLDERS = "runtime/owned-folder.ts"

/** Every call that removes a folder, as "file: call": by its name, or by the options of one that removes files too. */
function folderRemovals({ path, text }: Source): string[] {
  const named = text.matchAll(/\brmdir(?:Sync)?\b/g)
  const calls = text.matchAll(/\b(?:rm|rmSync|unlink|unlinkSync)\s*\((?:[^()]|\((?:[^()]|\([^()]*\))*\))*\)/g)
  // Nothing but options that are written where they are used can be seen to leave folders alone.
  const isHarmless = (call: string) => !/\brecursive\b|\.\.\.|,\s*[A-Za-z_$][\w$.]*\s*,?\s*\)$/.test(call)
  return [...named, ...[...calls].filter(([call]) => !isHarmless(call))].map(([call]) => `${path}: ${call}`)
}

test("folders are removed in one place only, which proves that they are ours", () => {
  const found = SOURCES.flatMap(folderRemovals)
  expect(found.filter((removal) => !removal.startsWith(`${REMOVES_FOLDERS}: `))).toEqual([])
  expect(found.length).toBeGreaterThanOrEqual(3)
  // Under another name it would not be found.
  const renamed =
    /\b(?:rm|rmSync|rmdir|rmdirSync) as \b|\b(?:import \* as|import) \w+ from "(?:node:)?fs(?:\/promises)?"/
  expect(SOURCES.filter(({ text }) => renamed.test(text)).map(({ path }) => path)).toEqual([])
})

test.each([
  ["rmSync(folder, { recursive: true, force: true })", 1],
  ["await rm(\n  join(folder, nameOf(id)),\n  { force: true, recursive: true },\n)", 1],
  ["rmdirSync(folder)", 1],
  ["rm(folder, OPTIONS)", 1],
  ["rm(folder, { ...options })", 1],
  ["rm(file, { force: true })", 0],
  ["rmSync(join(folder, nameOf(id)))", 0],
  ["mkdirSync(folder, { recursive: true })\nrmSync(file)", 0],
])("a removal of a folder would be found: %s", (text, count) => {
  expect(folderRemovals({ path: "a.ts", text, lines: [], imports: [] })).toHaveLength(count)
})

/** Where time and chance come from; all else is given them, so that tests can set both. */
const CLOCK_HOMES = ["app.ts", "runtime", "db/sqlite.ts", "commands/backup.ts", "commands/demo.ts"]

/** Every look at the clock or at chance, as "file:line text". */
function looksAtClock({ path, lines }: Pick<Source, "path" | "lines">): string[] {
  const looks =
    /\bDate\.now\b|\bMath\.random\b|\bnew Date\s*\(\s*\)|\bnew Date\b(?!\s*\()|(?<![\w.]|new\s+)Date\(/
  return lines.flatMap((line, index) =>
    looks.test(line) && !/^\s*(?:\/?\*|\/\/)/.test(line) ? [`${path}:${index + 1} ${line.trim()}`] : [],
  )
}

test("the clock and randomness are looked at in their homes only", () => {
  expect(SOURCES.filter(({ path }) => !isWithin(path, CLOCK_HOMES)).flatMap(looksAtClock)).toEqual([])
  const inHomes = SOURCES.filter((source) => looksAtClock(source).length > 0).map(({ path }) => path)
  expect(CLOCK_HOMES.filter((home) => !inHomes.some((path) => isWithin(path, [home])))).toEqual([])
})

test.each([
  ["const nowMs = Date.now()", 1],
  ["now: options.now ?? Date.now,", 1],
  ["random = Math.random", 1],
  ["const day = new Date().toISOString()", 1],
  ["const day = new Date", 1],
  ["const text = Date()", 1],
  ["return new Date(timeMs).toISOString()", 0],
  ["const fromMs = performance.now()", 0],
  ["/** `Date.parse` takes 2026-02-31 for the third of March. */", 0],
  ["toDate(value)", 0],
])("a look at the clock would be found: %s", (line, count) => {
  expect(looksAtClock({ path: "a.ts", lines: [line] })).toHaveLength(count)
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

describe("what is no source deletes in one place only", () => {
  /** The place, and what is written here of how src deletes. */
  const HOMES = ["scripts/removal.ts", "test/architecture.test.ts"]
  const WORDS = ["rm", "rmdir", "unlink", "mkdtemp"]
  const names = WORDS.join("|")
  const COMMANDS = "rm|unlink|shred"
  const DELETION = new RegExp(
    [
      // Node's functions, called, imported or handed on.
      `\\b(?:${names})(?:Sync\\b|\\s*[(,}]|\\s+as\\b)`,
      `\\.(?:${names})\\b`,
      // Commands, of a shell or run by themselves; rmdir deletes what is empty.
      `\\b(?:${COMMANDS})\\s+(?:-|["'/.$])`,
      `\\b(?:exec|spawn)\\w*\\(\\s*["'\`](?:${COMMANDS})\\b`,
    ].join("|"),
  )

  const folders = ["test", "bench", "fuzz", "clients", "scripts"].flatMap((folder) =>
    readdirSync(join(CHECKOUT, folder), { recursive: true, encoding: "utf8" }).map((path) =>
      join(folder, path),
    ),
  )
  const files = [...folders, ...readdirSync(CHECKOUT).filter((path) => path.includes(".config."))]
    .map((path) => path.replaceAll("\\", "/"))
    .filter((path) => /\.[cm]?[jt]s$|\.sh$/.test(path))

  test("files of every kind are read", () => {
    const kinds = ["tsup.config.ts", "scripts/setup.mjs", "bench/run.ts", "test/support/loopback-only.cjs"]
    expect(files).toEqual(expect.arrayContaining([...kinds, ...HOMES]))
  })

  test("and that is nowhere else", () => {
    const found = files
      .filter((path) => !HOMES.includes(path))
      .flatMap((path) => {
        const lines = readFileSync(join(CHECKOUT, path), "utf8").split("\n")
        return lines.flatMap((line, index) =>
          DELETION.test(line) ? [`${path}:${index + 1} ${line.trim()}`] : [],
        )
      })
    expect(found).toEqual([])
  })

  test("and would be found", () => {
    const forms = [
      ...WORDS.flatMap((word) => [word, `${word}Sync`]).flatMap((name) => [
        `  await ${name}(path)`,
        `import { ${name} } from "node:fs"`,
        `import { ${name}, writeFileSync } from "node:fs"`,
        `import { ${name} as gone } from "node:fs"`,
        `const gone = fs.${name}`,
      ]),
      ...COMMANDS.split("|").flatMap((command) => [
        `    shell: "cd x; ${command} -rf x"`,
        `    \`${command} "$1"\``,
        `execFileSync("${command}", [path])`,
      ]),
    ]
    expect(forms.filter((form) => !DELETION.test(form))).toEqual([])
    for (const other of [
      'git("rm", "--quiet", "a")',
      "remove(path)",
      "the form of it",
      'mkdir gone && rmdir "$PWD"',
    ])
      expect(other).not.toMatch(DELETION)
  })
})
