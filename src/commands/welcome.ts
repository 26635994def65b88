/** What `signalbox` shows on a terminal: that the server works, where the data lies, and how to go on. */

import { existsSync, statSync } from "node:fs"
import type { Config } from "../config/config.ts"
import { AppError } from "../errors.ts"
import { OPERATIONS } from "../operations/index.ts"
import { type Selection, selectOperations } from "../operations/selection.ts"
import { launcherPath, launcherWord } from "../runtime/launcher.ts"
import { cloneStart, PUBLISHED_START, packageVersion } from "../runtime/package-root.ts"
import { ServerClient } from "./client.ts"
import { bold, cyan, dim, green, print } from "./output.ts"

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
  print(`${green("✓")} Data     ${config.databasePath} ${dim(sizeOf(config.databasePath))}`)
  const launcher = launcherPath(config.dataFolder)
  const isInstalled = existsSync(launcher)
  const [command = "", ...args] = isInstalled ? [launcher] : (cloneStart() ?? PUBLISHED_START)
  const settings = JSON.stringify({ mcpServers: { signalbox: { command, args } } })
  const shell = isInstalled ? launcherWord(config.dataFolder) : [command, ...args].join(" ")
  print(`\nGive it to the coding agents on this machine, server and hook:\n\n  ${bold(`${shell} install`)}`)
  print(dim(`  (${shell} install --dry-run shows the changes first)`))
  print(`\nOr paste the server into their MCP settings:\n\n  ${cyan(settings)}\n`)
  print(dim(`  Claude Code: claude mcp add --scope user signalbox -- ${shell}`))
  print(dim(`  Codex:       codex mcp add signalbox -- ${shell}`))
  print(`\nSee it at work first: ${bold(`${shell} demo`)}   All commands: ${bold(`${shell} --help`)}`)
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

function sizeOf(path: string): string {
  return existsSync(path) ? `(${Math.ceil(statSync(path).size / 1024)} KiB)` : ""
}
