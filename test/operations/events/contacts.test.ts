/** What is told of contacts and blocks. */

import { execFileSync } from "node:child_process"
import { join } from "node:path"
import { expect, test } from "vitest"
import { eventsDuring } from "../../support/events.ts"
import { agents, numberAfter, type TestAgent } from "../../support/world.ts"

const as = (agent: TestAgent, tool: string, args: object) =>
  agent.session.call(tool, { project_id: agent.projectId, ...args })

const ask = (from: TestAgent, to: TestAgent) =>
  as(from, "request-contact", { requester_name: from.name, recipient_name: to.name, reason: "secret plan" })

const setPolicy = (agent: TestAgent, policy: string) =>
  as(agent, "set-contact-policy", { agent_name: agent.name, contact_policy: policy })

test("a request is told to both sides by their names, without its reason, and so is each answer", async () => {
  const [, ada, bob] = await agents("Ada", "Bob")
  const { app } = ada.session
  await setPolicy(bob, "contacts_only")
  let id = 0
  const asked = await eventsDuring(app, async () => {
    id = numberAfter(await ask(ada, bob), "Contact request id")
    // It waits already.
    await ask(ada, bob)
  })
  const data = { contact_request_id: id, requester: "Ada", recipient: "Bob" }
  expect(asked).toMatchObject([
    { kind: "contact.requested", agentId: ada.id, partyId: bob.id, subjectId: id, data },
  ])
  expect(JSON.stringify(asked)).not.toContain("secret")
  const answer = { agent_name: "Bob", contact_request_id: id, approved: false, response_message: "no" }
  expect(await eventsDuring(app, () => as(bob, "respond-contact", answer))).toMatchObject([
    {
      kind: "contact.answered",
      agentId: bob.id,
      partyId: ada.id,
      subjectId: id,
      data: { ...data, approved: false },
    },
  ])
})

test("what a policy answers at once is told as asked and answered", async () => {
  const [, ada, bob] = await agents("Ada", "Bob")
  const { app } = ada.session
  for (const [policy, approved] of [
    ["open", true],
    ["block_all", false],
  ] as const) {
    const [from, to] = approved ? [ada, bob] : [bob, ada]
    await setPolicy(to, policy)
    const asked = () => ask(from, to)
    expect(await eventsDuring(app, asked)).toMatchObject([
      { kind: "contact.requested", agentId: from.id, partyId: to.id },
      { kind: "contact.answered", agentId: to.id, partyId: from.id, data: { approved } },
    ])
    expect(await eventsDuring(app, asked)).toEqual([])
  }
})

test("a handshake is told as an answer each way, the first time", async () => {
  const [, ada, bob] = await agents("Ada", "Bob")
  const { app } = ada.session
  const shake = () =>
    as(ada, "macro-contact-handshake", { requester_name: "Ada", recipient_name: "Bob", reason: "work" })
  expect(await eventsDuring(app, shake)).toMatchObject([
    {
      kind: "contact.answered",
      agentId: ada.id,
      partyId: bob.id,
      data: { requester: "Ada", recipient: "Bob", approved: true },
    },
    {
      kind: "contact.answered",
      agentId: ada.id,
      partyId: bob.id,
      data: { requester: "Bob", recipient: "Ada", approved: true },
    },
  ])
  expect(await eventsDuring(app, shake)).toEqual([])
})

test("a block is told once, and says nothing of its reason", async () => {
  const [, ada, bob] = await agents("Ada", "Bob")
  const { app } = ada.session
  const block = () => as(ada, "block-agent", { blocker_name: "Ada", blocked_name: "Bob", reason: "rude" })
  const told = await eventsDuring(app, block)
  expect(told).toMatchObject([
    { kind: "contact.blocked", agentId: ada.id, partyId: bob.id, data: { agent_id: bob.id, name: "Bob" } },
  ])
  expect(JSON.stringify(told)).not.toContain("rude")
  expect(await eventsDuring(app, block)).toEqual([])
})

test("a message that files a contact request tells of the request, and of nothing sent", async () => {
  const [made, ada] = await agents("Ada")
  const other = join(made.folder, "other")
  execFileSync("git", ["init", "--quiet", other])
  const bob = await (await made.session({ workingFolder: other })).register("Bob")
  const sent = () =>
    ada.session.fail("send-message", {
      sender_name: "Ada",
      project_id: ada.projectId,
      to_agent_ids: [bob.id],
      subject: "Plan",
      body_md: "b",
    })
  const events = await eventsDuring(ada.session.app, sent)
  expect(events).toMatchObject([{ kind: "contact.requested", agentId: ada.id, partyId: bob.id }])
  expect(JSON.stringify(events)).not.toContain("Plan")
  // The request waits: the next message files none.
  expect(await eventsDuring(ada.session.app, sent)).toEqual([])
})
