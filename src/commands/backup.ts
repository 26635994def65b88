/** `signalbox backup` and `restore`: a copy of the database while servers run, and back. */

import { existsSync, realpathSync, statSync } from "node:fs"
import { resolve } from "node:path"
import { openAppAlone } from "../app.ts"
import type { Config } from "../config/config.ts"
import { backUp, restore } from "../db/backup.ts"
import { backupProblem, backupsFolder, listDailyBackups, makeDailyBackup } from "../db/daily-backups.ts"
import { SCHEMA_VERSION } from "../db/migrations.ts"
import { visibleLine } from "../domain/foreign-text/visible.ts"
import { AppError, megabytes } from "../errors.ts"
import { wayOutOf } from "../operations/database.ts"
import { count, isoTime, lines } from "../operations/markdown.ts"
import { livingProcesses } from "../operations/processes.ts"
import { backupHint } from "../operations/upkeep.ts"
import { createLog } from "../runtime/log.ts"
import { ownCommand } from "../runtime/own-command.ts"
import { processMark } from "../runtime/process-identity.ts"
import { posixWord } from "../runtime/shell-quoting.ts"
import { listenerOf } from "./listener.ts"
import { bold, dim, green, type OutputOptions, printResult, red, table } from "./output.ts"

interface BackupOptions extends OutputOptions {
  /** Replaces a file that exists; for restore: goes on although servers use the database. */
  force?: boolean
}

/**
 * Copies the database into a file, or into the folder of daily backups; safe while servers run. Fails with `refused`
 * when the file exists, and with `conflict` while another process makes a daily backup.
 */
export async function backupCommand(
  config: Config,
  file: string | undefined,
  options: BackupOptions,
): Promise<void> {
  const { databasePath } = config
  if (!existsSync(databasePath)) {
    throw new AppError("not_found", `there is no database ${databasePath} yet`, {
      hint: "The first server makes it; --db names another one.",
    })
  }
  const hint = backupHint()
  const { path: target, schemaVersion } =
    file === undefined ? makeDaily(databasePath, hint) : copyInto(resolve(config.workingFolder, file))
  function copyInto(path: string) {
    requireOther(path, databasePath)
    const terms = { replaces: options.force === true, knownVersion: SCHEMA_VERSION, hint }
    return { path, ...backUp(databasePath, path, terms) }
  }
  const json = { file: target, bytes: statSync(target).size, schema_version: schemaVersion }
  printResult(options, json, () =>
    lines(
      `${green("✓")} Backed up to ${bold(target)} ${dim(`(${megabytes(json.bytes)})`)}`,
      dim(
        `  It holds all mail: keep it as private as the database. Bring it back with: ${ownCommand()} restore ${posixWord(target)}`,
      ),
    ),
  )
}

function makeDaily(databasePath: string, hint: string) {
  const made = makeDailyBackup(databasePath, { nowMs: Date.now(), hint })
  if (made !== undefined) return made
  throw new AppError("conflict", "another process is making a backup right now", {
    hint: `See it with \`${ownCommand()} restore\`.`,
  })
}

/** Lists the daily backups with date and size, newest first, and how one is brought back. */
export async function listBackupsCommand(config: Config, options: OutputOptions): Promise<void> {
  const { databasePath } = config
  const backups = listDailyBackups(databasePath)
  const problem = backupProblem(databasePath)?.text ?? null
  const json = {
    folder: backupsFolder(databasePath),
    backups: backups.map(({ path, atMs, bytes }) => ({ file: path, made_at: isoTime(atMs), bytes })),
    problem,
  }
  printResult(options, json, () => {
    const [newest] = backups
    if (newest === undefined)
      return lines(
        `No daily backups of ${databasePath} yet. A server makes one a day; \`${ownCommand()} backup\` makes one now.`,
        problem === null ? null : red(visibleLine(problem)),
      )
    const rows = backups.map(({ path, atMs, bytes }) => [isoTime(atMs), megabytes(bytes), path])
    return lines(
      table(["MADE", "SIZE", "FILE"], rows),
      problem === null ? null : red(visibleLine(problem)),
      dim(`Bring one back: ${ownCommand()} restore ${posixWord(newest.path)}`),
    )
  })
}

/**
 * Writes the database file anew, as small as it can be. Fails with `refused` while servers use it, and with
 * `unavailable` when the disk has no room.
 */
export async function shrinkCommand(config: Config, options: BackupOptions): Promise<void> {
  const { databasePath } = config
  if (!existsSync(databasePath))
    throw new AppError("not_found", `there is no database ${databasePath} yet`, {
      hint: "Nothing is to be done.",
    })
  await requireUnused(config, options)
  const { shrinkWhole } = await import("../db/reclaim.ts")
  const { bytesBefore, bytesAfter } = await shrinkWhole(databasePath, {
    wayOut: () => wayOutOf(databasePath),
  })
  const json = { database: databasePath, bytes_before: bytesBefore, bytes_after: bytesAfter }
  printResult(options, json, () =>
    lines(
      `${green("✓")} ${bold(databasePath)} had ${megabytes(bytesBefore)} and has ${megabytes(bytesAfter)} now.`,
      dim("  From now on it gives back by itself what is deleted."),
    ),
  )
}

async function requireUnused(config: Config, { force }: BackupOptions): Promise<string[]> {
  const { databasePath } = config
  const users = existsSync(databasePath) ? await usersOf(config) : []
  if (users.length === 0 || force === true) return users
  throw new AppError("refused", `the database ${databasePath} is in use: ${users.join(", ")}`, {
    hint: "End those first (close the coding agents), or go on with --force and restart them afterwards.",
  })
}

/**
 * Puts a backup in the place of the database and keeps what was there. Fails with `refused` while servers
 * use the database, and with `unavailable` when the file is no whole database of ours.
 */
export async function restoreCommand(config: Config, file: string, options: BackupOptions): Promise<void> {
  const { databasePath } = config
  const source = resolve(config.workingFolder, file)
  requireOther(source, databasePath)
  const users = await requireUnused(config, options)
  const kept = existsSync(databasePath) ? keptPath(databasePath) : null
  const { schemaVersion } = restore(source, databasePath, {
    kept: kept ?? keptPath(databasePath),
    knownVersion: SCHEMA_VERSION,
    hint: `Name a file that \`${ownCommand()} backup\` made.`,
    nowMs: Date.now(),
    isInUse: users.length > 0,
  })
  const json = {
    database: databasePath,
    restored_from: source,
    schema_version: schemaVersion,
    kept,
    in_use: users,
  }
  printResult(options, json, () =>
    lines(
      `${green("✓")} Restored ${bold(databasePath)} from ${source}`,
      kept === null ? null : dim(`  What was there is kept: ${kept}`),
      users.length === 0
        ? null
        : `  ${count(users.length, "process", "processes")} still used it: restart your coding agents, and \`${ownCommand()} serve\`, now.`,
    ),
  )
}

/** Returns what uses a database, as words. */
async function usersOf(config: Config): Promise<string[]> {
  const listenerPid = listenerOf(config)?.pid
  const pids = new Set<number>()
  if (listenerPid !== undefined && processMark(listenerPid) !== undefined) pids.add(listenerPid)
  try {
    const app = await openAppAlone({ ...config, warnings: [] }, { log: createLog("silent") })
    try {
      for (const pid of await livingProcesses(app)) pids.add(pid)
    } finally {
      await app.close()
    }
  } catch {
    // What cannot be read is what a backup is restored for. Servers that live have a listener, which is named.
  }
  return servers(pids)
}

function servers(pids: ReadonlySet<number>): string[] {
  return [...pids].map((pid) => `server process ${pid}`)
}

function requireOther(file: string, databasePath: string): void {
  if (!existsSync(file) || !existsSync(databasePath)) return
  if (realpathSync(file) !== realpathSync(databasePath)) return
  throw new AppError("invalid", `${file} is the database itself`, {
    field: "file",
    hint: "Name another file.",
  })
}

/** Returns where a replaced database is kept; the time is UTC, in a form that every file system takes. */
function keptPath(databasePath: string): string {
  const time = new Date().toISOString().replace(/[-:]/g, "").replace(/\.\d+/, "")
  const base = databasePath.replace(/\.db$/, "")
  for (let number = 1; ; number += 1) {
    const path = `${base}.before-restore-${time}${number === 1 ? "" : `-${number}`}.db`
    if (!existsSync(path)) return path
  }
}
