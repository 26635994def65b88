/** Tenants: the repository whose memories a call is about, and whether its key permits them. */

import type { Queries } from "../db/database.ts"
import { type ApiKey, memoryScope, permitsMemory } from "../domain/api-key.ts"
import { echoed } from "../domain/foreign-text/markdown.ts"
import { type Repository, repositoryIdIn } from "../domain/project.ts"
import { AppError } from "../errors.ts"
import { findRepositoryById, findRepositoryByName } from "../store/repositories.ts"
import { forbidden, howToConnect } from "./admission.ts"
import type { CallContext, TenantContext } from "./operation.ts"

/**
 * Finds the repository that a call names by id or by name, or the one around the working folder. Fails with
 * `not_found`, or with `forbidden` when the key does not permit its memories; a key that is bound to
 * repositories does not learn which others there are.
 */
export async function admitToTenant(
  context: CallContext,
  named: string | number | undefined,
): Promise<TenantContext> {
  const { app, caller, key } = context
  const repository = named === undefined ? caller.homeRepository : await findNamedRepository(app.db, named)
  if (repository === undefined) {
    if (!key.scopes.includes("*")) throw forbidden(scopeWanted(key, named))
    if (named === undefined) {
      throw new AppError("invalid", "repository_id is required: there is no repository around this server", {
        field: "repository_id",
        hint: howToConnect(caller.surface),
      })
    }
    throw new AppError("not_found", `repository ${echoed(String(named))} was not found`, {
      hint: howToConnect(caller.surface),
    })
  }
  if (!permitsMemory(key.scopes, repository.id)) throw forbidden(scopeWanted(key, named))
  return { ...context, repository }
}

/** Returns the repository of an id or, failing that, of a name. */
export async function findNamedRepository(
  db: Queries,
  named: string | number,
): Promise<Repository | undefined> {
  const id = repositoryIdIn(named)
  const byId = id === undefined ? undefined : await findRepositoryById(db, id)
  return byId ?? (typeof named === "string" ? findRepositoryByName(db, named) : undefined)
}

function scopeWanted(key: ApiKey, named: string | number | undefined): string {
  const id = named === undefined ? undefined : repositoryIdIn(named)
  const own = key.scopes.filter((scope) => scope.endsWith(":memory")).join(", ")
  const wanted = id === undefined ? "repo:{id}:memory" : memoryScope(id)
  return own === "" ? wanted : `${wanted} (this key has ${own})`
}
