/**
 * The real processes: a server on stdio that reads lines of anything, the listener's socket, both forms of the hook, and
 * commands on a damaged database.
 */

import { connect } from "node:net"
import { join } from "node:path"
import fc from "fast-check"
import { ServeProcess } from "../../bench/support/serve-process.ts"
import { CLIENT_NAMES, HOOK_EVENTS } from "../../src/hook/client-names.ts"
import { hookFolder, placeHookFiles } from "../../src/hook/files.ts"
import { packageFile } from "../../src/runtime/package-root.ts"
import { ended, environmentIn } from "../support/child.ts"
import { definePart, Fault, type Target } from "../support/part.ts"
import type { Room } from "../support/room.ts"
import { beginning, require, requireDiscreet } from "../support/texts.ts"
import { anything, brokenBytes, brokenJson } from "../support/values.ts"
import { type Damage, damage, damages } from "./database.ts"

const BINARY = packageFile("bin/signalbox.js")
const SOCKET_MS_MAX = 12_000
/** On stderr of a hook that lets go: a decision, and what is wrong with the settings. */
const LINES_MAX = 2

type Input =
  | { kind: "stdio"; bytes: Uint8Array }
  | { kind: "socket"; bytes: Uint8Array }
  | { kind: "hook"; form: "hook.sh" | "hook.cjs"; client: string; event: string; bytes: Uint8Array }
  | { kind: "command"; args: readonly string[]; damages: Damage[] }

const rpc = fc
  .record({
    jsonrpc: fc.constantFrom<unknown>("2.0", "2.0", "2.0", "1", null),
    id: fc.constantFrom<unknown>(1, "a", null, -1, 1.5),
    method: fc.constantFrom(
      "ping",
      "tools/list",
      "tools/call",
      "resources/read",
      "initialize",
      "notifications/cancelled",
      "x",
    ),
    params: fc.oneof(
      fc.constant({ name: "list-repositories", arguments: {} }),
      fc.constant({ uri: "signalbox://coordination/tools" }),
      anything,
    ),
  })
  .map((one) => JSON.stringify(one))
const line = fc.oneof({ weight: 3, arbitrary: rpc }, { weight: 2, arbitrary: brokenJson(rpc) })
const lines = fc
  .tuple(fc.array(line, { minLength: 1, maxLength: 12 }), fc.constantFrom("\n", "\n", "\r\n", "\n\n"))
  .map(([all, separator]) => Buffer.from(all.join(separator) + separator))
const stdio = fc.record({ kind: fc.constant("stdio" as const), bytes: fc.oneof(lines, brokenBytes(lines)) })

const head = fc
  .record({
    start: fc.constantFrom(
      "GET /healthz HTTP/1.1",
      "POST /mcp HTTP/1.1",
      "POST /api/coordination/hook HTTP/1.0",
      "GET //x/..%00 HTTP/1.1",
      "GET http://evil/ HTTP/1.1",
      "OPTIONS * HTTP/1.1",
      "CONNECT a:1 HTTP/1.1",
      "GET / HTTP/9.9",
      "\u0016\u0003\u0001",
      "",
    ),
    headers: fc.array(
      fc.constantFrom(
        "Host: 127.0.0.1",
        "Host:",
        "Content-Length: 5",
        "Content-Length: -1",
        "Content-Length: 99999999999999999999",
        "Transfer-Encoding: chunked",
        "Transfer-Encoding: x",
        "Expect: 100-continue",
        "Connection: upgrade",
        "Upgrade: websocket",
        "Authorization: Bearer x",
        `X: ${"y".repeat(20_000)}`,
        " folded",
        "\0: \0",
      ),
      { maxLength: 6 },
    ),
    body: fc.constantFrom(
      "",
      "hello",
      "5\r\nhello\r\n0\r\n\r\n",
      "fffffffffffffffff\r\n",
      "GET /healthz HTTP/1.1\r\n\r\n",
      "{}",
    ),
  })
  .map(({ start, headers, body }) =>
    Buffer.from(`${[start, ...headers].join("\r\n")}\r\n\r\n${body}`, "latin1"),
  )
const socket = fc.record({ kind: fc.constant("socket" as const), bytes: fc.oneof(head, brokenBytes(head)) })

const payload = fc
  .record({
    session_id: fc.oneof(fc.constant("b"), anything),
    cwd: fc.oneof(fc.constant("."), anything),
    tool_name: fc.constantFrom("Write", "apply_patch", ""),
    tool_input: fc.oneof(fc.constant({ file_path: "src/app.ts" }), anything),
  })
  .map((one) => JSON.stringify(one))
const hook = fc.record({
  kind: fc.constant("hook" as const),
  form: fc.constantFrom("hook.sh" as const, "hook.sh" as const, "hook.cjs" as const),
  client: fc.constantFrom(...CLIENT_NAMES, "", "x"),
  event: fc.constantFrom(...HOOK_EVENTS, "pre-edit", "", "--"),
  bytes: fc.oneof(
    payload.map((one) => Buffer.from(one)),
    brokenBytes(payload.map((one) => Buffer.from(one))),
    brokenJson(payload).map((one) => Buffer.from(one)),
  ),
})

const COMMANDS = [
  ["status"],
  ["status", "--json"],
  ["doctor"],
  ["doctor", "--json"],
  ["repos", "list"],
  ["reservations"],
  ["memory", "list"],
  ["keys", "list"],
  ["docs", "search", "lever"],
  ["cleanup"],
  ["release", "--all"],
  ["reserve", "a.ts"],
]
const command = fc.record({
  kind: fc.constant("command" as const),
  args: fc.constantFrom(...COMMANDS),
  damages,
})

export const processes = definePart<Input>({
  name: "processes",
  weight: 9,
  batch: 40,
  isSlow: true,
  async open(makeRoom) {
    const room = await makeRoom()
    return {
      inputs: fc.oneof<fc.Arbitrary<Input>[]>(stdio, socket, socket, socket, hook, command),
      begin: () => Processes.begin(room),
    }
  },
})

class Processes implements Target<Input> {
  readonly #room: Room
  readonly #databasePath: string
  readonly #served: ServeProcess

  private constructor(room: Room, databasePath: string, served: ServeProcess) {
    this.#room = room
    this.#databasePath = databasePath
    this.#served = served
  }

  static async begin(room: Room): Promise<Processes> {
    const databasePath = room.databaseCopy()
    placeHookFiles(join(databasePath, ".."))
    const launch = { args: [BINARY], cwd: room.repository, env: environmentIn(room, databasePath) }
    return new Processes(room, databasePath, await ServeProcess.start(launch, databasePath))
  }

  async run(input: Input): Promise<number> {
    switch (input.kind) {
      case "stdio":
        return this.#serveLines(input.bytes)
      case "socket":
        return this.#sendBytes(input.bytes)
      case "hook":
        return this.#runHook(input)
      case "command":
        return this.#runCommand(input.args, input.damages)
    }
  }

  async end(): Promise<void> {
    await this.#served.close()
    this.#room.discard(this.#databasePath)
  }

  async #serveLines(bytes: Uint8Array): Promise<number> {
    const env = environmentIn(this.#room, this.#databasePath)
    const { code, stdout, stderr } = await ended(
      process.execPath,
      [BINARY],
      this.#room.repository,
      env,
      bytes,
    )
    require(code === 0, () => `the server ends with ${code}: ${beginning(stderr)}`)
    for (const one of stdout.split("\n").filter((each) => each !== "")) requireJson(one, "stdout")
    for (const one of stderr.split("\n").filter((each) => each !== "")) requireJson(one, "stderr")
    require(!/"level":"error"/.test(stderr), () => `the server has logged a defect: ${beginning(stderr)}`)
    return 1
  }

  async #sendBytes(bytes: Uint8Array): Promise<number> {
    const { port } = new URL(this.#served.record.url)
    const said = await exchange(Number(port), bytes)
    require(!/^HTTP\/1\.\d 5/m.test(said), () => `the listener answers: ${beginning(said)}`)
    requireDiscreet(said, "the listener")
    const health = await exchange(
      Number(port),
      Buffer.from(`GET /healthz HTTP/1.0\r\nHost: 127.0.0.1:${port}\r\n\r\n`),
    )
    require(/ 200 /.test(health), () => `the listener is not well: ${beginning(health)}`)
    return 1
  }

  async #runHook({ form, client, event, bytes }: Input & { kind: "hook" }): Promise<number> {
    const path = join(hookFolder(join(this.#databasePath, "..")), form)
    const file = form === "hook.sh" ? "/bin/sh" : process.execPath
    const env = environmentIn(this.#room, this.#databasePath)
    const { code, stdout, stderr } = await ended(
      file,
      [path, client, event],
      this.#room.repository,
      env,
      bytes,
    )
    require(code === 0 || code === 2, () => `${form} ends with ${code}: ${beginning(stderr)}`)
    if (code === 0)
      require(stderr.trimEnd().split("\n").length <= LINES_MAX, () =>
        `${form} says more than a line: ${beginning(stderr)}`)
    requireDiscreet(stdout + stderr, form)
    return 1
  }

  async #runCommand(args: readonly string[], all: readonly Damage[]): Promise<number> {
    const path = this.#room.databaseCopy()
    damage(path, all)
    const env = environmentIn(this.#room, path)
    const { code, stdout, stderr } = await ended(
      process.execPath,
      [BINARY, ...args],
      this.#room.repository,
      env,
    )
    this.#room.discard(path)
    require(code !== null && code < 10, () => `${args.join(" ")} ends with ${code}: ${beginning(stderr)}`)
    requireDiscreet(stdout, args.join(" "))
    requireDiscreet(stderr, args.join(" "))
    return 1
  }
}

/** Sends bytes on a connection of their own; returns all that comes back until the listener closes it, or says no more. */
function exchange(port: number, bytes: Uint8Array): Promise<string> {
  return new Promise((resolve, reject) => {
    const connection = connect({ port, host: "127.0.0.1" })
    let said = ""
    const alarm = setTimeout(() => {
      connection.destroy()
      reject(new Fault(`the listener neither answers nor closes: ${beginning(said)}`))
    }, SOCKET_MS_MAX)
    connection.setEncoding("latin1").on("data", (text: string) => {
      said += text
    })
    connection.on("error", () => {})
    connection.once("close", () => {
      clearTimeout(alarm)
      resolve(said)
    })
    connection.end(bytes)
  })
}

function requireJson(line: string, where: string): void {
  try {
    JSON.parse(line)
  } catch {
    throw new Fault(`${where} has a line that is no JSON: ${beginning(line)}`)
  }
}
