/** Server-Sent Events: what the feed tells, as a body that is read at its reader's pace. */

import {
  EVENT_HEARTBEAT_MS,
  EVENT_KEY_CHECK_MS,
  EVENT_RETRY_MS,
  EVENT_STALL_MS_MAX,
  EVENT_STREAMS_MAX,
} from "../../config/event-limits.ts"
import { AppError } from "../../errors.ts"
import type { App } from "../../operations/app.ts"
import { type Fed, feedOf } from "../../operations/events/feed.ts"
import type { AdmittedReader } from "../../operations/events/readers.ts"
import type { FeedReset } from "../../operations/events/reading.ts"

/** Times that tests shorten. */
export interface StreamTimes {
  heartbeatMs?: number
  stallMs?: number
  keyCheckMs?: number
}

export const STREAM_HEADERS = {
  "Content-Type": "text/event-stream; charset=utf-8",
  "Cache-Control": "no-store, no-transform",
  // nginx and its kin would keep it back.
  "X-Accel-Buffering": "no",
}

/** The streams that are open in front of one app. */
const OPEN = new WeakMap<App, Set<EventStream>>()

function openStreams(app: App): Set<EventStream> {
  const open = OPEN.get(app) ?? new Set()
  OPEN.set(app, open)
  return open
}

/** Returns how many streams are open in front of an app. */
export function countEventStreams(app: App): number {
  return openStreams(app).size
}

/** Ends all streams of an app at once; their readers come back elsewhere. */
export function endEventStreams(app: App): void {
  for (const stream of openStreams(app)) stream.end()
}

/** Opens a stream after an id, or after a reset; fails with `unavailable` when there are too many. */
export function openEventStream(
  app: App,
  reader: AdmittedReader,
  from: { after: number; reset: FeedReset | undefined },
  times: StreamTimes = {},
): ReadableStream<Uint8Array> {
  const open = openStreams(app)
  if (open.size >= EVENT_STREAMS_MAX) {
    throw new AppError("unavailable", `${EVENT_STREAMS_MAX} streams of events are open, which is the most`, {
      hint: "Close one, or poll with `after`.",
      retryAfterSeconds: 10,
    })
  }
  const stream = new EventStream(app, reader, from, times)
  open.add(stream)
  return stream.body
}

class EventStream {
  readonly body: ReadableStream<Uint8Array>
  readonly #app: App
  readonly #reader: AdmittedReader
  readonly #times: Required<StreamTimes>
  readonly #ending = new AbortController()
  readonly #told: AsyncGenerator<Fed, void>
  #controller!: ReadableStreamDefaultController<Uint8Array>
  /** The id up to which all was written. */
  #position: number
  #stall: NodeJS.Timeout | undefined
  #checkedMs = performance.now()
  #isOver = false

  constructor(
    app: App,
    reader: AdmittedReader,
    { after, reset }: { after: number; reset: FeedReset | undefined },
    {
      heartbeatMs = EVENT_HEARTBEAT_MS,
      stallMs = EVENT_STALL_MS_MAX,
      keyCheckMs = EVENT_KEY_CHECK_MS,
    }: StreamTimes,
  ) {
    this.#app = app
    this.#reader = reader
    this.#times = { heartbeatMs, stallMs, keyCheckMs }
    this.#position = after
    this.#told = feedOf(app).follow({
      after,
      sees: reader.sees,
      // The key is looked at between, so that a stream ends soon after it.
      idleMs: Math.min(heartbeatMs, keyCheckMs),
      signal: this.#ending.signal,
    })
    this.body = new ReadableStream({
      start: (controller) => {
        this.#controller = controller
        const first = reset === undefined ? `id: ${after}\n\n` : resetBlock(reset)
        this.#write(`retry: ${EVENT_RETRY_MS}\n${first}`)
      },
      pull: () => this.#pull(),
      cancel: () => {
        this.#finish()
      },
    })
  }

  /** Ends it as if the connection were lost. */
  end(): void {
    if (this.#finish()) this.#controller.close()
  }

  async #pull(): Promise<void> {
    try {
      await this.#next()
    } catch (error) {
      this.#finish()
      this.#app.log.warn("a stream of events ended, because they cannot be read", { error })
      throw error
    }
  }

  /** Writes the next that there is; called when the reader has room for it. */
  async #next(): Promise<void> {
    clearTimeout(this.#stall)
    let quietSinceMs = performance.now()
    while (!this.#isOver) {
      const why = await this.#whyOver()
      if (why !== null) return this.#cut(why)
      const { value } = await this.#told.next()
      if (value === undefined || this.#isOver) return
      this.#position = value.position
      if (value.is === "events")
        return this.#write(value.events.map(({ event, json }) => block(event.id, event.kind, json)).join(""))
      if (value.is === "reset") return this.#write(resetBlock(value.reset))
      if (performance.now() - quietSinceMs < this.#times.heartbeatMs) continue
      quietSinceMs = performance.now()
      // A block without data is no event, but its id is kept.
      return this.#write(`id: ${value.position}\n\n`)
    }
  }

  async #whyOver(): Promise<string | null> {
    if (performance.now() - this.#checkedMs < this.#times.keyCheckMs) return null
    this.#checkedMs = performance.now()
    return this.#reader.refusal()
  }

  #write(text: string): void {
    this.#controller.enqueue(new TextEncoder().encode(text))
    if ((this.#controller.desiredSize ?? 0) > 0) return
    this.#stall = setTimeout(() => this.#cut("too slow"), this.#times.stallMs).unref()
  }

  /** Tells where to resume and ends. */
  #cut(reason: string): void {
    if (!this.#finish()) return
    const json = JSON.stringify({ reason, resume_after: this.#position })
    this.#controller.enqueue(new TextEncoder().encode(block(this.#position, "cut", json)))
    this.#controller.close()
  }

  /** Frees what it holds; returns whether it was not over yet. */
  #finish(): boolean {
    if (this.#isOver) return false
    this.#isOver = true
    clearTimeout(this.#stall)
    openStreams(this.#app).delete(this)
    this.#ending.abort()
    // A feed that was never asked anything has nothing to end.
    void this.#told.return()
    return true
  }
}

function resetBlock({ reason, resumeAfter }: FeedReset): string {
  return block(resumeAfter, "reset", JSON.stringify({ reason, resume_after: resumeAfter }))
}

function block(id: number, event: string, json: string): string {
  return `id: ${id}\nevent: ${event}\ndata: ${json}\n\n`
}
