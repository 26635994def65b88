/**
 * Every setting: where it comes from, its default and one sentence about it. Settings are read from
 * the environment and from the user's config file, and nowhere else.
 */

import { readFileSync, statSync } from "node:fs"
import { homedir } from "node:os"
import { join, resolve } from "node:path"
import { ENVIRONMENTS, type Environment, environmentOf } from "../domain/api-key.ts"
import { type HalfLives, SECTORS } from "../domain/memory/memory.ts"
import { AppError } from "../errors.ts"
import type { LogLevel } from "../runtime/log.ts"
import {
  CONFIG_BYTES_MAX,
  EVENT_KEEP_DAYS_DEFAULT,
  EVENT_KEEP_DAYS_MAX,
  HALF_LIFE_DAYS_DEFAULT,
  HALF_LIFE_DAYS_MAX,
  IGNORED_DOCUMENTS_DEFAULT,
  LISTENER_PORT_DEFAULT,
  PORT_MAX,
  RATES_DEFAULT,
  type Rates,
} from "./limits.ts"

/** Documentation of the environment variables, in the order in which docs/settings.md shows them. */
export const ENVIRONMENT_VARIABLES = [
  ["SIGNALBOX_DB", "the database file", "`signalbox.db` in the platform's data folder"],
  [
    "SIGNALBOX_ENV",
    "`live` or `test`: which database and which keys count; the prefix of a configured key wins",
    "`live`",
  ],
  [
    "SIGNALBOX_API_KEY",
    "the key of this server; when set, it alone counts and its scopes are enforced",
    "a local key with all scopes, made on first use",
  ],
  [
    "SIGNALBOX_PROJECT",
    "the project key that the server's instructions name",
    "the work tree around the current folder",
  ],
  ["SIGNALBOX_PROGRAM", "the program name that the server's instructions name", "none"],
  ["SIGNALBOX_MODEL", "the model name that the server's instructions name", "none"],
  [
    "SIGNALBOX_SESSION",
    "names the client's session, where the client itself passes no id on (Claude Code and Gemini CLI do)",
    "the server process",
  ],
  [
    "SIGNALBOX_AGENT",
    "the name of the agent that the command line and the git hooks act for",
    "the agent of the session",
  ],
  ["SIGNALBOX_PORT", "the port of the HTTP listener; the next free one when it is taken", "`4747`"],
  ["SIGNALBOX_LIMITS", "`off` switches every rate limit off, for load tests", "on"],
  [
    "SIGNALBOX_LOG",
    "least severe log line on stderr: `debug`, `info`, `warn`, `error` or `silent`",
    "`info`",
  ],
] as const

/** Environment variables in which clients tell the id of their session, and all that they start inherits. */
const SESSION_VARIABLES = [
  ["claude-code", "CLAUDE_CODE_SESSION_ID"],
  ["gemini", "GEMINI_SESSION_ID"],
] as const

export interface Config {
  databasePath: string
  /** Where the database lies unless it is named, and the hook always. */
  dataFolder: string
  /** The user's own config file, whether it exists or not. */
  userConfigPath: string
  environment: Environment
  /** The configured key; undefined when none is set, which is not the same as an empty one. */
  apiKey: string | undefined
  project: string | undefined
  program: string | undefined
  model: string | undefined
  /** The agent that commands and git hooks act for. */
  agent: string | undefined
  /** The port that the listener asks for first. */
  port: number
  /** SIGNALBOX_SESSION: names the session, whatever else is known of it. */
  namedSession: string | undefined
  /** What clients tell of their sessions; which of them runs this process, the processes above tell. */
  inheritedSessions: readonly { client: string; id: string }[]
  /** Whether an agent acts in its own session only, or in any: for one program that speaks for many agents. */
  identity: "session" | "open"
  rates: Rates
  /** How fast memories fade. */
  halfLives: HalfLives
  /** Days after which events are pruned. */
  eventKeepDays: number
  /** Globs of files and folders that are never read as documentation. */
  ignoredDocuments: readonly string[]
  /** Hosts, in lower case, of which agents may connect repositories by themselves; with a port where it is unusual. */
  documentationHosts: readonly string[]
  /** What in the user's config file was not understood; the default holds there. */
  warnings: string[]
  logLevel: LogLevel
  /** The folder the process was started in. */
  workingFolder: string
}

interface ConfigSources {
  env: Record<string, string | undefined>
  workingFolder: string
  platform?: NodeJS.Platform
  home?: string
  /** `--db`, which wins over SIGNALBOX_DB. */
  databasePath?: string | undefined
}

/** Reads the configuration; fails with `invalid` and the name of the setting at fault. */
export function readConfig(sources: ConfigSources): Config {
  const { env } = sources
  const home = sources.home ?? homedir()
  const platform = sources.platform ?? process.platform
  const apiKey = env.SIGNALBOX_API_KEY
  const environment = environmentOf(apiKey ?? "") ?? readChoice(env, "SIGNALBOX_ENV", ENVIRONMENTS, "live")
  const fileName = environment === "live" ? "signalbox.db" : "signalbox.test.db"
  const warnings: string[] = []
  const folder = dataFolderIn(sources)
  const userConfigPath = configFile(env, platform, home)
  const file = readUserConfig(userConfigPath, warnings)
  return {
    databasePath: resolve(
      sources.workingFolder,
      sources.databasePath ?? filled(env.SIGNALBOX_DB) ?? join(folder, fileName),
    ),
    dataFolder: folder,
    userConfigPath,
    environment,
    apiKey,
    project: filled(env.SIGNALBOX_PROJECT),
    program: filled(env.SIGNALBOX_PROGRAM),
    model: filled(env.SIGNALBOX_MODEL),
    agent: filled(env.SIGNALBOX_AGENT),
    port: readPort(filled(env.SIGNALBOX_PORT)),
    namedSession: filled(env.SIGNALBOX_SESSION),
    inheritedSessions: SESSION_VARIABLES.flatMap(([client, name]) => {
      const id = filled(env[name])
      return id === undefined ? [] : [{ client, id }]
    }),
    identity: readIdentity(file, warnings),
    rates: readRates(env, file, warnings),
    halfLives: readHalfLives(file, warnings),
    eventKeepDays: readEventKeepDays(file, warnings),
    ...readDocumentation(file, warnings),
    warnings,
    logLevel: readChoice(env, "SIGNALBOX_LOG", ["debug", "info", "warn", "error", "silent"], "info"),
    workingFolder: sources.workingFolder,
  }
}

/** Returns the platform's folder for our data, as an absolute path, whether it exists or not. */
export function dataFolderIn({ env, workingFolder, ...sources }: ConfigSources): string {
  const platform = sources.platform ?? process.platform
  return resolve(workingFolder, dataFolder(env, platform, sources.home ?? homedir()))
}

function filled(value: string | undefined): string | undefined {
  return value === undefined || value.trim() === "" ? undefined : value
}

function readPort(text: string | undefined): number {
  if (text === undefined) return LISTENER_PORT_DEFAULT
  if (/^\d{1,5}$/.test(text) && Number(text) <= PORT_MAX) return Number(text)
  throw new AppError("invalid", `SIGNALBOX_PORT must be a port, 0 to ${PORT_MAX} (got "${text}")`, {
    field: "SIGNALBOX_PORT",
  })
}

function readChoice<T extends string>(
  env: ConfigSources["env"],
  name: string,
  allowed: readonly T[],
  otherwise: NoInfer<T>,
): T {
  const value = filled(env[name])
  if (value === undefined) return otherwise
  const choice = allowed.find((candidate) => candidate === value)
  if (choice === undefined) {
    throw new AppError("invalid", `${name} must be one of: ${allowed.join(", ")} (got "${value}")`, {
      field: name,
    })
  }
  return choice
}

function dataFolder(env: ConfigSources["env"], platform: NodeJS.Platform, home: string): string {
  if (platform === "darwin") return join(home, "Library", "Application Support", "signalbox")
  if (platform === "win32")
    return join(filled(env.LOCALAPPDATA) ?? join(home, "AppData", "Local"), "signalbox")
  return join(filled(env.XDG_DATA_HOME) ?? join(home, ".local", "share"), "signalbox")
}

function configFile(env: ConfigSources["env"], platform: NodeJS.Platform, home: string): string {
  if (platform === "win32")
    return join(filled(env.APPDATA) ?? join(home, "AppData", "Roaming"), "signalbox", "config.json")
  return join(filled(env.XDG_CONFIG_HOME) ?? join(home, ".config"), "signalbox", "config.json")
}

/** The user's config file: its path for warnings, and what it holds, nothing where it is missing or broken. */
interface UserConfig {
  path: string
  content: Record<string, unknown>
}

function readUserConfig(path: string, warnings: string[]): UserConfig {
  const nothing = { path, content: {} }
  const found = statSync(path, { throwIfNoEntry: false })
  if (found === undefined) return nothing
  if (!found.isFile() || found.size > CONFIG_BYTES_MAX) {
    warnings.push(`${path} must be a file of at most ${CONFIG_BYTES_MAX} bytes; the defaults hold`)
    return nothing
  }
  try {
    const parsed: unknown = JSON.parse(readFileSync(path, "utf8").replace(/^\uFEFF/, ""))
    if (typeof parsed === "object" && parsed !== null && !Array.isArray(parsed))
      return { path, content: parsed as Record<string, unknown> }
    if (parsed !== null) warnings.push(`${path} must hold a JSON object; the defaults hold`)
    return nothing
  } catch (error) {
    warnings.push(`${path} cannot be read as JSON, the defaults hold: ${(error as Error).message}`)
    return nothing
  }
}

/** Returns the entries of an object in the config file; what is no object is warned of. */
function entriesOf(value: unknown, name: string, path: string, warnings: string[]): [string, unknown][] {
  if (value === undefined || value === null) return []
  if (typeof value === "object" && !Array.isArray(value)) return Object.entries(value)
  warnings.push(`${path}: ${name} must be an object; the defaults hold`)
  return []
}

function readIdentity({ path, content }: UserConfig, warnings: string[]): Config["identity"] {
  const { identity } = content
  if (identity === "open" || identity === "session") return identity
  if (identity !== undefined && identity !== null)
    warnings.push(`${path}: identity must be "open" or "session"; the default, "session", holds`)
  return "session"
}

function readRates(env: ConfigSources["env"], { path, content }: UserConfig, warnings: string[]): Rates {
  if (readChoice(env, "SIGNALBOX_LIMITS", ["on", "off"], "on") === "off") {
    return Object.fromEntries(Object.keys(RATES_DEFAULT).map((name) => [name, 0])) as Rates
  }
  const rates = { ...RATES_DEFAULT }
  for (const [name, value] of entriesOf(content.limits, "limits", path, warnings)) {
    if (!Object.hasOwn(rates, name)) {
      warnings.push(`${path}: limits.${name} is unknown; known are ${Object.keys(rates).join(", ")}`)
    } else if (typeof value !== "number" || !Number.isSafeInteger(value) || value < 0) {
      warnings.push(`${path}: limits.${name} must be a whole number, 0 for off; the default holds`)
    } else {
      rates[name as keyof Rates] = value
    }
  }
  return rates
}

function readHalfLives({ path, content }: UserConfig, warnings: string[]): HalfLives {
  const days: Record<string, number> = { ...HALF_LIFE_DAYS_DEFAULT }
  for (const [name, value] of entriesOf(content.memory, "memory", path, warnings)) {
    if (name !== "halfLifeDays") warnings.push(`${path}: memory.${name} is unknown; known is halfLifeDays`)
    else {
      for (const [sector, figure] of entriesOf(value, "memory.halfLifeDays", path, warnings)) {
        const setting = `${path}: memory.halfLifeDays.${sector}`
        if (!Object.hasOwn(days, sector))
          warnings.push(`${setting} is unknown; known are ${SECTORS.join(", ")}`)
        else if (typeof figure !== "number" || !(figure > 0 && figure <= HALF_LIFE_DAYS_MAX))
          warnings.push(`${setting} must be a number of days, above 0 and at most ${HALF_LIFE_DAYS_MAX}`)
        else days[sector] = figure
      }
    }
  }
  return days as HalfLives
}

function readEventKeepDays({ path, content }: UserConfig, warnings: string[]): number {
  let days = EVENT_KEEP_DAYS_DEFAULT
  for (const [name, value] of entriesOf(content.events, "events", path, warnings)) {
    if (name !== "keepDays") warnings.push(`${path}: events.${name} is unknown; known is keepDays`)
    else if (Number.isInteger(value) && Number(value) >= 1 && Number(value) <= EVENT_KEEP_DAYS_MAX)
      days = Number(value)
    else
      warnings.push(
        `${path}: events.keepDays must be a whole number of days, 1 to ${EVENT_KEEP_DAYS_MAX}; the default, ${EVENT_KEEP_DAYS_DEFAULT}, holds`,
      )
  }
  return days
}

const HOST = /^(?:[a-z\d][\w.-]*|\[[\da-f:.]+\])(?::\d{1,5})?$/i

/** Whether the globs are any is seen when documentation is looked for: most processes never do that. */
function readDocumentation(
  { path, content }: UserConfig,
  warnings: string[],
): Pick<Config, "ignoredDocuments" | "documentationHosts"> {
  let ignoredDocuments: readonly string[] = IGNORED_DOCUMENTS_DEFAULT
  let documentationHosts: readonly string[] = []
  for (const [name, value] of entriesOf(content.documentation, "documentation", path, warnings)) {
    const list = Array.isArray(value) && value.every((one) => typeof one === "string") ? value : undefined
    if (name === "ignore") {
      if (list !== undefined) ignoredDocuments = list
      else warnings.push(`${path}: documentation.ignore must be a list of globs; the default holds`)
    } else if (name === "hosts") {
      if (list?.every((host) => HOST.test(host))) documentationHosts = list.map((host) => host.toLowerCase())
      else
        warnings.push(
          `${path}: documentation.hosts must be a list of host names, such as "github.com"; none is allowed`,
        )
    } else warnings.push(`${path}: documentation.${name} is unknown; known are ignore, hosts`)
  }
  return { ignoredDocuments, documentationHosts }
}
