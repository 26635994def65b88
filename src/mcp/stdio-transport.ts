/** The transport of the stdio server: knows what it has not answered yet, and admits who wants to listen. */

import { type Server, SUBSCRIPTION_ID_META_KEY } from "@modelcontextprotocol/server"
import { StdioServerTransport } from "@modelcontextprotocol/server/stdio"
import type { Log } from "../runtime/log.ts"
import { listenedUris } from "./listening.ts"
import { subscriptionError } from "./server.ts"
import type { Subscriptions } from "./subscriptions.ts"

type Message = Parameters<StdioServerTransport["send"]>[0]
type Request = Extract<Message, { method: string; id: string | number }>

/** A stdio transport that knows how many requests it has not answered yet, and which of them go on listening. */
export class StdioTransport extends StdioServerTransport {
  readonly #unanswered = new Set<string | number>()
  readonly #subscriptions: Subscriptions
  readonly #log: Log
  /** The requests to listen that have not been answered or cancelled. */
  readonly #listening = new Set<unknown>()
  /** Those of them that were not acknowledged yet: what they listen for would get lost. */
  readonly #admitted = new Set<unknown>()
  #whenDrained: (() => void) | undefined

  constructor(
    input: ConstructorParameters<typeof StdioServerTransport>[0],
    output: ConstructorParameters<typeof StdioServerTransport>[1],
    subscriptions: Subscriptions,
    log: Log,
  ) {
    super(input, output)
    this.#subscriptions = subscriptions
    this.#log = log
  }

  /** Has a server tell of an update; returns false while a request to listen is on its way, which would miss it. */
  tell(server: Server | undefined, uri: string): boolean {
    if (server === undefined || this.#admitted.size > 0) return false
    // A client that is gone hears nothing, and its end is noticed elsewhere.
    server.sendResourceUpdated({ uri }).catch(() => {})
    return true
  }

  override async start(): Promise<void> {
    const receive = this.onmessage
    this.onmessage = (message) => {
      if ("method" in message && "id" in message) {
        // Listening is answered when it ends, which nobody waits for.
        if (message.method === "subscriptions/listen") return void this.#listen(message, receive)
        this.#unanswered.add(message.id)
      } else if ("method" in message && message.method === "notifications/cancelled") {
        this.#endListening(message.params?.requestId)
      }
      receive?.(message)
    }
    await super.start()
  }

  override async send(message: Message): Promise<void> {
    await super.send(message)
    if ("method" in message && message.method === "notifications/subscriptions/acknowledged")
      this.#admitted.delete(message.params?._meta?.[SUBSCRIPTION_ID_META_KEY])
    if ("id" in message && message.id !== undefined && !("method" in message)) {
      this.#endListening(message.id)
      this.#unanswered.delete(message.id)
      if (this.#unanswered.size === 0) this.#whenDrained?.()
    }
  }

  /** The SDK acknowledges whatever is asked for, so what may not be read is refused before it gets the request. */
  async #listen(message: Request, receive: typeof this.onmessage): Promise<void> {
    this.#listening.add(message.id)
    this.#admitted.add(message.id)
    try {
      await this.#subscriptions.add(message.id, listenedUris(message))
    } catch (error) {
      const [uri = ""] = listenedUris(message)
      const { code, message: text, data } = subscriptionError(error, uri, this.#log)
      const refusal = { code, message: text, ...(data !== undefined && { data }) }
      await this.send({ jsonrpc: "2.0", id: message.id, error: refusal }).catch(() => {})
      return
    }
    if (this.#listening.has(message.id)) receive?.(message)
    else void this.#subscriptions.remove(message.id)
  }

  #endListening(id: unknown): void {
    this.#admitted.delete(id)
    if (this.#listening.delete(id)) void this.#subscriptions.remove(id)
  }

  /** Resolves when every accepted request is answered, or after `waitMs`. */
  async drained(waitMs: number): Promise<void> {
    // What arrived together with the end has still to pass through the pipe.
    await new Promise((resolve) => setImmediate(resolve))
    if (this.#unanswered.size === 0) return
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, waitMs)
      this.#whenDrained = () => {
        clearTimeout(timer)
        resolve()
      }
    })
  }
}
