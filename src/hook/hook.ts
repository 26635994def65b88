/**
 * The hook's Node form: for systems without a POSIX shell or curl, and for when no listener answers. It is
 * copied out of the package and imports nothing but Node. Usage: hook.cjs <client> <event>, payload on
 * stdin. Whatever goes wrong, the edit goes on, with one line on stderr.
 *
 * It runs before every edit, so what Node loads counts: a CommonJS file starts in four fifths of the time of
 * an ES module, and one request written on a bare socket spares Node's HTTP client.
 */

import { readFileSync } from "node:fs"
import { connect } from "node:net"
import { join } from "node:path"
import { pathToFileURL } from "node:url"
import type { HookAnswer } from "./answer.ts"
import type { HookRequest } from "./request.ts"
import { HOOK_PATH, hookHeaders, readHookAnswer } from "./wire.ts"

/** Under the two seconds that a hook may take in all; beside the shell form, that has used half of them. */
const DEADLINE_MS = 1_500
const DEADLINE_BESIDE_SHELL_MS = 700
const LISTENER_MS_MAX = 700
const PAYLOAD_BYTES_MAX = 16 * 1024 * 1024

/** Set by the shell form: it has asked the listener already, and this is its parent's pid. */
const shellParent = process.env.SIGNALBOX_HOOK_ALONE
const folder = __dirname

const deadlineMs = shellParent === undefined ? DEADLINE_MS : DEADLINE_BESIDE_SHELL_MS
setTimeout(() => end(letGo("there was no time to")), deadlineMs)

decide().then(end, (error: unknown) => end(letGo((error as Error).message)))

async function decide(): Promise<HookAnswer> {
  const payload = await readPayload()
  if (payload === undefined) return letGo("its description is too long")
  const request = { ...surroundings(), payload }
  const answered = shellParent === undefined ? await askListener(request) : undefined
  return answered ?? decideAlone(request)
}

function surroundings(): Omit<HookRequest, "payload"> {
  const { env } = process
  // The last two, since `node -e` names no file before them.
  const [client = "", event = ""] = process.argv.slice(-2)
  const text = (...values: (string | undefined)[]) =>
    values.find((value) => value !== undefined && value !== "")
  return {
    client,
    event,
    folder: workingFolder(),
    projectFolder: text(env.CLAUDE_PROJECT_DIR, env.DEVIN_PROJECT_DIR, env.GEMINI_PROJECT_DIR),
    parentPid: Number(shellParent ?? process.ppid),
    namedSession: text(env.SIGNALBOX_SESSION),
    sessionId: text(env.CLAUDE_CODE_SESSION_ID, env.GEMINI_SESSION_ID),
    agentName: text(env.SIGNALBOX_AGENT),
    projectKey: text(env.SIGNALBOX_PROJECT),
  }
}

/** A folder that was deleted has no name any more but the one that the shell remembers. */
function workingFolder(): string | undefined {
  try {
    return process.cwd()
  } catch {
    return process.env.PWD
  }
}

/** Reads stdin as far as a payload may be long; undefined when it is longer. */
async function readPayload(): Promise<string | undefined> {
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of process.stdin as AsyncIterable<Buffer>) {
    size += chunk.length
    if (size > PAYLOAD_BYTES_MAX) return undefined
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString("utf8")
}

/** Returns the listener's answer, or undefined when none answers. */
function askListener({ payload, ...rest }: HookRequest): Promise<HookAnswer | undefined> {
  const listener = readListener()
  // A line break in a folder's name would make headers of its own.
  const isPlain = !Object.values(rest).some((value) => /\p{Cc}/u.test(String(value)))
  if (listener === undefined || !isPlain) return Promise.resolve(undefined)
  const { hostname, port, host } = new URL(listener.url)
  const body = Buffer.from(payload)
  const headers = {
    ...hookHeaders(rest),
    Host: host,
    Authorization: `Bearer ${listener.token}`,
    "Content-Type": "application/json",
    "Content-Length": body.length,
  }
  // In version 1.0 the answer ends with the connection and comes in one piece.
  const head = [
    `POST ${HOOK_PATH} HTTP/1.0`,
    ...Object.entries(headers).map(([name, value]) => `${name}: ${value}`),
  ]
  return new Promise((resolve) => {
    const chunks: Buffer[] = []
    const socket = connect(Number(port), hostname)
    socket.setTimeout(LISTENER_MS_MAX, () => socket.destroy())
    socket.on("data", (chunk: Buffer) => chunks.push(chunk))
    socket.on("error", () => resolve(undefined))
    socket.on("close", () => resolve(answerIn(Buffer.concat(chunks).toString("utf8"))))
    socket.write(`${head.join("\r\n")}\r\n\r\n`, "latin1")
    socket.write(body)
  })
}

function answerIn(response: string): HookAnswer | undefined {
  const headEnd = response.indexOf("\r\n\r\n")
  const isGood = /^HTTP\/1\.[01] 200 /.test(response)
  return isGood && headEnd > 0 ? readHookAnswer(response.slice(headEnd + 4)) : undefined
}

function readListener(): { url: string; token: string } | undefined {
  try {
    const text = readFileSync(`${databasePath().replace(/\.db$/, "")}.listener.json`, "utf8")
    const { url, token } = JSON.parse(text) as { url?: unknown; token?: unknown }
    return typeof url === "string" && typeof token === "string" ? { url, token } : undefined
  } catch {
    return undefined
  }
}

/** As src/config.ts finds it; this folder lies in the data folder. */
function databasePath(): string {
  const { SIGNALBOX_DB: named = "", SIGNALBOX_ENV, SIGNALBOX_API_KEY: key = "" } = process.env
  if (named.trim() !== "") return named
  const keyed = /^signalbox_(live|test)_sk_/.exec(key)?.[1]
  return join(folder, "..", (keyed ?? SIGNALBOX_ENV) === "test" ? "signalbox.test.db" : "signalbox.db")
}

/** Asks the package itself, at the place that was recorded when the hook was installed. */
async function decideAlone(request: HookRequest): Promise<HookAnswer> {
  try {
    const place = readFileSync(join(folder, "package"), "utf8").trim()
    const entry = pathToFileURL(join(place, "dist", "hook-alone.js")).href
    const alone = (await import(entry)) as { decideAlone(request: HookRequest): Promise<HookAnswer> }
    return await alone.decideAlone(request)
  } catch {
    return letGo(
      "no listener answers, and the package is not where it was; `npx -y signalbox install` mends it",
    )
  }
}

function letGo(why: string): HookAnswer {
  return { exitCode: 0, stdout: "", stderr: `signalbox: not checked, the edit goes on: ${why}` }
}

function end({ exitCode, stdout, stderr }: HookAnswer): void {
  const line = (text: string) => (text === "" ? "" : `${text.trimEnd()}\n`)
  // Ended only once both are written: what a client reads must be whole, and stdin may never close.
  process.stdout.write(line(stdout), () => {
    process.stderr.write(line(stderr), () => process.exit(exitCode))
  })
}
