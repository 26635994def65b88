/** Ids of memories as callers write them: whole, or their first characters. */

import * as z from "zod"
import { MEMORY_ID_CHARS_MIN, MEMORY_IDS_SHOWN_MAX } from "../../config/limits.ts"
import { AppError, invalid } from "../../errors.ts"
import { listIdsBeginning } from "../../store/memory/ids.ts"
import type { TenantContext } from "../operation.ts"

const SHAPE = "00000000-0000-0000-0000-000000000000"

/** The id of a memory, or its first characters, at least 8 of them. */
export const memoryIdText = z
  .string()
  .refine(
    (value) => isBeginning(value, MEMORY_ID_CHARS_MIN),
    `must be the id of a memory, a UUID, or its first ${MEMORY_ID_CHARS_MIN} characters`,
  )
  .describe(`Memory id, or its first ${MEMORY_ID_CHARS_MIN} characters`)

/** Whether a text is the beginning of an id, with at least so many characters. */
export function isBeginning(text: string, charsMin: number): boolean {
  return text.length >= charsMin && SHAPE.startsWith(text.replace(/[0-9a-f]/gi, "0"))
}

/**
 * Returns the whole id of the one memory of the repository whose id begins with a text. That a whole id exists is for
 * the operation to find. Fails with `invalid` when several begin so, which it names, and with `not_found` when none does.
 */
export async function requireWholeId(
  { app, repository }: TenantContext,
  typed: string,
  { field, hint }: { field: string; hint: string },
): Promise<string> {
  if (typed.length === SHAPE.length) return typed
  const ids = await listIdsBeginning(app.db, repository.id, typed.toLowerCase(), MEMORY_IDS_SHOWN_MAX + 1)
  const [only] = ids
  if (only === undefined) {
    const text = `no memory of repository ${repository.id} has an id beginning ${typed}`
    throw new AppError("not_found", text, { hint })
  }
  if (ids.length === 1) return only
  const more = ids.length > MEMORY_IDS_SHOWN_MAX ? " and more" : ""
  const several = ids.slice(0, MEMORY_IDS_SHOWN_MAX).join(", ")
  throw invalid(field, `${typed} begins several ids: ${several}${more}`, "Give more characters.")
}

/** Returns the whole id of the memory that a tool is about; fails as `requireWholeId` does. */
export function memoryNamed(context: TenantContext, typed: string): Promise<string> {
  const hint = "List the memories, or search for them, to see their ids."
  return requireWholeId(context, typed, { field: "memory_id", hint })
}
