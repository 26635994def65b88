/** The tools of file reservations: reserving, listing, releasing. */

import * as z from "zod"
import {
  CONFLICTS_SHOWN_MAX,
  PATTERN_CHARS_MAX,
  RESERVATION_IDS_MAX,
  RESERVATION_SECONDS_DEFAULT,
} from "../../config/limits.ts"
import type { Queries } from "../../db/database.ts"
import { repositoryScope } from "../../domain/api-key.ts"
import type { Agent } from "../../domain/coordination/agent.ts"
import { holderOf, isHeld, modeOf, type Reservation } from "../../domain/coordination/reservation.ts"
import { named, oneLine } from "../../domain/foreign-text/markdown.ts"
import type { Repository } from "../../domain/project.ts"
import { AppError } from "../../errors.ts"
import { findReservation, listHeldByAgent } from "../../store/coordination/reservations.ts"
import { listProjectRepositoryIds } from "../../store/projects.ts"
import { forbidden, requireAgent, requireRepository, requireReservationScope } from "../admission.ts"
import type { App } from "../app.ts"
import { agentId, id, pathPattern, projectId, reason, repositoryId, seconds } from "../fields.ts"
import {
  countFound,
  duration,
  expiryLine,
  fitBlocks,
  holderWithId,
  lines,
  reservationEntry,
} from "../markdown.ts"
import { type ActorContext, type CallContext, defineOperation, type ProjectContext } from "../operation.ts"
import { inTransaction } from "../transaction.ts"
import { endExpired, endHeld } from "./endings.ts"
import { grant, type Refused } from "./grants.ts"
import { findReservations } from "./lookup.ts"
import { resolvePattern } from "./patterns.ts"
import { noteGone } from "./presence.ts"
import { refusedGrants, tellRefused } from "./refusals.ts"
import { findSharersOf, sharersLine } from "./sharers.ts"

/**
 * Checks that a key may reserve in a repository on behalf of a project. With a key for everything the
 * first grant links the two; every other key stays within what is linked.
 */
export async function admitToRepository(context: ProjectContext, repositoryId: number): Promise<Repository> {
  const { app, key, project } = context
  const repository = await requireRepository(app.db, repositoryId)
  const isLinked = (await listProjectRepositoryIds(app.db, project.id)).includes(repository.id)
  if (isLinked) requireReservationScope(key, project, repository.id)
  if (isLinked) return repository
  if (!key.scopes.includes("*")) throw forbidden(repositoryScope(repository.id))
  return repository
}

/** Returns the report of a reservation that was refused: who stands in the way, where, and what to do. */
export function conflictReport(refused: Refused, nowMs: number): string {
  const { conflicts, projectId, pathPattern } = refused
  const entries = conflicts
    .slice(0, CONFLICTS_SHOWN_MAX)
    .map(({ reservation, witness }) =>
      lines(
        `Conflicting agent: ${holderWithId(reservation)}`,
        reservation.projectId === projectId ? null : `Of another project: ${reservation.projectId}`,
        `Mode: ${modeOf(reservation)}`,
        `Path pattern: ${oneLine(reservation.pathPattern)}`,
        reservation.reason === null ? null : `Reason: ${oneLine(reservation.reason)}`,
        witness === pathPattern ? null : `Both match, for example: ${oneLine(witness)}`,
        expiryLine(reservation, nowMs),
        `Reservation id: ${reservation.id}`,
      ),
    )
  const left = conflicts.length - entries.length
  if (left > 0) entries.push(`${countFound(conflicts.length, left, "more conflict")}.`)
  const all = countFound(conflicts.length, conflicts.length, "reservation")
  return [
    `${named(refused.pathPattern)} (${modeOf(refused)}) conflicts with ${all} of other agents.`,
    ...entries,
    adviceFor(refused),
  ].join("\n")
}

function adviceFor({ conflicts, exclusive, projectId }: Refused): string {
  if (conflicts.every(({ reservation }) => reservation.projectId !== projectId)) {
    return "The holders work in another project on this repository: wait for the expiry, work on other files, or use shared mode if they share."
  }
  const isShareable = exclusive && conflicts.every(({ reservation }) => !reservation.exclusive)
  return isShareable
    ? "Reserve with exclusive false (shared mode) to share the files, call send-message to the holder, or list-file-reservations to check reservations."
    : "Call send-message to the holder, or list-file-reservations to check reservations; shared mode works where all holders share."
}

export const reserveFilePaths = defineOperation({
  name: "reserve-file-paths",
  title: "Reserve file paths",
  category: "file-reservations",
  effect: "write",
  idempotent: true,
  actor: "agent_id",
  description:
    "Reserve files before you edit them: one path or glob, such as src/auth/**. A folder covers what is below it. Refused with a report when another agent's reservation overlaps and one of the two is exclusive. Reserving the same pattern again renews it.",
  input: z.strictObject({
    agent_id: agentId(),
    repository_id: repositoryId(),
    coordination_project_id: projectId(),
    path_pattern: pathPattern(),
    exclusive: z.boolean().default(true).describe("false: share with other shared reservations"),
    duration_seconds: seconds(RESERVATION_SECONDS_DEFAULT, "How long"),
    reason: reason("Why, for the others").optional(),
  }),
  async run(context, input) {
    const repository = await admitToRepository(context, input.repository_id)
    const pathPattern = await resolvePattern(repository, input.path_pattern, "path_pattern")
    const request = {
      repository,
      pathPattern,
      exclusive: input.exclusive,
      durationSeconds: input.duration_seconds,
      reason: input.reason ?? null,
    }
    const outcome = await inTransaction(context, `repository:${repository.id}`, async (tx, dated) => {
      await endExpired(tx, dated.nowMs)
      const result = await grant(tx, dated, request)
      return { ...result, nowMs: dated.nowMs }
    })
    // Whoever waited may have got what had run out, so what is refused is no reason to undo anything.
    if ("conflicts" in outcome) {
      await tellRefused(context.app, refusedGrants(context.actor, repository.id, [outcome]))
      throw new AppError("conflict", conflictReport(outcome, outcome.nowMs))
    }
    // Nobody has to wait for the lock while sharers are looked for.
    const sharers = await findSharersOf(context.app.db, repository, [outcome.granted], outcome.nowMs)
    return { ...outcome, sharers }
  },
  markdown: ({ granted, renewed, sharers, nowMs }) =>
    lines(
      renewed ? "# Reservation renewed" : "# Files reserved",
      grantedLines(granted, nowMs),
      sharersLine(sharers, granted),
    ),
})

/** Returns what a holder needs to know of a reservation. */
function grantedLines(granted: Reservation, nowMs: number): string {
  return lines(
    `Reservation id: ${granted.id}`,
    `Path pattern: ${oneLine(granted.pathPattern)}`,
    `Mode: ${modeOf(granted)}`,
    `Agent: ${granted.agentName}`,
    expiryLine(granted, nowMs),
  )
}

export const listFileReservations = defineOperation({
  name: "list-file-reservations",
  title: "List file reservations",
  category: "file-reservations",
  effect: "read",
  idempotent: true,
  description: "List the reservations that hold now: who, what, which mode, until when.",
  input: z.strictObject({
    coordination_project_id: projectId(),
    repository_id: repositoryId("Only in this repository").optional(),
    agent_id: agentId("Only of this agent").optional(),
    path_pattern: z
      .string()
      .min(1)
      .max(PATTERN_CHARS_MAX)
      .describe("Only patterns that contain this text, or match it as a path")
      .optional(),
  }),
  async run({ app, project, nowMs }, input) {
    if (input.repository_id !== undefined) await requireRepository(app.db, input.repository_id)
    if (input.agent_id !== undefined) await requireAgent(app.db, project, input.agent_id)
    const wanted = {
      projectId: project.id,
      repositoryId: input.repository_id,
      agentId: input.agent_id,
      text: input.path_pattern,
    }
    return { ...(await findReservations(app.db, wanted, nowMs)), nowMs }
  },
  markdown: ({ reservations, total, nowMs }) =>
    fitBlocks(
      lines("# File reservations", `Total: ${total}`),
      reservations.map((reservation) => reservationEntry(reservation, nowMs)),
      "Narrow the list with agent_id, repository_id or path_pattern.",
    ),
})

export const releaseFileReservations = defineOperation({
  name: "release-file-reservations",
  title: "Release file reservations",
  category: "file-reservations",
  effect: "write",
  idempotent: true,
  actor: "agent_id",
  description: "Release your reservations when your edits are done: the given ids, or all of yours.",
  input: z.strictObject({
    agent_id: agentId(),
    coordination_project_id: projectId(),
    reservation_ids: z
      .array(id("Reservation id"))
      .max(RESERVATION_IDS_MAX)
      .optional()
      .describe("Reservation ids; empty or absent: all of yours"),
  }),
  async run(context, input) {
    return inTransaction(context, `project:${context.project.id}`, (tx, dated) =>
      release(tx, dated, input.reservation_ids ?? []),
    )
  },
  markdown: ({ agent, released, notReleased, nowMs }) => {
    const head = lines("# Reservations released", `Agent: ${agent.name}`, `Released: ${released.length}`)
    const releasedEntries = released.map((reservation) =>
      lines(
        `### ${oneLine(reservation.pathPattern)}`,
        `Reservation id: ${reservation.id}`,
        `Mode: ${modeOf(reservation)}`,
        `Released early by: ${duration(reservation.expiresAtMs - nowMs)}`,
      ),
    )
    const problems =
      notReleased.length === 0
        ? []
        : [`Not released:\n${notReleased.map(({ id, why }) => `- Reservation id ${id}: ${why}`).join("\n")}`]
    return fitBlocks(
      head,
      [...problems, ...releasedEntries],
      "All of them are released; call list-file-reservations to see what is still held.",
    )
  },
})

/** Releases an agent's reservations: the given ones, or all. Returns what was released. */
export async function releaseOf(
  context: CallContext,
  agent: Agent,
  ids: readonly number[] = [],
): Promise<Reservation[]> {
  const { released } = await inTransaction({ ...context, actor: agent }, `agent:${agent.id}`, (tx, dated) =>
    release(tx, dated, ids),
  )
  return released
}

/** Ends the session of an agent: releases all that it holds, and tells that it is gone. */
export function leave(context: CallContext, agent: Agent): Promise<void> {
  return inTransaction({ ...context, actor: agent }, `agent:${agent.id}`, async (tx, dated) => {
    await release(tx, dated, [])
    await noteGone(tx, agent.id, dated.nowMs)
  })
}

/** Releases all that an agent holds, on nobody's behalf; returns how much that was. */
export function releaseAllOf({ db, now }: App, agent: Agent): Promise<number> {
  return db.transaction(`agent:${agent.id}`, async (tx) => {
    return (await release(tx, { actor: agent, nowMs: now() }, [])).released.length
  })
}

async function release(tx: Queries, context: Pick<ActorContext, "actor" | "nowMs">, ids: readonly number[]) {
  const { actor, nowMs } = context
  const wanted =
    ids.length === 0
      ? (await listHeldByAgent(tx, actor.id, nowMs)).map((reservation) => reservation.id)
      : [...new Set(ids)]
  const released: Reservation[] = []
  const notReleased: { id: number; why: string }[] = []
  for (const id of wanted) {
    const reservation = await findReservation(tx, id)
    const why = refusalToRelease(reservation, actor, nowMs)
    if (reservation === undefined || why !== null) {
      notReleased.push({ id, why: why ?? NOT_FOUND })
      continue
    }
    released.push(reservation)
  }
  await endHeld(tx, released, nowMs)
  return { agent: actor, released, notReleased, nowMs }
}

const NOT_FOUND = "there is no such reservation in this project"

function refusalToRelease(
  reservation: Reservation | undefined,
  { id: agentId, projectId }: Agent,
  nowMs: number,
): string | null {
  // Who holds what in another project is not for everybody who may release here.
  if (reservation === undefined || reservation.projectId !== projectId) return NOT_FOUND
  if (reservation.agentId !== agentId) return `it is ${holderOf(reservation)}'s, not yours`
  return isHeld(reservation, nowMs) ? null : "it was released or has expired before"
}
