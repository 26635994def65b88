/** Empty optional arguments (`""`, `null`, `[]`) count as not given, in tools, resource URIs and query strings. */

import { expect, test } from "vitest"
import type * as z from "zod"
import { callOperation } from "../../src/operations/call.ts"
import { OPERATIONS } from "../../src/operations/index.ts"
import { withoutEmpty } from "../../src/operations/input.ts"
import type { Operation } from "../../src/operations/operation.ts"
import { RESOURCES } from "../../src/resources/index.ts"
import { queryParametersOf, type Resource } from "../../src/resources/resource.ts"
import { argumentsOf, setStage } from "../hostile/tools.ts"
import { world } from "../support/world.ts"

const EMPTIES = ["", null, []]

const fieldsOf = (schema: z.ZodObject) => Object.entries(schema.shape as Record<string, z.ZodType>)
const optionalIn = (schema: z.ZodObject) =>
  fieldsOf(schema).flatMap(([name, field]) => (field.isOptional() ? [name] : []))
const requiredIn = (schema: z.ZodObject) =>
  fieldsOf(schema).flatMap(([name, field]) => (field.isOptional() ? [] : [name]))

/** A tool that answers with what it was told instead of doing it. */
function echoing(operation: Operation): Operation {
  return { ...operation, run: async (_, input) => input, markdown: (input) => JSON.stringify(input) }
}

test("each optional argument of each tool, given empty, gives the same answer as without it", async () => {
  const { session, known } = await setStage(world())
  let asked = 0
  for (const operation of OPERATIONS.map(echoing)) {
    const needed = argumentsOf(operation, known)
    const plain = await callOperation(session, operation, needed)
    for (const name of optionalIn(operation.input))
      for (const empty of EMPTIES) {
        const what = `${operation.name} ${name} ${JSON.stringify(empty)}`
        expect(await callOperation(session, operation, { ...needed, [name]: empty }), what).toBe(plain)
        asked += 1
      }
  }
  expect(asked).toBeGreaterThan(3 * OPERATIONS.length)
})

test("a required argument that is empty gets its error, which names it", async () => {
  const { session, known } = await setStage(world())
  for (const operation of OPERATIONS) {
    const needed = argumentsOf(operation, known)
    for (const name of requiredIn(operation.input))
      for (const empty of EMPTIES) {
        const what = `${operation.name} ${name} ${JSON.stringify(empty)}`
        // No query of messages is an error: one without words finds nothing and says why.
        if (what === 'search-messages query ""') continue
        const given = { ...needed, [name]: empty }
        await expect(callOperation(session, operation, given), what).rejects.toMatchObject({
          code: "invalid",
          message: expect.stringContaining(name),
        })
      }
  }
})

test("what is empty inside of an argument stays, and so do false and 0", () => {
  for (const { input } of OPERATIONS)
    for (const name of optionalIn(input))
      for (const kept of [false, 0, {}, [""], " "])
        expect(withoutEmpty(input, { [name]: kept })).toEqual({ [name]: kept })
})

/** The definitions are what a client checks arguments against before it sends them. */
test("the definitions of tools let an empty text pass where one is optional", async () => {
  const { tools } = await (await world().session()).client.listTools()
  for (const { name, inputSchema } of tools)
    for (const [parameter, schema] of Object.entries(inputSchema.properties ?? {}))
      if (inputSchema.required?.includes(parameter) !== true)
        expect(schema, `${name} ${parameter}`).not.toHaveProperty("minLength")
})

test("each optional parameter of each resource, given empty, gives the same answer as without it", async () => {
  const { session } = await setStage(world())
  const values: Record<string, string> = { agent: "Bob", thread_id: "thr_1", id: "1", project_key: "demo" }
  const pathOf = ({ path }: Resource) =>
    path.replace(/^coordination\//, "").replace(/\{(\w+)\}/, (_, name: string) => values[name] ?? "")
  let asked = 0
  for (const resource of RESOURCES) {
    const path = pathOf(resource)
    const names = queryParametersOf(resource)
    const isOptional = (name: string) => optionalIn(resource.parameters).includes(name)
    const needed = Object.fromEntries(
      names.filter((name) => !isOptional(name)).map((name) => [name, values[name] ?? ""]),
    )
    const plain = await session.read(path, needed)
    for (const name of names.filter(isOptional)) {
      expect(await session.read(path, { ...needed, [name]: "" }), `${path} ${name}`).toEqual(plain)
      asked += 1
    }
    for (const name of Object.keys(needed))
      await expect(session.read(path, { ...needed, [name]: "" }), `${path} ${name}`).rejects.toThrow(name)
  }
  expect(asked).toBeGreaterThan(RESOURCES.length / 2)
})
