import { spawn } from "node:child_process"
import { existsSync, readdirSync } from "node:fs"
import { createInterface } from "node:readline"
import BetterSqlite3 from "better-sqlite3"
import { describe, expect, onTestFinished, test } from "vitest"
import {
  BINARY,
  environment,
  INITIALIZE,
  INITIALIZED,
  type Place,
  place,
  ServerProcess,
} from "../support/server-process.ts"

/** Everything below a folder, by its relative path. */
function tree(folder: string): string[] {
  return readdirSync(folder, { recursive: true, encoding: "utf8" }).sort()
}

function asObjects(text: string): Record<string, unknown>[] {
  return text
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line) as Record<string, unknown>)
}

describe("the two streams", () => {
  test("stdout carries JSON-RPC messages and nothing else, also when the log is on", async () => {
    const server = await ServerProcess.start(place(), { env: { SIGNALBOX_LOG: "debug" } })
    await server.register("Ada")
    await server.tool("whois", {})
    server.write("this is no JSON\n")
    await server.request("tools/list")
    await server.stop()
    const versions = server.lines.map((line) => (JSON.parse(line) as { jsonrpc: string }).jsonrpc)
    expect(new Set(versions)).toEqual(new Set(["2.0"]))
    expect(server.lines.length).toBeGreaterThanOrEqual(4)
  })

  test("stderr carries the log, one JSON object a line", async () => {
    const server = await ServerProcess.start(place(), { env: { SIGNALBOX_LOG: "info" } })
    await server.register("Ada")
    await server.stop()
    const entries = asObjects(server.stderr)
    expect(entries.length).toBeGreaterThanOrEqual(2)
    for (const entry of entries) {
      expect(entry).toMatchObject({ level: "info", message: expect.any(String) })
      expect(new Date(String(entry.time)).toISOString()).toBe(entry.time)
    }
  })

  test("with SIGNALBOX_LOG=warn a server that nothing is wrong with logs nothing", async () => {
    const server = await ServerProcess.start(place(), { env: { SIGNALBOX_LOG: "warn" } })
    await server.register("Ada")
    await server.stop()
    expect(server.stderr).toBe("")
  })
})

describe("the start", () => {
  test("starting, initialising and listing create no file and no folder", async () => {
    const where = place()
    const before = tree(where.home)
    const server = await ServerProcess.start(where)
    await server.request("tools/list")
    await server.request("resources/list")
    await server.request("resources/templates/list")
    await server.stop()
    expect(tree(where.home)).toEqual(before)
  })

  test("the first call creates the database", async () => {
    const where = place()
    const server = await ServerProcess.start(where)
    expect(existsSync(where.dataFolder)).toBe(false)
    await server.register("Ada")
    expect(existsSync(where.databasePath)).toBe(true)
  })
})

describe("the end", () => {
  const processRows = (where: Place) => {
    const db = new BetterSqlite3(where.databasePath, { readonly: true })
    try {
      return db.prepare("SELECT pid FROM server_processes").all()
    } finally {
      db.close()
    }
  }

  test("the process ends with exit code 0 when stdin ends, and leaves the table of processes", async () => {
    const where = place()
    const server = await ServerProcess.start(where)
    await server.register("Ada")
    expect(processRows(where)).toEqual([{ pid: server.pid }])
    expect(await server.stop()).toEqual({ code: 0, signal: null })
    expect(processRows(where)).toEqual([])
  })

  test("the process ends with exit code 0 when stdin ends before anything was said", async () => {
    expect(await ServerProcess.spawn(place()).stop()).toEqual({ code: 0, signal: null })
  })

  test("requests that were piped in together with the end are answered first", async () => {
    const server = ServerProcess.spawn(place())
    const identity = { project_key: "demo", program: "test-program", model: "test-model", name_hint: "Ada" }
    const requests = [
      { id: 1, method: "initialize", params: INITIALIZE },
      INITIALIZED,
      { id: 2, method: "tools/list" },
      { id: 3, method: "tools/call", params: { name: "register-agent", arguments: identity } },
      { id: 4, method: "resources/read", params: { uri: "signalbox://coordination/tools" } },
    ].map((request) => JSON.stringify({ jsonrpc: "2.0", ...request }))
    server.child.stdin.end(`${requests.join("\n")}\n`)
    expect(await server.ended).toEqual({ code: 0, signal: null })
    const answers = server.lines.map((line) => JSON.parse(line) as { id: number; result?: object })
    expect(answers.map(({ id }) => id).sort()).toEqual([1, 2, 3, 4])
    for (const answer of answers) expect(answer.result).toBeDefined()
  })

  test("a last request without a line break at its end does not keep the process", async () => {
    const server = await ServerProcess.start(place())
    server.write('{"jsonrpc":"2.0","id":99,"method":"tools/list"}')
    expect(await server.stop()).toEqual({ code: 0, signal: null })
  })

  test.each(["SIGTERM", "SIGINT"] as const)("the process ends with exit code 0 on %s", async (signal) => {
    const where = place()
    const server = await ServerProcess.start(where)
    await server.register("Ada")
    server.child.kill(signal)
    expect(await server.ended).toEqual({ code: 0, signal: null })
    expect(processRows(where)).toEqual([])
  })

  test("a client that stops reading does not make the server fail", async () => {
    const server = await ServerProcess.start(place())
    server.child.stdout.destroy()
    server.write({ jsonrpc: "2.0", id: 99, method: "tools/list" })
    server.child.stdin.end()
    expect(await server.ended).toEqual({ code: 0, signal: null })
  })

  test("the process ends when its parent is killed, although the pipe stays open in another child", async () => {
    const where = place()
    // The parent starts a server, hands the server's input to a second child too, and waits.
    const script = `
      const { spawn } = require("node:child_process")
      const server = spawn(process.execPath, [${JSON.stringify(BINARY)}], { stdio: ["pipe", "inherit", "inherit"] })
      const holder = spawn("sleep", ["600"], { stdio: ["ignore", server.stdin, "ignore"] })
      process.stderr.write(JSON.stringify({ holder: holder.pid, server: server.pid }) + "\\n")
      server.stdin.write(JSON.stringify(${JSON.stringify({ jsonrpc: "2.0", id: 1, method: "initialize", params: INITIALIZE })}) + "\\n")`
    const env = environment(where, { SIGNALBOX_LOG: "info" })
    const parent = spawn(process.execPath, ["-e", script], {
      cwd: where.repository,
      env,
      stdio: ["ignore", "pipe", "pipe"],
    })
    const errors: string[] = []
    createInterface({ input: parent.stderr }).on("line", (line) => errors.push(line))
    // The server holds the other ends of these two; they close when it is gone.
    const gone = new Promise((resolve) => parent.once("close", resolve))
    await new Promise((resolve) => parent.stdout.once("data", resolve))
    const { holder } = JSON.parse(errors[0] ?? "{}") as { holder: number }
    onTestFinished(() => {
      process.kill(holder, "SIGKILL")
    })
    parent.kill("SIGKILL")
    await gone
    const ends = errors.slice(1).map((line) => JSON.parse(line) as { message: string; reason?: string })
    expect(ends.at(-1)).toMatchObject({ message: "signalbox ends", reason: "parent died" })
    // The holder of the pipe is still there, so it was not the end of the input that ended the server.
    expect(process.kill(holder, 0)).toBe(true)
  })
})

describe("what clients send", () => {
  test.each([
    ["no JSON", "this is no JSON"],
    ["JSON that is no request", '{"hello":"world"}'],
    ["an empty line", ""],
    ["a list", "[]"],
    ["an answer to nothing", '{"jsonrpc":"2.0","id":77,"result":{}}'],
    ["bytes that are no UTF-8", "\u0000\ufffd{"],
  ])("a line that is %s does not end the server", async (_, line) => {
    const server = await ServerProcess.start(place())
    server.write(`${line}\n`)
    expect(await server.toolNames()).toHaveLength(41)
  })

  test("an unknown tool is a protocol error that names the tool", async () => {
    const server = await ServerProcess.start(place())
    const asked = server.tool("sing-a-song")
    await expect(asked).rejects.toMatchObject({
      code: -32602,
      message: expect.stringContaining("sing-a-song"),
    })
  })

  test("an unknown method is a protocol error and the server goes on", async () => {
    const server = await ServerProcess.start(place())
    await expect(server.request("tools/sing")).rejects.toMatchObject({ code: -32601 })
    expect(await server.toolNames()).toHaveLength(41)
  })
})

describe("names of agents", () => {
  test("two live processes with the same name hint are two agents", async () => {
    const where = place()
    const [one, other] = [await ServerProcess.start(where), await ServerProcess.start(where)]
    const first = await one.register("Ada")
    const second = await other.register("Ada")
    expect(first.name).toBe("Ada")
    expect(second.id).not.toBe(first.id)
    expect(second.name).toMatch(/^Ada.+/)
  })

  test("after the first process was killed, a new one resumes its agent", async () => {
    const where = place()
    const killed = await ServerProcess.start(where)
    const first = await killed.register("Ada")
    await killed.kill()
    const next = await ServerProcess.start(where)
    expect(await next.register("Ada")).toEqual(first)
  })

  test("two processes of one client session are one agent", async () => {
    const where = place()
    const env = { CLAUDE_CODE_SESSION_ID: "5d6ac65b" }
    const [one, other] = [
      await ServerProcess.start(where, { env }),
      await ServerProcess.start(where, { env }),
    ]
    expect(await other.register("Ada")).toEqual(await one.register("Ada"))
  })
})
