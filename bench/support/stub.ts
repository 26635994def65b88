/**
 * The stub that ours is compared with: a server on the same SDK with the same tool definitions, whose
 * handlers return a constant. Its source is generated from the catalogue and imports nothing of ours.
 */

import * as z from "zod"
import { toolDefinition } from "../../src/mcp/definitions.ts"
import type { Operation } from "../../src/operations/operation.ts"

interface JsonSchema {
  type?: string
  description?: string
  default?: unknown
  enum?: string[]
  minLength?: number
  maxLength?: number
  minimum?: number
  maximum?: number
  minItems?: number
  maxItems?: number
  items?: JsonSchema
  properties?: Record<string, JsonSchema>
  required?: string[]
}

/** Returns the source of a stub server; its answers have STUB_CHARS characters. */
export function stubSource(operations: readonly Operation[]): string {
  return `
import { McpServer } from "@modelcontextprotocol/server"
import { serveStdio } from "@modelcontextprotocol/server/stdio"
import * as z from "zod"

const text = "x".repeat(Number(process.env.STUB_CHARS ?? 60))
const answer = async () => ({ content: [{ type: "text", text }] })

serveStdio(() => {
  const server = new McpServer({ name: "stub", version: "0.0.0" })
${operations.map(registration).join("\n")}
  return server
})
`
}

function registration(operation: Operation): string {
  const { name, title, description, annotations } = toolDefinition(operation)
  const config = JSON.stringify({ title, description, annotations }).slice(1, -1)
  const inputSchema = objectSource(
    z.toJSONSchema(operation.input, { io: "input", unrepresentable: "any" }) as JsonSchema,
  )
  return `  server.registerTool(${JSON.stringify(name)}, { ${config}, inputSchema: ${inputSchema} }, answer)`
}

function objectSource({ properties = {}, required = [] }: JsonSchema): string {
  const fields = Object.entries(properties).map(([name, schema]) => {
    const isOptional = !required.includes(name) && schema.default === undefined
    return `${name}: ${source(schema)}${isOptional ? ".optional()" : ""}`
  })
  return `z.strictObject({ ${fields.join(", ")} })`
}

function source(schema: JsonSchema): string {
  const calls = [
    ["min", schema.minLength ?? schema.minItems ?? safe(schema.minimum)],
    ["max", schema.maxLength ?? schema.maxItems ?? safe(schema.maximum)],
    ["default", schema.default],
    ["describe", schema.description],
  ] as const
  return (
    baseSource(schema) +
    calls
      .filter(([, value]) => value !== undefined)
      .map(([name, value]) => `.${name}(${JSON.stringify(value)})`)
      .join("")
  )
}

function baseSource(schema: JsonSchema): string {
  if (schema.enum !== undefined) return `z.enum(${JSON.stringify(schema.enum)})`
  switch (schema.type) {
    case "string":
      return "z.string()"
    case "number":
      return "z.number()"
    case "integer":
      return "z.int()"
    case "boolean":
      return "z.boolean()"
    case "array":
      return `z.array(${source(schema.items ?? {})})`
    case "object":
      return "z.record(z.string(), z.unknown())"
    default:
      throw new Error(`the stub generator does not know the type ${schema.type}`)
  }
}

/** Every integer of zod has these two bounds; no schema names them. */
function safe(bound: number | undefined): number | undefined {
  return Math.abs(bound ?? 0) === Number.MAX_SAFE_INTEGER ? undefined : bound
}
