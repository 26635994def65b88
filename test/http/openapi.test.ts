import { describe, expect, test } from "vitest"
import * as z from "zod"
import { defineRoute } from "../../src/http/route.ts"
import { servedHttp } from "../../src/serve.ts"
import { serveHttp } from "../support/http.ts"
import { world } from "../support/world.ts"

interface Operation {
  operationId: string
  tags: string[]
  security?: object[]
  parameters?: { name: string; in: string; required: boolean; schema: object; description?: string }[]
  requestBody?: { required: boolean; content: Record<string, { schema: Record<string, unknown> }> }
  responses: Record<
    string,
    { description: string; headers: object; content?: Record<string, { schema: Record<string, unknown> }> }
  >
}

interface Document {
  openapi: string
  servers: { url: string }[]
  tags: { name: string }[]
  paths: Record<string, Record<string, Operation>>
  components: Record<string, Record<string, unknown>>
}

const PROBE = defineRoute({
  method: "PATCH",
  path: "/api/v1/memories/:id",
  api: "memory",
  summary: "Update",
  isLimited: true,
  invalidBodyStatus: 422,
  parameters: z.object({ id: z.uuid().describe("The memory's id") }),
  query: z.object({ limit: z.coerce.number().int().max(100).default(20).describe("How many") }),
  body: z.object({ content: z.string().max(32_768), tags: z.array(z.string()).optional() }),
  responses: { 200: { description: "The memory", schema: z.object({ data: z.object({ id: z.string() }) }) } },
  run: async () => ({ status: 200 }),
})

async function documentOf(product: boolean): Promise<Document> {
  const session = await world().session()
  const makeHttp = (url: string) => servedHttp(session.app).makeHttp({ url })
  const http = await serveHttp(session, product ? { makeHttp } : { routes: [PROBE] })
  const reply = await http.send("/openapi.json", { key: null })
  expect(reply.headers["content-type"]).toBe("application/json")
  expect((reply.json as Document).servers).toEqual([{ url: http.url }])
  return reply.json as Document
}

const operationsOf = (document: Document) =>
  Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ path, method, operation })),
  )

describe.each([
  ["a probe", false],
  ["the product", true],
])("the document of %s", (_, product) => {
  test("is OpenAPI 3.1, and every reference in it points at something", async () => {
    const document = await documentOf(product)
    expect(document.openapi).toBe("3.1.0")
    const references = [...JSON.stringify(document).matchAll(/"\$ref":"([^"]+)"/g)].map(
      ([, found = ""]) => found,
    )
    expect(references.length).toBeGreaterThan(0)
    for (const reference of new Set(references)) {
      const steps = reference.replace(/^#\//, "").split("/")
      const target = steps.reduce<unknown>(
        (value, step) => (value as Record<string, unknown>)?.[step],
        document,
      )
      expect(target, reference).toBeDefined()
    }
  })

  test("names each operation once, under a tag that is described", async () => {
    const document = await documentOf(product)
    const operations = operationsOf(document)
    const ids = operations.map(({ operation }) => operation.operationId)
    expect(new Set(ids).size).toBe(ids.length)
    const tags = document.tags.map(({ name }) => name)
    for (const { operation } of operations) expect(tags).toEqual(expect.arrayContaining(operation.tags))
  })

  test("declares exactly the parameters that stand in each path", async () => {
    for (const { path, operation } of operationsOf(await documentOf(product))) {
      const inPath = [...path.matchAll(/\{([^}]+)\}/g)].map(([, name]) => name)
      const declared = (operation.parameters ?? []).filter((one) => one.in === "path")
      expect(declared.map(({ name }) => name)).toEqual(inPath)
      expect(declared.every(({ required }) => required)).toBe(true)
    }
  })

  test("tells the rate-limit headers and the errors of every response, and asks for a bearer", async () => {
    const document = await documentOf(product)
    expect(document.components.securitySchemes).toMatchObject({ bearer: { type: "http", scheme: "bearer" } })
    for (const { path, operation } of operationsOf(document)) {
      for (const { headers, description } of Object.values(operation.responses)) {
        expect(Object.keys(headers)).toEqual([
          "X-RateLimit-Limit",
          "X-RateLimit-Remaining",
          "X-RateLimit-Reset",
        ])
        expect(description).not.toBe("")
      }
      const isPublic = ["/healthz", "/openapi.json"].includes(path)
      expect(operation.security).toEqual(isPublic ? [] : undefined)
      expect(Object.keys(operation.responses).includes("401")).toBe(!isPublic)
    }
  })
})

test("schemas of the route stand in the document", async () => {
  const operation = (await documentOf(false)).paths["/api/v1/memories/{id}"]?.patch
  expect(operation?.parameters).toEqual([
    {
      name: "id",
      in: "path",
      required: true,
      description: "The memory's id",
      schema: expect.objectContaining({ type: "string", format: "uuid" }),
    },
    {
      name: "limit",
      in: "query",
      required: false,
      description: "How many",
      schema: expect.objectContaining({ type: "integer", maximum: 100, default: 20 }),
    },
  ])
  expect(operation?.requestBody).toMatchObject({
    required: true,
    content: {
      "application/json": {
        schema: {
          required: ["content"],
          additionalProperties: false,
          properties: { content: { type: "string", maxLength: 32_768 } },
        },
      },
    },
  })
  expect(Object.keys(operation?.responses ?? {})).toEqual([
    "200",
    "400",
    "401",
    "403",
    "404",
    "413",
    "415",
    "422",
    "429",
    "500",
    "503",
  ])
  expect(operation?.responses["422"]?.content?.["application/json"]?.schema).toEqual({
    $ref: "#/components/schemas/MemoryError",
  })
})

test("the product serves MCP, its health and this document", async () => {
  const { paths } = await documentOf(true)
  expect(Object.keys(paths)).toEqual(expect.arrayContaining(["/mcp", "/healthz", "/openapi.json"]))
})
