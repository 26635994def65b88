/** What of signalbox stands in a text that reached a model. */

import { serverInstructions } from "../../src/config/instructions.ts"
import type { OfferedTool, Reading } from "../model/conversation.ts"

/** What the first line of the instructions has to bring across at the least. */
const INSTRUCTIONS_CHARS_MIN = 100

/** What is shorter may stand in any prompt. */
const WORD_CHARS_MIN = 20

/** How the hook names a session when it starts. */
export interface Told {
  name: string
  agentId: number
}

/** Returns whom the hook told a session that it is; undefined when it told nothing. */
export function sessionTold(prompt: string): Told | undefined {
  const [, name, id] = /signalbox: you are (\w+) \(agent id (\d+)/.exec(prompt) ?? []
  return name === undefined ? undefined : { name, agentId: Number(id) }
}

/** Whether a text says that an edit is blocked, and by whom. */
export function tellsOfBlock(text: string, holder: string): boolean {
  return text.includes("signalbox blocked this edit") && text.includes(holder)
}

/** What of the server's instructions a prompt has: all, the first characters of the first line, or too little. */
export interface Instructions {
  suffices: boolean
  note: string
}

/** Returns how much of the server's instructions a prompt has; clients cut them at lengths of their own. */
export function instructionsIn(prompt: string, instructions = serverInstructions({})): Instructions {
  const lines = instructions.split("\n")
  const [first = "", last = ""] = [lines[0], lines.at(-1)]
  if (prompt.includes(first) && prompt.includes(last)) return { suffices: true, note: "whole" }
  let count = first.length
  while (count > 0 && !prompt.includes(first.slice(0, count))) count -= 1
  const suffices = count >= INSTRUCTIONS_CHARS_MIN
  if (!suffices) return { suffices, note: count < WORD_CHARS_MIN ? "none" : `${count} characters` }
  return { suffices, note: count === first.length ? "first line" : `first ${count} characters` }
}

/** How our tools stand in a request. */
export interface ToolsSeen {
  /** How many are offered with their schemas. */
  whole: number
  /** How many of the others are named, to be loaded by that. */
  named: number
  /** Whether the server is named as one whose tools a search finds. */
  isSearched: boolean
}

/** Returns how the tools of ours stand in a request. */
export function toolsIn(request: Pick<Reading, "tools" | "prompt">, ours: readonly string[]): ToolsSeen {
  const isWhole = (tool: string) => request.tools.some((offered) => isOurs(offered, tool))
  const others = ours.filter((tool) => !isWhole(tool))
  const named = others.filter((tool) => new RegExp(`mcp__signalbox__${tool}(?![\\w-])`).test(request.prompt))
  return {
    whole: ours.length - others.length,
    named: named.length,
    isSearched: /^Deferred tool namespaces:\n(?:- .*\n)*- mcp__signalbox:/m.test(request.prompt),
  }
}

/** Whether a client offers a tool of ours under a name: behind any prefix of ours, with hyphens or underscores. */
export function isOurs({ name, namespace = "" }: OfferedTool, tool: string): boolean {
  if (!`${namespace}${name}`.includes("signalbox")) return false
  return name.endsWith(tool) || name.endsWith(tool.replaceAll("-", "_"))
}
