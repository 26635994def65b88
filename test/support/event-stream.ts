/** A reader of Server-Sent Events, as the standard says, that resumes where it was. */

import { type IncomingMessage, request } from "node:http"

export interface StreamedEvent {
  id: number
  event: string
  data: unknown
}

export class EventStreamReader {
  /** Everything that came, in its order. */
  readonly events: StreamedEvent[] = []
  lastEventId: number | undefined
  headers: IncomingMessage["headers"] = {}
  status: number | undefined
  #response: IncomingMessage | undefined
  #rest = ""
  readonly #waiting = new Set<() => void>()
  readonly #onEvent: (event: StreamedEvent) => void
  #isEnded = false

  constructor(onEvent: (event: StreamedEvent) => void = () => {}) {
    this.#onEvent = onEvent
  }

  /** Opens a stream at `path` and reads it; returns once the head has come. */
  async open(port: number, path: string, key: string, headers: Record<string, string> = {}): Promise<this> {
    this.#isEnded = false
    this.#rest = ""
    const resume = this.lastEventId === undefined ? {} : { "last-event-id": String(this.lastEventId) }
    const response = await new Promise<IncomingMessage>((resolve, reject) => {
      const outgoing = request({
        host: "127.0.0.1",
        port,
        path,
        agent: false,
        headers: { accept: "text/event-stream", authorization: `Bearer ${key}`, ...resume, ...headers },
      })
      outgoing.once("response", resolve)
      outgoing.once("error", reject)
      outgoing.end()
    })
    this.#response = response
    this.headers = response.headers
    this.status = response.statusCode
    response.setEncoding("utf8")
    response.on("data", (text: string) => this.#read(text))
    const end = () => {
      this.#isEnded = true
      this.#wake()
    }
    response.on("end", end)
    response.on("error", end)
    response.on("close", end)
    return this
  }

  /** Waits until something holds of what has come; fails when the stream ends before. */
  async until(holds: (events: readonly StreamedEvent[]) => boolean): Promise<void> {
    while (!holds(this.events)) {
      if (this.#isEnded)
        throw new Error(`the stream ended: ${JSON.stringify(this.events.slice(-3)).slice(0, 1_000)}`)
      await this.#next()
    }
  }

  /** Waits until the stream has ended. */
  async ended(): Promise<void> {
    while (!this.#isEnded) await this.#next()
  }

  /** Whether the stream was ended by the server, and not broken off. */
  get isWhole(): boolean {
    return this.#response?.complete === true
  }

  pause(): void {
    this.#response?.pause()
  }

  resume(): void {
    this.#response?.resume()
  }

  close(): void {
    this.#response?.destroy()
  }

  #next(): Promise<void> {
    return new Promise((resolve) => {
      const done = () => {
        this.#waiting.delete(done)
        resolve()
      }
      this.#waiting.add(done)
    })
  }

  #wake(): void {
    for (const wake of this.#waiting) wake()
  }

  #read(text: string): void {
    this.#rest += text
    const blocks = this.#rest.split("\n\n")
    this.#rest = blocks.pop() ?? ""
    for (const block of blocks) this.#take(block)
    this.#wake()
  }

  #take(block: string): void {
    const fields = new Map<string, string>()
    for (const line of block.split("\n")) {
      const [, name = "", value = ""] = /^([^:]*): ?(.*)$/.exec(line) ?? []
      fields.set(name, value)
    }
    const id = fields.get("id")
    if (id !== undefined) this.lastEventId = Number(id)
    const data = fields.get("data")
    if (data === undefined) return
    const event = {
      id: this.lastEventId ?? -1,
      event: fields.get("event") ?? "message",
      data: JSON.parse(data) as unknown,
    }
    this.events.push(event)
    this.#onEvent(event)
  }
}
