import { expect, test } from "vitest"
import { COORDINATION } from "../../src/operations/index.ts"
import { agents, send, world } from "../support/world.ts"
import { HOSTILE } from "./corpus.ts"
import { countIds, expectContained } from "./examine.ts"
import { attackAll, SLOW_MACHINE_MS, setStage } from "./tools.ts"

const ABOUT_MAIL = ["messaging", "contacts", "search"]

test(
  "no text in any field of a tool about mail passes for ours",
  async () => {
    const operations = COORDINATION.filter(({ category }) => ABOUT_MAIL.includes(category))
    await attackAll(await setStage(world()), operations)
  },
  SLOW_MACHINE_MS,
)

test(
  "a message reads as one, and stands in JSON as it was written",
  async () => {
    const [, ann, bob] = await agents("Ann", "Bob")
    const sent: { messageId: number; text: string }[] = []
    // No text that UTF-8 cannot hold comes back as it was.
    const storable = HOSTILE.filter((one) => /\S/.test(one) && !/\0|\p{Cs}/u.test(one))
    for (const text of storable) {
      const subject = [...text].slice(0, 190).join("")
      if (!/\S/.test(subject)) continue
      const { messageId } = await send(ann, [bob], { subject, body_md: text })
      sent.push({ messageId, text })
      const reader = { agent_name: bob.name, project_id: bob.projectId }
      const read = await bob.session.call("read-message", { ...reader, message_id: messageId })
      expectContained(read, text, `read-message of ${JSON.stringify(text.slice(0, 80))}`)
      expect(countIds(read, "Message id")).toBe(1)
      const json = await bob.session.read(`message/${messageId}`, { project_key: "demo" })
      expect(json).toMatchObject({ subject, body_md: text })
    }
    expect(sent.length).toBeGreaterThan(300)
    const inbox = await bob.session.call("fetch-inbox", {
      agent_name: bob.name,
      project_id: bob.projectId,
      include_bodies: true,
      limit: 50,
    })
    expectContained(inbox, storable, "fetch-inbox")
    expect(countIds(inbox, "Message id")).toBe(inbox.match(/^### /gm)?.length)
  },
  SLOW_MACHINE_MS,
)
