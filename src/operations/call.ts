/** Calls an operation with arguments as they came: admits, checks, runs, and returns Markdown. */

import { ISSUES_SHOWN_MAX } from "../config/limits.ts"
import { AppError } from "../errors.ts"
import { touchAgent } from "../store/coordination/agents.ts"
import { ASKS, type Ask, admit, admitOperation } from "./admission.ts"
import type { Call } from "./caller.ts"
import { describeIssue, valueAt, withoutEmpty } from "./input.ts"
import type { ActorContext, CallContext, Operation } from "./operation.ts"
import { admitToTenant } from "./tenants.ts"

/** Returns the Markdown of a call's result; everything that a user can cause fails with an AppError. */
export async function callOperation(call: Call, operation: Operation, args: unknown): Promise<string> {
  const context = await admit(call, askOf(operation))
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

function askOf(operation: Operation): Ask {
  if (operation.inRepository) return ASKS.memory
  if (operation.onMachine) return operation.needsAdmin ? ASKS.admin : ASKS.documentation
  return operation.isSearch ? ASKS.search : ASKS.toolCall
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

/** Marks who acts in a call as active, if anybody does. */
export async function touchActor({ app, actor, nowMs }: Partial<ActorContext> & CallContext): Promise<void> {
  if (actor !== undefined) await touchAgent(app.db, actor.id, nowMs)
}

/** Checks arguments against an operation's schema; fails with `invalid`, naming each parameter and its rule. */
function checkArguments(operation: Operation, args: unknown): Record<string, unknown> {
  const given = args ?? {}
  const isObject = typeof given === "object" && !Array.isArray(given)
  const parsed = operation.input.safeParse(isObject ? withoutEmpty(operation.input, given) : given)
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
