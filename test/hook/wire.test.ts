/** What the two ends of the hook's call say to each other, over HTTP and for a shell that takes it apart. */

import * as fc from "fast-check"
import { describe, expect, test } from "vitest"
import type { HookAnswer } from "../../src/hook/answer.ts"
import type { HookRequest } from "../../src/hook/request.ts"
import {
  HOOK_HEADER,
  hookHeaders,
  readHookAnswer,
  readHookCall,
  readHookRequest,
  writeHookAnswer,
} from "../../src/hook/wire.ts"

const BREAK = "--signalbox:stderr--"

describe("an answer", () => {
  const code = fc.constantFrom(0, 1, 2)
  const text = fc.oneof(
    fc.string(),
    fc.string({ unit: "binary" }),
    fc.constantFrom("", "\n", "a\n\nb\n", "--"),
  )
  const answer = fc.record({ exitCode: code, stdout: text, stderr: text })

  test("is text that begins with the exit code, the streams with the break between them", () => {
    const written = writeHookAnswer({ exitCode: 2, stdout: "out", stderr: "err\nmore" })
    expect(written).toBe(`2\nout\n${BREAK}\nerr\nmore`)
  })

  test("is read as it was written", () => {
    fc.assert(
      fc.property(answer, (made) => {
        expect(readHookAnswer(writeHookAnswer(made))).toEqual(made)
      }),
    )
  })

  /** Texts made of the break, pieces of it, and pieces that come together when a break between them goes. */
  const hostile = fc
    .array(fc.constantFrom(BREAK, "\n", "--signal", "box:stderr--", "--", "stderr", "a"), { maxLength: 8 })
    .map((parts) => parts.join(""))
  const hostileAnswer = fc.record({ exitCode: code, stdout: hostile, stderr: hostile })

  test("holds the break once, whatever its texts are", () => {
    fc.assert(
      fc.property(hostileAnswer, (made) => {
        expect(writeHookAnswer(made).split(BREAK)).toHaveLength(2)
      }),
      { examples: [[{ exitCode: 0, stdout: "--signal--signalbox:stderr--box:stderr--", stderr: "" }]] },
    )
  })

  test("keeps its code, and nothing of one stream reaches the other, whatever its texts are", () => {
    fc.assert(
      fc.property(hostileAnswer, ({ exitCode, stdout, stderr }) => {
        const made: HookAnswer = { exitCode, stdout: `(out)${stdout}(end)`, stderr: `(err)${stderr}` }
        const read = readHookAnswer(writeHookAnswer(made))
        expect(read?.exitCode).toBe(exitCode)
        expect(read?.stdout).toMatch(/^\(out\).*\(end\)$/s)
        expect(read?.stderr).toMatch(/^\(err\)/)
      }),
    )
  })

  test.each([
    "",
    "0",
    "0\nout",
    `x\nout\n${BREAK}\n`,
    `0\nout${BREAK}\n`,
    `-1\n\n${BREAK}\n`,
    "<html></html>",
    BREAK,
  ])("%j is none", (written) => {
    expect(readHookAnswer(written)).toBeUndefined()
  })
})

describe("a call", () => {
  const call = (changes: Partial<HookRequest> = {}): HookRequest => ({
    client: "codex",
    event: "pre-edit",
    payload: "{}",
    ...changes,
  })
  /** Sends a call's headers through those of a request, as both ends do. */
  const sent = ({ payload, ...rest }: HookRequest) => readHookRequest(new Headers(hookHeaders(rest)), payload)

  test("is read as it was sent", () => {
    // HTTP forbids control characters in headers, and takes away blanks around a value.
    const word = fc
      .string({ unit: "grapheme", minLength: 1 })
      .map((value) => value.replace(/\p{Cc}/gu, "x").trim())
      .filter((value) => value !== "")
    const field = fc.option(word, { nil: undefined })
    const anyCall = fc.record({
      client: fc.constantFrom("claude-code", "git"),
      event: fc.constantFrom("pre-edit", "post-commit"),
      payload: fc.string({ unit: "binary" }),
      folder: field,
      projectFolder: field,
      parentPid: fc.option(fc.integer({ min: 1, max: 4_194_304 }), { nil: undefined }),
      namedSession: field,
      sessionId: field,
      sessionClient: fc.constantFrom("claude-code", undefined),
      agentName: field,
      projectKey: field,
    })
    fc.assert(
      fc.property(anyCall, (made) => {
        expect(sent(made)).toEqual(made)
      }),
    )
  })

  test("keeps paths that are no ASCII", () => {
    const folder = "/home/größe/日本語/😀"
    expect(sent(call({ folder }))).toEqual(call({ folder }))
    // A shell hands the bytes of the path to curl as they are.
    const bytes = Buffer.from(folder).toString("latin1")
    const headers = new Headers({ [HOOK_HEADER]: "codex pre-edit 1", "X-Signalbox-Folder": bytes })
    expect(readHookRequest(headers, "{}")).toEqual(call({ folder, parentPid: 1 }))
  })

  test("of the shell form is read from its body, and a payload that looks like one adds nothing to it", () => {
    const folder = "/home/größe: 1"
    const payload = '{"a":"\t\tX-Signalbox-Agent: Ada"}\n'
    const head = [
      "X-Signalbox-Hook: codex pre-edit 1 ",
      `X-Signalbox-Folder: ${folder}`,
      "X-Signalbox-Agent: ",
    ]
    const read = readHookCall(new Headers(), `${head.join("\t")}\t\t${payload}`)
    expect(read).toEqual(call({ folder, parentPid: 1, payload }))
    expect(readHookCall(new Headers(hookHeaders(call())), payload)).toEqual(call({ payload }))
  })

  test("with empty headers is one without", () => {
    const empty = ["Folder", "Project-Folder", "Session", "Agent", "Project"]
    const headers = new Headers(empty.map((name) => [`X-Signalbox-${name}`, ""]))
    headers.set(HOOK_HEADER, "codex pre-edit ")
    expect(readHookRequest(headers, "{}")).toEqual(call())
  })

  test("without any header is of no client and no event", () => {
    expect(readHookRequest(new Headers(), "")).toEqual(call({ client: "", event: "", payload: "" }))
  })

  test.each(["x", "-1", "1.5", "12345678901", "1e3", ""])("does not take %j for a process", (pid) => {
    const headers = new Headers({ [HOOK_HEADER]: `codex pre-edit ${pid}` })
    expect(readHookRequest(headers, "{}").parentPid).toBeUndefined()
  })
})
