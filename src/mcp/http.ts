/**
 * The catalogues as MCP over Streamable HTTP, stateless in both protocol eras: each request gets a server
 * of its own for the caller.
 */

import { createMcpHandler } from "@modelcontextprotocol/server"
import type { Call } from "../operations/caller.ts"
import { createServer, type ServerParts } from "./server.ts"

interface McpOverHttp {
  /** Answers a request of a caller whose key was checked before. */
  answer(call: Call, request: Request): Promise<Response>
  /** Ends what is still being answered. */
  close(): Promise<void>
}

/** Makes the handler of one listener. */
export function createMcpOverHttp(parts: Omit<ServerParts, "call">): McpOverHttp {
  const handler = createMcpHandler(
    ({ authInfo }) => {
      const call = authInfo?.extra?.call as Call | undefined
      if (call === undefined) throw new Error("an MCP request came without its caller")
      return createServer({ ...parts, call: async () => call })
    },
    { onerror: ({ message }) => parts.log.debug("an MCP request was refused", { reason: message }) },
  )
  return {
    answer: (call, request) => {
      // Both eras pass this on as it is; the key was checked in front, and its text goes no further.
      const authInfo = { token: "", clientId: call.caller.session ?? "", scopes: [], extra: { call } }
      return handler.fetch(request, { authInfo })
    },
    close: () => handler.close(),
  }
}
