/** What a database tells of what happened, for tests. */

import type { Database } from "../../src/db/database.ts"
import type { StoredEvent } from "../../src/domain/events/kinds.ts"
import { listNamedEventsAfter } from "../../src/store/event-feed.ts"
import { newestEventId } from "../../src/store/events.ts"

/** Returns all events of the kinds that begin with one of some texts, oldest first. */
export async function eventsIn(db: Database, ...beginnings: string[]): Promise<StoredEvent[]> {
  const all = await listNamedEventsAfter(db, 0, 100_000)
  return all.filter(({ kind }) => beginnings.some((beginning) => kind.startsWith(beginning)))
}

/** Returns what those events tell, each as its kind and data. */
export async function toldIn(
  db: Database,
  ...beginnings: string[]
): Promise<[kind: string, data: StoredEvent["data"]][]> {
  return (await eventsIn(db, ...beginnings)).map(({ kind, data }) => [kind, data])
}

/** Returns the events that `act` makes happen. */
export async function eventsDuring(
  { db }: { db: Database },
  act: () => Promise<unknown>,
): Promise<StoredEvent[]> {
  const before = await newestEventId(db)
  await act()
  return listNamedEventsAfter(db, before, 100_000)
}
