/**
 * The catalogues as MCP over Streamable HTTP, stateless in both protocol eras: each request gets a server
 * of its own with the app of whoever called.
 */

import { createMcpHandler } from "@modelcontextprotocol/server"
import type { App } from "../operations/app.ts"
import { createServer, type ServerParts } from "./server.ts"

export interface McpOverHttp {
  /** Answers a request on behalf of an app; who may call was checked before. */
  answer(app: App, request: Request): Promise<Response>
  /** Ends what is still being answered. */
  close(): Promise<void>
}

/** Makes the handler of one listener. */
export function createMcpOverHttp(parts: Omit<ServerParts, "app">): McpOverHttp {
  const handler = createMcpHandler(
    ({ authInfo }) => {
      const app = authInfo?.extra?.app as App | undefined
      if (app === undefined) throw new Error("an MCP request came without its caller")
      return createServer({ ...parts, app: async () => app })
    },
    { onerror: ({ message }) => parts.log.debug("an MCP request was refused", { reason: message }) },
  )
  return {
    answer: (app, request) => {
      // Both eras pass this on as it is; the key was checked in front.
      const authInfo = { token: app.config.apiKey ?? "", clientId: app.session, scopes: [], extra: { app } }
      return handler.fetch(request, { authInfo })
    },
    close: () => handler.close(),
  }
}
