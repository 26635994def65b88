/** `signalbox wait --released`: waits until a path is free, and has it reserved for who waited longest. */

import type { Config } from "../../config/config.ts"
import { modeFor, readHookSettings } from "../../config/hook-settings.ts"
import { RESERVATION_SECONDS_MAX, WAIT_GRANT_MS } from "../../config/limits.ts"
import { modeOf, type ReservationMode } from "../../domain/coordination/reservation.ts"
import { visibleLine, visibleWord } from "../../domain/foreign-text/visible.ts"
import { assert } from "../../errors.ts"
import { ASKS, admit } from "../../operations/admission.ts"
import { commandCall } from "../../operations/caller.ts"
import { requireIdentity } from "../../operations/coordination/identity.ts"
import { resolveTargets } from "../../operations/coordination/typed-paths.ts"
import { waitForFiles } from "../../operations/coordination/waits.ts"
import { duration, lines, nameList } from "../../operations/markdown.ts"
import { ownCommand } from "../../runtime/own-command.ts"
import { posixWord } from "../../runtime/shell-quoting.ts"
import { bold, dim, green, printResult } from "../output.ts"
import { whenUnwanted } from "../waiting.ts"
import { withApp } from "../with-app.ts"
import { parseDuration } from "./duration.ts"
import { terminalOf } from "./identity.ts"
import { type ActorOptions, actingFor, reservationJson } from "./reserve.ts"

export interface WaitReleasedOptions extends ActorOptions {
  /** What the hook takes for the path, by default. */
  mode?: ReservationMode
  /** As `parseDuration` reads it; what the hook takes, by default. */
  duration?: string
  /** As `parseDuration` reads it; the longest that it reads, by default. */
  timeout?: string
}

/**
 * Waits until a path is released and prints the reservation; fails with `timed_out`, with `conflict` where waiting
 * would never end, and with `refused` when a signal or the end of its parent ends it. Whichever it is, the queue forgets it.
 */
export function waitReleasedCommand(
  config: Config,
  path: string,
  options: WaitReleasedOptions,
): Promise<void> {
  const durationSeconds = options.duration === undefined ? undefined : parseDuration(options.duration)
  const timeoutSeconds =
    options.timeout === undefined ? RESERVATION_SECONDS_MAX : parseDuration(options.timeout, "timeout")
  return withApp(actingFor(config, options), async (app) => {
    const context = await admit(commandCall(app), ASKS.toolCall)
    const [target] = await resolveTargets(app, [path], config.workingFolder)
    assert(target !== undefined, "one path makes one target")
    const claimant = await requireIdentity(context, terminalOf(app), target.repository)
    const { settings, warnings } = readHookSettings(config.userConfigPath, target.rootPath)
    for (const warning of warnings) app.log.warn(warning)
    const wanted = {
      repository: target.repository,
      pathPattern: target.pathPattern,
      exclusive: (options.mode ?? modeFor(settings, target.path)) === "exclusive",
      durationSeconds: durationSeconds ?? settings.reservationDuration,
      timeoutSeconds,
    }
    const stop = new AbortController()
    const unwatchEnd = whenUnwanted(() => stop.abort())
    try {
      const { reservation, wasFree, waitedMs } = await waitForFiles(context, claimant, wanted, {
        stop: stop.signal,
        onQueued: (blockers) =>
          app.log.info(`waiting for ${visibleLine(target.pathPattern)} behind ${nameList(blockers)}`),
      })
      const nowMs = app.now()
      const lapses = !wasFree
      const json = {
        status: "reserved",
        waited_seconds: Math.round(waitedMs / 1_000),
        lapses_unless_used: lapses,
        agent: { id: claimant.agent.id, name: claimant.agent.name, project_key: claimant.project.key },
        reservation: reservationJson(reservation, nowMs),
      }
      const left = duration(reservation.expiresAtMs - nowMs)
      const again = `${ownCommand()} reserve ${visibleWord(posixWord(path))}`
      printResult(options, json, () =>
        lines(
          `${green("✓")} Reserved ${bold(visibleLine(reservation.pathPattern))} for ${left} ${dim(`(${modeOf(reservation)}, reservation ${reservation.id})`)}`,
          dim(
            lapses
              ? `  As ${reservation.agentName}. Use it within ${WAIT_GRANT_MS / 1_000} s or it goes to the next: edit it, or ${again}. It then lasts ${duration(wanted.durationSeconds * 1_000)}.`
              : `  As ${reservation.agentName}. Nobody held it.`,
          ),
        ),
      )
    } finally {
      unwatchEnd()
    }
  })
}
