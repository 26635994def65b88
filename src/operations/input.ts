/** Checking what callers give against schemas: all of them read the same sentences about what is wrong. */

import * as z from "zod"
import { ISSUES_SHOWN_MAX } from "../config/limits.ts"
import { echoed, oneLine } from "../domain/foreign-text/markdown.ts"
import { visibleJson } from "../domain/foreign-text/visible.ts"
import { AppError } from "../errors.ts"

/** What a checked input with these fields is. */
export type Input<Shape extends z.ZodRawShape> = z.output<z.ZodObject<Shape>>

/** Returns what was given without the optional fields that are empty: `""`, `null` and `[]` count as not given. */
export function withoutEmpty(schema: z.ZodObject, given: object): object {
  return withoutOptional(schema, given, (value) => value === "" || isNothing(value))
}

/** Returns a body without the optional fields that are null, unless null says something there. */
export function withoutNull(schema: z.ZodObject, given: object): object {
  return withoutOptional(schema, given, (value, field) => value === null && !field.isNullable())
}

function withoutOptional(
  { shape }: z.ZodObject,
  given: object,
  isLeftOut: (value: unknown, field: z.ZodType) => boolean,
): object {
  const kept = Object.entries(given).filter(([name, value]) => {
    const field = Object.hasOwn(shape, name) ? (shape[name] as z.ZodType) : undefined
    return field === undefined || !field.isOptional() || !isLeftOut(value, field)
  })
  return Object.fromEntries(kept)
}

function isNothing(value: unknown): boolean {
  return value === null || (Array.isArray(value) && value.length === 0)
}

/** Returns the checked input of a command; fails with `invalid`, naming each field that breaks a rule, and the rule. */
export function checkInput<Shape extends z.ZodRawShape>(
  shape: Shape,
  given: Record<string, unknown>,
): Input<Shape> {
  const parsed = z.object(shape).safeParse(given)
  if (parsed.success) return parsed.data
  const { issues } = parsed.error
  const rules = issues
    .slice(0, ISSUES_SHOWN_MAX)
    .map((issue) => describeIssue(issue, Object.keys(shape), given))
  const [field] = issues[0]?.path ?? []
  throw new AppError("invalid", rules.join("; "), field === undefined ? {} : { field: String(field) })
}

/** Returns one sentence without a full stop: the parameter, the rule, and what came instead. */
export function describeIssue(issue: z.core.$ZodIssue, known: readonly string[], args: unknown): string {
  const field = issue.path.join(".")
  const name = field === "" ? "arguments" : field
  switch (issue.code) {
    case "unrecognized_keys":
      return `unknown parameter ${issue.keys.slice(0, ISSUES_SHOWN_MAX).map(echoed).join(", ")}; allowed are: ${known.join(", ")}`
    case "invalid_value":
      if (valueAt(args, issue.path) === undefined)
        return `${name} is required (one of: ${issue.values.join(", ")})`
      return `${name} must be one of: ${issue.values.join(", ")} (got ${shown(valueAt(args, issue.path))})`
    case "invalid_type": {
      const value = valueAt(args, issue.path)
      if (value === undefined) return `${name} is required (${article(issue.expected)})`
      return `${name} must be ${article(issue.expected)} (got ${shown(value)})`
    }
    case "too_small": {
      // Of texts and lists that are too short it is plain what came.
      const got =
        issue.origin === "string" || issue.origin === "array"
          ? ""
          : sizeOf(issue.origin, valueAt(args, issue.path))
      return `${name} must ${boundOf(issue.origin, "at least", Number(issue.minimum))}${got}`
    }
    case "too_big":
      return `${name} must ${boundOf(issue.origin, "at most", Number(issue.maximum))}${sizeOf(issue.origin, valueAt(args, issue.path))}`
    default:
      return `${name} ${issue.message}`
  }
}

function boundOf(origin: string, relation: string, bound: number): string {
  const figure = bound.toLocaleString("en-US")
  if (origin === "string") return `have ${relation} ${figure} character${bound === 1 ? "" : "s"}`
  if (origin === "array") return `have ${relation} ${figure} entr${bound === 1 ? "y" : "ies"}`
  return `be ${relation} ${figure}`
}

/** What came where a bound is broken: of a text or a list its length, of a number the value, also where a text gave it. */
function sizeOf(origin: string, value: unknown): string {
  // A bound on a text counts its characters, of which some take two places in a string.
  const entries = origin === "string" && typeof value === "string" ? [...value] : value
  if (Array.isArray(entries)) return ` (got ${entries.length.toLocaleString("en-US")})`
  return ` (got ${typeof value === "string" ? oneLine(value) : shown(value)})`
}

const ARTICLES: Record<string, string> = {
  int: "an integer",
  integer: "an integer",
  array: "an array",
  object: "an object",
  record: "an object",
}

function article(type: string): string {
  return ARTICLES[type] ?? `a ${type}`
}

/** Returns what stands at a path of an input; undefined where nothing does. */
export function valueAt(args: unknown, path: readonly PropertyKey[]): unknown {
  return path.reduce<unknown>(
    (value, key) => (value as Record<PropertyKey, unknown> | undefined)?.[key],
    args,
  )
}

function shown(value: unknown): string {
  const json = visibleJson(value)
  return oneLine(json.length > 60 ? `${json.slice(0, 60)}…` : json)
}
