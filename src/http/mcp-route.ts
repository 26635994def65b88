/**
 * MCP over HTTP as a route: whose call it is comes from the key, and what speaks the protocol from
 * outside this folder.
 */

import type { Call } from "../operations/caller.ts"
import { inCallersSession } from "./caller-session.ts"
import { requireShallowJson } from "./request-input.ts"
import type { RawRoute } from "./route.ts"

type AnswerMcp = (call: Call, request: Request) => Promise<Response>

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
      return answer(await inCallersSession(context, headers), read)
    },
  }
}
