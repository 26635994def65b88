/** The command line: every command, its options and its help. Each command's code is loaded when it is called. */

import { Command, CommanderError, InvalidArgumentError, Option } from "commander"
import { type Config, readConfig } from "./config.ts"
import { ENVIRONMENTS, PLANS } from "./domain/api-key.ts"
import { hasClient } from "./input.ts"
import { packageVersion } from "./package-root.ts"

interface GlobalOptions {
  db?: string
}

const EXIT_WRONG_USE = 2

/** Runs the command that argv names; returns the exit code. */
export async function runProgram(): Promise<number> {
  try {
    await createProgram().parseAsync()
    return 0
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error
    // Commander has printed its own message, or the help that was asked for.
    return error.exitCode === 0 ? 0 : EXIT_WRONG_USE
  }
}

/** Returns the program with all its commands; `exitOverride` makes it throw instead of ending the process. */
export function createProgram(): Command {
  const program = new Command("signalbox")
    .description(
      "Coordination for coding agents on one code base: an MCP server on stdio when its input is a pipe.",
    )
    .version(packageVersion())
    .option("--db <file>", "database file (default: in the platform's data folder)")
    .option("--toolsets <names>", "offer only these toolsets, comma-separated", list)
    .option(
      "--tools <names>",
      "offer only these tools, comma-separated; adds to --toolsets when both are given",
      list,
    )
    .option("--read-only", "offer only tools that write nothing")
    .showHelpAfterError()
    .exitOverride()
  const config = (environment?: string) => configOf(program.opts<GlobalOptions>(), environment)

  program.action(async (options: { toolsets?: string[]; tools?: string[]; readOnly?: boolean }) => {
    if (!hasClient()) return (await import("./commands/welcome.ts")).welcome(config(), options)
    await (await import("./mcp/stdio.ts")).runStdioServer(config(), options)
  })
  program
    .command("demo")
    .description("show two agents at work, on a temporary database")
    .action(async () => (await import("./commands/demo.ts")).demo())

  addKeyCommands(program, config)
  addRepositoryCommands(program, config)
  return program
}

function addKeyCommands(program: Command, config: (environment?: string) => Config): void {
  const keys = program.command("keys").description("API keys of this machine's database")
  keys
    .command("create")
    .description("make a key and show it once")
    .requiredOption("--name <name>", "what the key is for")
    .requiredOption(
      "--scope <scope...>",
      "what it permits, such as project:<key>:coordination or repo:<id>:coordination",
    )
    .addOption(new Option("--env <environment>", "environment").choices(ENVIRONMENTS))
    .addOption(new Option("--plan <plan>", "rate limits").choices(PLANS).default("starter"))
    .option("--expires <time>", "an ISO 8601 time, or a number of days such as 90d")
    .option("--json", "print JSON")
    .action(async (options) =>
      (await import("./commands/keys.ts")).createKeyCommand(config(options.env), options),
    )
  keys
    .command("list")
    .description("list the keys: prefix, last four characters, scopes, last use")
    .option("--json", "print JSON")
    .action(async (options) => (await import("./commands/keys.ts")).listKeysCommand(config(), options))
  keys
    .command("revoke")
    .description("revoke a key for good")
    .argument("<id>", "key id, as `keys list` shows it", wholeNumber)
    .option("--json", "print JSON")
    .action(async (id: number, options) =>
      (await import("./commands/keys.ts")).revokeKeyCommand(config(), id, options),
    )
}

function addRepositoryCommands(program: Command, config: (environment?: string) => Config): void {
  const repos = program.command("repos").description("connected repositories")
  repos
    .command("add")
    .description("connect a folder: its git repository, or the folder itself")
    .argument("<folder>", "an existing folder")
    .option("--json", "print JSON")
    .action(async (folder: string, options) =>
      (await import("./commands/repos.ts")).addRepository(config(), folder, options),
    )
  repos
    .command("list")
    .description("list the connected repositories with their ids")
    .option("--json", "print JSON")
    .action(async (options) =>
      (await import("./commands/repos.ts")).listRepositoriesCommand(config(), options),
    )
}

/** Reads the configuration; `environment` names another one than the surroundings do, and so another database. */
function configOf(options: GlobalOptions, environment?: string): Config {
  const env =
    environment === undefined
      ? process.env
      : { ...process.env, SIGNALBOX_API_KEY: undefined, SIGNALBOX_ENV: environment }
  return readConfig({ env, workingFolder: process.cwd(), databasePath: options.db })
}
function list(value: string): string[] {
  return value
    .split(",")
    .map((name) => name.trim())
    .filter((name) => name !== "")
}

function wholeNumber(value: string): number {
  if (/^[1-9]\d*$/.test(value)) return Number(value)
  throw new InvalidArgumentError("See `signalbox keys list` for the ids.")
}
