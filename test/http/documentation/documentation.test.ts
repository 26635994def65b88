/** Documentation search over HTTP: what a search answers, to the letter, and which requests it refuses. */

import { join } from "node:path"
import { pathToFileURL } from "node:url"
import { describe, expect, test } from "vitest"
import { remove } from "../../../scripts/removal.ts"
import {
  COMMIT_MS,
  commitFiles,
  connectAndIndex,
  DOCS,
  documentationRoom,
  expectError,
  type Files,
  git,
  LIMITS,
  QUESTION,
  SEARCH,
  twoRepositories,
} from "../../support/documentation.ts"

const COMMIT_TIME = new Date(COMMIT_MS).toISOString()

/** Many files that say much the same. */
const gateways = (count: number): Files =>
  Object.fromEntries(
    [...Array(count).keys()].map((index) => [
      `docs/gateway-${index}.md`,
      `# Gateway ${index}\n\nThe gateway number ${index} forwards calls.\n`,
    ]),
  )

describe("a search", () => {
  test("answers with the passage, where it stands, its link, score and time, and nothing else", async () => {
    const { search, made } = await documentationRoom(DOCS)
    const { results, meta } = await search({ query: QUESTION })
    const [first] = results
    expect(first).toEqual({
      content: LIMITS.trimEnd(),
      file: "docs/limits.md",
      repository: "repository",
      branch: "main",
      url: `${pathToFileURL(join(made.repositoryPath, "docs/limits.md")).href}#L1-L3`,
      score: expect.any(Number),
      last_updated: COMMIT_TIME,
      line_start: 1,
      line_end: 3,
    })
    expect(meta).toEqual({ total: expect.any(Number), query_time_ms: expect.any(Number), cached: false })
    expect(Number.isInteger(meta.query_time_ms) && meta.query_time_ms >= 0).toBe(true)
    expect(meta.total).toBeGreaterThanOrEqual(results.length)
  })

  test("links to the lines at the commit on the code host of the remote", async () => {
    const { search, made, session } = await documentationRoom(DOCS, { isIndexed: false })
    git(made.repositoryPath, "remote", "add", "origin", "git@github.com:acme/tool.git")
    await connectAndIndex(session, made.repositoryPath)
    const commit = git(made.repositoryPath, "rev-parse", "HEAD")
    const [first] = (await search({ query: QUESTION })).results
    expect(first?.url).toBe(`https://github.com/acme/tool/blob/${commit}/docs/limits.md?plain=1#L1-L3`)
  })

  test("for nothing that is there has no results and a total of 0, whatever is nearest", async () => {
    const { search } = await documentationRoom({ ...DOCS, ...gateways(25) })
    for (const query of ["purple elephants dancing tango", "xyzzyqux", "Zwiebelkuchen backen", "?!"]) {
      const { results, meta } = await search({ query })
      expect(results, query).toEqual([])
      expect(meta.total, query).toBe(0)
    }
  })

  test("leaves out what shares no word with the query and means something else", async () => {
    const { search } = await documentationRoom({
      ...DOCS,
      "docs/cake.md": "# Cake\n\nBake it with cinnamon.\n",
    })
    const { results, meta } = await search({ query: "cinnamon" })
    expect(results.map(({ file }) => file)).toEqual(["docs/cake.md"])
    expect(meta.total).toBe(1)
  })

  test("gives a paragraph of one line that is cut into several chunks as a whole, up to 2,000 characters", async () => {
    const sentences = (count: number) =>
      [...Array(count).keys()].map((at) => `The gateway number ${at} forwards call ${at * 7} to its peer.`)
    const paragraph = sentences(35).join(" ")
    expect(paragraph.length).toBeGreaterThan(1_700)
    expect(paragraph.length).toBeLessThanOrEqual(2_000)
    const long = sentences(60).join(" ")
    const files = { "whole.md": `Opening.\n\n${paragraph}\n\nClosing.\n`, "long.md": `${long}\n` }
    const { search } = await documentationRoom(files)
    for (const query of ["gateway number 1 call 7", "gateway number 33 call 231"]) {
      const { results } = await search({ query })
      const whole = results.filter(({ file, line_start: line }) => file === "whole.md" && line === 3)
      expect(whole.map(({ content, line_end: end }) => [content, end])).toEqual([[paragraph, 3]])
      const part = results.find(({ file }) => file === "long.md")?.content ?? ""
      expect(part.length).toBeLessThanOrEqual(2_000)
      expect(long).toContain(part)
    }
  })

  test("has 10 results unless told otherwise, the best first, and counts all matches", async () => {
    const { search } = await documentationRoom(gateways(25))
    for (const [limit, count] of [
      [undefined, 10],
      [1, 1],
      [20, 20],
    ]) {
      const { results, meta } = await search({ query: "gateway", limit })
      expect(results).toHaveLength(count ?? 0)
      expect(meta.total).toBe(25)
      const scores = results.map(({ score }) => score)
      expect(scores).toEqual([...scores].sort((one, other) => other - one))
      for (const score of scores) expect(score >= 0 && score <= 1).toBe(true)
      for (const { content, line_start, line_end } of results)
        expect(content.split("\n")).toHaveLength(line_end - line_start + 1)
    }
  })

  test("that finds nothing is no error", async () => {
    const { search } = await documentationRoom({ "readme.txt": "" })
    expect(await search({ query: "zebra" })).toEqual({
      results: [],
      meta: { total: 0, query_time_ms: expect.any(Number), cached: false },
    })
  })

  test("of documentation that nobody indexed before indexes it first", async () => {
    const { search } = await documentationRoom(DOCS, { isIndexed: false })
    expect((await search({ query: QUESTION })).results[0]?.file).toBe("docs/limits.md")
  })

  test("is answered from the cache until something is asked otherwise, or committed", async () => {
    const { search, made } = await documentationRoom(DOCS)
    const first = await search({ query: QUESTION })
    const second = await search({ query: QUESTION })
    expect([first.meta.cached, second.meta.cached]).toEqual([false, true])
    expect(second.results).toEqual(first.results)
    expect(second.meta.total).toBe(first.meta.total)
    for (const other of [{ query: `${QUESTION}?` }, { query: QUESTION, limit: 3 }])
      expect((await search(other)).meta.cached).toBe(false)
    commitFiles(made.repositoryPath, { "docs/limits.md": LIMITS.replace("sixty", "seventy") })
    const third = await search({ query: QUESTION })
    expect(third.meta.cached).toBe(false)
    expect(third.results[0]?.content).toContain("seventy requests")
    expect((await search({ query: QUESTION })).meta.cached).toBe(true)
  })

  test("says what it could not look at, and answers with what was read before", async () => {
    const { search, made } = await documentationRoom(DOCS)
    remove(made.repositoryPath)
    const { results, meta } = await search({ query: QUESTION })
    expect(results[0]?.file).toBe("docs/limits.md")
    expect(meta.notes).toEqual([expect.stringMatching(/^repository: .*is no longer there/)])
  })
})

describe("which documentation is searched", () => {
  const places = ({ results }: { results: { repository: string; branch: string }[] }) =>
    [...new Set(results.map(({ repository, branch }) => `${repository} ${branch}`))].sort()

  test("is the default branch of every repository, or of the one that is named", async () => {
    const { search } = await twoRepositories()
    expect(places(await search({ query: QUESTION }))).toEqual(["other main", "repository main"])
    for (const repository of ["other", "2", 2])
      expect(places(await search({ query: QUESTION, repository }))).toEqual(["other main"])
    for (const repository of ["repository", "1", 1])
      expect(places(await search({ query: QUESTION, repository }))).toEqual(["repository main"])
  })

  test("is a branch that is named, also one that nobody searched before, where there is such a branch", async () => {
    const { search } = await twoRepositories()
    const next = await search({ query: QUESTION, branch: "next" })
    expect(places(next)).toEqual(["repository next"])
    expect(next.results[0]?.content).toContain("ninety requests")
    expect(places(await search({ query: QUESTION, branch: "stable" }))).toEqual(["other stable"])
    expect(places(await search({ query: QUESTION, branch: "main" }))).toEqual([
      "other main",
      "repository main",
    ])
    const both = await search({ query: QUESTION, repository: "other", branch: "stable" })
    expect(places(both)).toEqual(["other stable"])
  })

  test("is that of its own repositories with a key for these", async () => {
    const { search, keyOf } = await twoRepositories()
    const key = await keyOf("repo:2:documentation")
    expect(places(await search({ query: QUESTION }, key))).toEqual(["other main"])
    expect(places(await search({ query: QUESTION, repository: "2" }, key))).toEqual(["other main"])
    const both = await keyOf("repo:1:documentation", "repo:2:documentation", "repo:1:memory")
    expect(places(await search({ query: QUESTION }, both))).toEqual(["other main", "repository main"])
    expect(places(await search({ query: QUESTION }, await keyOf("*")))).toHaveLength(2)
  })

  test("is never told from the cache of somebody who may see more", async () => {
    const { search, keyOf } = await twoRepositories()
    await search({ query: QUESTION })
    const key = await keyOf("repo:2:documentation")
    const { results, meta } = await search({ query: QUESTION }, key)
    expect(places({ results })).toEqual(["other main"])
    expect(meta.cached).toBe(false)
  })
})

describe("a bad request", () => {
  test.each<[field: string, good: unknown[], bad: unknown[]]>([
    [
      "query",
      ["a", "x".repeat(500), "😀".repeat(500), " padded ", "?!", '"', "a AND", "日本語"],
      ["", " ", "\n\t", "a\0", "x".repeat(501), "😀".repeat(501), null, 1, ["a"], {}, true],
    ],
    ["limit", [1, 20], [0, 21, -1, 1.5, "10", "", true, [10], 1e9]],
    ["repository", ["repository", "1", 1], ["", " ", "a\0", "x".repeat(256), true, ["1"], {}]],
    ["branch", ["main"], ["", " ", "a\0", "x".repeat(256), 1, true, ["main"], {}]],
  ])("takes %s within its bounds and refuses the rest with 400 and the field", async (field, good, bad) => {
    const { ask } = await documentationRoom(DOCS)
    for (const value of good) {
      const reply = await ask({ query: "key", [field]: value })
      expect(reply.status, `${JSON.stringify(value).slice(0, 60)}: ${reply.text}`).toBe(200)
    }
    for (const value of bad)
      expect(expectError(await ask({ query: "key", [field]: value }), 400, field)).toContain(field)
  })

  test("is none where an optional field is null, which counts as not given", async () => {
    const { ask } = await documentationRoom(DOCS)
    const reply = await ask({ query: "key", repository: null, branch: null, limit: null })
    expect(reply.status, reply.text).toBe(200)
  })

  test("is none that names a repository in another case", async () => {
    const { ask } = await documentationRoom(DOCS)
    expect((await ask({ query: "key", repository: "REPOSITORY" })).status).toBe(200)
  })

  test("is told the value that breaks a bound", async () => {
    const { ask } = await documentationRoom(DOCS)
    for (const [limit, rule] of [
      [21, "at most 20 (got 21)"],
      [0, "at least 1 (got 0)"],
    ])
      expect(expectError(await ask({ query: "key", limit }), 400, "limit")).toContain(`limit must be ${rule}`)
  })

  test("has no fields but the four, and names the first that it does not know", async () => {
    const { ask } = await documentationRoom(DOCS)
    expect(expectError(await ask({ query: "key", colour: 1, size: 2 }), 400, "colour")).toBe(
      'unknown parameter "colour", "size"; allowed are: query, repository, branch, limit',
    )
    expectError(await ask({ query: "key", Limit: 1 }), 400, "Limit")
    expect((await ask('{"query":"key","__proto__":{}}')).status).toBe(400)
  })

  test("without a query says so, also without any body", async () => {
    const { ask } = await documentationRoom(DOCS)
    for (const body of [undefined, "{}", '{"limit":3}'])
      expect(expectError(await ask(body), 400, "query")).toBe("query is required (a string)")
  })

  test("that is no JSON object is refused", async () => {
    const { ask } = await documentationRoom(DOCS)
    for (const body of [
      '{"query":',
      "query",
      "[]",
      "null",
      '"key"',
      "1",
      '{"query":"key"}{}',
      Buffer.from([0xff]),
    ])
      expectError(await ask(body), 400)
    expectError(await ask(`{"query":${"[".repeat(200)}${"]".repeat(200)}}`), 400)
  })

  test("has no query string, another type than JSON or too much of it", async () => {
    const { http } = await documentationRoom(DOCS)
    const body = { query: "key" }
    expectError(await http.send(`${SEARCH}?limit=3`, { body }), 400, "limit")
    expectError(await http.send(SEARCH, { body, headers: { "content-type": "text/plain" } }), 415)
    expectError(await http.send(SEARCH, { body: { query: "x".repeat(1024 * 1024) } }), 413)
  })

  test("is every method but POST", async () => {
    const { http } = await documentationRoom(DOCS)
    for (const method of ["GET", "PUT", "DELETE", "PATCH"]) {
      const reply = await http.send(SEARCH, { method })
      expectError(reply, 405)
      expect(reply.headers.allow).toBe("POST")
    }
  })
})

test("the OpenAPI document tells the search with its fields, its bounds, its examples and all statuses", async () => {
  const { http } = await documentationRoom(DOCS, { isIndexed: false })
  const { json } = await http.send("/openapi.json", { key: null })
  const { paths } = json as { paths: Record<string, Record<string, DescribedOperation>> }
  const operation = paths[SEARCH]?.post
  const body = operation?.requestBody?.content["application/json"]?.schema
  expect(body).toMatchObject({ required: ["query"], additionalProperties: false })
  expect(body?.properties).toMatchObject({
    query: { type: "string", maxLength: 500, examples: [expect.any(String)] },
    repository: { type: ["string", "integer"], maxLength: 255 },
    branch: { type: "string", examples: [expect.any(String)] },
    limit: { type: "integer", minimum: 1, maximum: 20, default: 10 },
  })
  expect(Object.keys(operation?.responses ?? {})).toEqual([
    "200",
    "400",
    "401",
    "403",
    "404",
    "413",
    "415",
    "429",
    "500",
    "503",
  ])
  const answer = operation?.responses["200"]?.content["application/json"]?.schema
  const [example] = (answer?.examples ?? []) as { results: object[] }[]
  expect(answer?.required).toEqual(["results", "meta"])
  const shown = (answer?.properties?.results ?? {}) as { items: { required: string[] } }
  expect(Object.keys(example?.results[0] ?? {})).toEqual(shown.items.required)
  const { search } = await documentationRoom(DOCS)
  const [found] = (await search({ query: QUESTION })).results
  expect(Object.keys(found ?? {})).toEqual(shown.items.required)
})

interface DescribedSchema {
  required?: string[]
  properties?: Record<string, unknown>
  examples?: unknown[]
}
interface DescribedOperation {
  requestBody?: { content: Record<string, { schema: DescribedSchema }> }
  responses: Record<string, { content: Record<string, { schema: DescribedSchema }> }>
}
