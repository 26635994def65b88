/** What the model of the harness makes of requests, and how it answers, in the forms of four APIs. */

import { describe, expect, test } from "vitest"
import { anthropic } from "../../clients/model/anthropic.ts"
import { chatCompletions } from "../../clients/model/chat-completions.ts"
import type { Call, Protocol, Reading } from "../../clients/model/conversation.ts"
import { gemini } from "../../clients/model/gemini.ts"
import type { Fields } from "../../clients/model/json.ts"
import { responses } from "../../clients/model/responses.ts"

const PROTOCOLS = [anthropic, responses, chatCompletions, gemini]

/** Requests with two tools of which one was called before, its result, and what must be read of them. */
const READINGS: [protocol: Protocol, body: Fields, reading: Omit<Reading, "prompt">][] = [
  [
    anthropic,
    {
      system: [{ type: "text", text: "the system" }],
      tools: [{ name: "Edit" }, { name: "mcp__signalbox__fetch-inbox" }],
      messages: [
        { role: "user", content: "the task" },
        { role: "assistant", content: [{ type: "tool_use", id: "1", name: "Edit", input: {} }] },
        {
          role: "user",
          content: [
            { type: "tool_result", tool_use_id: "1", content: [{ type: "text", text: "the result" }] },
            { type: "text", text: "a reminder" },
          ],
        },
      ],
    },
    { tools: [{ name: "Edit" }, { name: "mcp__signalbox__fetch-inbox" }], results: ["the result"] },
  ],
  [
    responses,
    {
      instructions: "the system",
      tools: [
        { type: "custom", name: "apply_patch" },
        { type: "tool_search" },
        { type: "namespace", name: "mcp__signalbox__", tools: [{ name: "fetch_inbox" }] },
      ],
      input: [
        { type: "message", role: "user", content: [{ type: "input_text", text: "the task" }] },
        { type: "additional_tools", tools: [{ type: "function", name: "exec", description: "a reminder" }] },
        { type: "custom_tool_call", call_id: "1", name: "apply_patch", input: "" },
        { type: "custom_tool_call_output", call_id: "1", output: "the result" },
      ],
    },
    {
      tools: [
        { name: "apply_patch" },
        { name: "tool_search" },
        { name: "fetch_inbox", namespace: "mcp__signalbox__" },
        { name: "exec" },
      ],
      results: ["the result"],
    },
  ],
  [
    chatCompletions,
    {
      tools: [
        { type: "function", function: { name: "edit" } },
        { type: "function", function: { name: "signalbox-fetch-inbox" } },
      ],
      messages: [
        { role: "system", content: "the system" },
        { role: "user", content: "the task" },
        { role: "assistant", content: null, tool_calls: [{ id: "1" }] },
        { role: "tool", tool_call_id: "1", content: "the result" },
        { role: "user", content: "a reminder" },
      ],
    },
    { tools: [{ name: "edit" }, { name: "signalbox-fetch-inbox" }], results: ["the result"] },
  ],
  [
    gemini,
    {
      systemInstruction: { parts: [{ text: "the system" }] },
      tools: [{ functionDeclarations: [{ name: "replace" }] }, { functionDeclarations: [{ name: "mcp_a" }] }],
      contents: [
        { role: "user", parts: [{ text: "the task" }] },
        { role: "model", parts: [{ functionCall: { name: "replace", args: {} } }] },
        {
          role: "user",
          parts: [
            { functionResponse: { name: "replace", response: { output: "the result" } } },
            { text: "a reminder" },
          ],
        },
      ],
    },
    { tools: [{ name: "replace" }, { name: "mcp_a" }], results: ["the result"] },
  ],
]

describe.each(READINGS.map((each) => [each[0].name, ...each] as const))(
  "a request of %s",
  (_, protocol, body, expected) => {
    const reading = protocol.read(body)

    test("offers its tools by name, and brings what they said since the last answer", () => {
      expect(reading.tools).toEqual(expected.tools)
      expect(reading.results).toEqual(expected.results)
    })

    test("has everything that reaches the model in its prompt", () => {
      for (const text of ["the system", "the task", "a reminder"]) expect(reading.prompt).toContain(text)
    })

    test("without anything reads as empty", () => {
      expect(protocol.read({})).toEqual({
        tools: [],
        results: [],
        prompt: expect.stringMatching(/^\s*$/),
      })
    })
  },
)

const CALLS: Record<string, readonly Call[]> = {
  anthropic: [{ name: "Edit", args: { file_path: "/a", new_string: 'b"\n' } }, { name: "Read" }],
  responses: [
    { name: "exec_command", args: { cmd: "true" } },
    { name: "apply_patch", input: "*** Begin Patch" },
    { name: "fetch_inbox", namespace: "mcp__signalbox", args: {} },
    { name: "tool_search", isSearch: true, args: { query: "inbox" } },
  ],
  "chat-completions": [{ name: "edit", args: { path: "/a", new_str: 'b"\n' } }, { name: "view" }],
  gemini: [{ name: "replace", args: { file_path: "/a" } }, { name: "read_file" }],
}

describe.each(PROTOCOLS.map((protocol) => [protocol.name, protocol] as const))(
  "an answer of %s",
  (name, protocol) => {
    const streams = { path: "/v1beta/models/m:streamGenerateContent", body: { model: "m", stream: true } }
    const whole = { path: "/v1beta/models/m:generateContent", body: { model: "m" } }

    test("has the API's own form, streamed and whole", async () => {
      const turns = [{ calls: CALLS[name] ?? [] }, { text: "a text" }, {}]
      const answers = turns.flatMap((turn) =>
        [streams, whole].map((kind) => protocol.answer(turn, { ...kind, number: 7, isSide: false })),
      )
      const shown = answers.map(({ type, body }) => `# ${type}\n${body.trimEnd()}\n`).join("\n")
      await expect(shown).toMatchFileSnapshot(`../snapshots/clients/${name}.txt`)
    })

    test("ends as the API ends a turn of calls, and a turn of text", () => {
      const endOf = (turn: object) => protocol.answer(turn, { ...whole, number: 1, isSide: false }).body
      expect(endOf({ calls: CALLS[name] ?? [] })).not.toEqual(endOf({}))
      expect(endOf({})).toContain("done")
    })
  },
)

test("each API is found at its path, and nowhere else", () => {
  const paths = ["/v1/messages", "/v1/responses", "/v1/chat/completions", "/v1beta/models/m:generateContent"]
  const found = [...paths, "/v1/models"].map((path) =>
    PROTOCOLS.filter((protocol) => protocol.isAt(path)).map(({ name }) => name),
  )
  expect(found).toEqual([["anthropic"], ["responses"], ["chat-completions"], ["gemini"], []])
})

test("Gemini's router is answered in the JSON that it asks for, the work in the script's text", () => {
  const body = { generationConfig: { responseMimeType: "application/json" } }
  const asked = { path: "/m:generateContent", number: 1, body }
  expect(gemini.answer({ text: "ok" }, { ...asked, isSide: true }).body).toContain("next_speaker")
  expect(gemini.answer({ text: "ok" }, { ...asked, isSide: false }).body).not.toContain("next_speaker")
})
