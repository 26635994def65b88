/** `signalbox doctor`: looks at everything that has to work together and says what to do about what does not. */

import { spawnSync } from "node:child_process"
import { existsSync, readFileSync, statSync } from "node:fs"
import { join } from "node:path"
import type { Config } from "../config.ts"
import { isWellFormedApiKey } from "../domain/api-key.ts"
import { AppError } from "../errors.ts"
import { findWorkTree } from "../git/repository.ts"
import { shellCommand, windowsCommand } from "../hook/command.ts"
import { hasHookFiles, hookFolder } from "../hook/files.ts"
import { readHookSettings } from "../hook/settings.ts"
import { listenerPaths } from "../http/listener-files.ts"
import { checkInstalled, type InstalledClient } from "../install/check.ts"
import type { Machine } from "../install/place.ts"
import { packageFile } from "../package-root.ts"
import { thisMachine } from "./install.ts"
import { bold, cyan, green, type OutputOptions, printResult, red } from "./output.ts"

const NODE_MAJOR_MIN = 20
const DATABASE_WAIT_MS = 2_000
const LISTENER_WAIT_MS = 2_000
const HOOK_WAIT_MS = 5_000

export interface Finding {
  about: string
  state: "ok" | "warning" | "problem"
  text: string
  /** What to do; only where something is to be done. */
  advice?: string
}

/** Prints one line for each thing that was looked at; fails with `unavailable` after that when one is a problem. Changes nothing. */
export async function doctorCommand(
  config: Config,
  options: OutputOptions,
  machine: Machine = thisMachine(),
): Promise<void> {
  const findings = await examine(config, machine)
  printResult(options, { findings }, () => findings.map(findingText).join("\n"))
  const problems = findings.filter(({ state }) => state === "problem").length
  if (problems === 0) return
  throw new AppError(
    "unavailable",
    problems === 1 ? "1 problem was found" : `${problems} problems were found`,
    {
      hint: "What to do stands beside it.",
    },
  )
}

/** Returns what there is to say, in the order in which things depend on each other. */
export async function examine(config: Config, machine: Machine): Promise<Finding[]> {
  const installed = attempt("installed clients", "Move the file aside.", () =>
    checkInstalled(config.dataFolder, machine),
  )
  const clients = "about" in installed ? [] : installed
  return [
    checkNode(),
    ...(await checkDatabase(config)),
    await checkListener(config),
    ...checkHookFiles(config, clients),
    ...("about" in installed ? [installed] : checkClients(installed)),
    ...(await checkConfigFiles(config)),
  ]
}

function checkNode(): Finding {
  const version = process.versions.node
  const isNew = Number(version.split(".")[0]) >= NODE_MAJOR_MIN
  const finding: Finding = { about: "runtime", state: isNew ? "ok" : "problem", text: `Node ${version}` }
  return isNew ? finding : { ...finding, advice: `Install Node ${NODE_MAJOR_MIN} or newer.` }
}

/** The driver is loaded here and not before, since that it loads is one of the questions. */
async function checkDatabase(config: Config): Promise<Finding[]> {
  const path = config.databasePath
  const about = "database"
  try {
    const { checkHealth } = await import("../db/health.ts")
    if (!existsSync(path)) {
      return [{ about, state: "ok", text: `${path} is not there yet; the first call of a tool makes it` }]
    }
    const { faults, schemaVersion } = await checkHealth(path, DATABASE_WAIT_MS)
    const size = `${Math.ceil(statSync(path).size / 1024)} KiB`
    if (faults.length === 0) {
      return [{ about, state: "ok", text: `${path}, ${size}, schema ${schemaVersion}` }]
    }
    const advice = "Stop all agents and put back a backup of the file (signalbox restore)."
    return [{ about, state: "problem", text: `${path} is damaged: ${faults[0]}`, advice }]
  } catch (error) {
    const isKnown = error instanceof AppError
    const advice = isKnown
      ? error.hint
      : "Reinstall signalbox with the Node that runs it: npm install signalbox."
    const text = (error as Error).message
    return [{ about, state: "problem", text, ...(advice !== undefined && { advice }) }]
  }
}

async function checkListener(config: Config): Promise<Finding> {
  const about = "listener"
  const path = listenerPaths(config.databasePath).record
  if (!existsSync(path)) return { about, state: "ok", text: "none: no agent is at work" }
  const record = attempt(about, "Delete it; the next server writes it anew.", () => readListenerRecord(path))
  if ("about" in record) return record
  const mode = statSync(path).mode & 0o777
  if (process.platform !== "win32" && (mode & 0o077) !== 0) {
    return {
      about,
      state: "problem",
      text: `${path} can be read by others`,
      advice: `Run: chmod 600 "${path}"`,
    }
  }
  if (!isAlive(record.pid)) {
    return { about, state: "ok", text: `none: process ${record.pid} has ended, the next server takes over` }
  }
  try {
    const answer = await fetch(`${record.url}/healthz`, { signal: AbortSignal.timeout(LISTENER_WAIT_MS) })
    if (answer.ok) return { about, state: "ok", text: `${record.url} answers, process ${record.pid}` }
    throw new Error(`it answered ${answer.status}`)
  } catch (error) {
    return {
      about,
      state: "problem",
      text: `${record.url} does not work: ${(error as Error).message}`,
      advice: `See what process ${record.pid} is; when it is a server of ours, restart its coding agent.`,
    }
  }
}

function readListenerRecord(path: string): { url: string; pid: number } {
  const { url, pid } = readObject(path)
  if (typeof url !== "string" || typeof pid !== "number") throw new Error(`${path} names no url and pid`)
  return { url, pid }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "EPERM"
  }
}

function checkHookFiles(config: Config, clients: readonly InstalledClient[]): Finding[] {
  const about = "hook"
  const isWanted = clients.length > 0
  if (!hasHookFiles(config.dataFolder)) {
    const text = `not installed in ${hookFolder(config.dataFolder)}`
    return [{ about, state: isWanted ? "problem" : "warning", text, advice: "Run: signalbox install" }]
  }
  const stale = ["hook.sh", "hook.cjs"].filter((name) => !isCurrent(config, name))
  const files: Finding =
    stale.length === 0
      ? { about, state: "ok", text: hookFolder(config.dataFolder) }
      : {
          about,
          state: "warning",
          text: `${stale.join(" and ")} differ from this version's`,
          advice: "Run: signalbox install",
        }
  return [files, ...checkPlace(config), ...checkCurl(), runHook()]
}

/** Without a listener the hook asks the package itself, where it was recorded to be. */
function checkPlace(config: Config): Finding[] {
  const record = join(hookFolder(config.dataFolder), "package")
  const place = existsSync(record) ? readFileSync(record, "utf8").trim() : ""
  if (existsSync(join(place, "dist", "hook-alone.js"))) return []
  const text = `the package is not at ${place || "any known place"}: without a listener edits are not checked`
  return [{ about: "hook", state: "problem", text, advice: "Run: signalbox install" }]
}

function isCurrent(config: Config, name: string): boolean {
  const installed = join(hookFolder(config.dataFolder), name)
  const own = packageFile(`dist/${name}`)
  return existsSync(installed) && existsSync(own) && readFileSync(installed).equals(readFileSync(own))
}

/** Without curl the hook starts Node, which works and takes longer. */
function checkCurl(): Finding[] {
  if (process.platform === "win32") return []
  const about = "curl"
  const { status } = spawnSync("curl", ["-q", "--version"], { stdio: "ignore" })
  if (status === 0) return [{ about, state: "ok", text: "is there" }]
  const text = "is missing: the hook works and takes longer"
  return [{ about, state: "warning", text, advice: "Install curl." }]
}

/** Runs the hook as a client does, about a tool that edits nothing. */
function runHook(): Finding {
  const about = "hook run"
  const isWindows = process.platform === "win32"
  const command = (isWindows ? windowsCommand : shellCommand)("claude-code", "pre-edit")
  const payload = { session_id: "doctor", hook_event_name: "PreToolUse", tool_name: "Read", tool_input: {} }
  const { status, stderr, error } = spawnSync(command, {
    shell: true,
    input: JSON.stringify({ ...payload, cwd: process.cwd() }),
    timeout: HOOK_WAIT_MS,
    encoding: "utf8",
  })
  if (status === 0) return { about, state: "ok", text: "lets a harmless call pass" }
  const reason = stderr?.trim() || error?.message || `exit code ${status}`
  const text = `it does not let a harmless call pass: ${reason}`
  return { about, state: "problem", text, advice: "Run: signalbox install" }
}

function checkClients(installed: readonly InstalledClient[]): Finding[] {
  if (installed.length === 0) {
    const text = "none has signalbox in its settings"
    return [{ about: "clients", state: "warning", text, advice: "Run: signalbox install" }]
  }
  return installed.map(({ client, title, scope, root, faults }): Finding => {
    const about = scope === "project" ? `${title} (${root})` : title
    if (faults.length === 0) return { about, state: "ok", text: "its settings hold signalbox" }
    const place = scope === "project" && client !== "git" ? " --scope project" : ""
    const advice = existsSync(root)
      ? `Run${scope === "project" ? ` in ${root}` : ""}: signalbox install ${client}${place}`
      : `Run: signalbox uninstall ${client}${place}`
    return { about, state: "problem", text: faults.join("; "), advice }
  })
}

async function checkConfigFiles(config: Config): Promise<Finding[]> {
  const root = (await findWorkTree(config.workingFolder))?.rootPath ?? config.workingFolder
  const paths = [config.userConfigPath, join(root, ".signalbox.json")].filter((path) => existsSync(path))
  const findings = paths.map((path): Finding => {
    const about = "configuration"
    return attempt(about, "Correct the file.", (): Finding => {
      readObject(path)
      return { about, state: "ok", text: path }
    })
  })
  // What cannot be read at all is a problem above, and need not be named twice.
  const isReadable = findings.every(({ state }) => state === "ok")
  const named = isReadable ? readHookSettings(config.userConfigPath, root).warnings : []
  const warnings = [...config.warnings, ...named].map((text): Finding => {
    return { about: "configuration", state: "warning", text, advice: "Correct it there." }
  })
  return [...findings, ...warnings, ...checkKey(config)]
}

function checkKey({ apiKey }: Config): Finding[] {
  if (apiKey === undefined || isWellFormedApiKey(apiKey)) return []
  const text = "SIGNALBOX_API_KEY is set and is no key: every call is refused"
  return [{ about: "key", state: "problem", text, advice: "Unset it, or make a key: signalbox keys create" }]
}

/** Returns the object in a JSON file; throws, naming the file, when there is none. */
function readObject(path: string): Record<string, unknown> {
  let value: unknown
  try {
    value = JSON.parse(readFileSync(path, "utf8"))
  } catch (error) {
    throw new Error(`${path} is no valid JSON: ${(error as Error).message}`)
  }
  const isObject = typeof value === "object" && value !== null && !Array.isArray(value)
  if (!isObject) throw new Error(`${path} holds no object`)
  return value as Record<string, unknown>
}

/** Returns what `work` returns, or a problem when it throws. */
function attempt<T extends object>(about: string, advice: string, work: () => T): T | Finding {
  try {
    return work()
  } catch (error) {
    return { about, state: "problem", text: (error as Error).message, advice }
  }
}

function findingText({ about, state, text, advice }: Finding): string {
  const mark = { ok: green("✓"), warning: cyan("!"), problem: red("✗") }[state]
  const line = `${mark} ${bold(about)}  ${text}`
  return advice === undefined ? line : `${line}\n    ${advice}`
}
