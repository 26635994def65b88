/** Every endpoint of the OpenAPI document, and MCP over HTTP. */

import fc from "fast-check"
import { productRoutes, withPublicRoutes } from "../../src/http/index.ts"
import { openApiDocument } from "../../src/http/openapi.ts"
import { known } from "../support/content.ts"
import { type JsonSchema, nearlyValid, valid } from "../support/from-schema.ts"
import { definePart } from "../support/part.ts"
import { type HttpInput, roomTarget } from "../support/room.ts"
import { beginning, require, requireDiscreet } from "../support/texts.ts"
import { anything, brokenJson, number, percentEncoded, rarely, text } from "../support/values.ts"

interface Parameter {
  name: string
  in: "path" | "query" | "header"
  required?: boolean
  schema?: JsonSchema
}
interface Endpoint {
  parameters?: Parameter[]
  requestBody?: { content: Record<string, { schema?: JsonSchema }> }
}

const document = openApiDocument(
  withPublicRoutes(productRoutes(), "http://127.0.0.1:4747", "0.0.0"),
  "",
  "0.0.0",
)
const paths = document.paths as Record<string, Record<string, Endpoint>>

/** A header cannot carry everything, and who tries is refused before the app. */
const headerText = fc
  .oneof(fc.constantFrom("1", "2", "repository", "", "0", "-1", "1e3"), text)
  .map((value) => value.replace(/[^\x20-\xff]/g, "?").trim())

function argumentFor({ name, schema = {} }: Parameter): fc.Arbitrary<string> {
  const asText = (value: unknown) => (typeof value === "object" ? JSON.stringify(value) : String(value))
  return fc.oneof(
    { weight: 8, arbitrary: valid(schema, { known, document }, name).map(asText) },
    { weight: 2, arbitrary: nearlyValid(schema, { known, document }, name).map(asText) },
    { weight: 1, arbitrary: text },
  )
}

function bodyOf({ requestBody }: Endpoint): fc.Arbitrary<string | undefined> {
  const schema = requestBody?.content["application/json"]?.schema
  if (schema === undefined)
    return fc.option(
      anything.map((value) => JSON.stringify(value)),
      { nil: undefined, freq: 2 },
    )
  const json = (value: unknown) => JSON.stringify(value)
  const whole = valid(schema, { known, document }).map(json)
  return fc.oneof(
    { weight: 6, arbitrary: whole },
    { weight: 6, arbitrary: nearlyValid(schema, { known, document }).map(json) },
    { weight: 1, arbitrary: brokenJson(whole) },
    { weight: 1, arbitrary: anything.map(json) },
  )
}

function requestTo(path: string, method: string, endpoint: Endpoint): fc.Arbitrary<HttpInput> {
  const parameters = endpoint.parameters ?? []
  const values = Object.fromEntries(
    parameters.map((one) => [`${one.in} ${one.name}`, one.in === "header" ? headerText : argumentFor(one)]),
  )
  const isAsked = (one: Parameter) => one.in === "path" || one.required === true
  const requiredKeys = parameters.filter(isAsked).map((one) => `${one.in} ${one.name}`)
  return fc
    .record({
      given: fc.record(values, { requiredKeys }),
      extra: rarely(fc.tuple(text, text), 12, undefined),
      body: method === "get" ? fc.constant(undefined) : bodyOf(endpoint),
      contentType: fc.constantFrom(
        ...Array<string>(12).fill("application/json"),
        "text/plain",
        "application/json; charset=x",
      ),
      isEncoded: fc.nat(15).map((chance) => chance > 0),
    })
    .map(({ given, extra, body, contentType, isEncoded }) => {
      const code = (value: string) => (isEncoded ? percentEncoded(value) : value)
      const within = (place: string) =>
        Object.entries(given as Record<string, string>).flatMap(([name, value]) =>
          name.startsWith(`${place} `) ? [[name.slice(place.length + 1), value] as const] : [],
        )
      const target = within("path").reduce(
        (all, [name, value]) => all.replace(`{${name}}`, () => code(value)),
        path,
      )
      const query = [...within("query"), ...(extra === undefined ? [] : [extra])].map(
        ([name, value]) => `${code(name)}=${code(value)}`,
      )
      return {
        method: method.toUpperCase(),
        target: `${target}${query.length === 0 ? "" : `?${query.join("&")}`}`,
        headers: {
          ...Object.fromEntries(within("header")),
          ...(body === undefined ? {} : { "content-type": contentType }),
        },
        body,
      }
    })
}

const toEndpoints = Object.entries(paths).flatMap(([path, methods]) =>
  Object.entries(methods).map(([method, endpoint]) => requestTo(path, method, endpoint)),
)

const rpc = fc.record({
  jsonrpc: fc.constantFrom<unknown>("2.0", "2.0", "2.0", "1.0", 2, null),
  id: fc.oneof(fc.nat(), text, number, fc.constant(null)),
  method: fc.oneof(fc.constantFrom("tools/list", "tools/call", "resources/read", "ping", "initialize"), text),
  params: fc.oneof(fc.constant({ name: "get-memory-stats", arguments: { repository_id: 1 } }), anything),
})
const toMcp: fc.Arbitrary<HttpInput> = fc
  .oneof(
    { weight: 5, arbitrary: rpc.map((one) => JSON.stringify(one)) },
    { weight: 1, arbitrary: fc.array(rpc, { maxLength: 3 }).map((all) => JSON.stringify(all)) },
    { weight: 1, arbitrary: brokenJson(rpc.map((one) => JSON.stringify(one))) },
  )
  .map((body) => ({
    method: "POST",
    target: "/mcp",
    headers: { "content-type": "application/json", accept: "application/json, text/event-stream" },
    body,
  }))

const toAnywhere: fc.Arbitrary<HttpInput> = fc.record({
  method: fc.constantFrom("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "PROPFIND"),
  target: fc.oneof(
    fc.constantFrom(...Object.keys(paths), "/", "//", "/mcp", "/api", "/%00", "/%", "/healthz/"),
    text.map((one) => `/${one}`),
  ),
  headers: fc.dictionary(
    fc.constantFrom("accept", "origin", "sec-fetch-site", "x-tenant-id", "content-length", "range"),
    headerText,
  ),
  body: fc.constant(undefined),
})

/** Mostly as an honest client proves itself. */
const proof = fc.constantFrom(
  "key",
  "key",
  "key",
  "key",
  "key",
  "key",
  "key",
  "key",
  "none",
  "Bearer",
  "Bearer x",
  "Basic YQ==",
  "bearer  ",
)

export const http = definePart<{ request: HttpInput; authorization: string }>({
  name: "http",
  weight: 8,
  batch: 300,
  async open(makeRoom) {
    const room = await makeRoom()
    const request = fc.oneof(
      { weight: 8, arbitrary: fc.oneof(...toEndpoints) },
      { weight: 2, arbitrary: toMcp },
      { weight: 1, arbitrary: toAnywhere },
    )
    return {
      inputs: fc.record({ request, authorization: proof }),
      begin: (seed) =>
        roomTarget(room, seed, async (live, { request: asked, authorization }) => {
          const bearer = authorization === "key" ? `Bearer ${live.key}` : authorization
          const headers = {
            host: live.host,
            ...asked.headers,
            ...(authorization === "none" ? {} : { authorization: bearer }),
          }
          const response = await live.http({ ...asked, headers })
          if (response === undefined) return 0
          const said = await response.text()
          const where = `${asked.method} ${beginning(asked.target)}`
          live.requireNothingLogged(where)
          require(response.status < 500, () => `${where} answers ${response.status}: ${beginning(said)}`)
          // What the protocol's library says of a malformed request is its own.
          if (asked.target !== "/mcp" && asked.target !== "/openapi.json") requireDiscreet(said, where)
          return 1
        }),
    }
  },
})
