/** The routes that the listener serves, in the order of the OpenAPI document. */

import { hookRoute } from "./coordination/hook.ts"
import { coordinationRoutes } from "./coordination/reservations.ts"
import { documentationRoutes } from "./documentation/documentation.ts"
import { eventRoutes } from "./events/events.ts"
import { memoryListRoutes } from "./memory/lists.ts"
import { memoryRoutes } from "./memory/memories.ts"
import { openApiDocument } from "./openapi.ts"
import type { AnyRoute, PublicRoute } from "./route.ts"
import { webhookRoutes } from "./webhooks/webhooks.ts"

/** Returns the routes of the product's own APIs, for one listener. */
export function productRoutes(): AnyRoute[] {
  return [
    ...documentationRoutes,
    ...memoryRoutes,
    ...memoryListRoutes,
    ...coordinationRoutes,
    ...eventRoutes(),
    ...webhookRoutes,
    hookRoute,
  ]
}

/**
 * Returns routes together with those that everybody may ask: whether the listener is well, and the
 * document that describes all of them at `url`.
 */
export function withPublicRoutes(routes: readonly AnyRoute[], url: string, version: string): AnyRoute[] {
  const all: AnyRoute[] = [...routes, HEALTH]
  const document: PublicRoute = {
    method: "GET",
    path: "/openapi.json",
    api: "coordination",
    summary: "This document",
    isLimited: false,
    responses: { 200: { description: "The OpenAPI document." } },
    answer: () => ({ status: 200, body: openApiDocument(all, url, version) }),
  }
  all.push(document)
  return all
}

const HEALTH: PublicRoute = {
  method: "GET",
  path: "/healthz",
  api: "coordination",
  summary: "Whether the listener is well",
  isLimited: false,
  responses: { 200: { description: "It is." } },
  answer: () => ({ status: 200, body: { status: "ok" } }),
}
