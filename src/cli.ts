/** What the process does: serve a client, or run one command. Exit codes: 0 done, 1 failed, 2 wrong use. */

import { readConfig } from "./config.ts"
import { AppError } from "./errors.ts"
import { hasClient } from "./input.ts"

const EXIT_FAILED = 1
const EXIT_WRONG_USE = 2

// Nobody may be reading the log any more; what cannot be logged must not end the server.
process.stderr.on("error", () => {})

try {
  process.exitCode = await run()
} catch (error) {
  if (!(error instanceof AppError)) throw error
  process.stderr.write(`signalbox: ${error.text}\n`)
  process.exitCode = error.code === "invalid" ? EXIT_WRONG_USE : EXIT_FAILED
}

async function run(): Promise<number> {
  const isPlain = process.argv.length === 2
  if (!isPlain || !hasClient()) return (await import("./program.ts")).runProgram()
  // What coding agents start has no arguments, and starts sooner without a command line to read.
  const config = readConfig({ env: process.env, workingFolder: process.cwd() })
  await (await import("./mcp/stdio.ts")).runStdioServer(config, {})
  return 0
}
