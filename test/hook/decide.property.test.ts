/** The hook's first law: whatever comes in, it answers, and only a conflict ever stops anything. */

import * as fc from "fast-check"
import { describe, expect, test } from "vitest"
import { CLIENT_NAMES, HOOK_EVENTS } from "../../src/hook/client-names.ts"
import type { HookRequest } from "../../src/hook/request.ts"
import { edit, heldIn, reserve, runHook } from "../support/hook.ts"
import { agents, type World, world } from "../support/world.ts"

/** Names of fields that some client's payload has, so that arbitrary payloads reach all of the code. */
const FIELDS = [
  ...["session_id", "sessionId", "cwd", "workspace_roots", "hook_event_name", "source", "model"],
  ...["tool_name", "toolName", "tool_input", "toolArgs", "preToolUse", "parameters", "input"],
  ...["file_path", "path", "paths", "edits", "content", "patch", "command", "agent_id"],
]
const TEXTS = [
  ...[
    "a.ts",
    "src/b.ts",
    "../x.ts",
    "/",
    "",
    ".",
    "~",
    "\0",
    "\ud800",
    "a\nb",
    "*",
    "[",
    "{a,b",
    "a".repeat(600),
  ],
  ...[
    "Edit",
    "apply_patch",
    "Bash",
    "clear",
    "startup",
    "*** Begin Patch\n*** Update File: a.ts\n*** End Patch",
  ],
]

function anyRequest(made: World): fc.Arbitrary<HookRequest> {
  const text = fc.oneof(fc.constantFrom(...TEXTS, made.repositoryPath), fc.string())
  const { value } = fc.letrec((tie) => ({
    value: fc.oneof(
      { maxDepth: 3, withCrossShrink: true },
      text,
      fc.constantFrom(null, true, 0, -1),
      fc.array(tie("value"), { maxLength: 3 }),
      fc.dictionary(fc.constantFrom(...FIELDS), tie("value"), { maxKeys: 8 }),
    ),
  }))
  const payload = fc.dictionary(fc.constantFrom(...FIELDS), value, { maxKeys: 8 })
  const inside = payload.map((fields) => ({ ...fields, cwd: made.repositoryPath }))
  const editing = text.map((file) => ({
    cwd: made.repositoryPath,
    session_id: "b",
    tool_name: "Edit",
    tool_input: { file_path: file },
  }))
  const json = fc.oneof(payload, inside, editing, value).map((made) => JSON.stringify(made) ?? "")
  const header = fc.option(text, { nil: undefined })
  return fc.record({
    client: fc.oneof(fc.constantFrom(...CLIENT_NAMES, "git"), text),
    event: fc.oneof(fc.constantFrom(...HOOK_EVENTS, "pre-commit", "post-commit"), text),
    payload: fc.oneof({ weight: 8, arbitrary: json }, { weight: 1, arbitrary: text }),
    folder: fc.oneof(fc.constant(made.repositoryPath), fc.constant(made.folder), fc.constant(undefined)),
    projectFolder: fc.option(fc.constant(made.repositoryPath), { nil: undefined }),
    parentPid: fc.constantFrom(undefined, 0, 1, process.pid, 4_194_305, 9_999_999_999),
    namedSession: header,
    sessionId: header,
    sessionClient: fc.constantFrom("claude-code", "gemini", undefined),
    agentName: header,
    projectKey: header,
  })
}

describe("whatever comes in", () => {
  test("the hook answers with 0 and nothing is stopped while nobody has reserved anything", async () => {
    const made = world()
    const { app } = await made.session({ name: "listener" })
    await fc.assert(
      fc.asyncProperty(anyRequest(made), async ({ payload, ...request }) => {
        // What the hook itself reserved in an earlier run must not stop a later one.
        made.advance(8 * 3_600_000)
        const { exitCode, stdout, stderr } = await runHook(made, app, payload, request)
        expect(exitCode).toBe(0)
        expect([stdout, stderr].map((text) => typeof text)).toEqual(["string", "string"])
        expect(made.logged.splice(0)).toEqual([])
      }),
      { numRuns: 300 },
    )
  })

  test("the hook answers with 0, 1 or 2, and with 1 to a commit only", async () => {
    const [made, ada] = await agents("Ada")
    await reserve(ada, "**", { duration_seconds: 28_800 })
    await fc.assert(
      fc.asyncProperty(anyRequest(made), async ({ payload, ...request }) => {
        const { exitCode } = await runHook(made, ada.session.app, payload, request)
        expect([0, 1, 2]).toContain(exitCode)
        if (exitCode === 1) expect(request).toMatchObject({ client: "git", event: "pre-commit" })
        if (exitCode === 2) expect(request.event).toBe("pre-edit")
        expect(made.logged.splice(0)).toEqual([])
      }),
      { numRuns: 300 },
    )
    expect(await heldIn(ada.session.app)).toHaveLength(1)
  })
})

test("an edit is blocked exactly when another session's reservation matches one of its files", async () => {
  const [made, ada] = await agents("Ada")
  const { app } = ada.session
  const names = ["a", "b", "[a]", "*"]
  const path = fc
    .array(fc.constantFrom(...names), { minLength: 1, maxLength: 2 })
    .map((parts) => parts.join("/"))
  const paths = fc.uniqueArray(path, { minLength: 1, maxLength: 4 })
  const literal = (file: string) => file.replace(/[*[\]]/g, "\\$&")
  await fc.assert(
    fc.asyncProperty(paths, paths, fc.boolean(), async (reserved, edited, exclusive) => {
      await ada.session.call("release-file-reservations", {
        agent_id: ada.id,
        coordination_project_id: ada.projectId,
      })
      made.advance(8 * 3_600_000)
      for (const file of reserved) await reserve(ada, literal(file), { exclusive })
      const covers = (folder: string, file: string) => file === folder || file.startsWith(`${folder}/`)
      // A reserved folder covers what is below it, and an edited path may be a folder as well.
      const meets = edited.some((file) => reserved.some((one) => covers(one, file) || covers(file, one)))
      const { exitCode } = await edit(made, app, edited)
      expect(exitCode).toBe(exclusive && meets ? 2 : 0)
    }),
    { numRuns: 60 },
  )
})
