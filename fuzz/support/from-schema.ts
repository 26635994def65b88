/**
 * Values from a JSON Schema, as the catalogue and the OpenAPI document give them: what a new tool or endpoint
 * takes is made without a word about it here.
 */

import fc from "fast-check"
import { anything, rarely, text, textOfLength } from "./values.ts"

export type JsonSchema = { readonly [key: string]: unknown }

/** Values that exist where the schema is used, by the name of what takes them; undefined for those of no kind. */
export type Known = (name: string) => fc.Arbitrary<unknown> | undefined

export interface SchemaOptions {
  known: Known
  /** What `$ref` points into. */
  document?: JsonSchema
}

const LENGTH_MAX = 40
const ITEMS_MAX = 5

/** Returns values that keep to a schema, as far as it says. */
export function valid(schema: JsonSchema, options: SchemaOptions, name = ""): fc.Arbitrary<unknown> {
  const resolved = resolve(schema, options)
  const known = options.known(name)
  if (known !== undefined && !("properties" in resolved) && resolved.type !== "array")
    return fc.oneof(
      { weight: 5, arbitrary: known },
      { weight: 1, arbitrary: ofKind(resolved, options, name) },
    )
  return ofKind(resolved, options, name)
}

/** Returns values of which some fields are at a bound, beyond it, or something else altogether. */
export function nearlyValid(schema: JsonSchema, options: SchemaOptions, name = ""): fc.Arbitrary<unknown> {
  const resolved = resolve(schema, options)
  if (resolved.type === "object" && isSchemas(resolved.properties)) {
    const fields = Object.entries(resolved.properties).map(
      ([field, inner]) => [field, nearlyValid(inner, options, field)] as const,
    )
    return fc
      .tuple(
        fc.record(Object.fromEntries(fields), { requiredKeys: requiredOf(resolved) }),
        rarely(fc.tuple(text, anything), 10, undefined),
      )
      .map(([value, more]) =>
        more === undefined ? value : Object.fromEntries([...Object.entries(value), more]),
      )
  }
  return fc.oneof(
    { weight: 40, arbitrary: valid(resolved, options, name) },
    { weight: 3, arbitrary: atBounds(resolved, options, name) },
    { weight: 2, arbitrary: anything },
  )
}

function ofKind(schema: JsonSchema, options: SchemaOptions, name: string): fc.Arbitrary<unknown> {
  if ("const" in schema) return fc.constant(schema.const)
  if (Array.isArray(schema.enum)) return fc.constantFrom(...(schema.enum as unknown[]))
  const choices = schema.anyOf ?? schema.oneOf
  if (Array.isArray(choices))
    return fc.oneof(...choices.map((one) => valid(one as JsonSchema, options, name)))
  if (Array.isArray(schema.type))
    return fc.oneof(...schema.type.map((type) => ofKind({ ...schema, type }, options, name)))
  switch (schema.type) {
    case "string":
      return fc.oneof(
        {
          weight: 9,
          arbitrary: fc.lorem({ maxCount: 6 }).map((words) => words.slice(0, maxOf(schema.maxLength))),
        },
        { weight: 1, arbitrary: text },
      )
    case "integer":
      return fc.oneof(fc.integer({ min: 1, max: 9 }), integerWithin(schema))
    case "number":
      return fc.double({ min: numberOr(schema.minimum, -5), max: numberOr(schema.maximum, 5), noNaN: true })
    case "boolean":
      return fc.boolean()
    case "null":
      return fc.constant(null)
    case "array":
      return fc.array(valid((schema.items ?? {}) as JsonSchema, options, name), {
        minLength: numberOr(schema.minItems, 0),
        maxLength: Math.max(
          numberOr(schema.minItems, 0),
          Math.min(ITEMS_MAX, numberOr(schema.maxItems, ITEMS_MAX)),
        ),
      })
    case "object":
      return objectOf(schema, options)
    default:
      return fc.jsonValue({ maxDepth: 3 })
  }
}

function objectOf(schema: JsonSchema, options: SchemaOptions): fc.Arbitrary<unknown> {
  if (!isSchemas(schema.properties))
    return fc.dictionary(fc.lorem({ maxCount: 1 }), fc.jsonValue({ maxDepth: 2 }))
  const fields = Object.entries(schema.properties).map(
    ([field, inner]) => [field, valid(inner, options, field)] as const,
  )
  return fc.record(Object.fromEntries(fields), { requiredKeys: requiredOf(schema) })
}

function atBounds(schema: JsonSchema, options: SchemaOptions, name: string): fc.Arbitrary<unknown> {
  const around = (bound: unknown) => (typeof bound === "number" ? [bound - 1, bound, bound + 1] : [])
  switch (schema.type) {
    case "string": {
      const lengths = [...around(schema.minLength), ...around(schema.maxLength)]
      return fc.constantFrom(...lengths, 0, 200, 512, 2_000).chain(textOfLength)
    }
    case "integer":
    case "number": {
      const bounds = [schema.minimum, schema.maximum, schema.exclusiveMinimum, schema.exclusiveMaximum]
      return fc.constantFrom(...bounds.flatMap(around), 0, -1, 1.5, 2 ** 53 - 1)
    }
    case "array": {
      const item = valid((schema.items ?? {}) as JsonSchema, options, name)
      const lengths = [...around(schema.minItems), ...around(schema.maxItems), 0].filter((one) => one >= 0)
      return fc
        .constantFrom(...lengths)
        .chain((length) => fc.array(item, { minLength: 1, maxLength: 3 }).map((some) => cycled(some, length)))
    }
    default:
      return anything
  }
}

function cycled(some: readonly unknown[], length: number): unknown[] {
  return Array.from({ length }, (_, at) => some[at % some.length])
}

function integerWithin(schema: JsonSchema): fc.Arbitrary<number> {
  const min = Math.max(numberOr(schema.minimum, 0), -(2 ** 31))
  const max = Math.min(numberOr(schema.maximum, 2 ** 31 - 1), 2 ** 31 - 1)
  return fc.integer({ min, max: Math.max(min, max) })
}

function resolve(schema: JsonSchema, { document }: SchemaOptions): JsonSchema {
  if (typeof schema.$ref !== "string") return schema
  let found: unknown = document
  for (const step of schema.$ref.replace(/^#\//, "").split("/"))
    found = (found as JsonSchema | undefined)?.[step]
  return (found ?? {}) as JsonSchema
}

function requiredOf(schema: JsonSchema): string[] {
  return Array.isArray(schema.required) ? (schema.required as string[]) : []
}

function isSchemas(value: unknown): value is Record<string, JsonSchema> {
  return typeof value === "object" && value !== null
}

function numberOr(value: unknown, otherwise: number): number {
  return typeof value === "number" ? value : otherwise
}

function maxOf(value: unknown): number {
  return Math.min(LENGTH_MAX, numberOr(value, LENGTH_MAX))
}
