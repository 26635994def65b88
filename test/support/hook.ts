/**
 * The hook as its tests call it: in the test's own process, with what a client would write on stdin, and
 * with real client processes where sessions are told apart by them.
 */

import { execFileSync, spawn } from "node:child_process"
import { once } from "node:events"
import { mkdirSync, writeFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { Client } from "@modelcontextprotocol/client"
import { InMemoryTransport } from "@modelcontextprotocol/server"
import { expect, onTestFinished } from "vitest"
import { openApp } from "../../src/app.ts"
import { readConfig } from "../../src/config/config.ts"
import { modeOf } from "../../src/domain/coordination/reservation.ts"
import type { HookAnswer } from "../../src/hook/answer.ts"
import { answerHook } from "../../src/hook/decide.ts"
import type { HookRequest } from "../../src/hook/request.ts"
import { createServer } from "../../src/mcp/server.ts"
import type { App } from "../../src/operations/app.ts"
import { OPERATIONS } from "../../src/operations/index.ts"
import { localKey } from "../../src/operations/keys.ts"
import type { CallContext } from "../../src/operations/operation.ts"
import { RESOURCES } from "../../src/resources/index.ts"
import { createLog } from "../../src/runtime/log.ts"
import { clientProcessesAbove } from "../../src/runtime/process-ancestry.ts"
import { listReservationsIn } from "../../src/store/coordination/reservations.ts"
import { BUILTIN } from "./builtin.ts"
import { Session, type TestAgent, type World } from "./world.ts"

/** An answer that says nothing and lets the client go on. */
export const ALLOWED: HookAnswer = { exitCode: 0, stdout: "", stderr: "" }

interface HookOptions extends Partial<Omit<HookRequest, "payload">> {
  /** The id of the client's session in the payload, "b" by default; null for a payload without one. */
  session?: string | null
  /** Further fields of the payload. */
  fields?: object
}

/** Returns the context of a call with the local key, as the listener makes one. */
export async function contextOf(app: App): Promise<CallContext> {
  const key = await localKey(app)
  const caller = {
    surface: "http",
    key,
    session: undefined,
    folder: undefined,
    homeRepository: undefined,
  } as const
  return { app, caller, key, nowMs: app.now() }
}

/** Runs the hook with a payload as it is; by default that of Claude Code in the world's repository. */
export async function runHook(
  made: World,
  app: App,
  payload: string,
  request: Partial<Omit<HookRequest, "payload">> = {},
): Promise<HookAnswer> {
  return answerHook(await contextOf(app), {
    client: "claude-code",
    event: "pre-edit",
    folder: made.repositoryPath,
    ...request,
    payload,
  })
}

/** Runs the hook before an edit of files, given relative to the repository or absolute. */
export function edit(
  made: World,
  app: App,
  files: string | readonly string[],
  { session = "b", fields = {}, ...request }: HookOptions = {},
): Promise<HookAnswer> {
  const edits = [files].flat().map((file) => ({ file_path: file, old_string: "a", new_string: "b" }))
  const payload = {
    ...(session === null ? {} : { session_id: session }),
    cwd: request.folder ?? made.repositoryPath,
    hook_event_name: "PreToolUse",
    tool_name: "MultiEdit",
    tool_input: { edits },
    ...fields,
  }
  return runHook(made, app, JSON.stringify(payload), request)
}

const EVENT_NAMES = {
  "session-start": "SessionStart",
  "session-end": "SessionEnd",
  mail: "PostToolUse",
  "turn-end": "Stop",
}

/** Runs the hook at a session's start or end, where mail may be told, or at the end of a turn. */
export function sessionEvent(
  made: World,
  app: App,
  event: keyof typeof EVENT_NAMES,
  { session = "b", fields = {}, ...request }: HookOptions = {},
): Promise<HookAnswer> {
  const payload = {
    ...(session === null ? {} : { session_id: session }),
    cwd: request.folder ?? made.repositoryPath,
    hook_event_name: EVENT_NAMES[event],
    ...fields,
  }
  return runHook(made, app, JSON.stringify(payload), { ...request, event })
}

/** Returns what an answer tells the model of Claude Code; empty when it tells nothing. */
export function toldBy({ exitCode, stdout }: HookAnswer): string {
  expect(exitCode).toBe(0)
  if (stdout === "") return ""
  const { hookSpecificOutput } = JSON.parse(stdout) as { hookSpecificOutput: { additionalContext: string } }
  return hookSpecificOutput.additionalContext
}

/** Returns the agent that a session start introduced. */
export function introducedBy(answer: HookAnswer): { name: string; id: number; projectId: number } {
  const [, name = "", id, projectId] =
    /you are (\S+) \(agent id (\d+), project id (\d+),/.exec(toldBy(answer)) ?? []
  expect(name, `an introduction in ${answer.stdout}`).not.toBe("")
  return { name, id: Number(id), projectId: Number(projectId) }
}

/** Reserves a pattern through the tool, exclusively and for an hour unless something else is asked for. */
export function reserve(agent: TestAgent, pattern: string, args: object = {}): Promise<string> {
  return agent.session.call("reserve-file-paths", {
    agent_id: agent.id,
    repository_id: agent.repositoryId,
    coordination_project_id: agent.projectId,
    path_pattern: pattern,
    ...args,
  })
}

/** Returns all that is held in a repository as `<pattern> <mode> <seconds left>`, oldest first. */
export async function heldIn(app: App, repositoryId = 1): Promise<string[]> {
  const nowMs = app.now()
  const held = await listReservationsIn(app.db, repositoryId, nowMs, 1_000)
  return held.map(
    (reservation) =>
      `${reservation.pathPattern} ${modeOf(reservation)} ${(reservation.expiresAtMs - nowMs) / 1_000}`,
  )
}

/** Writes the user's own settings of the hook. */
export function configure(made: World, preEdit: object, further: object = {}): void {
  const hooks = { preEdit, ...further }
  writeFile(join(made.folder, ".config", "signalbox", "config.json"), JSON.stringify({ hooks }))
}

/** Writes the project's settings of the hook. */
export function configureProject(made: World, preEdit: object, further: object = {}): void {
  writeFile(join(made.repositoryPath, ".signalbox.json"), JSON.stringify({ hooks: { preEdit, ...further } }))
}

/** Writes a file and the folders that it lies in. */
export function writeFile(path: string, content = "x\n"): void {
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(path, content)
}

/** Runs git in a folder as somebody with a name; returns what it prints. */
export function git(folder: string, ...args: readonly string[]): string {
  const someone = ["-c", "user.name=Test", "-c", "user.email=test@example.com"]
  return execFileSync("git", ["-C", folder, ...someone, ...args], { encoding: "utf8" })
}

/** Commits everything in a repository, if only to have a commit. */
export function commitAll(folder: string): void {
  git(folder, "add", "--all")
  git(folder, "commit", "--quiet", "--allow-empty", "--no-verify", "--message", "All")
}

/** A process that goes by a client's name. */
export interface ClientProcess {
  pid: number
  /** Its name among anchors, as a server below it would be given it. */
  anchors: string[]
}

/** Starts a process under a client's name; it ends with the test. Not on Windows. */
export async function clientProcess(name: string): Promise<ClientProcess> {
  const child = spawn("sleep", ["600"], { argv0: name, stdio: "ignore" })
  onTestFinished(() => {
    child.kill("SIGKILL")
  })
  await once(child, "spawn")
  const { pid } = child
  if (pid === undefined) throw new Error(`no process for ${name}`)
  const names = new Set([name])
  // Between fork and exec it still bears the name of this process.
  await expect.poll(() => clientProcessesAbove(pid, names)).not.toEqual([])
  return { pid, anchors: clientProcessesAbove(pid, names).map(({ anchor }) => anchor) }
}

/**
 * Opens a server below client processes; without a name it was told no session id. All that were told
 * none are one session here, since a process without an id is its own.
 */
export async function serverBelow(
  made: World,
  clientProcesses: readonly string[],
  name?: string,
): Promise<Session> {
  const config = readConfig({
    env: { SIGNALBOX_DB: made.databasePath, SIGNALBOX_SESSION: name, SIGNALBOX_LIMITS: "off" },
    home: made.folder,
    workingFolder: made.repositoryPath,
  })
  const log = createLog("error", (line) => made.logged.push(line))
  const call = await openApp(config, { log, now: () => made.nowMs, clientProcesses, builtin: BUILTIN })
  const catalogues = { operations: OPERATIONS, resources: RESOURCES }
  const server = createServer({
    ...catalogues,
    instructions: "",
    version: "0.0.0-test",
    log,
    call: async () => call,
  })
  const client = new Client({ name: "test", version: "1.0.0" })
  const [ours, theirs] = InMemoryTransport.createLinkedPair()
  await Promise.all([server.connect(ours), client.connect(theirs)])
  const session = new Session(call, client)
  onTestFinished(() => session.close())
  return session
}
