/**
 * What a resource is: a URI with placeholders, a schema of its parameters, and a reader that returns
 * plain data. Owns the matching of URIs, which is the same for all.
 */

import * as z from "zod"
import type { Agent } from "../domain/coordination/agent.ts"
import { echoed, named } from "../domain/foreign-text/markdown.ts"
import { AppError } from "../errors.ts"
import { ASKS, type Ask, admit, admitActor, admitToProject } from "../operations/admission.ts"
import { touchActor } from "../operations/call.ts"
import type { Call } from "../operations/caller.ts"
import { describeIssue, withoutEmpty } from "../operations/input.ts"
import { requireValidKey } from "../operations/keys.ts"
import type { ActorContext, CallContext, ProjectContext } from "../operations/operation.ts"

const SCHEME = "signalbox://"

export interface Resource {
  name: string
  title: string
  /** Below the scheme, with placeholders in braces, such as `coordination/inbox/{agent}`. */
  path: string
  description: string
  /** The placeholders of the path and the parameters of the query, all as text. */
  parameters: z.ZodObject
  /** The parameter that names the agent who looks, if one does. */
  actor: string | undefined
  read(context: CallContext, parameters: Record<string, unknown>): Promise<object>
  /** What of its content is compared to tell a change: all that does not run on by itself; everything unless given. */
  compared: (content: object) => unknown
}

type ContextOf<Shape extends z.ZodRawShape, Actor> = Actor extends keyof Shape
  ? undefined extends z.output<Shape[Actor]>
    ? ProjectContext & { actor?: Agent }
    : ActorContext
  : Shape extends { project_key: z.ZodType }
    ? ProjectContext
    : CallContext

interface Definition<
  Shape extends z.ZodRawShape,
  Actor extends (keyof Shape & string) | undefined,
  Content extends object,
> extends Omit<Resource, "parameters" | "actor" | "read" | "compared"> {
  parameters: z.ZodObject<Shape>
  actor?: Actor
  /** Gets a project exactly when there is a parameter `project_key`, and the agent who looks where one is named. */
  read(context: ContextOf<Shape, Actor>, parameters: z.output<z.ZodObject<Shape>>): Promise<Content>
  compared?(content: Content): unknown
}

/** Makes a resource; `read` gets checked parameters, the project that they name, and the agent who looks. */
export function defineResource<
  Shape extends z.ZodRawShape,
  Content extends object,
  const Actor extends (keyof Shape & string) | undefined = undefined,
>(definition: Definition<Shape, Actor, Content>): Resource {
  const compared = definition.compared ?? ((content: Content) => content)
  return { ...definition, actor: definition.actor, compared } as unknown as Resource
}

/** Returns the names of a resource's path placeholders. */
export function placeholdersOf(resource: Resource): string[] {
  return [...resource.path.matchAll(/\{(\w+)\}/g)].map((match) => match[1] ?? "")
}

/** Returns the names of a resource's query parameters. */
export function queryParametersOf(resource: Resource): string[] {
  const placeholders = placeholdersOf(resource)
  return Object.keys(resource.parameters.shape).filter((name) => !placeholders.includes(name))
}

/** Returns a resource's URI template (RFC 6570), or its plain URI when it has no parameters. */
export function uriTemplateOf(resource: Resource): string {
  const query = queryParametersOf(resource)
  return `${SCHEME}${resource.path}${query.length === 0 ? "" : `{?${query.join(",")}}`}`
}

/** What a resource showed, and what of that is compared to tell a change. */
export interface Reading {
  content: object
  compared: unknown
}

/** Reads the resource that a URI names; fails with an AppError for everything that a caller can cause. */
export async function readResource(
  call: Call,
  catalogue: readonly Resource[],
  uri: string,
): Promise<Reading> {
  const { resource, context, parameters } = await admitReading(call, ASKS.resourceRead, catalogue, uri)
  await touchActor(context)
  return readingOf(resource, await resource.read(context, parameters))
}

/**
 * Reads like `readResource`, with the same refusals, for who follows a resource: that is no call, counts as none and
 * keeps nobody active.
 */
export async function lookAtResource(
  call: Call,
  catalogue: readonly Resource[],
  uri: string,
): Promise<Reading> {
  const ask = { ...ASKS.resourceRead, counts: [] }
  const { resource, context, parameters } = await admitReading(await checkedAgain(call), ask, catalogue, uri)
  return readingOf(resource, await resource.read(context, parameters))
}

function readingOf(resource: Resource, content: object): Reading {
  return { content, compared: resource.compared(content) }
}

/** A key that was checked when the call began may have been revoked since. */
async function checkedAgain({ app, caller }: Call): Promise<Call> {
  if (typeof caller.key === "string") return { app, caller }
  return { app, caller: { ...caller, key: await requireValidKey(app, caller.key.id) } }
}

async function admitReading(call: Call, ask: Ask, catalogue: readonly Resource[], uri: string) {
  const context: CallContext & Partial<ActorContext> = await admit(call, ask)
  const { resource, given } = matchUri(catalogue, uri)
  const parsed = resource.parameters.safeParse(withoutEmpty(resource.parameters, given))
  if (!parsed.success) {
    const known = Object.keys(resource.parameters.shape)
    const rules = parsed.error.issues.map((issue) => describeIssue(issue, known, given))
    throw new AppError("invalid", rules.join("; "), { hint: `The form is ${uriTemplateOf(resource)}.` })
  }
  const parameters: Record<string, unknown> = parsed.data
  if (typeof parameters.project_key !== "string") return { resource, context, parameters }
  const inProject = await admitToProject(context, { key: parameters.project_key })
  const { actor } = resource
  const named = actor === undefined ? undefined : parameters[actor]
  if (actor === undefined || typeof named !== "string") return { resource, context: inProject, parameters }
  return { resource, context: await admitActor(inProject, actor, named), parameters }
}

function matchUri(
  catalogue: readonly Resource[],
  uri: string,
): { resource: Resource; given: Record<string, string> } {
  const [path = "", query = ""] = splitOnce(uri.startsWith(SCHEME) ? uri.slice(SCHEME.length) : "", "?")
  for (const resource of catalogue) {
    const placeholders = matchPath(resource.path.split("/"), path.split("/"))
    if (placeholders !== undefined)
      return { resource, given: { ...parseQueryString(query), ...placeholders } }
  }
  throw new AppError("not_found", `resource ${named(uri)} does not exist`, {
    hint: `Read ${SCHEME}coordination/tools, or list the resource templates.`,
  })
}

function matchPath(pattern: readonly string[], path: readonly string[]): Record<string, string> | undefined {
  if (pattern.length !== path.length) return undefined
  const found: Record<string, string> = {}
  for (const [index, part] of pattern.entries()) {
    const actual = path[index] ?? ""
    const placeholder = /^\{(\w+)\}$/.exec(part)?.[1]
    if (placeholder !== undefined) found[placeholder] = decode(actual, placeholder)
    else if (part !== actual) return undefined
  }
  return found
}

/** Unlike a form, a URI template leaves `+` as it is, so nothing here turns it into a space. */
function parseQueryString(query: string): Record<string, string> {
  const given: Record<string, string> = {}
  for (const pair of query.split("&").filter((part) => part !== "")) {
    const [name = "", value = ""] = splitOnce(pair, "=")
    given[decode(name, "query")] = decode(value, name)
  }
  return given
}

function splitOnce(text: string, separator: string): string[] {
  const at = text.indexOf(separator)
  return at < 0 ? [text] : [text.slice(0, at), text.slice(at + 1)]
}

function decode(text: string, field: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    throw new AppError("invalid", `${field} is not valid percent-encoding: ${echoed(text)}`, { field })
  }
}

/** A whole number within bounds, as text. */
export function integerText(min: number, max: number) {
  return z
    .string()
    .refine((value) => /^\d{1,15}$/.test(value) && Number(value) >= min && Number(value) <= max, {
      error: ({ input }) => `must be an integer from ${min} to ${max} (got ${echoed(String(input))})`,
    })
    .transform(Number)
}

export const booleanText = () => z.enum(["true", "false"]).transform((value) => value === "true")
