/**
 * The hook as coding agents start it: a process group of its own with a payload on stdin, in front of a
 * repository in which a real server's agent holds files. Every run also checks that nothing outlives it.
 */

import { execFileSync, spawn } from "node:child_process"
import {
  copyFileSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  symlinkSync,
  writeFileSync,
} from "node:fs"
import { join } from "node:path"
import { expect, vi } from "vitest"
import type { ClientName, HookEvent } from "../../src/hook/client-names.ts"
import { shellCommand } from "../../src/hook/command.ts"
import { hookFolder, placeHookFiles } from "../../src/hook/files.ts"
import { type ListenerRecord, readListenerRecord } from "../../src/http/listener-files.ts"
import { type Golden, type GoldenPlace, type HookEnding, payloadIn } from "./golden-payloads.ts"
import { sendTo } from "./http.ts"
import { environment, type Place, type RegisteredAgent, ServerProcess } from "./server-process.ts"
import { numberAfter } from "./world.ts"

/** Far beyond the two seconds that a hook has; one that takes longer is killed, and the test sees it. */
const HOOK_MS_MAX = 10_000
const LISTENER_MS_MAX = 10_000

/**
 * `command` is the line in a client's settings; the others are the files that it leads to, the shell form
 * with the means that it finds here (bash), and with curl alone.
 */
export const HOOK_FORMS = ["command", "shell", "curl", "node"] as const
export type HookForm = (typeof HOOK_FORMS)[number]

export interface HookRun {
  form?: HookForm
  client?: ClientName | "git"
  event?: HookEvent | "pre-commit"
  payload: string | Buffer
  /** Leaves stdin open after the payload. */
  keepsStdinOpen?: boolean
  /** The folder that the hook is started in; the repository unless given. */
  folder?: string
  env?: Record<string, string>
  /** The one folder in which the hook looks for programs, see `pathOf`; that Node was recorded it does not know. */
  path?: string
  /** A shell command that ends in `exec "$@"`, run in front of the hook. */
  shell?: string
}

export const SILENT: HookEnding = { exitCode: 0, stdout: "", stderr: "" }

/** Runs the hook to its end; fails when any of its processes outlives it. */
export async function runHook(where: Place, run: HookRun): Promise<HookEnding> {
  const command = commandOf(where, run)
  const [file = "", ...args] =
    run.shell === undefined ? command : ["/bin/sh", "-c", run.shell, "sh", ...command]
  const child = spawn(file, args, {
    cwd: run.folder ?? where.repository,
    env: environment(where, {
      ...(run.form === "curl" && { SIGNALBOX_HOOK_BASH: "no" }),
      ...(run.path && { XDG_DATA_HOME: shareWith(where, run.path), SIGNALBOX_DB: where.databasePath }),
      ...run.env,
    }),
    stdio: ["pipe", "pipe", "pipe"],
    detached: true,
  })
  const group = child.pid
  if (group === undefined) throw new Error("the hook was not spawned")
  // A hook may end without having read all of its payload.
  child.stdin.on("error", () => {})
  if (run.keepsStdinOpen === true) child.stdin.write(run.payload)
  else child.stdin.end(run.payload)
  const alarm = setTimeout(() => process.kill(-group, "SIGKILL"), HOOK_MS_MAX)
  const [exitCode, stdout, stderr] = await Promise.all([
    new Promise<number | null>((resolve) => child.once("close", resolve)),
    child.stdout.setEncoding("utf8").toArray(),
    child.stderr.setEncoding("utf8").toArray(),
  ])
  clearTimeout(alarm)
  child.stdin.destroy()
  await expectNothingLeft(group)
  return { exitCode, stdout: stdout.join(""), stderr: stderr.join("") }
}

async function expectNothingLeft(group: number): Promise<void> {
  try {
    // What was told to end may need a moment to do so.
    await vi.waitFor(() => expect(processesOf(group), "what the hook left behind").toEqual([]), {
      timeout: HOOK_MS_MAX,
      interval: 10,
    })
  } catch (error) {
    process.kill(-group, "SIGKILL")
    throw error
  }
}

function commandOf(
  where: Place,
  { form = "command", client = "claude-code", event = "pre-edit", path }: HookRun,
) {
  const folder = hookFolder(path === undefined ? where.dataFolder : join(shareWith(where, path), "signalbox"))
  switch (form) {
    case "command":
      return ["/bin/sh", "-c", shellCommand(client, event)]
    case "shell":
    case "curl":
      return ["/bin/sh", join(folder, "hook.sh"), client, event]
    case "node":
      return [process.execPath, join(folder, "hook.cjs"), client, event]
  }
}

/** Returns the command lines of a process group's living members. */
function processesOf(group: number): string[] {
  try {
    process.kill(-group, 0)
  } catch {
    return []
  }
  // Dead processes whose parent has not waited for them yet count as members, too.
  return execFileSync("ps", ["-A", "-o", "pgid=,stat=,args="], { encoding: "utf8" })
    .split("\n")
    .map((line) => line.trim().split(/\s+/))
    .filter(([pgid, state = ""]) => Number(pgid) === group && !state.startsWith("Z"))
    .map(([, , ...command]) => command.join(" "))
}

/** Returns a folder with copies of the installed hook that look for programs in another one alone. */
function shareWith(where: Place, path: string): string {
  const share = `${path}-share`
  const [from, to] = [hookFolder(where.dataFolder), hookFolder(join(share, "signalbox"))]
  mkdirSync(to, { recursive: true })
  const shell = readFileSync(join(from, "hook.sh"), "utf8")
  const changed = shell.replace(/^PATH=.*$/m, () => `PATH='${path}'`)
  expect(changed).not.toBe(shell)
  const files = readdirSync(from).filter((name) => name !== "node")
  for (const name of files) {
    // In one step, as another run of the test may be reading it.
    const draft = join(to, `${name}.${process.hrtime.bigint()}`)
    if (name === "hook.sh") writeFileSync(draft, changed)
    else copyFileSync(join(from, name), draft)
    renameSync(draft, join(to, name))
  }
  return share
}

/** Returns a folder, for the `path` of a run, in which nothing but the named programs is found. */
export function pathOf(where: Place, ...programs: string[]): string {
  const folder = join(where.home, `path-${programs.join("-")}`)
  mkdirSync(folder, { recursive: true })
  for (const program of programs) {
    const found = execFileSync("/bin/sh", ["-c", `command -v ${program}`], { encoding: "utf8" }).trim()
    try {
      symlinkSync(found, join(folder, program))
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error
    }
  }
  return folder
}

/** Returns the payload of an edit in Claude Code's dialect; `file` is relative to the repository's root. */
export function editOf(
  where: Place,
  file: string,
  { session = "session-b", content = "const limit = 10" } = {},
): string {
  return JSON.stringify({
    session_id: session,
    cwd: where.repository,
    hook_event_name: "PreToolUse",
    tool_name: "Write",
    tool_input: { content, file_path: join(where.repository, file) },
  })
}

/** Returns the run of a golden payload in a repository; `files` stands in the place of the folder `src/auth`. */
export function runOf(
  where: Place,
  golden: Golden,
  place: GoldenPlace = {},
): HookRun & { env: Record<string, string> } {
  const { client, event, surroundings } = golden
  return {
    client,
    event,
    payload: payloadIn(where.repository, golden, place),
    // Only some clients start the hook in the project.
    folder: surroundings?.folder === undefined ? where.home : where.repository,
    env: surroundings?.projectFolder === undefined ? {} : { CLAUDE_PROJECT_DIR: where.repository },
  }
}

/** An agent behind a server, and what the hook needs beside it. */
export interface Holder {
  server: ServerProcess
  agent: RegisteredAgent
}

/** What every server gets: a port of its own, and no limits. */
export const SERVER_ENV = { SIGNALBOX_PORT: "0", SIGNALBOX_LIMITS: "off", SIGNALBOX_LOG: "warn" }

/** Installs the hook, and starts a server whose agent holds `src/auth/**` exclusively and which listens. */
export async function holderAt(where: Place, nameHint = "Ada", session = "session-a"): Promise<Holder> {
  placeHookFiles(where.dataFolder)
  const server = await ServerProcess.start(where, { env: { ...SERVER_ENV, SIGNALBOX_SESSION: session } })
  const agent = await server.register(nameHint)
  const holder = { server, agent }
  await reserve(holder, "src/auth/**")
  await listenerAt(where)
  return holder
}

/** Reserves a pattern exclusively; returns the reservation's id. */
export async function reserve(
  { server, agent }: Holder,
  pattern: string,
  more: object = {},
): Promise<number> {
  const text = await server.call("reserve-file-paths", {
    agent_id: agent.id,
    repository_id: agent.repositoryId,
    coordination_project_id: agent.projectId,
    path_pattern: pattern,
    ...more,
  })
  return numberAfter(text, "Reservation id")
}

/** Returns who holds what in the project, as its tool tells: patterns with the names of their agents. */
export async function reservationsOf({ server, agent }: Holder, pattern = ""): Promise<Map<string, string>> {
  const text = await server.call("list-file-reservations", {
    coordination_project_id: agent.projectId,
    ...(pattern === "" ? {} : { path_pattern: pattern }),
  })
  const found = text.matchAll(/^### (.*)\nReservation id: \d+\nAgent: (\S+)/gm)
  return new Map([...found].map(([, held = "", name = ""]) => [held, name]))
}

/** Waits until a listener answers; `isWanted` chooses among processes. */
export function listenerAt(
  where: Place,
  isWanted: (pid: number) => boolean = () => true,
): Promise<ListenerRecord> {
  return vi.waitFor(
    async () => {
      const record = readListenerRecord(where.databasePath)
      if (record === undefined || !isWanted(record.pid)) throw new Error("nobody listens yet")
      const { port, host } = new URL(record.url)
      const { status } = await sendTo(Number(port), "/healthz", "GET", { host })
      if (status !== 200) throw new Error(`the listener answers with ${status}`)
      return record
    },
    { timeout: LISTENER_MS_MAX, interval: 10 },
  )
}

/** Fails unless the edit went on, with one line that says why it was not checked, or what is wrong. */
export function expectOneLine({ exitCode, stdout, stderr }: HookEnding, cause: RegExp): void {
  expect({ exitCode, stdout }, stderr).toEqual({ exitCode: 0, stdout: "" })
  expect(stderr).toMatch(cause)
  expect(stderr.match(/\n/g), "one line").toHaveLength(1)
}
