/** Commands run within the test: their configuration, and what they print. */

import { expect, onTestFinished } from "vitest"
import { openApp } from "../../src/app.ts"
import { type Config, readConfig } from "../../src/config/config.ts"
import type { Agent } from "../../src/domain/coordination/agent.ts"
import { AppError } from "../../src/errors.ts"
import type { App } from "../../src/operations/app.ts"
import { commandCall } from "../../src/operations/caller.ts"
import { register } from "../../src/operations/coordination/agents.ts"
import { repositoryAround } from "../../src/operations/coordination/locations.ts"
import { localKey } from "../../src/operations/keys.ts"
import { createLog } from "../../src/runtime/log.ts"
import { BUILTIN } from "../support/builtin.ts"
import { type World, world } from "../support/world.ts"

/** Makes a world in the present: commands read the real clock. */
export function presentWorld(): World {
  const made = world()
  made.nowMs = Date.now()
  return made
}

export interface CommandSurroundings {
  env?: Record<string, string>
  folder?: string
}

/** Returns the configuration of a command that is run in a world, by default by a person at its root. */
export function configIn(where: World, { env, folder }: CommandSurroundings = {}): Config {
  return readConfig({
    env: {
      SIGNALBOX_DB: where.databasePath,
      SIGNALBOX_LOG: "silent",
      XDG_DATA_HOME: `${where.folder}/share`,
      ...env,
    },
    home: where.folder,
    platform: "linux",
    workingFolder: folder ?? where.repositoryPath,
  })
}

export interface Ran {
  out: string
  error: AppError | undefined
}

/** Runs a command; returns what it printed, and the error that it failed with. Defects are thrown. */
export async function run(work: () => Promise<void>): Promise<Ran> {
  let out = ""
  const { write } = process.stdout
  process.stdout.write = ((text: string) => {
    out += text
    return true
  }) as typeof process.stdout.write
  try {
    await work()
    return { out, error: undefined }
  } catch (error) {
    if (!(error instanceof AppError)) throw error
    return { out, error }
  } finally {
    process.stdout.write = write
  }
}

/** Runs a command that must succeed and print JSON. */
export async function runJson<T>(work: () => Promise<void>): Promise<T> {
  const { out, error } = await run(work)
  if (error !== undefined) throw error
  return JSON.parse(out) as T
}

/** Opens the server of a coding agent's session, until the test ends. */
export async function server(where: World, session: string): Promise<App> {
  const config = configIn(where, { env: { SIGNALBOX_SESSION: session, SIGNALBOX_LIMITS: "off" } })
  // The processes around the test are no clients of it, whatever they are called.
  const options = { log: createLog("silent"), now: () => where.nowMs, clientProcesses: [], builtin: BUILTIN }
  const { app } = await openApp(config, options)
  onTestFinished(() => app.close())
  return app
}

/** Registers an agent in a session, by default in the project "demo". */
export async function agentOf(app: App, name: string, project = "demo"): Promise<Agent> {
  const { caller } = commandCall(app)
  const homeRepository = await repositoryAround(app, caller.folder)
  const context = {
    app,
    caller: { ...caller, homeRepository },
    key: await localKey(app),
    nowMs: app.now(),
  }
  const identity = { project_key: project, program: "test-program", model: "test-model", name_hint: name }
  return (await register(context, identity, { reserves: false })).agent
}

/** What a reservation looks like as JSON. */
export interface Shown {
  id: number
  path_pattern: string
  mode: string
  agent_name: string
  seconds_left: number
  reason: string | null
}

/** Runs a command that must fail with a code; returns its text. */
export async function refusal(code: string, work: () => Promise<void>): Promise<string> {
  const { error } = await run(work)
  expect(error?.code, error?.text).toBe(code)
  return error?.text ?? ""
}

/** Keeps what commands say beside their results, until the test ends. */
export function listenToStderr(): { text: string } {
  const said = { text: "" }
  const { write } = process.stderr
  process.stderr.write = ((part: string) => {
    said.text += part
    return true
  }) as typeof process.stderr.write
  onTestFinished(() => {
    process.stderr.write = write
  })
  return said
}
