/** Requests to listen, of the newer protocol over HTTP: each is a stream of updates that lasts as long as it. */

import type { CreateMcpHandlerOptions, McpHttpHandler, ServerEvent } from "@modelcontextprotocol/server"
import { UPDATES_WAITING_MAX } from "../config/subscription-limits.ts"
import type { CallContext } from "../operations/operation.ts"
import type { ResourceWatch } from "../resources/watch.ts"
import type { Log } from "../runtime/log.ts"
import { endWithKey } from "./key-check.ts"
import { listenedUris } from "./listening.ts"
import { subscriptionError } from "./server.ts"
import { Subscriptions } from "./subscriptions.ts"

interface Listener {
  /** Has the SDK write to the stream; undefined until it is open. */
  tell: ((event: ServerEvent) => void) | undefined
  /** Updates that its reader has not taken yet. */
  waiting: number
  end(): Promise<void>
}

export class HttpListening {
  readonly #watch: ResourceWatch
  readonly #log: Log
  readonly #makeHandler: (options: CreateMcpHandlerOptions) => McpHttpHandler
  readonly #open = new Set<Listener>()

  constructor(
    watch: ResourceWatch,
    log: Log,
    makeHandler: (options: CreateMcpHandlerOptions) => McpHttpHandler,
  ) {
    this.#watch = watch
    this.#log = log
    this.#makeHandler = makeHandler
  }

  get openCount(): number {
    return this.#open.size
  }

  /**
   * Answers a request to listen with the stream that `serve` has a handler make, or with the refusal of a resource that
   * the caller may not read. The SDK acknowledges whatever is asked for, so it gets only what was admitted.
   */
  async answer(
    call: CallContext,
    body: { id?: unknown; params?: unknown },
    serve: (by: McpHttpHandler) => Promise<Response>,
  ): Promise<Response> {
    const listener: Listener = {
      tell: undefined,
      waiting: 0,
      end: async () => {
        this.#open.delete(listener)
        clearInterval(keyCheck)
        await subscriptions.close()
        await handler.close()
      },
    }
    const keyCheck = endWithKey(call, () => void listener.end())
    const subscriptions = this.#subscriptionsOf(call, listener)
    // A bus of its own for each, so that nobody is told of what another one may read.
    const bus = {
      publish: () => {},
      subscribe: (tell: (event: ServerEvent) => void) => {
        listener.tell = tell
        return () => void listener.end()
      },
    }
    const handler = this.#makeHandler({ bus })
    this.#open.add(listener)
    const uris = listenedUris(body)
    try {
      await subscriptions.add(body.id, uris)
    } catch (error) {
      await listener.end()
      const { code, message, data } = subscriptionError(error, uris[0] ?? "", this.#log)
      return Response.json({ jsonrpc: "2.0", id: body.id, error: { code, message, data } })
    }
    const response = await serve(handler).catch(async (error: unknown) => {
      await listener.end()
      throw error
    })
    if (listener.tell === undefined) await listener.end()
    return counted(response, () => {
      listener.waiting = Math.max(0, listener.waiting - 1)
    })
  }

  #subscriptionsOf(call: CallContext, listener: Listener): Subscriptions {
    return new Subscriptions(async (uri) => {
      const onUpdate = () => {
        if (listener.tell === undefined || listener.waiting >= UPDATES_WAITING_MAX) return false
        listener.waiting += 1
        listener.tell({ kind: "resource_updated", uri })
        return true
      }
      const state = await this.#watch.read(call, uri)
      return this.#watch.follow(call, uri, state, { onUpdate, onEnd: () => void listener.end() })
    })
  }

  /** Ends all streams. */
  async close(): Promise<void> {
    for (const { end } of [...this.#open]) await end()
  }
}

/** Returns a response that tells whenever its reader has taken a part of it. */
function counted(response: Response, onTaken: () => void): Response {
  const reader = response.body?.getReader()
  if (reader === undefined) return response
  const body = new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        const { done, value } = await reader.read()
        onTaken()
        if (done) controller.close()
        else controller.enqueue(value)
      },
      cancel: (reason) => reader.cancel(reason),
    },
    { highWaterMark: 0 },
  )
  return new Response(body, { status: response.status, headers: response.headers })
}
