/** `signalbox inbox` and `signalbox read`: mail for whoever sits at the command line. */

import type { Config } from "../../config/config.ts"
import { INBOX_LIMIT_DEFAULT, LISTING_ROWS_MAX, THREAD_NEIGHBOURS_SHOWN_MAX } from "../../config/limits.ts"
import { isNotifier } from "../../domain/coordination/agent.ts"
import { type Message, senderOf, visibleRecipients } from "../../domain/coordination/message.ts"
import { visible, visibleLine } from "../../domain/foreign-text/visible.ts"
import { invalid } from "../../errors.ts"
import { ASKS, admit } from "../../operations/admission.ts"
import { commandCall } from "../../operations/caller.ts"
import { findOwnAgents } from "../../operations/coordination/identity.ts"
import { repositoryAround } from "../../operations/coordination/locations.ts"
import { listMail, type ReadLetter, readLetter } from "../../operations/coordination/mailbox.ts"
import { count, duration, isoTime, lines, nameList } from "../../operations/markdown.ts"
import { ownCommand } from "../../runtime/own-command.ts"
import { shortened, terminalColumns, wrapped } from "../columns.ts"
import { bold, cyan, dim, green, printResult, red } from "../output.ts"
import { withApp } from "../with-app.ts"
import { terminalOf } from "./identity.ts"
import { letterJson, letterText, nameOf, senderJson } from "./mail-text.ts"
import { type ActorOptions, actingFor } from "./reserve.ts"

export interface InboxOptions extends ActorOptions {
  /** Only what is unread. */
  unread?: boolean
  /** The newest 1,000, instead of a page of them. */
  all?: boolean
  limit?: number
}

/**
 * Lists the mail of whoever it acts for, in all projects, the newest first; marks nothing read. Fails with `invalid`
 * for a limit beside `all`.
 */
export function inboxCommand(config: Config, options: InboxOptions): Promise<void> {
  if (options.all === true && options.limit !== undefined)
    throw invalid("limit", "cannot be given together with --all", "Use one of them.")
  return withApp(actingFor(config, options), async (app) => {
    const context = await admit(commandCall(app), ASKS.toolCall)
    const repository = await repositoryAround(app, config.workingFolder)
    const agents = await findOwnAgents(app, terminalOf(app), repository)
    const limit = options.all === true ? LISTING_ROWS_MAX : (options.limit ?? INBOX_LIMIT_DEFAULT)
    const unreadOnly = options.unread === true
    const { letters, total, unread } = await listMail(context, agents, { unreadOnly, limit })
    printResult(options, { total, unread, messages: letters.map(letterJson) }, () => {
      if (letters.length === 0) return emptyText(agents.length, total)
      const isWide = new Set(letters.map(({ project }) => project.id)).size > 1
      const shown = { isWide, nowMs: context.nowMs, columns: terminalColumns() }
      const left = (unreadOnly ? unread : total) - letters.length
      const more = `${ownCommand()} inbox ${unreadOnly ? "--unread " : ""}--all`
      const [{ message }] = letters as [(typeof letters)[number]]
      return lines(
        bold(`${count(total, "message")}, ${unread} unread`),
        ...letters.map((letter) => `\n${letterText(letter, shown)}`),
        left > 0 ? dim(`\n${left} older${options.all === true ? " ones are not shown" : `: ${more}`}`) : null,
        dim(`\nRead one: ${ownCommand()} read ${message.id}`),
        dim(`Answer:   ${ownCommand()} reply ${message.id} "..."`),
      )
    })
  })
}

function emptyText(agentCount: number, total: number): string {
  if (total > 0) return "No unread mail."
  if (agentCount > 0) return "No mail yet."
  return `No mail yet: agents can write to you once you have written to one, ${ownCommand()} send <agent> "...".`
}

export interface ReadOptions extends ActorOptions {
  /** Acknowledges it as well. */
  ack?: boolean
}

/**
 * Shows a message whole with its thread and marks it read; acknowledges it where that is asked for. Fails with
 * `not_found`, and with `refused` for mail of others and for what nobody asked to acknowledge.
 */
export function readCommand(config: Config, id: number, options: ReadOptions): Promise<void> {
  return withApp(actingFor(config, options), async (app) => {
    const context = await admit(commandCall(app), ASKS.toolCall)
    const repository = await repositoryAround(app, config.workingFolder)
    const agents = await findOwnAgents(app, terminalOf(app), repository)
    const acknowledges = options.ack === true
    const letter = await readLetter(context, agents, id, { acknowledges })
    printResult(options, readJson(letter), () => readText(letter, context.nowMs, acknowledges))
  })
}

function readJson(letter: ReadLetter) {
  const { message, owner, project, thread, threadMessages } = letter
  const time = (timeMs: number | null) => (timeMs === null ? null : isoTime(timeMs))
  return {
    id: message.id,
    thread_id: message.threadKey,
    from: senderJson(letter.sender),
    recipients: visibleRecipients(letter.recipients).map((one) => ({
      id: one.agentId,
      name: one.name,
      type: one.kind,
      read_at: time(one.readAtMs),
      ack_received_at: time(one.ackedAtMs),
    })),
    agent_id: owner.id,
    agent_name: owner.name,
    project_id: project.id,
    project_key: project.key,
    subject: message.subject,
    body_md: message.bodyMd,
    attachments: message.attachments,
    importance: message.importance,
    ack_required: message.ackRequired,
    ack_received_at: time(letter.ackedAtMs),
    read_at: time(letter.readAtMs),
    created_at: isoTime(message.createdAtMs),
    thread: {
      subject: thread.subject,
      message_count: thread.messageCount,
      messages: threadMessages.map((one) => ({
        id: one.id,
        from: { id: one.senderId, name: one.senderName, is_person: one.isPersons },
        body_md: one.bodyMd,
        created_at: isoTime(one.createdAtMs),
      })),
    },
  }
}

function readText(letter: ReadLetter, nowMs: number, acknowledges: boolean): string {
  const { message, sender, recipients } = letter
  const columns = terminalColumns()
  const named = (kind: "to" | "cc") => recipients.filter((one) => one.kind === kind).map((one) => one.name)
  const cc = named("cc")
  const marks = [
    message.importance === "normal" ? null : red(message.importance),
    letter.waitsForAck ? red("waits for your acknowledgment") : null,
    letter.ackedAtMs === null ? null : green("acknowledged"),
    message.attachments.length === 0 ? null : count(message.attachments.length, "attachment"),
  ].filter((mark) => mark !== null)
  const sent = `${duration(nowMs - message.createdAtMs)} ago, ${isoTime(message.createdAtMs)}`
  return lines(
    ...wrapped(`#${message.id} ${visibleLine(message.subject)}`, columns).map(bold),
    `From ${nameOf(sender)} to ${nameList(named("to"))}${cc.length === 0 ? "" : `, cc ${nameList(cc)}`}`,
    dim(sent),
    marks.length === 0 ? null : marks.join(", "),
    "",
    // Indented, so that no line of it passes for one of ours.
    ...wrapped(visible(message.bodyMd).trimEnd(), columns - 2).map((line) => `  ${line}`.trimEnd()),
    ...threadRows(letter, nowMs, columns),
    "",
    acknowledges ? `${green("✓")} Acknowledged; ${sender.name} is told.` : null,
    letter.waitsForAck ? dim(`Acknowledge: ${ownCommand()} read ${message.id} --ack`) : null,
    isNotifier(sender.name) ? null : dim(`Answer: ${ownCommand()} reply ${message.id} "..."`),
  ).trimEnd()
}

/** Returns the messages around one in its thread, a line each. */
function threadRows({ message, thread, threadMessages }: ReadLetter, nowMs: number, columns: number) {
  if (thread.messageCount <= 1) return []
  const index = threadMessages.findIndex(({ id }) => id === message.id)
  const before = Math.floor(THREAD_NEIGHBOURS_SHOWN_MAX / 2)
  const last = Math.max(0, threadMessages.length - THREAD_NEIGHBOURS_SHOWN_MAX - 1)
  const from = Math.min(Math.max(0, index - before), last)
  const shown = threadMessages.slice(from, from + THREAD_NEIGHBOURS_SHOWN_MAX + 1)
  const left = thread.messageCount - shown.length
  const row = (one: Message) => {
    const head = `#${one.id} ${senderOf(one)}, ${duration(nowMs - one.createdAtMs)} ago: `
    const text = shortened(head + visibleLine(one.bodyMd), columns - 2)
    return one.id === message.id ? `${cyan("›")} ${text}` : `  ${dim(text)}`
  }
  return [
    "",
    dim(
      `Thread ${thread.key}, ${count(thread.messageCount, "message")}${left > 0 ? `, ${left} not shown` : ""}:`,
    ),
    ...shown.map(row),
  ]
}
