import { type ChildProcessByStdio, spawn } from "node:child_process"
import { existsSync, mkdirSync, readFileSync, statSync } from "node:fs"
import { connect } from "node:net"
import { createInterface } from "node:readline"
import type { Readable } from "node:stream"
import { describe, expect, onTestFinished, test, vi } from "vitest"
import { type ListenerRecord, listenerPaths } from "../../src/http/listener-files.ts"
import { sendTo } from "../support/http.ts"
import { BINARY, environment, type Place, place, ServerProcess } from "../support/server-process.ts"

const TAKEOVER_MS_MAX = 2_000
/** Any port: the default one may be a real listener's. */
const env = { SIGNALBOX_PORT: "0" }

const pathsOf = (where: Place) => listenerPaths(where.databasePath)

/** Reads the record, which must be whole whenever it is there. */
function recordOf(where: Place): ListenerRecord | undefined {
  const { record } = pathsOf(where)
  if (!existsSync(record)) return undefined
  const text = read(record)
  if (text === undefined) return undefined
  const parsed = JSON.parse(text) as ListenerRecord
  expect(Object.keys(parsed)).toEqual(["url", "pid", "started_at", "token"])
  return parsed
}

/** A file may go between a look and a read. */
function read(path: string): string | undefined {
  try {
    return readFileSync(path, "utf8")
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined
    throw error
  }
}

async function isWell({ url }: ListenerRecord): Promise<boolean> {
  const { port, host } = new URL(url)
  const reply = await sendTo(Number(port), "/healthz", "GET", { host }).catch(() => undefined)
  return reply?.status === 200
}

/** Waits until a listener answers whose process `isWanted`; fails when that takes longer than a takeover may. */
function listenerWhere(where: Place, isWanted: (pid: number) => boolean): Promise<ListenerRecord> {
  return vi.waitFor(
    async () => {
      const record = recordOf(where)
      if (record === undefined || !isWanted(record.pid) || !(await isWell(record)))
        throw new Error("nobody listens yet")
      return record
    },
    { timeout: TAKEOVER_MS_MAX, interval: 20 },
  )
}

/** Starts a server whose first request is done. */
async function working(where: Place, extra: Record<string, string> = {}): Promise<ServerProcess> {
  const server = await ServerProcess.start(where, { env: { ...env, ...extra } })
  await server.call("list-agents", { project_key: "demo" }).catch(() => {})
  return server
}

describe("the listener of a stdio server", () => {
  test("is not there before the first real request", async () => {
    const where = place()
    const server = await ServerProcess.start(where, { env })
    await server.request("tools/list")
    expect(existsSync(where.dataFolder)).toBe(false)
    await server.register("Ada")
    const record = await listenerWhere(where, (pid) => pid === server.pid)
    expect(new URL(record.url).hostname).toBe("127.0.0.1")
  })

  test("does not keep the process: it ends with stdin, whatever connections are open", async () => {
    const where = place()
    const server = await working(where)
    const { url, token } = await listenerWhere(where, () => true)
    const { port } = new URL(url)
    const sockets = [connect(Number(port), "127.0.0.1"), connect(Number(port), "127.0.0.1")]
    for (const socket of sockets) {
      await new Promise((resolve) => socket.once("connect", resolve))
      socket.on("error", () => {})
    }
    // One has been answered and is kept open, the other stops in the middle of its headers.
    sockets[0]?.write(
      `GET /healthz HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nAuthorization: Bearer ${token}\r\n\r\n`,
    )
    await new Promise((resolve) => sockets[0]?.once("data", resolve))
    sockets[1]?.write("GET /healthz HTTP/1.1\r\nHost:")
    expect(await server.stop()).toEqual({ code: 0, signal: null })
    const { record, curl } = pathsOf(where)
    expect([record, curl].map((path) => existsSync(path))).toEqual([false, false])
  })

  test.each(["SIGTERM", "SIGINT"] as const)(
    "removes its files when the process ends on %s",
    async (signal) => {
      const where = place()
      const server = await working(where)
      await listenerWhere(where, () => true)
      server.child.kill(signal)
      expect(await server.ended).toEqual({ code: 0, signal: null })
      expect(recordOf(where)).toBeUndefined()
    },
  )

  test("writes nothing to stdout, also when clients of it hang up", async () => {
    const where = place()
    const server = await working(where)
    const { url, token } = await listenerWhere(where, () => true)
    const port = Number(new URL(url).port)
    for (const path of ["/mcp", "/healthz", "/nowhere"]) {
      const socket = connect(port, "127.0.0.1")
      const head = `POST ${path} HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nAuthorization: Bearer ${token}\r\nContent-Type: application/json\r\nAccept: application/json, text/event-stream\r\nContent-Length: 60\r\n\r\n`
      await new Promise((resolve) => socket.write(`${head}{"jsonrpc"`, resolve))
      socket.destroy()
    }
    await server.stop()
    for (const line of server.lines) expect(JSON.parse(line)).toMatchObject({ jsonrpc: "2.0" })
  })

  test("that cannot be is a warning, and the server works", async () => {
    const where = place()
    mkdirSync(pathsOf(where).lock, { recursive: true })
    const server = await working(where)
    expect((await server.register("Ada")).name).toBe("Ada")
    await vi.waitFor(() => expect(server.stderr).toContain("cannot listen for HTTP"))
    expect(await server.stop()).toEqual({ code: 0, signal: null })
  })
})

test("of eight servers one listens, and whenever it is killed another does within 2 s, twenty times over", {
  timeout: 120_000,
}, async () => {
  const where = place()
  const servers = new Map<number, ServerProcess>()
  const add = async () => {
    const server = await working(where)
    servers.set(server.pid, server)
  }
  for (let count = 0; count < 8; count += 1) await add()
  // Readers never find a record that is not whole, however the writer ended.
  const reading = setInterval(() => recordOf(where), 1)
  onTestFinished(() => clearInterval(reading))

  const holders: number[] = []
  for (let round = 0; round < 20; round += 1) {
    const record = await listenerWhere(where, (pid) => servers.has(pid))
    expect(statSync(pathsOf(where).record).mode & 0o777).toBe(0o600)
    holders.push(record.pid)
    await servers.get(record.pid)?.kill()
    servers.delete(record.pid)
    await listenerWhere(where, (pid) => servers.has(pid))
    await add()
  }
  expect(new Set(holders).size).toBe(20)
  for (const server of servers.values()) expect(server.child.exitCode).toBeNull()
})

describe("signalbox serve", () => {
  type Serving = ChildProcessByStdio<null, Readable, Readable>

  /** Starts the command; returns it with the lines that it prints. */
  function serve(where: Place, args: readonly string[] = ["--port", "0"]) {
    const child: Serving = spawn(process.execPath, [BINARY, "serve", ...args], {
      cwd: where.repository,
      env: environment(where, { SIGNALBOX_LOG: "warn" }),
      stdio: ["ignore", "pipe", "pipe"],
    })
    const ended = new Promise((resolve) => child.once("close", (code, signal) => resolve({ code, signal })))
    where.atEnd(async () => {
      child.kill("SIGKILL")
      await ended
    })
    return { child, ended, lines: createInterface({ input: child.stdout })[Symbol.asyncIterator]() }
  }

  test.each(["SIGTERM", "SIGINT", "SIGHUP"] as const)(
    "prints where it listens and ends cleanly on %s",
    async (signal) => {
      const where = place()
      const { child, ended, lines } = serve(where)
      const { value: line } = await lines.next()
      const record = recordOf(where)
      expect(line).toContain(`listens on ${record?.url}`)
      expect(record?.pid).toBe(child.pid)
      child.kill(signal)
      expect(await ended).toEqual({ code: 0, signal: null })
      expect(recordOf(where)).toBeUndefined()
    },
  )

  test("stands by while another process listens, says so, and takes over", async () => {
    const where = place()
    const server = await working(where)
    const { url } = await listenerWhere(where, () => true)
    const { lines } = serve(where)
    expect((await lines.next()).value).toContain(`listens on ${url}`)
    await server.kill()
    expect((await lines.next()).value).toContain("signalbox listens on http://127.0.0.1:")
  })

  test("ends cleanly while it stands by", async () => {
    const where = place()
    await working(where)
    await listenerWhere(where, () => true)
    const { child, ended, lines } = serve(where)
    await lines.next()
    child.kill("SIGTERM")
    expect(await ended).toEqual({ code: 0, signal: null })
  })
})
