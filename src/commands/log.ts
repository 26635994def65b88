/** `signalbox log`: what happened, one line an event, and on request what happens. */

import type { Config } from "../config/config.ts"
import { LOG_LIMIT_DEFAULT, LOG_SINCE_SECONDS_MAX } from "../config/event-limits.ts"
import { LISTING_ROWS_MAX } from "../config/limits.ts"
import { EVENT_KINDS, type EventKind } from "../domain/events/kinds.ts"
import { toldEvent } from "../domain/events/told.ts"
import type { NamedEvent } from "../domain/events/visibility.ts"
import { eventWords } from "../domain/events/words.ts"
import { visibleJson, visibleLine } from "../domain/foreign-text/visible.ts"
import { ASKS, admit } from "../operations/admission.ts"
import { commandCall } from "../operations/caller.ts"
import { findNamed, projectsAround } from "../operations/coordination/correspondence.ts"
import { findOwnAgents } from "../operations/coordination/identity.ts"
import { repositoryAround } from "../operations/coordination/locations.ts"
import { latestEvents, logReader, tellAfter } from "../operations/events/log.ts"
import { requireKinds } from "../operations/events/readers.ts"
import type { FeedReset } from "../operations/events/reading.ts"
import { lines, shownTime } from "../operations/markdown.ts"
import { ownCommand } from "../runtime/own-command.ts"
import { shortened, terminalColumns } from "./columns.ts"
import { parseDuration } from "./coordination/duration.ts"
import { terminalOf } from "./coordination/identity.ts"
import { homely } from "./coordination/mail-text.ts"
import { dim, green, type OutputOptions, print, printResult, red } from "./output.ts"
import { waitUntil } from "./waiting.ts"
import { withApp } from "./with-app.ts"

export interface LogOptions extends OutputOptions {
  /** Goes on with what happens, until a signal or the end of its reader. */
  follow?: boolean
  /** Kinds, each as `kindsNamed` reads it. */
  kind?: readonly string[]
  /** Only what this agent did, got or is named in. */
  agent?: string
  /** As `parseDuration` reads it. */
  since?: string
  limit?: number
}

/** What stands out, by how it ends. */
const REFUSALS = new Set<EventKind>(["reservation.refused", "edit.blocked", "override.denied"])
const GRANTS = new Set<EventKind>(["reservation.granted", "override.approved"])
const KIND_COLUMNS = Math.max(...Object.keys(EVENT_KINDS).map((kind) => kind.length))

/**
 * Prints the latest events, oldest first, that the caller's key permits, with what only the agents that it acts for may
 * see. With `follow` it goes on with those to come, and where some of them are lost says so; as JSON one a line then.
 * Fails with `invalid` for unknown kinds, and with `not_found` for an unknown agent.
 */
export function logCommand(config: Config, options: LogOptions): Promise<void> {
  const kinds = options.kind === undefined ? undefined : requireKinds("kind", options.kind.join(","))
  const seconds =
    options.since === undefined ? undefined : parseDuration(options.since, "since", LOG_SINCE_SECONDS_MAX)
  const limit = options.limit ?? (seconds === undefined ? LOG_LIMIT_DEFAULT : LISTING_ROWS_MAX)
  return withApp(config, async (app) => {
    const context = await admit(commandCall(app), ASKS.toolCall)
    const terminal = terminalOf(app)
    const repository = await repositoryAround(app, config.workingFolder)
    const { agent: name } = options
    const agents =
      name === undefined
        ? undefined
        : (await findNamed(context, terminal, repository, name)).map(({ agent }) => agent)
    const reader = () => logReader(context, () => findOwnAgents(app, terminal, repository), { kinds, agents })
    const sees = await reader()
    const sinceMs = seconds === undefined ? 0 : context.nowMs - seconds * 1_000
    const { events, next, isCut } = await latestEvents(app.db, { limit, sinceMs, sees })
    const around = new Set(((await projectsAround(app, terminal, repository)) ?? []).map(({ id }) => id))
    const columns = terminalColumns()
    const row = (event: NamedEvent) => rowOf(event, { around, columns })
    if (options.follow !== true) {
      const more =
        limit < LISTING_ROWS_MAX
          ? `Earlier ones: ${ownCommand()} log --limit ${LISTING_ROWS_MAX}`
          : `Earlier ones are left out: at most ${LISTING_ROWS_MAX.toLocaleString("en-US")} are shown.`
      printResult(options, events.map(toldEvent), () =>
        events.length === 0
          ? "Nothing of that happened."
          : lines(isCut ? dim(more) : null, ...events.map(row)),
      )
      return
    }
    const tell = options.json === true ? (event: NamedEvent) => visibleJson(toldEvent(event)) : row
    for (const event of events) print(tell(event))
    let position = next
    const look = async () => {
      position = await tellAfter(app.db, position, await reader(), (found, reset) => {
        if (reset !== undefined)
          print(options.json === true ? visibleJson(resetJson(reset)) : resetText(reset))
        for (const event of found) print(tell(event))
      })
      return undefined
    }
    await waitUntil(app.db, look, { timeoutMs: undefined })
  })
}

function rowOf(
  event: NamedEvent,
  { around, columns }: { around: ReadonlySet<number>; columns: number },
): string {
  const { kind, projectId, projectKey } = event
  const time = shownTime(event.createdAtMs)
  const padded = kind.padEnd(KIND_COLUMNS)
  const colour = REFUSALS.has(kind) ? red : GRANTS.has(kind) ? green : dim
  const isElsewhere = projectId !== null && projectKey !== null && !around.has(projectId)
  const where = isElsewhere ? `, in ${visibleLine(homely(projectKey))}` : ""
  const words = eventWords({ kind, actor: event.agentName ?? event.actor, data: event.data })
  const room = columns - time.length - KIND_COLUMNS - 4
  return `${dim(time)}  ${colour(padded)}  ${shortened(words + where, room)}`
}

function resetText({ reason, resumeAfter }: FeedReset): string {
  const why = reason === "pruned" ? "were deleted for their age" : "stem from another state of the database"
  return dim(`Events up to ${resumeAfter} ${why}; what came after follows.`)
}

function resetJson({ reason, resumeAfter }: FeedReset) {
  return { reset: { reason, resume_after: resumeAfter } }
}
