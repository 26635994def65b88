/** Documentation for tests: repositories with commits in them, all of it indexed, and a caller of the API. */

import { execFileSync } from "node:child_process"
import { mkdirSync, writeFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { expect } from "vitest"
import { remove } from "../../scripts/removal.ts"
import { productRoutes } from "../../src/http/index.ts"
import { runIndexing } from "../../src/operations/documentation/indexing.ts"
import { connectRepository } from "../../src/operations/documentation/repositories.ts"
import { COMMIT_ALL } from "../git/support.ts"
import { expectCommonHeaders, type HttpEntry, type HttpReply, serveHttp } from "./http.ts"
import { initRepository } from "./templates.ts"
import { type Session, START_MS, type World, type WorldOptions, world } from "./world.ts"

/** A day before the world begins. */
export const COMMIT_MS = START_MS - 86_400_000

/** Contents by path; null removes a file. */
export type Files = Record<string, string | null>

/** Runs git on a folder, at a time and under a name that are always the same; returns what it says. */
export function git(folder: string, ...args: string[]): string {
  const date = `${COMMIT_MS / 1_000} +0000`
  const env = { ...process.env, GIT_AUTHOR_DATE: date, GIT_COMMITTER_DATE: date }
  const who = ["-c", "user.name=Test", "-c", "user.email=test@example.com"]
  return execFileSync("git", ["-C", folder, ...who, ...args], {
    env,
    encoding: "utf8",
    stdio: ["ignore", "pipe", "ignore"],
  }).trim()
}

/** Writes files below a folder. */
export function writeFiles(folder: string, files: Files): void {
  for (const [path, content] of Object.entries(files)) {
    if (content === null) remove(join(folder, path))
    else {
      mkdirSync(dirname(join(folder, path)), { recursive: true })
      writeFileSync(join(folder, path), content)
    }
  }
}

/** Commits files to the branch that is checked out; returns the commit. */
export function commitFiles(folder: string, files: Files): string {
  writeFiles(folder, files)
  return git(folder, ...COMMIT_ALL, "--message", "Change")
}

/** Makes a repository beside the world's own, with one commit. */
export function newRepository(made: World, name: string, files: Files): string {
  const folder = join(made.folder, name)
  initRepository(folder)
  commitFiles(folder, files)
  return folder
}

/** Connects a folder and indexes all of it; returns its id. */
export async function connectAndIndex(
  session: Session,
  target: string,
  ...branches: string[]
): Promise<number> {
  const { id } = await connectRepository(session.app, { target, branches })
  expect(await runIndexing(session.app, { repositoryIds: [id] })).toBe("done")
  return id
}

export interface IndexedSession {
  made: World
  session: Session
}

/** A session in the world's repository with some documentation in it, all of it indexed. */
export async function indexedSession(files: Files): Promise<IndexedSession> {
  const made = world()
  commitFiles(made.repositoryPath, files)
  const session = await made.session()
  await connectAndIndex(session, made.repositoryPath)
  return { made, session }
}

export interface FoundPassage {
  content: string
  file: string
  repository: string
  branch: string
  url: string
  score: number
  last_updated: string
  line_start: number
  line_end: number
}
export interface FoundPassages {
  results: FoundPassage[]
  meta: { total: number; query_time_ms: number; cached: boolean; notes?: string[] }
}

/** A server in the world's repository, whose documentation is repository 1, and its HTTP. */
interface DocumentationRoom {
  made: World
  session: Session
  http: HttpEntry
  /** Sends a search; the answer must have what every answer has. */
  ask(body: object | string | Buffer | undefined, key?: string | null): Promise<HttpReply>
  /** Searches, which must succeed. */
  search(body: object, key?: string): Promise<FoundPassages>
  /** Makes a key with scopes. */
  keyOf(...scopes: string[]): Promise<string>
}

export const SEARCH = "/api/v1/documentation/search"

/** Makes a world with documentation in it. */
export async function documentationRoom(
  files: Files,
  { isIndexed = true, ...options }: WorldOptions & { isIndexed?: boolean } = {},
): Promise<DocumentationRoom> {
  const made = world(options)
  commitFiles(made.repositoryPath, files)
  const session = await made.session()
  if (isIndexed) expect(await connectAndIndex(session, made.repositoryPath)).toBe(1)
  const http = await serveHttp(session, { routes: productRoutes() })
  const ask: DocumentationRoom["ask"] = async (body, key) => {
    const options = body === undefined ? {} : { body }
    const reply = await http.send(SEARCH, {
      method: "POST",
      ...options,
      ...(key === undefined ? {} : { key }),
    })
    expectCommonHeaders(reply)
    return reply
  }
  return {
    made,
    session,
    http,
    ask,
    async search(body, key) {
      const reply = await ask(body, key)
      expect(reply.status, reply.text).toBe(200)
      return reply.json as FoundPassages
    },
    keyOf: async (...scopes) => (await http.key({ scopes })).text,
  }
}

export const LIMITS = "# Rate limits\n\nA starter key may send sixty requests a minute.\n"
export const DOCS: Files = {
  "docs/limits.md": LIMITS,
  "docs/backup.md": "# Backup\n\nThe database is copied to another file while it is in use.\n",
}
/** What the first of them answers. */
export const QUESTION = "how many requests may a starter key send"

/** Two repositories: the world's is repository 1, `other` is repository 2; each has a branch of its own. */
export async function twoRepositories(): Promise<DocumentationRoom> {
  const room = await documentationRoom(DOCS, { isIndexed: false })
  const { made, session } = room
  git(made.repositoryPath, "checkout", "--quiet", "-b", "next")
  commitFiles(made.repositoryPath, { "docs/limits.md": LIMITS.replace("sixty", "ninety") })
  git(made.repositoryPath, "checkout", "--quiet", "main")
  const folder = newRepository(made, "other", { "guide.md": LIMITS.replace("sixty", "fifty") })
  git(folder, "branch", "stable")
  expect(await connectAndIndex(session, made.repositoryPath)).toBe(1)
  expect(await connectAndIndex(session, folder)).toBe(2)
  return room
}

/** Fails the test unless a reply is an error of the documentation API; returns its message. */
export function expectError(reply: HttpReply, status: number, field?: string): string {
  expect(reply.status, reply.text).toBe(status)
  const { error, message, ...more } = reply.json as Record<string, unknown>
  expect(error).toBe(ERRORS[status])
  expect(message).toMatch(/\S/)
  const { "retry-after": retryAfter } = reply.headers
  const retry = status === 429 ? { retry_after: Number(retryAfter) } : {}
  expect(more).toEqual({ ...(field === undefined ? {} : { field }), ...retry })
  return String(message)
}

const ERRORS: Record<number, string> = {
  400: "Invalid request",
  401: "Unauthorized",
  403: "Forbidden",
  404: "Not found",
  405: "Method not allowed",
  413: "Request too large",
  415: "Unsupported media type",
  429: "Rate limit exceeded",
  500: "Internal server error",
}
