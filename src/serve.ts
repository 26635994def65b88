/**
 * The listener put together: routes, MCP and the life of the port. Here alone the two outer layers meet;
 * it is loaded when a listener starts, never before.
 */

import type { HttpApp } from "./http/app.ts"
import { createHttpApp } from "./http/app.ts"
import { productRoutes, withPublicRoutes } from "./http/index.ts"
import { type ListenerState, startListener as listen } from "./http/listener.ts"
import { mcpRoute } from "./http/mcp-route.ts"
import { createMcpOverHttp } from "./mcp/http.ts"
import { serverInstructions } from "./mcp/instructions.ts"
import type { App } from "./operations/app.ts"
import { startEmbeddingWorker } from "./operations/embedding-worker.ts"
import { OPERATIONS } from "./operations/index.ts"
import { startIndexingWorker } from "./operations/indexing-worker.ts"
import { packageFile, packageVersion } from "./package-root.ts"
import { RESOURCES } from "./resources/index.ts"

/** What brings documentation up to date and then ends. */
const INDEXING_COMMAND = [process.execPath, packageFile("bin/signalbox.js"), "repos", "sync", "--background"]

/**
 * Starts what listens for HTTP on this machine, or stands by while another process does. Closing it
 * answers what was accepted, for a second at most.
 */
export function startListener(
  app: App,
  onState?: (state: ListenerState) => void,
): { close(): Promise<void> } {
  const served = servedHttp(app)
  let workers: { close(): Promise<void> }[] | undefined
  const listener = listen({
    app,
    makeHttp: served.makeHttp,
    onState(state) {
      // Of all processes on a database one is enough for the work behind, and the listener is one.
      if (state.is === "listening")
        workers ??= [startEmbeddingWorker(app), startIndexingWorker(app, INDEXING_COMMAND)]
      onState?.(state)
    },
  })
  return {
    async close() {
      await listener.close()
      for (const worker of workers ?? []) await worker.close()
      await served.close()
    },
  }
}

/** Returns everything that a listener serves, for any URL that it may get. */
export function servedHttp(app: App): {
  makeHttp(url: string, onRefusedKey: () => void): HttpApp
  close(): Promise<void>
} {
  const version = packageVersion()
  const mcp = createMcpOverHttp({
    operations: OPERATIONS,
    resources: RESOURCES,
    instructions: serverInstructions({}),
    version,
    log: app.log,
  })
  const routes = [...productRoutes(), mcpRoute(mcp.answer)]
  return {
    makeHttp: (url, onRefusedKey) =>
      createHttpApp({ app, routes: withPublicRoutes(routes, url, version), onRefusedKey }),
    close: mcp.close,
  }
}
