/** `signalbox reservations`: what is held now, as the listener knows it where there is one. */

import type { Config } from "../../config/config.ts"
import { holderOf, modeOf, type ReservationMode } from "../../domain/coordination/reservation.ts"
import { visibleLine } from "../../domain/foreign-text/visible.ts"
import type { Repository } from "../../domain/project.ts"
import { ASKS, admit } from "../../operations/admission.ts"
import { commandCall } from "../../operations/caller.ts"
import { connectedRepositories } from "../../operations/connect.ts"
import { listHeld } from "../../operations/coordination/held.ts"
import { repositoryAround } from "../../operations/coordination/locations.ts"
import { notConnected } from "../../operations/coordination/typed-paths.ts"
import { duration } from "../../operations/markdown.ts"
import type { CallContext } from "../../operations/operation.ts"
import { askListener, listingPath } from "../listener.ts"
import { type OutputOptions, printResult, table } from "../output.ts"
import { withApp } from "../with-app.ts"
import { reservationJson, type ShownReservation } from "./reserve.ts"

export interface ReservationsOptions extends OutputOptions {
  /** Only those of the agents of this name. */
  agent?: string
  mode?: ReservationMode
  /** Asks the listener to look anew, which it does anyway. */
  refresh?: boolean
  /** Of all connected repositories, not only of the one around the folder. */
  all?: boolean
}

/** Lists the reservations that hold now; fails with `not_found` outside of connected repositories. */
export function reservationsCommand(config: Config, options: ReservationsOptions): Promise<void> {
  return withApp(config, async (app) => {
    const context = await admit(commandCall(app), ASKS.toolCall)
    const repositories =
      options.all === true ? await connectedRepositories(app) : [await requireAround(context)]
    const listed = (await listFor(context, repositories, options.refresh === true)).filter(
      (one) =>
        one.expiresAtMs > context.nowMs &&
        (options.mode === undefined || modeOf(one) === options.mode) &&
        (options.agent === undefined || one.agentName.toLowerCase() === options.agent.toLowerCase()),
    )
    printResult(
      options,
      listed.map((one) => reservationJson(one, context.nowMs)),
      () => (listed.length === 0 ? nothingText(options) : listedTable(listed, repositories, context.nowMs)),
    )
  })
}

async function requireAround({ app }: CallContext): Promise<Repository> {
  const { workingFolder } = app.config
  const repository = await repositoryAround(app, workingFolder)
  if (repository === undefined) throw notConnected(workingFolder)
  return repository
}

async function listFor(
  context: CallContext,
  repositories: readonly Repository[],
  refresh: boolean,
): Promise<ShownReservation[]> {
  const listed: ShownReservation[] = []
  for (const repository of repositories) {
    const answer = await askListener(context.app.config, listingPath(repository.id, refresh))
    listed.push(...(readAnswer(answer, repository.id) ?? (await listHeld(context, repository.id))))
  }
  return listed
}

/** Reads the listener's answer; undefined when it is none of the expected form. */
export function readAnswer(answer: unknown, repositoryId: number): ShownReservation[] | undefined {
  const { reservations } = (answer ?? {}) as { reservations?: unknown }
  if (!Array.isArray(reservations)) return undefined
  const listed: ShownReservation[] = []
  for (const row of reservations) {
    const one = readRow(row, repositoryId)
    if (one === undefined) return undefined
    listed.push(one)
  }
  return listed
}

function readRow(row: unknown, repositoryId: number): ShownReservation | undefined {
  if (typeof row !== "object" || row === null) return undefined
  const { reservation_id, agent_id, agent_name, is_person, path_pattern, mode, expires_at, reason } =
    row as Record<string, unknown>
  const diedAtMs = Date.parse(String((row as { session_died_at?: unknown }).session_died_at))
  const id = Number(reservation_id)
  const agentId = Number(agent_id)
  const expiresAtMs = Date.parse(String(expires_at))
  const isKnown =
    Number.isSafeInteger(id) &&
    Number.isSafeInteger(agentId) &&
    Number.isFinite(expiresAtMs) &&
    typeof agent_name === "string" &&
    typeof path_pattern === "string" &&
    (mode === "shared" || mode === "exclusive")
  if (!isKnown) return undefined
  return {
    id,
    repositoryId,
    agentId,
    agentName: agent_name,
    isPersons: is_person === true,
    diedAtMs: Number.isFinite(diedAtMs) ? diedAtMs : null,
    pathPattern: path_pattern,
    exclusive: mode === "exclusive",
    expiresAtMs,
    reason: typeof reason === "string" ? reason : null,
  }
}

function listedTable(
  listed: readonly ShownReservation[],
  repositories: readonly Repository[],
  nowMs: number,
): string {
  const names = new Map(repositories.map(({ id, name }) => [id, name]))
  const isWide = repositories.length > 1
  const rows = listed.map((one) => [
    String(one.id),
    ...(isWide ? [visibleLine(names.get(one.repositoryId) ?? "")] : []),
    visibleLine(one.pathPattern),
    holderOf(one),
    modeOf(one),
    duration(one.expiresAtMs - nowMs),
    visibleLine(one.reason ?? ""),
  ])
  const heading = ["ID", ...(isWide ? ["REPOSITORY"] : []), "PATTERN", "AGENT", "MODE", "LEFT", "REASON"]
  return table(heading, rows)
}

function nothingText({ agent, mode, all }: ReservationsOptions): string {
  const kind = mode === undefined ? "reservations" : `${mode} reservations`
  const whose = agent === undefined ? "" : ` of ${visibleLine(agent)}`
  const where = all === true ? "anywhere" : "in this repository"
  return `No ${kind}${whose} ${where}.`
}
