/** Tenants: the repository whose memories a call is about, and whether its key permits them. */

import type { Queries } from "../db/database.ts"
import { type ApiKey, hasMemoryScope, isAdmin, memoryScope, permitsMemory } from "../domain/api-key.ts"
import type { Repository } from "../domain/project.ts"
import { AppError } from "../errors.ts"
import { findRepositoryById, findRepositoryByName } from "../store/repositories.ts"
import { CONNECT_REPOSITORY, forbidden } from "./admission.ts"
import type { App } from "./app.ts"
import { authenticate } from "./keys.ts"
import type { CallContext, TenantContext } from "./operation.ts"
import { countRequest } from "./plan-limits.ts"

/** Authenticates a call about memories and counts it; fails with `unauthenticated`, `forbidden` or `rate_limited`. */
export async function admitMemoryCall(app: App): Promise<CallContext> {
  const key = await authenticate(app)
  if (!hasMemoryScope(key.scopes)) throw forbidden("repo:{repository_id}:memory")
  await countRequest(app, key, "memory")
  return { app, key, nowMs: app.now() }
}

/**
 * Authenticates a call that changes what this machine searches, and counts it with those about documentation; fails
 * with `unauthenticated`, `forbidden` or `rate_limited`.
 */
export async function admitAdminCall(app: App): Promise<CallContext> {
  const key = await authenticate(app)
  if (!isAdmin(key.scopes)) throw forbidden("admin")
  await countRequest(app, key, "documentation")
  return { app, key, nowMs: app.now() }
}

/**
 * Finds the repository that a call names by id or by name, or the one around the working folder. Fails with
 * `not_found`, or with `forbidden` when the key does not permit its memories; a key that is bound to
 * repositories does not learn which others there are.
 */
export async function admitToTenant(
  context: CallContext,
  named: string | number | undefined,
): Promise<TenantContext> {
  const { app, key } = context
  const repository = named === undefined ? app.homeRepository : await findNamedRepository(app.db, named)
  if (repository === undefined) {
    if (!key.scopes.includes("*")) throw forbidden(scopeWanted(key, named))
    if (named === undefined) {
      throw new AppError("invalid", "repository_id is required: there is no repository around this server", {
        field: "repository_id",
        hint: CONNECT_REPOSITORY,
      })
    }
    throw new AppError("not_found", `repository "${named}" was not found`, { hint: CONNECT_REPOSITORY })
  }
  if (!permitsMemory(key.scopes, repository.id)) throw forbidden(scopeWanted(key, named))
  return { ...context, repository }
}

/** Returns the repository of an id or, failing that, of a name. */
export async function findNamedRepository(
  db: Queries,
  named: string | number,
): Promise<Repository | undefined> {
  const text = String(named)
  const byId = /^[1-9]\d{0,14}$/.test(text) ? await findRepositoryById(db, Number(text)) : undefined
  return byId ?? (typeof named === "string" ? findRepositoryByName(db, named) : undefined)
}

function scopeWanted(key: ApiKey, named: string | number | undefined): string {
  const id = /^[1-9]\d{0,14}$/.test(String(named)) ? Number(named) : undefined
  const own = key.scopes.filter((scope) => scope.endsWith(":memory")).join(", ")
  const wanted = id === undefined ? "repo:{id}:memory" : memoryScope(id)
  return own === "" ? wanted : `${wanted} (this key has ${own})`
}
