/** The HTTP app on a socket of this machine: Node's own server, with its time-outs, under Hono. */

import { createServer, type Server, type ServerResponse } from "node:http"
import type { AddressInfo, Socket } from "node:net"
import { getRequestListener, type HttpBindings } from "@hono/node-server"
import {
  CONNECTION_IDLE_MS_MAX,
  CONNECTION_STALLED_MS_MAX,
  CONNECTIONS_MAX,
  LISTENER_DRAIN_MS_MAX,
  REQUEST_HEADERS_MS_MAX,
  REQUEST_MS_MAX,
} from "../config/limits.ts"
import { PROOF_HEADER } from "../hook/proven-call.ts"
import type { Log } from "../runtime/log.ts"
import type { HttpApp } from "./app.ts"
import { type Failure, titleOf } from "./failure.ts"

/** How often Node looks for requests that take too long. */
const CONNECTIONS_CHECK_MS = 500

/** Times that tests shorten. */
export interface ServerTimes {
  headersMs?: number
  requestMs?: number
}

export class HttpServer {
  readonly port: number
  readonly #server: Server
  readonly #http: HttpApp

  private constructor(server: Server, makeHttp: (port: number) => HttpApp) {
    this.#server = server
    this.port = (server.address() as AddressInfo).port
    this.#http = makeHttp(this.port)
  }

  /**
   * Listens on 127.0.0.1 at `port`, 0 for any; fails with the system's error. Neither the server nor its
   * connections keep the process alive. `makeHttp` gets the port that it is.
   */
  static async listen(
    port: number,
    makeHttp: (port: number) => HttpApp,
    log: Log,
    times: ServerTimes = {},
  ): Promise<HttpServer> {
    const server = createServer({
      headersTimeout: times.headersMs ?? REQUEST_HEADERS_MS_MAX,
      requestTimeout: times.requestMs ?? REQUEST_MS_MAX,
      keepAliveTimeout: CONNECTION_IDLE_MS_MAX,
      connectionsCheckingInterval: CONNECTIONS_CHECK_MS,
      // The guard refuses what has no Host, with the headers that every response carries.
      requireHostHeader: false,
    })
    // A client that neither reads nor writes must not keep its answers in memory.
    server.setTimeout(CONNECTION_STALLED_MS_MAX)
    server.maxConnections = CONNECTIONS_MAX
    server.unref()
    server.on("connection", (socket) => socket.unref())
    await new Promise<void>((resolve, reject) => {
      server.once("error", reject)
      server.listen({ port, host: "127.0.0.1" }, () => {
        server.off("error", reject)
        resolve()
      })
    })
    const listening = new HttpServer(server, makeHttp)
    serve(server, listening.#http, log)
    return listening
  }

  /** Stops accepting, answers what is in flight, for a second at most, and closes every connection. */
  async close(): Promise<void> {
    const closed = new Promise<void>((resolve) => this.#server.close(() => resolve()))
    this.#http.end()
    // This timer keeps the process alive, which nothing else here does, until all is answered.
    const timer = setTimeout(() => this.#server.closeAllConnections(), LISTENER_DRAIN_MS_MAX)
    await closed
    clearTimeout(timer)
  }
}

function serve(server: Server, http: HttpApp, log: Log): void {
  const answer = getRequestListener((request, bindings) => http.fetch(request, bindings as HttpBindings), {
    // What Node's globals are is not for a library to say.
    overrideGlobalObjects: false,
    hostname: "127.0.0.1",
    errorHandler: () => http.refuse({ status: 400, message: "the Host header or the target is malformed" }),
  })
  /** The last answer begun on each connection. */
  const answers = new WeakMap<Socket, ServerResponse>()
  server.on("error", (error) => log.warn("the listener failed", { error }))
  for (const event of ["request", "checkExpectation"] as const) {
    server.on(event, (incoming, outgoing) => {
      answers.set(incoming.socket, outgoing)
      void answer(incoming, outgoing)
    })
  }
  // curl makes one request of a connection, so that for it the proof comes before the body, not the call.
  server.on("checkContinue", (incoming, outgoing) => {
    answers.set(incoming.socket, outgoing)
    const proof = http.proofFor(incoming)
    // Behind other requests on its connection this one has no socket yet.
    if (proof === undefined || outgoing.socket === null) outgoing.writeContinue()
    else outgoing.socket.write(`HTTP/1.1 100 Continue\r\n${PROOF_HEADER}: ${proof}\r\n\r\n`)
    void answer(incoming, outgoing)
  })
  server.on("clientError", (error: NodeJS.ErrnoException, stream) => {
    const socket = stream as Socket
    const begun = answers.get(socket)
    const isAnswered = begun?.headersSent === true && !begun.writableFinished
    if (isAnswered || !socket.writable || error.code === "ECONNRESET") socket.destroy()
    else void refuse(socket, http, failureOfClient(error.code))
  })
}

/** Answers on the bare connection what Node could not read as a request, or what took too long. */
async function refuse(socket: Socket, http: HttpApp, failure: Failure): Promise<void> {
  const response = await http.refuse(failure)
  const body = await response.text()
  const head = [
    `HTTP/1.1 ${response.status} ${titleOf(response.status)}`,
    ...[...response.headers].map(([name, value]) => `${name}: ${value}`),
    `content-length: ${Buffer.byteLength(body)}`,
    "connection: close",
  ]
  socket.end(`${head.join("\r\n")}\r\n\r\n${body}`, () => socket.destroy())
}

function failureOfClient(code: string | undefined): Failure {
  if (code === "ERR_HTTP_REQUEST_TIMEOUT")
    return { status: 408, message: "the request took too long to arrive" }
  if (code === "HPE_HEADER_OVERFLOW") return { status: 431, message: "the headers are too large" }
  return { status: 400, message: "that is no HTTP request" }
}
