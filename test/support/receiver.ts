/** A receiver of webhooks for tests: a real server on this machine, which keeps what it got. */

import { createServer, type IncomingMessage, type RequestListener, type ServerResponse } from "node:http"
import type { AddressInfo } from "node:net"
import { onTestFinished } from "vitest"

export interface Received {
  path: string
  headers: Record<string, string>
  body: string
  json: Record<string, unknown> & { type: string; data: Record<string, unknown> }
}

export interface Receiver {
  url: string
  port: number
  received: Received[]
  /** How it answers; with 204 unless set. */
  answer: (response: ServerResponse, request: IncomingMessage) => void
  /** Resolves once so many have come in. */
  until(count: number): Promise<void>
}

/** Starts a receiver, until the test ends. */
export async function receiver(): Promise<Receiver> {
  const waiting: { count: number; done: () => void }[] = []
  const made: Receiver = {
    url: "",
    port: 0,
    received: [],
    answer: (response) => response.writeHead(204).end(),
    until: (count) =>
      new Promise((done) => {
        if (made.received.length >= count) done()
        else waiting.push({ count, done })
      }),
  }
  const listener: RequestListener = async (request, response) => {
    let body = ""
    for await (const part of request) body += String(part)
    made.received.push({
      path: request.url ?? "",
      headers: request.headers as Record<string, string>,
      body,
      json: JSON.parse(body) as Received["json"],
    })
    made.answer(response, request)
    for (const { count, done } of waiting) if (made.received.length >= count) done()
  }
  const server = createServer(listener)
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done))
  made.port = (server.address() as AddressInfo).port
  made.url = `http://127.0.0.1:${made.port}/hook`
  onTestFinished(async () => {
    server.closeAllConnections()
    await new Promise((done) => server.close(done))
  })
  return made
}
