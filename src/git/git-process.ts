/**
 * Runs the user's own git, never by way of a shell. A repository's own configuration starts no program and no
 * variable of a surrounding git leads elsewhere; nothing is asked for on a terminal, and nothing but a clone
 * or a fetch goes to the network, partial clones included.
 */

import { type ChildProcess, execFile, spawn } from "node:child_process"
import { randomUUID } from "node:crypto"
import { resolve } from "node:path"
import { Readable } from "node:stream"
import { pipeline } from "node:stream/promises"
import type { GitCredentials } from "./address.ts"

const GIT_TIMEOUT_MS = 5_000
const SMALL_OUTPUT_BYTES_MAX = 16 * 1024 * 1024
/** What is kept of the error output; the reason stands at its start. */
const ERROR_CHARS_MAX = 16_384

const SETTINGS = [
  // A work tree can hold what looks like a bare repository, with settings that start programs.
  ...["-c", "safe.bareRepository=explicit"],
  ...["-c", "core.fsmonitor=false"],
  ...["-c", "core.hooksPath=/dev/null"],
  ...["-c", "core.quotePath=false"],
  // To show a signature starts the program that the repository names for it.
  ...["-c", "log.showSignature=false"],
]
/** A connection that brings less than a byte a second for so long is dead; servers that count send some. */
const NETWORK_SETTINGS = [
  ...["-c", "http.lowSpeedLimit=1"],
  ...["-c", "http.lowSpeedTime=120"],
  ...["-c", "gc.autoDetach=false"],
  ...["-c", "maintenance.autoDetach=false"],
]
/** What the user may have set for their own connections: a proxy's certificate, the way to a key. */
const NETWORK_VARIABLES =
  /^GIT_(SSH|SSH_COMMAND|SSH_VARIANT|ASKPASS|SSL_\w+|PROXY_SSL_\w+|HTTP_\w+|CONFIG_(GLOBAL|SYSTEM|NOSYSTEM))$/
/**
 * What GIT_ALLOW_PROTOCOL says where nothing may be fetched. Unlike the `protocol.*` settings, that variable
 * cannot be overruled by a configuration. This protocol is made up anew by each process: no repository can name it,
 * nor bring a `git-remote-*` for it. So no fetch gets through either that an old git, which does not know
 * GIT_NO_LAZY_FETCH, begins for a partial clone.
 */
export const NO_PROTOCOL = `refused-${randomUUID()}`
const PROTOCOLS = { here: NO_PROTOCOL, network: "https:ssh:file" }

/** A git that failed; the message is what it said first, without credentials. */
export class GitError extends Error {
  constructor(message: string) {
    super(withoutCredentials(message))
    this.name = "GitError"
  }
}

/** Where git works: in a folder, as if started there, or on a git directory, whatever is around it. */
export interface GitPlace {
  folder?: string | undefined
  gitFolder?: string | undefined
}

interface GitCall extends GitPlace {
  timeoutMs?: number | undefined
  signal?: AbortSignal | undefined
}

interface GitStream {
  gitFolder: string
  /** Written to git while its output is read, no faster than git takes it. */
  input?: Iterable<string> | AsyncIterable<string> | undefined
  signal?: AbortSignal | undefined
}

interface GitErrand extends GitPlace {
  /** Whether it may go to the network, by https, ssh and file only, with the user's own credentials. */
  reach: "here" | "network"
  input?: Iterable<string> | AsyncIterable<string> | undefined
  signal?: AbortSignal | undefined
  /** Told each line of progress, as git words it. */
  onProgress?: ((text: string) => void) | undefined
  /** Used in place of those that the user's own git finds, and kept by nothing that git starts. */
  credentials?: GitCredentials | undefined
}

/** Runs git for a small output; returns it trimmed, or undefined when git fails, is missing or takes 5 s. */
export async function runGit(args: readonly string[], call: GitCall = {}): Promise<string | undefined> {
  try {
    return await requireGit(args, call)
  } catch (error) {
    if (error instanceof GitError) return undefined
    throw error
  }
}

/**
 * Runs git for a small output, at most 16 MiB; returns it trimmed. Throws GitError when git fails, is missing
 * or takes longer than `timeoutMs` (5 s unless given), and the signal's reason when it aborts.
 */
export function requireGit(args: readonly string[], call: GitCall = {}): Promise<string> {
  const { timeoutMs = GIT_TIMEOUT_MS, signal } = call
  const options = { ...processOptions(call, "here"), timeout: timeoutMs, maxBuffer: SMALL_OUTPUT_BYTES_MAX }
  return new Promise((settle, reject) => {
    signal?.throwIfAborted()
    execFile("git", argumentsOf(args, call, "here"), { ...options, signal }, (error, stdout, stderr) => {
      if (error === null) settle(stdout.trim())
      else if (signal?.aborted) reject(signal.reason)
      else if (error.killed) reject(new GitError(`git ${args[0]} took longer than ${timeoutMs} ms`))
      else reject(new GitError(reasonIn(stderr) ?? error.message))
    })
  })
}

/**
 * Runs git on a git directory and gives its output in pieces as they come; git waits while they are not taken.
 *
 * Stopping early ends git. Throws GitError when git fails, the signal's reason when it aborts, and what
 * `input` throws.
 */
export async function* streamGit(
  args: readonly string[],
  { gitFolder, input, signal }: GitStream,
): AsyncGenerator<Buffer, void, undefined> {
  const running = start(args, { gitFolder, signal, reach: "here", input })
  let isRead = false
  try {
    // A git that could not be started has a broken output, of which `requireSuccess` knows the reason.
    if (running.output !== null) for await (const piece of running.output) yield piece as Buffer
    isRead = true
  } catch (error) {
    if (!running.hasFailedToStart()) throw error
  } finally {
    if (!isRead) running.stop()
    await running.ended
  }
  running.requireSuccess()
}

/**
 * Runs git for as long as it takes; returns the output, untrimmed. When the signal aborts, git and what it
 * started end before this throws. Throws as `streamGit` does.
 */
export async function callGit(args: readonly string[], errand: GitErrand): Promise<string> {
  const running = start(args, errand)
  const pieces: Buffer[] = []
  running.output?.on("data", (piece: Buffer) => pieces.push(piece))
  await running.ended
  running.requireSuccess()
  return Buffer.concat(pieces).toString("utf8")
}

/** Gives what stands before each NUL of a stream, in batches as they come, without copying. */
export async function* nulRecords(stream: AsyncIterable<Buffer>): AsyncGenerator<Buffer[], void, undefined> {
  let rest: Buffer = Buffer.alloc(0)
  for await (const piece of stream) {
    const bytes = rest.length === 0 ? piece : Buffer.concat([rest, piece])
    const records: Buffer[] = []
    let from = 0
    for (let end = bytes.indexOf(0); end >= 0; end = bytes.indexOf(0, from)) {
      records.push(bytes.subarray(from, end))
      from = end + 1
    }
    rest = bytes.subarray(from)
    if (records.length > 0) yield records
  }
  if (rest.length > 0) throw new GitError("git ended in the middle of a record")
}

/** Whether a text is the full name of an object, SHA-1 or SHA-256, and so nothing that git takes otherwise. */
export function isObjectName(text: string): boolean {
  return /^(?:[0-9a-f]{40}|[0-9a-f]{64})$/.test(text)
}

/** Returns an object name as it is. Throws GitError for any other text. */
export function requireObjectName(text: string): string {
  if (isObjectName(text)) return text
  throw new GitError(`'${text}' is not the full name of a git object`)
}

type Reach = GitErrand["reach"]

interface Running {
  output: Readable | null
  /** Settles when git has ended and its output is closed; never rejects. */
  ended: Promise<void>
  stop: () => void
  hasFailedToStart: () => boolean
  requireSuccess: () => void
}

function start(args: readonly string[], call: GitErrand): Running {
  const { reach, input, signal } = call
  signal?.throwIfAborted()
  // Without a terminal of its own to ask on, ssh fails where it would wait for an answer.
  const isDetached = reach === "network" && process.platform !== "win32"
  const { env, ...options } = processOptions(call, reach)
  const { settings, variables } = credentialSettings(call.credentials)
  const child = spawn("git", argumentsOf([...settings, ...args], call, reach), {
    ...options,
    env: { ...env, ...variables },
    detached: isDetached,
    stdio: [input === undefined ? "ignore" : "pipe", "pipe", "pipe"],
  })
  const stop = () => end(child, isDetached)
  signal?.addEventListener("abort", stop, { once: true })
  const errorOutput = readErrorOutput(child, call.onProgress)
  let startFailure: Error | undefined
  const source = input === undefined ? undefined : feed(child, input, stop)
  const ended = new Promise<void>((settle) => {
    child.once("error", (error) => {
      startFailure = error
      if (child.pid === undefined) settle()
    })
    child.once("close", () => settle())
  }).finally(() => signal?.removeEventListener("abort", stop))
  return {
    output: child.stdout,
    ended,
    stop,
    hasFailedToStart: () => startFailure !== undefined,
    requireSuccess: () => {
      signal?.throwIfAborted()
      if (source?.failed === true) throw source.failure
      if (startFailure !== undefined) throw new GitError(`git cannot be run: ${startFailure.message}`)
      if (child.exitCode === 0) return
      const how = child.signalCode === null ? `code ${child.exitCode}` : child.signalCode
      throw new GitError(reasonIn(errorOutput.text) ?? `git ${args[0]} ended with ${how}`)
    },
  }
}

/** Writes the input to git; what the input throws is kept, and that git reads no more is no failure. */
function feed(child: ChildProcess, input: Iterable<string> | AsyncIterable<string>, stop: () => void) {
  const source = { failed: false, failure: undefined as unknown }
  async function* watched() {
    try {
      yield* input
    } catch (error) {
      source.failed = true
      source.failure = error
      stop()
      throw error
    }
  }
  // A pipe that breaks is thrown into what feeds it, where it must not be taken for a failure of the input.
  async function* shielded() {
    for await (const piece of watched()) yield piece
  }
  // Also after the pipeline has given up, which is when it no longer listens itself.
  child.stdin?.on("error", () => {})
  if (child.stdin !== null) pipeline(Readable.from(shielded()), child.stdin).catch(() => {})
  return source
}

function end(child: ChildProcess, isGroup: boolean): void {
  try {
    // A clone's connection is a child of git's, which would live on.
    if (isGroup && child.pid !== undefined) process.kill(-child.pid, "SIGTERM")
    else child.kill()
  } catch {
    // It has just ended.
  }
}

function readErrorOutput(child: ChildProcess, onProgress?: (text: string) => void): { text: string } {
  const output = { text: "" }
  let unfinished = ""
  child.stderr?.setEncoding("utf8")
  child.stderr?.on("data", (piece: string) => {
    if (onProgress !== undefined) {
      const lines = (unfinished + piece).split(/[\r\n]/)
      unfinished = (lines.pop() ?? "").slice(-ERROR_CHARS_MAX)
      for (const line of lines) if (line.trim() !== "") onProgress(withoutCredentials(line.trim()))
    }
    // Progress comes first and in any number, and the reason after it.
    output.text = onProgress === undefined ? output.text + piece : withoutProgress(output.text + piece)
    output.text = output.text.slice(0, ERROR_CHARS_MAX)
  })
  return output
}

const PROGRESS =
  /^(?:remote: )?(?:Enumerating|Counting|Compressing|Receiving|Resolving|Unpacking|Total|From) /

function withoutProgress(text: string): string {
  const lines = text.split(/(?<=[\r\n])/)
  return lines.filter((line) => !(PROGRESS.test(line) && /[\r\n]$/.test(line))).join("")
}

/** The first line that says what went wrong. */
function reasonIn(errorOutput: string): string | undefined {
  const lines = errorOutput.split(/[\r\n]+/).map((line) => line.trim())
  return lines.find((line) => line !== "" && !PROGRESS.test(line) && !/^(?:warning|hint):/i.test(line))
}

/** Takes away what stands for a user before the host of an address: a name, a password, a token. */
export function withoutCredentials(text: string): string {
  return text.replace(/:\/\/[^/\s]*@/g, "://")
}

function argumentsOf(args: readonly string[], { folder, gitFolder }: GitPlace, reach: Reach): string[] {
  const place = folder === undefined ? [] : ["-C", folder]
  if (gitFolder !== undefined) place.push(`--git-dir=${resolve(gitFolder)}`)
  // A work tree that the settings name may be gone, and git would not start. To fetch, bare must stay bare.
  if (gitFolder !== undefined && reach === "here") place.push(`--work-tree=${resolve(gitFolder)}`)
  return [...place, ...SETTINGS, ...(reach === "network" ? NETWORK_SETTINGS : []), ...args]
}

/** Tells git what its standard input asked of a credential helper; the shell knows the rest from its variables. */
const CREDENTIAL_HELPER =
  '!f() { test "$1" != get || printf "username=%s\\npassword=%s\\n" "$SIGNALBOX_GIT_USERNAME" "$SIGNALBOX_GIT_PASSWORD"; }; f'

/**
 * What hands credentials to git, by variables, since everybody can list the arguments of a process. They are for one
 * origin, wherever it redirects to. A password switches the user's own helpers off, which would store it.
 */
function credentialSettings(credentials: GitCredentials | undefined): {
  settings: string[]
  variables: Record<string, string>
} {
  if (credentials === undefined) return { settings: [], variables: {} }
  const { origin, username, password } = credentials
  const section = `credential.${origin}`
  if (password !== undefined)
    return {
      settings: ["-c", `${section}.helper=`, "-c", `${section}.helper=${CREDENTIAL_HELPER}`],
      variables: { SIGNALBOX_GIT_USERNAME: username, SIGNALBOX_GIT_PASSWORD: password },
    }
  const setting = { GIT_CONFIG_COUNT: "1", GIT_CONFIG_KEY_0: `${section}.username` }
  return { settings: [], variables: { ...setting, GIT_CONFIG_VALUE_0: username } }
}

function processOptions({ gitFolder }: GitPlace, reach: Reach) {
  const isKept = (name: string) =>
    !/^GIT_/.test(name) || (reach === "network" && NETWORK_VARIABLES.test(name))
  const kept = Object.entries(process.env).filter(([name]) => isKept(name))
  const env: NodeJS.ProcessEnv = {
    ...Object.fromEntries(kept),
    LC_ALL: "C",
    GIT_TERMINAL_PROMPT: "0",
    GIT_OPTIONAL_LOCKS: "0",
    GIT_NO_LAZY_FETCH: "1",
    GIT_ALLOW_PROTOCOL: PROTOCOLS[reach],
  }
  // The folder that this process was started in may be gone.
  return { env, windowsHide: true, ...(gitFolder === undefined ? {} : { cwd: resolve(gitFolder) }) }
}
