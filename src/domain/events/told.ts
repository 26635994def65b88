/** An event as it is told outside: in the feed, to webhooks and on the command line. */

import type { EventKind } from "./kinds.ts"
import type { NamedEvent } from "./visibility.ts"

/** The JSON of an event. */
export interface ToldEvent {
  id: number
  kind: EventKind
  time: string
  project: { id: number; key: string } | null
  repository: { id: number; name: string } | null
  actor: { agent_id: number; name: string } | { name: string } | null
  data: Readonly<Record<string, unknown>>
}

/** Returns an event as others read it: ids with their names, time in ISO 8601. */
export function toldEvent(event: NamedEvent): ToldEvent {
  const { id, kind, projectId, projectKey, repositoryId, repositoryName, agentId, agentName, actor, data } =
    event
  return {
    id,
    kind,
    time: new Date(event.createdAtMs).toISOString(),
    project: projectId === null || projectKey === null ? null : { id: projectId, key: projectKey },
    repository:
      repositoryId === null || repositoryName === null ? null : { id: repositoryId, name: repositoryName },
    actor:
      agentId !== null && agentName !== null
        ? { agent_id: agentId, name: agentName }
        : actor === null
          ? null
          : { name: actor },
    data,
  }
}
