import { closeSync, existsSync, mkdirSync, openSync, writeFileSync, writeSync } from "node:fs"
import type { RequestListener } from "node:http"
import { type AddressInfo, createServer as createSocketServer, type Server } from "node:net"
import { dirname, join } from "node:path"
import BetterSqlite3 from "better-sqlite3"
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest"
import { remove } from "../../scripts/removal.ts"
import { hookFolder, placeHookFiles } from "../../src/hook/files.ts"
import { writeListenerFiles } from "../../src/http/listener-files.ts"
import { refusalIn } from "../support/golden-payloads.ts"
import { greeterAt } from "../support/greeter.ts"
import {
  editOf,
  expectOneLine,
  HOOK_FORMS,
  type Holder,
  type HookRun,
  holderAt,
  pathOf,
  runHook,
  SILENT,
} from "../support/hook-process.ts"
import { type Place, place } from "../support/server-process.ts"

/** What the shell form needs where there is no bash. */
const WITH_CURL = ["cat", "sleep", "curl", "mkfifo", "rm"]

/** The two programs behind the three forms. */
const FORMS = ["shell", "curl", "node"] as const

/** Makes a place where an agent holds `src/auth/**`; its server has ended or not. */
async function heldPlace(listens: boolean, atEnd?: Place["atEnd"]): Promise<{ where: Place; ada: Holder }> {
  const where = place(atEnd)
  const ada = await holderAt(where)
  if (!listens) await ada.server.stop()
  return { where, ada }
}

const free = (where: Place) => editOf(where, "src/free.ts")
const taken = (where: Place) => editOf(where, "src/auth/login.ts")

/** Fails unless the hook refuses what is taken and lets through what is free. */
async function expectDecision(
  where: Place,
  run: Omit<HookRun, "payload">,
  payloads = { taken: taken(where), free: free(where) },
): Promise<void> {
  // One after the other: each has two seconds by the clock, of which on a busy machine two at once lose half.
  refusalIn(await runHook(where, { ...run, payload: payloads.taken }))
  expect(await runHook(where, { ...run, payload: payloads.free })).toEqual(SILENT)
}

function configure(where: Place, text: string): void {
  const file = join(where.home, "config", "signalbox", "config.json")
  mkdirSync(dirname(file), { recursive: true })
  writeFileSync(file, text)
}

describe.each([true, false])("with a listener: %s", (listens) => {
  const ends: (() => Promise<void> | void)[] = []
  let where: Place

  beforeAll(async () => {
    where = (await heldPlace(listens, (end) => ends.push(end))).where
  })

  afterAll(async () => {
    for (const end of ends.reverse()) await end()
  })

  test.each(FORMS)("the %s form lets go of what is no payload", async (form) => {
    for (const payload of ["{", "[]", "edit src/auth/login.ts", "\0\xff"])
      expectOneLine(await runHook(where, { form, payload }), /not valid JSON|not a JSON object/)
  })

  test.each(FORMS)("the %s form lets go of an empty payload", async (form) => {
    expectOneLine(await runHook(where, { form, payload: "" }), /not valid JSON/)
  })

  test.each(FORMS)("the %s form does not wait for a payload that never ends", async (form) => {
    const late = /the edit goes on: (its description did not come in time|there was no time to)/
    const half = taken(where).slice(0, 80)
    const [nothing, some] = await Promise.all([
      runHook(where, { form, payload: "", keepsStdinOpen: true }),
      runHook(where, { form, payload: half, keepsStdinOpen: true }),
    ])
    expectOneLine(nothing, late)
    expectOneLine(some, late)
  })

  test.each(FORMS)("the %s form lets go of 20 MB", async (form) => {
    const payload = editOf(where, "src/auth/login.ts", { content: "x".repeat(20_000_000) })
    expectOneLine(await runHook(where, { form, payload }), /not checked, the edit goes on: /)
  })

  test.each(FORMS)("the %s form finds its way from any folder", async (form) => {
    const names = [
      "with spaces",
      'it\'s "quoted" $(exit 7) `exit 7` \\',
      "of\ntwo lines",
      "two\r\nX-Signalbox-Agent: Ada",
      "größe",
      "-q",
    ]
    for (const name of names) {
      const folder = join(where.repository, name)
      mkdirSync(folder, { recursive: true })
      // Without a folder in the payload the one that the hook is started in counts.
      const payloadOf = (path: string) =>
        JSON.stringify({
          session_id: "session-b",
          tool_name: "Write",
          tool_input: { content: "x", file_path: path },
        })
      const payloads = { taken: payloadOf("../src/auth/login.ts"), free: payloadOf(`free-${form}.ts`) }
      await expectDecision(where, { form, folder }, payloads)
      remove(folder)
    }
  })

  test.each(FORMS)("the %s form survives that its folder is gone", async (form) => {
    const gone = { form, folder: where.home, shell: `mkdir gone && cd gone && rmdir "$PWD" && exec "$@"` }
    const { stderr, ...rest } = await runHook(where, { ...gone, payload: taken(where) })
    // Some shells complain by themselves when they start.
    const own = { ...rest, stderr: stderr.replace(/^.*getcwd.*\n/gm, "") }
    if (own.exitCode === 2) refusalIn(own)
    else expectOneLine(own, /not checked, the edit goes on: /)
  })

  test("no setting of curl or of a proxy stands in the way", async () => {
    const hostile = [
      'proxy = "http://127.0.0.1:9"',
      'noproxy = ""',
      'output = "/dev/null"',
      'url = "http://127.0.0.1:9/"',
      'user = "a:b"',
      'header = "Authorization: Bearer no"',
      "netrc",
      "verbose",
      "include",
    ].join("\n")
    const folders = [
      where.home,
      join(where.home, "curl"),
      join(where.home, "config"),
      join(where.home, ".config"),
    ]
    for (const folder of folders) {
      mkdirSync(folder, { recursive: true })
      for (const name of [".curlrc", "curlrc"]) writeFileSync(join(folder, name), `${hostile}\n`)
    }
    writeFileSync(join(where.home, ".netrc"), "machine 127.0.0.1 login a password b\n", { mode: 0o600 })
    const proxy = "http://127.0.0.1:9"
    const env = {
      CURL_HOME: join(where.home, "curl"),
      ...{ http_proxy: proxy, https_proxy: proxy, HTTP_PROXY: proxy, all_proxy: proxy, ALL_PROXY: proxy },
    }
    // With a listener only curl can have asked it.
    const path = listens ? { path: pathOf(where, ...WITH_CURL) } : {}
    for (const form of HOOK_FORMS) await expectDecision(where, { form, env, ...path })
  })

  test("without curl Node decides", async () => {
    await expectDecision(where, { path: pathOf(where, "cat", "sleep", "node", "git") })
  })

  test.each(FORMS)("the %s form goes by the defaults when a configuration is broken", async (form) => {
    onTestFinished(() => remove(join(where.home, "config", "signalbox")))
    for (const text of [
      "{",
      '{"hooks":{"preEdit":{"blockConflicts":"no"}}}',
      '{"hooks":7}',
      '{"hooks":{"preEdit":{"x":1}}}',
    ]) {
      configure(where, text)
      refusalIn(await runHook(where, { form, payload: taken(where) }))
      expectOneLine(await runHook(where, { form, payload: free(where) }), /config\.json/)
    }
  })
})

describe.each(FORMS)("the %s form", (form) => {
  test("is silent where nothing is configured, and says that there is no database", async () => {
    const where = place()
    placeHookFiles(where.dataFolder)
    expectOneLine(await runHook(where, { form, payload: free(where) }), /no database .*signalbox\.db/)
    expect(existsSync(where.databasePath), "a look makes no database").toBe(false)
  })

  test("lets go when the database is locked", async () => {
    const { where } = await heldPlace(false)
    const other = new BetterSqlite3(where.databasePath)
    onTestFinished(() => void other.close())
    other.pragma("locking_mode = EXCLUSIVE")
    other.exec("BEGIN EXCLUSIVE; CREATE TABLE never_committed (id INTEGER)")
    const endings = [free(where), taken(where)].map((payload) => runHook(where, { form, payload }))
    for (const ending of await Promise.all(endings)) expectOneLine(ending, /not checked, the edit goes on: /)
  })

  test.each([true, false])("lets go when a writer is stuck, with a listener: %s", async (listens) => {
    const { where } = await heldPlace(listens)
    const writer = new BetterSqlite3(where.databasePath)
    onTestFinished(() => void writer.close())
    writer.exec("BEGIN IMMEDIATE")
    expectOneLine(await runHook(where, { form, payload: free(where) }), /not checked, the edit goes on: /)
  })

  test("lets go when the database is no database, and leaves it alone", async () => {
    const where = place()
    placeHookFiles(where.dataFolder)
    writeFileSync(where.databasePath, "This was a database once. ".repeat(1_000))
    expectOneLine(await runHook(where, { form, payload: free(where) }), /not checked.*database/)
  })

  test("lets go when a part of the database is destroyed", async () => {
    const { where } = await heldPlace(false)
    const file = new BetterSqlite3(where.databasePath)
    file.pragma("wal_checkpoint(TRUNCATE)")
    const pageCount = Number(file.pragma("page_count", { simple: true }))
    const pageSize = Number(file.pragma("page_size", { simple: true }))
    file.close()
    const handle = openSync(where.databasePath, "r+")
    writeSync(handle, Buffer.alloc((pageCount - 1) * pageSize, 0xa5), 0, undefined, pageSize)
    closeSync(handle)
    expectOneLine(await runHook(where, { form, payload: free(where) }), /not checked, the edit goes on: /)
  })

  test("lets go when the package is gone", async () => {
    const { where } = await heldPlace(false)
    writeFileSync(join(hookFolder(where.dataFolder), "package"), `${join(where.home, "gone")}\n`)
    expectOneLine(
      await runHook(where, { form, payload: taken(where) }),
      /the package is not where it was \(ERR_MODULE_NOT_FOUND\)/,
    )
    remove(join(hookFolder(where.dataFolder), "package"))
    expectOneLine(
      await runHook(where, { form, payload: taken(where) }),
      /the package is not where it was \(ENOENT\)/,
    )
  })

  test("decides by itself while the listener is frozen", async () => {
    const { where, ada } = await heldPlace(true)
    onTestFinished(() => void ada.server.child.kill("SIGCONT"))
    ada.server.child.kill("SIGSTOP")
    await expectDecision(where, { form })
  })
})

test("the shell form lets go when there is no Node either", async () => {
  const { where } = await heldPlace(false)
  const path = pathOf(where, ...WITH_CURL)
  expectOneLine(await runHook(where, { path, payload: taken(where) }), /there is no node/)
})

test.each([1, 7, 134])("the shell form lets go when Node ends with %i", async (exitCode) => {
  const { where } = await heldPlace(false)
  const path = pathOf(where, ...WITH_CURL)
  writeFileSync(join(path, "node"), `#!/bin/sh\nexit ${exitCode}\n`, { mode: 0o755 })
  const ending = await runHook(where, { client: "copilot", path, payload: taken(where) })
  expect(ending).toMatchObject({ exitCode: 0, stdout: "" })
})

test("settings that outlive the hook do nothing", async () => {
  const where = place()
  expect(await runHook(where, { payload: free(where) })).toEqual(SILENT)
})

describe("where the listener's files name somebody else, the hook decides by itself", () => {
  const ends: (() => Promise<void> | void)[] = []
  let where: Place

  beforeAll(async () => {
    where = (await heldPlace(false, (end) => ends.push(end))).where
  })

  afterAll(async () => {
    for (const end of ends.reverse()) await end()
  })

  async function expectOwnDecision(port: number): Promise<void> {
    const record = { url: `http://127.0.0.1:${port}`, pid: process.pid, started_at: new Date().toISOString() }
    writeListenerFiles(where.databasePath, record, { token: "of-another-time", proof: "of-then" })
    for (const form of FORMS) await expectDecision(where, { form })
  }

  async function portOf(server: Server): Promise<number> {
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
    return (server.address() as AddressInfo).port
  }

  test("nobody", async () => {
    const server = createSocketServer()
    const port = await portOf(server)
    await new Promise((resolve) => server.close(resolve))
    await expectOwnDecision(port)
  })

  test("one that speaks another language", async () => {
    const server = createSocketServer((socket) => {
      socket.on("error", () => {})
      socket.end("220 mail.example.com ESMTP\r\n")
    })
    onTestFinished(() => void server.close())
    await expectOwnDecision(await portOf(server))
  })

  test("one that never answers", async () => {
    const server = createSocketServer((socket) => void socket.on("error", () => {}).resume())
    onTestFinished(() => void server.close())
    await expectOwnDecision(await portOf(server))
  })

  const answers: [string, RequestListener][] = [
    ["500", (_, reply) => void reply.writeHead(500).end("2\n\n--signalbox:stderr--\nno")],
    ["401", (_, reply) => void reply.writeHead(401).end("2\n\n--signalbox:stderr--\nno")],
    ["a redirect", (_, reply) => void reply.writeHead(307, { location: "http://127.0.0.1:9/" }).end()],
    ["a page", (_, reply) => void reply.writeHead(200).end("<!doctype html><p>2</p>")],
    ["nothing", (_, reply) => void reply.writeHead(200).end()],
    ["half of an answer", (_, reply) => void reply.writeHead(200).end("2\nout\n--signalbox:std")],
    ["a line too few", (_, reply) => void reply.writeHead(200).end("2")],
    [
      "an exit code that none of ours is",
      (_, reply) => void reply.writeHead(200).end("7\n\n--signalbox:stderr--\n"),
    ],
    ["no exit code", (_, reply) => void reply.writeHead(200).end("2nd\n\n--signalbox:stderr--\nno")],
  ]
  test.each(answers)("one that proves itself and answers %s", async (_name, answer) => {
    const asked: string[] = []
    await greeterAt(where.databasePath, 200, (request, reply) => {
      asked.push(request.url ?? "")
      request.resume().on("end", () => answer(request, reply))
    })
    for (const form of FORMS) await expectDecision(where, { form })
    expect(asked, "a hook that was not answered has asked").toHaveLength(2 * FORMS.length)
  })

  test("one that proves itself and hangs up before it has read all", async () => {
    await greeterAt(where.databasePath, 200, (request) => void request.once("data", () => request.destroy()))
    // More than what pipes and sockets hold on the way.
    const content = "x".repeat(8_000_000)
    const payloads = {
      taken: editOf(where, "src/auth/login.ts", { content }),
      free: editOf(where, "src/free.ts", { content }),
    }
    for (const form of FORMS) await expectDecision(where, { form }, payloads)
  })
})
