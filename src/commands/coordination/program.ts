/** The commands with which people follow agents and answer them. */

import { type Command, InvalidArgumentError } from "commander"
import { INBOX_LIMIT_DEFAULT, INBOX_LIMIT_MAX } from "../../config/limits.ts"
import { ownCommand } from "../../runtime/own-command.ts"
import type { ReadConfig } from "../options.ts"

const ACTOR = "agent to act for (default: that of the session, or you)"
const TEXT = "what to say, Markdown; - or a pipe for stdin, nothing at a terminal for your editor"

/** Adds `agents`, `inbox`, `read`, `send` and `reply`. */
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
    .argument("<id>", "as `inbox` shows it", messageId)
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
    .argument("<id>", "as `inbox` shows it", messageId)
    .argument("[text...]", TEXT)
    .action(async (id: number, words: string[], options) =>
      (await import("./send.ts")).replyCommand(config(), id, words, options),
    )
}

function withManner(command: Command): Command {
  return command
    .option("--urgent", "have it told at the next step, where the client can")
    .option("--ack", "ask for an acknowledgment")
    .option("--agent <name>", ACTOR)
    .option("--json", "print JSON")
}

function messageId(value: string): number {
  const digits = value.replace(/^#/, "")
  if (/^[1-9]\d{0,14}$/.test(digits)) return Number(digits)
  throw new InvalidArgumentError(`See \`${ownCommand()} inbox\` for the ids.`)
}

function rows(value: string): number {
  if (/^\d{1,3}$/.test(value) && Number(value) >= 1 && Number(value) <= INBOX_LIMIT_MAX) return Number(value)
  throw new InvalidArgumentError(`A limit is a number, 1 to ${INBOX_LIMIT_MAX}.`)
}
