/**
 * Whoever binds the port of a listener that has crashed and left its files: it gets the token of the dead and
 * nothing else, and decides nothing. It is as clever as it can be, and has seen all that went over the wire.
 */

import { copyFileSync, existsSync, readFileSync, writeFileSync } from "node:fs"
import { type AddressInfo, createServer, type Server, type Socket } from "node:net"
import { join } from "node:path"
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest"
import { isListenerUp } from "../../src/commands/listener.ts"
import { readConfig } from "../../src/config/config.ts"
import { GREETING_BODY, PROOF_HEADER, readPass, writePass } from "../../src/hook/proven-call.ts"
import { listenerPaths } from "../../src/http/listener-files.ts"
import { localKeyIn } from "../../src/operations/keys.ts"
import { refusalIn } from "../support/golden-payloads.ts"
import { editOf, holderAt, runHook, SILENT } from "../support/hook-process.ts"
import { environment, type Place, place } from "../support/server-process.ts"

const FORMS = ["shell", "curl", "node"] as const
/** What is in every payload here, and nowhere else. */
const SECRET = "const secret = 4711"
const BLOCKING = "2\n\n--signalbox:stderr--\nblocked by a stranger"
const LETTING = "0\n\n--signalbox:stderr--\n"

/** A stranger: what it answers whenever more has come, and what it heard. */
class Stranger {
  readonly server: Server
  heard = ""

  constructor(answer: (socket: Socket, heard: string) => void) {
    this.server = createServer((socket) => {
      let text = ""
      socket.on("error", () => {})
      socket.on("data", (chunk) => {
        text += chunk.toString("latin1")
        this.heard += chunk.toString("latin1")
        answer(socket, text)
      })
    })
    onTestFinished(() => void this.server.close())
  }

  async listen(port = 0): Promise<number> {
    await new Promise<void>((resolve, reject) => {
      this.server.once("error", reject)
      this.server.listen(port, "127.0.0.1", resolve)
    })
    return (this.server.address() as AddressInfo).port
  }
}

/** Answers every request, greeting or not, with a proof in its head and a decision behind it. */
function knowing(proof: string, decision: string) {
  return (socket: Socket, heard: string) => {
    const headEnd = heard.indexOf("\r\n\r\n")
    const body = heard.slice(headEnd + 4)
    const isHalf = body !== "" && heard.includes("chunked") && !body.endsWith("\r\n0\r\n\r\n")
    if (headEnd < 0 || isHalf) return
    const head = `${PROOF_HEADER}: ${proof}\r\n`
    if (heard.includes("100-continue")) {
      if (body === "") socket.write(`HTTP/1.1 100 Continue\r\n${head}\r\n`)
      else socket.end(`HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n${decision}`)
    } else if (heard.startsWith("GET /api/coordination/greeting") && body === "")
      socket.write(`HTTP/1.1 200 OK\r\nContent-Length: 1\r\n${head}\r\n${GREETING_BODY}`)
    else socket.end(`HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n${decision}`)
  }
}

describe("with the files of a listener that crashed", () => {
  const ends: (() => Promise<void> | void)[] = []
  let where: Place
  let localKey: string
  /** The pass as it was left, with what a dead process is known by. */
  let left: { port: number; token: string; proof: string; pid: number }

  beforeAll(async () => {
    where = place((end) => ends.push(end))
    const ada = await holderAt(where)
    const pass = readPass(where.databasePath)
    if (pass === undefined) throw new Error("nobody listens")
    left = pass
    localKey = localKeyIn(where.databasePath) ?? ""
    await ada.server.kill()
    expect(existsSync(listenerPaths(where.databasePath).curl), "a crash removes no files").toBe(true)
  })

  afterAll(async () => {
    for (const end of ends.reverse()) await end()
  })

  const content = SECRET
  const taken = () => editOf(where, "src/auth/login.ts", { content })
  const free = () => editOf(where, "src/free.ts", { content })

  const config = () =>
    readConfig({ env: environment(where), workingFolder: where.repository, home: where.home })

  /**
   * Fails unless all three forms decide by themselves, other than the stranger would, and the commands believe
   * nobody, and all that was told is the token.
   */
  async function expectUnmoved(stranger: Stranger, decision = BLOCKING) {
    for (const form of FORMS) {
      if (decision === LETTING) refusalIn(await runHook(where, { form, payload: taken() }))
      else expect(await runHook(where, { form, payload: free() }), form).toEqual(SILENT)
    }
    expect(await isListenerUp(config())).toBe(false)
    for (const secret of [SECRET, localKey, "session-b", where.repository])
      expect(stranger.heard).not.toContain(secret)
  }

  test.each([
    ["blocks", BLOCKING],
    ["lets everything through", LETTING],
  ])("one that saw a whole call before the crash, has its proof and %s", async (_, decision) => {
    const stranger = new Stranger(knowing(left.proof, decision))
    await stranger.listen(left.port)
    await expectUnmoved(stranger, decision)
    expect(stranger.heard, "a dead process is not even asked").toBe("")
  })

  /** From here on the process of the files lives, as when its number was given to another. */
  async function strangerKnowing(answer: (socket: Socket, heard: string) => void): Promise<Stranger> {
    const stranger = new Stranger(answer)
    const { curl } = listenerPaths(where.databasePath)
    writeFileSync(curl, writePass({ ...left, port: await stranger.listen(), pid: process.pid }))
    return stranger
  }

  const end = (text: string) => (socket: Socket) => void socket.end(text)
  const write = (text: string) => (socket: Socket) => void socket.write(text)
  const strangers: [string, () => (socket: Socket, heard: string) => void][] = [
    ["gives back the token as the proof", () => knowing(left.token, BLOCKING)],
    ["shows an empty proof", () => knowing("", BLOCKING)],
    ["shows the proof of another start", () => knowing("A".repeat(43), BLOCKING)],
    ["shows the proof and more", () => knowing(`${left.proof}x`, BLOCKING)],
    [
      "shows the proof behind the head",
      () => end(`HTTP/1.1 200 OK\r\n\r\n${PROOF_HEADER}: ${left.proof}\r\n\r\n${BLOCKING}`),
    ],
    [
      "goes on first and shows the proof later",
      () => end(`HTTP/1.1 100 Continue\r\n\r\n${PROOF_HEADER}: ${left.proof}\r\n\r\n${BLOCKING}`),
    ],
    [
      "stops in the middle of its head",
      () => write(`HTTP/1.1 200 OK\r\n${PROOF_HEADER}: ${left.proof.slice(0, 9)}`),
    ],
    ["has a head of 300 KB", () => write(`HTTP/1.1 200 OK\r\nX: ${"x".repeat(300_000)}\r\n`)],
    [
      "answers at once with a decision",
      () => end(`HTTP/1.1 200 OK\r\nContent-Length: ${BLOCKING.length}\r\n\r\n${BLOCKING}`),
    ],
    ["never answers", () => () => {}],
  ]
  test.each(strangers)("one that %s", async (_, answer) => {
    await expectUnmoved(await strangerKnowing(answer()))
  })

  test("one that never ends what it says", async () => {
    const stranger = await strangerKnowing((socket) => {
      const timer = setInterval(() => socket.write("X-More: y\r\n"), 5)
      socket.once("close", () => clearInterval(timer))
    })
    await expectUnmoved(stranger)
  })

  test("the true listener's proof opens all of them, so that these strangers fail for their answers alone", async () => {
    const stranger = await strangerKnowing(knowing(left.proof, BLOCKING))
    for (const form of FORMS) {
      const { exitCode, stderr } = await runHook(where, { form, payload: free() })
      expect({ exitCode, stderr }, form).toEqual({ exitCode: 2, stderr: "blocked by a stranger\n" })
    }
    expect(stranger.heard.split(SECRET)).toHaveLength(4)
    expect(stranger.heard).not.toContain(localKey)
  })

  test("a file that a project holds is none, where SIGNALBOX_DB is relative", async () => {
    const stranger = new Stranger(knowing("proof", BLOCKING))
    const port = await stranger.listen()
    const pass = writePass({ port, token: "token", proof: "proof", pid: process.pid })
    writeFileSync(join(where.repository, "evil.hook.curl"), pass)
    for (const form of FORMS) {
      const run = await runHook(where, { form, payload: free(), env: { SIGNALBOX_DB: "evil.db" } })
      expect(run.exitCode, form).toBe(0)
      expect(run.stderr, form).toContain("there is no database")
    }
    expect(stranger.heard).toBe("")
  })

  const good = () => readFileSync(join(where.home, "good"), "utf8")
  const files: [string, () => string][] = [
    ["a setting of curl's behind", () => `${good()}output = "${join(where.home, "written")}"\n`],
    ["a setting of curl's in front", () => `output = "${join(where.home, "written")}"\n${good()}`],
    ["two addresses", () => good().replace(/^url.*\n/, "$&$&")],
    ["the ends of lines of Windows", () => good().replaceAll("\n", "\r\n")],
    ["another machine's address", () => good().replace("127.0.0.1", "192.0.2.1")],
    ["an address with more behind its port", () => good().replace(/^url = "(.*)"/, 'url = "$1/x"')],
    ["an empty token", () => good().replace(/^token = .*$/m, 'token = ""')],
    ["an empty proof", () => good().replace(/^proof = .*$/m, 'proof = ""')],
    ["a line break in the token", () => good().replace('token = "', 'token = "x\\r\\nX-Evil: ')],
    ["no last line", () => good().replace(/^pid = .*\n/m, "")],
    ["nothing", () => ""],
  ]
  test.each(files)("a file with %s is no listener's", async (_, content) => {
    const stranger = await strangerKnowing(knowing(left.proof, BLOCKING))
    const { curl } = listenerPaths(where.databasePath)
    copyFileSync(curl, join(where.home, "good"))
    writeFileSync(curl, content())
    await expectUnmoved(stranger)
    expect(stranger.heard).toBe("")
    expect(existsSync(join(where.home, "written"))).toBe(false)
  })
})
