/**
 * The feed of events in one process. All who follow it share what was read last: a batch is read once after a commit,
 * whoever wrote it, and who falls behind reads from the database, at its own pace. So nobody has a queue.
 */

import { setImmediate } from "node:timers/promises"
import {
  EVENT_BYTES_KEPT_MAX,
  EVENT_PAGE_MAX,
  EVENT_WRITE_BYTES_MAX,
  EVENTS_KEPT_MAX,
} from "../../config/event-limits.ts"
import { toldEvent } from "../../domain/events/told.ts"
import type { NamedEvent } from "../../domain/events/visibility.ts"
import { listNamedEventsAfter } from "../../store/event-feed.ts"
import { eventHorizon } from "../../store/events.ts"
import type { App } from "../app.ts"
import type { FeedReset } from "./reading.ts"

/** An event with its JSON, which is made once for all readers. */
export interface FedEvent {
  event: NamedEvent
  json: string
}

/** What a reader that follows the feed is told: events, a reset, or after a while without them how far it is. */
export type Fed =
  | { is: "events"; events: readonly FedEvent[]; position: number }
  | { is: "reset"; reset: FeedReset; position: number }
  | { is: "idle"; position: number }

interface FollowOptions {
  /** The id to go on after. */
  after: number
  sees(event: NamedEvent): boolean
  /** After how many milliseconds without an event it is told how far it is. */
  idleMs: number
  /** Ends it. */
  signal: AbortSignal
}

const FEEDS = new WeakMap<App, Feed>()

/** Returns the one feed of an app. */
export function feedOf(app: App): Feed {
  const feed = FEEDS.get(app) ?? new Feed(app)
  FEEDS.set(app, feed)
  return feed
}

class Feed {
  readonly #app: App
  /** All events after `#from` up to `#to`. */
  #kept: FedEvent[] = []
  #keptBytes = 0
  #from = 0
  #to = 0
  #horizon = 0
  #followers = 0
  #unwatch: (() => void) | undefined
  /** Grows with each change of the database. */
  #version = 0
  /** The version at which nothing was left to read. */
  #readVersion = -1
  #reading: Promise<void> | undefined
  readonly #waiting = new Set<() => void>()

  constructor(app: App) {
    this.#app = app
  }

  /** Follows what happens after an id, each event once and in order, until the signal or its reader ends it. */
  async *follow({ after, sees, idleMs, signal }: FollowOptions): AsyncGenerator<Fed, void> {
    this.#open(after)
    try {
      let position = after
      let toldMs = performance.now()
      while (!signal.aborted) {
        const version = this.#version
        const page = await this.#pageAfter(position)
        if (position < this.#horizon) {
          position = this.#horizon
          yield { is: "reset", reset: { reason: "pruned", resumeAfter: position }, position }
          continue
        }
        for (const events of writesOf(page.filter(({ event }) => sees(event)))) {
          position = events.at(-1)?.event.id ?? position
          yield { is: "events", events, position }
          toldMs = performance.now()
        }
        position = page.at(-1)?.event.id ?? position
        if (page.length > 0) {
          // The database answers in microtasks, which would leave nothing else a turn.
          await setImmediate()
          continue
        }
        const leftMs = idleMs - (performance.now() - toldMs)
        if (leftMs > 0) await this.#change(version, leftMs, signal)
        else {
          yield { is: "idle", position }
          toldMs = performance.now()
        }
      }
    } finally {
      this.#close()
    }
  }

  #open(after: number): void {
    this.#followers += 1
    if (this.#followers > 1) return
    this.#keep([], after)
    this.#version += 1
    this.#unwatch = this.#app.db.watch(() => {
      this.#version += 1
      for (const wake of this.#waiting) wake()
    })
  }

  #close(): void {
    this.#followers -= 1
    if (this.#followers > 0) return
    this.#unwatch?.()
    this.#keep([], 0)
  }

  /** Begins anew with events after an id. */
  #keep(events: FedEvent[], from: number): void {
    this.#kept = events
    this.#keptBytes = 0
    this.#from = from
    this.#to = from
  }

  /** Returns some of the events after an id; none when there are none yet. */
  async #pageAfter(position: number): Promise<readonly FedEvent[]> {
    if (position < this.#from) return this.#readAfter(position)
    // Whoever comes first may have begun long ago.
    if (position > this.#to + EVENTS_KEPT_MAX) this.#keep([], position)
    while (position >= this.#to && this.#readVersion !== this.#version) await this.#readNew()
    // What was kept may have moved on meanwhile.
    if (position < this.#from) return this.#readAfter(position)
    const first = this.#kept.findIndex(({ event }) => event.id > position)
    return first < 0 ? [] : this.#kept.slice(first, first + EVENT_PAGE_MAX)
  }

  /** Returns a page that is no longer kept. */
  async #readAfter(position: number): Promise<readonly FedEvent[]> {
    const page = await listNamedEventsAfter(this.#app.db, position, EVENT_PAGE_MAX)
    // Looked at afterwards: what is pruned in between is a reset, not a gap.
    this.#horizon = await eventHorizon(this.#app.db)
    return page.map(fed)
  }

  /** Reads the next batch for all; whoever comes meanwhile waits for the same. */
  #readNew(): Promise<void> {
    this.#reading ??= this.#append().finally(() => {
      this.#reading = undefined
    })
    return this.#reading
  }

  async #append(): Promise<void> {
    const version = this.#version
    const to = this.#to
    const page = (await listNamedEventsAfter(this.#app.db, to, EVENT_PAGE_MAX)).map(fed)
    this.#horizon = await eventHorizon(this.#app.db)
    // Begun anew meanwhile.
    if (to !== this.#to) return
    if (this.#to < this.#horizon) {
      this.#keep([], this.#horizon)
      return
    }
    if (page.length < EVENT_PAGE_MAX) this.#readVersion = version
    this.#kept.push(...page)
    this.#to = page.at(-1)?.event.id ?? this.#to
    for (const { json } of page) this.#keptBytes += json.length
    while (this.#kept.length > EVENTS_KEPT_MAX || this.#keptBytes > EVENT_BYTES_KEPT_MAX) {
      const [oldest] = this.#kept.splice(0, 1)
      this.#from = oldest?.event.id ?? this.#from
      this.#keptBytes -= oldest?.json.length ?? 0
    }
  }

  /** Resolves when something has changed since a version, after a time, or at the end. */
  #change(version: number, timeoutMs: number, signal: AbortSignal): Promise<void> {
    if (this.#version !== version || signal.aborted) return Promise.resolve()
    return new Promise((resolve) => {
      const done = () => {
        clearTimeout(timer)
        this.#waiting.delete(done)
        signal.removeEventListener("abort", done)
        resolve()
      }
      const timer = setTimeout(done, timeoutMs).unref()
      this.#waiting.add(done)
      signal.addEventListener("abort", done)
    })
  }
}

function fed(event: NamedEvent): FedEvent {
  return { event, json: JSON.stringify(toldEvent(event)) }
}

/** Parts events into what is written at once: each part as many as fit, at least one. */
function writesOf(events: readonly FedEvent[]): FedEvent[][] {
  const writes: FedEvent[][] = []
  let bytes = 0
  for (const one of events) {
    bytes += one.json.length
    const last = writes.at(-1)
    if (last !== undefined && bytes <= EVENT_WRITE_BYTES_MAX) {
      last.push(one)
      continue
    }
    writes.push([one])
    bytes = one.json.length
  }
  return writes
}
