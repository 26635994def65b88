/** `signalbox webhooks`: add, list, test, pause, resume, remove. */

import type { Config } from "../../config/config.ts"
import { visibleLine } from "../../domain/foreign-text/visible.ts"
import type { WebhookFormat } from "../../domain/webhooks/webhook.ts"
import { AppError } from "../../errors.ts"
import { ASKS, admit } from "../../operations/admission.ts"
import type { App } from "../../operations/app.ts"
import { commandCall } from "../../operations/caller.ts"
import { requirePersonAtTerminal } from "../../operations/coordination/people.ts"
import {
  addWebhook,
  allWebhooks,
  pauseWebhookById,
  removeWebhookById,
  resumeWebhookById,
  type ShownWebhook,
  testWebhookById,
  WEBHOOKS_RULE,
} from "../../operations/webhooks/webhooks.ts"
import { ownCommand } from "../../runtime/own-command.ts"
import { terminalOf } from "../coordination/identity.ts"
import { bold, dim, green, type OutputOptions, printResult, table } from "../output.ts"
import { STDIN, typedText } from "../typed-text.ts"
import { withApp } from "../with-app.ts"

interface AddOptions extends OutputOptions {
  name?: string
  events?: string[]
  format: WebhookFormat
  includeContent?: boolean
  allowPrivate?: boolean
}

/**
 * Adds a webhook; `given` is its address, or `-` for stdin. Fails with `forbidden` without an admin key, and inside the
 * session of any agent; so do all but the list.
 */
export function addWebhookCommand(config: Config, given: string, options: AddOptions): Promise<void> {
  return asPerson(config, async (app) => {
    const url = given === STDIN ? await typedText([STDIN], { field: "url", example: "" }) : given
    const { webhook, secret } = await addWebhook(app, {
      url,
      name: options.name,
      kinds: options.events,
      format: options.format,
      includesContent: options.includeContent === true,
      allowsPrivate: options.allowPrivate === true,
    })
    printResult(options, { ...webhook, secret }, () =>
      [
        bold(secret),
        "",
        `Webhook ${webhook.id} (${visibleLine(webhook.name)}) is told of what happens from now on. The secret above is shown this once only:`,
        "its receiver needs it to know who sends (Standard Webhooks).",
        dim(`Try it: ${ownCommand()} webhooks test ${webhook.id}`),
      ].join("\n"),
    )
  })
}

/** Lists all webhooks; takes an admin key. */
export function listWebhooksCommand(config: Config, options: OutputOptions): Promise<void> {
  return withApp(config, async (app) => {
    await admit(commandCall(app), ASKS.admin)
    const webhooks = await allWebhooks(app)
    printResult(options, webhooks, () => {
      if (webhooks.length === 0) return `No webhooks. Add one: ${ownCommand()} webhooks add <url>`
      const rows = webhooks.map((webhook) => [
        String(webhook.id),
        visibleLine(webhook.name),
        webhook.url,
        webhook.events.join(" "),
        webhook.format,
        stateText(webhook),
        webhook.last_delivered_at ?? "never",
      ])
      return table(["ID", "NAME", "URL", "EVENTS", "FORMAT", "STATE", "LAST DELIVERED"], rows)
    })
  })
}

/** Returns the state of a webhook, with what is wrong. */
export function stateText({ state, pause_reason: reason, last_error: error }: ShownWebhook): string {
  if (state === "paused") return reason === null ? "paused" : `paused: ${reason}; ${error}`
  return state === "failing" ? `failing: ${error}` : state
}

/** Sends a test now; fails with `unavailable` when it does not arrive. */
export function testWebhookCommand(config: Config, id: number, options: OutputOptions): Promise<void> {
  return asPerson(config, async (app) => {
    const outcome = await testWebhookById(app, id)
    printResult(options, outcome, () =>
      outcome.error === null ? `${green("✓")} The receiver has taken it.` : `The receiver has not taken it.`,
    )
    if (outcome.error !== null)
      throw new AppError("unavailable", `webhook ${id} cannot be delivered to: ${outcome.error}`)
  })
}

export function pauseWebhookCommand(config: Config, id: number, options: OutputOptions): Promise<void> {
  return asPerson(config, async (app) => {
    const webhook = await pauseWebhookById(app, id)
    printResult(
      options,
      webhook,
      () =>
        `Webhook ${id} is paused. What happens meanwhile is kept for it; ${ownCommand()} webhooks resume ${id} sends it.`,
    )
  })
}

interface ResumeOptions extends OutputOptions {
  skip?: boolean
}

export function resumeWebhookCommand(config: Config, id: number, options: ResumeOptions): Promise<void> {
  return asPerson(config, async (app) => {
    const webhook = await resumeWebhookById(app, id, options.skip === true)
    const from = options.skip === true ? "what happens from now on" : "where it was"
    printResult(options, webhook, () => `Webhook ${id} goes on with ${from}.`)
  })
}

export function removeWebhookCommand(config: Config, id: number, options: OutputOptions): Promise<void> {
  return asPerson(config, async (app) => {
    const webhook = await removeWebhookById(app, id)
    printResult(
      options,
      { id, removed: true },
      () => `Webhook ${id} (${visibleLine(webhook.name)}) is removed.`,
    )
  })
}

function asPerson(config: Config, work: (app: App) => Promise<void>): Promise<void> {
  return withApp(config, async (app) => {
    await admit(commandCall(app), ASKS.admin)
    await requirePersonAtTerminal(app, terminalOf(app), WEBHOOKS_RULE)
    await work(app)
  })
}
