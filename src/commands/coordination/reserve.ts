/** `signalbox reserve`, `release` and `cleanup`. */

import { join, relative } from "node:path"
import type { Config } from "../../config/config.ts"
import { modeFor, readHookSettings } from "../../config/hook-settings.ts"
import { COMMAND_CONFLICTS_SHOWN_MAX, CONFLICTS_FOUND_MAX, REASON_CHARS_MAX } from "../../config/limits.ts"
import {
  holderOf,
  modeOf,
  type Reservation,
  type ReservationMode,
} from "../../domain/coordination/reservation.ts"
import { named } from "../../domain/foreign-text/markdown.ts"
import { visibleLine, visibleWord } from "../../domain/foreign-text/visible.ts"
import { AppError, assert, invalid } from "../../errors.ts"
import { ASKS, admit } from "../../operations/admission.ts"
import { commandCall } from "../../operations/caller.ts"
import type { ClaimConflict } from "../../operations/coordination/claims.ts"
import { findOwnAgents, requireIdentity } from "../../operations/coordination/identity.ts"
import { repositoryAround } from "../../operations/coordination/locations.ts"
import {
  cleanUp,
  type NotReleased,
  releaseEverything,
  releaseTargets,
  reserveTargets,
  resolveTargets,
} from "../../operations/coordination/typed-paths.ts"
import { count, countFound, duration, isoTime, lines, nameList } from "../../operations/markdown.ts"
import { ownCommand } from "../../runtime/own-command.ts"
import { posixWord } from "../../runtime/shell-quoting.ts"
import { bold, dim, green, type OutputOptions, printResult } from "../output.ts"
import { withApp } from "../with-app.ts"
import { parseDuration } from "./duration.ts"
import { terminalOf } from "./identity.ts"

export interface ActorOptions extends OutputOptions {
  /** The agent to act for; wins over SIGNALBOX_AGENT. */
  agent?: string
}

export interface ReserveOptions extends ActorOptions {
  /** What the hook takes for the path, by default. */
  mode?: ReservationMode
  /** As `parseDuration` reads it; what the hook takes, by default. */
  duration?: string
  reason?: string
}

/** Reserves paths, all or none; fails with `conflict` and a report when any of them is not free. */
export function reserveCommand(
  config: Config,
  paths: readonly string[],
  options: ReserveOptions,
): Promise<void> {
  const durationSeconds = options.duration === undefined ? undefined : parseDuration(options.duration)
  const reason = options.reason?.trim() || null
  if (reason !== null && reason.length > REASON_CHARS_MAX)
    throw invalid("reason", `must have at most ${REASON_CHARS_MAX} characters (got ${reason.length})`)
  return withApp(actingFor(config, options), async (app) => {
    const context = await admit(commandCall(app), ASKS.toolCall)
    const targets = await resolveTargets(app, paths, config.workingFolder)
    const [first] = targets
    assert(first !== undefined, "the command line asks for a path")
    const claimant = await requireIdentity(context, terminalOf(app), first.repository)
    const told = new Set<string>()
    const claims = targets.map((target) => {
      const { settings, warnings } = readHookSettings(config.userConfigPath, target.rootPath)
      for (const warning of warnings) told.add(warning)
      const mode = options.mode ?? modeFor(settings, target.path)
      const seconds = durationSeconds ?? settings.reservationDuration
      return { ...target, exclusive: mode === "exclusive", durationSeconds: seconds, reason }
    })
    for (const warning of told) app.log.warn(warning)
    const { grants, sharers, conflicts, nowMs } = await reserveTargets(context, claimant, claims)
    if (conflicts.length > 0) {
      if (options.json === true) printResult(options, conflictsJson(conflicts, nowMs), () => "")
      const { settings } = readHookSettings(config.userConfigPath, first.rootPath)
      const witness = typedHere(config, first.rootPath, conflicts[0]?.witness ?? "")
      throw new AppError(
        "conflict",
        conflictText(conflicts, nowMs, {
          waitable: typedHere(config, first.rootPath, conflicts[0]?.claimed.pathPattern ?? ""),
          overridable: settings.allowOverrides ? witness : null,
        }),
      )
    }
    const sharersOf = ({ id }: Reservation) => sharers.get(id) ?? (sharers.has(id) ? null : [])
    const { agent, project } = claimant
    const isInOne = targets.every(({ repository }) => repository.id === first.repository.id)
    const all = isInOne ? "--all" : "--everywhere"
    const json = {
      status: "reserved",
      agent: { id: agent.id, name: agent.name, project_key: project.key },
      reservations: grants.map(({ granted, renewed }) => ({
        ...reservationJson(granted, nowMs),
        renewed,
        shared_with: sharersOf(granted)?.map(({ agentName }) => agentName) ?? null,
      })),
    }
    printResult(options, json, () =>
      lines(
        ...grants.flatMap(({ granted, renewed }) => {
          const left = duration(granted.expiresAtMs - nowMs)
          const what = `${green("✓")} ${renewed ? "Renewed" : "Reserved"} ${bold(visibleLine(granted.pathPattern))}`
          return [
            `${what} for ${left} ${dim(`(${modeOf(granted)}, reservation ${granted.id})`)}`,
            sharedText(sharersOf(granted)),
          ]
        }),
        dim(
          `  As ${agent.name}. When you are done: ${ownCommand()} release ${grants.length > 1 ? all : visibleWord(posixWord(first.typed))}`,
        ),
      ),
    )
  })
}

/** Returns the line that names the others who hold a reservation's files; null are too many to compare. */
function sharedText(others: readonly Reservation[] | null): string | null {
  if (others === null)
    return `  Shared with too many to compare: \`${ownCommand()} reservations\` shows who holds what.`
  return others.length === 0 ? null : `  Shared with ${nameList(others.map((one) => holderOf(one)))}`
}

export interface ReleaseOptions extends ActorOptions {
  /** Everything in the repository around the folder, instead of paths. */
  all?: boolean
  /** Everything in all repositories. */
  everywhere?: boolean
}

/**
 * Releases the caller's reservations of exactly these paths, or all of them here or everywhere. What can be released is; fails
 * with `conflict` when another agent holds a path, and with `not_found` when nobody does, or when there is no
 * repository here.
 */
export function releaseCommand(
  config: Config,
  paths: readonly string[],
  options: ReleaseOptions,
): Promise<void> {
  const isEverywhere = options.everywhere === true
  const isAll = options.all === true || isEverywhere
  if (isAll === paths.length > 0)
    throw invalid(
      "release",
      "needs either paths, --all or --everywhere",
      `\`${ownCommand()} reservations\` shows what is held.`,
    )
  return withApp(actingFor(config, options), async (app) => {
    const context = await admit(commandCall(app), ASKS.toolCall)
    if (isAll) {
      const repository = await repositoryAround(app, config.workingFolder)
      if (repository === undefined && !isEverywhere)
        throw new AppError("not_found", `${named(config.workingFolder)} lies in no connected repository`, {
          hint: `Go into one, or release what you hold in any: ${ownCommand()} release --everywhere.`,
        })
      const agents = await findOwnAgents(app, terminalOf(app), repository)
      const { released, heldElsewhere } = await releaseEverything(
        context,
        agents,
        isEverywhere ? undefined : repository,
      )
      printReleased(options, released, [], context.nowMs, heldElsewhere)
      return
    }
    const targets = await resolveTargets(app, paths, config.workingFolder)
    const agents = await findOwnAgents(app, terminalOf(app), targets[0]?.repository)
    const { released, notReleased } = await releaseTargets(context, agents, targets)
    printReleased(options, released, notReleased, context.nowMs)
    if (notReleased.length === 0) return
    const isHeldByOthers = notReleased.some(({ others }) => others.length > 0)
    throw new AppError(
      isHeldByOthers ? "conflict" : "not_found",
      lines(...notReleased.map((one) => whyNotReleased(config, one, context.nowMs))),
    )
  })
}

interface CleanupOptions extends OutputOptions {
  /** Releases what dead sessions hold without their grace. */
  dead?: boolean
}

/** Closes expired reservations, forgets dead server processes, and offers or releases what dead sessions hold. */
export function cleanupCommand(config: Config, options: CleanupOptions): Promise<void> {
  return withApp(config, async (app) => {
    const { expired, dead, released, held } = await cleanUp(app, { withoutGrace: options.dead === true })
    const value = {
      expired_reservations: expired,
      dead_server_processes: dead,
      released_of_dead_sessions: released,
      held_by_dead_sessions: held.map((one) => reservationJson(one, app.now())),
    }
    printResult(options, value, () => {
      const done = expired + dead + released
      const first =
        done === 0
          ? "Nothing to clean up: no reservation has expired, no server process has died."
          : `${green("✓")} Closed ${count(expired, "expired reservation")}, released ${count(released, "reservation")} of dead sessions and removed ${count(dead, "dead server process", "dead server processes")}.`
      if (held.length === 0) return first
      const offered = held.map((one) => `  ${visibleLine(one.pathPattern)}: ${holderOf(one)}`)
      return [
        first,
        "Held by sessions that have died:",
        ...offered,
        `Release them now: ${ownCommand()} cleanup --dead`,
      ].join("\n")
    })
  })
}

/** Returns the configuration with the agent that an option names. */
export function actingFor(config: Config, { agent }: ActorOptions): Config {
  return agent === undefined ? config : { ...config, agent }
}

/** What is shown of a reservation. */
export type ShownReservation = Pick<
  Reservation,
  | "id"
  | "repositoryId"
  | "agentId"
  | "agentName"
  | "isPersons"
  | "diedAtMs"
  | "pathPattern"
  | "exclusive"
  | "expiresAtMs"
  | "reason"
>

/** Returns what commands print of a reservation as JSON. */
export function reservationJson(reservation: ShownReservation, nowMs: number) {
  return {
    id: reservation.id,
    repository_id: reservation.repositoryId,
    path_pattern: reservation.pathPattern,
    mode: modeOf(reservation),
    agent_id: reservation.agentId,
    agent_name: reservation.agentName,
    is_person: reservation.isPersons,
    session_died_at: reservation.diedAtMs === null ? null : isoTime(reservation.diedAtMs),
    expires_at: isoTime(reservation.expiresAtMs),
    seconds_left: Math.max(0, Math.ceil((reservation.expiresAtMs - nowMs) / 1_000)),
    reason: reservation.reason,
  }
}

function conflictsJson(conflicts: readonly ClaimConflict[], nowMs: number) {
  return {
    status: "conflict",
    conflicts: conflicts.map(({ claimed, reservation, witness }) => ({
      wanted: claimed.pathPattern,
      matched_by_both: witness,
      ...reservationJson(reservation, nowMs),
    })),
  }
}

/**
 * `waitable` is the first path that is not free, and `overridable` the one that an override would be asked for, as they
 * are typed; null where overrides are off.
 */
function conflictText(
  conflicts: readonly ClaimConflict[],
  nowMs: number,
  { waitable, overridable }: { waitable: string; overridable: string | null },
): string {
  const shownOnes = conflicts.slice(0, COMMAND_CONFLICTS_SHOWN_MAX).map((conflict) => {
    const { claimed, reservation, witness } = conflict
    const wanted = visibleLine(claimed.pathPattern)
    const both = visibleLine(witness)
    return lines(
      `  ${wanted}: ${holding(conflict, nowMs)}`,
      both === wanted ? null : `    matched by both: ${both}`,
      reservation.reason === null ? null : `    reason: ${visibleLine(reservation.reason)}`,
    )
  })
  const more = conflicts.length - shownOnes.length
  const lastMs = Math.max(...conflicts.map(({ reservation }) => reservation.expiresAtMs))
  const canShare = conflicts.every(({ reservation }) => !reservation.exclusive)
  return lines(
    `nothing was reserved: ${countFound(conflicts.length, conflicts.length, "conflict")} with other agents' reservations`,
    ...shownOnes,
    more > 0 ? `  and ${conflicts.length < CONFLICTS_FOUND_MAX ? more : `at least ${more}`} more` : null,
    `Wait until ${isoTime(lastMs)}, work on other files, or write to the holder: ${writeTo(conflicts)}`,
    `Or wait for your turn: ${ownCommand()} wait --released ${waitable}`,
    canShare ? "All holders share: `--mode shared` lets you in." : null,
    overridable === null
      ? null
      : `Only in an emergency: ${ownCommand()} override ${overridable} --reason "<why>"`,
  )
}

/** Returns the command that writes to the first holder. */
function writeTo([first]: readonly { reservation: Reservation }[]): string {
  return `${ownCommand()} send ${first?.reservation.agentName ?? "<agent>"} "..."`
}

/** Returns who holds what stands in the way, such as `BlueLake holds src/** (exclusive, 5 min left)`. */
function holding({ reservation }: ClaimConflict, nowMs: number): string {
  const left = duration(reservation.expiresAtMs - nowMs)
  return `${holderOf(reservation)} holds ${visibleLine(reservation.pathPattern)} (${modeOf(reservation)}, ${left} left, reservation ${reservation.id})`
}

function printReleased(
  options: OutputOptions,
  released: readonly Reservation[],
  notReleased: readonly NotReleased[],
  nowMs: number,
  heldElsewhere = 0,
): void {
  const json = {
    released: released.map((reservation) => reservationJson(reservation, nowMs)),
    not_released: notReleased.map(({ target, coveredBy, others }) => ({
      path: target.typed,
      covered_by: coveredBy.map((reservation) => reservationJson(reservation, nowMs)),
      held_by_others: others.map(({ reservation }) => reservationJson(reservation, nowMs)),
    })),
    held_elsewhere: heldElsewhere,
  }
  const elsewhere =
    heldElsewhere === 0
      ? null
      : `You hold ${count(heldElsewhere, "reservation")} in other repositories: ${ownCommand()} release --everywhere`
  if (options.json !== true && released.length === 0 && notReleased.length > 0) return
  printResult(options, json, () =>
    released.length === 0
      ? lines(
          `Nothing to release: you hold no reservations${elsewhere === null ? "" : " in this repository"}.`,
          elsewhere,
        )
      : lines(
          ...released.map((reservation) => {
            const early = duration(reservation.expiresAtMs - nowMs)
            return `${green("✓")} Released ${bold(visibleLine(reservation.pathPattern))} ${dim(`(${early} early, reservation ${reservation.id})`)}`
          }),
          elsewhere,
        ),
  )
}

function whyNotReleased(config: Config, { target, coveredBy, others }: NotReleased, nowMs: number): string {
  const path = visibleLine(target.typed)
  const [own] = coveredBy
  if (own !== undefined) {
    const pattern = visibleLine(own.pathPattern)
    return `${path} was not released: you hold it as part of ${pattern}. Release that: ${ownCommand()} release ${typedHere(config, target.rootPath, own.pathPattern)}.`
  }
  const [other] = others
  if (other !== undefined)
    return `${path} was not released, it is not yours: ${holding(other, nowMs)}. Write to the holder: ${writeTo(others)}`
  return `${path} was not released: nobody has reserved it. \`${ownCommand()} reservations\` shows what is held.`
}

/** Returns a path or pattern of a repository as somebody in the working folder types it. */
function typedHere({ workingFolder }: Config, rootPath: string, pattern: string): string {
  return visibleWord(posixWord(relative(workingFolder, join(rootPath, pattern)) || "."))
}
