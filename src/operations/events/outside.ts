/** What an event looks like to those outside: ids with names. The form is the same wherever events are told. */

import type { Queries } from "../../db/database.ts"
import type { EventKind, StoredEvent } from "../../domain/events/kinds.ts"
import { findAgentById } from "../../store/coordination/agents.ts"
import { findProjectById } from "../../store/projects.ts"
import { findRepositoryById } from "../../store/repositories.ts"
import { isoTime } from "../markdown.ts"

export interface OutsideEvent {
  id: number
  kind: EventKind
  time: string
  project: { id: number; key: string } | null
  repository: { id: number; name: string } | null
  actor: { agent_id?: number; name: string } | null
  data: Readonly<Record<string, unknown>>
}

/** Returns events as they are told, in their order; each name is looked up once. */
export async function toldEvents(db: Queries, events: readonly StoredEvent[]): Promise<OutsideEvent[]> {
  const project = remembered(async (id) => findProjectById(db, id))
  const repository = remembered(async (id) => findRepositoryById(db, id))
  const agent = remembered(async (id) => findAgentById(db, id))
  const told: OutsideEvent[] = []
  for (const event of events) {
    const [inProject, ofRepository, by] = [
      await project(event.projectId),
      await repository(event.repositoryId),
      await agent(event.agentId),
    ]
    told.push({
      id: event.id,
      kind: event.kind,
      time: isoTime(event.createdAtMs),
      project: inProject === undefined ? null : { id: inProject.id, key: inProject.key },
      repository: ofRepository === undefined ? null : { id: ofRepository.id, name: ofRepository.name },
      actor:
        by === undefined
          ? event.actor === null
            ? null
            : { name: event.actor }
          : { agent_id: by.id, name: by.name },
      data: event.data,
    })
  }
  return told
}

function remembered<T>(
  find: (id: number) => Promise<T | undefined>,
): (id: number | null) => Promise<T | undefined> {
  const known = new Map<number, T | undefined>()
  return async (id) => {
    if (id === null) return undefined
    if (!known.has(id)) known.set(id, await find(id))
    return known.get(id)
  }
}
