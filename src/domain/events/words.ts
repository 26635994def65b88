/** Events in words: one sentence a kind, for terminals, chats and notifications. */

import { visibleLine } from "../foreign-text/visible.ts"
import type { EventKind } from "./kinds.ts"

/** What is told of an event: its kind, the name of who did it, and the data that stands in its row. */
export interface Happening {
  kind: EventKind
  /** Null where nobody is named. */
  actor: string | null
  data: Readonly<Record<string, unknown>>
}

/** Of names, the first ones are told; the rest are counted. */
const NAMES_TOLD_MAX = 3

/** The parts of a sentence, each null where the event does not have it. */
type Words = (who: string, data: Data) => (string | null)[]

const SENTENCES: Record<EventKind, Words> = {
  "message.sent": (who, data) => [
    who,
    data.is("importance", "urgent") ? "sent urgently" : "sent",
    data.quoted("subject") ?? "a message",
    to([data.names("to"), data.names("cc")]),
    data.is("ack_required", true) ? "and asks for an acknowledgment" : null,
  ],
  "message.read": (who, data) => [who, "read", data.quoted("subject") ?? "a message"],
  "message.acknowledged": (who, data) => [who, "acknowledged", data.quoted("subject") ?? "a message"],
  "reservation.granted": (who, data) => [who, "reserved", data.files(), data.bracketed("mode")],
  "reservation.renewed": (who, data) => [who, "renewed the reservation of", data.files()],
  "reservation.released": (who, data) => [who, "released", data.files()],
  "reservation.expired": (who, data) => [whose(who), "reservation of", data.files(), "ran out"],
  "reservation.refused": (who, data) => [who, "was refused", held(data)],
  "edit.allowed": (who, data) => [who, "edited", data.files(), "beside", data.names("holders") ?? "others"],
  "edit.blocked": (who, data) => [who, "was kept from editing", held(data)],
  "override.requested": (who, data) => [who, "asked to override the holders of", data.files(), reason(data)],
  "override.approved": (who, data) => [
    data.text("decided_by") ?? who,
    "approved the override of",
    data.files(),
  ],
  "override.denied": (who, data) => [data.text("decided_by") ?? who, "denied the override of", data.files()],
  "agent.registered": (who, data) => [data.text("name") ?? who, "registered", data.bracketed("program")],
  "agent.resumed": (who, data) => [data.text("name") ?? who, "came back", data.bracketed("program")],
  "agent.gone": (who, data) => [data.text("name") ?? who, "left"],
  "contact.requested": (who, data) => [data.text("requester") ?? who, "asked", someone(data), "for contact"],
  "contact.answered": (who, data) => [
    data.text("recipient") ?? who,
    data.is("approved", false) ? "denied the contact with" : "approved the contact with",
    data.text("requester") ?? SOMEBODY,
  ],
  "contact.blocked": (who, data) => [who, "blocked", data.text("name") ?? someone(data)],
  "memory.created": (who, data) => [who, "stored a memory", data.bracketed("sector")],
  "memory.updated": (who, data) => [who, "changed a memory", data.bracketed("sector")],
  "memory.accessed": (who, data) => [who, "read a memory", data.bracketed("sector")],
  "memory.reinforced": (who, data) => [who, "reinforced a memory", data.bracketed("sector")],
  "memory.pruned": (who, data) => [who, "pruned", data.counted("count", "memory", "memories") ?? "memories"],
  "memory.deleted": (who, data) => [who, "deleted a memory", data.bracketed("sector")],
  "waypoint.created": (who, data) => [who, "linked a memory to", data.linked()],
  "documentation.indexed": (who, data) => [who, "indexed the documentation", onBranch(data), indexed(data)],
  "documentation.updated": (who, data) => [who, "updated the documentation", onBranch(data), indexed(data)],
  "documentation.deleted": (who, data) => [who, "deleted the documentation", onBranch(data)],
  "key.created": (who, data) => [who, "created", data.key()],
  "key.used": (who, data) => [who, "used", data.key(), "for the first time"],
  "key.revoked": (who, data) => [who, "revoked", data.key()],
  "database.restored": () => ["The database was replaced by a backup"],
}

const SOMEBODY = "somebody"

/**
 * Returns an event as one sentence on one line, without a full stop. What others supplied stands in it with signs for
 * control characters, but is not escaped for any markup. Data that is missing leaves its words out.
 */
export function eventWords({ kind, actor, data }: Happening): string {
  const parts = SENTENCES[kind](actor === null ? SOMEBODY : visibleLine(actor), new Data(data))
  const words = parts.filter((part) => part !== null).join(" ")
  // Names keep their spelling.
  return /^(somebody|a) /.test(words) ? words.charAt(0).toUpperCase() + words.slice(1) : words
}

/** Data of unknown shape: rows may stem from other versions. */
class Data {
  readonly #data: Readonly<Record<string, unknown>>

  constructor(data: Readonly<Record<string, unknown>>) {
    this.#data = data
  }

  is(field: string, value: unknown): boolean {
    return this.#data[field] === value
  }

  text(field: string): string | null {
    const value = this.#data[field]
    return typeof value === "string" && value.trim() !== "" ? visibleLine(value) : null
  }

  quoted(field: string): string | null {
    const value = this.text(field)
    return value === null ? null : `"${value}"`
  }

  bracketed(field: string): string | null {
    const value = this.text(field)
    return value === null ? null : `(${value})`
  }

  /** Returns the file or pattern that it is about. */
  files(): string {
    return this.text("path_pattern") ?? this.text("path") ?? "files"
  }

  key(): string {
    const name = this.quoted("name")
    return name === null ? "an API key" : `the API key ${name}`
  }

  /** Returns a list of names, given as texts or as objects with a name; null for none. */
  names(field: string): string | null {
    const value = this.#data[field]
    if (!Array.isArray(value)) return null
    const names = value
      .map((one: unknown) => (typeof one === "object" && one !== null && "name" in one ? one.name : one))
      .filter((one) => typeof one === "string")
      .map(visibleLine)
    const left = names.length - NAMES_TOLD_MAX
    const told = names.slice(0, NAMES_TOLD_MAX).join(", ") + (left > 0 ? ` and ${left} more` : "")
    return told === "" ? null : told
  }

  counted(field: string, noun: string, plural = `${noun}s`): string | null {
    const value = this.#data[field]
    return typeof value === "number" ? `${value} ${value === 1 ? noun : plural}` : null
  }

  linked(): string {
    const targets = this.#data.to
    if (!Array.isArray(targets)) return "others"
    return targets.length === 1 ? "another one" : `${targets.length} others`
  }
}

function whose(who: string): string {
  return who === SOMEBODY ? "a" : `${who}'s`
}

function to(names: readonly (string | null)[]): string | null {
  const [direct, copied] = names
  if (direct == null && copied == null) return null
  return [direct == null ? null : `to ${direct}`, copied == null ? null : `cc ${copied}`]
    .filter((part) => part !== null)
    .join(", ")
}

function held(data: Data): string {
  const holders = data.names("holders")
  return holders === null ? data.files() : `${data.files()}, held by ${holders}`
}

function reason(data: Data): string | null {
  const given = data.text("reason")
  return given === null ? null : `(${given})`
}

function someone(data: Data): string {
  return data.text("recipient") ?? SOMEBODY
}

function onBranch(data: Data): string | null {
  const branch = data.text("branch")
  return branch === null ? null : `of ${branch}`
}

function indexed(data: Data): string | null {
  const files = data.counted("files", "file")
  return files === null ? null : `(${files})`
}
