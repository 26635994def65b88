/**
 * MCP over HTTP as a route: whose call it is comes from the key, and what speaks the protocol from
 * outside this folder.
 */

import type { CallContext } from "../operations/operation.ts"
import { inCallersSession } from "./caller-session.ts"
import { requireShallowJson } from "./request-input.ts"
import type { RawRoute } from "./route.ts"

type AnswerMcp = (call: CallContext, request: Request) => Promise<Response>

/**
 * Returns the routes at `/mcp`. Calls speak for a session of their key, `http:<key id>`; a client that runs
 * several tells them apart with the header X-Signalbox-Session. No work tree is around such a client.
 */
export function mcpRoutes(answer: AnswerMcp): RawRoute[] {
  const at = {
    path: "/mcp",
    api: "coordination",
    isLimited: false,
    handle: async (context: CallContext, request: Request) =>
      answer(await inCallersSession(context, request.headers), request),
  } as const
  return [
    {
      ...at,
      method: "POST",
      summary: "Model Context Protocol over Streamable HTTP, both protocol eras",
      description:
        "Streamable HTTP in the revisions of 2025 and of 2026. Tool calls count against the limits of the key. The answer to initialize names a session (Mcp-Session-Id) that may follow resources.",
      responses: { 200: { description: "A JSON-RPC response, as JSON or as a stream of events." } },
      async handle(context, request) {
        const bytes = new Uint8Array(await request.arrayBuffer())
        requireShallowJson(bytes)
        const { url, method, headers, signal } = request
        return at.handle(context, new Request(url, { method, headers, signal, body: bytes }))
      },
    },
    {
      ...at,
      method: "GET",
      summary: "Updates of the resources that a session follows",
      description:
        "The session is named in the header Mcp-Session-Id. A newer stream takes the place of an older one.",
      responses: { 200: { description: "Server-Sent Events, each a JSON-RPC notification." } },
    },
    {
      ...at,
      method: "DELETE",
      summary: "End a session of the Model Context Protocol",
      responses: { 204: { description: "It follows nothing any more." } },
    },
  ]
}
