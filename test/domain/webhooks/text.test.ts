import fc from "fast-check"
import { describe, expect, test } from "vitest"
import { type Notice, noticeJson, noticeOf, ntfyPlace } from "../../../src/domain/webhooks/text.ts"

const notice = (text: string): Notice => ({ title: "A message was sent", text, priority: 3 })
const slack = (text: string) => (noticeJson("slack", notice(text), "") as { text: string }).text
const discord = (text: string) => noticeJson("discord", notice(text), "") as { content: string }

describe("text of others calls nobody and opens nothing", () => {
  test("in Slack and its like", () => {
    expect(slack("<!channel> <@U1> <https://evil|x> @here [x](y) & co")).toBe(
      "&lt;!channel&gt; &lt;@\u200bU1&gt; &lt;https://evil|x&gt; @\u200bhere [x]\u200b(y) &amp; co",
    )
    expect(noticeJson("slack", notice("x"), "")).toMatchObject({ mrkdwn: false, unfurl_links: false })
  })

  test("nor by a link of Markdown whose address stands elsewhere", () => {
    expect(slack("[x][1] [1]\n[1]: https://evil")).toBe("[x]\u200b[1] [1]\n[1]\u200b: https://evil")
  })

  test("in Discord", () => {
    expect(discord("@everyone <@1> **x** [x](y) # h")).toEqual({
      content: "@\u200beveryone \\<@\u200b1\\> \\*\\*x\\*\\* \\[x\\]\\(y\\) \\# h",
      allowed_mentions: { parse: [] },
      flags: 4,
    })
  })

  test("whatever it is, and no text is longer than its receiver takes", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary", maxLength: 20 }), fc.nat(200), (part, times) => {
        const content = part.repeat(times)
        const full = { ...notice("x"), content }
        const { text } = noticeJson("slack", full, "") as { text: string }
        expect(text).not.toMatch(/[<>]|@(?!\u200b)/)
        const { content: inDiscord } = noticeJson("discord", full, "") as { content: string }
        expect(inDiscord).not.toMatch(/(?<!\\)[<`*_~|]|@(?!\u200b)/)
        expect(inDiscord.length).toBeLessThanOrEqual(2_000)
        const { message } = noticeJson("ntfy", full, "t") as { message: string }
        expect(Buffer.byteLength(message)).toBeLessThanOrEqual(4_096)
      }),
      { numRuns: 25 },
    )
  })
})

test("an event is told in one sentence, with what was written below it where that is included", () => {
  const event = {
    kind: "message.sent",
    project: { key: "/home/a/app" },
    actor: { name: "BlueLake" },
    data: { subject: "Stop\n@all", importance: "urgent", to: ["RedFox"] },
  } as const
  const told = noticeOf(event, "All of it.\nNow.")
  expect(noticeJson("ntfy", told, "alarms")).toEqual({
    topic: "alarms",
    title: "A message was sent",
    message: 'BlueLake sent urgently "Stop ⏎ @all" to RedFox - /home/a/app\n\nAll of it.\nNow.',
    priority: 5,
  })
})

test.each<[Record<string, unknown>, Parameters<typeof noticeOf>[0]["kind"], number]>([
  [{ importance: "urgent" }, "message.sent", 5],
  [{ importance: "high" }, "message.sent", 4],
  [{ ack_required: true }, "message.sent", 4],
  [{}, "message.sent", 3],
  [{}, "message.read", 2],
  [{}, "edit.blocked", 4],
  [{}, "memory.accessed", 2],
])("%j of %s has the priority %d", (data, kind, priority) => {
  expect(noticeOf({ kind, project: null, actor: null, data }).priority).toBe(priority)
})

test.each([
  ["https://ntfy.sh/alarms", "https://ntfy.sh/", "alarms"],
  ["https://ntfy.sh/alarms/?auth=x", "https://ntfy.sh/?auth=x", "alarms"],
  ["https://example.com/ntfy/my_topic-1", "https://example.com/ntfy/", "my_topic-1"],
])("ntfy takes what is for %s at %s", (address, url, topic) => {
  expect(ntfyPlace(address)).toEqual({ url, topic })
})

test.each([
  "https://ntfy.sh",
  "https://ntfy.sh/",
  "https://ntfy.sh/a.b",
  `https://ntfy.sh/${"x".repeat(65)}`,
])("%s names no topic", (address) => {
  expect(ntfyPlace(address)).toBeUndefined()
})
