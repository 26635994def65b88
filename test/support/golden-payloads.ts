/** The payloads of `test/hook/payloads`, put into a repository of a test, and what their clients are told. */

import { readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { expect } from "vitest"
import type { ClientName, HookEvent } from "../../src/hook/client-names.ts"

/** A payload as a client sends it. */
export interface Golden {
  /** The file's name without its ending. */
  name: string
  client: ClientName
  event: HookEvent
  /** Of the client that sent it, some names and ids replaced; those without one are made from its documentation. */
  version?: string
  /** What the client tells beside the payload. */
  surroundings?: { folder?: string; projectFolder?: string }
  payload: object
  expected: { paths: string[] }
}

/** What a golden says instead of its own: another session, and another folder than `src/auth`. */
export interface GoldenPlace {
  session?: string
  files?: string
}

/** How a hook has ended. */
export interface HookEnding {
  /** Null when the hook took too long and was killed. */
  exitCode: number | null
  stdout: string
  stderr: string
}

const GOLDEN_FOLDER = fileURLToPath(new URL("../hook/payloads/", import.meta.url))
const GOLDEN_REPOSITORY = "/home/dev/project"

const GOLDENS: readonly Golden[] = readdirSync(GOLDEN_FOLDER)
  .sort()
  .map((file) => ({
    ...(JSON.parse(readFileSync(join(GOLDEN_FOLDER, file), "utf8")) as Omit<Golden, "name">),
    name: file.replace(/\.json$/, ""),
  }))

/** Edits of files in `src/auth`. */
export const EDITS = GOLDENS.filter(
  ({ event, expected }) => event === "pre-edit" && expected.paths.length > 0,
)
/** What edits nothing. */
export const OTHERS = GOLDENS.filter(({ expected }) => expected.paths.length === 0)

/** Returns goldens by name, as cases of a test. */
export function named(goldens: readonly Golden[]): [name: string, golden: Golden][] {
  return goldens.map((golden) => [golden.name, golden])
}

/** Returns the first golden of each client and event. */
export function oneOfEach(goldens: readonly Golden[]): Golden[] {
  return [
    ...new Map(goldens.toReversed().map((golden) => [`${golden.client} ${golden.event}`, golden])).values(),
  ]
}

/** Returns a golden's payload as it is in a repository. */
export function payloadIn(
  repositoryPath: string,
  { payload }: Golden,
  { session = "session-b", files = "auth" }: GoldenPlace = {},
): string {
  return JSON.stringify(payload)
    .replaceAll(GOLDEN_REPOSITORY, repositoryPath)
    .replaceAll("session-b", session)
    .replaceAll("auth/", `${files}/`)
}

/** Returns the paths that a golden edits, relative to the repository's root, as `payloadIn` rewrites them. */
export function editedFiles({ expected }: Golden, files = "auth"): string[] {
  return expected.paths.map((path) => path.replace(`${GOLDEN_REPOSITORY}/`, "").replace("auth/", `${files}/`))
}

/** Returns the text of a refusal, in whichever form a client wants it; fails when there is none. */
export function refusalIn(ending: HookEnding, client: ClientName = "claude-code"): string {
  const { stdout, stderr } = ending
  const printed = () => JSON.parse(stdout) as Record<string, unknown>
  const isExitZero = client === "copilot" || client === "cline-editor"
  expect(ending, "a refusal").toMatchObject({ exitCode: isExitZero ? 0 : 2 })
  expect(stderr, "why, on stderr").toContain("signalbox blocked this edit: ")
  const text = stderr.trim()
  if (client === "copilot")
    expect(printed()).toMatchObject({ permissionDecision: "deny", permissionDecisionReason: text })
  else if (client === "cline-editor") expect(printed()).toEqual({ cancel: true, errorMessage: text })
  else if (client === "cursor")
    expect(printed()).toEqual({ permission: "deny", user_message: text, agent_message: text })
  else expect(stdout).toBe("")
  return text
}

/** Fails unless a refusal of a file in `src/auth` says who holds the file, how, for how long, and what can be done instead. */
export function expectWhole(text: string, agent: { name: string; id: number; projectId: number }): void {
  const left = String.raw`(\d+ h( \d+ min)?|\d+ min( \d+ s)?|\d+ s) left`
  expect(text).toMatch(new RegExp(`is reserved by ${agent.name} \\(exclusive, ${left}, pattern src/auth/`))
  const offers = text.split("\n").filter((line) => line.startsWith("- "))
  expect(offers).toEqual([
    `- message the holder: send-message to agent id ${agent.id} in project id ${agent.projectId}`,
    expect.stringMatching(
      /^- wait for the expiry: \d{4}-\d\d-\d\dT[\d:.]+Z \(in .+\), or .* wait --released \S*src\/auth\/\S+$/,
    ),
    "- work on another file",
    expect.stringMatching(
      /^- only in an emergency, request an override: .* override \S*src\/auth\/\S+ .*--reason/,
    ),
  ])
}
