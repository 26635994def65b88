/** The OpenAPI 3.1 document of the routes: a loop over them, and what they all have in common. */

import * as z from "zod"
import type { ApiName } from "../domain/plan-limits.ts"
import { titleOf } from "./failure.ts"
import type { AnyRoute } from "./route.ts"

type Schema = Record<string, unknown>

const TAGS: Record<ApiName, string> = {
  coordination: "Events, webhooks, file reservations, the pre-edit hook and MCP",
  memory: "The memory store",
  documentation: "Documentation search",
}

const ERROR_DESCRIPTIONS: Record<number, string> = {
  400: "The request is malformed or breaks a rule.",
  401: "The key is missing, malformed, unknown, expired or revoked, or belongs to the other environment.",
  403: "The key lacks the scope, or the request comes from a web page elsewhere.",
  404: "What was asked for does not exist.",
  413: "The body is too large.",
  415: "The body is not application/json.",
  422: "A field of the body breaks a rule.",
  429: "The rate limit of the key is used up; the Retry-After header says for how many seconds.",
  500: "Something failed that should not.",
  503: "The database cannot be used now.",
}

const integer = (description: string) => ({ description, schema: { type: "integer" } })

/** Headers of every response, by their names below `#/components/headers`. */
const HEADERS = {
  "X-RateLimit-Limit": integer("Requests per minute that the plan allows."),
  "X-RateLimit-Remaining": integer("Requests that are left now, at most the limit."),
  "X-RateLimit-Reset": integer("When more are allowed again, in seconds since 1970."),
}

/** Returns the document of a server at `url`, such as `http://127.0.0.1:4747`. */
export function openApiDocument(routes: readonly AnyRoute[], url: string, version: string): Schema {
  const paths: Record<string, Record<string, Schema>> = {}
  for (const route of routes) {
    const path = route.path.replace(/:([^/]+)/g, "{$1}")
    paths[path] = { ...paths[path], [route.method.toLowerCase()]: operationOf(route) }
  }
  const apis = [...new Set(routes.map(({ api }) => api))]
  return {
    openapi: "3.1.0",
    info: {
      title: "signalbox",
      version,
      description: "The HTTP interface of signalbox on this machine.",
      license: { name: "MIT", identifier: "MIT" },
    },
    servers: [{ url }],
    tags: apis.map((name) => ({ name, description: TAGS[name] })),
    security: [{ bearer: [] }],
    paths,
    components: {
      securitySchemes: {
        bearer: {
          type: "http",
          scheme: "bearer",
          description: "A key made with `signalbox keys create`, or this machine's local key.",
        },
      },
      headers: HEADERS,
      schemas: { Error: ERROR_SCHEMA, MemoryError: MEMORY_ERROR_SCHEMA },
    },
  }
}

const RETRY_AFTER = { type: "integer", description: "Seconds until the same request can succeed (429)." }

const ERROR_SCHEMA = {
  type: "object",
  required: ["error", "message"],
  properties: {
    error: { type: "string", description: "A few words that go with the status." },
    message: { type: "string", description: "What is wrong and what to do next." },
    field: { type: "string", description: "The field at fault." },
    retry_after: RETRY_AFTER,
  },
}

const MEMORY_ERROR_SCHEMA = {
  type: "object",
  required: ["message"],
  properties: {
    message: ERROR_SCHEMA.properties.message,
    errors: {
      type: "object",
      description: "What is wrong with each field.",
      additionalProperties: { type: "array", items: { type: "string" } },
    },
    retry_after: RETRY_AFTER,
  },
}

function operationOf(route: AnyRoute): Schema {
  const isPublic = "answer" in route
  const body = "run" in route ? route.body : undefined
  const parameters = "run" in route ? parametersOf("path", route.parameters) : []
  if ("run" in route)
    parameters.push(...parametersOf("header", route.headers), ...parametersOf("query", route.query))
  return {
    operationId: operationIdOf(route),
    tags: [route.api],
    summary: route.summary,
    ...(route.description === undefined ? {} : { description: route.description }),
    ...(isPublic ? { security: [] } : {}),
    ...(parameters.length === 0 ? {} : { parameters }),
    ...(body === undefined ? {} : { requestBody: requestBodyOf(body) }),
    responses: responsesOf(route),
  }
}

function requestBodyOf(body: z.ZodObject): Schema {
  const schema = schemaOf(body, "input")
  const isRequired = Array.isArray(schema.required) && schema.required.length > 0
  return { required: isRequired, content: json(schema) }
}

function operationIdOf({ method, path }: AnyRoute): string {
  const words = path.split(/[^a-zA-Z0-9]+/).filter((word) => word !== "")
  return [method.toLowerCase(), ...words].join("_")
}

function parametersOf(place: "path" | "header" | "query", shape: z.ZodObject): Schema[] {
  const schema = schemaOf(shape, "input")
  const required = (schema.required as string[] | undefined) ?? []
  return Object.entries((schema.properties ?? {}) as Record<string, Schema>).map(([name, property]) => {
    const { description, ...rest } = property
    return {
      name,
      in: place,
      required: place === "path" || required.includes(name),
      ...(description === undefined ? {} : { description }),
      schema: rest,
    }
  })
}

function responsesOf(route: AnyRoute): Record<string, Schema> {
  const headers = Object.fromEntries(
    Object.keys(HEADERS).map((name) => [name, { $ref: `#/components/headers/${name}` }]),
  )
  const errorName = route.api === "memory" ? "MemoryError" : "Error"
  const failures = errorStatusesOf(route).map((status) => [
    String(status),
    {
      description: ERROR_DESCRIPTIONS[status] ?? titleOf(status),
      headers,
      content: json({ $ref: `#/components/schemas/${errorName}` }),
    },
  ])
  const own = Object.entries(route.responses).map(([status, { description, schema }]) => [
    status,
    { description, headers, ...(schema === undefined ? {} : { content: json(schemaOf(schema, "output")) }) },
  ])
  return { ...Object.fromEntries(failures), ...Object.fromEntries(own) }
}

/** The errors that a route shares with all others of its kind. */
function errorStatusesOf(route: AnyRoute): number[] {
  const always = [400, 403, 500]
  if ("answer" in route) return always
  const hasHeaders = "run" in route && Object.keys(route.headers.shape).length > 0
  const hasBody = !("run" in route) || route.body !== undefined
  return [
    ...always,
    401,
    503,
    ...(hasBody ? [413, 415] : []),
    ...("run" in route && route.body !== undefined && route.invalidBodyStatus === 422 ? [422] : []),
    ...(route.isLimited ? [429] : []),
    ...(route.path.includes(":") || hasHeaders ? [404] : []),
  ]
}

function json(schema: Schema): Schema {
  return { "application/json": { schema } }
}

function schemaOf(type: z.ZodType, io: "input" | "output"): Schema {
  const { $schema: _, ...schema } = z.toJSONSchema(type, { io, unrepresentable: "any" })
  return schema
}
