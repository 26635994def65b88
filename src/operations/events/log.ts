/** The log of events as whoever sits at the command line sees it: what their key permits, and what is their agents' own. */

import { EVENT_PAGE_MAX } from "../../config/event-limits.ts"
import type { Queries } from "../../db/database.ts"
import { keyRefusal } from "../../domain/api-key.ts"
import type { Agent } from "../../domain/coordination/agent.ts"
import { type EventFilter, isAskedFor } from "../../domain/events/filter.ts"
import { maySee, type NamedEvent } from "../../domain/events/visibility.ts"
import { AppError } from "../../errors.ts"
import { listNamedEventsBefore } from "../../store/event-feed.ts"
import { findKeyById } from "../../store/keys.ts"
import type { CallContext } from "../operation.ts"
import { type FeedReset, newestEvent, readEventsAfter } from "./reading.ts"

/** What is asked for; agents of one name may be several, one a project. */
interface LogFilter {
  kinds: EventFilter["kinds"]
  agents: readonly Agent[] | undefined
}

/**
 * Returns what says of an event whether it is shown now to those who call. Fails with `unauthenticated` once their key
 * counts no more.
 */
export async function logReader(
  { app, key }: CallContext,
  findOwn: () => Promise<readonly Agent[]>,
  { kinds, agents }: LogFilter,
): Promise<(event: NamedEvent) => boolean> {
  const stored = await findKeyById(app.db, key.id)
  const refusal =
    stored === undefined ? "the key is unknown here" : keyRefusal(stored, app.config.environment, app.now())
  if (refusal !== null) throw new AppError("unauthenticated", refusal)
  const reader = { scopes: key.scopes, ownAgentIds: (await findOwn()).map(({ id }) => id) }
  return (event) =>
    maySee(event, reader) &&
    isAskedFor(event, { kinds }) &&
    (agents === undefined || agents.some((agent) => isAskedFor(event, { agent })))
}

/** A stretch of the log, oldest first, and the id that what comes later is read on from. */
interface Latest {
  events: readonly NamedEvent[]
  next: number
  /** Whether earlier ones were left out. */
  isCut: boolean
}

/** Returns the latest events that `sees` lets through, at most `limit`, none from before a time. */
export async function latestEvents(
  db: Queries,
  { limit, sinceMs, sees }: { limit: number; sinceMs: number; sees(event: NamedEvent): boolean },
): Promise<Latest> {
  const next = await newestEvent(db)
  const found: NamedEvent[] = []
  let before = next + 1
  while (found.length <= limit) {
    const page = await listNamedEventsBefore(db, before, EVENT_PAGE_MAX)
    found.push(...page.filter((event) => event.createdAtMs >= sinceMs && sees(event)))
    const last = page.at(-1)
    // Ids grow with the order of the commits, and times with them but for the adjustments of a clock.
    if (last === undefined || page.every(({ createdAtMs }) => createdAtMs < sinceMs)) break
    before = last.id
  }
  return { events: found.slice(0, limit).reverse(), next, isCut: found.length > limit }
}

/** Calls `tell` with what came after an id, in pages, oldest first, and with where it goes on after a loss; returns the id up to which it read. */
export async function tellAfter(
  db: Queries,
  after: number,
  sees: (event: NamedEvent) => boolean,
  tell: (events: readonly NamedEvent[], reset: FeedReset | undefined) => void,
): Promise<number> {
  let position = after
  for (let hasMore = true; hasMore; ) {
    const page = await readEventsAfter(db, { after: position, limit: EVENT_PAGE_MAX, sees })
    if (page.events.length > 0 || page.reset !== undefined) tell(page.events, page.reset)
    position = page.next
    hasMore = page.hasMore
  }
  return position
}
