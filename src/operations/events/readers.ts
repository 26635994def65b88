/** Who reads events over HTTP, and what of them: checked once when it begins, and now and then while it goes on. */

import { keyRefusal, permitsDocumentation, permitsMemory } from "../../domain/api-key.ts"
import { isNotifier } from "../../domain/coordination/agent.ts"
import { type EventFilter, isAskedFor, kindsNamed } from "../../domain/events/filter.ts"
import { EVENT_KINDS, type EventKind } from "../../domain/events/kinds.ts"
import { type EventReader, maySee, type NamedEvent } from "../../domain/events/visibility.ts"
import { echoed } from "../../domain/foreign-text/markdown.ts"
import { repositoryIdIn } from "../../domain/project.ts"
import { AppError, invalid } from "../../errors.ts"
import { findAgentById } from "../../store/coordination/agents.ts"
import { findKeyById } from "../../store/keys.ts"
import { findProjectById } from "../../store/projects.ts"
import { admitToProject, forbidden, howToConnect, requireRepositoryScope } from "../admission.ts"
import { mayActAs } from "../coordination/acting.ts"
import { sessionNames, sessionOf } from "../coordination/sessions.ts"
import type { CallContext } from "../operation.ts"
import { findNamedRepository } from "../tenants.ts"

/** What is asked for, as it was given: ids or names. */
export interface EventsAsked {
  project?: string | undefined
  repository?: string | undefined
  /** Separated by commas. */
  kinds?: string | undefined
  agentId?: number | undefined
}

/** A reader whose key permits what it asks for. */
export interface AdmittedReader {
  sees(event: NamedEvent): boolean
  /** Says why it may not go on reading, if it may not. */
  refusal(): Promise<string | null>
}

/** Returns the reader of a call. Fails with `invalid`, `not_found` and `forbidden`. */
export async function admitReader(context: CallContext, asked: EventsAsked): Promise<AdmittedReader> {
  const asAgent = asked.agentId === undefined ? undefined : await agentAsked(context, asked.agentId)
  const filter: EventFilter = {
    projectId: asked.project === undefined ? undefined : await projectIdOf(context, asked.project),
    repositoryId:
      asked.repository === undefined ? undefined : await repositoryIdOf(context, asked.repository),
    kinds: asked.kinds === undefined ? undefined : requireKinds("kinds", asked.kinds),
    agent: asAgent?.agent,
  }
  const ownId = asAgent?.isOwn === true ? asAgent.agent.id : undefined
  const reader: EventReader = { scopes: context.key.scopes, ownAgentIds: ownId === undefined ? [] : [ownId] }
  return {
    sees: (event) => isAskedFor(event, filter) && maySee(event, reader),
    refusal: () => refusalOf(context, ownId),
  }
}

async function projectIdOf(context: CallContext, named: string): Promise<number> {
  const id = repositoryIdIn(named)
  const isId = id !== undefined && (await findProjectById(context.app.db, id)) !== undefined
  return (await admitToProject(context, isId ? { id } : { key: named })).project.id
}

/** A key that is bound to repositories does not learn which others there are. */
async function repositoryIdOf(context: CallContext, named: string): Promise<number> {
  const { app, caller, key } = context
  const repository = await findNamedRepository(app.db, named)
  if (repository === undefined) {
    const scope = `repo:${repositoryIdIn(named) ?? "{id}"}:coordination`
    if (!key.scopes.includes("*")) throw forbidden(scope)
    throw new AppError("not_found", `repository ${echoed(named)} was not found`, {
      hint: howToConnect(caller.surface),
    })
  }
  const { id } = repository
  if (!permitsMemory(key.scopes, id) && !permitsDocumentation(key.scopes, id))
    await requireRepositoryScope(app.db, key, id)
  return id
}

/** Returns the kinds that a list separated by commas names; fails with `invalid` for a field that names others. */
export function requireKinds(field: string, list: string): ReadonlySet<EventKind> {
  const named = kindsNamed(list)
  if ("kinds" in named) return named.kinds
  const rule = `has the unknown kind ${echoed(named.unknown)}`
  throw invalid(
    field,
    rule,
    `Kinds: ${Object.keys(EVENT_KINDS).join(", ")}; message.* stands for all of messages.`,
  )
}

/** Anybody's agent may be asked for, and only its own session reads what is between two agents. */
async function agentAsked(
  context: CallContext,
  id: number,
): Promise<{ agent: NonNullable<EventFilter["agent"]>; isOwn: boolean }> {
  const { app } = context
  const agent = await findAgentById(app.db, id)
  if (agent === undefined || isNotifier(agent.name)) {
    throw new AppError("not_found", `agent ${id} was not found`, {
      hint: "Give the id that macro-start-session returned.",
    })
  }
  await admitToProject(context, { id: agent.projectId })
  const { name, projectId } = agent
  const names = await sessionNames(app.db, sessionOf(context))
  return { agent: { id, name, projectId }, isOwn: mayActAs(app, agent, names) }
}

async function refusalOf(context: CallContext, agentId: number | undefined): Promise<string | null> {
  const { app } = context
  const key = await findKeyById(app.db, context.key.id)
  if (key === undefined) return "the key is unknown here"
  const refusal = keyRefusal(key, app.config.environment, app.now())
  if (refusal !== null || agentId === undefined) return refusal
  const agent = await findAgentById(app.db, agentId)
  const names = await sessionNames(app.db, sessionOf(context))
  return agent !== undefined && mayActAs(app, agent, names)
    ? null
    : "the agent belongs to another session now"
}
