/** The commands on webhooks. */

import { type Command, Option } from "commander"
import { WEBHOOK_FORMATS } from "../../domain/webhooks/webhook.ts"
import { type ReadConfig, wholeNumber } from "../options.ts"

/** Adds `webhooks` with all that is below it. */
export function addWebhookCommands(program: Command, config: ReadConfig): void {
  const webhooks = program.command("webhooks").description("have events sent to other programs and chats")
  const load = () => import("./webhooks.ts")
  webhooks
    .command("add")
    .description("add a receiver; prints the secret by which it knows who sends, this once only")
    .argument(
      "<url>",
      "https address of the receiver, or - to read it from stdin: others see what stands on a command line",
    )
    .option("--name <name>", "what to call it (default: its host)")
    .addOption(
      new Option(
        "--events <kinds>",
        "kinds, comma-separated, such as message.sent,documentation.* (default: all)",
      ).argParser((value: string) => value.split(",").map((kind) => kind.trim())),
    )
    .addOption(
      new Option("--format <format>", "what the receiver reads").choices(WEBHOOK_FORMATS).default("json"),
    )
    .option("--include-content", "send bodies of messages and contents of memories, too")
    .option("--allow-private", "the receiver may be on this machine or in its network, also by http")
    .option("--json", "print JSON")
    .action(async (url: string, options) => (await load()).addWebhookCommand(config(), url, options))
  webhooks
    .command("list")
    .description("list the webhooks and how they are")
    .option("--json", "print JSON")
    .action(async (options) => (await load()).listWebhooksCommand(config(), options))
  const withId = (name: string, description: string) =>
    webhooks
      .command(name)
      .description(description)
      .argument("<id>", "as `webhooks list` shows it", wholeNumber("webhooks list"))
      .option("--json", "print JSON")
  withId("test", "send a letter that tells of nothing, now and once").action(async (id: number, options) =>
    (await load()).testWebhookCommand(config(), id, options),
  )
  withId("pause", "stop sending, and keep what happens").action(async (id: number, options) =>
    (await load()).pauseWebhookCommand(config(), id, options),
  )
  withId("resume", "go on sending, with what happened meanwhile")
    .option("--skip", "go on with what happens from now on instead")
    .action(async (id: number, options) => (await load()).resumeWebhookCommand(config(), id, options))
  withId("remove", "remove a webhook for good").action(async (id: number, options) =>
    (await load()).removeWebhookCommand(config(), id, options),
  )
}
