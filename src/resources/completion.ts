/** Completes the parameters of resource templates: project keys, agent names, thread ids, fixed values. */

import { COMPLETION_CANDIDATES_MAX, COMPLETIONS_MAX } from "../config/limits.ts"
import { CONTACT_STATUSES } from "../domain/coordination/contact.ts"
import { AppError } from "../errors.ts"
import { ASKS, admit, admitToProject } from "../operations/admission.ts"
import type { Call } from "../operations/caller.ts"
import type { CallContext } from "../operations/operation.ts"
import { listAgentNames } from "../store/coordination/agents.ts"
import { listThreadKeys } from "../store/coordination/threads.ts"
import { listProjectKeys } from "../store/projects.ts"

export type Completion = {
  values: string[]
  /** Whether there are more than the 100 that are given. */
  hasMore: boolean
}

/**
 * Completes a parameter from what was typed and the parameters that are known already. What the key may
 * not see is not there: without access there are no values, and no error either.
 */
export async function completeParameter(
  call: Call,
  parameter: string,
  typed: string,
  known: Record<string, string>,
): Promise<Completion> {
  const values = await valuesOf(call, parameter, typed, known).catch(noAccess)
  const fitting = (values ?? []).filter((value) => value.toLowerCase().startsWith(typed.toLowerCase()))
  return { values: fitting.slice(0, COMPLETIONS_MAX), hasMore: fitting.length > COMPLETIONS_MAX }
}

async function valuesOf(
  call: Call,
  parameter: string,
  typed: string,
  known: Record<string, string>,
): Promise<readonly string[]> {
  const { db } = call.app
  const context = await admit(call, ASKS.resourceRead)
  if (parameter === "status") return CONTACT_STATUSES
  if (parameter === "active_only") return ["true", "false"]
  if (parameter === "project_key") return permittedKeys(context, typed)
  if (known.project_key === undefined) return []
  const { project } = await admitToProject(context, { key: known.project_key })
  if (parameter === "agent") return listAgentNames(db, project.id)
  if (parameter === "thread_id") return listThreadKeys(db, project.id, typed, COMPLETIONS_MAX + 1)
  return []
}

async function permittedKeys(context: CallContext, typed: string): Promise<string[]> {
  const permitted: string[] = []
  for (const key of await listProjectKeys(context.app.db, typed, COMPLETION_CANDIDATES_MAX)) {
    if (permitted.length > COMPLETIONS_MAX) break
    if ((await admitToProject(context, { key }).catch(noAccess)) !== undefined) permitted.push(key)
  }
  return permitted
}

function noAccess(error: unknown): undefined {
  if (error instanceof AppError) return undefined
  throw error
}
