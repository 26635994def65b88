/** `signalbox install` and `signalbox uninstall`: settings of coding agents, and the git hooks of a repository. */

import { existsSync, readdirSync } from "node:fs"
import { homedir } from "node:os"
import { basename, dirname } from "node:path"
import type { Config } from "../config/config.ts"
import { echoed } from "../domain/foreign-text/markdown.ts"
import { visibleLine } from "../domain/foreign-text/visible.ts"
import { AppError, invalid } from "../errors.ts"
import { findWorkTree, realpathOfNearest } from "../git/repository.ts"
import { placeHookFiles, removeHookFiles } from "../hook/files.ts"
import { CLIENTS, clientNamed, TARGET_NAMES } from "../install/catalogue.ts"
import { type Client, ROLES, type Role } from "../install/client.ts"
import { setExclusive } from "../install/exclusive.ts"
import { type ChangeOptions, findClients, installClient } from "../install/install.ts"
import { installedPlaces, readManifest } from "../install/manifest.ts"
import type { Action, FileOutcome, Outcome } from "../install/outcome.ts"
import { type Machine, type Place, SCOPES, type Scope } from "../install/place.ts"
import { COPY_MARK } from "../install/settings-file.ts"
import { uninstallClient } from "../install/uninstall.ts"
import { lines } from "../operations/markdown.ts"
import { launcherPath, launcherWord, placeLauncher, removeLauncher } from "../runtime/launcher.ts"
import { ownCommand } from "../runtime/own-command.ts"
import { packageFile } from "../runtime/package-root.ts"
import { isBroughtByProject } from "../runtime/trusted-path.ts"
import { bold, cyan, dim, green, type OutputOptions, print, printResult, red } from "./output.ts"

/** Options of both commands, as commander gives them. */
interface InstallOptions extends OutputOptions {
  scope?: string
  dryRun?: boolean
  /** A dry run that shows what would change in each file, line by line. */
  diff?: boolean
  /** Sets the hook's mode to exclusive in the user's own config file, too. */
  exclusive?: boolean
  /** False with --no-mcp. */
  mcp?: boolean
  /** False with --no-hook. */
  hook?: boolean
}

/** What is shown besides the clients. */
interface Further {
  hookFiles?: readonly string[]
  /** What happened to the user's own config file. */
  settings?: FileOutcome | undefined
  /** What is said when all is done. */
  closing?: string
}

/** What was done for one client in one place. */
interface Report {
  client: Client
  place: Place
  files: Outcome[]
  notes: string[]
  /** What the client still has to be told to trust. */
  trust: string[]
}

/** Returns the machine that this process runs on. */
export function thisMachine({ dataFolder }: Config): Machine {
  const { platform, env } = process
  return { home: homedir(), platform, env, launcher: launcherPath(dataFolder) }
}

/**
 * Installs the named clients, or all that are used on this machine, and prints what happened. Without any client
 * there is only the setting to make, where that is wanted. Fails with
 * `invalid` for an unknown name or scope, with `refused` when the project around the working folder has brought this
 * package, and with `unavailable` after the output when a file failed.
 */
export async function installCommand(
  config: Config,
  names: readonly string[],
  options: InstallOptions,
  machine: Machine = thisMachine(config),
): Promise<void> {
  const change = changeOptions(config, options)
  const scope = readScope(options.scope) ?? "user"
  requireOwnPackage(config)
  const named = [...new Set(names)].map(clientNamed)
  const clients = named.length > 0 ? named : findClients(CLIENTS, machine, readManifest(config.dataFolder))
  const isExclusive = options.exclusive === true
  if (clients.length === 0 && !isExclusive) {
    throw new AppError("not_found", "no coding agent was found on this machine", {
      hint: nameThem(),
    })
  }
  const places = await Promise.all(clients.map((client) => placeFor(client, scope, config, machine)))
  const isPlacing = clients.length > 0 && !change.isDryRun
  // Both are there before the first client can call them.
  if (isPlacing) placeLauncher(config.dataFolder)
  const needsHook = change.roles.includes("hook") && isPlacing
  const hookFiles = needsHook ? placeHookFiles(config.dataFolder) : []
  const reports = clients.flatMap((client, index): Report[] => {
    const place = places[index]
    if (place === undefined) return []
    const files = installClient(client, place, change)
    return [{ client, place, files, notes: notesOf(client, place), trust: trustNotes(client, place) }]
  })
  const settings = isExclusive ? setExclusive(config.userConfigPath, change) : undefined
  const closing =
    clients.length > 0
      ? yourCommand(config)
      : dim(`\nNo coding agent was found on this machine. ${nameThem()}`)
  showReports(reports, options, { hookFiles, settings, closing })
}

function nameThem(): string {
  return `Name those you use: ${ownCommand()} install <${TARGET_NAMES.join("|")}>.`
}

/** Nothing else tells people who came by npx how to call what is installed now. */
function yourCommand({ dataFolder }: Config): string {
  const command = launcherWord(dataFolder)
  return lines(
    `\nYour command, in any shell: ${bold(command)}`,
    dim("  by itself it shows who is at work; with doctor it says what works and what does not"),
  )
}

/** Launcher and hook start this copy in all projects, so what one project's checkout replaces must not be it. */
function requireOwnPackage({ workingFolder }: Config): void {
  if (!isBroughtByProject(workingFolder)) return
  throw new AppError(
    "refused",
    `this signalbox belongs to the project around the current folder (${dirname(packageFile("package.json"))}), ` +
      "whose next checkout would decide what all other projects run",
    {
      hint: "Run it outside of any project (`cd ~ && npx -y signalbox install`), or from a global install.",
    },
  )
}

/** Returns what a client's user still has to do; a project's settings name the launcher in a form that Windows cannot read. */
function notesOf(client: Client, place: Place): string[] {
  const isUnread = place.scope === "project" && client.name !== "git" && place.machine.platform === "win32"
  const own = `On Windows the server starts from your own settings only: run \`${ownCommand()} install ${client.name}\` as well.`
  return [...client.notes(place), ...(isUnread ? [own] : [])]
}

/** Returns what a client's user has to do before it runs what is installed, however long that has been there. */
function trustNotes(client: Client, place: Place): string[] {
  const trust = client.trust?.(place)
  return trust === undefined || trust.isGiven ? [] : [`${trust.text}.`, trust.advice]
}

/**
 * Uninstalls the named clients wherever they are recorded and from the user's own settings, or everything
 * that was installed, and prints what happened. Fails as `installCommand` does.
 */
export async function uninstallCommand(
  config: Config,
  names: readonly string[],
  options: InstallOptions,
  machine: Machine = thisMachine(config),
): Promise<void> {
  const change = changeOptions(config, options)
  const scope = readScope(options.scope)
  const named = [...new Set(names)].map(clientNamed)
  const here = (await findWorkTree(config.workingFolder))?.rootPath
  const reports: Report[] = []
  const visit = (client: Client, place: Place) => {
    const isKnown = reports.some((one) => one.client === client && one.place.root === place.root)
    if (isKnown) return
    reports.push({ client, place, files: uninstallClient(client, place, change), notes: [], trust: [] })
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
  if (isGone && !change.isDryRun) {
    removeHookFiles(config.dataFolder)
    removeLauncher(config.dataFolder)
  }
  showReports(reports, options)
  if (reports.length > 0 && options.json !== true && !change.isDryRun)
    print(
      dim(
        lines(
          "",
          hasCopies(reports) ? "Copies of changed files stay beside them (*.signalbox.bak)." : null,
          `Your data stays in ${visibleLine(config.dataFolder)}.`,
          existsSync(config.userConfigPath)
            ? `Your own settings stay in ${visibleLine(config.userConfigPath)}.`
            : null,
        ),
      ),
    )
}

/** Whether a copy of a file from before install lies beside it. */
function hasCopies(reports: readonly Report[]): boolean {
  return reports.some(({ files }) =>
    files.some(({ path }) => {
      const folder = dirname(path)
      const copy = `${basename(path)}${COPY_MARK}`
      return existsSync(folder) && readdirSync(folder).some((name) => name.startsWith(copy))
    }),
  )
}

function changeOptions(config: Config, options: InstallOptions): ChangeOptions {
  const roles: Role[] = ROLES.filter((role) => options[role] !== false)
  if (roles.length === 0) throw invalid("--no-mcp and --no-hook", "leave nothing to do together")
  return { dataFolder: config.dataFolder, roles, isDryRun: isDryRun(options) }
}

function isDryRun({ dryRun, diff }: InstallOptions): boolean {
  return dryRun === true || diff === true
}

function readScope(value: string | undefined): Scope | undefined {
  if (value === undefined) return undefined
  const scope = SCOPES.find((one) => one === value)
  if (scope === undefined)
    throw invalid("--scope", `must be one of: ${SCOPES.join(", ")} (got ${echoed(value)})`)
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

/** What a dry run only says that it would be. */
const DONE: readonly Action[] = ["created", "changed", "restored", "deleted"]

function showReports(
  reports: readonly Report[],
  options: InstallOptions,
  { hookFiles = [], settings, closing }: Further = {},
): void {
  const value = {
    dry_run: isDryRun(options),
    hook_files: hookFiles,
    clients: reports.map(reportJson),
    ...(settings !== undefined && { settings }),
  }
  printResult(options, value, () => {
    const parts = reports.map((report) => reportText(report, options))
    if (settings !== undefined) parts.push(settingsText(settings, options))
    return parts.length === 0 ? "Nothing is installed." : parts.join("\n\n")
  })
  if (isDryRun(options) && options.json !== true)
    print(
      dim(`\nNothing was written (--dry-run)${options.diff === true ? "." : "; --diff shows every line."}`),
    )
  else if (closing !== undefined && options.json !== true) print(closing)
  const failed = reports.filter(({ files }) => files.some(({ action }) => action === "failed"))
  const titles = failed.map(({ client }) => client.title)
  if (settings?.action === "failed") titles.push("your own settings")
  if (titles.length === 0) return
  throw new AppError("unavailable", `not everything could be done for ${titles.join(", ")}`, {
    hint: "The reason stands beside each file.",
  })
}

function reportJson({ client, place, files, notes, trust }: Report) {
  return { client: client.name, scope: place.scope, root: place.root, files, notes: [...notes, ...trust] }
}

function reportText({ client, place, files, notes, trust }: Report, options: InstallOptions): string {
  const heading = `${bold(client.title)} ${dim(place.scope === "project" ? visibleLine(place.root) : "(user)")}`
  if (files.length === 0) return `${heading}\n  nothing to do`
  const wouldBe = isDryRun(options) ? "would be " : ""
  const isNews = files.some(({ action }) => action === "created" || action === "changed")
  return [
    heading,
    ...files.flatMap((file) => fileLines(file, wouldBe, options.diff === true)),
    ...(isDryRun(options) ? [] : [...(isNews ? notes : []), ...trust]).map(
      (note) => `  ${bold("→")} ${visibleLine(note)}`,
    ),
  ].join("\n")
}

/** Says what the setting does, which its name alone does not tell everybody. */
function settingsText(settings: FileOutcome, options: InstallOptions): string {
  const heading = `${bold("Your own settings")} ${dim("(edits reserve exclusively: others wait)")}`
  const wouldBe = isDryRun(options) ? "would be " : ""
  return [heading, ...fileLines(settings, wouldBe, options.diff === true)].join("\n")
}

function fileLines(
  { path, action, reasons, diff }: FileOutcome,
  wouldBe: string,
  isDiffShown: boolean,
): string[] {
  return [
    `  ${DONE.includes(action) ? wouldBe : ""}${LABELS[action]}  ${visibleLine(path)}`,
    ...reasons.map((reason) => `    ${visibleLine(reason)}`),
    ...(diff === undefined || !isDiffShown
      ? []
      : diff.split("\n").map((line) => `    ${colouredDiffLine(line)}`)),
  ]
}

function colouredDiffLine(line: string): string {
  if (line.startsWith("+")) return green(line)
  return line.startsWith("-") ? red(line) : line
}
