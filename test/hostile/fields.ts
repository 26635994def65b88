/** The texts that a tool takes, read off its schema: a new one is tested without a line here. */

import { toolDefinition } from "../../src/mcp/definitions.ts"
import type { Operation } from "../../src/operations/operation.ts"

interface Schema {
  type?: string | string[]
  enum?: unknown
  items?: Schema
  anyOf?: Schema[]
  required?: string[]
  properties?: Record<string, Schema>
}

/** Puts a text where a parameter takes one. */
export interface TextField {
  name: string
  isRequired: boolean
  holding(text: string): unknown
}

/** Returns the parameters of a tool that take a text, in a list or an object as well. */
export function textFieldsOf(operation: Operation): TextField[] {
  return fieldsIn(toolDefinition(operation).inputSchema as Schema)
}

/** Returns the properties of a schema that take a text. */
export function fieldsIn({ properties = {}, required = [] }: Schema): TextField[] {
  return Object.entries(properties).flatMap(([name, schema]) => {
    const holding = holder(schema)
    return holding === undefined ? [] : [{ name, isRequired: required.includes(name), holding }]
  })
}

function holder({ type, enum: choices, items, anyOf = [] }: Schema): TextField["holding"] | undefined {
  const alternative = anyOf.map(holder).find((holding) => holding !== undefined)
  if (alternative !== undefined) return alternative
  const types = [type].flat()
  if (types.includes("string")) return choices === undefined ? (text) => text : undefined
  if (types.includes("object")) return (text) => ({ [text]: text })
  const inner = types.includes("array") && items !== undefined ? holder(items) : undefined
  return inner && ((text) => [inner(text)])
}
