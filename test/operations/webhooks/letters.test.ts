/** What receivers get to read of real mail and memories, through the tools that agents call. */

import { expect, onTestFinished, test } from "vitest"
import { startWebhookDelivery } from "../../../src/operations/webhooks/delivery.ts"
import { addWebhook } from "../../../src/operations/webhooks/webhooks.ts"
import { create } from "../../support/memory-tools.ts"
import { type Received, receiver } from "../../support/receiver.ts"
import { agents, send, type TestAgent } from "../../support/world.ts"

/** Adds a webhook that includes content and one that does not; returns what a scene has them told. */
async function told(by: TestAgent, scene: () => Promise<unknown>) {
  const { app } = by.session
  const [plain, full] = [await receiver(), await receiver()]
  for (const to of [plain, full])
    await addWebhook(app, {
      url: to.url,
      kinds: ["message.*", "memory.*"],
      format: "json",
      includesContent: to === full,
      allowsPrivate: true,
    })
  const delivery = startWebhookDelivery(app)
  onTestFinished(() => delivery.close())
  await scene()
  await delivery.settle()
  const dataOf = ({ json }: Received) => [json.type, json.data] as const
  return {
    plain: plain.received.map(dataOf),
    full: full.received.map(dataOf),
    all: [...plain.received, ...full.received],
  }
}

test("bodies and contents are sent to those alone that were to have them", async () => {
  const [, ada, bob] = await agents("Ada", "Bob")
  let memory = ""
  const { plain, full, all } = await told(ada, async () => {
    await send(ada, [bob], { subject: "Tests", body_md: "All **red**." })
    memory = await create(ada.session, "Keys rotate on Mondays.")
    await ada.session.call("update-memory", { memory_id: memory, content: "Keys rotate on Fridays." })
  })
  expect(plain.map(([type]) => type)).toEqual(["message.sent", "memory.created", "memory.updated"])
  expect(full).toEqual([
    ["message.sent", { ...plain[0]?.[1], body: "All **red**." }],
    // As it is when it is sent, and when that is was not to be foreseen.
    ["memory.created", { ...plain[1]?.[1], content: expect.stringMatching(/^Keys rotate on/) }],
    ["memory.updated", { ...plain[2]?.[1], content: "Keys rotate on Fridays." }],
  ])
  expect(plain[0]?.[1]).toMatchObject({ subject: "Tests", to: ["Bob"] })
  expect(plain[1]?.[1]).toMatchObject({ memory_id: memory })
  expect(JSON.stringify(plain)).not.toMatch(/\*\*|rotate/)
  expect(all.every(({ json }) => json.project !== undefined)).toBe(true)
})

test("nothing is told of blind copies, not even with content", async () => {
  const [, ada, bob, eve] = await agents("Ada", "Bob", "Eve")
  const { all } = await told(ada, async () => {
    const { messageId } = await send(ada, [bob], { subject: "Open", bcc_agent_ids: [eve.id] })
    await eve.session.call("ack-message", {
      agent_name: eve.name,
      project_id: eve.projectId,
      message_id: messageId,
    })
  })
  expect(all.length).toBeGreaterThanOrEqual(2)
  for (const { body } of all) expect(body).not.toContain(eve.name)
  for (const { json } of all) expect(json.type).toBe("message.sent")
})

test("what was deleted before it could be sent is not sent", async () => {
  const [, ada] = await agents("Ada")
  const { app } = ada.session
  const to = await receiver()
  await addWebhook(app, {
    url: to.url,
    kinds: ["memory.created"],
    format: "json",
    includesContent: true,
    allowsPrivate: true,
  })
  const memory = await create(ada.session, "Told in confidence.")
  await ada.session.call("delete-memory", { memory_id: memory })
  const delivery = startWebhookDelivery(app)
  onTestFinished(() => delivery.close())
  await delivery.settle()
  expect(to.received.map(({ json }) => json.type)).toEqual(["memory.created"])
  expect(to.received[0]?.body).not.toContain("confidence")
})
