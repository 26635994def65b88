/** Who may see which event. */

import { permits, permitsDocumentation, permitsMemory, projectScope, repositoryScope } from "../api-key.ts"
import { EVENT_KINDS, isEventKind, type StoredEvent } from "./kinds.ts"

/** An event with what its ids are called, and the repositories in which its project's agents work. */
export interface NamedEvent extends StoredEvent {
  projectKey: string | null
  repositoryName: string | null
  agentName: string | null
  linkedRepositoryIds: readonly number[]
}

/** Who reads: what its key permits, and the agents whose own inbox it reads for. */
export interface EventReader {
  scopes: readonly string[]
  ownAgentIds: readonly number[]
}

/** Whether a reader may see an event. One of a kind that this version does not know is seen by nobody. */
export function maySee(event: NamedEvent, { scopes, ownAgentIds }: EventReader): boolean {
  if (!isEventKind(event.kind)) return false
  const { repositoryId } = event
  const isOwn = (agentId: number | null) => agentId !== null && ownAgentIds.includes(agentId)
  switch (EVENT_KINDS[event.kind].sight) {
    case "coordination":
      return permitsCoordination(scopes, event)
    case "parties":
      return (isOwn(event.agentId) || isOwn(event.partyId)) && permitsCoordination(scopes, event)
    case "actor":
      return isOwn(event.agentId) && permitsCoordination(scopes, event)
    case "memory":
      return repositoryId === null ? scopes.includes("*") : permitsMemory(scopes, repositoryId)
    case "documentation":
      return repositoryId === null ? scopes.includes("*") : permitsDocumentation(scopes, repositoryId)
    case "admin":
      return permits(scopes, "admin")
  }
}

/** A key for a repository sees what concerns that one, and what concerns none, in the projects linked with it. */
function permitsCoordination(scopes: readonly string[], event: NamedEvent): boolean {
  if (scopes.includes("*")) return true
  // What a program without an agent was kept from has no project, but concerns a file.
  if (event.projectKey === null)
    return event.repositoryId !== null && scopes.includes(repositoryScope(event.repositoryId))
  if (scopes.includes(projectScope(event.projectKey))) return true
  return event.linkedRepositoryIds.some(
    (id) =>
      (event.repositoryId === null || event.repositoryId === id) && scopes.includes(repositoryScope(id)),
  )
}
