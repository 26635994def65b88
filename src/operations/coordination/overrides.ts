/**
 * Emergency overrides: taking a path away from whoever holds it. Every request, decision and effect is
 * kept in the audit log, and the holder is told by message.
 */

import { REASON_CHARS_MAX } from "../../config/limits.ts"
import type { Queries } from "../../db/database.ts"
import type { Override, OverrideStatus } from "../../domain/coordination/override.ts"
import type { Reservation } from "../../domain/coordination/reservation.ts"
import { named, oneLine } from "../../domain/foreign-text/markdown.ts"
import type { Repository } from "../../domain/project.ts"
import { AppError, assert, invalid } from "../../errors.ts"
import { ownCommand } from "../../runtime/own-command.ts"
import { findAgentById } from "../../store/coordination/agents.ts"
import {
  type AuditEntry,
  decideOverride as decidePending,
  findOverride,
  insertOverride,
  listAudit,
  listOverrides,
  recordAudit,
} from "../../store/coordination/overrides.ts"
import { findProjectById } from "../../store/projects.ts"
import { requireRepository } from "../admission.ts"
import { isoTime } from "../markdown.ts"
import type { CallContext } from "../operation.ts"
import { type Claimant, claimOf, findClaimConflicts } from "./claims.ts"
import { endHeld } from "./endings.ts"
import type { Location } from "./locations.ts"
import { recordOverride } from "./recording.ts"
import { ownAgentIdsOf } from "./sessions.ts"
import { notify } from "./writing.ts"

/** Stands in the audit log where nobody had to be asked. */
const BY_SETTINGS = "settings"

/** What the project's settings say of overrides. */
interface OverrideRules {
  allowOverrides: boolean
  requireAdminApproval: boolean
}

/** Why agents decide none, for refusals. */
export const OVERRIDES_RULE = "overrides are decided by people"

export interface OverrideOutcome {
  override: Override
  /** What was taken from its holders; empty while the request waits or when it was denied. */
  released: Reservation[]
}

/**
 * Takes a path away from the other sessions that hold it, or files the request when an admin has to approve
 * it. Fails with `forbidden` when overrides are switched off, with `not_found` when nobody else holds it.
 */
export async function requestOverride(
  context: CallContext,
  claimant: Claimant,
  location: Location,
  reason: string,
  rules: OverrideRules,
): Promise<OverrideOutcome> {
  if (reason.trim() === "" || reason.length > REASON_CHARS_MAX)
    throw invalid("reason", `must have 1 to ${REASON_CHARS_MAX} characters`, "Say why it cannot wait.")
  if (!rules.allowOverrides) {
    throw new AppError(
      "forbidden",
      "overrides are switched off here (hooks.preEdit.allowOverrides is false)",
      {
        hint: `Write to the holder (send-message, or \`${ownCommand()} send <agent>\`), wait for the expiry, or work on another file.`,
      },
    )
  }
  const { app } = context
  return app.db.transaction(`repository:${location.repository.id}`, async (tx) => {
    const dated = { ...context, nowMs: app.now() }
    const holders = await holdersOf(tx, location.repository, location.path, claimant.ownAgentIds, dated.nowMs)
    if (holders.length === 0) {
      throw new AppError("not_found", `no other agent has reserved ${named(location.path)}`, {
        hint: "Nothing is in the way of your edit.",
      })
    }
    const id = await insertOverride(
      tx,
      {
        projectId: claimant.project.id,
        repositoryId: location.repository.id,
        requesterId: claimant.agent.id,
        path: location.path,
        reason,
      },
      dated.nowMs,
    )
    const actor = claimant.agent.name
    await recordAudit(tx, id, { kind: "requested", actor, reservationId: null }, dated.nowMs)
    const override = await requireOverride(tx, id)
    await recordOverride(tx, "override.requested", override, { holders }, dated.nowMs)
    if (rules.requireAdminApproval) return { override, released: [] }
    return approve(tx, dated, override, holders, BY_SETTINGS)
  })
}

/**
 * Approves or denies a request that waits; `decidedBy` is kept in the audit log. Fails with `not_found`, or
 * with `conflict` when it was decided before.
 */
export async function decideOverride(
  context: CallContext,
  id: number,
  approved: boolean,
  decidedBy: string,
): Promise<OverrideOutcome> {
  const { app } = context
  return app.db.transaction("overrides", async (tx) => {
    const dated = { ...context, nowMs: app.now() }
    const override = await requireOverride(tx, id)
    if (override.status !== "pending") {
      throw new AppError("conflict", `override ${id} was ${override.status} before`, {
        hint: `Run \`${ownCommand()} override list\` to see those that wait.`,
      })
    }
    const repository = await requireRepository(tx, override.repositoryId)
    const requester = await findAgentById(tx, override.requesterId)
    assert(requester !== undefined, `agent ${override.requesterId} is there`)
    const own = await ownAgentIdsOf(tx, requester)
    const holders = await holdersOf(tx, repository, override.path, own, dated.nowMs)
    if (approved) return approve(tx, dated, override, holders, decidedBy)
    await decidePending(tx, id, "denied", dated.nowMs)
    await recordAudit(tx, id, { kind: "denied", actor: decidedBy, reservationId: null }, dated.nowMs)
    await recordOverride(tx, "override.denied", override, { holders, decidedBy }, dated.nowMs)
    await tell(tx, dated, override.requesterId, {
      subject: `Override denied: ${oneLine(override.path)}`,
      bodyMd: `Your request to override the reservation of ${named(override.path)} was denied by ${named(decidedBy)}.`,
    })
    return { override: await requireOverride(tx, id), released: [] }
  })
}

/** A request with what was done about it, in order. */
export interface AuditedOverride {
  override: Override
  audit: readonly AuditEntry[]
}

/** Returns requests, the latest first, of one status unless that is null. */
export async function listAuditedOverrides(
  { app }: CallContext,
  status: OverrideStatus | null,
  countMax: number,
): Promise<AuditedOverride[]> {
  const audited: AuditedOverride[] = []
  for (const override of await listOverrides(app.db, status, countMax))
    audited.push({ override, audit: await listAudit(app.db, override.id) })
  return audited
}

/** Returns a request; fails with `not_found`. */
export async function requireOverride(db: Queries, id: number): Promise<Override> {
  const override = await findOverride(db, id)
  if (override !== undefined) return override
  throw new AppError("not_found", `override ${id} was not found`, {
    hint: `Run \`${ownCommand()} override list\` to see the ids.`,
  })
}

async function approve(
  tx: Queries,
  context: CallContext,
  override: Override,
  holders: readonly Reservation[],
  decidedBy: string,
): Promise<OverrideOutcome> {
  const { nowMs } = context
  await decidePending(tx, override.id, "approved", nowMs)
  await recordAudit(tx, override.id, { kind: "approved", actor: decidedBy, reservationId: null }, nowMs)
  await recordOverride(tx, "override.approved", override, { holders, decidedBy }, nowMs)
  await endHeld(tx, holders, nowMs)
  for (const reservation of holders) {
    const effect = { kind: "released", actor: override.requesterName, reservationId: reservation.id } as const
    await recordAudit(tx, override.id, effect, nowMs)
    await tell(tx, context, reservation.agentId, {
      subject: `Your reservation of ${named(reservation.pathPattern)} was overridden`,
      bodyMd: [
        `${override.requesterName} needed ${named(override.path)} in an emergency, and your reservation ${reservation.id} of ${named(reservation.pathPattern)} was released.`,
        `Reason: ${oneLine(override.reason)}`,
        `It would have held until ${isoTime(reservation.expiresAtMs)}. Look at what changed before you go on there.`,
      ].join("\n\n"),
    })
  }
  if (decidedBy !== BY_SETTINGS) {
    await tell(tx, context, override.requesterId, {
      subject: `Override approved: ${oneLine(override.path)}`,
      bodyMd: `Your request to override the reservation of ${named(override.path)} was approved by ${named(decidedBy)}. Reserve the file before you edit it.`,
    })
  }
  return { override: await requireOverride(tx, override.id), released: [...holders] }
}

/** Returns the reservations of others that stand in the way of an edit: the exclusive ones, or all if none is. */
async function holdersOf(
  tx: Queries,
  repository: Repository,
  path: string,
  ownAgentIds: ReadonlySet<number>,
  nowMs: number,
): Promise<Reservation[]> {
  const claimed = claimOf({ repository, rootPath: repository.rootPath, path }, true)
  const conflicts = await findClaimConflicts(tx, { ownAgentIds }, [claimed], nowMs, {
    conflictsMax: Number.POSITIVE_INFINITY,
  })
  const holders = conflicts.map(({ reservation }) => reservation)
  const exclusive = holders.filter((reservation) => reservation.exclusive)
  return exclusive.length > 0 ? exclusive : holders
}

async function tell(
  tx: Queries,
  context: CallContext,
  agentId: number,
  notice: { subject: string; bodyMd: string },
): Promise<void> {
  const agent = await findAgentById(tx, agentId)
  const project = agent && (await findProjectById(tx, agent.projectId))
  assert(agent !== undefined && project !== undefined, `agent ${agentId} and its project are there`)
  await notify(tx, { ...context, project }, agent, notice)
}
