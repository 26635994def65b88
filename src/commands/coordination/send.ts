/** `signalbox send` and `signalbox reply`: a person writes to agents, and agents that have only a shell do. */

import type { Config } from "../../config/config.ts"
import { SUBJECT_CHARS_MAX } from "../../config/limits.ts"
import type { Agent } from "../../domain/coordination/agent.ts"
import { subjectOf } from "../../domain/coordination/message.ts"
import { visible, visibleLine } from "../../domain/foreign-text/visible.ts"
import { AppError } from "../../errors.ts"
import { ASKS, admit } from "../../operations/admission.ts"
import { commandCall } from "../../operations/caller.ts"
import {
  type Dispatch,
  dispatch,
  EVERYBODY,
  findAddressee,
  findEverybody,
} from "../../operations/coordination/correspondence.ts"
import { findOwnAgents } from "../../operations/coordination/identity.ts"
import { repositoryAround } from "../../operations/coordination/locations.ts"
import { answerLetter, contextOf } from "../../operations/coordination/mailbox.ts"
import { body, text, threadId } from "../../operations/fields.ts"
import { checkInput } from "../../operations/input.ts"
import { count, lines, nameList } from "../../operations/markdown.ts"
import { ownCommand } from "../../runtime/own-command.ts"
import { bold, dim, green, type OutputOptions, printResult } from "../output.ts"
import { editorOf, editText, typedText } from "../typed-text.ts"
import { withApp } from "../with-app.ts"
import { terminalOf } from "./identity.ts"
import { nameOf, senderJson } from "./mail-text.ts"
import { type ActorOptions, actingFor } from "./reserve.ts"

export interface WritingOptions extends ActorOptions {
  urgent?: boolean
  /** Asks for an acknowledgment. */
  ack?: boolean
}

export interface SendOptions extends WritingOptions {
  subject?: string
  thread?: string
}

/**
 * Writes to an agent, or with `all` to everybody at work, in messages of at most 50 recipients. The text is `words`,
 * else stdin, else what is written in the user's editor. Fails with `refused` when it did not reach all, after what it
 * did reach was told; with `not_found` for an unknown name, and when nobody is at work.
 */
export function sendCommand(
  config: Config,
  name: string,
  words: readonly string[],
  options: SendOptions,
): Promise<void> {
  return withApp(actingFor(config, options), async (app) => {
    const context = await admit(commandCall(app), ASKS.toolCall)
    const terminal = terminalOf(app)
    const repository = await repositoryAround(app, config.workingFolder)
    const addressees =
      name.toLowerCase() === EVERYBODY
        ? await findEverybody(context, terminal, repository)
        : [await findAddressee(context, terminal, repository, name)]
    const names = nameList(addressees.map(({ agent }) => nameOf(agent)))
    await withText(words, `To ${names}`, async (written) => {
      const { subject, thread } = checkInput(
        {
          subject: text(SUBJECT_CHARS_MAX, "Subject").optional(),
          text: body(),
          thread: threadId().optional(),
        },
        { subject: options.subject || undefined, text: written, thread: options.thread || undefined },
      )
      const done = await dispatch(context, terminal, addressees, {
        subject: subject ?? subjectOf(written),
        bodyMd: written,
        ...manner(options),
        threadKey: thread,
      })
      const gone = addressees.filter(({ presence }) => presence === "gone").map(({ agent }) => agent)
      printDispatch(options, done, gone)
    })
  })
}

/** Replies to a message, to its sender with a copy to the other recipients, all or none; the text is as in `sendCommand`. */
export function replyCommand(
  config: Config,
  id: number,
  words: readonly string[],
  options: WritingOptions,
): Promise<void> {
  return withApp(actingFor(config, options), async (app) => {
    const context = await admit(commandCall(app), ASKS.toolCall)
    const repository = await repositoryAround(app, config.workingFolder)
    const inMail = await contextOf(context, await findOwnAgents(app, terminalOf(app), repository), id)
    const done = await withText(words, `Answer to message ${id}`, (written) => {
      const input = checkInput({ text: body() }, { text: written })
      const { importance, ackRequired } = manner(options)
      return answerLetter(inMail, id, { body_md: input.text, importance, ack_required: ackRequired })
    })
    const { actor, project } = inMail
    const json = {
      status: "sent",
      messages: [
        {
          id: done.id,
          thread_id: done.threadKey,
          project_id: project.id,
          project_key: project.key,
          from: senderJson(actor),
          recipients: done.recipients.map((one) => ({ id: one.agentId, name: one.name })),
        },
      ],
      refused: [],
    }
    printResult(options, json, () => {
      const names = nameList(done.recipients.map((one) => one.name))
      return lines(
        `${green("✓")} Answered ${bold(names)} ${dim(`(message ${done.id}, thread ${done.threadKey})`)}`,
        done.waitsForAck
          ? dim(`  Message ${id} still waits for your acknowledgment: ${ownCommand()} read ${id} --ack`)
          : null,
        dim(`  As ${actor.name}. Answers come here: ${ownCommand()} inbox`),
      )
    })
  })
}

function manner({ urgent, ack }: WritingOptions) {
  const importance = urgent === true ? ("urgent" as const) : ("normal" as const)
  return { importance, ackRequired: ack === true }
}

/** Stands in the editor's file above what is no part of the text. */
const SCISSORS = "------------------------ >8 ------------------------"

/**
 * Gives a text to `use`: words, else stdin, else what the user writes in an editor, which is kept in its file when
 * that fails. Fails with `invalid` without any, and with `refused` when the editor leaves nothing.
 */
async function withText<T>(
  words: readonly string[],
  heading: string,
  use: (text: string) => Promise<T>,
): Promise<T> {
  const isByHand = words.length === 0 && process.stdin.isTTY === true && process.stdout.isTTY === true
  if (!isByHand) {
    const example = `Such as: ${ownCommand()} send BlueLake "Please leave src/db to me."`
    return use(await typedText(words, { field: "text", example }))
  }
  const note = `${heading}. This line and all from the one above on are left out; an empty text sends nothing.`
  const edited = await editText(`\n\n${SCISSORS}\n${visibleLine(note)}\n`, editorOf(process.env), {
    name: "message.md",
    undone: "nothing was sent",
    otherwise: "give the text after the command",
  })
  const written = aboveScissors(edited.text)
  if (written.trim() === "") {
    edited.discard()
    throw new AppError("refused", "nothing was sent, because nothing was written")
  }
  try {
    const result = await use(written)
    edited.discard()
    return result
  } catch (error) {
    if (!(error instanceof AppError)) throw error
    // Nobody writes a text twice gladly.
    const hint = [error.hint, `Your text is kept in ${edited.path}.`].filter(Boolean).join(" ")
    throw new AppError(error.code, error.message, { hint })
  }
}

/** Returns what stands above the line that ends a text in the editor, without the new lines at its end. */
export function aboveScissors(text: string): string {
  const rows = text.split(/\r?\n/)
  const end = rows.indexOf(SCISSORS)
  return (end < 0 ? rows : rows.slice(0, end)).join("\n").replace(/\n+$/, "")
}

function printDispatch(options: OutputOptions, { sent, refused }: Dispatch, gone: readonly Agent[]): void {
  const status = refused.length === 0 ? "sent" : sent.length === 0 ? "refused" : "partly_sent"
  const json = {
    status,
    messages: sent.map(({ id, threadKey, project, sender, recipients }) => ({
      id,
      thread_id: threadKey,
      project_id: project.id,
      project_key: project.key,
      from: senderJson(sender),
      recipients: recipients.map((one) => ({ id: one.id, name: one.name })),
    })),
    refused: refused.map(({ agent, project, reason }) => ({
      id: agent.id,
      name: agent.name,
      project_id: project.id,
      project_key: project.key,
      reason,
    })),
  }
  if (options.json === true || sent.length > 0) printResult(options, json, () => dispatchText(sent, gone))
  if (refused.length === 0) return
  const total = refused.length + sent.reduce((sum, { recipients }) => sum + recipients.length, 0)
  const head =
    sent.length === 0
      ? "nothing was sent"
      : `${refused.length} of ${count(total, "recipient")} did not get it`
  throw new AppError("refused", lines(`${head}:`, ...refused.map(({ reason }) => `  ${visible(reason)}`)))
}

function dispatchText(sent: Dispatch["sent"], gone: readonly Agent[]): string {
  const [first] = sent
  const away = gone.map((agent) => agent.name)
  return lines(
    ...sent.map(({ id, threadKey, recipients }) => {
      const names = nameList(recipients.map((one) => nameOf(one)))
      return `${green("✓")} Sent to ${bold(names)} ${dim(`(message ${id}, thread ${threadKey})`)}`
    }),
    away.length === 0 ? null : `  ${nameList(away)} is gone, and reads it when that name is taken up again.`,
    first === undefined ? null : dim(`  As ${first.sender.name}. Answers come here: ${ownCommand()} inbox`),
  )
}
