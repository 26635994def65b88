/** Calls an operation with arguments as they came: admits, checks, runs, and returns Markdown. */

import type * as z from "zod"
import { AppError } from "../errors.ts"
import { touchAgent } from "../store/agents.ts"
import { admitCall, admitOperation } from "./admission.ts"
import type { App } from "./app.ts"
import type { ActorContext, CallContext, Operation } from "./operation.ts"
import { admitAdminCall, admitMemoryCall, admitToTenant } from "./tenants.ts"

/** Returns the Markdown of a call's result; everything that a user can cause fails with an AppError. */
export async function callOperation(app: App, operation: Operation, args: unknown): Promise<string> {
  const context = await admitCaller(app, operation)
  const input = checkArguments(operation, args)
  const admitted = await admitToPlace(operation, context, input)
  // Any call shows that an agent is there. What writes says so in its own transaction (inTransaction),
  // which is gone again when the call fails.
  if (operation.effect === "read") await touchActor(admitted)
  try {
    return operation.markdown(await operation.run(admitted, input))
  } catch (error) {
    if (operation.effect !== "read") await touchActor(admitted)
    throw error
  }
}

/** Whether the caller may make such a call at all, and does not make too many. */
async function admitCaller(app: App, operation: Operation): Promise<CallContext> {
  if (operation.inRepository) return admitMemoryCall(app)
  if (operation.onMachine) {
    if (operation.needsAdmin) return admitAdminCall(app)
    // What it brings with it is needed by few, and every server would load it to list its tools.
    return (await import("./documentation-scope.ts")).admitDocumentationCall(app)
  }
  return admitCall(app, operation.isSearch ? ["tool_calls", "searches"] : ["tool_calls"])
}

/** Finds what the call is about, where it names a place. */
async function admitToPlace(
  operation: Operation,
  context: CallContext,
  input: Record<string, unknown>,
): Promise<CallContext> {
  if (operation.onMachine) return context
  return operation.inRepository
    ? admitToTenant(context, input.repository_id as number | undefined)
    : admitOperation(operation, context, input)
}

async function touchActor({ app, actor, nowMs }: Partial<ActorContext> & CallContext): Promise<void> {
  if (actor !== undefined) await touchAgent(app.db, actor.id, nowMs)
}

const ISSUES_SHOWN_MAX = 10

/** Checks arguments against an operation's schema; fails with `invalid`, naming each parameter and its rule. */
function checkArguments(operation: Operation, args: unknown): Record<string, unknown> {
  const parsed = operation.input.safeParse(args ?? {})
  if (parsed.success) return parsed.data
  const known = Object.keys(operation.input.shape)
  const rules = parsed.error.issues
    .slice(0, ISSUES_SHOWN_MAX)
    .map((issue) => describeIssue(issue, known, args))
  const left = parsed.error.issues.length - rules.length
  if (left > 0) rules.push(`${left} more`)
  // The likeliest mistake of all: an agent's name where its id is wanted.
  const isNameForId = parsed.error.issues.some(
    (issue) => /agent_ids?$/.test(String(issue.path[0])) && typeof valueAt(args, issue.path) === "string",
  )
  const look = isNameForId ? "list-agents shows the ids of agents. " : ""
  throw new AppError("invalid", rules.join("; "), {
    hint: `${look}Correct that and call ${operation.name} again.`,
  })
}

/** Returns one sentence without a full stop: the parameter, the rule, and what came instead. */
export function describeIssue(issue: z.core.$ZodIssue, known: readonly string[], args: unknown): string {
  const field = issue.path.join(".")
  const name = field === "" ? "arguments" : field
  switch (issue.code) {
    case "unrecognized_keys":
      return `unknown parameter ${issue.keys.map((key) => `"${key}"`).join(", ")}; allowed are: ${known.join(", ")}`
    case "invalid_value":
      if (valueAt(args, issue.path) === undefined)
        return `${name} is required (one of: ${issue.values.join(", ")})`
      return `${name} must be one of: ${issue.values.join(", ")} (got ${shown(valueAt(args, issue.path))})`
    case "invalid_type": {
      const value = valueAt(args, issue.path)
      if (value === undefined) return `${name} is required (${article(issue.expected)})`
      return `${name} must be ${article(issue.expected)} (got ${shown(value)})`
    }
    case "too_small":
      return `${name} must ${boundOf(issue.origin, "at least", Number(issue.minimum))}`
    case "too_big":
      return `${name} must ${boundOf(issue.origin, "at most", Number(issue.maximum))}${sizeOf(valueAt(args, issue.path))}`
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

function sizeOf(value: unknown): string {
  // A bound on a text counts its characters, of which some take two places in a string.
  const entries = typeof value === "string" ? [...value] : value
  if (Array.isArray(entries)) return ` (got ${entries.length.toLocaleString("en-US")})`
  return ` (got ${shown(value)})`
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

function valueAt(args: unknown, path: readonly PropertyKey[]): unknown {
  return path.reduce<unknown>(
    (value, key) => (value as Record<PropertyKey, unknown> | undefined)?.[key],
    args,
  )
}

function shown(value: unknown): string {
  const json = JSON.stringify(value) ?? String(value)
  return json.length > 60 ? `${json.slice(0, 60)}…` : json
}
