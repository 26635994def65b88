/** Who may search which documentation over HTTP and how often, and that nobody learns of anything beyond that. */

import { describe, expect, test } from "vitest"
import { revokeKeyById } from "../../../src/operations/keys.ts"
import {
  DOCS,
  documentationRoom,
  expectError,
  QUESTION,
  twoRepositories,
} from "../../support/documentation.ts"

describe("a caller", () => {
  test("without a key that counts is told so with 401", async () => {
    const { ask, http, made, session } = await documentationRoom(DOCS)
    const expired = await http.key({ expiresAtMs: made.nowMs + 1_000 })
    const revoked = await http.key()
    const foreign = await http.key({ environment: "test" })
    await revokeKeyById(session.app, revoked.id)
    made.advance(1_000)
    const unknown = `signalbox_live_sk_${"A".repeat(49)}`
    for (const key of [null, "x", unknown, expired.text, revoked.text, foreign.text]) {
      const reply = await ask({ query: QUESTION }, key)
      expect(expectError(reply, 401)).toContain("tenant authentication required")
      expect(reply.headers["x-ratelimit-limit"]).toBe("60")
    }
  })

  test.each(["admin", "repo:1:memory", "repo:1:coordination", "project:demo:coordination"])(
    "with a key of scope %s may not search at all",
    async (scope) => {
      const { ask, keyOf } = await documentationRoom(DOCS)
      const key = await keyOf(scope)
      for (const more of [{}, { repository: "1" }, { repository: "none" }, { branch: "main" }])
        expect(expectError(await ask({ query: QUESTION, ...more }, key), 403)).toContain(
          "required scope: repo:{repository_id}:documentation",
        )
    },
  )

  test("with a key for one repository cannot tell another one from none", async () => {
    const { ask, keyOf } = await twoRepositories()
    const key = await keyOf("repo:1:documentation")
    const answerTo = async (repository: string | number) => {
      const { text, status } = await ask({ query: QUESTION, repository }, key)
      expect(status).toBe(403)
      return text.replaceAll(String(repository), "?")
    }
    expect(await answerTo("other")).toBe(await answerTo("unknown"))
    for (const id of ["2", 2]) expect(await answerTo(id)).toBe(await answerTo("99"))
    const branches = expectError(await ask({ query: QUESTION, branch: "stable" }, key), 404, "branch")
    expect(branches).toBe('branch "stable" was not found; known are: main, next.')
  })

  test("that names a repository that there is none of is told so with 404", async () => {
    const { ask } = await twoRepositories()
    for (const repository of ["unknown", "99", 99, "/", "..", "-x", "ü"]) {
      const message = expectError(await ask({ query: QUESTION, repository }), 404, "repository")
      expect(message).toContain(`repository "${repository}" was not found`)
    }
  })

  test("that names a branch that there is none of is told which there are, with 404", async () => {
    const { ask } = await twoRepositories()
    for (const branch of ["mian", "-x", "--all", "..", "refs/heads/main", "HEAD~1", "a b", "main^{commit}"]) {
      expect(expectError(await ask({ query: QUESTION, branch, repository: "other" }), 404, "branch")).toBe(
        `branch "${branch}" was not found; known are: main, stable.`,
      )
    }
    const everywhere = expectError(await ask({ query: QUESTION, branch: "mian" }), 404, "branch")
    for (const name of ["main", "next", "stable"]) expect(everywhere).toContain(name)
  })

  test("that asks too often is told when to come back, with 429", async () => {
    const { ask, http, made } = await documentationRoom(DOCS, { limits: true })
    const { text: key } = await http.key({ plan: "starter", scopes: ["repo:1:documentation"] })
    expect((await ask({ query: QUESTION }, key)).headers).toMatchObject({
      "x-ratelimit-limit": "60",
      "x-ratelimit-remaining": "60",
    })
    for (let count = 1; count < 99; count += 1) expect((await ask({}, key)).status).toBe(400)
    expect((await ask({ query: QUESTION, repository: "99" }, key)).status).toBe(403)
    made.advance(15_000)
    const reply = await ask({ query: QUESTION }, key)
    expect(expectError(reply, 429)).toContain("rate limit exceeded")
    expect(reply.headers).toMatchObject({
      "retry-after": "45",
      "x-ratelimit-limit": "60",
      "x-ratelimit-remaining": "0",
      "x-ratelimit-reset": String((made.nowMs + 45_000) / 1_000),
    })
    expect((await ask({ query: QUESTION }, (await http.key()).text)).status).toBe(200)
    made.advance(45_000)
    expect((await ask({ query: QUESTION }, key)).status).toBe(200)
  })

  test("learns nothing of a defect, which is logged", async () => {
    const { ask, made, session } = await documentationRoom(DOCS)
    const postings = () => Promise.reject(new Error("the secret of the index"))
    session.app.documents = { ...session.app.documents, postings }
    const reply = await ask({ query: QUESTION })
    expectError(reply, 500)
    expect(reply.text).not.toContain("secret")
    expect(made.logged.splice(0).join()).toContain("the secret of the index")
  })
})
