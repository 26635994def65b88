import { PassThrough } from "node:stream"
import { expect, test } from "vitest"
import { SUBSCRIPTIONS_MAX } from "../../src/config/subscription-limits.ts"
import { StdioTransport } from "../../src/mcp/stdio-transport.ts"
import { Subscriptions } from "../../src/mcp/subscriptions.ts"
import { createLog } from "../../src/runtime/log.ts"

function made() {
  const open = new Set<string>()
  const ended = new Map<string, () => void>()
  const subscriptions = new Subscriptions(async (uri, onEnd) => {
    ended.set(uri, onEnd)
    if (uri === "refused") throw new Error("refused")
    open.add(uri)
    return () => open.delete(uri)
  })
  return { open, subscriptions, endBySelf: (uri: string) => ended.get(uri)?.() }
}

const uris = (count: number) => Array.from({ length: count }, (_, index) => `uri-${index}`)

test("a session follows 64 resources, and no more", async () => {
  const { open, subscriptions } = made()
  await expect(subscriptions.add("one", uris(SUBSCRIPTIONS_MAX + 1))).rejects.toThrow("at most 64 resources")
  expect(open.size).toBe(0)
  await subscriptions.add("one", uris(SUBSCRIPTIONS_MAX))
  await subscriptions.add("other", ["uri-0", "uri-0"])
  await expect(subscriptions.add("one", ["another"])).rejects.toThrow("at most 64 resources")
  await subscriptions.remove("one", "uri-1")
  await subscriptions.add("one", ["another"])
  expect(open.size).toBe(SUBSCRIPTIONS_MAX)
})

test("what several requests follow is followed until the last of them ends", async () => {
  const { open, subscriptions } = made()
  await subscriptions.add("one", ["a", "b"])
  await subscriptions.add("other", ["b"])
  await subscriptions.remove("one")
  expect(open).toEqual(new Set(["b"]))
  await subscriptions.remove("other", "a")
  await subscriptions.remove("other", "b")
  expect(open).toEqual(new Set())
})

test("of a request that is refused in part nothing is followed", async () => {
  const { open, subscriptions } = made()
  await expect(subscriptions.add("one", ["a", "refused", "b"])).rejects.toMatchObject({ uri: "refused" })
  expect(open).toEqual(new Set())
})

test("what has ended by itself is begun anew, and refused like the first time", async () => {
  const { open, subscriptions, endBySelf } = made()
  await subscriptions.add("one", ["a"])
  open.clear()
  endBySelf("a")
  await subscriptions.add("one", ["a"])
  expect(open).toEqual(new Set(["a"]))
})

test("a process that is listened to ends when its input does, whatever is still listened for", async () => {
  const input = new PassThrough()
  const output = new PassThrough()
  const transport = new StdioTransport(input, output, made().subscriptions, createLog("silent"))
  transport.onmessage = () => {}
  await transport.start()
  const line = (message: object) => input.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`)
  const notifications = { resourceSubscriptions: ["a"] }
  line({ id: 1, method: "subscriptions/listen", params: { notifications } })
  await transport.drained(2 ** 31 - 1)
  line({ id: 2, method: "ping" })
  await new Promise((resolve) => setImmediate(resolve))
  let isDrained = false
  const drained = transport.drained(2 ** 31 - 1).then(() => {
    isDrained = true
  })
  await new Promise((resolve) => setImmediate(() => setImmediate(resolve)))
  expect(isDrained).toBe(false)
  await transport.send({ jsonrpc: "2.0", id: 2, result: {} })
  await drained
  await transport.close()
})

test("an end that is asked for while the beginning is under way comes after it", async () => {
  const { open, subscriptions } = made()
  const begun = subscriptions.add("one", ["a"])
  const ended = subscriptions.remove("one", "a")
  await Promise.all([begun, ended])
  expect(open).toEqual(new Set())
})
