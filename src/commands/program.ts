/** The command line: every command, its options and its help. Each command's code is loaded when it is called. */

import { setImmediate } from "node:timers/promises"
import { Argument, Command, CommanderError, type ErrorOptions, InvalidArgumentError, Option } from "commander"
import { type Config, readConfig } from "../config/config.ts"
import { PORT_MAX } from "../config/limits.ts"
import { ENVIRONMENTS, PLANS, type Plan, planNamed } from "../domain/api-key.ts"
import { closestName } from "../domain/coordination/agent.ts"
import { echoed } from "../domain/foreign-text/markdown.ts"
import { visible } from "../domain/foreign-text/visible.ts"
import { AppError, fileProblem } from "../errors.ts"
import { CLIENT_NAMES } from "../hook/client-names.ts"
import type { App } from "../operations/app.ts"
import { hasClient } from "../runtime/input.ts"
import { ownCommand } from "../runtime/own-command.ts"
import { packageVersion } from "../runtime/package-root.ts"
import type { CommandShape, Shell } from "./completion.ts"
import {
  addMailCommands,
  addOverrideCommands,
  addReservationCommands,
  OVERRIDE_REQUEST,
} from "./coordination/program.ts"
import { addDocumentationCommands } from "./documentation/program.ts"
import { EXIT_CODES, EXIT_DONE, EXIT_WRONG_USE } from "./exit-codes.ts"
import { addMemoryCommands, addModelCommands } from "./memory/program.ts"
import { wholeNumber } from "./options.ts"
import { addWebhookCommands } from "./webhooks/program.ts"

interface ServerOptions {
  toolsets?: string[]
  tools?: string[]
  readOnly?: boolean
}

interface GlobalOptions {
  db?: string
  port?: number
}

/** Reads the configuration, of the named environment if one is, when a command is called. */
type ReadConfig = (environment?: string) => Config

const SHELLS: readonly Shell[] = ["bash", "zsh", "fish"]
/** What `install` knows: the coding agents, and git's own hooks. */
const INSTALLABLE = [...CLIENT_NAMES, "git"]
const SCOPES = ["user", "project"]
/** What stands beside an option or a command is broken between words down to this width, and by the terminal below it. */
const HELP_COLUMNS_MIN = 20
/** Options of the program that every command heeds. */
const GLOBAL_FLAGS = ["--db"]

/** A command whose errors have the form of all others: what is wrong, and what to do. */
class ToldCommand extends Command {
  override createCommand(name?: string): Command {
    return new ToldCommand(name)
  }

  override error(message: string, options?: ErrorOptions): never {
    const [wrong = "", ...advice] = message
      .replace(/^error: /, "")
      .replaceAll("'", '"')
      .split("\n")
      .map((line) => line.replace(/^\((.*)\)$/, "$1").replace(/[.?]?$/, (end) => end || "."))
    const help = `\`${[ownCommand(), ...pathOf(this)].join(" ")} --help\` says what there is.`
    super.error(["signalbox:", wrong, ...advice, help].join(" "), options)
  }
}

/** Returns the words that call a command, behind the program's name. */
function pathOf(command: Command): string[] {
  return command.parent === null ? [] : [...pathOf(command.parent), command.name()]
}

/**
 * Runs the command that argv names; returns the exit code. Fails with `unavailable` where it was done, but what it
 * printed could not be written.
 */
export async function runProgram(): Promise<number> {
  let lost: NodeJS.ErrnoException | undefined
  // A command goes on to its end all the same: it may have something to clean up. A reader that has seen enough, such
  // as head, closes the pipe, which is no failure of ours.
  process.stdout.on("error", (error: NodeJS.ErrnoException) => {
    if (error.code !== "EPIPE") lost ??= error
  })
  const code = await runCommand()
  // Streams tell of an error a moment after the write.
  await setImmediate()
  if (lost !== undefined && code === EXIT_DONE) throw fileProblem(lost, "the output") ?? lost
  return code
}

async function runCommand(): Promise<number> {
  try {
    await createProgram().parseAsync()
    return EXIT_DONE
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error
    // Commander has printed its own message, or the help that was asked for.
    return error.exitCode === 0 ? EXIT_DONE : EXIT_WRONG_USE
  }
}

/** Returns the program with all its commands; `exitOverride` makes it throw instead of ending the process. */
export function createProgram(): Command {
  const program = new ToldCommand("signalbox")
    .description(
      "Coordination, memory and documentation search for the coding agents on one code base: an MCP server on stdio when its input is a pipe.",
    )
    .version(packageVersion())
    .option("--db <file>", "database file (default: in the platform's data folder)")
    .option("--port <port>", "port that the HTTP listener asks for first, 0 for any", portNumber)
    .option("--toolsets <names>", "offer only these toolsets, comma-separated", list)
    .option(
      "--tools <names>",
      "offer only these tools, comma-separated; adds to --toolsets when both are given",
      list,
    )
    .option("--read-only", "offer only tools that write nothing")
    .addHelpText("after", exitCodesText())
    .configureHelp({ minWidthToWrap: HELP_COLUMNS_MIN })
    .showSuggestionAfterError()
    .helpCommand(true)
    .configureOutput({ outputError: (text, write) => write(visible(text)) })
    .exitOverride()
  const config: ReadConfig = (environment) => configOf(program.opts<GlobalOptions>(), environment)

  program
    .usage("[options] [command]")
    .argument("[command...]")
    .action(async (words: string[], options: ServerOptions) => {
      // Commander itself only says that there are too many arguments.
      const [unknown] = words
      if (unknown !== undefined) throw unknownCommand(program, unknown)
      if (!hasClient()) return (await import("./welcome.ts")).welcome(config(), options)
      const startCompanion = async (app: App) => (await import("../serve.ts")).startListener(app)
      await (await import("../mcp/stdio.ts")).runStdioServer(config(), options, startCompanion)
    })
  addSetupCommands(program, config)
  addStateCommands(program, config)
  addMailCommands(program, config)
  addReservationCommands(program, config)
  addOverrideCommands(program, config)
  addMemoryCommands(program, config)
  addModelCommands(program, config)
  addKeyCommands(program, config)
  addWebhookCommands(program, config)
  addDocumentationCommands(program, config)
  addBackupCommands(program, config)
  addCompletionCommand(program)
  return program
}

function addSetupCommands(program: Command, config: ReadConfig): void {
  const clients = () => new Argument("[client...]", "coding agents").choices(INSTALLABLE)
  const scope = () => new Option("--scope <scope>", "whose settings").choices(SCOPES)
  program
    .command("install")
    .description("put the MCP server and the hook into the settings of coding agents")
    .addArgument(clients())
    .addOption(scope())
    .option("--dry-run", "show which files would change, and change nothing")
    .option("--diff", "the same with every line that would change")
    .option("--exclusive", "have edits keep others out: defaultMode in your own config file")
    .option("--no-mcp", "leave out the MCP server")
    .option("--no-hook", "leave out the hook")
    .option("--json", "print JSON")
    .action(async (names: string[], options) =>
      (await import("./install.ts")).installCommand(config(), names, options),
    )
  program
    .command("uninstall")
    .description("take out of the settings what install has put there")
    .addArgument(clients())
    .addOption(scope())
    .option("--dry-run", "show which files would change, and change nothing")
    .option("--diff", "the same with every line that would change")
    .option("--no-mcp", "leave the MCP server in")
    .option("--no-hook", "leave the hook in")
    .option("--json", "print JSON")
    .action(async (names: string[], options) =>
      (await import("./install.ts")).uninstallCommand(config(), names, options),
    )
  program
    .command("doctor")
    .description("check everything that signalbox needs, and say what to do")
    .option("--shrink", "write the database file anew, as small as it can be; nobody may write meanwhile")
    .option("--force", "with --shrink: also while servers use the database")
    .option("--json", "print JSON")
    .action(async (options) => {
      if (options.shrink === true) await (await import("./backup.ts")).shrinkCommand(config(), options)
      else await (await import("./doctor.ts")).doctorCommand(config(), options)
    })
}

function addStateCommands(program: Command, config: ReadConfig): void {
  program
    .command("status")
    .description("show the database, the listener, who is at work and the limits")
    .option("--json", "print JSON")
    .action(async (options) => (await import("./status.ts")).statusCommand(config(), options))
  program
    .command("serve")
    .description("run the HTTP listener without an MCP client, until Ctrl+C")
    .action(async () => (await import("./serve.ts")).serveCommand(config(), {}))
  program
    .command("demo")
    .description("show two agents at work, on a temporary database")
    .option("--fast", "do not wait for a reader")
    .action(async (options) => (await import("./demo.ts")).demo(options))
}

function addKeyCommands(program: Command, config: ReadConfig): void {
  const environment = () => new Option("--env <environment>", "environment").choices(ENVIRONMENTS)
  const keys = program.command("keys").description("API keys of this machine's database")
  keys
    .command("create")
    .description("make a key and show it once")
    .requiredOption("--name <name>", "what the key is for")
    .requiredOption(
      "--scope <scope...>",
      "what it permits, such as project:<key>:coordination or repo:<id>:coordination",
    )
    .addOption(environment())
    .addOption(new Option("--plan <plan>", "rate limits").choices(PLANS).argParser(plan).default("starter"))
    .option("--expires <time>", "an ISO 8601 time, or a number of days such as 90d")
    .option("--json", "print JSON")
    .action(async (options) => (await import("./keys.ts")).createKeyCommand(config(options.env), options))
  keys
    .command("list")
    .description("list the keys: prefix, last four characters, scopes, last use")
    .addOption(environment())
    .option("--json", "print JSON")
    .action(async (options) => (await import("./keys.ts")).listKeysCommand(config(options.env), options))
  keys
    .command("revoke")
    .description("revoke a key for good")
    .argument("<id>", "key id, as `keys list` shows it", wholeNumber("keys list"))
    .addOption(environment())
    .option("--json", "print JSON")
    .action(async (id: number, options) =>
      (await import("./keys.ts")).revokeKeyCommand(config(options.env), id, options),
    )
}

function plan(name: string): Plan {
  const found = planNamed(name)
  if (found === undefined) throw new InvalidArgumentError(`Allowed choices are ${PLANS.join(", ")}.`)
  return found
}

function addBackupCommands(program: Command, config: ReadConfig): void {
  program
    .command("backup")
    .description("copy the database into a file, also while servers run")
    .argument("[file]", "the file to write (default: one more of the daily backups)")
    .option("--force", "replace the file when it exists")
    .addOption(new Option("--background", "what a server starts").hideHelp())
    .option("--json", "print JSON")
    .action(async (file: string | undefined, options) => {
      if (options.background === true) await (await import("./upkeep.ts")).upkeepCommand(config())
      else await (await import("./backup.ts")).backupCommand(config(), file, options)
    })
  program
    .command("restore")
    .description("list the backups, or put one in the place of the database, which is kept beside it")
    .argument("[file]", "a backup; without one they are listed")
    .option("--force", "also while servers use the database")
    .option("--json", "print JSON")
    .action(async (file: string | undefined, options) => {
      const { listBackupsCommand, restoreCommand } = await import("./backup.ts")
      await (file === undefined
        ? listBackupsCommand(config(), options)
        : restoreCommand(config(), file, options))
    })
}

function addCompletionCommand(program: Command): void {
  program
    .command("completion")
    .description("print a script that completes signalbox's commands in your shell")
    .addArgument(new Argument("<shell>", "the shell").choices(SHELLS))
    .action(async (shell: Shell) =>
      (await import("./completion.ts")).completionCommand(shapeOf(program), shell),
    )
}

/** Returns a command as completion sees it. */
export function shapeOf(command: Command): CommandShape {
  const byDefault = command.commands.find((child) => child.name() === OVERRIDE_REQUEST)
  const options = [...command.options, ...(byDefault?.options ?? [])]
    .filter((option) => !option.hidden)
    .map((option) => ({
      flag: option.long ?? option.flags,
      description: option.description,
      takesValue: option.required || option.optional,
      choices: option.argChoices ?? [],
      isGlobal: GLOBAL_FLAGS.includes(option.long ?? ""),
    }))
  const help = { flag: "--help", description: "display help for command", takesValue: false, choices: [] }
  return {
    name: command.name(),
    description: command.description(),
    options: [...options, { ...help, isGlobal: false }],
    choices: command.registeredArguments.flatMap((argument) => argument.argChoices ?? []),
    commands: command.commands.map(shapeOf),
  }
}

function exitCodesText(): string {
  const rows = EXIT_CODES.map(([code, meaning]) => `  ${code}  ${meaning}`)
  return `\nExit codes:\n${rows.join("\n")}`
}

/** Reads the configuration; `environment` names another one than the surroundings do, and so another database. */
function configOf(options: GlobalOptions, environment?: string): Config {
  const env =
    environment === undefined
      ? process.env
      : { ...process.env, SIGNALBOX_API_KEY: undefined, SIGNALBOX_ENV: environment }
  const config = readConfig({ env, workingFolder: process.cwd(), databasePath: options.db })
  return options.port === undefined ? config : { ...config, port: options.port }
}

function list(value: string): string[] {
  return value
    .split(",")
    .map((name) => name.trim())
    .filter((name) => name !== "")
}

function portNumber(value: string): number {
  if (/^\d{1,5}$/.test(value) && Number(value) <= PORT_MAX) return Number(value)
  throw new InvalidArgumentError(`A port is a number, 0 to ${PORT_MAX}.`)
}

function unknownCommand(program: Command, word: string): AppError {
  const likely = closestName(
    word,
    program.commands.map((command) => command.name()),
  )
  const hint = likely === undefined ? "" : `Did you mean ${likely}? `
  return new AppError("invalid", `unknown command ${echoed(word)}`, {
    hint: `${hint}All commands: ${ownCommand()} --help`,
  })
}
