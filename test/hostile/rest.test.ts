import { expect, test } from "vitest"
import * as z from "zod"
import { productRoutes } from "../../src/http/index.ts"
import type { Route } from "../../src/http/route.ts"
import { type HttpEntry, serveHttp } from "../support/http.ts"
import { world } from "../support/world.ts"
import { everyFourth, HOSTILE } from "./corpus.ts"
import { fieldsIn, type TextField } from "./fields.ts"
import { SLOW_MACHINE_MS } from "./tools.ts"

/** What bodies and queries need besides what a text is put into. */
const KNOWN: Record<string, unknown> = {
  content: "ordinary words",
  query: "ordinary words",
  path: "src/a.ts",
  paths: ["src/a.ts"],
  reason: "ordinary",
  repository_id: 1,
  agent_id: 2,
  profile: "standard",
}

const ROUTES = productRoutes().filter((route) => "run" in route)
/** Every text is put into each content, every fourth into other fields; sixteen requests are under way at a time. */
const TOGETHER = 16

const fieldsOf = (schema: z.ZodObject | undefined) =>
  schema === undefined
    ? []
    : fieldsIn(
        z.toJSONSchema(schema, { io: "input", unrepresentable: "any" }) as Parameters<typeof fieldsIn>[0],
      )

test(
  "no text in a body, a query or a path makes a response anything but JSON that says what it said",
  async () => {
    const session = await world().session()
    await session.register("Ann")
    const http = await serveHttp(session, { routes: productRoutes() })
    let sent = 0
    for (const route of ROUTES) {
      const requests = requestsTo(route)
      for (let index = 0; index < requests.length; index += TOGETHER)
        await Promise.all(requests.slice(index, index + TOGETHER).map((request) => check(http, request)))
      sent += requests.length
    }
    expect(sent).toBeGreaterThan(9 * HOSTILE.length)
  },
  SLOW_MACHINE_MS,
)

interface Request {
  method: string
  path: string
  body?: Record<string, unknown>
  foreign: string
}

function requestsTo(route: Route): Request[] {
  const { method } = route
  const place = (id: string) => route.path.replace(/:\w+/, id)
  const inBody = fieldsOf(route.body)
  const inQuery = fieldsOf(route.query)
  // A search of the documentation starts processes of git.
  const texts = route.path.includes("/documentation/") ? everyFourth(0) : HOSTILE
  const needed = (fields: readonly TextField[]) =>
    Object.fromEntries(
      [
        ...new Set([
          ...fields.filter(({ isRequired }) => isRequired).map(({ name }) => name),
          "agent_id",
          "repository_id",
        ]),
      ]
        .filter((name) => route.body !== undefined && name in route.body.shape)
        .map((name) => [name, KNOWN[name]]),
    )
  const holdsId = route.path.includes("/:")
  return [
    ...inBody.flatMap(({ name, holding }, turn) =>
      (name === "content" ? texts : everyFourth(turn, texts)).map((foreign) => {
        const body = { ...needed(inBody), [name]: holding(foreign) }
        return { method, path: place("1"), body, foreign }
      }),
    ),
    ...inQuery.flatMap(({ name }, turn) =>
      everyFourth(turn).map((foreign) => ({
        method,
        path: `${place("1")}?${name}=${encoded(foreign)}`,
        foreign,
      })),
    ),
    ...(holdsId ? everyFourth(3).map((foreign) => ({ method, path: place(encoded(foreign)), foreign })) : []),
  ]
}

/** Not every text has a form in UTF-8. */
function encoded(text: string): string {
  return encodeURIComponent(Buffer.from(text.slice(0, 4_000)).toString())
}

async function check(http: HttpEntry, { method, path, body, foreign }: Request): Promise<void> {
  const headers = { "x-tenant-id": "1" }
  const reply = await http.send(path, { method, headers, ...(body !== undefined && { body }) })
  const what = `${method} ${path.slice(0, 200)} ${JSON.stringify(body)?.slice(0, 200)}: ${reply.text.slice(0, 500)}`
  expect(reply.status, what).toBeLessThan(500)
  if (reply.status !== 204) expect(reply.json, what).toBeTypeOf("object")
  expect(reply.text, what).not.toMatch(/\bat .*\.ts:\d+/)
  if (reply.status !== 201 || typeof body?.content !== "string" || body.content !== foreign) return
  if (!/\p{Cs}/u.test(foreign)) expect(reply.json, what).toMatchObject({ data: { content: foreign } })
}
