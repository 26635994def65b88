/** What the process does: serve a client, or run one command. How it ends is told by `exit-codes.ts`. */

import { readConfig } from "./config.ts"
import { AppError } from "./errors.ts"
import { EXIT_DONE, exitCodeOf } from "./exit-codes.ts"
import { hasClient } from "./input.ts"
import type { App } from "./operations/app.ts"

// Nobody may be reading the log any more; what cannot be logged must not end the server.
process.stderr.on("error", () => {})

try {
  process.exitCode = await run()
} catch (error) {
  if (!(error instanceof AppError)) throw error
  process.stderr.write(`signalbox: ${error.text}\n`)
  process.exitCode = exitCodeOf(error.code)
}

async function run(): Promise<number> {
  const isPlain = process.argv.length === 2
  if (!isPlain || !hasClient()) return (await import("./program.ts")).runProgram()
  // What coding agents start has no arguments, and starts sooner without a command line to read.
  const config = readConfig({ env: process.env, workingFolder: process.cwd() })
  const startCompanion = async (app: App) => (await import("./serve.ts")).startListener(app)
  await (await import("./mcp/stdio.ts")).runStdioServer(config, {}, startCompanion)
  return EXIT_DONE
}
