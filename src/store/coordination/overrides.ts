/** Requests to take a path away from its holder, and the append-only record of what became of them. */

import type { Queries } from "../../db/database.ts"
import type { Override, OverrideStatus } from "../../domain/coordination/override.ts"
import { type OverrideRow, toOverride } from "../rows.ts"

const SELECT = `
  SELECT o.id, o.project_id, o.repository_id, o.requester_id, a.name AS requester_name, o.path, o.reason, o.status,
    o.requested_at_ms, o.decided_at_ms
  FROM overrides o JOIN agents a ON a.id = o.requester_id`

export const overrideStatements = {
  findById: `${SELECT} WHERE o.id = ?`,
  list: `${SELECT} WHERE (? IS NULL OR o.status = ?) ORDER BY o.id DESC LIMIT ?`,
  insert: `
    INSERT INTO overrides (project_id, repository_id, requester_id, path, reason, status, requested_at_ms)
    VALUES (?, ?, ?, ?, ?, 'pending', ?) RETURNING id`,
  decide: "UPDATE overrides SET status = ?, decided_at_ms = ? WHERE id = ? AND status = 'pending'",
  audit: `
    INSERT INTO audit_log (override_id, kind, actor, reservation_id, created_at_ms) VALUES (?, ?, ?, ?, ?)`,
  auditOf: `
    SELECT kind, actor, reservation_id, created_at_ms FROM audit_log WHERE override_id = ? ORDER BY id`,
}

export async function findOverride(db: Queries, id: number): Promise<Override | undefined> {
  const row = await db.get<OverrideRow>(overrideStatements.findById, [id])
  return row && toOverride(row)
}

/** Returns overrides, the latest first. */
export async function listOverrides(
  db: Queries,
  status: OverrideStatus | null,
  limit: number,
): Promise<Override[]> {
  return (await db.all<OverrideRow>(overrideStatements.list, [status, status, limit])).map(toOverride)
}

type NewOverride = Pick<Override, "projectId" | "repositoryId" | "requesterId" | "path" | "reason">

/** Stores a pending request; returns its id. */
export async function insertOverride(tx: Queries, request: NewOverride, nowMs: number): Promise<number> {
  const row = await tx.get<{ id: number }>(overrideStatements.insert, [
    request.projectId,
    request.repositoryId,
    request.requesterId,
    request.path,
    request.reason,
    nowMs,
  ])
  return (row as { id: number }).id
}

/** Decides a pending request; returns whether it was still pending. */
export async function decideOverride(
  tx: Queries,
  id: number,
  status: Exclude<OverrideStatus, "pending">,
  nowMs: number,
): Promise<boolean> {
  return (await tx.run(overrideStatements.decide, [status, nowMs, id])) > 0
}

type AuditKind = "requested" | "approved" | "denied" | "released"

export interface AuditEntry {
  kind: AuditKind
  /** An agent's name, or who decided. */
  actor: string
  reservationId: number | null
  createdAtMs: number
}

export async function recordAudit(
  tx: Queries,
  overrideId: number,
  entry: Omit<AuditEntry, "createdAtMs">,
  nowMs: number,
): Promise<void> {
  await tx.run(overrideStatements.audit, [overrideId, entry.kind, entry.actor, entry.reservationId, nowMs])
}

/** Returns what became of a request, oldest first. */
export async function listAudit(db: Queries, overrideId: number): Promise<AuditEntry[]> {
  const rows = await db.all<{
    kind: string
    actor: string
    reservation_id: number | null
    created_at_ms: number
  }>(overrideStatements.auditOf, [overrideId])
  return rows.map((row) => ({
    kind: row.kind as AuditKind,
    actor: row.actor,
    reservationId: row.reservation_id,
    createdAtMs: row.created_at_ms,
  }))
}
