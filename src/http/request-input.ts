/** What a request brings, checked against its route's schemas before the route sees it. */

import type * as z from "zod"
import { ISSUES_SHOWN_MAX, JSON_DEPTH_MAX } from "../config/limits.ts"
import { isDeeper } from "../domain/json-depth.ts"
import { describeIssue, withoutEmpty, withoutNull } from "../operations/input.ts"
import { HttpFailure } from "./failure.ts"
import type { Route } from "./route.ts"

/** Returns the checked parameters of a path; one that cannot name anything is not found. */
export function checkParameters(route: Route, parameters: Record<string, string>): unknown {
  const parsed = route.parameters.safeParse(parameters)
  if (parsed.success) return parsed.data
  const message = parsed.error.issues.map((issue) => describeIssue(issue, [], parameters)).join("; ")
  throw new HttpFailure({ status: 404, message: `nothing is found here: ${message}` })
}

/** Returns the checked headers, of those that the route names. */
export function checkHeaders(route: Route, headers: Headers): unknown {
  const names = Object.keys(route.headers.shape)
  const given = Object.fromEntries(names.map((name) => [name, headers.get(name) ?? undefined]))
  return checked(route.headers, withoutEmpty(route.headers, given), 400)
}

/** Returns the checked query; a parameter that is given several times is a list to its schema. */
export function checkQuery(route: Route, search: URLSearchParams): unknown {
  const query = Object.fromEntries(
    [...new Set(search.keys())].map((name) => {
      const values = search.getAll(name)
      return [name, values.length === 1 ? values[0] : values]
    }),
  )
  return checked(route.query, withoutEmpty(route.query, query), 400)
}

/** Returns the checked body; no body at all counts as an empty object, and that of a DELETE as none. */
export function checkBody(route: Route, bytes: Uint8Array): unknown {
  if (route.body === undefined) {
    if (bytes.length === 0 || route.method === "DELETE") return {}
    throw new HttpFailure({ status: 400, message: "this request takes no body" })
  }
  const body = bytes.length === 0 ? {} : parseJson(bytes)
  if (typeof body !== "object" || body === null || Array.isArray(body))
    throw new HttpFailure({ status: route.invalidBodyStatus, message: "the body must be a JSON object" })
  return checked(route.body, withoutNull(route.body, body), route.invalidBodyStatus)
}

/** Parses JSON in UTF-8, at most 100 levels deep; fails with 400. */
export function parseJson(bytes: Uint8Array): unknown {
  let value: unknown
  try {
    value = JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(bytes))
  } catch {
    throw new HttpFailure({ status: 400, message: "the body is not valid JSON in UTF-8" })
  }
  requireShallow(value)
  return value
}

/** Fails with 400 for JSON that is nested more than 100 levels deep; what is no JSON is the reader's to refuse. */
export function requireShallowJson(bytes: Uint8Array): void {
  let value: unknown
  try {
    value = JSON.parse(new TextDecoder().decode(bytes))
  } catch {
    return
  }
  requireShallow(value)
}

function requireShallow(value: unknown): void {
  if (!isDeeper(value, JSON_DEPTH_MAX)) return
  const message = `the body must be nested at most ${JSON_DEPTH_MAX} levels deep`
  throw new HttpFailure({ status: 400, message })
}

function checked(schema: z.ZodObject, value: object, status: 400 | 422): unknown {
  const parsed = schema.safeParse(value)
  if (parsed.success) return parsed.data
  const known = Object.keys(schema.shape)
  const fieldErrors: Record<string, string[]> = Object.create(null)
  const messages: string[] = []
  for (const issue of parsed.error.issues.slice(0, ISSUES_SHOWN_MAX)) {
    const message = describeIssue(issue, known, value)
    messages.push(message)
    for (const field of fieldsOf(issue)) fieldErrors[field] = [...(fieldErrors[field] ?? []), message]
  }
  const left = parsed.error.issues.length - messages.length
  if (left > 0) messages.push(`${left} more`)
  const field = Object.keys(fieldErrors)[0]
  throw new HttpFailure({
    status,
    message: messages.join("; "),
    ...(field === undefined ? {} : { field, fieldErrors }),
  })
}

/** The top-level fields that an issue is about: the unknown ones, or the one whose value breaks a rule. */
function fieldsOf(issue: z.core.$ZodIssue): string[] {
  if (issue.code === "unrecognized_keys" && issue.path.length === 0) return issue.keys
  return issue.path.length === 0 ? [] : [String(issue.path[0])]
}
