/** What every command on memories needs: who calls, which repository is meant, and which memory by the beginning of its id. */

import type { Config } from "../../config/config.ts"
import { MEMORY_TYPED_ID_CHARS_MIN } from "../../config/limits.ts"
import { echoed } from "../../domain/foreign-text/markdown.ts"
import { AppError, invalid } from "../../errors.ts"
import { ASKS, admit } from "../../operations/admission.ts"
import type { App } from "../../operations/app.ts"
import { commandCall } from "../../operations/caller.ts"
import { repositoryAround } from "../../operations/coordination/locations.ts"
import { isBeginning, requireWholeId } from "../../operations/memory/ids.ts"
import type { TenantContext } from "../../operations/operation.ts"
import { admitToTenant } from "../../operations/tenants.ts"
import { ownCommand } from "../../runtime/own-command.ts"
import type { OutputOptions } from "../output.ts"
import { withApp } from "../with-app.ts"

/** What every command on memories takes. */
export interface MemoryOptions extends OutputOptions {
  /** Id or name; the repository around the working folder unless given. */
  repository?: string
}

/** Runs a command on the memories of the repository that is meant. */
export function withMemories<T>(
  config: Config,
  options: MemoryOptions,
  work: (context: TenantContext) => Promise<T>,
): Promise<T> {
  return withApp(config, async (app) => work(await memoryContext(app, options.repository)))
}

/**
 * Authenticates a command about memories and finds their repository: by id or by name, else the one around the
 * working folder. The command line is exempt from rate limits. Fails with `unauthenticated`, with `forbidden`
 * where the key does not reach, and with `not_found`.
 */
async function memoryContext(app: App, named: string | undefined): Promise<TenantContext> {
  const call = commandCall(app)
  const context = await admit(call, ASKS.memory)
  const { folder } = call.caller
  const homeRepository = named === undefined ? await repositoryAround(app, folder) : undefined
  if (named === undefined && homeRepository === undefined) {
    throw new AppError("not_found", `there is no repository around ${folder}`, {
      field: "repository",
      hint: `Name one of \`${ownCommand()} repos list\` with --repository, or connect this folder: ${ownCommand()} repos add .`,
    })
  }
  return admitToTenant({ ...context, caller: { ...call.caller, homeRepository } }, named?.trim())
}

/**
 * Returns the whole id of a memory of the repository. A beginning of at least 4 characters will do when no other
 * has it. Fails with `invalid` when it fits several or is none, and with `not_found` when it fits no memory; that
 * a whole id exists is for the operation to find.
 */
export function requireMemoryId(context: TenantContext, typed: string): Promise<string> {
  const hint = `\`${ownCommand()} memory list\` shows the ids.`
  if (isBeginning(typed, MEMORY_TYPED_ID_CHARS_MIN))
    return requireWholeId(context, typed, { field: "id", hint })
  const rule = `must be the id of a memory, or its beginning of at least ${MEMORY_TYPED_ID_CHARS_MIN} characters`
  throw invalid("id", `${rule} (got ${echoed(typed)})`, hint)
}
