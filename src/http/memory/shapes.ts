/** What the routes of the memory API have in common: the tenant's header, numbers in query strings, and the envelope. */

import * as z from "zod"
import { memoryId } from "../../operations/memory/inputs.ts"
import type { CallContext, TenantContext } from "../../operations/operation.ts"
import { admitToTenant } from "../../operations/tenants.ts"

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

export const memoryParameters = z.object({ id: memoryId.describe("The memory") })

/** The most entries that a query string asks for, within the bounds of the operation's own field. */
export const limitText = (limit: z.ZodDefault<z.ZodInt>) =>
  numberText(limit, /^-?\d{1,15}$/, "must be a whole number").describe("Most entries to return")

/** A number from 0 to 1 in a query string. */
export const fractionText = (fraction: z.ZodDefault<z.ZodNumber>) =>
  numberText(fraction, /^-?\d{1,9}(\.\d{1,18})?$/, "must be a number").describe(fraction.description ?? "")

function numberText<Field extends z.ZodDefault<z.ZodInt | z.ZodNumber>>(
  field: Field,
  form: RegExp,
  rule: string,
) {
  return z
    .string()
    .default(String(field.def.defaultValue))
    .refine((written) => form.test(written), rule)
    .transform(Number)
    .pipe(field.unwrap())
}

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
