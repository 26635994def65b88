/**
 * Decides what a hook says. One function for the listener and for the hook that found none: the payload
 * goes in, what the client wants to see comes out. Whatever goes wrong, the answer is to let the edit go on.
 */

import { AppError, assert } from "../errors.ts"
import { FILE_PATHS_MAX } from "../limits.ts"
import type { App } from "../operations/app.ts"
import {
  areCovered,
  type Claimant,
  type ClaimConflict,
  type ClaimedPath,
  claim,
  findClaimConflicts,
  findSharers,
} from "../operations/claims.ts"
import { type Location, locate, workPlaceAround } from "../operations/locations.ts"
import { oneLine } from "../operations/markdown.ts"
import type { CallContext } from "../operations/operation.ts"
import { findAgentById, touchAgent } from "../store/agents.ts"
import { noteOnce, wasTold } from "../store/sessions.ts"
import { answerTo, type HookAnswer, type HookDecision, SILENCE } from "./answer.ts"
import { CLIENT_NAMES, type ClientName, HOOK_EVENTS, type HookEvent } from "./client-names.ts"
import { clientFacts } from "./clients.ts"
import { claimsOf } from "./edited-files.ts"
import { decideGit, GIT_EVENTS } from "./git.ts"
import {
  type Caller,
  continueEarlierSession,
  findClaimant,
  findHolder,
  type Holder,
  isTied,
  namedProjectKey,
  requireClaimant,
} from "./holder.ts"
import { type HookCall, PayloadError, readPayload } from "./payload.ts"
import type { HookRequest } from "./request.ts"
import { endSession, tellMail, welcome } from "./session.ts"
import { type HookSettings, readHookSettings } from "./settings.ts"
import { blockText, sharedText, warningText } from "./texts.ts"

/** Returns what the hook prints and how it ends; never fails, and only a conflict ever stops an edit. */
export async function answerHook(context: CallContext, request: HookRequest): Promise<HookAnswer> {
  try {
    return await decide(context, request)
  } catch (error) {
    const isExpected = error instanceof PayloadError || error instanceof AppError
    if (!isExpected) context.app.log.error("the hook failed unexpectedly", { event: request.event, error })
    return letGo((error as Error).message)
  }
}

/** Returns the answer that lets an edit go on although it was not checked. */
export function letGo(why: string): HookAnswer {
  return { ...SILENCE, stderr: `signalbox: not checked, the edit goes on: ${oneLine(why)}` }
}

async function decide(context: CallContext, request: HookRequest): Promise<HookAnswer> {
  const gitEvent = GIT_EVENTS.find((event) => event === request.event)
  if (request.client === "git" && gitEvent !== undefined) return decideGit(context, gitEvent, request)
  const client = CLIENT_NAMES.find((name) => name === request.client)
  const event = HOOK_EVENTS.find((name) => name === request.event)
  if (client === undefined || event === undefined)
    return letGo(`the hook knows no client "${request.client}" with an event "${request.event}"`)
  const call = readPayload(client, event, request.payload, request)
  const caller = callerOf(client, call, request)
  const { decision, warnings } = await decideEvent(context, event, call, caller)
  const answer = answerTo(call, decision)
  if (answer.exitCode !== 0 || warnings.length === 0) return answer
  const warning = `signalbox: ${oneLine(warnings.join(" "))}`
  return { ...answer, stderr: `${answer.stderr.trimEnd()}\n${warning}`.trimStart() }
}

interface Decided {
  decision: HookDecision
  /** What is wrong with the settings. */
  warnings: readonly string[]
}

async function decideEvent(
  context: CallContext,
  event: HookEvent,
  call: HookCall,
  caller: Caller,
): Promise<Decided> {
  const { app } = context
  if (event === "pre-edit") return decideEdit(context, call, caller)
  const place = call.folder === undefined ? undefined : await workPlaceAround(app, call.folder)
  const kind = event === "session-start" ? "starts" : "within"
  let holder = await findHolder(app, caller, place?.repository, kind)
  // Whatever the settings say now, nothing that an ended session holds may stay behind.
  if (event === "session-end") await endSession(context, holder, clientFacts(call.client))
  const { settings, warnings } = readHookSettings(app.config.userConfigPath, place?.rootPath)
  if (event === "session-end" || !settings.enabled) return { decision: { kind: "allow" }, warnings }
  if (event === "session-start") {
    if (call.continues && clientFacts(call.client).tellsServersItsSession && holder.session !== undefined) {
      await continueEarlierSession(app, holder.session)
      holder = await findHolder(app, caller, place?.repository)
    }
    const text = place && (await welcome(context, holder, caller, place.repository))
    return { decision: told(text), warnings }
  }
  // What nobody would read must not count as told.
  return { decision: told(canTell(call) ? await tellMail(context, holder) : undefined), warnings }
}

/** Whether the client gives its model what the hook says at this event. */
function canTell({ client, event, eventName }: HookCall): boolean {
  const { contextForms, deafEvents } = clientFacts(client)
  return contextForms[event] !== undefined && !deafEvents.includes(eventName ?? "")
}

function told(text: string | undefined): HookDecision {
  return text === undefined ? { kind: "allow" } : { kind: "inform", text }
}

/** Decides each work tree's files by its own settings; what is blocked in one blocks the whole edit. */
async function decideEdit(context: CallContext, call: HookCall, caller: Caller): Promise<Decided> {
  const { app } = context
  const locations = await locateAll(app, call.paths, call.folder ?? app.config.workingFolder)
  const decided: Decided[] = []
  for (const rootPath of new Set(locations.map((location) => location.rootPath))) {
    const files = locations.filter((location) => location.rootPath === rootPath)
    decided.push(await decideFiles(context, files, caller))
  }
  const warnings = decided.flatMap((one) => one.warnings)
  const blocks = decided.flatMap(({ decision }) => (decision.kind === "block" ? [decision.text] : []))
  if (blocks.length > 0) return { decision: { kind: "block", text: blocks.join("\n") }, warnings }
  const texts = decided.flatMap(({ decision }) => (decision.kind === "inform" ? [decision.text] : []))
  return { decision: told(texts.length === 0 ? undefined : texts.join("\n")), warnings }
}

async function decideFiles(
  context: CallContext,
  locations: readonly Location[],
  caller: Caller,
): Promise<Decided> {
  const { app } = context
  const [first] = locations
  assert(first !== undefined, "a group of files has one")
  const { settings, warnings } = readHookSettings(app.config.userConfigPath, first.rootPath)
  if (!settings.enabled) return { decision: { kind: "allow" }, warnings }
  const { paths, problems } = claimsOf(locations, settings)
  const all = [...warnings, ...problems]
  if (paths.length === 0) return { decision: { kind: "allow" }, warnings: all }
  const edit = { paths, caller, holder: await findHolder(app, caller, first.repository) }
  return { decision: await weigh(context, edit, settings), warnings: all }
}

interface Edit {
  paths: readonly ClaimedPath[]
  caller: Caller
  holder: Holder
}

async function weigh(context: CallContext, edit: Edit, settings: HookSettings): Promise<HookDecision> {
  const { app } = context
  const { paths, holder } = edit
  const claimed = settings.autoReserve
    ? await reserve(context, edit, settings.reservationDuration)
    : undefined
  const claimant = claimed?.claimant ?? (await claimantNow(context, edit))
  const nowMs = app.now()
  if (claimant !== undefined) await touch(app, claimant, nowMs)
  const conflicts = claimed?.conflicts ?? (await findClaimConflicts(app.db, claimant, paths, nowMs))
  if (conflicts.length > 0 && settings.blockConflicts) {
    // Two ids that a client gave are two sessions; a server's session without one may be this very one.
    const mayBeSelf = !(await isTied(app.db, holder)) && (await isAnyServers(context, conflicts))
    const guidance = { shown: settings.showGuidance, allowsOverride: settings.allowOverrides, mayBeSelf }
    return { kind: "block", text: blockText(conflicts, claimant, nowMs, guidance) }
  }
  if (!settings.showGuidance) return { kind: "allow" }
  const texts = await firstNotices(context, holder, paths, async (path) => {
    const inTheWay = conflicts.filter(({ claimed }) => claimed === path)
    if (inTheWay.length > 0) return warningText(inTheWay, nowMs)
    const sharers = await findSharers(app.db, claimant ?? ownOf(holder), path, nowMs)
    return sharers.length === 0 ? undefined : sharedText(path.path, sharers, nowMs)
  })
  return told(texts.length === 0 ? undefined : texts.join("\n"))
}

async function isAnyServers({ app }: CallContext, conflicts: readonly ClaimConflict[]): Promise<boolean> {
  for (const { reservation } of conflicts) {
    const agent = await findAgentById(app.db, reservation.agentId)
    if (agent?.session?.startsWith("process:") === true) return true
  }
  return false
}

interface Reserved {
  claimant: Claimant | undefined
  conflicts: ClaimConflict[]
}

/**
 * Reserves what is edited, making an agent for a session that has none, or returns what stands in the way;
 * undefined for a session nobody knows.
 */
async function reserve(
  context: CallContext,
  { paths, caller, holder }: Edit,
  durationSeconds: number,
): Promise<Reserved | undefined> {
  const { app } = context
  const [first] = paths
  if (first === undefined || (holder.session === undefined && holder.agents.length === 0)) return undefined
  const known = await findClaimant(app.db, holder, first.repository)
  if (known !== undefined) {
    // The usual case, the next edit of a file, writes nothing.
    if (await areCovered(app.db, known, paths, app.now())) return { claimant: known, conflicts: [] }
  }
  // What is seen to be in the way needs no lock, which somebody else may hold for too long.
  const seen = await findClaimConflicts(app.db, known ?? ownOf(holder), paths, app.now())
  if (seen.length > 0) return { claimant: known, conflicts: seen }
  // The lock is everybody's, so an edit of very many files reserves only so many of them.
  const reserved = paths.slice(0, FILE_PATHS_MAX)
  const projectKey = await namedProjectKey(caller)
  return app.db.transaction(`repository:${first.repository.id}`, async (tx) => {
    const dated = { ...context, nowMs: app.now() }
    const work = { repository: first.repository, projectKey }
    const claimant = await requireClaimant(tx, dated, holder, caller, work)
    const outcome = await claim(tx, dated, claimant, reserved, { durationSeconds, reason: null, keeps: true })
    return { claimant, conflicts: outcome.conflicts }
  })
}

function ownOf(holder: Holder): Pick<Claimant, "ownAgentIds"> {
  return { ownAgentIds: new Set(holder.agents.map(({ id }) => id)) }
}

/** An agent's last activity is written at most this often by edits that change nothing else. */
const ACTIVITY_STEP_MS = 30_000

async function touch(app: App, { agent }: Claimant, nowMs: number): Promise<void> {
  if (nowMs - agent.lastActiveAtMs >= ACTIVITY_STEP_MS) await touchAgent(app.db, agent.id, nowMs)
}

async function claimantNow(context: CallContext, { paths, holder }: Edit): Promise<Claimant | undefined> {
  const [first] = paths
  return first && findClaimant(context.app.db, holder, first.repository)
}

/** Returns what there is to say of each file that the session was not told of before. */
async function firstNotices(
  { app }: CallContext,
  { session }: Holder,
  paths: readonly ClaimedPath[],
  textOf: (path: ClaimedPath) => Promise<string | undefined>,
): Promise<string[]> {
  const texts: string[] = []
  for (const path of paths) {
    const notice = `file:${path.repository.id}:${path.path}`
    if (session !== undefined && (await wasTold(app.db, session, notice))) continue
    const text = await textOf(path)
    if (text === undefined) continue
    const isFirst =
      session === undefined ||
      (await app.db.transaction("sessions", (tx) => noteOnce(tx, session, notice, app.now())))
    if (isFirst) texts.push(text)
  }
  return texts
}

async function locateAll(app: App, paths: readonly string[], folder: string): Promise<Location[]> {
  const locations: Location[] = []
  for (const path of new Set(paths)) {
    const location = await locate(app, path, folder)
    if (location !== undefined) locations.push(location)
  }
  return locations
}

function callerOf(client: ClientName, call: HookCall, request: HookRequest): Caller {
  return {
    program: client,
    model: call.model,
    sessionId: request.namedSession ?? call.session ?? request.sessionId,
    processNames: new Set(clientFacts(client).processNames),
    parentPid: request.parentPid,
    agentName: request.agentName,
    projectKey: request.projectKey,
  }
}
