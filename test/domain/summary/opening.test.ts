/** Owns how much of the mails of a long thread is looked at: all of an ordinary one, and the same measure of the longest. */

import { expect, test } from "vitest"
import { BODY_CHARS_MAX, SUMMARY_MESSAGES_MAX, SUMMARY_WORK_MAX } from "../../../src/config/limits.ts"
import { lookedAt } from "../../../src/domain/summary/opening.ts"
import { summarizeThread, type ThreadMessage } from "../../../src/domain/summary/summary.ts"

function thread(...bodies: string[]): ThreadMessage[] {
  return bodies.map((body, at) => ({
    id: at + 1,
    sender: "BlueLake",
    subject: "Queue",
    body,
    createdAtMs: at * 60_000,
  }))
}
const bodiesOf = (messages: readonly ThreadMessage[]) => messages.map(({ body }) => body)

test("a thread that fits is looked at whole, and one that costs 1 more is not", () => {
  // 10 characters and a mark, twice.
  const messages = thread("123456789.", "123456789.")
  expect(lookedAt(messages, 80)).toEqual({ messages, wholeCount: 2 })
  expect(lookedAt(messages, 79).wholeCount).toBe(0)
})

test("short mails stay whole, and the longest give their openings to the end of a sentence or line", () => {
  const long = "The first is here. The second is there.\nAnd a third."
  const { messages, wholeCount } = lookedAt(thread("Short.", long, "Tiny", long), 200)
  expect(wholeCount).toBe(2)
  expect(bodiesOf(messages)).toEqual(["Short.", "The first is here.", "Tiny", "The first is here."])
})

test("a mail without any end of a sentence is cut anywhere", () => {
  expect(bodiesOf(lookedAt(thread("a".repeat(500)), 100).messages)).toEqual(["a".repeat(100)])
})

test("of the longest thread no more is looked at than of any other, and its summary says so", () => {
  const messages = thread(
    ...Array.from({ length: SUMMARY_MESSAGES_MAX }, (_, at) =>
      at % 2 === 0 ? `We decided to use queue ${at}.` : "a b. ".repeat(BODY_CHARS_MAX / 5),
    ),
  )
  const looked = lookedAt(messages)
  expect(bodiesOf(looked.messages).join("").length).toBeLessThan(SUMMARY_WORK_MAX)
  const summary = summarizeThread(messages, ["BlueLake"], 0)
  expect(summary).toMatchObject({ messageCount: 500, wholeMessageCount: 250 })
  expect(summary.decisions.at(-1)?.text).toBe("We decided to use queue 498.")
})
