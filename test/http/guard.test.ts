import fc from "fast-check"
import { describe, expect, test } from "vitest"
import { guardRequest, type RequestFacts } from "../../src/http/guard.ts"

const PORT = 4747
const CAP = 1024

/** A request that passes, and what is different about it. */
function facts(different: Partial<RequestFacts> = {}): RequestFacts {
  return {
    method: "GET",
    target: "/healthz",
    host: `127.0.0.1:${PORT}`,
    origin: undefined,
    secFetchSite: undefined,
    contentType: undefined,
    contentLength: undefined,
    isChunked: false,
    ...different,
  }
}
const statusOf = (different: Partial<RequestFacts>) =>
  guardRequest(facts(different), PORT, CAP)?.status ?? null

describe("the Host header", () => {
  test.each([`127.0.0.1:${PORT}`, `localhost:${PORT}`, `LocalHost:${PORT}`])("%s is ours", (host) => {
    expect(statusOf({ host })).toBeNull()
  })

  test.each([
    undefined,
    "",
    "127.0.0.1",
    "localhost",
    "127.0.0.1:4748",
    "localhost:47470",
    "localhost.evil.example",
    "localhost.evil.example:4747",
    `localhost:${PORT}.evil.example`,
    `evil.example:${PORT}`,
    `0.0.0.0:${PORT}`,
    `[::1]:${PORT}`,
    `127.0.0.1:${PORT} `,
    `evil.example,127.0.0.1:${PORT}`,
    `user@127.0.0.1:${PORT}`,
  ])("%j is refused with 403", (host) => {
    expect(statusOf({ host })).toBe(403)
  })

  test("any other text than our two names is refused", () => {
    const ours = [`127.0.0.1:${PORT}`, `localhost:${PORT}`]
    const near = fc
      .tuple(fc.string(), fc.constantFrom(...ours, "localhost"), fc.string())
      .map((parts) => parts.join(""))
    fc.assert(
      fc.property(fc.oneof(near, fc.string(), fc.webAuthority()), (host) => {
        expect(statusOf({ host })).toBe(ours.includes(host.toLowerCase()) ? null : 403)
      }),
    )
  })
})

describe("the Origin header", () => {
  test.each([undefined, `http://127.0.0.1:${PORT}`, `http://localhost:${PORT}`])("%s passes", (origin) => {
    expect(statusOf({ origin })).toBeNull()
  })

  test.each([
    "null",
    "",
    "https://evil.example",
    `https://localhost:${PORT}`,
    "http://localhost:3000",
    "http://localhost",
    "http://127.0.0.1:4748",
    `http://localhost:${PORT}.evil.example`,
    "http://localhost.evil.example:4747",
    `http://localhost:${PORT}/`,
    `http://localhost:${PORT}, http://evil.example`,
    "file://",
  ])("%j is refused with 403", (origin) => {
    expect(statusOf({ origin })).toBe(403)
  })

  test("no origin but our own two passes", () => {
    fc.assert(
      fc.property(fc.webUrl({ withFragments: false }), (url) => {
        const { origin } = new URL(url)
        fc.pre(!/^http:\/\/(localhost|127\.0\.0\.1):4747$/.test(origin))
        expect(statusOf({ origin })).toBe(403)
      }),
    )
  })
})

describe("Sec-Fetch-Site", () => {
  test.each([undefined, "same-origin", "none"])("%s passes", (secFetchSite) => {
    expect(statusOf({ secFetchSite })).toBeNull()
  })
  test.each(["cross-site", "same-site", "Cross-Site", "anything"])(
    "%s is refused with 403",
    (secFetchSite) => {
      expect(statusOf({ secFetchSite })).toBe(403)
    },
  )
})

describe("bodies", () => {
  const body = (different: Partial<RequestFacts>) =>
    statusOf({ method: "POST", contentLength: "2", ...different })

  test.each([
    "application/json",
    "application/json; charset=utf-8",
    "Application/JSON",
    "application/json ;x=1",
  ])("of type %s pass", (contentType) => {
    expect(body({ contentType })).toBeNull()
  })

  test.each([
    undefined,
    "",
    "text/plain",
    "application/x-www-form-urlencoded",
    "multipart/form-data; boundary=application/json",
    "application/jsonp",
    "application/json-patch+json",
    "text/plain; application/json",
    "application/json, text/plain",
  ])("of type %j are refused with 415", (contentType) => {
    expect(body({ contentType })).toBe(415)
    expect(body({ contentType, contentLength: undefined, isChunked: true })).toBe(415)
    expect(body({ contentType, method: "DELETE" })).toBe(415)
  })

  test("that are not there need no type", () => {
    for (const method of ["GET", "POST", "PATCH", "DELETE"]) {
      expect(statusOf({ method })).toBeNull()
      expect(statusOf({ method, contentLength: "0" })).toBeNull()
    }
  })

  test("that are declared larger than the cap are refused with 413, and not before", () => {
    const contentType = "application/json"
    expect(body({ contentType, contentLength: String(CAP) })).toBeNull()
    expect(body({ contentType, contentLength: String(CAP + 1) })).toBe(413)
    expect(body({ contentType, contentLength: "9".repeat(400) })).toBe(413)
  })

  test("do not make a foreign page's request any better", () => {
    const contentType = "application/json"
    expect(body({ contentType, origin: "https://evil.example" })).toBe(403)
    expect(body({ contentType: "text/plain", host: "evil.example" })).toBe(403)
  })
})

test("a request target that is no path is refused with 400", () => {
  expect(statusOf({ target: "http://evil.example/healthz" })).toBe(400)
  expect(statusOf({ target: "*" })).toBe(400)
})
