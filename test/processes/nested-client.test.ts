/**
 * A client that another client's shell has started: it inherits that one's environment, and is a session of its own
 * all the same. The clients are scripts of their names, one the child of the other, which start server and hook.
 */

import { writeFileSync } from "node:fs"
import { createConnection } from "node:net"
import { join } from "node:path"
import { expect, test } from "vitest"
import { hookFolder } from "../../src/hook/files.ts"
import {
  type Holder,
  holderAt,
  listenerAt,
  reservationsOf,
  reserve,
  SERVER_ENV,
  SILENT,
} from "../support/hook-process.ts"
import { type Place, place, ServerProcess } from "../support/server-process.ts"

/** Runs its arguments as a client runs its server, and one command for each connection to its socket. */
const CLIENT = `
const { spawn, spawnSync } = require("node:child_process")
const { createServer } = require("node:net")
const [socket, ...command] = process.argv.slice(2)
const env = { ...process.env, ...JSON.parse(process.env["ENV_OF_" + require("node:path").parse(__filename).name] || "{}") }
createServer({ allowHalfOpen: true }, (connection) => {
  let asked = ""
  connection.on("data", (text) => { asked += text })
  connection.on("end", () => {
    const { run: [file, ...args], input, cwd } = JSON.parse(asked)
    const { status, stdout, stderr } = spawnSync(file, args, { input, cwd, env, encoding: "utf8" })
    connection.end(JSON.stringify({ exitCode: status, stdout, stderr }))
  })
}).listen(socket)
spawn(command[0], command.slice(1), { stdio: "inherit", env }).on("exit", () => process.exit())
`

interface Nested {
  where: Place
  /** The server's agent of the inner client, which holds `inner/**`. */
  inner: Holder
  /** The agent of the outer client, which holds `src/auth/**`. */
  outer: Holder
  /** Edits a file in the outer or the inner client, by a hook of the inner one's name. */
  edit(by: "outer" | "inner", file: string, payloadId?: string): Promise<typeof SILENT>
}

/** Starts Claude Code with a server, and below it another client with one, which inherits its environment. */
async function nested(program: "gemini" | "copilot", innerEnv: Record<string, string>): Promise<Nested> {
  const where = place()
  const outer = await holderAt(where, "Outer", "outer")
  for (const name of ["claude", program]) writeFileSync(join(where.home, `${name}.js`), CLIENT)
  const socketOf = (name: string) => join(where.home, `${name}.sock`)
  const run = (name: string) => `"${process.execPath}" "${join(where.home, name)}.js" "${socketOf(name)}"`
  const env = {
    ...SERVER_ENV,
    ENV_OF_claude: JSON.stringify({ CLAUDE_CODE_SESSION_ID: "outer" }),
    [`ENV_OF_${program}`]: JSON.stringify(innerEnv),
  }
  const shell = `exec ${run("claude")} ${run(program)} "$@"`
  const server = await ServerProcess.start(where, { env, shell })
  const inner = { server, agent: await server.register("Inner") }
  await reserve(inner, "inner/**")
  await listenerAt(where)
  return {
    where,
    inner,
    outer,
    edit(by, file, payloadId) {
      const client = by === "outer" ? "claude-code" : program
      const payload = {
        ...(payloadId === undefined ? {} : { session_id: payloadId }),
        cwd: where.repository,
        hook_event_name: "PreToolUse",
        tool_name: "Write",
        tool_input: { content: "x", file_path: join(where.repository, file) },
      }
      const command = ["/bin/sh", join(hookFolder(where.dataFolder), "hook.sh"), client, "pre-edit"]
      const socket = socketOf(by === "outer" ? "claude" : program)
      return ask(socket, { run: command, cwd: where.repository, input: JSON.stringify(payload) })
    },
  }
}

async function ask(socket: string, asked: object): Promise<typeof SILENT> {
  const connection = createConnection(socket).setEncoding("utf8")
  connection.end(JSON.stringify(asked))
  return JSON.parse((await connection.toArray()).join("")) as typeof SILENT
}

test.each([
  ["gemini", { GEMINI_SESSION_ID: "inner" }, "inner"],
  ["gemini", { GEMINI_SESSION_ID: "inner" }, undefined],
  ["copilot", {}, "inner"],
  ["copilot", {}, undefined],
] as const)(
  "%s below Claude Code with %j, whose hook names session %s, is one session in server and hook",
  async (program, innerEnv, payloadId) => {
    const { inner, outer, edit } = await nested(program, innerEnv)
    expect(await edit("inner", "inner/a.ts", payloadId)).toEqual(SILENT)
    expect(await edit("inner", "free.ts", payloadId)).toEqual(SILENT)
    expect((await reservationsOf(inner)).get("free.ts")).toBe(inner.agent.name)
    expect((await edit("outer", "inner/a.ts")).exitCode).toBe(2)
    expect(await edit("outer", "src/auth/login.ts")).toEqual(SILENT)
    const refused = await edit("inner", "src/auth/login.ts", payloadId)
    expect(refused.stdout + refused.stderr).toContain(`reserved by ${outer.agent.name}`)
  },
)
