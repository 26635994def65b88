/**
 * Decides what a hook says. One function for the listener and for the hook that found none: the payload
 * goes in, what the client wants to see comes out. Whatever goes wrong, the answer is to let the edit go on.
 */

import { readHookSettings } from "../config/hook-settings.ts"
import { oneLine } from "../domain/foreign-text/markdown.ts"
import { AppError } from "../errors.ts"
import { checkEdit, type EditVerdict } from "../operations/coordination/edits.ts"
import {
  continueEarlierSession,
  findHolder,
  type Holder,
  type SessionClues,
} from "../operations/coordination/holder.ts"
import { workPlaceAround } from "../operations/coordination/locations.ts"
import {
  endSession,
  startSession,
  takeUnannouncedMail,
  takeUntold,
} from "../operations/coordination/session-events.ts"
import { beginTurn, hasPushes, type Mention, takePushes } from "../operations/coordination/turn-end.ts"
import type { CallContext } from "../operations/operation.ts"
import { answerTo, type HookAnswer, type HookDecision, NO_OUTPUT } from "./answer.ts"
import { CLIENT_NAMES, HOOK_EVENTS } from "./client-names.ts"
import { processesOfClient } from "./client-processes.ts"
import { clientFacts } from "./clients.ts"
import { decideGit, GIT_EVENTS } from "./git.ts"
import { type HookCall, PayloadError, readPayload } from "./payload/payload.ts"
import type { HookRequest } from "./request.ts"
import { blockText, mailText, mentionText, pushText, sharedText, warningText, welcomeText } from "./texts.ts"

/** Returns what the hook prints and how it ends; never fails, and only a conflict ever stops an edit. */
export async function answerHook(context: CallContext, request: HookRequest): Promise<HookAnswer> {
  try {
    return await decide(context, request)
  } catch (error) {
    const isExpected = error instanceof PayloadError || error instanceof AppError
    if (!isExpected) context.app.log.error("the hook failed unexpectedly", { event: request.event, error })
    return request.event === "turn-end" ? NO_OUTPUT : failOpen(reasonOf(error))
  }
}

/** Returns why something failed, with what to do where that is known, for a line that is no Markdown. */
export function reasonOf(error: unknown): string {
  return error instanceof AppError ? error.text.replaceAll("`", "") : (error as Error).message
}

/** Returns the answer that lets an edit go on although it was not checked. */
export function failOpen(why: string): HookAnswer {
  return { ...NO_OUTPUT, stderr: `signalbox: not checked, the edit goes on: ${oneLine(why)}` }
}

async function decide(context: CallContext, request: HookRequest): Promise<HookAnswer> {
  const gitEvent = GIT_EVENTS.find((event) => event === request.event)
  if (request.client === "git" && gitEvent !== undefined) return decideGit(context, gitEvent, request)
  const client = CLIENT_NAMES.find((name) => name === request.client)
  const event = HOOK_EVENTS.find((name) => name === request.event)
  if (client === undefined || event === undefined)
    return failOpen(`the hook knows no client "${request.client}" with an event "${request.event}"`)
  const call = readPayload(client, event, request.payload, request)
  const clues = cluesIn(call, request)
  if (event === "turn-end") return answerTo(call, await decideTurnEnd(context, call, clues))
  const { decision, warnings } =
    event === "pre-edit" ? await decideEdit(context, call, clues) : await decideSession(context, call, clues)
  const answer = answerTo(call, decision)
  if (answer.exitCode !== 0 || warnings.length === 0) return answer
  const warning = `signalbox: ${oneLine(warnings.join(" "))}`
  return { ...answer, stderr: `${answer.stderr.trimEnd()}\n${warning}`.trimStart() }
}

/** Noted once the model of a session knows who it is. */
const STARTED = "session-start"

interface Decided {
  decision: HookDecision
  /** What is wrong with the settings. */
  warnings: readonly string[]
}

/** What blocks the edit in one work tree blocks the whole of it. */
async function decideEdit(context: CallContext, call: HookCall, clues: SessionClues): Promise<Decided> {
  const folder = call.folder ?? context.app.config.workingFolder
  const verdicts = await checkEdit(context, clues, { paths: call.paths, folder })
  const warnings = [...new Set(verdicts.flatMap((one) => one.warnings))]
  const blocked = verdicts.filter(({ isBlocked }) => isBlocked)
  if (blocked.length > 0)
    return { decision: { kind: "block", text: blocked.map(blockedText).join("\n") }, warnings }
  const texts = [
    ...verdicts.flatMap((one) => one.weakenings).map(weakeningText),
    ...verdicts.flatMap(noticeTexts),
  ]
  return { decision: toldAll(texts), warnings }
}

function blockedText({ settings, claimant, conflicts, mayBeSelf, nowMs }: EditVerdict): string {
  const guidance = { shown: settings.showGuidance, allowsOverride: settings.allowOverrides, mayBeSelf }
  return blockText(conflicts, claimant, nowMs, guidance)
}

function noticeTexts({ notices, nowMs }: EditVerdict): string[] {
  return notices.map(({ claimed, conflicts, sharers }) =>
    conflicts.length > 0 ? warningText(conflicts, nowMs) : sharedText(claimed.path, sharers, nowMs),
  )
}

async function decideSession(context: CallContext, call: HookCall, clues: SessionClues): Promise<Decided> {
  const { app } = context
  const { event } = call
  const client = clientFacts(call.client)
  const place = call.folder === undefined ? undefined : await workPlaceAround(app, call.folder)
  const kind = event === "session-start" ? "starts" : event === "session-end" ? "ends" : "within"
  const holder = await findHolder(app, clues, place?.repository, kind)
  // Whatever the settings say now, nothing that an ended session holds may stay behind.
  if (event === "session-end") await endSession(context, holder, client)
  const read = readHookSettings(app.config.userConfigPath, place?.rootPath)
  const { settings } = read
  const warnings = [...read.warnings, ...holder.warnings]
  if (event === "session-end") return { decision: { kind: "allow" }, warnings }
  const weakenings = canTell(call) ? (await takeUntold(app, holder, read.weakenings)).map(weakeningText) : []
  if (!settings.enabled) return { decision: toldAll(weakenings), warnings }
  const isFirst = event === "session-start" || (await isFirstHeard(app, call, holder))
  const mentions =
    call.isPrompt && read.mail.push ? await beginTurn(context, holder, canTell(call) && !isFirst) : []
  if (isFirst) {
    const goesOn = call.continues && client.tellsServersItsSession
    const current = goesOn ? await continueEarlierSession(app, clues, holder, place?.repository) : holder
    const start = place && (await startSession(context, current, clues, place, canTell(call)))
    return { decision: toldAll([...(start ? [welcomeText(start)] : []), ...weakenings]), warnings }
  }
  const told = await announceMail(context, call, holder, mentions)
  return { decision: toldAll([...weakenings, ...told]), warnings }
}

/** Returns what a session is told of its mail; what the client would not show must not count as told. */
async function announceMail(
  context: CallContext,
  call: HookCall,
  holder: Holder,
  mentions: readonly Mention[],
) {
  const mail = canTell(call) ? await takeUnannouncedMail(context, holder) : undefined
  const urgent = mail === undefined ? [] : [mailText(mail.agent, mail.waiting)]
  return [...urgent, ...mentions.map(mentionText)]
}

/** What is to be handed to an agent before it stops; hardly ever is there anything, which takes a few reads to find out. */
async function decideTurnEnd(
  context: CallContext,
  call: HookCall,
  clues: SessionClues,
): Promise<HookDecision> {
  const { app } = context
  if (call.isPassed || !canTell(call)) return { kind: "allow" }
  const place = call.folder === undefined ? undefined : await workPlaceAround(app, call.folder)
  const holder = await findHolder(app, clues, place?.repository)
  const isResumed = call.isContinued && clientFacts(call.client).submitsWhatHolds === true
  if (!(await hasPushes(context, holder, isResumed))) return { kind: "allow" }
  const { settings, mail } = readHookSettings(app.config.userConfigPath, place?.rootPath)
  if (!settings.enabled || !mail.push) return { kind: "allow" }
  const pushes = await takePushes(context, holder, isResumed)
  return pushes.length === 0 ? { kind: "allow" } : { kind: "inform", text: pushText(pushes) }
}

/** Whether this is the first event of a session that its model hears, where that is not the start; it is noted. */
async function isFirstHeard(app: CallContext["app"], call: HookCall, holder: Holder): Promise<boolean> {
  if (clientFacts(call.client).hearsStartLater !== true || !canTell(call)) return false
  return (await takeUntold(app, holder, [STARTED])).length > 0
}

/** Whether the client gives its model what the hook says at this event. */
function canTell({ client, event, eventName }: HookCall): boolean {
  const { contextForms, deafEvents } = clientFacts(client)
  return contextForms[event] !== undefined && !deafEvents.includes(eventName ?? "")
}

function weakeningText(text: string): string {
  return `signalbox: ${oneLine(text)}`
}

function toldAll(texts: readonly string[]): HookDecision {
  return texts.length === 0 ? { kind: "allow" } : { kind: "inform", text: texts.join("\n") }
}

function cluesIn({ client, model, session }: HookCall, request: HookRequest): SessionClues {
  const inherited = request.sessionClient === client ? request.sessionId : undefined
  return {
    program: client,
    model,
    sessionId: request.namedSession ?? session ?? inherited,
    processesAbove: () => processesOfClient(request.parentPid, client),
    agentName: request.agentName,
    projectKey: request.projectKey,
  }
}
