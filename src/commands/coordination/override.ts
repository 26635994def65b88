/** `signalbox override`: take a path away from its holder in an emergency, and decide on such requests. */

import type { Config } from "../../config/config.ts"
import { readHookSettings } from "../../config/hook-settings.ts"
import { OVERRIDES_SHOWN_MAX } from "../../config/limits.ts"
import type { Override, OverrideStatus } from "../../domain/coordination/override.ts"
import { holderOf } from "../../domain/coordination/reservation.ts"
import { visibleLine } from "../../domain/foreign-text/visible.ts"
import { AppError } from "../../errors.ts"
import { ASKS, admit } from "../../operations/admission.ts"
import { commandCall } from "../../operations/caller.ts"
import { requireIdentity } from "../../operations/coordination/identity.ts"
import { locate } from "../../operations/coordination/locations.ts"
import {
  type AuditedOverride,
  decideOverride,
  listAuditedOverrides,
  OVERRIDES_RULE,
  type OverrideOutcome,
  requestOverride,
  requireOverride,
} from "../../operations/coordination/overrides.ts"
import { requirePersonAtTerminal } from "../../operations/coordination/people.ts"
import { admitToRepository } from "../../operations/coordination/reservations.ts"
import { notConnected } from "../../operations/coordination/typed-paths.ts"
import { isoTime, lines } from "../../operations/markdown.ts"
import { ownCommand } from "../../runtime/own-command.ts"
import { bold, dim, green, type OutputOptions, printResult, table } from "../output.ts"
import { withApp } from "../with-app.ts"
import { terminalOf, userName } from "./identity.ts"
import { type ActorOptions, actingFor, reservationJson } from "./reserve.ts"

interface OverrideOptions extends ActorOptions {
  reason: string
}

/**
 * Takes a path from its holders, or files the request where the settings ask for approval. Fails with
 * `forbidden` when overrides are switched off, with `not_found` when nobody else holds the path.
 */
export function requestOverrideCommand(
  config: Config,
  path: string,
  options: OverrideOptions,
): Promise<void> {
  return withApp(actingFor(config, options), async (app) => {
    const context = await admit(commandCall(app), ASKS.toolCall)
    const location = await locate(app, path, config.workingFolder)
    if (location === undefined) throw notConnected(path)
    const { settings, warnings } = readHookSettings(config.userConfigPath, location.rootPath)
    for (const warning of warnings) app.log.warn(warning)
    const claimant = await requireIdentity(context, terminalOf(app), location.repository)
    await admitToRepository({ ...context, project: claimant.project }, location.repository.id)
    const outcome = await requestOverride(context, claimant, location, options.reason, settings)
    printOutcome(options, outcome, context.nowMs)
    // `signalbox override x && edit x` must not go on.
    if (outcome.override.status === "pending")
      throw new AppError("conflict", `${visibleLine(location.path)} is still reserved by others`)
  })
}

/**
 * Approves or denies a request. Fails with `forbidden` without an admin key, and inside the session of any
 * agent.
 */
export function decideOverrideCommand(
  config: Config,
  id: number,
  approved: boolean,
  options: OutputOptions,
): Promise<void> {
  return withApp(config, async (app) => {
    const context = await admit(commandCall(app), ASKS.admin)
    await requireOverride(app.db, id)
    // Any agent can ask in another's name, so none may decide.
    await requirePersonAtTerminal(app, terminalOf(app), OVERRIDES_RULE)
    const decidedBy = userName() || "the user"
    printOutcome(options, await decideOverride(context, id, approved, decidedBy), context.nowMs)
  })
}

interface ListOverridesOptions extends OutputOptions {
  status?: OverrideStatus
}

/** Lists requests, the latest first, at most 100; all of them take an admin key. */
export function listOverridesCommand(config: Config, options: ListOverridesOptions): Promise<void> {
  return withApp(config, async (app) => {
    const context = await admit(commandCall(app), ASKS.admin)
    const audited = await listAuditedOverrides(context, options.status ?? null, OVERRIDES_SHOWN_MAX)
    printResult(options, audited.map(auditedJson), () => {
      if (audited.length === 0) return `No ${options.status ?? ""} overrides.`.replace("  ", " ")
      const rows = audited.map(({ override: one }) => [
        String(one.id),
        one.status,
        one.requesterName,
        visibleLine(one.path),
        isoTime(one.requestedAtMs),
        visibleLine(one.reason),
      ])
      return table(["ID", "STATUS", "AGENT", "PATH", "REQUESTED", "REASON"], rows)
    })
  })
}

function printOutcome(options: OutputOptions, { override, released }: OverrideOutcome, nowMs: number): void {
  const json = {
    ...overrideJson(override),
    released: released.map((reservation) => reservationJson(reservation, nowMs)),
  }
  printResult(options, json, () => {
    const path = bold(visibleLine(override.path))
    if (override.status === "denied") return `Override ${override.id} of ${path} is denied.`
    if (override.status === "pending") {
      return lines(
        `Override ${override.id} of ${path} waits for approval; nothing was released yet.`,
        dim(
          `  Ask your user to decide it: ${ownCommand()} override approve ${override.id}, or deny ${override.id}`,
        ),
      )
    }
    if (released.length === 0)
      return `Override ${override.id} is approved. Nobody holds ${path} any more, nothing had to be released.`
    return lines(
      `${green("✓")} ${path} is free. Released, and the holder was told:`,
      ...released.map(
        (reservation) =>
          `  ${visibleLine(reservation.pathPattern)} of ${holderOf(reservation)} ${dim(`(reservation ${reservation.id})`)}`,
      ),
      dim(`  Override ${override.id} is in the audit log. Reserve the path before you edit it.`),
    )
  })
}

function auditedJson({ override, audit }: AuditedOverride) {
  const entries = audit.map(({ kind, actor, reservationId, createdAtMs }) => ({
    kind,
    actor,
    reservation_id: reservationId,
    at: isoTime(createdAtMs),
  }))
  return { ...overrideJson(override), audit: entries }
}

function overrideJson(override: Override) {
  return {
    id: override.id,
    status: override.status,
    path: override.path,
    reason: override.reason,
    agent_id: override.requesterId,
    agent_name: override.requesterName,
    repository_id: override.repositoryId,
    project_id: override.projectId,
    requested_at: isoTime(override.requestedAtMs),
    decided_at: override.decidedAtMs === null ? null : isoTime(override.decidedAtMs),
  }
}
