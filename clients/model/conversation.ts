/** What a script says in place of a model, and what each protocol makes of it. */

import type { Fields } from "./json.ts"

/** A call of one of the client's tools; `input` instead of `args` where a tool takes free text. */
export interface Call {
  name: string
  args?: Fields
  input?: string
  /** Where the protocol keeps tools in namespaces. */
  namespace?: string
  /** Whether it is a search among deferred tools, which has a form of its own in the Responses API. */
  isSearch?: true
}

/** One answer of the model: calls, or a text; nothing of both is the text "done". */
export interface Turn {
  text?: string
  calls?: readonly Call[]
}

/** A tool that a request offers, by the name that the client gave it. */
export interface OfferedTool {
  name: string
  /** Where the protocol keeps tools in namespaces. */
  namespace?: string
}

/** What a request says, whatever protocol it came in. */
export interface Reading {
  tools: OfferedTool[]
  /** The results of tools since the model's last answer. */
  results: string[]
  /** All texts that reach the model, joined: system prompt, messages and, where tools are items, those. */
  prompt: string
}

export interface ModelRequest extends Reading {
  /** Counts up from 1 over all requests of a server. */
  number: number
  path: string
  protocol: string
  body: Fields
  /** Whether it wants something else than the next step of the work: a title, a classification. */
  isSide: boolean
}

/** A turn, or what makes one once the request is there. */
export type ScriptedTurn = Turn | ((request: ModelRequest) => Turn | Promise<Turn>)

export interface Answer {
  type: "application/json" | "text/event-stream"
  body: string
}

/** How one API spells requests and answers. */
export interface Protocol {
  name: string
  isAt(path: string): boolean
  read(body: Fields): Reading
  answer(turn: Turn, request: Pick<ModelRequest, "number" | "path" | "body" | "isSide">): Answer
}

/** Returns an answer that comes whole. */
export function wholeAnswer(value: unknown): Answer {
  return { type: "application/json", body: JSON.stringify(value) }
}

/** One server-sent event; without a name only its data is sent. */
export interface ServerEvent {
  name?: string
  data: unknown
}

/** Returns an answer that comes as server-sent events; `end` is sent after them as it is. */
export function streamedAnswer(events: readonly ServerEvent[], end = ""): Answer {
  const frames = events.map(
    ({ name, data }) => `${name === undefined ? "" : `event: ${name}\n`}data: ${JSON.stringify(data)}\n\n`,
  )
  return { type: "text/event-stream", body: frames.join("") + end }
}
