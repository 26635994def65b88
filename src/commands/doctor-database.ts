/** What doctor says of the database: whether it is whole, what it could give back, and whether it is backed up. */

import { accessSync, constants, existsSync, statSync } from "node:fs"
import { dirname } from "node:path"
import type { Config } from "../config/config.ts"
import { DAILY_BACKUP_AFTER_MS, DOCTOR_DATABASE_TIMEOUT_MS, RECLAIMED_BYTES_MIN } from "../config/limits.ts"
import { backupProblem, databaseBytes, lastChangeMs, listDailyBackups } from "../db/daily-backups.ts"
import { AppError, fileProblem, megabytes } from "../errors.ts"
import { wayOutOf } from "../operations/database.ts"
import { count, isoTime } from "../operations/markdown.ts"
import { ownCommand } from "../runtime/own-command.ts"

export interface Finding {
  about: string
  state: "ok" | "warning" | "problem"
  text: string
  /** What to do; only where something is to be done. */
  advice?: string
}

/** Checks the database. The driver is loaded here and not before, since that it loads is one of the questions. */
export async function checkDatabase(config: Config): Promise<Finding[]> {
  const path = config.databasePath
  const about = "database"
  const wayOut = () => wayOutOf(path)
  try {
    const { checkHealth } = await import("../db/health.ts")
    if (!existsSync(path)) {
      requirePlace(path)
      return [{ about, state: "ok", text: `${path} is not there yet; the first call of a tool makes it` }]
    }
    const health = await checkHealth(path, DOCTOR_DATABASE_TIMEOUT_MS, wayOut)
    const { faults, schemaVersion } = health
    if (faults.length > 0) {
      const text = `${path} is damaged: its check found ${count(faults.length, "fault")}`
      return [{ about, state: "problem", text, advice: wayOut() }]
    }
    const size = megabytes(databaseBytes(path))
    const whole: Finding = { about, state: "ok", text: `${path}, ${size}, schema ${schemaVersion}` }
    return [whole, ...checkSize(health), ...checkBackups(config)]
  } catch (error) {
    const isKnown = error instanceof AppError
    const advice = isKnown
      ? error.hint
      : "Reinstall signalbox with the Node that runs it: npm install signalbox."
    const text = (error as Error).message
    return [{ about, state: "problem", text, ...(advice !== undefined && { advice }) }]
  }
}

/** Fails with `unavailable` where a file that is not there yet cannot be made. */
function requirePlace(path: string): void {
  let folder = dirname(path)
  while (!existsSync(folder)) folder = dirname(folder)
  if (!statSync(folder).isDirectory())
    throw new AppError("unavailable", `${path} cannot be made: ${folder} is no folder`, {
      hint: "Move that file aside, or name another place.",
    })
  try {
    accessSync(folder, constants.W_OK | constants.X_OK)
  } catch (error) {
    throw fileProblem(error, folder) ?? error
  }
}

/** New files give back by themselves what is deleted; those that were made before need a conversion. */
function checkSize({
  bytes,
  freeBytes,
  givesBack,
}: {
  bytes: number
  freeBytes: number
  givesBack: boolean
}): Finding[] {
  if (givesBack || freeBytes < RECLAIMED_BYTES_MIN) return []
  const text = `${megabytes(freeBytes)} of ${megabytes(bytes)} are unused, and this file was made before files shrank by themselves`
  const advice = `Close the coding agents, then run: ${ownCommand()} doctor --shrink (needs up to ${megabytes(2 * (bytes - freeBytes))} of free space for a moment)`
  return [{ about: "database size", state: "warning", text, advice }]
}

function checkBackups({ databasePath }: Config): Finding[] {
  const about = "backups"
  const backups = listDailyBackups(databasePath)
  const [newest] = backups
  const made =
    newest === undefined
      ? "no daily backup yet"
      : `${count(backups.length, "daily backup")}, the newest of ${isoTime(newest.atMs)}`
  const problem = backupProblem(databasePath)
  if (problem !== undefined)
    return [
      {
        about,
        state: "warning",
        text: `${made}; ${problem.text}`,
        advice: `Then make one: ${ownCommand()} backup`,
      },
    ]
  // Two days of work: a server that was there for some moments only has made none.
  const isOld = newest !== undefined && lastChangeMs(databasePath) - newest.atMs > 2 * DAILY_BACKUP_AFTER_MS
  if (isOld)
    return [
      {
        about,
        state: "warning",
        text: `${made}, older than it should be`,
        advice: `Make one: ${ownCommand()} backup`,
      },
    ]
  return [{ about, state: "ok", text: made }]
}
