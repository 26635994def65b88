/** A client over HTTP whose one connection is kept. */

import { once } from "node:events"
import { Agent, type IncomingMessage, request } from "node:http"

export class KeptClient {
  readonly #agent = new Agent({ keepAlive: true, maxSockets: 1 })
  readonly #base: string
  readonly #headers: Record<string, string>

  /** `headers` are sent besides the token and the type of the body. */
  constructor(base: string, token: string, headers: Record<string, string> = {}) {
    this.#base = base
    this.#headers = { Authorization: `Bearer ${token}`, "Content-Type": "application/json", ...headers }
  }

  /** Sends a request below the base and reads the whole answer; fails unless it is a success. */
  async ask<Answer>(method: string, path: string, body?: object): Promise<Answer> {
    const asked = request(`${this.#base}${path}`, { method, headers: this.#headers, agent: this.#agent })
    asked.end(body === undefined ? undefined : JSON.stringify(body))
    const [response] = (await once(asked, "response")) as [IncomingMessage]
    let text = ""
    for await (const part of response.setEncoding("utf8")) text += part
    const status = response.statusCode ?? 0
    if (status < 200 || status > 299) throw new Error(`${method} ${path}: ${status} ${text}`)
    return JSON.parse(text) as Answer
  }

  close(): void {
    this.#agent.destroy()
  }
}
