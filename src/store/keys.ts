/** API keys. They are found by the SHA-256 of their text, which is all that is kept of it. */

import type { Queries } from "../db/database.ts"
import type { ApiKey, Environment, Plan } from "../domain/api-key.ts"
import { type ApiKeyRow, flag, toApiKey } from "./rows.ts"

const COLUMNS =
  "id, name, environment, last_four, scopes, plan, is_local, created_at_ms, expires_at_ms, revoked_at_ms, last_used_at_ms"

export const keyStatements = {
  findByHash: `SELECT ${COLUMNS} FROM api_keys WHERE hash = ?`,
  findById: `SELECT ${COLUMNS} FROM api_keys WHERE id = ?`,
  findLocal: `SELECT ${COLUMNS} FROM api_keys WHERE is_local = 1 AND environment = ? AND revoked_at_ms IS NULL`,
  list: `SELECT ${COLUMNS} FROM api_keys ORDER BY id`,
  insert: `
    INSERT INTO api_keys (name, environment, hash, last_four, scopes, plan, is_local, created_at_ms, expires_at_ms)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?) RETURNING ${COLUMNS}`,
  revoke: "UPDATE api_keys SET revoked_at_ms = ? WHERE id = ? AND revoked_at_ms IS NULL",
  touch: "UPDATE api_keys SET last_used_at_ms = ? WHERE id = ?",
  touchFirst: "UPDATE api_keys SET last_used_at_ms = ? WHERE id = ? AND last_used_at_ms IS NULL",
}

export async function findKeyByHash(db: Queries, hash: string): Promise<ApiKey | undefined> {
  const row = await db.get<ApiKeyRow>(keyStatements.findByHash, [hash])
  return row && toApiKey(row)
}

export async function findKeyById(db: Queries, id: number): Promise<ApiKey | undefined> {
  const row = await db.get<ApiKeyRow>(keyStatements.findById, [id])
  return row && toApiKey(row)
}

/** Finds the key that this machine made for itself, unless it was revoked. */
export async function findLocalKey(db: Queries, environment: Environment): Promise<ApiKey | undefined> {
  const row = await db.get<ApiKeyRow>(keyStatements.findLocal, [environment])
  return row && toApiKey(row)
}

export async function listKeys(db: Queries): Promise<ApiKey[]> {
  return (await db.all<ApiKeyRow>(keyStatements.list)).map(toApiKey)
}

interface NewKey {
  name: string
  environment: Environment
  hash: string
  lastFour: string
  scopes: string[]
  plan: Plan
  isLocal: boolean
  expiresAtMs: number | null
}

export async function insertKey(tx: Queries, key: NewKey, nowMs: number): Promise<ApiKey> {
  const row = await tx.get<ApiKeyRow>(keyStatements.insert, [
    key.name,
    key.environment,
    key.hash,
    key.lastFour,
    JSON.stringify(key.scopes),
    key.plan,
    flag(key.isLocal),
    nowMs,
    key.expiresAtMs,
  ])
  return toApiKey(row as ApiKeyRow)
}

/** Revokes a key for good; returns whether it still counted until now. */
export async function revokeKey(tx: Queries, id: number, nowMs: number): Promise<boolean> {
  return (await tx.run(keyStatements.revoke, [nowMs, id])) > 0
}

export async function touchKey(tx: Queries, id: number, nowMs: number): Promise<void> {
  await tx.run(keyStatements.touch, [nowMs, id])
}

/** Dates the first use of a key; returns whether it was the first. */
export async function touchKeyFirst(tx: Queries, id: number, nowMs: number): Promise<boolean> {
  return (await tx.run(keyStatements.touchFirst, [nowMs, id])) > 0
}
