/**
 * The catalogues as MCP over Streamable HTTP, in both protocol eras: each request gets a server of its own for the
 * caller, and what has to last is a stream of updates. In the older form a session has one, in the newer each request
 * to listen.
 */

import {
  type CreateMcpHandlerOptions,
  createMcpHandler,
  type McpHttpHandler,
} from "@modelcontextprotocol/server"
import { UPDATE_STREAMS_MAX } from "../config/subscription-limits.ts"
import { AppError } from "../errors.ts"
import type { App } from "../operations/app.ts"
import type { CallContext } from "../operations/operation.ts"
import { ResourceWatch } from "../resources/watch.ts"
import { HttpListening } from "./http-listening.ts"
import { HttpSessions } from "./http-sessions.ts"
import { createServer, type ServerParts } from "./server.ts"

interface McpOverHttp {
  /** Answers a request of a caller whose key was checked before. */
  answer(call: CallContext, request: Request): Promise<Response>
  /** Ends all streams of updates, for good. */
  endStreams(): Promise<void>
  /** Ends what is still being answered. */
  close(): Promise<void>
}

const SESSION_HEADER = "Mcp-Session-Id"

/** Makes the handler of one listener. */
export function createMcpOverHttp(app: App, parts: Omit<ServerParts, "call" | "subscriptions">): McpOverHttp {
  const { log } = parts
  const watch = new ResourceWatch(app, parts.resources)
  const sessions = new HttpSessions(watch)
  const makeHandler = (options: CreateMcpHandlerOptions) =>
    createMcpHandler(
      ({ authInfo }) => {
        const { call, session } = (authInfo?.extra ?? {}) as { call?: CallContext; session?: string }
        if (call === undefined) throw new Error("an MCP request came without its caller")
        const subscriptions = session === undefined ? undefined : sessions.subscriptionsOf(call, session)
        return createServer({ ...parts, call: async () => call, subscriptions })
      },
      { ...options, onerror: ({ message }) => log.debug("an MCP request was refused", { reason: message }) },
    )
  const handler = makeHandler({})
  const listening = new HttpListening(watch, log, makeHandler)
  let isEnding = false
  const requireRoom = (...one: Parameters<HttpSessions["openCountBeside"]>) => {
    if (isEnding || sessions.openCountBeside(...one) + listening.openCount >= UPDATE_STREAMS_MAX)
      throw tooManyStreams()
  }

  return {
    async answer(call, request) {
      const session = sessionIn(request.headers)
      if (request.method !== "POST") {
        if (session === undefined) return withoutSession(request.headers)
        if (request.method === "DELETE") {
          await sessions.end(call, session)
          return new Response(null, { status: 204 })
        }
        requireRoom(call, session)
        return sessions.open(call, session)
      }
      const parsedBody = await parsed(request)
      // Both eras pass this on as it is; the key was checked in front, and its text goes no further.
      const authInfo = {
        token: "",
        clientId: call.caller.session ?? "",
        scopes: [],
        extra: { call, session },
      }
      const serve = (by: McpHttpHandler) =>
        by.fetch(request, { authInfo, ...(parsedBody !== undefined && { parsedBody }) })
      const { method } = (parsedBody ?? {}) as { method?: unknown }
      if (method === "subscriptions/listen") {
        requireRoom()
        return listening.answer(call, parsedBody as object, serve)
      }
      const response = await serve(handler)
      if (method === "initialize" && response.ok)
        response.headers.set(SESSION_HEADER, Buffer.from(app.randomBytes(16)).toString("hex"))
      return response
    },
    async endStreams() {
      isEnding = true
      sessions.close()
      await listening.close()
    },
    close: () => handler.close(),
  }
}

function tooManyStreams(): AppError {
  return new AppError("unavailable", `at most ${UPDATE_STREAMS_MAX} streams of updates are open at once`, {
    hint: "Try again in a minute.",
    retryAfterSeconds: 60,
  })
}

/** Returns the session that a request names, if it is of the form that we give. */
function sessionIn(headers: Headers): string | undefined {
  const named = headers.get(SESSION_HEADER) ?? ""
  return /^[0-9a-f]{32}$/.test(named) ? named : undefined
}

/** Who has no session has nothing to listen to or to end; who names one that is none of ours is to begin a new one. */
function withoutSession(headers: Headers): Response {
  const isNamed = headers.has(SESSION_HEADER)
  const message = isNamed
    ? `${SESSION_HEADER} names no session; send initialize to begin one`
    : `only a session can do that; send the header ${SESSION_HEADER}`
  const error = { jsonrpc: "2.0", id: null, error: { code: -32_000, message } }
  return Response.json(error, isNamed ? { status: 404 } : { status: 405, headers: { Allow: "POST" } })
}

/** Returns a body as JSON; undefined where it is none, which the SDK tells. */
async function parsed(request: Request): Promise<unknown> {
  try {
    return JSON.parse(await request.clone().text())
  } catch {
    return undefined
  }
}
