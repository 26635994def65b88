/**
 * What `signalbox` shows on a terminal: that the server works and where the data lies; then how to install it, or, once
 * it is, where that is and who is at work.
 */

import { existsSync } from "node:fs"
import type { Config } from "../config/config.ts"
import { databaseBytes } from "../db/daily-backups.ts"
import { visibleLine } from "../domain/foreign-text/visible.ts"
import { AppError, megabytes } from "../errors.ts"
import { clientNamed } from "../install/catalogue.ts"
import { installedPlaces, readManifest } from "../install/manifest.ts"
import { ASKS, admit } from "../operations/admission.ts"
import type { App } from "../operations/app.ts"
import { commandCall } from "../operations/caller.ts"
import { allProjects, listColleagues } from "../operations/coordination/colleagues.ts"
import { findOwnAgents } from "../operations/coordination/identity.ts"
import { knownRepositoryAround } from "../operations/coordination/locations.ts"
import { listMail, permittedProjects } from "../operations/coordination/mailbox.ts"
import { OPERATIONS } from "../operations/index.ts"
import { lines } from "../operations/markdown.ts"
import { type Selection, selectOperations } from "../operations/selection.ts"
import { launcherPath, launcherWord } from "../runtime/launcher.ts"
import { ownCommand } from "../runtime/own-command.ts"
import { cloneStart, PUBLISHED_START, packageVersion } from "../runtime/package-root.ts"
import { ServerClient } from "./client.ts"
import { terminalColumns, wrapped } from "./columns.ts"
import { terminalOf } from "./coordination/identity.ts"
import { colleagueLine, homely } from "./coordination/mail-text.ts"
import { bold, cyan, dim, green, print } from "./output.ts"
import { withApp } from "./with-app.ts"

type InstalledPlace = ReturnType<typeof installedPlaces>[number]

/** Of those at work. */
const AT_WORK_SHOWN_MAX = 10
const INDENT = "  "

export async function welcome(config: Config, selection: Selection): Promise<void> {
  selectOperations(OPERATIONS, selection)
  print(
    `${bold("signalbox")} ${packageVersion()}  ${dim("coordination, memory and documentation for coding agents, local and offline")}\n`,
  )
  const started = performance.now()
  const server = await ServerClient.start({ SIGNALBOX_DB: config.databasePath }, config.workingFolder)
  try {
    const { tools } = (await server.request("tools/list")) as { tools: unknown[] }
    const resourceCount = await countResources(server)
    const tookMs = Math.round(performance.now() - started)
    print(
      `${green("✓")} Server   up and answering: ${tools.length} tools, ${resourceCount} resources (${tookMs} ms from a cold start)`,
    )
  } finally {
    await server.stop()
  }
  print(
    `${green("✓")} Data     ${config.databasePath} ${dim(`(${megabytes(databaseBytes(config.databasePath))})`)}`,
  )
  print(await nextSteps(config))
}

/** Returns how to go on: how to install it, or, once it is, where that is, who is at work, and what shows more. */
export async function nextSteps(config: Config): Promise<string> {
  const places = installedPlaces(readManifest(config.dataFolder))
  return places.length === 0 ? howToInstall(config) : lines(...(await whatIsGoingOn(config, places)))
}

function howToInstall(config: Config): string {
  const hasLauncher = existsSync(launcherPath(config.dataFolder))
  const [command = "", ...args] = hasLauncher
    ? [launcherPath(config.dataFolder)]
    : (cloneStart() ?? PUBLISHED_START)
  const settings = JSON.stringify({ mcpServers: { signalbox: { command, args } } })
  const shell = hasLauncher ? launcherWord(config.dataFolder) : [command, ...args].join(" ")
  return lines(
    `\nGive it to the coding agents on this machine, server and hook:\n\n  ${bold(`${shell} install`)}`,
    dim(`  (${shell} install --dry-run shows the changes first)`),
    `\nOr paste the server into their MCP settings:\n\n  ${cyan(settings)}\n`,
    dim(`  Claude Code: claude mcp add --scope user signalbox -- ${shell}`),
    dim(`  Codex:       codex mcp add signalbox -- ${shell}`),
    `\nSee it at work first: ${bold(`${shell} demo`)}   All commands: ${bold(`${shell} --help`)}`,
  )
}

/** Returns where it is installed, who is at work, what mail waits, and the commands that show more. */
async function whatIsGoingOn(config: Config, places: readonly InstalledPlace[]): Promise<string[]> {
  const own = ownCommand()
  const columns = terminalColumns()
  const installed = [...new Set(places.map(placeName))].join(", ")
  const { colleagues, ownIds, unread, nowMs } = await withApp(config, (app) => lookAround(app, config))
  const isWide = new Set(colleagues.map(({ project }) => project.id)).size > 1
  const listing = { ownIds, isWide, nowMs, columns: columns - INDENT.length }
  const rows = colleagues
    .slice(0, AT_WORK_SHOWN_MAX)
    .flatMap((one) => colleagueLine(one, listing).split("\n"))
  const left = colleagues.length - AT_WORK_SHOWN_MAX
  const commands = [
    ["agents", "who is at work, with what reserved"],
    ["inbox", unread === 0 ? "your mail from agents" : bold(`${unread} unread for you`)],
    ["send <agent|all>", "write to them"],
    ["status", "the state of everything"],
    ["doctor", "check the installation"],
    ["--help", "all commands"],
  ] as const
  const wide = Math.max(...commands.map(([name]) => name.length))
  return [
    ...wrapped(`✓ Installed in ${installed}`, columns).map((row, index) =>
      index === 0 ? row.replace("✓", green("✓")) : INDENT + row,
    ),
    "",
    bold(colleagues.length === 0 ? "Nobody is at work." : `${colleagues.length} at work:`),
    ...rows.map((row) => INDENT + row),
    ...(left > 0 ? [dim(`${INDENT}and ${left} more`)] : []),
    "",
    `Run ${bold(own)} with:`,
    ...commands.map(([name, what]) => `${INDENT}${name.padEnd(wide)}  ${what}`),
  ]
}

async function lookAround(app: App, { workingFolder }: Config) {
  const context = await admit(commandCall(app), ASKS.toolCall)
  const repository = await knownRepositoryAround(app, workingFolder)
  const own = await findOwnAgents(app, { ...terminalOf(app), agentName: undefined }, repository)
  const { unread } = await listMail(context, own, { unreadOnly: true, limit: 1 })
  const projects = await permittedProjects(context, await allProjects(app))
  const colleagues = await listColleagues(app, projects, { includesGone: false })
  return { colleagues, ownIds: new Set(own.map(({ id }) => id)), unread, nowMs: context.nowMs }
}

function placeName({ client, scope, root }: InstalledPlace): string {
  const { title } = clientNamed(client)
  return scope === "user" ? title : `${title} of ${visibleLine(homely(root))}`
}

/** Reads the one resource that needs a database and nothing in it; fails with `unavailable` when that fails. */
async function countResources(server: ServerClient): Promise<number | undefined> {
  try {
    const { contents } = (await server.request("resources/read", {
      uri: "signalbox://coordination/tools",
    })) as { contents: { text: string }[] }
    return (JSON.parse(contents[0]?.text ?? "{}") as { resource_count?: number }).resource_count
  } catch (error) {
    throw new AppError("unavailable", (error as Error).message.replace(/^Failed to read resource: /, ""))
  }
}
