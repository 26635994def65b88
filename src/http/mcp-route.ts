/**
 * MCP over HTTP as a route: whose call it is comes from the key, and what speaks the protocol from
 * outside this folder.
 */

import { invalid } from "../errors.ts"
import type { App } from "../operations/app.ts"
import type { CallContext } from "../operations/operation.ts"
import { httpSession } from "../operations/sessions.ts"
import { requireShallowJson } from "./request-input.ts"
import type { RawRoute } from "./route.ts"

/** Answers one MCP request on behalf of an app's key. */
export type AnswerMcp = (app: App, request: Request) => Promise<Response>

const SESSION_HEADER = "X-Signalbox-Session"

/**
 * Returns the route `/mcp`. Calls speak for a session of their key, `http:<key id>`; a client that runs
 * several tells them apart with the header X-Signalbox-Session. No work tree is around such a client.
 */
export function mcpRoute(answer: AnswerMcp): RawRoute {
  return {
    method: "POST",
    path: "/mcp",
    api: "coordination",
    summary: "Model Context Protocol",
    description:
      "Streamable HTTP without sessions, in the revisions of 2025 and of 2026. Tool calls count against the limits of the key.",
    isLimited: false,
    responses: { 200: { description: "A JSON-RPC response, as JSON or as a stream of events." } },
    async handle(context, request) {
      const bytes = new Uint8Array(await request.arrayBuffer())
      requireShallowJson(bytes)
      const { url, method, headers, signal } = request
      const read = new Request(url, { method, headers, signal, body: bytes })
      return answer(callerOf(context, headers.get(SESSION_HEADER)), read)
    },
  }
}

function callerOf({ app, key }: CallContext, session: string | null): App {
  if (session !== null && !/^[A-Za-z0-9._:-]{1,128}$/.test(session))
    throw invalid(
      SESSION_HEADER,
      "must have 1 to 128 characters of A-Z, a-z, 0-9, dot, underscore, colon, dash",
    )
  return { ...app, session: httpSession(key.id, session ?? undefined), homeRepository: undefined }
}
