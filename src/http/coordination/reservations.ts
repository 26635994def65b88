/** File reservations over HTTP: what holds a path, reserving, releasing, and emergency overrides. */

import * as z from "zod"
import { FILE_PATHS_MAX, REASON_CHARS_MAX, RESERVATION_SECONDS_MAX } from "../../config/limits.ts"
import { holderOf, modeOf } from "../../domain/coordination/reservation.ts"
import { AppError, assert } from "../../errors.ts"
import type { ClaimConflict, ClaimOutcome } from "../../operations/coordination/claims.ts"
import {
  type HeldFile,
  listHeldFiles,
  overrideFile,
  releaseFile,
  reserveFiles,
} from "../../operations/coordination/file-reservations.ts"
import {
  decideOverride,
  OVERRIDES_RULE,
  type OverrideOutcome,
} from "../../operations/coordination/overrides.ts"
import { requirePersonOverHttp } from "../../operations/coordination/people.ts"
import { isoTime } from "../../operations/markdown.ts"
import { type Answer, type AnyRoute, defineRoute } from "../route.ts"

const PATH = "/api/coordination/file-reservations"

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
  is_person: z.boolean(),
  session_died_at: z.iso.datetime().nullable().describe("What it holds is released ten minutes later"),
  mode: modes,
  expires_at: z.iso.datetime(),
  reservation_id: z.string(),
  repository_id: z.int(),
  reason: z.string().nullable(),
})

const list = defineRoute({
  method: "GET",
  path: PATH,
  api: "coordination",
  permission: "coordination",
  summary: "List what holds a file, or everything that is held in a repository",
  isLimited: true,
  query: z.object({
    path: z.string().min(1).optional().describe("Absolute, or relative together with repository_id"),
    repository_id: idNumberText.optional(),
    refresh: z.enum(["true", "false"]).optional().describe("Changes nothing: every listing is read anew"),
  }),
  responses: {
    200: { description: "The reservations", schema: z.object({ reservations: z.array(heldShape) }) },
  },
  async run(context, { query }) {
    const { path, repository_id: repositoryId } = query
    const held = await listHeldFiles(context, { path, repositoryId })
    return { status: 200, body: { reservations: held.map(heldJson) } }
  },
})

const reserve = defineRoute({
  method: "POST",
  path: PATH,
  api: "coordination",
  permission: "coordination",
  summary: "Reserve files for an agent, all of them or none",
  isLimited: true,
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
    const outcome = await reserveFiles(context, {
      agentId: body.agent_id,
      paths: body.paths,
      repositoryId: body.repository_id,
      mode: body.mode,
      durationSeconds: body.duration,
      reason: body.reason ?? null,
    })
    return "held" in outcome ? reservedAnswer(outcome) : conflictAnswer(outcome.conflicts)
  },
})

const release = defineRoute({
  method: "DELETE",
  path: `${PATH}/:reservation_id`,
  api: "coordination",
  permission: "coordination",
  summary: "Release a reservation",
  isLimited: true,
  parameters: z.object({ reservation_id: idText }),
  query: z.object({ agent_id: idText }),
  responses: { 200: { description: "Released" } },
  async run(context, { parameters, query }) {
    const { reservation_id: id } = parameters
    const release = await releaseFile(context, query.agent_id, Number(id))
    if (release.status === "unknown") {
      throw new AppError("not_found", `reservation ${id} was not found`, {
        hint: `GET ${PATH} lists those that hold.`,
      })
    }
    if (release.status === "others") {
      throw new AppError("refused", `reservation ${Number(id)} is ${holderOf(release.reservation)}'s`, {
        hint: `In an emergency, POST ${PATH}/override.`,
      })
    }
    return { status: 200, body: { status: release.status, reservation_id: String(Number(id)) } }
  },
})

const override = defineRoute({
  method: "POST",
  path: `${PATH}/override`,
  api: "coordination",
  permission: "coordination",
  summary: "Take a file away from its holder in an emergency",
  isLimited: true,
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
    const { agent_id: agentId, path, repository_id: repositoryId, reason } = body
    const asked = { agentId, path, repositoryId, reason }
    return overrideAnswer(await overrideFile(context, asked))
  },
})

const decide = defineRoute({
  method: "POST",
  path: `${PATH}/override/:override_id`,
  api: "coordination",
  permission: "admin",
  summary: "Approve or deny an override that waits",
  isLimited: true,
  parameters: z.object({ override_id: idText }),
  body: z.object({ approved: z.boolean() }),
  responses: { 200: { description: "Decided; requester and holder were told" } },
  async run(context, { parameters, body }) {
    // Any agent can ask in another's name, so none may decide.
    await requirePersonOverHttp(context, OVERRIDES_RULE)
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
      released: released.map((reservation) => heldJson({ file: reservation.pathPattern, reservation })),
    },
  }
}

function reservedAnswer({ held, hasNew }: Extract<ClaimOutcome, { hasNew: boolean }>): Answer {
  const [one] = held
  assert(one !== undefined, "something is held")
  return {
    status: hasNew ? 201 : 200,
    body: {
      status: hasNew ? "reserved" : "renewed",
      reservation_id: String(one.id),
      expires_at: isoTime(one.expiresAtMs),
      reservations: held.map((reservation) => heldJson({ file: reservation.pathPattern, reservation })),
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
      message: `${claimed.path} is reserved by ${holderOf(reservation, { facts: modeOf(reservation) })} until ${isoTime(reservation.expiresAtMs)}.`,
      conflicts: conflicts.map((conflict) =>
        heldJson({ file: conflict.claimed.path, reservation: conflict.reservation }),
      ),
    },
  }
}

function heldJson({ file, reservation }: HeldFile): z.output<typeof heldShape> {
  return {
    file,
    path_pattern: reservation.pathPattern,
    agent_id: String(reservation.agentId),
    agent_name: reservation.agentName,
    is_person: reservation.isPersons,
    session_died_at: reservation.diedAtMs === null ? null : isoTime(reservation.diedAtMs),
    mode: modeOf(reservation),
    expires_at: isoTime(reservation.expiresAtMs),
    reservation_id: String(reservation.id),
    repository_id: reservation.repositoryId,
    reason: reservation.reason,
  }
}

export const coordinationRoutes: readonly AnyRoute[] = [list, reserve, release, override, decide]
