/** Reading events once: a page after an id, or the latest, of those that a reader may see. */

import { EVENT_PAGE_MAX, EVENTS_SCANNED_MAX } from "../../config/event-limits.ts"
import type { Queries } from "../../db/database.ts"
import type { NamedEvent } from "../../domain/events/visibility.ts"
import { listNamedEventsAfter, listNamedEventsBefore } from "../../store/event-feed.ts"
import { eventHorizon, newestEventId } from "../../store/events.ts"

/** Why a reader cannot go on after the id that it gave, and the id after which it goes on instead. */
export interface FeedReset {
  reason: "pruned" | "unknown"
  resumeAfter: number
}

/** What a look at the events found. */
export interface EventPage {
  /** Oldest first. */
  events: readonly NamedEvent[]
  /** The id up to which all was looked at; what a reader asks for next comes after it. */
  next: number
  /** Whether there are events after it. */
  hasMore: boolean
  reset?: FeedReset
}

/** Returns the id after which whatever happens from now on comes. */
export async function newestEvent(db: Queries): Promise<number> {
  return Math.max(await eventHorizon(db), await newestEventId(db))
}

/** Says why a reader cannot go on after an id, if it cannot: that id was pruned or given away, or never was. */
export async function resetAfter(db: Queries, after: number): Promise<FeedReset | undefined> {
  const horizon = await eventHorizon(db)
  if (after < horizon) return { reason: "pruned", resumeAfter: horizon }
  const newest = await newestEvent(db)
  return after > newest ? { reason: "unknown", resumeAfter: newest } : undefined
}

/**
 * Returns the events after an id that `sees` lets through, at most `limit`, and of at most 10,000 that are looked at.
 * Where that id leads nowhere any more, `reset` says so, and what comes after the one that it names is returned.
 */
export async function readEventsAfter(
  db: Queries,
  { after, limit, sees }: { after: number; limit: number; sees(event: NamedEvent): boolean },
): Promise<EventPage> {
  let reset = await resetAfter(db, after)
  for (;;) {
    const page = await readPage(db, { after: reset?.resumeAfter ?? after, limit, sees })
    // Asked for after the events: what was pruned while they were read is a reset, not a gap.
    const later = await resetAfter(db, reset?.resumeAfter ?? after)
    if (later === undefined) return { ...page, ...(reset && { reset }) }
    reset = later
  }
}

async function readPage(
  db: Queries,
  { after, limit, sees }: { after: number; limit: number; sees(event: NamedEvent): boolean },
): Promise<Omit<EventPage, "reset">> {
  const events: NamedEvent[] = []
  let next = after
  let hasMore = true
  for (let scanned = 0; hasMore && events.length < limit && scanned < EVENTS_SCANNED_MAX; ) {
    const page = await listNamedEventsAfter(db, next, EVENT_PAGE_MAX)
    hasMore = page.length === EVENT_PAGE_MAX
    scanned += page.length
    for (const event of page) {
      if (events.length === limit) {
        hasMore = true
        break
      }
      next = event.id
      if (sees(event)) events.push(event)
    }
  }
  return { events, next, hasMore }
}

/** Returns the latest events that `sees` lets through, at most `limit`, and of at most 10,000 that are looked at. */
export async function readLatestEvents(
  db: Queries,
  { limit, sees }: { limit: number; sees(event: NamedEvent): boolean },
): Promise<EventPage> {
  const next = await newestEvent(db)
  const events: NamedEvent[] = []
  let before = next + 1
  for (let scanned = 0; events.length < limit && scanned < EVENTS_SCANNED_MAX; scanned += EVENT_PAGE_MAX) {
    const page = await listNamedEventsBefore(db, before, EVENT_PAGE_MAX)
    events.push(...page.filter(sees))
    const last = page.at(-1)
    if (last === undefined) break
    before = last.id
  }
  return { events: events.slice(0, limit).reverse(), next, hasMore: false }
}
