/** `signalbox wait`: ends with the first new message, so that whoever runs it in the background is told of mail. */

import type { Config } from "../../config/config.ts"
import { AWAITED_BODY_CHARS_MAX } from "../../config/limits.ts"
import { type Agent, isNotifier, isPerson, nameKey } from "../../domain/coordination/agent.ts"
import { visible, visibleJson, visibleLine } from "../../domain/foreign-text/visible.ts"
import { AppError } from "../../errors.ts"
import { ASKS, admit, requireAgent } from "../../operations/admission.ts"
import type { App } from "../../operations/app.ts"
import { commandCall } from "../../operations/caller.ts"
import { type NewMail, takeNewMail } from "../../operations/coordination/awaited-mail.ts"
import { findOwnAgents } from "../../operations/coordination/identity.ts"
import { repositoryAround } from "../../operations/coordination/locations.ts"
import { type Letter, projectOf } from "../../operations/coordination/mailbox.ts"
import { threadId } from "../../operations/fields.ts"
import { checkInput } from "../../operations/input.ts"
import { duration, isoTime, lines, nameList } from "../../operations/markdown.ts"
import { ownCommand } from "../../runtime/own-command.ts"
import { terminalColumns, wrapped } from "../columns.ts"
import { bold, dim, print, printResult, red } from "../output.ts"
import { waitUntil } from "../waiting.ts"
import { withApp } from "../with-app.ts"
import { parseDuration } from "./duration.ts"
import { terminalOf } from "./identity.ts"
import { letterJson, nameOf } from "./mail-text.ts"
import { type ActorOptions, actingFor } from "./reserve.ts"

export interface WaitOptions extends ActorOptions {
  /** Only mail of this agent. */
  from?: string
  /** Only mail of this thread. */
  thread?: string
  /** As `parseDuration` reads it; without end when it is not given. */
  timeout?: string
}

/**
 * Waits for the first unread message that its agent was told of by no wait before, and prints it; marks nothing read.
 * Fails with `timed_out`, with `refused` when a signal or the end of its parent ends it, with `not_found` where nobody
 * could get mail, and for an unknown sender.
 */
export function waitCommand(config: Config, options: WaitOptions): Promise<void> {
  const seconds = options.timeout === undefined ? undefined : parseDuration(options.timeout, "timeout")
  const { thread } = checkInput({ thread: threadId().optional() }, { thread: options.thread })
  return withApp(actingFor(config, options), async (app) => {
    const { nowMs } = await admit(commandCall(app), ASKS.toolCall)
    const repository = await repositoryAround(app, config.workingFolder)
    const ownAgents = () => findOwnAgents(app, terminalOf(app), repository)
    const agents = await ownAgents()
    if (agents.length === 0)
      throw new AppError("not_found", "nobody here has an agent yet, so no mail can come", {
        hint: `An agent calls macro-start-session first; a person gets one by \`${ownCommand()} send <agent> "..."\`.`,
      })
    if (options.from !== undefined) await requireSender(app, agents, options.from)
    const awaited = {
      senderKey: options.from === undefined ? undefined : nameKey(options.from),
      threadKey: thread,
    }
    const timeoutMs = seconds === undefined ? undefined : seconds * 1_000
    const ended = await waitUntil(app.db, () => takeNewMail(app, agents, awaited, ownAgents), { timeoutMs })
    if ("value" in ended) {
      const { value } = ended
      printResult(options, newMailJson(value), () => newMailText(value, app.now()))
      return
    }
    if (ended.stopped !== "time") throw new AppError("refused", "ended before any new mail came")
    if (options.json === true) print(visibleJson({ status: "timed_out" }))
    const names = nameList(agents.map(({ name }) => name))
    throw new AppError("timed_out", `no new mail for ${names} within ${duration(app.now() - nowMs)}`)
  })
}

/** Fails with `not_found` for a sender that is in none of the projects that mail could come from. */
async function requireSender(app: App, agents: readonly Agent[], name: string): Promise<void> {
  if (isNotifier(name)) return
  const failures: unknown[] = []
  for (const agent of agents) {
    try {
      await requireAgent(app.db, await projectOf(app, agent), name)
      return
    } catch (error) {
      failures.push(error)
    }
  }
  throw failures[0]
}

function newMailJson({ first, more, isMoreLeft }: NewMail) {
  const { bodyMd } = first.message
  return {
    status: "new_mail",
    message: {
      ...letterJson(first),
      body_md: bodyMd.slice(0, AWAITED_BODY_CHARS_MAX),
      body_is_cut: bodyMd.length > AWAITED_BODY_CHARS_MAX,
    },
    more: more.map(letterJson),
    is_more_left: isMoreLeft,
  }
}

function newMailText({ first, more, isMoreLeft }: NewMail, nowMs: number): string {
  const { message, sender, owner, project } = first
  const columns = terminalColumns()
  const command = ownCommand()
  const cut = message.bodyMd.length - AWAITED_BODY_CHARS_MAX
  const body = visible(message.bodyMd.slice(0, AWAITED_BODY_CHARS_MAX)).trimEnd()
  const isForAgent = !isPerson(owner)
  const tool = (call: string) => (isForAgent ? `, or ${call} with message_id ${message.id}` : "")
  const reply = isForAgent ? `, or reply-message with parent_message_id ${message.id}` : ""
  return lines(
    ...wrapped(`New mail for ${owner.name}: ${headOf(first)}`, columns).map(bold),
    dim(
      `Thread ${message.threadKey}, ${duration(nowMs - message.createdAtMs)} ago, ${isoTime(message.createdAtMs)}, project ${visibleLine(project.key)}`,
    ),
    message.importance === "normal" ? null : red(message.importance),
    "",
    // Indented, so that no line of it passes for one of ours.
    ...wrapped(body, columns - 2).map((line) => `  ${line}`.trimEnd()),
    cut > 0 ? dim(`  … ${cut.toLocaleString("en-US")} more characters`) : null,
    "",
    `It is still unread. Read it whole: ${command} read ${message.id}${isForAgent ? ", or fetch-inbox" : ""}`,
    message.ackRequired ? `Acknowledge: ${command} read ${message.id} --ack${tool("ack-message")}` : null,
    isNotifier(sender.name) ? null : `Answer: ${command} reply ${message.id} "..."${reply}`,
    ...(more.length === 0 ? [] : ["", bold("New as well:"), ...more.map((letter) => `  ${headOf(letter)}`)]),
    isMoreLeft ? `There is more: ${command} inbox --unread, or wait again.` : null,
    isForAgent ? `Wait for the next: ${command} wait, in the background again` : null,
  )
}

/** Returns a message on one line: its id, what it is about, who wrote it. */
function headOf({ message, sender }: Letter): string {
  const marks = [
    message.importance === "urgent" ? "urgent" : null,
    message.ackRequired ? "asks for an acknowledgment" : null,
  ].filter((mark) => mark !== null)
  const from = isNotifier(sender.name) ? sender.name : nameOf(sender)
  return `#${message.id} ${visibleLine(message.subject)}, from ${from}${marks.length === 0 ? "" : ` (${marks.join("; ")})`}`
}
