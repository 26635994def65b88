/** `signalbox override`: take a path away from its holder in an emergency, and decide on such requests. */

import type { Config } from "../config.ts"
import { isAdmin } from "../domain/api-key.ts"
import type { Override, OverrideStatus } from "../domain/override.ts"
import { AppError } from "../errors.ts"
import { readHookSettings } from "../hook/settings.ts"
import { forbidden } from "../operations/admission.ts"
import type { App } from "../operations/app.ts"
import { authenticate } from "../operations/keys.ts"
import { locate } from "../operations/locations.ts"
import { isoTime, lines, oneLine } from "../operations/markdown.ts"
import type { CallContext } from "../operations/operation.ts"
import {
  decideOverride,
  type OverrideOutcome,
  requestOverride,
  requireOverride,
} from "../operations/overrides.ts"
import { notConnected } from "../operations/reservation-commands.ts"
import { admitToRepository } from "../operations/reservations.ts"
import { type AuditEntry, listAudit, listOverrides } from "../store/overrides.ts"
import { agentsAround, callContext, requireIdentity, userName } from "./identity.ts"
import { refreshListings } from "./listener.ts"
import { bold, dim, green, type OutputOptions, printResult, table } from "./output.ts"
import { type ActorOptions, actingFor, reservationJson } from "./reserve.ts"
import { withApp } from "./with-app.ts"

/** Requests that a listing shows, the latest. */
const OVERRIDES_SHOWN_MAX = 100

export interface OverrideOptions extends ActorOptions {
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
    const context = await callContext(app)
    const location = await locate(app, path, config.workingFolder)
    if (location === undefined) throw notConnected(path)
    const { settings, warnings } = readHookSettings(config.userConfigPath, location.rootPath)
    for (const warning of warnings) app.log.warn(warning)
    const claimant = await requireIdentity(context, location.repository)
    await admitToRepository({ ...context, project: claimant.project }, location.repository.id)
    const outcome = await requestOverride(context, claimant, location, options.reason, settings)
    await refreshListings(config, outcome.released)
    printOutcome(options, outcome, context.nowMs)
    // `signalbox override x && edit x` must not go on.
    if (outcome.override.status === "pending")
      throw new AppError("conflict", `${oneLine(location.path)} is still reserved by others`)
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
    const context = await adminContext(app)
    await requireOverride(app.db, id)
    // Any agent can ask in another's name, so none may decide.
    const [agent] = await agentsAround(app)
    if (agent !== undefined) {
      throw new AppError("forbidden", `${agent.name} is an agent, and overrides are decided by people`, {
        hint: "Ask your user to run this command in a terminal of their own.",
      })
    }
    const decidedBy = userName() || "the user"
    printOutcome(options, await decideOverride(context, id, approved, decidedBy), context.nowMs)
  })
}

export interface ListOverridesOptions extends OutputOptions {
  status?: OverrideStatus
}

/** Lists requests, the latest first, at most 100; all of them take an admin key. */
export function listOverridesCommand(config: Config, options: ListOverridesOptions): Promise<void> {
  return withApp(config, async (app) => {
    await adminContext(app)
    const overrides = await listOverrides(app.db, options.status ?? null, OVERRIDES_SHOWN_MAX)
    const audited: object[] = []
    for (const override of overrides)
      audited.push({
        ...overrideJson(override),
        audit: (await listAudit(app.db, override.id)).map(auditJson),
      })
    printResult(options, audited, () => {
      if (overrides.length === 0) return `No ${options.status ?? ""} overrides.`.replace("  ", " ")
      const rows = overrides.map((one) => [
        String(one.id),
        one.status,
        one.requesterName,
        oneLine(one.path),
        isoTime(one.requestedAtMs),
        oneLine(one.reason),
      ])
      return table(["ID", "STATUS", "AGENT", "PATH", "REQUESTED", "REASON"], rows)
    })
  })
}

async function adminContext(app: App): Promise<CallContext> {
  const key = await authenticate(app)
  if (!isAdmin(key.scopes)) throw forbidden("admin")
  return { app, key, nowMs: app.now() }
}

function printOutcome(options: OutputOptions, { override, released }: OverrideOutcome, nowMs: number): void {
  const json = {
    ...overrideJson(override),
    released: released.map((reservation) => reservationJson(reservation, nowMs)),
  }
  printResult(options, json, () => {
    const path = bold(oneLine(override.path))
    if (override.status === "denied") return `Override ${override.id} of ${path} is denied.`
    if (override.status === "pending") {
      return lines(
        `Override ${override.id} of ${path} waits for approval; nothing was released yet.`,
        dim(
          `  Ask your user to decide it: signalbox override approve ${override.id}, or deny ${override.id}`,
        ),
      )
    }
    if (released.length === 0)
      return `Override ${override.id} is approved. Nobody holds ${path} any more, nothing had to be released.`
    return lines(
      `${green("✓")} ${path} is free. Released, and the holder was told:`,
      ...released.map(
        ({ pathPattern, agentName, id }) =>
          `  ${oneLine(pathPattern)} of ${agentName} ${dim(`(reservation ${id})`)}`,
      ),
      dim(`  Override ${override.id} is in the audit log. Reserve the path before you edit it.`),
    )
  })
}

function auditJson({ kind, actor, reservationId, createdAtMs }: AuditEntry) {
  return { kind, actor, reservation_id: reservationId, at: isoTime(createdAtMs) }
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
