/**
 * What a route is: a value with a method, a path, the schemas of what it takes and gives, and a handler.
 * Mounting, checking, limits and the OpenAPI document are loops over such values.
 */

import * as z from "zod"
import type { Permission } from "../domain/api-key.ts"
import type { ApiName } from "../domain/plan-limits.ts"
import type { CallContext } from "../operations/operation.ts"

export type Method = "GET" | "POST" | "PATCH" | "DELETE"

interface ResponseDescription {
  description: string
  schema?: z.ZodType
}

interface RouteBase {
  method: Method
  /** Segments that begin with a colon stand for one segment of any text: `/api/v1/memories/:id`. */
  path: string
  /** Decides the form of errors and which limits count. */
  api: ApiName
  /** A few words; the title of the operation in the OpenAPI document. */
  summary: string
  description?: string
  /** What the key must permit somewhere, asked once the input was checked; nothing unless given. */
  permission?: Permission
  /** Whether the hook token opens it too, or it alone; only keys do unless given. */
  hookToken?: "too" | "alone"
  /** Whether a call counts against its API's limits. */
  isLimited: boolean
  /** Bytes of a body; `BODY_BYTES_MAX` unless given. */
  bodyBytesMax?: number
  /** What it answers when all is well, and errors of its own; the common errors are added. */
  responses: Record<number, ResponseDescription>
}

/** What a route answers: a status, and a body that becomes JSON unless there is none. */
export interface Answer {
  status: number
  body?: unknown
  /** What is sent as it is, such as a stream. */
  response?: Response
}

export interface Route extends RouteBase {
  parameters: z.ZodObject
  /** The headers that it needs of its own, by names in lower case. */
  headers: z.ZodObject
  query: z.ZodObject
  body: z.ZodObject | undefined
  /** The status of a body that is JSON and breaks a rule. */
  invalidBodyStatus: 400 | 422
  run(
    context: CallContext,
    input: { parameters: unknown; headers: unknown; query: unknown; body: unknown; isHead: boolean },
  ): Promise<Answer>
}

/** A route that reads its body and makes its response itself; the key is checked all the same. */
export interface RawRoute extends RouteBase {
  handle(context: CallContext, request: Request): Promise<Response>
}

/** A route that answers everybody; what it says must be no secret. */
export interface PublicRoute extends RouteBase {
  answer(): Answer
}

export type AnyRoute = Route | RawRoute | PublicRoute

interface Definition<
  Parameters extends z.ZodRawShape,
  Headers extends z.ZodRawShape,
  Query extends z.ZodRawShape,
  Body extends z.ZodRawShape,
> extends RouteBase {
  parameters?: z.ZodObject<Parameters>
  headers?: z.ZodObject<Headers>
  query?: z.ZodObject<Query>
  body?: z.ZodObject<Body>
  invalidBodyStatus?: 400 | 422
  run(
    context: CallContext,
    input: {
      parameters: z.output<z.ZodObject<Parameters>>
      headers: z.output<z.ZodObject<Headers>>
      query: z.output<z.ZodObject<Query>>
      body: z.output<z.ZodObject<Body>>
      /** Whether only the head of the answer is asked for: a look that leaves no trace. */
      isHead: boolean
    },
  ): Promise<Answer>
}

/** Makes a route; unknown fields of its query and its body are refused. */
export function defineRoute<
  Parameters extends z.ZodRawShape = Record<never, never>,
  Headers extends z.ZodRawShape = Record<never, never>,
  Query extends z.ZodRawShape = Record<never, never>,
  Body extends z.ZodRawShape = Record<never, never>,
>(definition: Definition<Parameters, Headers, Query, Body>): Route {
  // The types of one route's input matter only inside its definition; the list holds them all alike.
  // What `run` gets is exactly what was checked against these schemas.
  return {
    invalidBodyStatus: 400,
    ...definition,
    parameters: definition.parameters ?? z.object({}),
    headers: definition.headers ?? z.object({}),
    query: (definition.query ?? z.object({})).strict(),
    body: definition.body?.strict(),
  } as unknown as Route
}
