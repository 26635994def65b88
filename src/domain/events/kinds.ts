/** What can happen, and what a reader must have to be told of it: the one table of both. */

/**
 * Who may see an event:
 * - `coordination`: who has the scope of its project, or, for what concerns files, of its repository;
 * - `parties`: the two agents named in it, each for itself, in the scope of its own inbox;
 * - `actor`: the agent that did it, in the scope of its own inbox;
 * - `memory`, `documentation`: who has that scope of its repository;
 * - `admin`: who may manage keys.
 */
export type Sight = "coordination" | "parties" | "actor" | "memory" | "documentation" | "admin"

interface EventKindFacts {
  sight: Sight
  /** One sentence without a full stop. */
  about: string
}

/** Every kind of event, by name. */
export const EVENT_KINDS = {
  "message.sent": { sight: "coordination", about: "A message was sent" },
  "message.read": { sight: "coordination", about: "A recipient read a message for the first time" },
  "message.acknowledged": { sight: "coordination", about: "A recipient acknowledged a message" },
  "reservation.granted": { sight: "coordination", about: "A reservation was granted" },
  "reservation.renewed": { sight: "coordination", about: "A reservation was renewed" },
  "reservation.released": { sight: "coordination", about: "A reservation was released" },
  "reservation.expired": { sight: "coordination", about: "A reservation ran out" },
  "reservation.refused": {
    sight: "coordination",
    about: "A reservation was refused, because others hold what it covers",
  },
  "edit.allowed": { sight: "coordination", about: "An edit was allowed although others hold the file" },
  "edit.blocked": { sight: "coordination", about: "An edit was blocked, because others hold the file" },
  "override.requested": {
    sight: "coordination",
    about: "Somebody asked to take a file away from its holders",
  },
  "override.approved": {
    sight: "coordination",
    about: "Such a request was approved, and what stood in its way released",
  },
  "override.denied": { sight: "coordination", about: "Such a request was denied" },
  "agent.registered": { sight: "coordination", about: "An agent registered for the first time" },
  "agent.resumed": { sight: "coordination", about: "An agent was taken up again" },
  "agent.gone": { sight: "coordination", about: "The session of an agent ended, or was found dead" },
  "contact.requested": { sight: "parties", about: "An agent asked another one for contact" },
  "contact.answered": { sight: "parties", about: "A request for contact was approved or denied" },
  "contact.blocked": { sight: "actor", about: "An agent blocked another one, which is not told" },
  "memory.created": { sight: "memory", about: "A memory was stored" },
  "memory.updated": { sight: "memory", about: "A memory was changed" },
  "memory.accessed": { sight: "memory", about: "A memory was read by its id" },
  "memory.reinforced": { sight: "memory", about: "A memory was reinforced" },
  "memory.pruned": { sight: "memory", about: "Memories of low salience were deleted" },
  "memory.deleted": { sight: "memory", about: "A memory was deleted" },
  "waypoint.created": { sight: "memory", about: "A memory was linked to others that are about the same" },
  "documentation.indexed": { sight: "documentation", about: "A branch was read for the first time" },
  "documentation.updated": { sight: "documentation", about: "A branch was brought up to a new state" },
  "documentation.deleted": {
    sight: "documentation",
    about: "The documentation of a branch or repository was deleted",
  },
  "key.created": { sight: "admin", about: "An API key was created" },
  "key.used": { sight: "admin", about: "An API key was used for the first time" },
  "key.revoked": { sight: "admin", about: "An API key was revoked" },
  "database.restored": {
    sight: "admin",
    about: "The database was replaced by a backup; ids from before lead nowhere",
  },
} as const satisfies Record<string, EventKindFacts>

export type EventKind = keyof typeof EVENT_KINDS

/** The actor of what nobody asked for. */
export const OWN_ACTOR = "signalbox"

/** Whether a text names a kind. */
export function isEventKind(text: string): text is EventKind {
  return Object.hasOwn(EVENT_KINDS, text)
}

/** An event as it is stored. Ids are integers, null where the kind has none of the sort. */
export interface StoredEvent {
  id: number
  kind: EventKind
  projectId: number | null
  repositoryId: number | null
  agentId: number | null
  /** Who did it, where that is no agent. */
  actor: string | null
  partyId: number | null
  subjectId: number | null
  data: Readonly<Record<string, unknown>>
  createdAtMs: number
}
