/** What becomes of one request, whatever the receiver or its name does. */

import { createServer } from "node:net"
import { describe, expect, onTestFinished, test } from "vitest"
import { WEBHOOK_ANSWER_BYTES_MAX } from "../../../src/config/webhook-limits.ts"
import { type Resolve, type SendOptions, send } from "../../../src/operations/webhooks/sending.ts"
import { receiver } from "../../support/receiver.ts"

const letter = (url: string, allowsPrivate = true) => ({
  url,
  allowsPrivate,
  headers: { "content-type": "application/json" },
  body: '{"type":"é"}',
})

const at =
  (...addresses: string[]): Resolve =>
  async () =>
    addresses.map((address) => ({ address, family: address.includes(":") ? 6 : 4 }))

describe("an answer", () => {
  test("counts by its status", async () => {
    const to = await receiver()
    expect(await send(letter(to.url))).toEqual({ status: 204 })
    expect(to.received).toMatchObject([{ path: "/hook", body: '{"type":"é"}' }])
    for (const status of [200, 410, 500]) {
      to.answer = (response) => response.writeHead(status).end("text")
      expect(await send(letter(to.url))).toEqual({ status })
    }
    to.answer = (response) => response.writeHead(429, { "retry-after": "30" }).end()
    expect(await send(letter(to.url))).toEqual({ status: 429, retryAfterSeconds: 30 })
  })

  test("that redirects is not followed, not even to where the receiver itself is", async () => {
    const to = await receiver()
    const trap = await receiver()
    for (const status of [301, 302, 303, 307, 308]) {
      to.answer = (response) => response.writeHead(status, { location: trap.url }).end()
      expect(await send(letter(to.url))).toEqual({ status })
    }
    expect(trap.received).toEqual([])
  })

  test("without an end, of many bytes or of few, is cut off and counts by its status", async () => {
    const to = await receiver()
    let sent = 0
    to.answer = (response) => {
      response.writeHead(200)
      const more = () => {
        while (!response.destroyed && response.write("x".repeat(1_024))) sent += 1_024
      }
      response.on("drain", more)
      more()
    }
    expect(await send(letter(to.url))).toEqual({ status: 200 })
    expect(sent).toBeGreaterThanOrEqual(WEBHOOK_ANSWER_BYTES_MAX)
    to.answer = (response) => response.writeHead(200).write("and then nothing")
    expect(await send(letter(to.url), { bodyMsMax: 20 })).toEqual({ status: 200 })
  })

  test("whose status came in time counts by it, also when its body is cut off by the end of that time", async () => {
    const to = await receiver()
    to.answer = (response) => response.writeHead(200).write("and then nothing")
    expect(await send(letter(to.url), { answerMsMax: 300, bodyMsMax: 60_000 })).toEqual({ status: 200 })
  })

  test("that does not come is waited for only so long", async () => {
    const to = await receiver()
    to.answer = () => {}
    expect(await send(letter(to.url), { answerMsMax: 50 })).toEqual({ error: "no answer within 0.05 s" })
  })

  test("that is none is told in a few words, without the address", async () => {
    const to = await receiver()
    to.answer = (response) => response.destroy()
    expect(await send(letter(to.url))).toEqual({ error: "it broke the connection off" })
    const mute = createServer((socket) => socket.destroy())
    await new Promise<void>((done) => mute.listen(0, "127.0.0.1", done))
    const { port } = mute.address() as { port: number }
    expect(await send(letter(`http://127.0.0.1:${port}/secret`))).toEqual({
      error: "it broke the connection off",
    })
    await new Promise((done) => mute.close(done))
    expect(await send(letter(`http://127.0.0.1:${port}/secret`))).toEqual({ error: "it refuses connections" })
  })

  test("that is no HTTP, or whose head has no end, is a failure", async () => {
    const answers = ["hello\r\n", `HTTP/1.1 200 OK\r\nx: ${"x".repeat(70_000)}\r\n`]
    for (const answer of answers) {
      const odd = createServer((socket) => {
        socket.on("error", () => {})
        socket.write(answer)
      })
      await new Promise<void>((done) => odd.listen(0, "127.0.0.1", done))
      onTestFinished(() => void odd.close())
      const { port } = odd.address() as { port: number }
      expect(await send(letter(`http://127.0.0.1:${port}/`))).toEqual({
        error: expect.stringMatching(/^it cannot be reached \(HPE_/) as string,
      })
    }
  })
})

describe("a name", () => {
  const PRIVATE = "its name leads to a private address, which was not allowed for it"
  test.each<[string, string[], boolean, string]>([
    ["https://receiver.test/x", ["127.0.0.1"], false, PRIVATE],
    ["https://receiver.test/x", ["1.1.1.1", "10.0.0.1"], false, PRIVATE],
    ["https://receiver.test/x", ["::ffff:169.254.169.254"], false, PRIVATE],
    ["https://receiver.test/x", ["64:ff9b::a9fe:a9fe"], false, PRIVATE],
    ["https://127.0.0.1/x", [], false, PRIVATE],
    ["https://2130706433/x", [], false, PRIVATE],
    ["https://0x7f.1/x", [], false, PRIVATE],
    ["https://[::1]/x", [], false, PRIVATE],
    ["https://[::ffff:127.0.0.1]/x", [], false, PRIVATE],
    [
      "http://receiver.test/x",
      ["1.1.1.1"],
      true,
      "its name leads to a public address, and http is for private ones only",
    ],
    [
      "https://receiver.test/x",
      ["224.0.0.1"],
      true,
      "its name leads to an address that no receiver can have",
    ],
    ["https://receiver.test/x", [], true, "its name has no address"],
  ])("%s at %j is refused", async (url, addresses, allowsPrivate, error) => {
    expect(await send(letter(url, allowsPrivate), { resolve: at(...addresses) })).toEqual({ error })
  })

  test("is connected to where it was looked up once, wherever else it leads at that moment", async () => {
    const to = await receiver()
    const url = `http://localhost:${to.port}/hook`
    let asked = 0
    const here: Resolve = (host) => {
      asked += 1
      return at("127.0.0.1")(host)
    }
    expect(await send(letter(url), { resolve: here })).toEqual({ status: 204 })
    expect(asked).toBe(1)
    expect(to.received[0]?.headers.host).toBe(`localhost:${to.port}`)
    // The system knows the receiver's own address under that name; it is not asked.
    const elsewhere = await send(letter(url), { resolve: at("127.0.0.2"), answerMsMax: 1_000 })
    expect(elsewhere).toHaveProperty("error")
    expect(to.received).toHaveLength(1)
  })

  test("that turns to this machine after it was allowed as a public one is refused from then on", async () => {
    const to = await receiver()
    const options: SendOptions = { resolve: at("127.0.0.1") }
    const url = `https://receiver.test:${to.port}/hook`
    expect(await send(letter(url, false), options)).toEqual({ error: PRIVATE })
    expect(to.received).toEqual([])
  })

  test("that is not resolved in time is no answer, and one that is unknown is told so", async () => {
    const never: Resolve = () => new Promise(() => {})
    expect(await send(letter("https://receiver.test"), { resolve: never, answerMsMax: 20 })).toEqual({
      error: "no answer within 0.02 s",
    })
    const unknown: Resolve = async () => {
      throw Object.assign(new Error("getaddrinfo ENOTFOUND receiver.test"), { code: "ENOTFOUND" })
    }
    expect(await send(letter("https://receiver.test"), { resolve: unknown })).toEqual({
      error: "its name is not known",
    })
  })
})
