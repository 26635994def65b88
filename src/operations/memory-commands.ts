/**
 * What the command line needs around the operations on memories: who calls and about which repository, ids that
 * are shortened, and arguments checked by the same rules as everywhere.
 */

import * as z from "zod"
import { hasMemoryScope } from "../domain/api-key.ts"
import { isDeeper } from "../domain/json-depth.ts"
import { AppError, invalid } from "../errors.ts"
import {
  JSON_DEPTH_MAX,
  MEMORY_ID_CHARS_MIN,
  MEMORY_PAGE_DEFAULT,
  MEMORY_PAGE_MAX,
  MEMORY_SEARCH_LIMIT_DEFAULT,
  MEMORY_SEARCH_LIMIT_MAX,
} from "../limits.ts"
import { listIdsBeginning } from "../store/memory-ids.ts"
import { forbidden } from "./admission.ts"
import type { App } from "./app.ts"
import { describeIssue } from "./call.ts"
import { limit } from "./fields.ts"
import { authenticate } from "./keys.ts"
import { repositoryAround } from "./locations.ts"
import {
  content,
  fraction,
  maxHops,
  memoryId,
  memoryQuery,
  metadata,
  profile,
  sector,
  source,
  tag,
  tags,
  threshold,
} from "./memory-fields.ts"
import type { TenantContext } from "./operation.ts"
import { admitToTenant } from "./tenants.ts"

const ISSUES_SHOWN_MAX = 10
/** Ids that are named where a beginning fits several. */
const IDS_SHOWN_MAX = 5

/** What commands take, by the same rules as requests. */
export const MEMORY_ARGUMENTS = {
  create: z.object({
    content: content(),
    sector: sector("").optional(),
    tags: tags("").optional(),
    source: source().optional(),
    metadata: metadata().optional(),
  }),
  change: z.object({
    content: content().optional(),
    tags: tags("").optional(),
    source: source().optional(),
    metadata: metadata().optional(),
  }),
  search: z.object({
    query: memoryQuery(),
    limit: limit(MEMORY_SEARCH_LIMIT_DEFAULT, MEMORY_SEARCH_LIMIT_MAX),
    sector: sector("").optional(),
    tags: tags("").default([]),
    min_salience: fraction("").default(0),
    max_hops: maxHops(),
  }),
  list: z.object({
    limit: limit(MEMORY_PAGE_DEFAULT, MEMORY_PAGE_MAX),
    cursor: z.string().min(1).optional(),
    sector: sector("").optional(),
    tag: tag("").optional(),
  }),
  reinforce: z.object({ profile: profile() }),
  prune: z.object({ threshold: threshold(), sector: sector("").optional() }),
  transfer: z.object({ sector: sector("").optional(), tag: tag("").optional() }),
} as const

/** Returns checked arguments; fails with `invalid`, naming each parameter that breaks a rule, and the rule. */
export function checkMemoryArguments<Schema extends z.ZodObject>(
  schema: Schema,
  given: Record<string, unknown>,
): z.output<Schema> {
  const parsed = schema.safeParse(given)
  if (parsed.success) return parsed.data
  const known = Object.keys(schema.shape)
  const { issues } = parsed.error
  const rules = issues.slice(0, ISSUES_SHOWN_MAX).map((issue) => describeIssue(issue, known, given))
  const [field] = issues[0]?.path ?? []
  throw new AppError("invalid", rules.join("; "), field === undefined ? {} : { field: String(field) })
}

/**
 * Authenticates a command about memories and finds their repository: by id or by name, else the one around the
 * working folder. The command line is exempt from rate limits. Fails with `unauthenticated`, with `forbidden`
 * where the key does not reach, and with `not_found`.
 */
export async function memoryContext(app: App, named: string | undefined): Promise<TenantContext> {
  const key = await authenticate(app)
  if (!hasMemoryScope(key.scopes)) throw forbidden("repo:{repository_id}:memory")
  const { workingFolder } = app.config
  const homeRepository = named === undefined ? await repositoryAround(app, workingFolder) : undefined
  if (named === undefined && homeRepository === undefined) {
    throw new AppError("not_found", `there is no repository around ${workingFolder}`, {
      field: "repository",
      hint: "Name one of `signalbox repos list` with --repository, or connect this folder: signalbox repos add .",
    })
  }
  return admitToTenant({ app: { ...app, homeRepository }, key, nowMs: app.now() }, named?.trim())
}

/**
 * Returns the whole id of a memory of the repository. A beginning of at least 4 characters will do when no other
 * has it. Fails with `invalid` when it fits several or is none, and with `not_found` when it fits no memory; that
 * a whole id exists is for the operation to find.
 */
export async function requireMemoryId(
  { app, repository }: Pick<TenantContext, "app" | "repository">,
  typed: string,
): Promise<string> {
  if (memoryId().safeParse(typed).success) return typed.toLowerCase()
  const rule = `must be the id of a memory, or its beginning of at least ${MEMORY_ID_CHARS_MIN} characters`
  if (typed.length < MEMORY_ID_CHARS_MIN || !/^[0-9a-f-]+$/i.test(typed))
    throw invalid("id", `${rule} (got "${typed}")`, "`signalbox memory list` shows the ids.")
  const beginning = typed.toLowerCase()
  const ids = await listIdsBeginning(app.db, repository.id, beginning, IDS_SHOWN_MAX + 1)
  const [only] = ids
  if (only === undefined) {
    throw new AppError("not_found", `no memory of repository ${repository.id} has an id beginning ${typed}`, {
      hint: "`signalbox memory list` shows the ids.",
    })
  }
  if (ids.length === 1) return only
  const more = ids.length > IDS_SHOWN_MAX ? " and more" : ""
  throw invalid("id", `${typed} begins several ids: ${ids.slice(0, IDS_SHOWN_MAX).join(", ")}${more}`)
}

/** Reads JSON that a user typed; fails with `invalid`, naming the field. */
export function readJsonArgument(field: string, text: string): unknown {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    throw invalid(field, "is not valid JSON", `Such as --${field} '{"ticket": 42}'.`)
  }
  // What holds it is a level of its own.
  if (isDeeper(value, JSON_DEPTH_MAX - 1))
    throw invalid(field, `must be nested at most ${JSON_DEPTH_MAX - 1} levels deep`)
  return value
}
