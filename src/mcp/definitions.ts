/** What clients see of an operation or a resource: the definitions of tools/list and of the resource lists. */

import * as z from "zod"
import type { Operation } from "../operations/operation.ts"
import { placeholdersOf, queryParametersOf, type Resource, uriTemplateOf } from "../resources/resource.ts"

interface ToolDefinition {
  name: string
  title: string
  description: string
  inputSchema: { type: "object" } & Record<string, unknown>
  annotations: {
    readOnlyHint: boolean
    destructiveHint: boolean
    idempotentHint: boolean
    openWorldHint: boolean
  }
  _meta?: Record<string, unknown>
}

/**
 * The tools without which nobody coordinates. Claude Code keeps the definitions of all tools back until they are
 * searched for, but for those that ask to stay loaded.
 */
const ALWAYS_LOADED: ReadonlySet<string> = new Set([
  "macro-start-session",
  "reserve-file-paths",
  "release-file-reservations",
  "fetch-inbox",
  "send-message",
])
const ALWAYS_LOADED_META = { "anthropic/alwaysLoad": true }

/** Returns the definition of a tool. The world is open to those alone that may connect to other machines. */
export function toolDefinition(operation: Operation): ToolDefinition {
  return {
    name: operation.name,
    title: operation.title,
    description: operation.description,
    inputSchema: inputSchema(operation.input),
    annotations: {
      readOnlyHint: operation.effect === "read",
      destructiveHint: operation.effect === "destroy",
      idempotentHint: operation.idempotent,
      openWorldHint: operation.reachesOut,
    },
    ...(ALWAYS_LOADED.has(operation.name) && { _meta: ALWAYS_LOADED_META }),
  }
}

function inputSchema(input: z.ZodObject): ToolDefinition["inputSchema"] {
  const { $schema: _, ...schema } = z.toJSONSchema(input, {
    io: "input",
    // Of a value that only code can check its description says what it is.
    unrepresentable: "any",
    override: ({ jsonSchema }) => withoutNoise(jsonSchema),
  }) as JsonSchema
  // Empty means not given there, so a client that checks arguments itself must let it pass.
  for (const [name, property] of Object.entries(schema.properties ?? {}))
    if (schema.required?.includes(name) !== true) delete property.minLength
  return { type: "object", ...schema }
}

interface JsonSchema extends Record<string, unknown> {
  properties?: Record<string, Record<string, unknown>>
  required?: string[]
}

/** Drops what says nothing: bounds that every JavaScript integer keeps, and free-form objects' key types. */
function withoutNoise(schema: Record<string, unknown>): void {
  if (schema.maximum === Number.MAX_SAFE_INTEGER) delete schema.maximum
  if (schema.minimum === Number.MIN_SAFE_INTEGER) delete schema.minimum
  delete schema.propertyNames
}

/** Returns the entry of a resource without parameters in resources/list. */
export function resourceDefinition(resource: Resource) {
  return { uri: uriTemplateOf(resource), ...described(resource) }
}

/** Returns the entry of a resource with parameters in resources/templates/list. */
export function resourceTemplateDefinition(resource: Resource) {
  return { uriTemplate: uriTemplateOf(resource), ...described(resource) }
}

/** Whether a resource has one fixed URI. */
export function isStatic(resource: Resource): boolean {
  return placeholdersOf(resource).length === 0 && queryParametersOf(resource).length === 0
}

function described({ name, title, description }: Resource) {
  return { name, title, description, mimeType: "application/json" }
}
