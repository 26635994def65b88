/** What the process does: serve a client, or run one command. How it ends is told by `commands/exit-codes.ts`. */

import { EXIT_DONE, EXIT_FAILED, exitCodeOf } from "./commands/exit-codes.ts"
import { dataFolderIn, readConfig } from "./config/config.ts"
import { visible } from "./domain/foreign-text/visible.ts"
import { AppError, fileProblem } from "./errors.ts"
import type { App } from "./operations/app.ts"
import { hasClient } from "./runtime/input.ts"
import { enterStartingFolder } from "./runtime/launcher.ts"
import { nameOwnCommand } from "./runtime/own-command.ts"
import { keepTrustedPath } from "./runtime/trusted-path.ts"

// The log may have no reader any more; what cannot be logged must not end the server.
process.stderr.on("error", () => {})

try {
  process.exitCode = await run()
} catch (error) {
  const expected = error instanceof AppError ? error : fileProblem(error)
  process.stderr.write(`signalbox: ${expected === undefined ? defectText(error) : visible(expected.text)}\n`)
  process.exitCode = expected === undefined ? EXIT_FAILED : exitCodeOf(expected.code)
}

/** Returns what is told of an error that nobody foresaw: where it happened only to who looks for it. */
function defectText(error: unknown): string {
  const { message, stack } = error instanceof Error ? error : new Error(String(error))
  if (process.env.SIGNALBOX_LOG === "debug") return `failed unexpectedly: ${stack ?? message}`
  return `failed unexpectedly: ${visible(message)}. With SIGNALBOX_LOG=debug it says where; please report it.`
}

async function run(): Promise<number> {
  enterStartingFolder()
  nameOwnCommand(dataFolderIn({ env: process.env, workingFolder: process.cwd() }))
  keepTrustedPath()
  const isPlain = process.argv.length === 2
  if (!isPlain || !hasClient()) return (await import("./commands/program.ts")).runProgram()
  // What coding agents start has no arguments, and starts sooner without a command line to read.
  const config = readConfig({ env: process.env, workingFolder: process.cwd() })
  const startCompanion = async (app: App) => (await import("./serve.ts")).startListener(app)
  await (await import("./mcp/stdio.ts")).runStdioServer(config, {}, startCompanion)
  return EXIT_DONE
}
