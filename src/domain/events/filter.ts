/** Which of the events that it may see a reader asks for. */

import { EVENT_KINDS, type EventKind, isEventKind, type StoredEvent } from "./kinds.ts"

/** What is undefined leaves nothing out. */
export interface EventFilter {
  projectId?: number | undefined
  repositoryId?: number | undefined
  kinds?: ReadonlySet<EventKind> | undefined
  /** What it did, and what it is named in: as recipient, or as the other side. */
  agent?: { id: number; name: string; projectId: number } | undefined
}

/** Whether an event is among what is asked for. */
export function isAskedFor(
  event: StoredEvent,
  { projectId, repositoryId, kinds, agent }: EventFilter,
): boolean {
  return (
    (projectId === undefined || event.projectId === projectId) &&
    (repositoryId === undefined || event.repositoryId === repositoryId) &&
    (kinds === undefined || kinds.has(event.kind)) &&
    (agent === undefined || concerns(event, agent))
  )
}

function concerns(event: StoredEvent, { id, name, projectId }: NonNullable<EventFilter["agent"]>): boolean {
  if (event.agentId === id || event.partyId === id) return true
  const { to, cc } = event.data
  return (
    event.projectId === projectId && [to, cc].some((names) => Array.isArray(names) && names.includes(name))
  )
}

/**
 * Returns the kinds that a list separated by commas names: `message.sent`, or `message.*` for all that begin so.
 * Returns the first name that stands for none as `unknown`.
 */
export function kindsNamed(list: string): { kinds: ReadonlySet<EventKind> } | { unknown: string } {
  const kinds = new Set<EventKind>()
  for (const name of list.split(",").map((one) => one.trim())) {
    const family = name.endsWith(".*") ? name.slice(0, -1) : undefined
    const named = Object.keys(EVENT_KINDS)
      .filter(isEventKind)
      .filter((kind) => (family === undefined ? kind === name : kind.startsWith(family)))
    if (named.length === 0) return { unknown: name }
    for (const kind of named) kinds.add(kind)
  }
  return { kinds }
}
