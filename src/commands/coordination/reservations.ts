/** `signalbox reservations`: what is held now. */

import type { Config } from "../../config/config.ts"
import { holderOf, modeOf, type ReservationMode } from "../../domain/coordination/reservation.ts"
import { visibleLine } from "../../domain/foreign-text/visible.ts"
import type { Repository } from "../../domain/project.ts"
import { ASKS, admit } from "../../operations/admission.ts"
import { commandCall } from "../../operations/caller.ts"
import { connectedRepositories } from "../../operations/connect.ts"
import { listHeld, listWaiting } from "../../operations/coordination/held.ts"
import { repositoryAround } from "../../operations/coordination/locations.ts"
import { notConnected } from "../../operations/coordination/typed-paths.ts"
import { duration, lines } from "../../operations/markdown.ts"
import type { CallContext } from "../../operations/operation.ts"
import { type OutputOptions, printResult, table } from "../output.ts"
import { withApp } from "../with-app.ts"
import { reservationJson, type ShownReservation } from "./reserve.ts"

export interface ReservationsOptions extends OutputOptions {
  /** Only those of the agents of this name. */
  agent?: string
  mode?: ReservationMode
  /** Looks anew, which every listing does. */
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
    const held: ShownReservation[] = []
    const waiting: Waiting[] = []
    for (const { id } of repositories) {
      held.push(...(await listHeld(context, id)))
      waiting.push(...(await listWaiting(context, id)))
    }
    const listed = held.filter(
      (one) =>
        (options.mode === undefined || modeOf(one) === options.mode) &&
        (options.agent === undefined || one.agentName.toLowerCase() === options.agent.toLowerCase()),
    )
    printResult(
      options,
      listed.map((one) => reservationJson(one, context.nowMs)),
      () =>
        lines(
          listed.length === 0 ? nothingText(options) : listedTable(listed, repositories, context.nowMs),
          ...waiting.map((one) => waitingText(one, context.nowMs)),
        ),
    )
  })
}

async function requireAround({ app }: CallContext): Promise<Repository> {
  const { workingFolder } = app.config
  const repository = await repositoryAround(app, workingFolder)
  if (repository === undefined) throw notConnected(workingFolder)
  return repository
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

type Waiting = Awaited<ReturnType<typeof listWaiting>>[number]

function waitingText(wait: Waiting, nowMs: number): string {
  const since = duration(nowMs - wait.createdAtMs)
  return `${wait.agentName} waits for ${visibleLine(wait.pathPattern)} (${modeOf(wait)}, for ${since})`
}

function nothingText({ agent, mode, all }: ReservationsOptions): string {
  const kind = mode === undefined ? "reservations" : `${mode} reservations`
  const whose = agent === undefined ? "" : ` of ${visibleLine(agent)}`
  const where = all === true ? "anywhere" : "in this repository"
  return `No ${kind}${whose} ${where}.`
}
