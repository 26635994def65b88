/** What the harness reads out of texts that reached a model. */

import { expect, test } from "vitest"
import { readIdentity } from "../../clients/scenario/holder.ts"
import { instructionsIn, sessionTold, tellsOfBlock, toolsIn } from "../../clients/scenario/seen.ts"
import { serverInstructions } from "../../src/config/instructions.ts"

const FIRST = "Coordinates the coding agents of this code base. ".repeat(3)
const WHOLE = `${FIRST}\n\n1. The rules.\nThe end.`

test.each([
  [`before ${WHOLE} after`, true, "whole"],
  [`before ${FIRST} after`, true, "first line"],
  [`before ${FIRST.slice(0, 100)}`, true, "first 100 characters"],
  [`before ${FIRST.slice(0, 99)}`, false, "99 characters"],
  ["before", false, "none"],
])("of the instructions a model sees: case %#", (prompt, suffices, note) => {
  expect(instructionsIn(prompt, WHOLE)).toEqual({ suffices, note })
})

test("the server's own instructions are what is looked for", () => {
  const own = serverInstructions({ project: "/home/dev/project" })
  expect(instructionsIn(own)).toEqual({ suffices: true, note: "whole" })
})

const TOOLS = ["fetch-inbox", "reply-message", "send-message", "ack-message"]

test("tools are offered whole under any client's prefix, or by name in the prompt", () => {
  const request = {
    tools: [
      { name: "Edit" },
      { name: "team_send_message" },
      { name: "mcp__signalbox__fetch-inbox" },
      { name: "reply_message", namespace: "mcp__signalbox" },
    ],
    prompt:
      "Deferred: mcp__signalbox__send-message, mcp__other__ack-message, mcp__signalbox__ack-message-all",
  }
  expect(toolsIn(request, TOOLS)).toEqual({ whole: 2, named: 1, isSearched: false })
})

test.each([
  ["Deferred tool namespaces:\n- mcp__other: x\n- mcp__signalbox: y", true],
  ["Deferred tool namespaces:\n- mcp__other: x\n\n- mcp__signalbox: y", false],
  ["Use mcp__signalbox: it coordinates", false],
])("a search finds them where the server is among the deferred: %j", (prompt, isSearched) => {
  expect(toolsIn({ tools: [], prompt }, TOOLS)).toEqual({ whole: 0, named: 0, isSearched })
})

test("the hook's welcome names the session, and nothing else does", () => {
  expect(sessionTold('signalbox: you are QuietSwan (agent id 9, project id 1, project_key "/p").')).toEqual({
    name: "QuietSwan",
    agentId: 9,
  })
  expect(sessionTold("you are QuietSwan")).toBeUndefined()
})

test("a block tells who holds the file", () => {
  const text = "signalbox blocked this edit: src/a.ts is reserved by QuietSwan (exclusive, 5 min left)"
  expect(tellsOfBlock(text, "QuietSwan")).toBe(true)
  expect(tellsOfBlock(text, "LoudSwan")).toBe(false)
  expect(tellsOfBlock("reserved by QuietSwan", "QuietSwan")).toBe(false)
})

test("an identity is read from a session's start, also where a client shows its lines escaped", () => {
  const answer = "# Session\n\nName: QuietSwan\nAgent id: 9\nProject id: 1\nRepository id: 2"
  const identity = { name: "QuietSwan", agentId: 9, projectId: 1, repositoryId: 2 }
  expect(readIdentity(answer)).toEqual(identity)
  expect(readIdentity(JSON.stringify(answer).slice(1, -1))).toEqual(identity)
  expect(readIdentity("Failed to start session: no")).toBeUndefined()
})
