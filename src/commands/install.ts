/** `signalbox install` and `signalbox uninstall`: settings of coding agents, and the git hooks of a repository. */

import { homedir } from "node:os"
import { dirname } from "node:path"
import type { Config } from "../config.ts"
import { AppError, invalid } from "../errors.ts"
import { findWorkTree, realpathOfNearest } from "../git/repository.ts"
import { placeHookFiles, removeHookFiles } from "../hook/files.ts"
import { CLIENTS, clientNamed, TARGET_NAMES } from "../install/catalogue.ts"
import { type Client, ROLES, type Role } from "../install/client.ts"
import { type ChangeOptions, findClients, installClient } from "../install/install.ts"
import { installedPlaces, readManifest } from "../install/manifest.ts"
import type { Action, Outcome } from "../install/outcome.ts"
import { type Machine, type Place, SCOPES, type Scope } from "../install/place.ts"
import { uninstallClient } from "../install/uninstall.ts"
import { cloneStart } from "../package-root.ts"
import { bold, cyan, dim, green, type OutputOptions, print, printResult, red } from "./output.ts"

/** Options of both commands, as commander gives them. */
export interface InstallOptions extends OutputOptions {
  scope?: string
  dryRun?: boolean
  /** False with --no-mcp. */
  mcp?: boolean
  /** False with --no-hook. */
  hook?: boolean
}

/** What was done for one client in one place. */
interface Report {
  client: Client
  place: Place
  files: Outcome[]
  notes: string[]
}

/** Returns the machine that this process runs on. */
export function thisMachine(): Machine {
  const ownStart = cloneStart()
  const machine = { home: homedir(), platform: process.platform, env: process.env }
  return ownStart === undefined ? machine : { ...machine, ownStart }
}

/**
 * Installs the named clients, or all that are used on this machine, and prints what happened. Fails with
 * `invalid` for an unknown name or scope, and with `unavailable` after the output when a file failed.
 */
export async function installCommand(
  config: Config,
  names: readonly string[],
  options: InstallOptions,
  machine: Machine = thisMachine(),
): Promise<void> {
  const change = changeOptions(config, options)
  const scope = readScope(options.scope) ?? "user"
  const named = [...new Set(names)].map(clientNamed)
  const clients = named.length > 0 ? named : findClients(CLIENTS, machine, readManifest(config.dataFolder))
  if (clients.length === 0) {
    throw new AppError("not_found", "no coding agent was found on this machine", {
      hint: `Name those you use: signalbox install <${TARGET_NAMES.join("|")}>.`,
    })
  }
  const places = await Promise.all(clients.map((client) => placeFor(client, scope, config, machine)))
  // The hook is there before the first client can call it.
  const needsHook = change.roles.includes("hook") && !change.isDryRun
  const hookFiles = needsHook ? placeHookFiles(config.dataFolder) : []
  const reports = clients.flatMap((client, index): Report[] => {
    const place = places[index]
    if (place === undefined) return []
    return [{ client, place, files: installClient(client, place, change), notes: client.notes(place) }]
  })
  showReports(reports, options, hookFiles)
}

/**
 * Uninstalls the named clients wherever they are recorded and from the user's own settings, or everything
 * that was installed, and prints what happened. Fails as `installCommand` does.
 */
export async function uninstallCommand(
  config: Config,
  names: readonly string[],
  options: InstallOptions,
  machine: Machine = thisMachine(),
): Promise<void> {
  const change = changeOptions(config, options)
  const scope = readScope(options.scope)
  const named = [...new Set(names)].map(clientNamed)
  const here = (await findWorkTree(config.workingFolder))?.rootPath
  const reports: Report[] = []
  const visit = (client: Client, place: Place) => {
    const isKnown = reports.some((one) => one.client === client && one.place.root === place.root)
    if (isKnown) return
    reports.push({ client, place, files: uninstallClient(client, place, change), notes: [] })
  }
  for (const { client, scope: at, root } of installedPlaces(readManifest(config.dataFolder))) {
    const isMeant = named.length === 0 || named.some((one) => one.name === client)
    // A repository's hooks are named where they are; without a name everything goes.
    const isHere = client !== "git" || named.length === 0 || here === root
    const isInScope = isHere && (scope === undefined || scope === at)
    if (isMeant && isInScope) visit(clientNamed(client), { machine, scope: at, root })
  }
  for (const client of named) visit(client, await placeFor(client, scope ?? "user", config, machine))
  const isGone = Object.keys(readManifest(config.dataFolder).files).length === 0
  if (isGone && !change.isDryRun) removeHookFiles(config.dataFolder)
  showReports(reports, options, [])
  if (reports.length > 0 && options.json !== true && !change.isDryRun)
    print(
      dim(`Copies of changed files stay beside them (*.signalbox.bak), your data in ${config.dataFolder}.`),
    )
}

function changeOptions(config: Config, options: InstallOptions): ChangeOptions {
  const roles: Role[] = ROLES.filter((role) => options[role] !== false)
  if (roles.length === 0) throw invalid("--no-mcp and --no-hook", "leave nothing to do together")
  return { dataFolder: config.dataFolder, roles, isDryRun: options.dryRun === true }
}

function readScope(value: string | undefined): Scope | undefined {
  if (value === undefined) return undefined
  const scope = SCOPES.find((one) => one === value)
  if (scope === undefined) throw invalid("--scope", `must be one of: ${SCOPES.join(", ")} (got "${value}")`)
  return scope
}

/** Returns where a client is installed; git's hooks always belong to a repository. Fails with `invalid` outside of a project. */
async function placeFor(client: Client, scope: Scope, config: Config, machine: Machine): Promise<Place> {
  if (scope === "user" && client.name !== "git") return { machine, scope, root: machine.home }
  const workTree = await findWorkTree(config.workingFolder)
  const root = workTree?.rootPath ?? (await realpathOfNearest(config.workingFolder))
  const isProject = root !== dirname(root) && root !== (await realpathOfNearest(machine.home))
  if (isProject && (workTree !== undefined || client.name !== "git"))
    return { machine, scope: "project", root }
  throw invalid(
    "the current folder",
    client.name === "git" ? "is in no git work tree" : "is no project",
    "Change to the project's folder, then run the command again.",
  )
}

const LABELS: Record<Action, string> = {
  created: green("created"),
  changed: green("changed"),
  restored: green("restored"),
  deleted: green("deleted"),
  unchanged: dim("nothing to do"),
  "left-alone": cyan("left alone"),
  failed: red("failed"),
}

function showReports(
  reports: readonly Report[],
  options: InstallOptions,
  hookFiles: readonly string[],
): void {
  const value = { dry_run: options.dryRun === true, hook_files: hookFiles, clients: reports.map(reportJson) }
  printResult(options, value, () => {
    if (reports.length === 0) return "Nothing is installed."
    return reports.map((report) => reportText(report, options.dryRun === true)).join("\n\n")
  })
  if (options.dryRun === true && options.json !== true) print(dim("\nNothing was written (--dry-run)."))
  const failed = reports.filter(({ files }) => files.some(({ action }) => action === "failed"))
  if (failed.length === 0) return
  const titles = failed.map(({ client }) => client.title).join(", ")
  throw new AppError("unavailable", `not everything could be done for ${titles}`, {
    hint: "The reason stands beside each file.",
  })
}

function reportJson({ client, place, files, notes }: Report) {
  return { client: client.name, scope: place.scope, root: place.root, files, notes }
}

function reportText({ client, place, files, notes }: Report, isDryRun: boolean): string {
  const heading = `${bold(client.title)} ${dim(place.scope === "project" ? place.root : "(user)")}`
  if (files.length === 0) return `${heading}\n  nothing to do`
  const isNews = files.some(({ action }) => action === "created" || action === "changed")
  return [
    heading,
    ...files.flatMap((file) => fileLines(file)),
    ...(isNews && !isDryRun ? notes.map((note) => `  ${bold("→")} ${note}`) : []),
  ].join("\n")
}

function fileLines({ path, action, reasons, diff }: Outcome): string[] {
  return [
    `  ${LABELS[action]}  ${path}`,
    ...reasons.map((reason) => `    ${reason}`),
    ...(diff === undefined ? [] : diff.split("\n").map((line) => `    ${colouredDiffLine(line)}`)),
  ]
}

function colouredDiffLine(line: string): string {
  if (line.startsWith("+")) return green(line)
  return line.startsWith("-") ? red(line) : line
}
