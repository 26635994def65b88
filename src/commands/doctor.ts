/** `signalbox doctor`: looks at everything that has to work together and says what to do about what does not. */

import { spawnSync } from "node:child_process"
import { existsSync, readFileSync } from "node:fs"
import { join } from "node:path"
import type { Config } from "../config/config.ts"
import { readHookSettings } from "../config/hook-settings.ts"
import { DOCTOR_HOOK_TIMEOUT_MS, DOCTOR_LISTENER_TIMEOUT_MS } from "../config/limits.ts"
import { isWellFormedApiKey } from "../domain/api-key.ts"
import { visibleLine } from "../domain/foreign-text/visible.ts"
import { AppError } from "../errors.ts"
import { findWorkTree } from "../git/repository.ts"
import { shellCommand, windowsCommand } from "../hook/command.ts"
import { hasHookFiles, hookFolder } from "../hook/files.ts"
import { listenerPaths } from "../http/listener-files.ts"
import { clientNamed } from "../install/catalogue.ts"
import {
  checkInstalled,
  type ForeignEntry,
  findForeignEntries,
  type InstalledClient,
} from "../install/check.ts"
import type { Machine } from "../install/place.ts"
import { exposedPlaces, privatePaths } from "../operations/database.ts"
import { isLauncherCurrent, launcherPath } from "../runtime/launcher.ts"
import { ownCommand } from "../runtime/own-command.ts"
import { packageFile } from "../runtime/package-root.ts"
import { openToOthers } from "../runtime/private-files.ts"
import { posixWord } from "../runtime/shell-quoting.ts"
import { checkDatabase, type Finding } from "./doctor-database.ts"
import { checkWebhooks } from "./doctor-webhooks.ts"
import { thisMachine } from "./install.ts"
import { isListenerUp } from "./listener.ts"
import { bold, cyan, green, type OutputOptions, printResult, red } from "./output.ts"

const NODE_MAJOR_MIN = 20

/** Prints one line for each thing that was looked at; fails with `unavailable` after that when one is a problem. Changes nothing. */
export async function doctorCommand(
  config: Config,
  options: OutputOptions,
  machine: Machine = thisMachine(config),
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
  const foreign = "about" in installed ? [] : findForeignEntries(config.dataFolder, machine)
  const database = await checkDatabase(config)
  return [
    checkNode(),
    ...database,
    await checkListener(config),
    ...checkPermissions(config, database),
    ...checkHookFiles(config, clients),
    ...checkLauncher(config, clients),
    ...("about" in installed ? [installed] : checkClients(installed, foreign)),
    ...clients.flatMap((one) => checkTrust(one, machine)),
    ...checkForeign(foreign),
    ...(await checkConfigFiles(config)),
    ...(await checkWebhooks(config)),
  ]
}

function checkNode(): Finding {
  const version = process.versions.node
  const isNew = Number(version.split(".")[0]) >= NODE_MAJOR_MIN
  const finding: Finding = { about: "runtime", state: isNew ? "ok" : "problem", text: `Node ${version}` }
  return isNew ? finding : { ...finding, advice: `Install Node ${NODE_MAJOR_MIN} or newer.` }
}

/** Names what other users of this machine could read or replace. */
function checkPermissions(config: Config, database: readonly Finding[]): Finding[] {
  const about = "permissions"
  // What is no database of ours is not ours to close.
  const isOurs = !database.some(({ state }) => state === "problem")
  const paths = privatePaths(config).filter((path) => isOurs || path !== config.databasePath)
  const open = openToOthers(paths).map((path): Finding => {
    const advice = `Run: chmod go= ${posixWord(path)}`
    return { about, state: "problem", text: `${path} is open to other users of this machine`, advice }
  })
  const exposed = exposedPlaces(config).map((path): Finding => {
    const advice = `Run: chmod go-w ${posixWord(path)}`
    return { about, state: "problem", text: `other users of this machine may write to ${path}`, advice }
  })
  return [...open, ...exposed]
}

async function checkListener(config: Config): Promise<Finding> {
  const about = "listener"
  const path = listenerPaths(config.databasePath).record
  if (!existsSync(path)) return { about, state: "ok", text: "none: no agent is at work" }
  const record = attempt(about, "Delete it; the next server writes it anew.", () => requireRecord(path))
  if ("about" in record) return record
  if (!isAlive(record.pid)) {
    return { about, state: "ok", text: `none: process ${record.pid} has ended, the next server takes over` }
  }
  if (await isListenerUp(config, DOCTOR_LISTENER_TIMEOUT_MS))
    return { about, state: "ok", text: `${record.url} answers, process ${record.pid}` }
  return {
    about,
    state: "problem",
    text: `${record.url} does not answer with the proof in ${listenerPaths(config.databasePath).curl}`,
    advice: `See what process ${record.pid} is; when it is a server of ours, restart its coding agent.`,
  }
}

function requireRecord(path: string): { url: string; pid: number } {
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
    return [{ about, state: isWanted ? "problem" : "warning", text, advice: `Run: ${ownCommand()} install` }]
  }
  const stale = ["hook.sh", "hook.cjs"].filter((name) => !isCurrent(config, name))
  const files: Finding =
    stale.length === 0
      ? { about, state: "ok", text: hookFolder(config.dataFolder) }
      : {
          about,
          state: "warning",
          text: `${stale.join(" and ")} differ from this version's`,
          advice: `Run: ${ownCommand()} install`,
        }
  return [files, ...checkPlace(config), ...checkCurl(), runHook()]
}

/** Clients start the server by the launcher, so without it they have none. */
function checkLauncher({ dataFolder }: Config, clients: readonly InstalledClient[]): Finding[] {
  const about = "launcher"
  const path = launcherPath(dataFolder)
  const advice = `Run: ${ownCommand()} install`
  if (isLauncherCurrent(dataFolder)) return [{ about, state: "ok", text: path }]
  if (existsSync(path))
    return [{ about, state: "warning", text: `${path} starts another version, or by another Node`, advice }]
  return clients.length === 0 ? [] : [{ about, state: "problem", text: `${path} is not there`, advice }]
}

/** Without a listener the hook asks the package itself, where it was recorded to be. */
function checkPlace(config: Config): Finding[] {
  const record = join(hookFolder(config.dataFolder), "package")
  const place = existsSync(record) ? readFileSync(record, "utf8").trim() : ""
  if (existsSync(join(place, "dist", "hook-alone.js"))) return []
  const text = `the package is not at ${place || "any known place"}: without a listener edits are not checked`
  return [{ about: "hook", state: "problem", text, advice: `Run: ${ownCommand()} install` }]
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
    timeout: DOCTOR_HOOK_TIMEOUT_MS,
    encoding: "utf8",
  })
  if (status === 0) return { about, state: "ok", text: "lets a harmless call pass" }
  const reason = stderr?.trim() || error?.message || `exit code ${status}`
  const text = `it does not let a harmless call pass: ${reason}`
  return { about, state: "problem", text, advice: `Run: ${ownCommand()} install` }
}

function checkClients(installed: readonly InstalledClient[], foreign: readonly ForeignEntry[]): Finding[] {
  if (installed.length === 0) {
    const text = "none has signalbox in its settings"
    return [{ about: "clients", state: "warning", text, advice: `Run: ${ownCommand()} install` }]
  }
  return installed.flatMap((one): Finding[] => {
    const { client, root, faults } = one
    const about = nameOf(one)
    if (faults.length === 0) {
      const isForeign = foreign.some((entry) => entry.client === client && nameOf(entry) === about)
      return isForeign ? [] : [{ about, state: "ok", text: "its settings hold signalbox" }]
    }
    const advice = existsSync(root)
      ? `Run${installText(one)}`
      : `Run: ${ownCommand()} uninstall ${client}${scopeOption(one)}`
    return [{ about, state: "problem", text: faults.join("; "), advice }]
  })
}

/** What a client does not trust it does not run, and most say nothing of it. */
function checkTrust(one: InstalledClient, machine: Machine): Finding[] {
  const { client, scope, root } = one
  const trust = existsSync(root) ? clientNamed(client).trust?.({ machine, scope, root }) : undefined
  if (trust === undefined) return []
  const about = nameOf(one)
  const { isGiven, text, advice } = trust
  return [isGiven ? { about, state: "ok", text } : { about, state: "warning", text, advice }]
}

/** An entry that install left alone starts something else than the launcher, so it is no part of what works. */
function checkForeign(foreign: readonly ForeignEntry[]): Finding[] {
  return foreign.map((entry): Finding => {
    const advice = `Take the entry out of ${entry.path}, then run${installText(entry)}`
    return { about: nameOf(entry), state: "warning", text: `${entry.path}: ${entry.reason}`, advice }
  })
}

type ClientPlace = Pick<InstalledClient, "client" | "title" | "scope" | "root">

function nameOf({ title, scope, root }: ClientPlace): string {
  return scope === "project" ? `${title} (${root})` : title
}

function scopeOption({ client, scope }: ClientPlace): string {
  return scope === "project" && client !== "git" ? " --scope project" : ""
}

/** Returns how a client is installed where it is, to be put behind "run". */
function installText(one: ClientPlace): string {
  const folder = one.scope === "project" ? ` in ${one.root}` : ""
  return `${folder}: ${ownCommand()} install ${one.client}${scopeOption(one)}`
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
  const named = isReadable ? readHookSettings(config.userConfigPath, root) : { warnings: [], weakenings: [] }
  const warning = (text: string, advice: string): Finding => {
    return { about: "configuration", state: "warning", text, advice }
  }
  const warnings = [...config.warnings, ...named.warnings].map((text) => warning(text, "Correct it there."))
  const weakenings = named.weakenings.map((text) =>
    warning(text, `Take it out there, or decide it yourself in ${config.userConfigPath}.`),
  )
  return [...findings, ...warnings, ...weakenings, ...checkKey(config)]
}

function checkKey({ apiKey }: Config): Finding[] {
  if (apiKey === undefined || isWellFormedApiKey(apiKey)) return []
  const text = "SIGNALBOX_API_KEY is set and is no key: every call is refused"
  return [
    { about: "key", state: "problem", text, advice: `Unset it, or make a key: ${ownCommand()} keys create` },
  ]
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
  const line = `${mark} ${bold(about)}  ${visibleLine(text)}`
  return advice === undefined ? line : `${line}\n    ${advice}`
}
