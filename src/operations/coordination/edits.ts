/**
 * What may be done with files before they are edited: each work tree's files by its own settings, for the session
 * that edits them. Data goes one way: locate the files, read the settings, find the session, claim, tell.
 */

import { type HookSettings, matchesAny, modeFor, readHookSettings } from "../../config/hook-settings.ts"
import { FILE_PATHS_MAX } from "../../config/limits.ts"
import type { Reservation } from "../../domain/coordination/reservation.ts"
import { oneLine } from "../../domain/foreign-text/markdown.ts"
import type { Repository } from "../../domain/project.ts"
import { AppError } from "../../errors.ts"
import { findAgentById, touchAgentAt } from "../../store/coordination/agents.ts"
import type { KnownCandidates } from "../../store/coordination/reservations.ts"
import { noteOnce, wasNotified } from "../../store/coordination/sessions.ts"
import { recordEvent } from "../../store/events.ts"
import type { App } from "../app.ts"
import type { CallContext } from "../operation.ts"
import {
  areCovered,
  type Claimant,
  type ClaimConflict,
  type ClaimedPath,
  claim,
  claimOf,
  findClaimConflicts,
  findSharers,
  useWaited,
} from "./claims.ts"
import { tendDeadSessions } from "./dead-sessions.ts"
import {
  findClaimant,
  findHolder,
  type Holder,
  isAnchored,
  namedProjectKey,
  requireClaimant,
  type SessionClues,
} from "./holder.ts"
import { type Location, locate } from "./locations.ts"
import { blockedEdits, editEvent, tellRefused } from "./refusals.ts"
import { takeUntold } from "./session-events.ts"

/** What the session is told of a file, once. */
interface FileNotice {
  claimed: ClaimedPath
  /** What stands in the way of an edit that goes on all the same. */
  conflicts: readonly ClaimConflict[]
  /** Otherwise who shares the file. */
  sharers: readonly Reservation[]
}

/** What was decided on the files of one work tree. */
export interface EditVerdict {
  settings: HookSettings
  /** What is wrong with the settings, and why some of the files cannot be checked. */
  warnings: readonly string[]
  /** What the session has not been told yet of settings that the project weakens. */
  weakenings: readonly string[]
  /** Undefined for a session that has no agent and got none. */
  claimant: Claimant | undefined
  conflicts: readonly ClaimConflict[]
  isBlocked: boolean
  /** Of a blocked edit: whether the holder may be the very session that edits, which nothing told. */
  mayBeSelf: boolean
  notices: readonly FileNotice[]
  nowMs: number
}

/**
 * Decides on an edit of files, relative ones from `folder`, and reserves what it needs where the settings say so; one
 * judgement for each work tree. Files outside of connected repositories are nobody's.
 */
export async function checkEdit(
  context: CallContext,
  clues: SessionClues,
  { paths, folder }: { paths: readonly string[]; folder: string },
): Promise<EditVerdict[]> {
  const locations = await locateAll(context.app, paths, folder)
  const verdicts: EditVerdict[] = []
  for (const rootPath of new Set(locations.map((location) => location.rootPath))) {
    const files = locations.filter((location) => location.rootPath === rootPath)
    verdicts.push(await checkFiles(context, clues, rootPath, files))
  }
  return verdicts
}

/** Returns where files lie, relative ones from `folder`; those in no connected repository are left out. */
export async function locateAll(app: App, paths: readonly string[], folder: string): Promise<Location[]> {
  const locations: Location[] = []
  for (const path of new Set(paths)) {
    const location = await locate(app, path, folder)
    if (location !== undefined) locations.push(location)
  }
  return locations
}

/** Returns what an edit or a commit claims, and why some of its files cannot be checked; ignored files are left out. */
export function claimsOf(
  locations: readonly Location[],
  settings: HookSettings,
): { claims: ClaimedPath[]; problems: string[] } {
  const claims: ClaimedPath[] = []
  const problems: string[] = []
  for (const location of locations) {
    if (matchesAny(settings.ignorePatterns, location.path)) continue
    try {
      claims.push(claimOf(location, modeFor(settings, location.path) === "exclusive"))
    } catch (error) {
      if (!(error instanceof AppError)) throw error
      problems.push(`a file was not checked: ${oneLine(error.text)}`)
    }
  }
  return { claims, problems }
}

async function checkFiles(
  context: CallContext,
  clues: SessionClues,
  rootPath: string,
  locations: readonly Location[],
): Promise<EditVerdict> {
  const { app } = context
  const { settings, warnings, weakenings } = readHookSettings(app.config.userConfigPath, rootPath)
  const { claims, problems } = settings.enabled ? claimsOf(locations, settings) : { claims: [], problems: [] }
  const allowed = {
    settings,
    warnings: [...warnings, ...problems],
    weakenings: [],
    claimant: undefined,
    conflicts: [],
    isBlocked: false,
    mayBeSelf: false,
    notices: [],
    nowMs: app.now(),
  }
  const [first] = claims
  const { repository } = first ?? { repository: locations[0]?.repository }
  if (repository === undefined || (first === undefined && weakenings.length === 0)) return allowed
  const holder = await findHolder(app, clues, repository)
  if (first === undefined) return { ...allowed, weakenings: await takeUntold(app, holder, weakenings) }
  const known: KnownCandidates = new Map()
  const files = { repository, claims, settings, known }
  const { claimant, conflicts } = await claimFiles(context, clues, holder, files)
  if (claimant !== undefined && conflicts.length === 0) await useWaited(app, claimant, claims)
  const nowMs = app.now()
  if (claimant !== undefined) await touch(app, claimant, rootPath, nowMs)
  const judgement = {
    ...allowed,
    warnings: [...allowed.warnings, ...holder.warnings],
    claimant,
    conflicts,
    nowMs,
  }
  if (conflicts.length > 0 && settings.blockConflicts) {
    // Two ids that a client gave are two sessions; a server's session without one may be this very one.
    const mayBeSelf = !(await isAnchored(app.db, holder)) && (await isAnyServers(app, conflicts))
    await tellRefused(app, blockedEdits({ agent: claimant?.agent, program: clues.program }, conflicts), {
      waits: false,
    })
    return { ...judgement, isBlocked: true, mayBeSelf }
  }
  const untold = await takeUntold(app, holder, weakenings)
  const told = { ...judgement, known, program: clues.program }
  return { ...judgement, weakenings: untold, notices: await firstNotices(app, holder, claims, told) }
}

interface Claimed {
  claimant: Claimant | undefined
  conflicts: readonly ClaimConflict[]
}

/**
 * Reserves what is edited where the settings say so, making an agent for a session that has none, or returns what
 * stands in the way. For a session that nobody knows nothing is reserved.
 */
async function claimFiles(
  context: CallContext,
  clues: SessionClues,
  holder: Holder,
  {
    repository,
    claims,
    settings,
    known,
  }: {
    repository: Repository
    claims: readonly ClaimedPath[]
    settings: HookSettings
    /** What is read of the reservations before anything is reserved. */
    known: KnownCandidates
  },
): Promise<Claimed> {
  const { app } = context
  const present = await findClaimant(app.db, holder, repository)
  const reserves = settings.autoReserve && (present !== undefined || holder.session !== undefined)
  // The usual case, the next edit of a file, writes nothing.
  if (reserves && present !== undefined && (await areCovered(app.db, present, claims, app.now(), known)))
    return { claimant: present, conflicts: [] }
  // What is seen to be in the way needs no lock, which another process may hold for too long.
  let seen = await findClaimConflicts(app.db, present, claims, app.now(), { known })
  // Whoever stands in the way may have died, which nobody may have noticed where none listens.
  if (seen.length > 0 && (await tendHolders(app, seen)).hasChanged) {
    known.clear()
    seen = await findClaimConflicts(app.db, present, claims, app.now(), { known })
  }
  if (seen.length > 0 || !reserves) return { claimant: present, conflicts: seen }
  // All processes share the lock, so an edit of very many files reserves only so many of them.
  const reserved = claims.slice(0, FILE_PATHS_MAX)
  const projectKey = await namedProjectKey(clues)
  return app.db.transaction(`repository:${repository.id}`, async (tx) => {
    const dated = { ...context, nowMs: app.now() }
    const claimant = await requireClaimant(tx, dated, holder, clues, {
      repository,
      workTree: reserved[0]?.rootPath,
      projectKey,
    })
    const terms = { durationSeconds: settings.reservationDuration, reason: null, keeps: true }
    return { claimant, conflicts: (await claim(tx, dated, claimant, reserved, terms)).conflicts }
  })
}

/** Looks at those alone that stand in the way: an edit waits, and the others are looked at by whoever listens. */
async function tendHolders(app: App, conflicts: readonly ClaimConflict[]) {
  return tendDeadSessions(app, { sessions: [...new Set(await sessionsOf(app, conflicts))] })
}

/** An agent's last activity is written at most this often by edits that change nothing else. */
const ACTIVITY_STEP_MS = 30_000

async function touch(app: App, { agent }: Claimant, rootPath: string, nowMs: number): Promise<void> {
  if (nowMs - agent.lastActiveAtMs >= ACTIVITY_STEP_MS || agent.workTree !== rootPath)
    await touchAgentAt(app.db, agent.id, rootPath, nowMs)
}

async function isAnyServers(app: App, conflicts: readonly ClaimConflict[]): Promise<boolean> {
  return (await sessionsOf(app, conflicts)).some((session) => session.startsWith("process:"))
}

async function sessionsOf(app: App, conflicts: readonly ClaimConflict[]): Promise<string[]> {
  const sessions: string[] = []
  for (const agentId of new Set(conflicts.map(({ reservation }) => reservation.agentId))) {
    const session = (await findAgentById(app.db, agentId))?.session
    if (session !== undefined && session !== null) sessions.push(session)
  }
  return sessions
}

/**
 * Returns what there is to say of each file that the session was not told of before, nothing where the settings want no
 * guidance. That the edit goes on beside others is an event, once for each file and session.
 */
async function firstNotices(
  app: App,
  { session }: Holder,
  claims: readonly ClaimedPath[],
  {
    claimant,
    conflicts,
    nowMs,
    known,
    program,
    settings: { showGuidance },
  }: Claimed & Pick<EditVerdict, "nowMs" | "settings"> & { known: KnownCandidates; program: string },
): Promise<FileNotice[]> {
  const notices: FileNotice[] = []
  for (const claimed of claims) {
    const name = `${showGuidance ? "file" : "edit"}:${claimed.repository.id}:${claimed.path}`
    if (session !== undefined && (await wasNotified(app.db, session, name))) continue
    const inTheWay = conflicts.filter((conflict) => conflict.claimed === claimed)
    const sharers = inTheWay.length > 0 ? [] : await findSharers(app.db, claimant, claimed, nowMs, { known })
    if (inTheWay.length === 0 && sharers.length === 0) continue
    const holders = inTheWay.length > 0 ? inTheWay.map(({ reservation }) => reservation) : sharers
    const event = editEvent("edit.allowed", { agent: claimant?.agent, program }, claimed, holders)
    const isFirst =
      session === undefined ||
      (await app.db.transaction("sessions", async (tx) => {
        const isNew = await noteOnce(tx, session, name, app.now())
        if (isNew) await recordEvent(tx, event, app.now())
        return isNew
      }))
    if (isFirst) notices.push({ claimed, conflicts: inTheWay, sharers })
  }
  return showGuidance ? notices : []
}
