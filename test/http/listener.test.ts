import { createHash } from "node:crypto"
import { once } from "node:events"
import { existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from "node:fs"
import type { OutgoingHttpHeaders } from "node:http"
import { connect, createServer } from "node:net"
import { dirname } from "node:path"
import { describe, expect, onTestFinished, test, vi } from "vitest"
import { remove } from "../../scripts/removal.ts"
import type { Config } from "../../src/config/config.ts"
import { GREETING_PATH, PROOF_HEADER, readPass } from "../../src/hook/proven-call.ts"
import { HOOK_PATH } from "../../src/hook/wire.ts"
import { createHttpApp } from "../../src/http/app.ts"
import { greetingRoute } from "../../src/http/hook-pass.ts"
import { withPublicRoutes } from "../../src/http/index.ts"
import { type Listener, type ListenerState, startListener } from "../../src/http/listener.ts"
import { listenerPaths, readListenerRecord } from "../../src/http/listener-files.ts"
import type { RawRoute } from "../../src/http/route.ts"
import type { App } from "../../src/operations/app.ts"
import { allKeys, localKeyIn, revokeKeyById } from "../../src/operations/keys.ts"
import { launcherPath } from "../../src/runtime/launcher.ts"
import { createLog } from "../../src/runtime/log.ts"
import { packageFile } from "../../src/runtime/package-root.ts"
import { sendTo } from "../support/http.ts"
import { temporaryFolder } from "../support/temporary-folder.ts"
import { type World, world } from "../support/world.ts"

/** Answers in the hook's place with what it was sent. */
const ECHO: RawRoute = {
  method: "POST",
  path: HOOK_PATH,
  api: "coordination",
  summary: "Echo",
  hookToken: "too",
  isLimited: false,
  responses: { 200: { description: "What was sent" } },
  handle: async (_, request) => new Response(await request.text()),
}

const FOR_KEYS: RawRoute = {
  method: "GET",
  path: "/api/coordination/who",
  api: "coordination",
  summary: "For keys alone",
  isLimited: false,
  responses: { 200: { description: "Nothing" } },
  handle: async () => new Response(),
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
async function started(made: World, port = 0, more: Partial<Config> = {}): Promise<Started> {
  const session = await made.session()
  const warnings: string[] = []
  const log = createLog("warn", (line) => warnings.push((JSON.parse(line) as { message: string }).message))
  const app = { ...session.app, log, config: { ...session.app.config, port, ...more } }
  const states: ListenerState[] = []
  let isListening: (url: string) => void = () => {}
  const listening = new Promise<string>((resolve) => {
    isListening = resolve
  })
  const listener = startListener({
    app,
    makeHttp: ({ url, ...rest }) => {
      const routes = withPublicRoutes([ECHO, FOR_KEYS, greetingRoute(rest.hookPass)], url, "0.0.0-test")
      return createHttpApp({ app, routes, ...rest })
    },
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
      token: expect.stringMatching(/^signalbox_hook_[\w-]{43}$/),
    })
    const { record, curl, lock } = pathsOf(made)
    expect([record, curl, lock].map(modeOf)).toEqual([0o600, 0o600, 0o600])
    expect(await statusAt(url, recordOf(made)?.token ?? "")).toBe(200)
  })

  const packageFolder = dirname(packageFile("package.json"))
  const around = dirname(packageFolder)
  // In the root of the file system there is no folder around the clone that could be a project.
  test.skipIf(dirname(around) === around)(
    "renews an installed launcher, unless the project that it works in has brought it",
    async () => {
      const made = world()
      vi.stubEnv("HOME", temporaryFolder())
      onTestFinished(() => {
        vi.unstubAllEnvs()
      })
      const ofProject = await started(made, 0, { workingFolder: around })
      const launcher = launcherPath(ofProject.app.config.dataFolder)
      mkdirSync(dirname(launcher), { recursive: true })
      writeFileSync(launcher, "of another version")
      await ofProject.listening
      expect(readFileSync(launcher, "utf8")).toBe("of another version")
      await ofProject.listener.close()
      // A clone is no package of a project.
      await (await started(made, 0, { workingFolder: packageFolder })).listening
      expect(readFileSync(launcher, "utf8")).toContain("Starts signalbox")
    },
  )

  test("writes what the hook needs beside it: address, token, proof and process, a line each", async () => {
    const made = world()
    const url = await (await started(made)).listening
    expect(readFileSync(pathsOf(made).curl, "utf8")).toMatch(
      new RegExp(
        `^url = "${url}"\ntoken = "${recordOf(made)?.token}"\nproof = "[\\w-]{43}"\npid = "${process.pid}"\n$`,
      ),
    )
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

describe("the hook token and the proof", () => {
  /** Greets a listener, as the hook and commands do first. */
  const greet = (url: string, headers: OutgoingHttpHeaders, path = GREETING_PATH) => {
    const { port, host } = new URL(url)
    return sendTo(Number(port), path, "GET", { host, ...headers })
  }

  test("are new at each start, and die with the listener", async () => {
    const made = world()
    const first = await started(made)
    await first.listening
    const old = readPass(made.databasePath)
    await first.listener.close()
    const url = await (await started(made)).listening
    const pass = readPass(made.databasePath)
    expect(pass?.token).not.toBe(old?.token)
    expect(pass?.proof).not.toBe(old?.proof)
    expect(await statusAt(url, pass?.token ?? "")).toBe(200)
    expect(await statusAt(url, old?.token ?? "")).toBe(401)
    expect((await greet(url, bearer(old?.token ?? ""))).status).toBe(401)
  })

  test("open the greeting and the hook, and nothing else", async () => {
    const made = world()
    const url = await (await started(made)).listening
    const pass = readPass(made.databasePath)
    const greeted = await greet(url, bearer(pass?.token ?? ""))
    expect(greeted).toMatchObject({ status: 200, text: "\0", headers: { [PROOF_HEADER]: pass?.proof } })
    expect((await greet(url, bearer(pass?.token ?? ""), FOR_KEYS.path)).status).toBe(401)
    expect((await greet(url, bearer(localKeyIn(made.databasePath) ?? ""), FOR_KEYS.path)).status).toBe(200)
    expect((await greet(url, bearer(pass?.proof ?? ""))).status).toBe(401)
  })

  test("are shown to nobody without the token: no key, no public page, no half of it", async () => {
    const made = world()
    const url = await (await started(made)).listening
    const { token = "", proof = "none" } = readPass(made.databasePath) ?? {}
    const localKey = localKeyIn(made.databasePath) ?? ""
    const heads = [{}, bearer(localKey), bearer(token.slice(0, -1)), bearer(`${token}x`), bearer("")]
    for (const headers of [...heads, { authorization: token }]) {
      const { status, text, headers: answered } = await greet(url, headers)
      expect(status).toBe(401)
      expect(JSON.stringify([text, answered])).not.toContain(proof)
    }
    for (const path of ["/healthz", "/openapi.json"]) {
      const { text, headers } = await greet(url, bearer(token), path)
      expect(JSON.stringify([text, headers])).not.toContain(proof)
    }
  })

  test.each([
    [true, "shows the proof before the body"],
    [false, "shows none"],
  ])("a hook that waits to be told to go on is (its token: %s) %s", async (isOurs) => {
    const made = world()
    const url = await (await started(made)).listening
    const { port, token, proof } = readPass(made.databasePath) ?? { port: 0, token: "", proof: "none" }
    const socket = connect(port, "127.0.0.1")
    onTestFinished(() => void socket.destroy())
    const head = [
      `POST ${HOOK_PATH} HTTP/1.1`,
      `Host: ${new URL(url).host}`,
      `Authorization: Bearer ${isOurs ? token : "another"}`,
      "Content-Type: application/json",
      "Content-Length: 2",
      "Expect: 100-continue",
      "Connection: close",
    ]
    socket.write(`${head.join("\r\n")}\r\n\r\n`)
    const [first] = (await once(socket, "data")) as [Buffer]
    expect(first.toString().includes(proof)).toBe(isOurs)
    expect(first.toString()).toMatch(/^HTTP\/1\.1 100 Continue\r\n/)
    socket.end("{}")
    const rest = Buffer.concat(await socket.toArray()).toString()
    expect(`${first}${rest}`).toContain(`\r\n\r\nHTTP/1.1 ${isOurs ? "200" : "401"} `)
  })
})

describe("the local key", () => {
  test("has its text in a file of its own, which the files of the listener do not show", async () => {
    const made = world()
    const { listening, app } = await started(made)
    const url = await listening
    const text = localKeyIn(made.databasePath) ?? ""
    const hash = createHash("sha256").update(text).digest("hex")
    const row = await app.db.get("SELECT is_local, revoked_at_ms FROM api_keys WHERE hash = ?", [hash])
    expect(row).toEqual({ is_local: 1, revoked_at_ms: null })
    expect(modeOf(made.databasePath.replace(/\.db$/, ".key"))).toBe(0o600)
    expect(await statusAt(url, text)).toBe(200)
    const { record, curl } = pathsOf(made)
    for (const path of [record, curl]) expect(readFileSync(path, "utf8")).not.toContain("_sk_")
  })

  test.each<[string, (path: string) => void]>([
    ["lost", (path) => remove(path)],
    ["another key's", (path) => writeFileSync(path, "signalbox_live_sk_something\n")],
  ])("is made anew when its file is %s, and the old one counts no more", async (_, spoil) => {
    const made = world()
    const first = await started(made)
    await first.listening
    const old = localKeyIn(made.databasePath) ?? ""
    await first.listener.close()
    spoil(made.databasePath.replace(/\.db$/, ".key"))
    const second = await started(made)
    const url = await second.listening
    const text = localKeyIn(made.databasePath) ?? ""
    expect(text).not.toBe(old)
    expect(await statusAt(url, text)).toBe(200)
    expect(await statusAt(url, old)).toBe(401)
    expect((await allKeys(second.app)).filter((key) => key.isLocal && key.revokedAtMs === null)).toHaveLength(
      1,
    )
  })

  test("is renewed after it was revoked, as soon as somebody was refused", async () => {
    const made = world()
    const { listening, app } = await started(made)
    const url = await listening
    const old = localKeyIn(made.databasePath) ?? ""
    const local = (await allKeys(app)).find((key) => key.isLocal)
    await revokeKeyById(app, local?.id ?? 0)
    expect(await statusAt(url, old)).toBe(401)
    await expect.poll(() => localKeyIn(made.databasePath)).not.toBe(old)
    expect(await statusAt(url, localKeyIn(made.databasePath) ?? "")).toBe(200)
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
