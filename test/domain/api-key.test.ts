/** Owns the form of keys and what their scopes permit. Storing them is tested with the tools. */

import fc from "fast-check"
import { describe, expect, test } from "vitest"
import {
  type ApiKey,
  environmentOf,
  formatApiKey,
  isScope,
  isWellFormedApiKey,
  keyRefusal,
  PERMISSIONS,
  permits,
  permitsProject,
  permitsReservation,
  planNamed,
} from "../../src/domain/api-key.ts"

const NOW_MS = 1_000_000
const BASE62 = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
const secret = fc.uint8Array({ minLength: 32, maxLength: 32 })
const environment = fc.constantFrom("live" as const, "test" as const)

describe("the text of a key", () => {
  test("is its prefix, 32 bytes in base62 and six characters of checksum, whatever the bytes are", () => {
    const edges = [new Uint8Array(32), new Uint8Array(32).fill(255)]
    fc.assert(
      fc.property(environment, fc.oneof(fc.constantFrom(...edges), secret), (name, bytes) => {
        const text = formatApiKey(name, bytes)
        expect(text).toMatch(new RegExp(`^signalbox_${name}_sk_[0-9A-Za-z]{43}[0-9A-Za-z]{6}$`))
        expect(isWellFormedApiKey(text)).toBe(true)
        expect(environmentOf(text)).toBe(name)
      }),
    )
  })

  test("differs for different bytes and environments", () => {
    const texts = [0, 1, 255].map((byte) => formatApiKey("live", new Uint8Array(32).fill(byte)))
    expect(new Set([...texts, formatApiKey("test", new Uint8Array(32))]).size).toBe(4)
  })

  test("is told from a mistyped one: any one character changed, lost, added, or two swapped", () => {
    const place = fc.nat({ max: 65 })
    fc.assert(
      fc.property(environment, secret, place, fc.constantFrom(...BASE62), (name, bytes, at, character) => {
        const text = formatApiKey(name, bytes)
        const index = at % text.length
        const variants = [
          text.slice(0, index) + character + text.slice(index + 1),
          text.slice(0, index) + text.slice(index + 1),
          text.slice(0, index) + character + text.slice(index),
          text.slice(0, index) + text.charAt(index + 1) + text.charAt(index) + text.slice(index + 2),
        ]
        for (const variant of variants) expect(isWellFormedApiKey(variant)).toBe(variant === text)
      }),
      { numRuns: 300 },
    )
  })

  test.each(["", " ", "signalbox_live_sk_", "signalbox_prod_sk_".padEnd(67, "0"), "\n"])(
    "is not %j",
    (text) => {
      expect(isWellFormedApiKey(text)).toBe(false)
    },
  )

  test("is not one with white space around it", () => {
    const text = formatApiKey("live", new Uint8Array(32))
    for (const variant of [`${text}\n`, ` ${text}`, `${text} `])
      expect(isWellFormedApiKey(variant)).toBe(false)
  })

  test("tells its environment by the prefix alone", () => {
    expect(environmentOf("signalbox_test_sk_anything")).toBe("test")
    expect(environmentOf("signalbox_prod_sk_anything")).toBeUndefined()
    expect(environmentOf("")).toBeUndefined()
  })

  test("needs 32 bytes", () => {
    for (const length of [31, 33])
      expect(() => formatApiKey("live", new Uint8Array(length))).toThrow("32 bytes")
  })
})

describe("a key", () => {
  const key = (changes: Partial<ApiKey> = {}): ApiKey => ({
    id: 1,
    name: "test",
    environment: "live",
    lastFour: "0000",
    scopes: ["*"],
    plan: "starter",
    isLocal: false,
    createdAtMs: 0,
    expiresAtMs: null,
    revokedAtMs: null,
    lastUsedAtMs: null,
    ...changes,
  })

  test("counts when nothing speaks against it", () => {
    expect(keyRefusal(key(), "live", NOW_MS)).toBeNull()
    expect(keyRefusal(key({ environment: "test" }), "test", NOW_MS)).toBeNull()
  })

  test("of another environment does not count", () => {
    expect(keyRefusal(key(), "test", NOW_MS)).toContain("live")
    expect(keyRefusal(key({ environment: "test" }), "live", NOW_MS)).toContain("test")
  })

  test("does not count from its expiry on", () => {
    expect(keyRefusal(key({ expiresAtMs: NOW_MS + 1 }), "live", NOW_MS)).toBeNull()
    expect(keyRefusal(key({ expiresAtMs: NOW_MS }), "live", NOW_MS)).toContain("expired")
  })

  test("does not count once it was revoked", () => {
    expect(keyRefusal(key({ revokedAtMs: NOW_MS }), "live", NOW_MS)).toContain("revoked")
  })
})

describe("scopes", () => {
  test.each([
    "*",
    "admin",
    "repo:1:coordination",
    "repo:12:memory",
    "repo:3:documentation",
    "project:demo:coordination",
    "project:/srv/code:with colons:coordination",
    `project:${"k".repeat(200)}:coordination`,
  ])("have the form %s", (scope) => {
    expect(isScope(scope)).toBe(true)
  })

  test.each([
    "",
    "**",
    "Admin",
    "repo:0:coordination",
    "repo:01:coordination",
    "repo::coordination",
    "repo:a:memory",
    "repo:1:everything",
    "repo:1:coordination ",
    "project::coordination",
    "project:demo",
    "project:demo:memory",
    `project:${"k".repeat(201)}:coordination`,
  ])("do not have the form %j", (scope) => {
    expect(isScope(scope)).toBe(false)
  })

  test("permit coordination somewhere when one of them is for it", () => {
    expect(permits(["*"], "coordination")).toBe(true)
    expect(permits(["admin", "repo:1:coordination"], "coordination")).toBe(true)
    expect(permits(["project:x:coordination"], "coordination")).toBe(true)
    expect(permits(["admin", "repo:1:memory", "repo:1:documentation"], "coordination")).toBe(false)
    expect(permits([], "coordination")).toBe(false)
  })

  test.each([
    ["*", PERMISSIONS],
    ["admin", ["admin"]],
    ["repo:1:coordination", ["coordination"]],
    ["project:everything:coordination", ["coordination"]],
    ["repo:1:memory", ["memory"]],
    ["repo:1:documentation", ["documentation"]],
  ])("of the form %s give %j and nothing else", (scope, permissions) => {
    expect(PERMISSIONS.filter((permission) => permits([scope], permission))).toEqual(permissions)
  })

  test.each([
    [["*"], true],
    [["project:demo:coordination"], true],
    [["project:Demo:coordination"], false],
    [["project:demo2:coordination"], false],
    [["repo:7:coordination"], true],
    [["repo:8:coordination"], false],
    [["repo:7:memory", "admin"], false],
  ])("%j permit the project demo, linked to repository 7: %s", (scopes, permitted) => {
    expect(permitsProject(scopes, "demo", [7])).toBe(permitted)
  })

  test("of a repository permit reservations there only, those of a project in all of its repositories", () => {
    expect(permitsReservation(["repo:7:coordination"], "demo", 7)).toBe(true)
    expect(permitsReservation(["repo:7:coordination"], "demo", 8)).toBe(false)
    expect(permitsReservation(["project:demo:coordination"], "demo", 8)).toBe(true)
    expect(permitsReservation(["project:other:coordination"], "demo", 8)).toBe(false)
  })
})

test("plans are named in any case, and Professional and Pro name the same one", () => {
  for (const name of ["pro", "Pro", "PRO", "professional", "Professional"])
    expect(planNamed(name)).toBe("pro")
  expect([planNamed("Starter"), planNamed("ENTERPRISE")]).toEqual(["starter", "enterprise"])
  for (const name of ["", "prof", "pro ", "free"]) expect(planNamed(name)).toBeUndefined()
})
