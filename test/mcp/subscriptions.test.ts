import { expect, test } from "vitest"
import { SUBSCRIPTIONS_MAX } from "../../src/config/subscription-limits.ts"
import { Subscriptions } from "../../src/mcp/subscriptions.ts"

function made() {
  const open = new Set<string>()
  const subscriptions = new Subscriptions(async (uri) => {
    if (uri === "refused") throw new Error("refused")
    open.add(uri)
    return () => open.delete(uri)
  })
  return { open, subscriptions }
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
  await expect(subscriptions.add("one", ["a", "refused", "b"])).rejects.toThrow("refused")
  expect(open).toEqual(new Set())
})

test("an end that is asked for while the beginning is under way comes after it", async () => {
  const { open, subscriptions } = made()
  const begun = subscriptions.add("one", ["a"])
  const ended = subscriptions.remove("one", "a")
  await Promise.all([begun, ended])
  expect(open).toEqual(new Set())
})
