/** What `signalbox` shows on a terminal: that the server works, where the data lies, and how to go on. */

import { existsSync, statSync } from "node:fs"
import type { Config } from "../config.ts"
import { packageVersion } from "../package-root.ts"
import { ServerClient } from "./client.ts"
import { bold, cyan, dim, green, print } from "./output.ts"

/** The settings that most clients take, as the README shows them. */
export const MCP_SETTINGS =
  '{ "mcpServers": { "signalbox": { "command": "npx", "args": ["-y", "signalbox"] } } }'

export async function welcome(config: Config): Promise<void> {
  print(
    `${bold("signalbox")} ${packageVersion()}  ${dim("coordination for coding agents, local and offline")}\n`,
  )
  const started = performance.now()
  const server = await ServerClient.start({ SIGNALBOX_DB: config.databasePath }, config.workingFolder)
  try {
    const { tools } = (await server.request("tools/list")) as { tools: unknown[] }
    const { text, isError } = await readTools(server)
    const tookMs = Math.round(performance.now() - started)
    if (isError) return print(text)
    print(
      `${green("✓")} Server   up and answering: ${tools.length} tools, ${text} resources (${tookMs} ms from a cold start)`,
    )
  } finally {
    await server.stop()
  }
  print(`${green("✓")} Data     ${config.databasePath} ${dim(sizeOf(config.databasePath))}`)
  print(`\nGive it to your coding agents. Paste this into their MCP settings:\n\n  ${cyan(MCP_SETTINGS)}\n`)
  print(dim("  Claude Code: claude mcp add --scope user signalbox -- npx -y signalbox"))
  print(dim("  Codex:       codex mcp add signalbox -- npx -y signalbox"))
  print(
    `\nSee it at work first: ${bold("npx -y signalbox demo")}   All commands: ${bold("npx -y signalbox --help")}`,
  )
}

async function readTools(server: ServerClient): Promise<{ text: string; isError: boolean }> {
  try {
    const { contents } = (await server.request("resources/read", {
      uri: "signalbox://coordination/tools",
    })) as {
      contents: { text: string }[]
    }
    const catalogue = JSON.parse(contents[0]?.text ?? "{}") as { resource_count?: number }
    return { text: String(catalogue.resource_count), isError: false }
  } catch (error) {
    return { text: (error as Error).message, isError: true }
  }
}

function sizeOf(path: string): string {
  return existsSync(path) ? `(${Math.ceil(statSync(path).size / 1024)} KiB)` : ""
}
