/** File reservations over HTTP: what holds a path, reserving, releasing, and emergency overrides. */

import { isAbsolute } from "node:path"
import * as z from "zod"
import { isNotifier } from "../domain/agent.ts"
import { hasCoordinationScope, isAdmin, permitsReservation } from "../domain/api-key.ts"
import { modeOf, type Reservation } from "../domain/reservation.ts"
import { AppError, assert, invalid } from "../errors.ts"
import { type HookSettings, modeFor, readHookSettings } from "../hook/settings.ts"
import {
  FILE_PATHS_MAX,
  LISTING_ROWS_MAX,
  REASON_CHARS_MAX,
  RESERVATION_SECONDS_MAX,
  RESERVATION_STATUS_CACHE_MS,
} from "../limits.ts"
import {
  CONNECT_REPOSITORY,
  forbidden,
  requireRepository,
  requireRepositoryScope,
  requireScope,
} from "../operations/admission.ts"
import { type Claimant, type ClaimConflict, claim, claimOf, findHolders } from "../operations/claims.ts"
import { findLocation, type Location } from "../operations/locations.ts"
import { isoTime } from "../operations/markdown.ts"
import type { CallContext } from "../operations/operation.ts"
import { decideOverride, type OverrideOutcome, requestOverride } from "../operations/overrides.ts"
import { admitToRepository, releaseOf } from "../operations/reservations.ts"
import { ownAgentIdsOf } from "../operations/sessions.ts"
import { findAgentById } from "../store/agents.ts"
import { findProjectById } from "../store/projects.ts"
import { findReservation, listReservationsIn } from "../store/reservations.ts"
import { type Answer, type AnyRoute, defineRoute } from "./route.ts"

const PATH = "/api/coordination/file-reservations"
const CACHED_LISTINGS_MAX = 1_000

const idText = z.string().regex(/^[1-9]\d{0,15}$/, "must be the id of an agent, as text")
const idNumberText = z
  .string()
  .regex(/^[1-9]\d{0,15}$/, "must be the id of a repository")
  .transform(Number)
const modes = z.enum(["shared", "exclusive"])

const heldShape = z.object({
  file: z.string().describe("The file asked for, or the reserved pattern; relative to the repository's root"),
  path_pattern: z.string(),
  agent_id: z.string(),
  agent_name: z.string(),
  mode: modes,
  expires_at: z.iso.datetime(),
  reservation_id: z.string(),
  repository_id: z.int(),
  reason: z.string().nullable(),
})

/** Returns the routes, with a cache of their own for listings. */
export function coordinationRoutes(): AnyRoute[] {
  const listings = new Map<string, { untilMs: number; answer: Answer }>()
  const list = defineRoute({
    method: "GET",
    path: PATH,
    api: "coordination",
    summary: "List what holds a file, or everything that is held in a repository",
    isLimited: false,
    query: z.object({
      path: z.string().min(1).optional().describe("Absolute, or relative together with repository_id"),
      repository_id: idNumberText.optional(),
      refresh: z.enum(["true", "false"]).optional().describe("true: not the listing of the last 10 seconds"),
    }),
    responses: {
      200: { description: "The reservations", schema: z.object({ reservations: z.array(heldShape) }) },
    },
    async run(context, { query }) {
      const { app, key } = context
      const asked = JSON.stringify([key.id, query.path, query.repository_id])
      const known = listings.get(asked)
      const nowMs = app.now()
      if (query.refresh !== "true" && known !== undefined && nowMs < known.untilMs) return known.answer
      const answer = { status: 200, body: { reservations: await listHeld(context, query) } }
      if (listings.size >= CACHED_LISTINGS_MAX) listings.clear()
      listings.set(asked, { untilMs: nowMs + RESERVATION_STATUS_CACHE_MS, answer })
      return answer
    },
  })
  return [list, reserve, release, override, decide]
}

const reserve = defineRoute({
  method: "POST",
  path: PATH,
  api: "coordination",
  summary: "Reserve files for an agent, all of them or none",
  isLimited: false,
  body: z.object({
    paths: z.array(z.string().min(1)).min(1).max(FILE_PATHS_MAX),
    agent_id: idText,
    mode: modes.optional().describe("Default: as the project's settings say"),
    duration: z.int().min(1).max(RESERVATION_SECONDS_MAX).optional().describe("Seconds"),
    repository_id: z.int().min(1).optional().describe("Where relative paths start"),
    reason: z.string().min(1).max(REASON_CHARS_MAX).optional(),
  }),
  responses: {
    201: { description: "Reserved" },
    200: { description: "All of it was the agent's own already, and was renewed" },
    409: { description: "Another agent's reservation stands in the way" },
  },
  async run(context, { body }) {
    const { app } = context
    const claimant = await requireClaimant(context, body.agent_id)
    const locations: Location[] = []
    for (const path of new Set(body.paths)) locations.push(await requireLocation(context, path, body))
    const inProject = { ...context, project: claimant.project }
    for (const id of new Set(locations.map(({ repository }) => repository.id)))
      await admitToRepository(inProject, id)
    const paths = locations.map((location) => {
      const mode = body.mode ?? modeFor(settingsOf(context, location), location.path)
      return claimOf(location, mode === "exclusive")
    })
    const [first] = locations
    assert(first !== undefined, "at least one path is asked for")
    const durationSeconds = body.duration ?? settingsOf(context, first).reservationDuration
    const outcome = await app.db.transaction(`repository:${first.repository.id}`, (tx) =>
      claim(tx, { ...context, nowMs: app.now() }, claimant, paths, {
        durationSeconds,
        reason: body.reason ?? null,
        keeps: false,
      }),
    )
    if (!("held" in outcome)) return conflictAnswer(outcome.conflicts)
    const [one] = outcome.held
    assert(one !== undefined, "something is held")
    return {
      status: outcome.hasNew ? 201 : 200,
      body: {
        status: outcome.hasNew ? "reserved" : "renewed",
        reservation_id: String(one.id),
        expires_at: isoTime(one.expiresAtMs),
        reservations: outcome.held.map((reservation) => held(reservation, reservation.pathPattern)),
      },
    }
  },
})

const release = defineRoute({
  method: "DELETE",
  path: `${PATH}/:reservation_id`,
  api: "coordination",
  summary: "Release a reservation",
  isLimited: false,
  parameters: z.object({ reservation_id: idText }),
  query: z.object({ agent_id: idText }),
  responses: { 200: { description: "Released" } },
  async run(context, { parameters, query }) {
    const { app } = context
    const claimant = await requireClaimant(context, query.agent_id)
    const id = Number(parameters.reservation_id)
    const reservation = await findReservation(app.db, id)
    if (reservation === undefined || !(await permitsLook(context, reservation))) {
      throw new AppError("not_found", `reservation ${parameters.reservation_id} was not found`, {
        hint: `GET ${PATH} lists those that hold.`,
      })
    }
    if (!claimant.ownAgentIds.has(reservation.agentId)) {
      throw new AppError("refused", `reservation ${id} is ${reservation.agentName}'s`, {
        hint: `In an emergency, POST ${PATH}/override.`,
      })
    }
    const holder = await findAgentById(app.db, reservation.agentId)
    assert(holder !== undefined, "a reservation has a holder")
    const released = await releaseOf(context, holder, [id])
    const status = released.length > 0 ? "released" : "not_held"
    return { status: 200, body: { status, reservation_id: String(id) } }
  },
})

const override = defineRoute({
  method: "POST",
  path: `${PATH}/override`,
  api: "coordination",
  summary: "Take a file away from its holder in an emergency",
  isLimited: false,
  body: z.object({
    path: z.string().min(1),
    agent_id: idText,
    reason: z.string().min(1).max(REASON_CHARS_MAX),
    repository_id: z.int().min(1).optional().describe("Where a relative path starts"),
  }),
  responses: {
    200: { description: "Done; the holder was told" },
    202: { description: "An admin has to approve it" },
  },
  async run(context, { body }) {
    const claimant = await requireClaimant(context, body.agent_id)
    const location = await requireLocation(context, body.path, body)
    await admitToRepository({ ...context, project: claimant.project }, location.repository.id)
    const rules = settingsOf(context, location)
    const outcome = await requestOverride(context, claimant, location, body.reason, rules)
    return overrideAnswer(outcome)
  },
})

const decide = defineRoute({
  method: "POST",
  path: `${PATH}/override/:override_id`,
  api: "coordination",
  summary: "Approve or deny an override that waits",
  isLimited: false,
  parameters: z.object({ override_id: idText }),
  body: z.object({ approved: z.boolean() }),
  responses: { 200: { description: "Decided; requester and holder were told" } },
  async run(context, { parameters, body }) {
    if (!isAdmin(context.key.scopes)) throw forbidden("admin")
    const id = Number(parameters.override_id)
    const decidedBy = `key ${context.key.name}`
    return overrideAnswer(await decideOverride(context, id, body.approved, decidedBy))
  },
})

function overrideAnswer({ override: made, released }: OverrideOutcome): Answer {
  const isPending = made.status === "pending"
  return {
    status: isPending ? 202 : 200,
    body: {
      status: isPending ? "pending_approval" : made.status === "approved" ? "done" : made.status,
      override_id: String(made.id),
      released: released.map((reservation) => held(reservation, reservation.pathPattern)),
    },
  }
}

function conflictAnswer(conflicts: readonly ClaimConflict[]): Answer {
  const [first] = conflicts
  assert(first !== undefined, "a conflict has a holder")
  const { claimed, reservation } = first
  return {
    status: 409,
    body: {
      status: "conflict",
      error: "Conflict",
      message: `${claimed.path} is reserved by ${reservation.agentName} (${modeOf(reservation)}) until ${isoTime(reservation.expiresAtMs)}.`,
      conflicts: conflicts.map((conflict) => held(conflict.reservation, conflict.claimed.path)),
    },
  }
}

async function listHeld(
  context: CallContext,
  query: { path?: string | undefined; repository_id?: number | undefined },
) {
  const { app, key } = context
  requireCoordination(context)
  if (query.path === undefined) {
    if (query.repository_id === undefined)
      throw invalid("path", "is required", "Give a path, or repository_id for all that is held there.")
    const repository = await requireRepository(app.db, query.repository_id)
    await requireRepositoryScope(app.db, key, repository.id)
    const all = await listReservationsIn(app.db, repository.id, app.now(), LISTING_ROWS_MAX)
    return (await visible(context, all)).map((reservation) => held(reservation, reservation.pathPattern))
  }
  const location = await requireLocation(context, query.path, query)
  await requireRepositoryScope(app.db, key, location.repository.id)
  const holders = await findHolders(app.db, location, app.now())
  return (await visible(context, holders)).map((reservation) => held(reservation, location.path))
}

function held(reservation: Reservation, file: string): z.output<typeof heldShape> {
  return {
    file,
    path_pattern: reservation.pathPattern,
    agent_id: String(reservation.agentId),
    agent_name: reservation.agentName,
    mode: modeOf(reservation),
    expires_at: isoTime(reservation.expiresAtMs),
    reservation_id: String(reservation.id),
    repository_id: reservation.repositoryId,
    reason: reservation.reason,
  }
}

/** Finds the agent that a call is made for, with all that are one session with it. */
async function requireClaimant(context: CallContext, agentId: string): Promise<Claimant> {
  const { app, key } = context
  requireCoordination(context)
  const agent = await findAgentById(app.db, Number(agentId))
  const project = agent && (await findProjectById(app.db, agent.projectId))
  if (agent === undefined || project === undefined || isNotifier(agent.name)) {
    throw new AppError("not_found", `agent ${agentId} was not found`, {
      hint: "Register with register-agent or macro-start-session to get an agent id.",
    })
  }
  await requireScope(app.db, key, project)
  return { agent, project, ownAgentIds: await ownAgentIdsOf(app.db, agent) }
}

function requireCoordination({ key }: CallContext): void {
  if (!hasCoordinationScope(key.scopes))
    throw forbidden("repo:{repository_id}:coordination or project:{project_key}:coordination")
}

/** Returns those reservations that the key may know of: those of the projects and repositories it permits. */
async function visible(context: CallContext, reservations: readonly Reservation[]): Promise<Reservation[]> {
  const seen: Reservation[] = []
  for (const reservation of reservations) if (await permitsLook(context, reservation)) seen.push(reservation)
  return seen
}

async function permitsLook({ app, key }: CallContext, reservation: Reservation): Promise<boolean> {
  if (key.scopes.includes("*")) return true
  const project = await findProjectById(app.db, reservation.projectId)
  return project !== undefined && permitsReservation(key.scopes, project.key, reservation.repositoryId)
}

/** Finds a file of a connected repository; fails with `invalid`, naming the field. */
async function requireLocation(
  { app }: CallContext,
  path: string,
  { repository_id: repositoryId }: { repository_id?: number | undefined },
): Promise<Location> {
  if (!isAbsolute(path) && repositoryId === undefined)
    throw invalid("path", `"${path}" is relative`, "Give an absolute path, or repository_id as well.")
  const repository = repositoryId === undefined ? undefined : await requireRepository(app.db, repositoryId)
  const location = await findLocation(app, path, repository)
  if (location === undefined || (repository !== undefined && location.repository.id !== repository.id)) {
    const where = repository === undefined ? "no connected repository" : `not in repository ${repository.id}`
    throw invalid("path", `"${path}" lies in ${where}`, CONNECT_REPOSITORY)
  }
  return location
}

function settingsOf({ app }: CallContext, location: Location): HookSettings {
  return readHookSettings(app.config.userConfigPath, location.rootPath).settings
}
