/**
 * A server that stands in for the model of real coding agents: it answers by a script. Only requests that offer
 * tools take a turn of the script; side requests get a plain answer. When the script is over, the answer is "done".
 */

import { appendFileSync } from "node:fs"
import { createServer, type IncomingMessage, type ServerResponse } from "node:http"
import { json as readJson } from "node:stream/consumers"
import { anthropic } from "./anthropic.ts"
import { chatCompletions } from "./chat-completions.ts"
import {
  type Answer,
  type ModelRequest,
  type Protocol,
  type ScriptedTurn,
  wholeAnswer,
} from "./conversation.ts"
import { gemini } from "./gemini.ts"
import { fieldsOf } from "./json.ts"
import { responses } from "./responses.ts"

const PROTOCOLS: readonly Protocol[] = [anthropic, responses, chatCompletions, gemini]

/** Tells side requests from those that take the work on. */
export type SideRule = (request: Pick<ModelRequest, "tools" | "protocol">) => boolean

export class ModelServer {
  /** What a function of the script threw; it makes the run worthless. */
  failure: Error | undefined
  #script: readonly ScriptedTurn[] = []
  #taken = 0
  #count = 0
  #main: ModelRequest[] = []
  readonly #server = createServer((incoming, response) => void this.#serve(incoming, response))
  readonly #isSide: SideRule
  readonly #logFile: string

  private constructor(isSide: SideRule, logFile: string) {
    this.#isSide = isSide
    this.#logFile = logFile
  }

  /** Starts a server on a free port of 127.0.0.1; every request goes to `logFile`, one JSON object a line. */
  static async start(isSide: SideRule, logFile: string): Promise<ModelServer> {
    const model = new ModelServer(isSide, logFile)
    await new Promise<void>((resolve) => model.#server.listen(0, "127.0.0.1", resolve))
    return model
  }

  get url(): string {
    const address = this.#server.address()
    if (address === null || typeof address === "string") throw new Error("the model does not listen")
    return `http://127.0.0.1:${address.port}`
  }

  /** Takes another script from its beginning, and forgets the requests so far. */
  play(script: readonly ScriptedTurn[]): void {
    this.#script = script
    this.#taken = 0
    this.#main = []
    this.failure = undefined
  }

  /** The requests since `play` that were no side requests, in order. */
  get requests(): readonly ModelRequest[] {
    return this.#main
  }

  /** Returns the results of tools that the request at an index brought, joined; -1 is the last one. */
  results(index: number): string {
    return (this.#main.at(index)?.results ?? []).join("\n")
  }

  close(): void {
    this.#server.closeAllConnections()
    this.#server.close()
  }

  async #serve(incoming: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = fieldsOf(await readJson(incoming).catch(() => undefined))
    const path = new URL(incoming.url ?? "/", "http://model").pathname
    const protocol = PROTOCOLS.find((one) => one.isAt(path))
    const answer = protocol === undefined ? besideTheWork(path) : await this.#answer(protocol, path, body)
    response.writeHead(answer === undefined ? 404 : 200, {
      "content-type": answer?.type ?? "application/json",
    })
    response.end(answer?.body ?? "{}")
  }

  async #answer(protocol: Protocol, path: string, body: ModelRequest["body"]): Promise<Answer> {
    this.#count += 1
    const reading = protocol.read(body)
    const isSide = reading.tools.length === 0 || this.#isSide({ ...reading, protocol: protocol.name })
    const request = { ...reading, number: this.#count, path, protocol: protocol.name, body, isSide }
    appendFileSync(this.#logFile, `${JSON.stringify(request)}\n`)
    if (isSide) return protocol.answer({ text: "ok" }, request)
    this.#main.push(request)
    const next = this.#script[this.#taken] ?? {}
    this.#taken += 1
    try {
      return protocol.answer(typeof next === "function" ? await next(request) : next, request)
    } catch (error) {
      this.failure ??= error instanceof Error ? error : new Error(String(error))
      return protocol.answer({ text: "the script failed" }, request)
    }
  }
}

/** What clients ask for beside turns: the list of models, and how many tokens a text has. */
function besideTheWork(path: string): Answer | undefined {
  if (path.endsWith("/count_tokens")) return wholeAnswer({ input_tokens: 100 })
  if (path.endsWith(":countTokens")) return wholeAnswer({ totalTokens: 100 })
  return path.includes("models") ? wholeAnswer({ object: "list", data: [], models: [] }) : undefined
}
