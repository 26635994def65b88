/** Reservations as programs ask for them: of files, by their paths, for an agent, by its id. */

import { isAbsolute } from "node:path"
import { modeFor, readHookSettings } from "../../config/hook-settings.ts"
import { isNotifier } from "../../domain/coordination/agent.ts"
import type { Reservation, ReservationMode } from "../../domain/coordination/reservation.ts"
import { echoed } from "../../domain/foreign-text/markdown.ts"
import { AppError, assert, invalid } from "../../errors.ts"
import { findAgentById, touchAgent } from "../../store/coordination/agents.ts"
import { findReservation } from "../../store/coordination/reservations.ts"
import { findProjectById } from "../../store/projects.ts"
import {
  howToConnect,
  requireActor,
  requireRepository,
  requireRepositoryScope,
  requireScope,
} from "../admission.ts"
import type { App } from "../app.ts"
import type { CallContext } from "../operation.ts"
import { type Claimant, type ClaimOutcome, claim, claimOf, findHolders } from "./claims.ts"
import { isVisible, listHeld, visible } from "./held.ts"
import { findLocation, type Location } from "./locations.ts"
import { type OverrideOutcome, requestOverride } from "./overrides.ts"
import { refusedClaims, tellRefused } from "./refusals.ts"
import { admitToRepository, releaseOf } from "./reservations.ts"
import { ownAgentIdsOf } from "./sessions.ts"

/** A file by its path: absolute, or relative together with its repository. */
interface FileAsked {
  path: string
  repositoryId: number | undefined
}

/** A reservation, and the file that was asked for, or its pattern where none was. */
export interface HeldFile {
  file: string
  reservation: Reservation
}

/**
 * Returns what holds a file, or without one all that is held in a repository, as far as the key reaches. Fails with
 * `invalid`, `not_found` and `forbidden`.
 */
export async function listHeldFiles(
  context: CallContext,
  { path, repositoryId }: { path: string | undefined; repositoryId: number | undefined },
): Promise<HeldFile[]> {
  const { app, key } = context
  if (path === undefined) {
    if (repositoryId === undefined)
      throw invalid("path", "is required", "Give a path, or repository_id for all that is held there.")
    const repository = await requireRepository(app.db, repositoryId)
    await requireRepositoryScope(app.db, key, repository.id)
    const all = await listHeld(context, repository.id)
    return all.map((reservation) => ({ file: reservation.pathPattern, reservation }))
  }
  const location = await requireLocation(app, { path, repositoryId })
  await requireRepositoryScope(app.db, key, location.repository.id)
  const holders = await visible(context, await findHolders(app.db, location, app.now()))
  return holders.map((reservation) => ({ file: location.path, reservation }))
}

interface FilesAsked {
  agentId: string
  paths: readonly string[]
  repositoryId: number | undefined
  /** As each work tree's settings say unless given; so is the duration, by the first file's. */
  mode: ReservationMode | undefined
  durationSeconds: number | undefined
  reason: string | null
}

/** Reserves files for an agent, all of them or none. Fails with `invalid`, `not_found` and `forbidden`. */
export async function reserveFiles(context: CallContext, asked: FilesAsked): Promise<ClaimOutcome> {
  const { app } = context
  const { repositoryId, mode, reason } = asked
  const claimant = await requireAgentById(context, asked.agentId)
  const locations: Location[] = []
  for (const path of new Set(asked.paths))
    locations.push(await requireLocation(app, { path, repositoryId }, "paths"))
  const inProject = { ...context, project: claimant.project }
  for (const id of new Set(locations.map(({ repository }) => repository.id)))
    await admitToRepository(inProject, id)
  const claims = locations.map((location) => {
    const modeHere = mode ?? modeFor(settingsAt(app, location), location.path)
    return claimOf(location, modeHere === "exclusive", "paths")
  })
  const [first] = locations
  assert(first !== undefined, "at least one path is asked for")
  const durationSeconds = asked.durationSeconds ?? settingsAt(app, first).reservationDuration
  const terms = { durationSeconds, reason, keeps: false }
  const outcome = await app.db.transaction(`repository:${first.repository.id}`, (tx) =>
    claim(tx, { ...context, nowMs: app.now() }, claimant, claims, terms),
  )
  await tellRefused(app, refusedClaims(claimant.agent, outcome.conflicts))
  return outcome
}

/** What became of a release: `unknown` is also what the key may not know of, `others` names the holder. */
export type Release =
  | { status: "released" | "not_held" | "unknown" }
  | { status: "others"; reservation: Reservation }

/** Releases a reservation of an agent's session. Fails with `not_found` and `forbidden` for the agent. */
export async function releaseFile(
  context: CallContext,
  agentId: string,
  reservationId: number,
): Promise<Release> {
  const { app } = context
  const claimant = await requireAgentById(context, agentId)
  const reservation = await findReservation(app.db, reservationId)
  if (reservation === undefined || !(await isVisible(context, reservation))) return { status: "unknown" }
  if (!claimant.ownAgentIds.has(reservation.agentId)) return { status: "others", reservation }
  const holder = await findAgentById(app.db, reservation.agentId)
  assert(holder !== undefined, "a reservation has a holder")
  const released = await releaseOf(context, holder, [reservation.id])
  return { status: released.length > 0 ? "released" : "not_held" }
}

/** Takes a file from its holders for an agent, by the rules of its work tree; fails as `requestOverride` does. */
export async function overrideFile(
  context: CallContext,
  { agentId, reason, ...file }: FileAsked & { agentId: string; reason: string },
): Promise<OverrideOutcome> {
  const claimant = await requireAgentById(context, agentId)
  const location = await requireLocation(context.app, file)
  await admitToRepository({ ...context, project: claimant.project }, location.repository.id)
  return requestOverride(context, claimant, location, reason, settingsAt(context.app, location))
}

/**
 * Finds the agent that a call is made for, with all that are one session with it, and marks it active. Its id is taken as it was written:
 * a number of 16 digits may be rounded, and the error would name another one.
 */
async function requireAgentById(context: CallContext, agentId: string): Promise<Claimant> {
  const { app, key } = context
  const found = await findAgentById(app.db, Number(agentId))
  const project = found && (await findProjectById(app.db, found.projectId))
  if (found === undefined || project === undefined || isNotifier(found.name)) {
    throw new AppError("not_found", `agent ${agentId} was not found`, {
      hint: "Register with register-agent or macro-start-session to get an agent id.",
    })
  }
  await requireScope(app.db, key, project, undefined)
  const agent = await requireActor(context, found)
  await touchAgent(app.db, agent.id, app.now())
  return { agent, project, ownAgentIds: await ownAgentIdsOf(app.db, agent) }
}

/** Finds a file of a connected repository; fails with `invalid`, naming the field. */
async function requireLocation(
  app: App,
  { path, repositoryId }: FileAsked,
  field = "path",
): Promise<Location> {
  if (!isAbsolute(path) && repositoryId === undefined)
    throw invalid(field, `${echoed(path)} is relative`, "Give an absolute path, or repository_id as well.")
  const repository = repositoryId === undefined ? undefined : await requireRepository(app.db, repositoryId)
  const location = await findLocation(app, path, repository)
  if (location === undefined || (repository !== undefined && location.repository.id !== repository.id)) {
    const where =
      repository === undefined
        ? "lies in no connected repository"
        : `does not lie in repository ${repository.id}`
    throw invalid(field, `${echoed(path)} ${where}`, howToConnect())
  }
  return location
}

function settingsAt(app: App, { rootPath }: Location) {
  return readHookSettings(app.config.userConfigPath, rootPath).settings
}
