/** The hook's decision: payloads of every client at every event, whole, changed and broken, with what a shell sends beside them. */

import { readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import fc from "fast-check"
import { CLIENT_NAMES, HOOK_EVENTS } from "../../src/hook/client-names.ts"
import { answerHook } from "../../src/hook/decide.ts"
import { GIT_EVENTS } from "../../src/hook/git.ts"
import type { HookRequest } from "../../src/hook/request.ts"
import { hookHeaders, readHookAnswer, readHookRequest, writeHookAnswer } from "../../src/hook/wire.ts"
import { localKey } from "../../src/operations/keys.ts"
import { definePart } from "../support/part.ts"
import { type LiveRoom, type Room, roomTarget } from "../support/room.ts"
import { beginning, require, requireDiscreet } from "../support/texts.ts"
import { anything, brokenJson, text } from "../support/values.ts"

const GOLDENS = join(import.meta.dirname, "..", "..", "test", "hook", "payloads")
const GOLDEN_REPOSITORY = "/home/dev/project"

/** Returns the payloads that clients are known to send, in a repository. */
function goldenPayloads(repository: string): unknown[] {
  return readdirSync(GOLDENS).map((file) => {
    const json = readFileSync(join(GOLDENS, file), "utf8").replaceAll(GOLDEN_REPOSITORY, repository)
    return (JSON.parse(json) as { payload: unknown }).payload
  })
}

/** Puts a value in the place of one that lies within another, found by counting. */
function replaced(whole: unknown, at: number, value: unknown): unknown {
  let left = at % Math.max(1, sizeOf(whole))
  const walk = (one: unknown): unknown => {
    left -= 1
    if (left < 0) {
      left = Number.POSITIVE_INFINITY
      return value
    }
    if (Array.isArray(one)) return one.map(walk)
    if (typeof one !== "object" || one === null) return one
    return Object.fromEntries(Object.entries(one).map(([name, inner]) => [name, walk(inner)]))
  }
  return walk(whole)
}

function sizeOf(value: unknown): number {
  if (typeof value !== "object" || value === null) return 1
  return Object.values(value).reduce<number>((sum, inner) => sum + sizeOf(inner), 1)
}

const PATCHES = [
  "*** Begin Patch\n*** Update File: src/app.ts\n@@\n-a\n+b\n*** End Patch\n",
  "*** Begin Patch\n*** Add File: \0\n*** Move to: ../../x\n*** End Patch",
  `*** Update File: ${"a/".repeat(3_000)}`,
  "*** Begin Patch\n".repeat(2_000),
  Array.from({ length: 1_500 }, (_, at) => `*** Update File: src/${at}.ts\n@@\n+b\n`).join(""),
  "*** Update File: a\n".repeat(3_000),
  "apply_patch <<'EOF'\n*** Begin Patch\n*** Delete File: src/app.ts\n*** End Patch\nEOF",
]

/** A decision, and what is wrong with the settings. */
const LINES_MAX = 2

const PATHS = [
  "src/app.ts",
  "docs/limits.md",
  "../x",
  "/",
  "/etc/passwd",
  "~/.ssh/id",
  "C:\\x\\y",
  "src/app/[id]/page.tsx",
  "a\0b",
  ".git/config",
]

function inputsIn(room: Room): fc.Arbitrary<HookRequest> {
  const goldens = fc.constantFrom(...goldenPayloads(room.repository))
  const value = fc.oneof(
    anything,
    fc.constantFrom(...PATHS),
    fc.constantFrom(...PATCHES),
    fc.array(fc.constantFrom(...PATHS), { maxLength: 30 }),
  )
  const changed = fc
    .tuple(goldens, fc.array(fc.tuple(fc.nat(), value), { maxLength: 3 }))
    .map(([golden, changes]) =>
      JSON.stringify(changes.reduce((whole, [at, one]) => replaced(whole, at, one), golden)),
    )
  const word = fc.option(fc.oneof(text, fc.constantFrom("Alice", "demo", "session-b")), {
    nil: undefined,
    freq: 3,
  })
  const folder = fc.oneof(
    { weight: 6, arbitrary: fc.constant<string | undefined>(room.repository) },
    {
      weight: 2,
      arbitrary: fc.constantFrom<string | undefined>(
        undefined,
        "/",
        ".",
        room.home,
        join(room.repository, "src"),
        "/nowhere",
      ),
    },
    { weight: 1, arbitrary: text },
  )
  return fc.record({
    client: fc.oneof(
      { weight: 12, arbitrary: fc.constantFrom<string>(...CLIENT_NAMES, "git") },
      { weight: 1, arbitrary: text },
    ),
    event: fc.oneof(
      { weight: 12, arbitrary: fc.constantFrom<string>(...HOOK_EVENTS, ...GIT_EVENTS) },
      { weight: 1, arbitrary: text },
    ),
    payload: fc.oneof(
      { weight: 8, arbitrary: changed },
      { weight: 1, arbitrary: brokenJson(changed) },
      { weight: 1, arbitrary: anything.map((one) => JSON.stringify(one)) },
    ),
    folder,
    projectFolder: fc.option(folder, { nil: undefined, freq: 2 }),
    parentPid: fc.constantFrom(undefined, 0, 1, 2 ** 31, process.pid),
    namedSession: fc.oneof(word, fc.constant("fuzzed")),
    sessionId: word,
    agentName: word,
    projectKey: word,
  })
}

export const hook = definePart<HookRequest>({
  name: "hook",
  weight: 8,
  batch: 300,
  async open(makeRoom) {
    const room = await makeRoom()
    return {
      inputs: inputsIn(room),
      begin: (seed) => roomTarget(room, seed, decide),
    }
  },
})

async function decide(live: LiveRoom, request: HookRequest): Promise<number> {
  const { app, caller } = live.call
  const key = await localKey(app)
  const context = {
    app,
    key,
    nowMs: app.now(),
    caller: {
      ...caller,
      surface: "http" as const,
      key,
      folder: undefined,
      session: undefined,
      homeRepository: undefined,
    },
  }
  const { payload, ...beside } = request
  const headers = hookHeaders(beside)
  const read = readHookRequest({ get: (name) => headers[name] ?? null }, payload)
  const answer = await answerHook(context, read)
  const where = `${request.client} ${request.event}`
  live.requireNothingLogged(where)
  const { exitCode, stdout, stderr } = answer
  const isGit = request.client === "git"
  require(exitCode === 0 || exitCode === 2 || (isGit && exitCode === 1), () =>
    `${where} ends with ${exitCode}`)
  require(exitCode === 0 || stderr.trim() !== "", () => `${where} blocks without a word`)
  const isRefused = stdout.includes("deny") || stdout.includes("cancel")
  // A commit that goes on all the same is told what would have stopped it.
  const isWarned = isGit && stderr.startsWith("signalbox warns: ")
  if (exitCode === 0 && !isRefused && !isWarned)
    require(stderr.trimEnd().split("\n").length <= LINES_MAX, () =>
      `${where} says more than a line: ${beginning(stderr)}`)
  requireDiscreet(stdout, where)
  requireDiscreet(stderr, where)
  const reread = readHookAnswer(writeHookAnswer(answer))
  require(reread !== undefined && reread.exitCode === exitCode, () =>
    `${where} cannot be read back: ${beginning(stdout)}`)
  return 1
}
