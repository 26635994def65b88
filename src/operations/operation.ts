/**
 * What an operation is: a value with a name, a schema, a handler that returns plain data, and the
 * Markdown of that data. Everything that lists, describes or calls operations is a loop over such values.
 */

import type * as z from "zod"
import type { ApiKey } from "../domain/api-key.ts"
import type { Agent } from "../domain/coordination/agent.ts"
import type { Project, Repository } from "../domain/project.ts"
import type { Call } from "./caller.ts"

/** Groups of operations that a client may ask for; each holds some of the categories. */
export const TOOLSETS = {
  coordination: ["identity", "messaging", "file-reservations", "contacts", "search", "macros"],
  memory: ["memory"],
  documentation: ["documentation"],
} as const
type Toolset = keyof typeof TOOLSETS
export type Category = (typeof TOOLSETS)[Toolset][number]

/** What a call does: `destroy` takes something away that cannot be brought back. */
type Effect = "read" | "write" | "destroy"

/** A call that was admitted. */
export interface CallContext extends Call {
  key: ApiKey
  /** The one time of the whole call. */
  nowMs: number
}
export interface ProjectContext extends CallContext {
  project: Project
}
export interface ActorContext extends ProjectContext {
  /** The agent on whose behalf the call is made. */
  actor: Agent
}
/** A call about what belongs to one repository alone, such as its memories. */
export interface TenantContext extends CallContext {
  repository: Repository
}

export interface Operation {
  name: string
  title: string
  category: Category
  effect: Effect
  /** Whether the same call again changes nothing more. */
  idempotent: boolean
  /** Whether the call counts as a search as well. */
  isSearch: boolean
  /** Whether it may create the project it names; all others need an existing one. */
  opensProject: boolean
  /** Whether it is about a repository instead of a project: the one of `repository_id`, or the one around the server. */
  inRepository: boolean
  /** Whether it is about everything that is connected on this machine, counted as the documentation API is. */
  onMachine: boolean
  /** Whether such a call changes the machine: it needs a key that may, and no other scope. */
  needsAdmin: boolean
  /** Whether it may connect to other machines. */
  reachesOut: boolean
  /** The parameter that names the acting agent, if one does. */
  actor: string | undefined
  description: string
  input: z.ZodObject
  run(context: CallContext, input: Record<string, unknown>): Promise<unknown>
  markdown(result: unknown): string
}

type ContextOf<InRepository, OnMachine, Opens, Actor> = InRepository extends true
  ? TenantContext
  : true extends OnMachine | Opens
    ? CallContext
    : Actor extends string
      ? ActorContext
      : ProjectContext

interface Definition<
  Shape extends z.ZodRawShape,
  Result,
  InRepository extends boolean | undefined,
  OnMachine extends boolean | undefined,
  Opens extends boolean | undefined,
  Actor extends (keyof Shape & string) | undefined,
> {
  name: string
  title: string
  category: Category
  effect: Effect
  idempotent?: boolean
  isSearch?: boolean
  opensProject?: Opens
  inRepository?: InRepository
  onMachine?: OnMachine
  needsAdmin?: boolean
  reachesOut?: boolean
  actor?: Actor
  description: string
  input: z.ZodObject<Shape>
  run(
    context: ContextOf<InRepository, OnMachine, Opens, Actor>,
    input: z.output<z.ZodObject<Shape>>,
  ): Promise<Result>
  markdown(result: Result): string
}

/** Makes an operation; `run` gets the project and the acting agent that the definition asks for. */
export function defineOperation<
  Shape extends z.ZodRawShape,
  Result,
  const InRepository extends boolean | undefined = undefined,
  const OnMachine extends boolean | undefined = undefined,
  const Opens extends boolean | undefined = undefined,
  const Actor extends (keyof Shape & string) | undefined = undefined,
>(definition: Definition<Shape, Result, InRepository, OnMachine, Opens, Actor>): Operation {
  // The types of one operation's input and result matter only inside its definition; the catalogue
  // holds them all alike. What `run` gets is exactly what admission made for this definition.
  return {
    idempotent: false,
    isSearch: false,
    needsAdmin: false,
    reachesOut: false,
    ...definition,
    opensProject: definition.opensProject ?? false,
    inRepository: definition.inRepository ?? false,
    onMachine: definition.onMachine ?? false,
    actor: definition.actor,
  } as unknown as Operation
}

/** Returns what a failed call could not do: `send message` for send-message, `start session` for macro-start-session. */
export function actionOf(operation: { name: string }): string {
  return operation.name.replace(/^macro-/, "").replaceAll("-", " ")
}
