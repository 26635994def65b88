/** What every identity, messaging and contact tool does with arguments that it does not take. */

import { describe, expect, test } from "vitest"
import { type Session, send, world } from "../../support/world.ts"

interface Tool {
  name: string
  /** What the tool failed to do, as its errors begin. */
  action: string
  required: Record<string, unknown>
  optional: Record<string, unknown>
}

const HANDSHAKE = { requester_name: "Ada", recipient_name: "Bob", project_id: 1, reason: "r" }

/** Arguments that every tool takes in the world below. */
const TOOLS: Tool[] = [
  {
    name: "register-agent",
    action: "register agent",
    required: { project_key: "demo", program: "p", model: "m" },
    optional: { name_hint: "Newcomer", task_description: "t", repository_id: 1, contact_policy: "auto" },
  },
  { name: "whois", action: "whois", required: { project_key: "demo", agent_name: "Ada" }, optional: {} },
  {
    name: "list-agents",
    action: "list agents",
    required: { project_key: "demo" },
    optional: { active_only: true, repository_id: 1 },
  },
  {
    name: "send-message",
    action: "send message",
    required: { sender_name: "Ada", project_id: 1, to_agent_ids: [3], subject: "s", body_md: "b" },
    optional: {
      importance: "high",
      ack_required: true,
      cc_agent_ids: [3],
      bcc_agent_ids: [3],
      thread_id: "plan",
      attachments: [{}],
    },
  },
  {
    name: "reply-message",
    action: "reply message",
    required: { sender_name: "Ada", project_id: 1, parent_message_id: 1, body_md: "b" },
    optional: { importance: "high", ack_required: true },
  },
  {
    name: "fetch-inbox",
    action: "fetch inbox",
    required: { agent_name: "Ada", project_id: 1 },
    optional: { since_ts: "2026-03-10", urgent_only: true, include_bodies: true, limit: 5 },
  },
  {
    name: "read-message",
    action: "read message",
    required: { agent_name: "Bob", project_id: 1, message_id: 1 },
    optional: {},
  },
  {
    name: "ack-message",
    action: "ack message",
    required: { agent_name: "Bob", project_id: 1, message_id: 1 },
    optional: { response_text: "r" },
  },
  { name: "request-contact", action: "request contact", required: HANDSHAKE, optional: {} },
  {
    name: "respond-contact",
    action: "respond contact",
    required: { agent_name: "Cid", project_id: 1, contact_request_id: 1, approved: true },
    optional: { response_message: "r" },
  },
  {
    name: "list-contacts",
    action: "list contacts",
    required: { agent_name: "Ada", project_id: 1 },
    optional: { status: "pending" },
  },
  {
    name: "set-contact-policy",
    action: "set contact policy",
    required: { agent_name: "Ada", project_id: 1, contact_policy: "open" },
    optional: {},
  },
  {
    name: "block-agent",
    action: "block agent",
    required: { blocker_name: "Ada", blocked_name: "Bob", project_id: 1 },
    optional: { reason: "r" },
  },
  { name: "macro-contact-handshake", action: "contact handshake", required: HANDSHAKE, optional: {} },
]

/** Ada (2), Bob (3) and Cid (4), a message from Ada to Bob (1), and a contact request from Ada to Cid (1). */
async function prepared(): Promise<Session> {
  const session = await world().session()
  const [ada, bob] = [await session.register("Ada"), await session.register("Bob")]
  await session.register("Cid", { contact_policy: "contacts_only" })
  expect((await send(ada, [bob])).messageId).toBe(1)
  await session.call("request-contact", { ...HANDSHAKE, recipient_name: "Cid" })
  return session
}

/** Values that are of another type than the given one, each in a form that clients send by mistake. */
function mistyped(value: unknown): unknown[] {
  if (typeof value === "string") return [7, ["x"], { text: "x" }]
  if (typeof value === "number") return [String(value), 1.5, true]
  if (typeof value === "boolean") return [String(value), 1]
  return ["[3]", 3, { 0: 3 }]
}

describe.each(TOOLS)("$name", ({ name, action, required, optional }) => {
  test("takes its required arguments alone", async () => {
    await (await prepared()).call(name, required)
  })

  test("takes all of its arguments together", async () => {
    await (await prepared()).call(name, { ...required, ...optional })
  })

  test("names a required argument that is missing, and offers the call again", async () => {
    const session = await prepared()
    for (const missing of Object.keys(required)) {
      const args = Object.fromEntries(Object.entries(required).filter(([parameter]) => parameter !== missing))
      const text = await session.fail(name, args)
      expect(text).toMatch(new RegExp(`^Failed to ${action}: ${missing} is required`))
      expect(text).toContain(`call ${name} again`)
    }
  })

  test("names an argument of the wrong type, its type and what came instead", async () => {
    const session = await prepared()
    const all = { ...required, ...optional }
    for (const [parameter, value] of Object.entries(all)) {
      for (const wrong of mistyped(value)) {
        const text = await session.fail(name, { ...all, [parameter]: wrong })
        expect(text, JSON.stringify(wrong)).toMatch(
          new RegExp(`^Failed to ${action}: ${parameter} must be .*\\(got `),
        )
      }
    }
  })

  test("names an argument that it does not know, and those that it does", async () => {
    const session = await prepared()
    const text = await session.fail(name, { ...required, agentName: "Ada" })
    expect(text).toMatch(new RegExp(`^Failed to ${action}: unknown parameter "agentName"`))
    for (const parameter of Object.keys({ ...required, ...optional })) expect(text).toContain(parameter)
  })

  test("refuses ids below 1 with the figure", async () => {
    const session = await prepared()
    const all = { ...required, ...optional }
    const ids = Object.entries(all).filter(
      ([parameter]) => /_ids?$/.test(parameter) && parameter !== "thread_id",
    )
    for (const [parameter, value] of ids) {
      for (const wrong of [0, -1]) {
        const text = await session.fail(name, { ...all, [parameter]: Array.isArray(value) ? [wrong] : wrong })
        expect(text).toMatch(new RegExp(`^Failed to ${action}: ${parameter}\\S* must be at least 1\\b`))
      }
    }
  })

  test("has exactly the parameters of the contract", async () => {
    const session = await world().session()
    const { tools } = await session.client.listTools()
    const schema = tools.find((tool) => tool.name === name)?.inputSchema
    expect(Object.keys(schema?.properties ?? {}).sort()).toEqual(
      Object.keys({ ...required, ...optional }).sort(),
    )
    expect([...(schema?.required ?? [])].sort()).toEqual(Object.keys(required).sort())
  })
})
