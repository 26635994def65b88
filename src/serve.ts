/**
 * The listener put together: routes, MCP and the life of the port. Here alone the two outer layers meet;
 * it is loaded when a listener starts, never before.
 */

import { serverInstructions } from "./config/instructions.ts"
import type { HttpApp } from "./http/app.ts"
import { createHttpApp } from "./http/app.ts"
import { greetingRoute, makeHookPass } from "./http/hook-pass.ts"
import { productRoutes, withPublicRoutes } from "./http/index.ts"
import { type ListenerState, startListener as listen, type Served } from "./http/listener.ts"
import { mcpRoutes } from "./http/mcp-route.ts"
import { createMcpOverHttp } from "./mcp/http.ts"
import type { App } from "./operations/app.ts"
import { startDeadSessionWatch } from "./operations/coordination/dead-sessions.ts"
import { startExpiryWatch } from "./operations/coordination/expiry.ts"
import { startIndexingWatch } from "./operations/documentation/indexing-watch.ts"
import { startEmbeddingWorker } from "./operations/embedding/worker.ts"
import { startEventPruning } from "./operations/events/pruning.ts"
import { OPERATIONS } from "./operations/index.ts"
import { startUpkeepWatch } from "./operations/upkeep.ts"
import { startWebhookDelivery } from "./operations/webhooks/delivery.ts"
import { RESOURCES } from "./resources/index.ts"
import { packageVersion } from "./runtime/package-root.ts"

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
  let delivery: { close(): Promise<void> } | undefined
  const listener = listen({
    app,
    makeHttp: served.makeHttp,
    onState(state) {
      // Of all processes on a database one is enough for the background work, and the listener is one.
      if (state.is === "listening") {
        delivery ??= startWebhookDelivery(app)
        workers ??= [
          delivery,
          startEmbeddingWorker(app),
          startDeadSessionWatch(app),
          startExpiryWatch(app),
          startUpkeepWatch(app),
          startEventPruning(app),
          ...(app.indexer === undefined ? [] : [startIndexingWatch(app, app.indexer)]),
        ]
      }
      onState?.(state)
    },
  })
  return {
    async close() {
      // First of all: the next listener delivers too.
      await delivery?.close()
      await served.endStreams()
      await listener.close()
      for (const worker of workers ?? []) await worker.close()
      await served.close()
    },
  }
}

/** Returns everything that a listener serves, for any URL that it may get; what is not given is of no use to others. */
export function servedHttp(app: App): {
  makeHttp(served: Pick<Served, "url"> & Partial<Served>): HttpApp
  /** Ends what would go on without end. */
  endStreams(): Promise<void>
  close(): Promise<void>
} {
  const version = packageVersion()
  const mcp = createMcpOverHttp(app, {
    operations: OPERATIONS,
    resources: RESOURCES,
    instructions: serverInstructions({}),
    version,
    log: app.log,
  })
  const routes = [...productRoutes(), ...mcpRoutes(mcp.answer)]
  return {
    makeHttp: ({ url, hookPass = makeHookPass(app.randomBytes), onRefusedKey }) =>
      createHttpApp({
        app,
        routes: withPublicRoutes([...routes, greetingRoute(hookPass)], url, version),
        hookPass,
        ...(onRefusedKey && { onRefusedKey }),
      }),
    endStreams: mcp.endStreams,
    close: mcp.close,
  }
}
