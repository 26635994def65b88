/** The listener's HTTP for tests: a real server on a port of its own in front of a session's app. */

import { type IncomingHttpHeaders, type OutgoingHttpHeaders, request } from "node:http"
import { expect, onTestFinished } from "vitest"
import type { HttpApp } from "../../src/http/app.ts"
import { createHttpApp } from "../../src/http/app.ts"
import { withPublicRoutes } from "../../src/http/index.ts"
import type { AnyRoute } from "../../src/http/route.ts"
import { HttpServer, type ServerTimes } from "../../src/http/server.ts"
import { createKey, type KeyRequest, localKeyText } from "../../src/operations/keys.ts"
import type { Session } from "./world.ts"

export interface HttpReply {
  status: number
  headers: IncomingHttpHeaders
  text: string
  /** The body as JSON; undefined when it is none. */
  json: unknown
}

interface HttpRequestOptions {
  method?: string
  headers?: OutgoingHttpHeaders
  /** An object becomes JSON; a string or bytes are sent as they are, several as chunks of undeclared size. */
  body?: object | string | Buffer | Buffer[]
  /** The bearer; the local key unless given, null for none. */
  key?: string | null
}

export interface HttpOptions {
  routes?: readonly AnyRoute[]
  times?: ServerTimes
  onRefusedKey?: () => void
  /** What serves in the place of `routes`. */
  makeHttp?: (url: string) => HttpApp
}

export class HttpEntry {
  readonly session: Session
  readonly port: number
  readonly localKey: string
  readonly server: HttpServer

  constructor(session: Session, server: HttpServer, localKey: string) {
    this.session = session
    this.server = server
    this.port = server.port
    this.localKey = localKey
  }

  get url(): string {
    return `http://127.0.0.1:${this.port}`
  }

  /** Sends one request on a connection of its own and reads the whole response. */
  send(path: string, options: HttpRequestOptions = {}): Promise<HttpReply> {
    const { key = this.localKey, body } = options
    const method = options.method ?? (body === undefined ? "GET" : "POST")
    const headers: OutgoingHttpHeaders = { host: `127.0.0.1:${this.port}` }
    if (key !== null) headers.authorization = `Bearer ${key}`
    if (body !== undefined) headers["content-type"] = "application/json"
    return sendTo(this.port, path, method, { ...headers, ...options.headers }, body)
  }

  /** Makes a key; all that is not given is harmless. */
  async key(request: Partial<KeyRequest> = {}): Promise<{ id: number; text: string }> {
    const whole = {
      name: "test",
      environment: "live",
      scopes: ["*"],
      plan: "starter",
      expiresAtMs: null,
    } as const
    const { key, text } = await createKey(this.session.app, {
      ...whole,
      ...request,
      scopes: request.scopes ?? ["*"],
    })
    return { id: key.id, text }
  }
}

/** Serves a session's app over HTTP until the test ends. */
export async function serveHttp(session: Session, options: HttpOptions = {}): Promise<HttpEntry> {
  const { app } = session
  const makeHttp =
    options.makeHttp ??
    ((url: string) =>
      createHttpApp({
        app,
        routes: withPublicRoutes(options.routes ?? [], url, "0.0.0-test"),
        onRefusedKey: options.onRefusedKey ?? (() => {}),
      }))
  const makeAt = (port: number) => makeHttp(`http://127.0.0.1:${port}`)
  const server = await HttpServer.listen(0, makeAt, app.log, options.times)
  onTestFinished(() => server.close())
  return new HttpEntry(session, server, await localKeyText(app))
}

/** Sends one request, whatever its headers say, and reads the whole response. */
export function sendTo(
  port: number,
  path: string,
  method: string,
  headers: OutgoingHttpHeaders,
  body?: HttpRequestOptions["body"],
): Promise<HttpReply> {
  return new Promise((resolve, reject) => {
    const outgoing = request({ host: "127.0.0.1", port, path, method, headers, setHost: false, agent: false })
    outgoing.once("error", reject)
    outgoing.once("response", async (response) => {
      try {
        const text = (await response.setEncoding("utf8").toArray()).join("")
        resolve({ status: response.statusCode ?? 0, headers: response.headers, text, json: parsed(text) })
      } catch (error) {
        reject(error as Error)
      }
    })
    if (Array.isArray(body)) {
      for (const chunk of body) outgoing.write(chunk)
      outgoing.end()
    } else {
      outgoing.end(
        body === undefined || Buffer.isBuffer(body) || typeof body === "string" ? body : JSON.stringify(body),
      )
    }
  })
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** Fails the test unless a response carries what every response carries. */
export function expectCommonHeaders({ headers }: HttpReply): void {
  for (const name of ["limit", "remaining", "reset"])
    expect(headers[`x-ratelimit-${name}`], `X-RateLimit-${name}`).toMatch(/^\d+$/)
  expect(headers["x-content-type-options"]).toBe("nosniff")
  expect(Object.keys(headers).filter((name) => name.startsWith("access-control-"))).toEqual([])
}
