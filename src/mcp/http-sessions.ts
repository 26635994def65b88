/**
 * Sessions of the older protocol over HTTP. They are nothing but an id that the client was given: what a session
 * follows stands in the database under it, so that any process that listens goes on where another one ended.
 */

import {
  STORED_SUBSCRIPTION_MS_MAX,
  STREAM_KEEP_ALIVE_MS,
  UPDATES_WAITING_MAX,
} from "../config/subscription-limits.ts"
import type { CallContext } from "../operations/operation.ts"
import {
  dropSubscriptions,
  type KeySession,
  keepSubscription,
  noteTold,
  resumeSubscriptions,
  toldState,
} from "../operations/subscriptions.ts"
import type { ResourceWatch } from "../resources/watch.ts"
import { endWithKey } from "./key-check.ts"
import { Subscriptions } from "./subscriptions.ts"

/** Who owns what a stream follows: all of it is the session's. */
const SESSION = "session"

export class HttpSessions {
  readonly #watch: ResourceWatch
  /** The stream of each session that has one here. */
  readonly #streams = new Map<string, UpdateStream>()

  constructor(watch: ResourceWatch) {
    this.#watch = watch
  }

  /** How many streams stay open while a session opens one, which takes the place of its own. */
  openCountBeside(call?: CallContext, session?: string): number {
    const isThere =
      call !== undefined &&
      session !== undefined &&
      this.#streams.has(nameOf({ keyId: call.key.id, session }))
    return this.#streams.size - (isThere ? 1 : 0)
  }

  /** Returns what the session of a call follows, for it to add to and take from. */
  subscriptionsOf(call: CallContext, session: string): Pick<Subscriptions, "add" | "remove"> {
    const { app } = call
    const of = { keyId: call.key.id, session }
    return {
      add: async (_, uris) => {
        for (const uri of uris) await keepSubscription(app, of, uri, await this.#watch.read(call, uri))
        await this.#streams.get(nameOf(of))?.subscriptions.add(SESSION, uris)
      },
      remove: async (_, uri) => {
        await dropSubscriptions(app, of, uri)
        await this.#streams.get(nameOf(of))?.subscriptions.remove(SESSION, uri)
      },
    }
  }

  /** Opens the stream on which a session is told of updates, in the place of the one that it had. */
  async open(call: CallContext, session: string): Promise<Response> {
    const of = { keyId: call.key.id, session }
    const name = nameOf(of)
    this.#streams.get(name)?.end()
    const stream = new UpdateStream(call, of, this.#watch, () => {
      if (this.#streams.get(name) === stream) this.#streams.delete(name)
    })
    this.#streams.set(name, stream)
    try {
      await stream.subscriptions.add(SESSION, await resumeSubscriptions(call.app, of))
    } catch (error) {
      stream.end()
      throw error
    }
    const headers = { "Content-Type": "text/event-stream", "Cache-Control": "no-cache, no-transform" }
    return new Response(stream.body, { headers })
  }

  /** Ends a session: its stream, and what it follows. */
  async end(call: CallContext, session: string): Promise<void> {
    const of = { keyId: call.key.id, session }
    this.#streams.get(nameOf(of))?.end()
    await dropSubscriptions(call.app, of)
  }

  /** Ends all streams; the sessions go on. */
  close(): void {
    for (const stream of [...this.#streams.values()]) stream.end()
  }
}

const nameOf = ({ keyId, session }: KeySession) => `${keyId}:${session}`

class UpdateStream {
  readonly body: ReadableStream<Uint8Array>
  readonly subscriptions: Subscriptions
  readonly #onEnd: () => void
  readonly #timers: NodeJS.Timeout[]
  #out: ReadableStreamDefaultController<Uint8Array> | undefined

  constructor(call: CallContext, of: KeySession, watch: ResourceWatch, onEnd: () => void) {
    const { app } = call
    this.#onEnd = onEnd
    const strategy = { highWaterMark: UPDATES_WAITING_MAX }
    const source = {
      start: (controller: ReadableStreamDefaultController<Uint8Array>) => {
        this.#out = controller
      },
      cancel: () => this.end(),
    }
    this.body = new ReadableStream(source, strategy)
    this.subscriptions = new Subscriptions(async (uri) => {
      const state = await toldState(app, of, uri)
      // It was unsubscribed from meanwhile.
      if (state === undefined) return () => {}
      const onUpdate = (next: string) => {
        if (!this.#tell(uri)) return false
        noteTold(app, of, uri, next).catch((error: unknown) =>
          app.log.warn("an update is not noted", { error }),
        )
        return true
      }
      return watch.follow(call, uri, state, { onUpdate, onEnd: () => this.end() })
    })
    const touch = () => void resumeSubscriptions(app, of).catch(() => {})
    this.#timers = [
      setInterval(() => this.#write(": keepalive\n\n"), STREAM_KEEP_ALIVE_MS),
      setInterval(touch, STORED_SUBSCRIPTION_MS_MAX / 4),
      endWithKey(call, () => this.end()),
    ]
    for (const timer of this.#timers) timer.unref()
  }

  /** Returns whether the update was written; a reader that takes nothing is told later. */
  #tell(uri: string): boolean {
    const update = { jsonrpc: "2.0", method: "notifications/resources/updated", params: { uri } }
    return this.#write(`event: message\ndata: ${JSON.stringify(update)}\n\n`)
  }

  #write(text: string): boolean {
    if (this.#out === undefined || (this.#out.desiredSize ?? 0) <= 0) return false
    this.#out.enqueue(Buffer.from(text))
    return true
  }

  end(): void {
    const out = this.#out
    if (out === undefined) return
    this.#out = undefined
    for (const timer of this.#timers) clearInterval(timer)
    void this.subscriptions.close()
    this.#onEnd()
    try {
      out.close()
    } catch {
      // Its reader has ended it.
    }
  }
}
