/**
 * The hook's Node form: for systems without a POSIX shell or curl, and for when no listener answers. It is
 * copied out of the package and imports nothing but Node. Usage: hook.cjs <client> <event>, payload on
 * stdin. Whatever goes wrong, the edit goes on, with one line on stderr.
 *
 * It runs before every edit, so what Node loads counts: a CommonJS file starts in four fifths of the time of
 * an ES module, and one request written on a bare socket spares Node's HTTP client.
 */

import { readFileSync } from "node:fs"
import { join } from "node:path"
import type { Readable } from "node:stream"
import { pathToFileURL } from "node:url"
import type { HookAnswer } from "./answer.ts"
import { callProven, readPass } from "./proven-call.ts"
import type { HookRequest } from "./request.ts"
import { HOOK_PATH, hookHeaders, readHookAnswer } from "./wire.ts"

/** Under the two seconds that a hook may take in all, the start of Node included. */
const DEADLINE_MS = 1_600
/** A stranger on the listener's port may take so much of it, and leaves enough to decide without it. */
const LISTENER_MS_MAX = 400
const PAYLOAD_BYTES_MAX = 16 * 1024 * 1024
/** What git takes for "stop" is also what Node ends a crash with, so a watched process says it by another code. */
const GIT_STOP = 1
const WATCHED_STOP = 2

/**
 * Set by what watches over this process, the shell form or another process of this one: the listener was
 * asked already, and this is the pid of what started the hook.
 */
const watchedParent = process.env.SIGNALBOX_HOOK_ALONE
const folder = __dirname

if (watchedParent === undefined) setTimeout(() => end(failOpen("there was no time to")), DEADLINE_MS)

decide().then(end, (error: unknown) => end(failOpen((error as Error).message)))

async function decide(): Promise<HookAnswer> {
  const payload = await readPayload()
  if (payload === undefined) return failOpen("its description is too long")
  const request = { ...surroundings(), payload }
  if (request.client === "codex" && request.event === "pre-edit" && isShellWithoutPatch(payload))
    return { exitCode: 0, stdout: "", stderr: "" }
  if (watchedParent !== undefined) return decideAlone(request)
  return (await askListener(request)) ?? decideWatched(request)
}

function surroundings(): Omit<HookRequest, "payload"> {
  const { env } = process
  // The last two, since `node -e` names no file before them.
  const [client = "", event = ""] = process.argv.slice(-2)
  const text = (...values: (string | undefined)[]) =>
    values.find((value) => value !== undefined && value !== "")
  // All that a client starts inherits its variable, another client too. Git runs below any of them.
  const inherited = Object.entries({
    "claude-code": env.CLAUDE_CODE_SESSION_ID,
    gemini: env.GEMINI_SESSION_ID,
  }).find(([owner, id]) => (client === owner || client === "git") && text(id) !== undefined)
  return {
    client,
    event,
    folder: workingFolder(),
    projectFolder: text(env.CLAUDE_PROJECT_DIR, env.DEVIN_PROJECT_DIR, env.GEMINI_PROJECT_DIR),
    parentPid: Number(watchedParent ?? process.ppid),
    namedSession: text(env.SIGNALBOX_SESSION),
    sessionId: inherited?.[1],
    sessionClient: inherited?.[0],
    agentName: text(env.SIGNALBOX_AGENT),
    projectKey: text(env.SIGNALBOX_PROJECT),
  }
}

/** As the shell form tells it: Codex asks before every command of its shell. */
function isShellWithoutPatch(payload: string): boolean {
  return payload.includes('"tool_name":"Bash"') && !payload.includes("*** Begin Patch")
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
async function askListener({ payload, ...rest }: HookRequest): Promise<HookAnswer | undefined> {
  const pass = readPass(databasePath())
  // A line break in a folder's name would make headers of its own.
  const isPlain = !Object.values(rest).some((value) => /\p{Cc}/u.test(String(value)))
  if (pass === undefined || !isPlain) return undefined
  const headers = { ...hookHeaders(rest), Authorization: `Bearer ${pass.token}` }
  const call = { method: "POST", path: HOOK_PATH, headers, body: Buffer.from(payload) } as const
  const answer = await callProven(pass, call, LISTENER_MS_MAX)
  return answer?.status === 200 ? readHookAnswer(answer.body) : undefined
}

/** As src/config/config.ts finds it; this folder lies in the data folder. */
function databasePath(): string {
  const { SIGNALBOX_DB: named = "", SIGNALBOX_ENV, SIGNALBOX_API_KEY: key = "" } = process.env
  if (named.trim() !== "") return named
  const keyed = /^signalbox_(live|test)_sk_/.exec(key)?.[1]
  return join(folder, "..", (keyed ?? SIGNALBOX_ENV) === "test" ? "signalbox.test.db" : "signalbox.db")
}

/**
 * Has another process of this file decide, which can be ended whatever it does: a loop or a read that is stuck
 * would stop any timer of its own.
 */
async function decideWatched({ payload, client, event, parentPid }: HookRequest): Promise<HookAnswer> {
  const { spawn } = await import("node:child_process")
  return new Promise((resolve) => {
    const env = { ...process.env, SIGNALBOX_HOOK_ALONE: String(parentPid), NODE_OPTIONS: "" }
    const child = spawn(process.execPath, [__filename, client, event], { env, windowsHide: true })
    process.once("exit", () => child.kill("SIGKILL"))
    const [stdout, stderr] = [textOf(child.stdout), textOf(child.stderr)]
    child.on("error", () => resolve(failOpen("node could not be started")))
    child.on("close", async (exitCode) => {
      // Only a decision may stop an edit, never a crash.
      const isDecision = exitCode === 0 || exitCode === WATCHED_STOP
      const stop = client === "git" ? GIT_STOP : WATCHED_STOP
      const texts = { stdout: await stdout, stderr: await stderr }
      resolve(
        isDecision
          ? { exitCode: exitCode === 0 ? 0 : stop, ...texts }
          : failOpen("no listener answered, and node failed"),
      )
    })
    child.stdin.on("error", () => {})
    child.stdin.end(payload)
  })
}

async function textOf(stream: Readable): Promise<string> {
  return (await stream.setEncoding("utf8").toArray()).join("")
}

/** Asks the package itself, at the place that was recorded when the hook was installed. */
async function decideAlone(request: HookRequest): Promise<HookAnswer> {
  try {
    const place = readFileSync(join(folder, "package"), "utf8").trim()
    const entry = pathToFileURL(join(place, "dist", "hook-alone.js")).href
    const alone = (await import(entry)) as { decideAlone(request: HookRequest): Promise<HookAnswer> }
    return await alone.decideAlone(request)
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException
    const cause = code ?? message.replace(/\s+/g, " ")
    const launcher = join(folder, "..", "bin", process.platform === "win32" ? "signalbox.cmd" : "signalbox")
    return failOpen(
      `no listener answers, and the package is not where it was (${cause}); \`"${launcher}" install\` mends it`,
    )
  }
}

function failOpen(why: string): HookAnswer {
  return { exitCode: 0, stdout: "", stderr: `signalbox: not checked, the edit goes on: ${why}` }
}

function end({ exitCode, stdout, stderr }: HookAnswer): void {
  const line = (text: string) => (text === "" ? "" : `${text.trimEnd()}\n`)
  // Ended only once both are written: what a client reads must be whole, and stdin may never close.
  process.stdout.write(line(stdout), () => {
    const isWatchedStop = watchedParent !== undefined && exitCode !== 0
    process.stderr.write(line(stderr), () => process.exit(isWatchedStop ? WATCHED_STOP : exitCode))
  })
}
