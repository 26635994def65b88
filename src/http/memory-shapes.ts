/** What the routes of the memory API have in common: the tenant's header, bounds of numbers, and how a memory reads. */

import * as z from "zod"
import { EMBEDDING_STATUSES, SECTORS } from "../domain/memory.ts"
import type { CallContext, TenantContext } from "../operations/operation.ts"
import { admitToTenant } from "../operations/tenants.ts"

/** How responses show a memory. */

export const MEMORIES_PATH = "/api/v1/memories"

/** What every route of the API says of itself. */
export const MEMORY_ROUTE = { api: "memory", isLimited: true } as const

/** The headers of every request. */
export const tenantHeaders = z.object({
  "x-tenant-id": z
    .string()
    .transform(textOfHeader)
    .pipe(z.string().trim().min(1))
    .describe("The repository: its id or its name"),
})

/** The parameters of paths below one memory. */
export const memoryParameters = z.object({ id: z.uuid().describe("The memory") })

/** The most entries that a query string asks for. */
export const limitText = (max: number, otherwise: number) =>
  z
    .string()
    .default(String(otherwise))
    .refine((written) => /^\d{1,9}$/.test(written), "must be a whole number")
    .transform(Number)
    .pipe(z.int().min(1).max(max))
    .describe("Most entries to return")

/** A number from 0 to 1 in a query string. */
export const fractionText = (otherwise: number, description: string) =>
  z
    .string()
    .default(String(otherwise))
    .refine((written) => /^-?\d{1,9}(\.\d{1,18})?$/.test(written), "must be a number")
    .transform(Number)
    .pipe(z.number().min(0).max(1))
    .describe(description)

export const memoryShape = z.object({
  id: z.uuid(),
  content: z.string(),
  sector: z.enum(SECTORS),
  salience: z.number().describe("0 to 1, as it is now"),
  access_count: z.int(),
  tags: z.array(z.string()),
  source: z.string().nullable(),
  metadata: z.record(z.string(), z.unknown()),
  embedding_status: z.enum(EMBEDDING_STATUSES),
  created_at: z.iso.datetime(),
  updated_at: z.iso.datetime(),
  last_accessed_at: z.iso.datetime().nullable(),
})

/** The envelope of a response. */
export const data = <Shape extends z.ZodType>(shape: Shape) => z.object({ data: shape })

/** Finds the repository that a request is about. */
export function tenantOf(
  context: CallContext,
  input: { headers: z.output<typeof tenantHeaders> },
): Promise<TenantContext> {
  return admitToTenant(context, input.headers["x-tenant-id"])
}

/** Headers come as bytes, one a character; names beyond ASCII are sent in UTF-8. */
function textOfHeader(value: string): string {
  const bytes = Buffer.from(value, "latin1")
  const text = bytes.toString("utf8")
  return Buffer.from(text).equals(bytes) ? text : value
}
