/** The commands on agents, their mail and their reservations. */

import { type Command, InvalidArgumentError, Option } from "commander"
import { LOG_LIMIT_DEFAULT } from "../../config/event-limits.ts"
import { INBOX_LIMIT_DEFAULT, INBOX_LIMIT_MAX, LISTING_ROWS_MAX } from "../../config/limits.ts"
import { OVERRIDE_STATUSES } from "../../domain/coordination/override.ts"
import type { ReservationMode } from "../../domain/coordination/reservation.ts"
import { type ReadConfig, several, wholeNumber } from "../options.ts"

const MODES: readonly ReservationMode[] = ["shared", "exclusive"]
/** The command below `override` that is meant when none is named. */
export const OVERRIDE_REQUEST = "request"
const ACTOR = "agent to act for (default: that of the session, or you)"
const TEXT = "what to say, Markdown; - or a pipe for stdin, nothing at a terminal for your editor"

/** Adds `agents`, `inbox`, `read`, `send`, `reply`, `wait` and `log`. */
export function addMailCommands(program: Command, config: ReadConfig): void {
  program
    .command("agents")
    .description("list who is at work here: where, on what, with what reserved and unread")
    .option("--all", "those that are gone, too")
    .option("--json", "print JSON")
    .action(async (options) => (await import("./agents.ts")).agentsCommand(config(), options))
  program
    .command("inbox")
    .description("list your mail from agents, the newest first")
    .option("--unread", "only what is unread")
    .option("--limit <number>", `at most so many messages (default: ${INBOX_LIMIT_DEFAULT})`, rows)
    .option("--all", "all of it")
    .option("--agent <name>", ACTOR)
    .option("--json", "print JSON")
    .action(async (options) => (await import("./inbox.ts")).inboxCommand(config(), options))
  program
    .command("read")
    .description("show a message of yours with its thread, and mark it read")
    .argument("<id>", "as `inbox` shows it", wholeNumber("inbox"))
    .option("--ack", "acknowledge it, too; its sender is told")
    .option("--agent <name>", ACTOR)
    .option("--json", "print JSON")
    .action(async (id: number, options) => (await import("./inbox.ts")).readCommand(config(), id, options))
  withManner(program.command("send"))
    .description("write to an agent, or to all at work")
    .argument("<agent>", "its name; all for everybody at work")
    .argument("[text...]", TEXT)
    .option("--subject <text>", "subject (default: the first line)")
    .option("--thread <id>", "thread to write in (default: a new one)")
    .action(async (name: string, words: string[], options) =>
      (await import("./send.ts")).sendCommand(config(), name, words, options),
    )
  withManner(program.command("reply"))
    .description("answer a message, with a copy to its other recipients")
    .argument("<id>", "as `inbox` shows it", wholeNumber("inbox"))
    .argument("[text...]", TEXT)
    .action(async (id: number, words: string[], options) =>
      (await import("./send.ts")).replyCommand(config(), id, words, options),
    )
  addWaitCommand(program, config)
  addLogCommand(program, config)
}

/** Adds `wait`. */
function addWaitCommand(program: Command, config: ReadConfig): void {
  program
    .command("wait")
    .description(
      "end with the first new message, or once a file is yours: in the background, it tells you so",
    )
    .option("--from <name>", "only mail of this agent")
    .option("--thread <id>", "only mail of this thread")
    .addOption(
      new Option(
        "--released <path>",
        "a file, folder or glob instead, reserved for who waits longest",
      ).conflicts(["from", "thread"]),
    )
    .addOption(new Option("--mode <mode>", "how it is reserved (default: as the hook)").choices(MODES))
    .option("--duration <time>", "how long it is reserved, at most 8h (default: as the hook)")
    .option("--timeout <time>", "such as 90s, 30m or 2h, at most 8h (default: no end, with --released 8h)")
    .option("--agent <name>", ACTOR)
    .option("--json", "print JSON")
    .action(async (options, command: Command) => {
      if (options.released !== undefined)
        return (await import("./wait-released.ts")).waitReleasedCommand(config(), options.released, options)
      for (const name of ["mode", "duration"])
        if (options[name] !== undefined)
          command.error(`option '--${name}' is only for a path: name it with '--released <path>'`)
      return (await import("./wait.ts")).waitCommand(config(), options)
    })
}

function addLogCommand(program: Command, config: ReadConfig): void {
  program
    .command("log")
    .description("show what happened: mail, reservations, edits, memories, documentation, keys")
    .option("--follow", "go on with what happens, until Ctrl+C")
    .addOption(
      several("--kind <kinds>", "only such events, as message.sent or edit.*; may be given several times"),
    )
    .option("--agent <name>", "only what this agent did, got or is named in")
    .option("--since <time>", "only what is not older, such as 30m or 4h, at most 720h")
    .option("--limit <number>", `at most so many, the latest (default: ${LOG_LIMIT_DEFAULT})`, events)
    .option("--json", "print JSON; with --follow one event a line")
    .action(async (options) => (await import("../log.ts")).logCommand(config(), options))
}

function withManner(command: Command): Command {
  return command
    .option("--urgent", "have it told at the next step, where the client can")
    .option("--ack", "ask for an acknowledgment")
    .option("--agent <name>", ACTOR)
    .option("--json", "print JSON")
}

function rows(value: string): number {
  if (/^\d{1,3}$/.test(value) && Number(value) >= 1 && Number(value) <= INBOX_LIMIT_MAX) return Number(value)
  throw new InvalidArgumentError(`A limit is a number, 1 to ${INBOX_LIMIT_MAX}.`)
}

function events(value: string): number {
  if (/^\d{1,4}$/.test(value) && Number(value) >= 1 && Number(value) <= LISTING_ROWS_MAX) return Number(value)
  throw new InvalidArgumentError(`A limit is a number, 1 to ${LISTING_ROWS_MAX.toLocaleString("en-US")}.`)
}

/** Adds `reserve`, `reservations`, `release` and `cleanup`. */
export function addReservationCommands(program: Command, config: ReadConfig): void {
  const mode = (description: string) => new Option("--mode <mode>", description).choices(MODES)
  const agent = () => new Option("--agent <name>", ACTOR)
  program
    .command("reserve")
    .description("reserve files, folders or globs, all or none")
    .argument("<path...>", "relative to the current folder; a folder stands for everything below it")
    .addOption(mode("exclusive, or shared with other shared reservations (default: as the hook)"))
    .option("--duration <time>", "such as 90s, 30m, 4h or 2h30m, at most 8h (default: as the hook)")
    .option("--reason <text>", "why, for the others")
    .addOption(agent())
    .option("--json", "print JSON")
    .action(async (paths: string[], options) =>
      (await import("./reserve.ts")).reserveCommand(config(), paths, options),
    )
  program
    .command("reservations")
    .description("list what is reserved in this repository")
    .option("--agent <name>", "only those of this agent")
    .addOption(mode("only those of this mode"))
    .option("--refresh", "look anew, which every listing does")
    .option("--all", "in all connected repositories")
    .option("--json", "print JSON")
    .action(async (options) => (await import("./reservations.ts")).reservationsCommand(config(), options))
  program
    .command("release")
    .description("release your reservations of these paths, or all of yours")
    .argument("[path...]", "as they were reserved")
    .option("--all", "everything that you hold in this repository")
    .option("--everywhere", "everything that you hold in any repository")
    .addOption(agent())
    .option("--json", "print JSON")
    .action(async (paths: string[], options) =>
      (await import("./reserve.ts")).releaseCommand(config(), paths, options),
    )
  program
    .command("cleanup")
    .description("close expired reservations, forget dead server processes, show what dead sessions hold")
    .option("--dead", "release what dead sessions hold at once, not ten minutes after their death")
    .option("--json", "print JSON")
    .action(async (options) => (await import("./reserve.ts")).cleanupCommand(config(), options))
}

/** Adds `override` with all below it. */
export function addOverrideCommands(program: Command, config: ReadConfig): void {
  const override = program
    .command("override")
    .description("take a path from its holder in an emergency: override <path> --reason <text>")
  override
    .command(OVERRIDE_REQUEST, { isDefault: true })
    .description("release what others hold of a path, or ask for it where an admin has to approve")
    .argument("<path>", "a file or folder, relative to the current folder")
    .requiredOption("--reason <text>", "why it cannot wait; the holder is told")
    .option("--agent <name>", ACTOR)
    .option("--json", "print JSON")
    .action(async (path: string, options) =>
      (await import("./override.ts")).requestOverrideCommand(config(), path, options),
    )
  for (const [name, approved] of [
    ["approve", true],
    ["deny", false],
  ] as const) {
    override
      .command(name)
      .description(`${name} a request that waits`)
      .argument("<id>", "as `override list` shows it", wholeNumber("override list"))
      .option("--json", "print JSON")
      .action(async (id: number, options) =>
        (await import("./override.ts")).decideOverrideCommand(config(), id, approved, options),
      )
  }
  override
    .command("list")
    .description("list the requests, the latest first")
    .addOption(new Option("--status <status>", "only those of this status").choices(OVERRIDE_STATUSES))
    .option("--json", "print JSON")
    .action(async (options) => (await import("./override.ts")).listOverridesCommand(config(), options))
}
