/**
 * The listener's HTTP: guards, finds the route, checks the key, counts, checks the input, runs, and gives
 * every response its headers.
 */

import type { IncomingMessage } from "node:http"
import type { HttpBindings } from "@hono/node-server"
import { type Context, Hono } from "hono"
import { BODY_BYTES_MAX } from "../config/limits.ts"
import type { ApiKey } from "../domain/api-key.ts"
import type { ApiName, Counted, RateState } from "../domain/plan-limits.ts"
import { resetSecond } from "../domain/plan-limits.ts"
import { AppError } from "../errors.ts"
import { HOOK_PATH } from "../hook/wire.ts"
import { admit, requirePermission } from "../operations/admission.ts"
import type { App } from "../operations/app.ts"
import type { Caller } from "../operations/caller.ts"
import { authenticateBearer, findBearer, localKey } from "../operations/keys.ts"
import { rateStateOf } from "../operations/rate-limits.ts"
import { inCallersSession } from "./caller-session.ts"
import { endEventStreams } from "./events/stream.ts"
import { type Failure, failureBody, failureOf, HttpFailure } from "./failure.ts"
import { guardRequest, type RequestFacts, tooLarge } from "./guard.ts"
import { bearsHookToken, type HookPass } from "./hook-pass.ts"
import { checkBody, checkHeaders, checkParameters, checkQuery } from "./request-input.ts"
import type { AnyRoute, RawRoute, Route } from "./route.ts"

interface Env {
  Bindings: HttpBindings
  Variables: { key: ApiKey; route: AnyRoute }
}
type Call = Context<Env>

export interface HttpApp {
  /** Answers a request that Node's server has read; never fails. */
  fetch(request: Request, bindings: HttpBindings): Response | Promise<Response>
  /** Returns the proof to show before a body is sent, where the head bears the hook token and asks the hook. */
  proofFor(head: IncomingMessage): string | undefined
  /** Answers what never became a request. */
  refuse(failure: Failure): Promise<Response>
  /** Ends the answers that would go on for ever. */
  end(): void
}

interface HttpAppOptions {
  app: App
  routes: readonly AnyRoute[]
  /** Called when a key was refused: the local key may have been replaced. */
  onRefusedKey?: () => void
  /** What the hook is known by; without one no token but a key opens anything. */
  hookPass?: HookPass
}

/** Mounts routes on an app. */
export function createHttpApp({ app, routes, onRefusedKey, hookPass }: HttpAppOptions): HttpApp {
  // A trailing slash names the same.
  const hono = new Hono<Env>({ strict: false })
  hono.use(async (call, next) => {
    await next()
    const key = call.get("key") ?? (await keyNamed(app, call.req.header("authorization")))
    const headers = await commonHeaders(app, key, countedOf(apiOf(call), call.get("route")))
    for (const [name, value] of Object.entries(headers)) call.header(name, value)
    if (!call.res.headers.has("Cache-Control")) call.header("Cache-Control", "no-store")
  })
  hono.use(async (call, next) => {
    const { incoming } = call.env
    const refusal = guardRequest(factsOf(incoming), incoming.socket.localPort ?? 0, capOf(routes, call))
    if (refusal !== null) throw new HttpFailure(refusal)
    await next()
  })
  // A path without parameters wins over another that matches too.
  const ordered = [...routes].sort((one, other) => parameterCount(one) - parameterCount(other))
  for (const path of new Set(ordered.map((route) => route.path))) {
    const atPath = ordered.filter((route) => route.path === path)
    for (const route of atPath) hono.on(route.method, path, (call) => answer(app, route, call, hookPass))
    const allowed = atPath.flatMap(({ method }) => (method === "GET" ? ["GET", "HEAD"] : [method])).join(", ")
    hono.all(path, (call) => {
      const message = `${call.req.method} is not possible here; allowed: ${allowed}`
      throw new HttpFailure({ status: 405, message, headers: { Allow: allowed } })
    })
  }
  hono.notFound((call) => {
    const message = `${call.req.path} does not exist; /openapi.json lists what does`
    return failed(apiOf(call), { status: 404, message })
  })
  hono.onError((error, call) => {
    const route = call.get("route")
    const where = `${call.req.method} ${route?.path ?? "before any route"}`
    const failure = failureOf(error, app.log, where, invalidStatusOf(route))
    if (failure.status === 401) onRefusedKey?.()
    return failed(apiOf(call), withChallenge(failure, call.req.raw.headers))
  })
  return {
    fetch: (request, bindings) => hono.fetch(request, bindings),
    proofFor({ method, url, headers }) {
      const isHook = method === "POST" && url === HOOK_PATH
      return isHook && hookPass !== undefined && bearsHookToken(headers.authorization, hookPass)
        ? hookPass.proof
        : undefined
    },
    refuse: async (failure) => {
      const response = failed("coordination", failure)
      const headers = await commonHeaders(app, undefined, "tool_calls")
      for (const [name, value] of Object.entries(headers)) response.headers.set(name, value)
      return response
    },
    end: () => endEventStreams(app),
  }
}

async function answer(
  app: App,
  route: AnyRoute,
  call: Call,
  hookPass: HookPass | undefined,
): Promise<Response> {
  call.set("route", route)
  if ("answer" in route) return jsonResponse(route.answer())
  const key = await keyOf(app, route, call.req.header("authorization"), hookPass)
  call.set("key", key)
  const counts = route.isLimited ? [countedOf(route.api, route)] : []
  const context = await admit({ app, caller: callerWith(key) }, { counts })
  const body = await readBody(call.req.raw, route.bodyBytesMax ?? BODY_BYTES_MAX)
  if ("handle" in route) {
    requirePermission(key, route.permission)
    return route.handle(context, withBody(call, route, body))
  }
  const input = inputOf(call, route, body)
  // What is wrong with a request is told before what its key is not for.
  requirePermission(key, route.permission)
  const answered = await route.run(await inCallersSession(context, call.req.raw.headers), input)
  return answered.response ?? jsonResponse(answered)
}

/** Returns the key that a call is made with: for the hook token the local one. */
async function keyOf(
  app: App,
  { hookToken }: AnyRoute,
  authorization: string | undefined,
  hookPass: HookPass | undefined,
): Promise<ApiKey> {
  const isHook = hookToken !== undefined && hookPass !== undefined && bearsHookToken(authorization, hookPass)
  if (isHook) return localKey(app)
  const key = await authenticateBearer(app, authorization ?? null)
  if (hookToken !== "alone") return key
  throw new HttpFailure({ status: 401, message: "only the token in this listener's files opens this" })
}

/** Returns the valid key of a call that was refused before its key was asked for, whose figures its response tells. */
async function keyNamed(app: App, authorization: string | undefined): Promise<ApiKey | undefined> {
  try {
    return await findBearer(app, authorization ?? null)
  } catch (error) {
    // The response is ready, whatever the key is.
    if (!(error instanceof AppError)) app.log.error("the key cannot be read", { error })
    return undefined
  }
}

/** A caller over HTTP is on any machine: no folder is around it, and its session is the key's. */
function callerWith(key: ApiKey): Caller {
  return { surface: "http", key, session: undefined, folder: undefined, homeRepository: undefined }
}

function inputOf(call: Call, route: Route, body: Uint8Array) {
  return {
    headers: checkHeaders(route, call.req.raw.headers),
    parameters: checkParameters(route, call.req.param()),
    query: checkQuery(route, new URL(call.req.url).searchParams),
    body: checkBody(route, body),
    isHead: call.req.method === "HEAD",
  }
}

function withBody(call: Call, route: RawRoute, bytes: Uint8Array<ArrayBuffer>): Request {
  const { headers, signal } = call.req.raw
  const body = route.method === "GET" ? null : bytes
  return new Request(call.req.url, { method: call.req.method, headers, signal, body })
}

/** Reads a body whole; fails with 413 beyond the cap, also when its size was not declared. */
async function readBody(request: Request, bytesMax: number): Promise<Uint8Array<ArrayBuffer>> {
  if (request.method === "GET" || request.method === "HEAD") return new Uint8Array()
  const chunks: Uint8Array[] = []
  let bytes = 0
  try {
    // The guard has seen a declared size, and Node's server holds a client to it.
    if (request.headers.has("content-length")) return new Uint8Array(await request.arrayBuffer())
    for await (const chunk of request.body ?? []) {
      bytes += chunk.length
      if (bytes > bytesMax) break
      chunks.push(chunk)
    }
  } catch {
    // Only the client can have ended it.
    throw new HttpFailure({ status: 400, message: "the body was cut off" })
  }
  if (bytes > bytesMax) throw new HttpFailure(tooLarge(bytesMax))
  return new Uint8Array(Buffer.concat(chunks))
}

function factsOf({ method = "GET", url = "", headers }: HttpBindings["incoming"]): RequestFacts {
  return {
    method,
    target: url,
    host: headers.host,
    origin: headers.origin,
    secFetchSite: headers["sec-fetch-site"]?.toString(),
    contentType: headers["content-type"],
    contentLength: headers["content-length"],
    isChunked: headers["transfer-encoding"] !== undefined,
  }
}

function capOf(routes: readonly AnyRoute[], { req }: Call): number {
  const asked = req.path.replace(/\/$/, "")
  const route = routes.find(({ path, method }) => path === asked && method === req.method)
  return route?.bodyBytesMax ?? BODY_BYTES_MAX
}

function parameterCount({ path }: AnyRoute): number {
  return path.split("/").filter((segment) => segment.startsWith(":")).length
}

function jsonResponse({ status, body }: { status: number; body?: unknown }): Response {
  return body === undefined ? new Response(null, { status }) : Response.json(body, { status })
}

/** Tells how to authenticate (RFC 6750, section 3): with an error only when a token was given. */
function withChallenge(failure: Failure, headers: Headers): Failure {
  if (failure.status !== 401) return failure
  const error = headers.has("authorization") ? ', error="invalid_token"' : ""
  return {
    ...failure,
    headers: { ...failure.headers, "WWW-Authenticate": `Bearer realm="signalbox"${error}` },
  }
}

function failed(api: ApiName, failure: Failure): Response {
  const headers = new Headers(failure.headers)
  if (failure.retryAfterSeconds !== undefined) headers.set("Retry-After", String(failure.retryAfterSeconds))
  return Response.json(failureBody(api, failure), { status: failure.status, headers })
}

/** Returns the headers that every response carries. */
async function commonHeaders(
  app: App,
  key: ApiKey | undefined,
  kind: Counted,
): Promise<Record<string, string>> {
  const state = await stateOf(app, key, kind)
  return {
    "X-RateLimit-Limit": String(state.limit),
    "X-RateLimit-Remaining": String(state.remaining),
    "X-RateLimit-Reset": String(resetSecond(state, app.now())),
    "X-Content-Type-Options": "nosniff",
  }
}

/** A database that fails must not keep a response back that is ready. */
async function stateOf(app: App, key: ApiKey | undefined, kind: Counted): Promise<RateState> {
  try {
    return await rateStateOf(app, key, kind)
  } catch (error) {
    if (!(error instanceof AppError)) app.log.error("the rate limits cannot be read", { error })
    return rateStateOf(app, undefined, kind)
  }
}

function invalidStatusOf(route: AnyRoute | undefined): 400 | 422 {
  return route !== undefined && "run" in route ? route.invalidBodyStatus : 400
}

/** What a call counts as; what is not counted tells of tool calls, of which most are made over MCP. */
function countedOf(api: ApiName, route: AnyRoute | undefined): Counted {
  if (api !== "coordination") return api
  return route?.isLimited === true ? "reservations" : "tool_calls"
}

/** The API that a call belongs to, also where no route is. */
function apiOf(call: Call): ApiName {
  const route = call.get("route")
  if (route !== undefined) return route.api
  if (/^\/api\/v1\/memories(\/|$)/.test(call.req.path)) return "memory"
  if (/^\/api\/v1\/documentation(\/|$)/.test(call.req.path)) return "documentation"
  return "coordination"
}
