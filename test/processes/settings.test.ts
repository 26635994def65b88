import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import BetterSqlite3 from "better-sqlite3"
import { describe, expect, test } from "vitest"
import { remove } from "../../scripts/removal.ts"
import { type Place, place, ServerProcess } from "../support/server-process.ts"

function modeOf(path: string): string {
  return (statSync(path).mode & 0o777).toString(8)
}

describe("the files", () => {
  test("a new data folder is 0700 and every file in it 0600, whatever the umask is", async () => {
    const where = place()
    const server = await ServerProcess.start(where, { shell: 'umask 0 && exec "$@"' })
    await server.register("Ada")
    expect(modeOf(where.dataFolder)).toBe("700")
    const files = readdirSync(where.dataFolder)
    expect(files).toEqual(expect.arrayContaining(["signalbox.db", "signalbox.db-wal", "signalbox.key"]))
    for (const file of files) expect([file, modeOf(join(where.dataFolder, file))]).toEqual([file, "600"])
  })

  test("SIGNALBOX_DB names the file, and --db wins over it", async () => {
    const where = place()
    const [named, other] = [join(where.home, "named.db"), join(where.home, "other.db")]
    const env = { SIGNALBOX_DB: named }
    await (await ServerProcess.start(where, { env })).register("Ada")
    expect(readFileSync(named).subarray(0, 15).toString()).toBe("SQLite format 3")
    await (await ServerProcess.start(where, { env, args: ["--db", other] })).register("Ada")
    expect(readFileSync(other).subarray(0, 15).toString()).toBe("SQLite format 3")
    expect(readdirSync(where.home)).not.toContain("share")
  })

  test("each environment has a file of its own", async () => {
    const where = place()
    await (await ServerProcess.start(where, { env: { SIGNALBOX_ENV: "test" } })).register("Ada")
    expect(readdirSync(where.dataFolder)).toContain("signalbox.test.db")
    expect(readdirSync(where.dataFolder)).not.toContain("signalbox.db")
  })
})

describe("the choice of tools", () => {
  interface Tool {
    name: string
    annotations: { readOnlyHint: boolean }
  }
  const toolsOf = async (where: Place, ...args: string[]) => {
    const { tools } = await (await ServerProcess.start(where, { args })).request("tools/list")
    return tools as Tool[]
  }

  test("--read-only offers exactly the tools that write nothing, and no other can be called", async () => {
    const where = place()
    const all = await toolsOf(where)
    const server = await ServerProcess.start(where, { args: ["--read-only"] })
    const readers = all.filter((tool) => tool.annotations.readOnlyHint).map((tool) => tool.name)
    expect(await server.toolNames()).toEqual(readers)
    expect(readers).toEqual(expect.arrayContaining(["whois", "fetch-inbox", "list-file-reservations"]))
    expect(readers).not.toContain("read-message")
    await expect(server.tool("send-message", {})).rejects.toMatchObject({ code: -32602 })
  })

  test("--tools offers just the tools it names", async () => {
    const tools = await toolsOf(place(), "--tools", "whois, register-agent")
    expect(tools.map((tool) => tool.name).sort()).toEqual(["register-agent", "whois"])
  })

  test("--tools adds to --toolsets when both are given", async () => {
    expect(await toolsOf(place(), "--toolsets", "coordination", "--tools", "whois")).toHaveLength(28)
  })

  test("--toolsets coordination offers the 28", async () => {
    expect(await toolsOf(place(), "--toolsets", "coordination")).toHaveLength(28)
  })

  test.each([
    ["--toolsets", "singing", "coordination"],
    ["--tools", "sing-a-song", "send-message"],
  ])(
    "an unknown name in %s ends the program with exit code 2 and the names that there are",
    async (option, name, known) => {
      const server = ServerProcess.spawn(place(), { args: [option, name] })
      expect(await server.ended).toEqual({ code: 2, signal: null })
      expect(server.stderr).toContain(`"${name}"`)
      expect(server.stderr).toContain(known)
      expect(server.lines).toEqual([])
    },
  )
})

describe("a key that does not count", () => {
  const AUTHENTICATION = "tenant authentication required; a valid API token must be supplied"
  const UNKNOWN = `signalbox_live_sk_${"A".repeat(49)}`

  test.each([
    ["empty", ""],
    ["malformed", UNKNOWN],
  ])(
    "with an %s SIGNALBOX_API_KEY the tools are listed and every call answers the authentication text",
    async (_, key) => {
      const server = await ServerProcess.start(place(), { env: { SIGNALBOX_API_KEY: key } })
      const names = await server.toolNames()
      expect(names).toHaveLength(41)
      for (const name of names) {
        const action = name.replace(/^macro-/, "").replaceAll("-", " ")
        const text = await server.fail(name, {})
        expect(text.startsWith(`Failed to ${action}: ${AUTHENTICATION}`), text).toBe(true)
      }
    },
  )

  test("with an empty SIGNALBOX_API_KEY no resource can be read", async () => {
    const server = await ServerProcess.start(place(), { env: { SIGNALBOX_API_KEY: "" } })
    const reading = server.request("resources/read", { uri: "signalbox://coordination/tools" })
    await expect(reading).rejects.toThrow(AUTHENTICATION)
  })
})

describe("a database that cannot be used", () => {
  const identity = { project_key: "demo", program: "test-program", model: "test-model" }

  /** Returns the error of a first call on a database file, after which the server must still be up. */
  async function refusal(where: Place, databasePath: string): Promise<string> {
    const server = await ServerProcess.start(where, { env: { SIGNALBOX_DB: databasePath } })
    const text = await server.fail("register-agent", identity)
    expect(text.startsWith("Failed to register agent: "), text).toBe(true)
    expect(text).not.toContain("internal error")
    expect(text).toContain(databasePath)
    expect(await server.toolNames()).toHaveLength(41)
    expect(await server.fail("register-agent", identity)).toBe(text)
    expect(await server.stop()).toEqual({ code: 0, signal: null })
    return text
  }

  function otherFile(where: Place, make: (db: BetterSqlite3.Database) => void): string {
    const path = join(where.home, "other.db")
    const db = new BetterSqlite3(path)
    make(db)
    db.close()
    return path
  }

  test("a path below a file is refused with the path and what to check", async () => {
    const where = place()
    const file = join(where.home, "file")
    writeFileSync(file, "mine")
    expect(await refusal(where, join(file, "signalbox.db"))).toContain("SIGNALBOX_DB")
    expect(readFileSync(file, "utf8")).toBe("mine")
  })

  test("a folder in the place of the file is refused", async () => {
    const where = place()
    const folder = join(where.home, "folder")
    mkdirSync(folder)
    expect(await refusal(where, folder)).toContain("SIGNALBOX_DB")
    expect(readdirSync(folder)).toEqual([])
  })

  test("a file that is no database is refused and stays as it is", async () => {
    const where = place()
    const file = join(where.home, "notes.txt")
    writeFileSync(file, "These are notes.\n".repeat(1_000))
    const before = readFileSync(file)
    expect(await refusal(where, file)).toContain("SIGNALBOX_DB")
    expect(readFileSync(file).equals(before)).toBe(true)
    expect(readdirSync(where.home).sort()).toEqual(["notes.txt", "repository"])
  })

  test("a database of a newer schema version is refused with both versions and stays as it is", async () => {
    const where = place()
    const server = await ServerProcess.start(where)
    await server.register("Ada")
    await server.stop()
    const db = new BetterSqlite3(where.databasePath)
    db.pragma("user_version = 99")
    db.close()
    const before = readFileSync(where.databasePath)
    const text = await refusal(where, where.databasePath)
    expect(text).toContain("schema version 99")
    expect(text).toContain("signalbox@latest")
    expect(readFileSync(where.databasePath).equals(before)).toBe(true)
  })

  test.each([
    ["without a version", 0],
    ["with the version of ours", 1],
  ])("the database of another program %s is refused and stays as it is", async (_, version) => {
    const where = place()
    const path = otherFile(where, (db) => {
      db.exec("CREATE TABLE bookmarks (url TEXT); INSERT INTO bookmarks VALUES ('https://example.org')")
      db.pragma(`user_version = ${version}`)
    })
    const before = readFileSync(path)
    expect(await refusal(where, path)).toContain("another program")
    expect(readFileSync(path).equals(before)).toBe(true)
    expect(readdirSync(where.home).sort()).toEqual(["other.db", "repository"])
  })

  test("a server whose database could not be used takes up work when it can be", async () => {
    const where = place()
    const path = join(where.home, "late", "signalbox.db")
    writeFileSync(join(where.home, "late"), "in the way")
    const server = await ServerProcess.start(where, { env: { SIGNALBOX_DB: path } })
    await server.fail("register-agent", identity)
    remove(join(where.home, "late"))
    expect((await server.register("Ada")).name).toBe("Ada")
  })
})
