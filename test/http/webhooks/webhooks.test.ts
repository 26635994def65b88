/** Webhooks over HTTP: for a person with an admin key, never for an agent's session. */

import { describe, expect, test } from "vitest"
import { productRoutes } from "../../../src/http/index.ts"
import { clientSession } from "../../../src/operations/coordination/sessions.ts"
import type { ShownWebhook } from "../../../src/operations/webhooks/webhooks.ts"
import { putAnchors } from "../../../src/store/coordination/sessions.ts"
import { type HttpEntry, serveHttp } from "../../support/http.ts"
import { receiver } from "../../support/receiver.ts"
import { type Session, world } from "../../support/world.ts"

const PATH = "/api/v1/webhooks"
const URL_ = "https://hooks.example.com/services/very-secret"

async function room(): Promise<{ session: Session; http: HttpEntry }> {
  const session = await world().session({ name: "one" })
  return { session, http: await serveHttp(session, { routes: productRoutes() }) }
}

const listed = async (http: HttpEntry) =>
  ((await http.send(PATH)).json as { webhooks: ShownWebhook[] }).webhooks

describe("a person with an admin key", () => {
  test("adds, lists, tries, pauses, resumes and removes webhooks", async () => {
    const { http } = await room()
    const to = await receiver()
    const added = await http.send(PATH, { body: { url: to.url, allow_private: true, events: ["key.*"] } })
    expect(added).toMatchObject({
      status: 201,
      json: { id: 1, name: "127.0.0.1", format: "json", state: "active", include_content: false },
    })
    expect((added.json as { secret: string }).secret).toMatch(/^whsec_/)
    expect(await listed(http)).toMatchObject([{ id: 1, url: expect.stringMatching(/^http:.*\/hook$/) }])
    const act = (name: string, body?: object) =>
      http.send(`${PATH}/1/${name}`, { method: "POST", ...(body && { body }) })
    expect(await act("test")).toMatchObject({ status: 200, json: { is_delivered: true, status: 204 } })
    expect(await act("pause")).toMatchObject({ status: 200, json: { state: "paused" } })
    expect(await act("resume", { skip: true })).toMatchObject({ status: 200, json: { state: "active" } })
    expect((await http.send(`${PATH}/1`, { method: "DELETE" })).status).toBe(204)
    expect(await listed(http)).toEqual([])
    for (const name of ["test", "pause", "resume"]) expect((await act(name)).status).toBe(404)
    expect((await http.send(`${PATH}/1`, { method: "DELETE" })).status).toBe(404)
  })

  test("sees neither secrets nor the ends of addresses in lists", async () => {
    const { http } = await room()
    const { json } = await http.send(PATH, { body: { url: URL_ } })
    const { text } = await http.send(PATH)
    expect(text).not.toContain("very-secret")
    expect(text).not.toContain((json as { secret: string }).secret)
  })

  test.each<[string, object]>([
    ["url", { url: "http://example.com/x" }],
    ["events", { url: URL_, events: ["contact.*"] }],
    ["format", { url: URL_, format: "xml" }],
    ["secret", { url: URL_, secret: "whsec_x" }],
  ])("is told which field is wrong: %s", async (field, body) => {
    const { http } = await room()
    const { status, json } = await http.send(PATH, { body })
    expect({ status, json }).toMatchObject({ status: 400, json: { message: expect.stringContaining(field) } })
  })
})

test("a call that speaks for an agent's session may list and nothing else", async () => {
  const { session, http } = await room()
  await http.send(PATH, { body: { url: URL_ } })
  const agent = await session.register("BlueLake")
  const headers = { "X-Signalbox-Session": "one" }
  const calls = [
    http.send(PATH, { headers, body: { url: URL_ } }),
    http.send(`${PATH}/1`, { headers, method: "DELETE" }),
    ...["test", "pause", "resume"].map((name) => http.send(`${PATH}/1/${name}`, { headers, method: "POST" })),
  ]
  for (const { status, text } of await Promise.all(calls)) {
    expect(status).toBe(403)
    expect(text).toContain(`${agent.name} is an agent, and webhooks are managed by people`)
  }
  expect((await http.send(PATH, { headers })).status).toBe(200)
  expect(await listed(http)).toMatchObject([{ id: 1, state: "active" }])
})

test("a call that speaks for a coding agent's session is refused before that one has an agent, too", async () => {
  const { session, http } = await room()
  const { db } = session.app
  await db.transaction("sessions", (tx) => putAnchors(tx, clientSession("two"), ["pid:1"], Date.now()))
  const calls = { "X-Signalbox-Session": "two" }
  const { status, text } = await http.send(PATH, { headers: calls, body: { url: URL_ } })
  expect(status).toBe(403)
  expect(text).toContain("this is a coding agent's session, and webhooks are managed by people")
  const other = { "X-Signalbox-Session": "of-no-client" }
  expect((await http.send(PATH, { headers: other, body: { url: URL_ } })).status).toBe(201)
})

test("a key without the scope may not even list", async () => {
  const { http } = await room()
  const { text: key } = await http.key({ scopes: ["repo:1:coordination"] })
  expect((await http.send(PATH, { key })).status).toBe(403)
  expect((await http.send(PATH, { key, body: { url: URL_ } })).status).toBe(403)
})
