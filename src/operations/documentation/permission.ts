/** Which repositories' documentation a call may ask. */

import { documentationScope, permits, permitsDocumentation } from "../../domain/api-key.ts"
import { echoed } from "../../domain/foreign-text/markdown.ts"
import { type Repository, repositoryIdIn } from "../../domain/project.ts"
import { AppError } from "../../errors.ts"
import { listRepositories } from "../../store/repositories.ts"
import { forbidden, howToConnect } from "../admission.ts"
import type { CallContext } from "../operation.ts"
import { findNamedRepository } from "../tenants.ts"

/**
 * Returns the repositories that a call is about: the one that it names by id or name, else all that its key permits.
 * Fails with `not_found`, or with `forbidden`, which says nothing of what there is.
 */
export async function permittedRepositories(
  { app, caller, key }: CallContext,
  named: string | number | undefined,
): Promise<Repository[]> {
  if (named === undefined) {
    const all = await listRepositories(app.db)
    return all.filter(({ id }) => permitsDocumentation(key.scopes, id))
  }
  const repository = await findNamedRepository(app.db, named)
  if (repository !== undefined && permitsDocumentation(key.scopes, repository.id)) return [repository]
  // What a restricted key is told does not depend on what there is.
  if (!key.scopes.includes("*")) throw forbidden(documentationScope(repositoryIdIn(named) ?? "{id}"))
  throw new AppError("not_found", `repository ${echoed(String(named))} was not found`, {
    field: "repository",
    hint: howToConnect(caller.surface),
  })
}

/** Returns the connected repositories that the key of a call names in any scope, or all for one that may all. */
export async function listedRepositories({ app, key: { scopes } }: CallContext): Promise<Repository[]> {
  const all = await listRepositories(app.db)
  if (permits(scopes, "admin")) return all
  return all.filter(({ id }) => scopes.some((scope) => scope.startsWith(`repo:${id}:`)))
}
