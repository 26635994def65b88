import { execFile } from "node:child_process"
import { createHash } from "node:crypto"
import { existsSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs"
import { createServer } from "node:net"
import { describe, expect, onTestFinished, test } from "vitest"
import { HOOK_PATH } from "../../src/hook/wire.ts"
import { createHttpApp } from "../../src/http/app.ts"
import { withPublicRoutes } from "../../src/http/index.ts"
import { type Listener, type ListenerState, startListener } from "../../src/http/listener.ts"
import {
  curlConfig,
  type ListenerRecord,
  listenerPaths,
  readListenerRecord,
} from "../../src/http/listener-files.ts"
import type { RawRoute } from "../../src/http/route.ts"
import { createLog } from "../../src/log.ts"
import type { App } from "../../src/operations/app.ts"
import { allKeys, revokeKeyById } from "../../src/operations/keys.ts"
import { sendTo } from "../support/http.ts"
import { type World, world } from "../support/world.ts"

/** Answers in the hook's place with what it was sent. */
const ECHO: RawRoute = {
  method: "POST",
  path: HOOK_PATH,
  api: "coordination",
  summary: "Echo",
  isLimited: false,
  responses: { 200: { description: "What was sent" } },
  handle: async (_, request) => new Response(await request.text()),
}

interface Started {
  app: App
  listener: Listener
  states: ListenerState[]
  /** Resolves with the URL when it listens. */
  listening: Promise<string>
  warnings: string[]
}

/** Starts a listener of a session of its own. */
async function started(made: World, port = 0): Promise<Started> {
  const session = await made.session()
  const warnings: string[] = []
  const log = createLog("warn", (line) => warnings.push((JSON.parse(line) as { message: string }).message))
  const app = { ...session.app, log, config: { ...session.app.config, port } }
  const states: ListenerState[] = []
  let isListening: (url: string) => void = () => {}
  const listening = new Promise<string>((resolve) => {
    isListening = resolve
  })
  const listener = startListener({
    app,
    makeHttp: (url, onRefusedKey) =>
      createHttpApp({ app, routes: withPublicRoutes([ECHO], url, "0.0.0-test"), onRefusedKey }),
    onState: (state) => {
      states.push(state)
      if (state.is === "listening") isListening(state.url)
    },
  })
  onTestFinished(() => listener.close())
  return { app, listener, states, listening, warnings }
}

const recordOf = (made: World) => readListenerRecord(made.databasePath)
const modeOf = (path: string) => statSync(path).mode & 0o777
const pathsOf = (made: World) => listenerPaths(made.databasePath)

function bearer(token: string): Record<string, string> {
  return { authorization: `Bearer ${token}`, "content-type": "application/json" }
}

async function statusAt(url: string, token: string): Promise<number> {
  const { port, host } = new URL(url)
  return (await sendTo(Number(port), HOOK_PATH, "POST", { host, ...bearer(token) }, "{}")).status
}

describe("whoever listens", () => {
  test("says where beside the database, in files that only their owner may read", async () => {
    const made = world()
    const { listening } = await started(made)
    const url = await listening
    expect(recordOf(made)).toEqual({
      url,
      pid: process.pid,
      started_at: new Date(made.nowMs).toISOString(),
      token: expect.stringMatching(/^signalbox_live_sk_/),
    })
    const { record, curl, lock } = pathsOf(made)
    expect([record, curl, lock].map(modeOf)).toEqual([0o600, 0o600, 0o600])
    expect(await statusAt(url, recordOf(made)?.token ?? "")).toBe(200)
  })

  test("writes a file with which curl reaches the hook", async () => {
    const made = world()
    await (await started(made)).listening
    // The answer comes from this very process, so it must not wait for curl's end.
    const answer = await new Promise<string>((resolve, reject) => {
      const args = ["-q", "-K", pathsOf(made).curl, "--data-binary", '{"tool":"Edit"}']
      execFile("curl", args, (error, stdout) => (error === null ? resolve(stdout) : reject(error)))
    })
    expect(answer).toBe('{"tool":"Edit"}')
  })

  test("takes the next port when a stranger has the first one, and any when 0 is asked for", async () => {
    const stranger = createServer()
    await new Promise<void>((resolve) => stranger.listen(0, "127.0.0.1", resolve))
    onTestFinished(() => new Promise<void>((resolve) => stranger.close(() => resolve())))
    const { port: taken } = stranger.address() as { port: number }
    const port = Number(new URL(await (await started(world(), taken)).listening).port)
    expect(port).not.toBe(taken)
    expect(port).toBeGreaterThan(0)
  })

  test("takes the port that is asked for when it is free", async () => {
    const probe = createServer()
    await new Promise<void>((resolve) => probe.listen(0, "127.0.0.1", resolve))
    const { port } = probe.address() as { port: number }
    await new Promise<void>((resolve) => probe.close(() => resolve()))
    expect(await (await started(world(), port)).listening).toBe(`http://127.0.0.1:${port}`)
  })

  test("removes both files and gives up the port when it ends", async () => {
    const made = world()
    const { listening, listener } = await started(made)
    const url = await listening
    const { record, curl } = pathsOf(made)
    await listener.close()
    expect([record, curl].map((path) => existsSync(path))).toEqual([false, false])
    await expect(statusAt(url, "")).rejects.toMatchObject({ code: "ECONNREFUSED" })
  })

  test("leaves files alone that another process has written meanwhile", async () => {
    const made = world()
    const { listening, listener } = await started(made)
    await listening
    const other = { ...recordOf(made), pid: process.pid + 1 }
    writeFileSync(pathsOf(made).record, JSON.stringify(other))
    await listener.close()
    expect(recordOf(made)).toEqual(other)
    expect(existsSync(pathsOf(made).curl)).toBe(true)
  })
})

describe("whoever stands by", () => {
  test("says so once, and takes over when the one that listens ends", async () => {
    const made = world()
    const first = await started(made)
    const url = await first.listening
    const second = await started(made)
    await expect.poll(() => second.states).toEqual([{ is: "standing by", url }])
    await first.listener.close()
    const next = await second.listening
    expect(recordOf(made)?.url).toBe(next)
    expect(await statusAt(next, recordOf(made)?.token ?? "")).toBe(200)
    expect(second.states).toEqual([
      { is: "standing by", url },
      { is: "listening", url: next },
    ])
  })

  test("goes without having listened", async () => {
    const made = world()
    const first = await started(made)
    await first.listening
    const second = await started(made)
    await expect.poll(() => second.states.length).toBe(1)
    await second.listener.close()
    expect(recordOf(made)?.url).toBe(await first.listening)
  })
})

describe("the token", () => {
  test("is the local key, whose text stands in a file of its own too", async () => {
    const made = world()
    const { listening, app } = await started(made)
    await listening
    const token = recordOf(made)?.token ?? ""
    expect(readFileSync(made.databasePath.replace(/\.db$/, ".key"), "utf8")).toBe(`${token}\n`)
    const hash = createHash("sha256").update(token).digest("hex")
    const row = await app.db.get("SELECT is_local, revoked_at_ms FROM api_keys WHERE hash = ?", [hash])
    expect(row).toEqual({ is_local: 1, revoked_at_ms: null })
  })

  test.each<[string, (path: string) => void]>([
    ["lost", (path) => rmSync(path)],
    ["another key's", (path) => writeFileSync(path, "signalbox_live_sk_something\n")],
  ])(
    "is made anew when the file of the local key is %s, and the old one counts no more",
    async (_, spoil) => {
      const made = world()
      const first = await started(made)
      await first.listening
      const old = recordOf(made)?.token ?? ""
      await first.listener.close()
      spoil(made.databasePath.replace(/\.db$/, ".key"))
      const second = await started(made)
      const url = await second.listening
      const token = recordOf(made)?.token ?? ""
      expect(token).not.toBe(old)
      expect(await statusAt(url, token)).toBe(200)
      expect(await statusAt(url, old)).toBe(401)
      expect(
        (await allKeys(second.app)).filter((key) => key.isLocal && key.revokedAtMs === null),
      ).toHaveLength(1)
    },
  )

  test("is renewed in both files after the local key was revoked, as soon as somebody was refused", async () => {
    const made = world()
    const { listening, app } = await started(made)
    const url = await listening
    const old = recordOf(made)?.token ?? ""
    const local = (await allKeys(app)).find((key) => key.isLocal)
    await revokeKeyById(app, local?.id ?? 0)
    expect(await statusAt(url, old)).toBe(401)
    await expect.poll(() => recordOf(made)?.token).not.toBe(old)
    const token = recordOf(made)?.token ?? ""
    expect(readFileSync(pathsOf(made).curl, "utf8")).toContain(token)
    expect(await statusAt(url, token)).toBe(200)
  })
})

test("a listener that cannot start is a warning, and nothing else fails", async () => {
  const made = world()
  await made.session()
  mkdirSync(pathsOf(made).lock)
  const { warnings, listener, app, states } = await started(made)
  await expect.poll(() => warnings).toEqual([expect.stringContaining("cannot listen")])
  expect(states).toEqual([])
  expect(await allKeys(app)).toEqual([])
  await listener.close()
})

test("whatever stands in address and token, curl reads it back", () => {
  const record: ListenerRecord = { url: 'http://h/"\\', pid: 1, started_at: "", token: 'a"b\\c' }
  expect(curlConfig(record)).toBe(`url = "http://h/\\"\\\\/api/coordination/hook"
noproxy = "*"
header = "Authorization: Bearer a\\"b\\\\c"
header = "Content-Type: application/json"
header = "Expect:"
silent
connect-timeout = 0.3
max-time = 0.7
`)
})
