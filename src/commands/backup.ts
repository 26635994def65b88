/** `signalbox backup` and `restore`: a copy of the database while servers run, and back. */

import { existsSync, realpathSync, statSync } from "node:fs"
import { resolve } from "node:path"
import { openAppAlone } from "../app.ts"
import type { Config } from "../config/config.ts"
import { backUp, restore } from "../db/backup.ts"
import { SCHEMA_VERSION } from "../db/migrations.ts"
import { AppError } from "../errors.ts"
import { count, lines } from "../operations/markdown.ts"
import { livingProcesses } from "../operations/processes.ts"
import { createLog } from "../runtime/log.ts"
import { ownCommand } from "../runtime/own-command.ts"
import { processMark } from "../runtime/process-identity.ts"
import { listenerOf } from "./listener.ts"
import { bold, dim, green, type OutputOptions, printResult } from "./output.ts"

interface BackupOptions extends OutputOptions {
  /** Replaces a file that exists; for restore: goes on although servers use the database. */
  force?: boolean
}

/** Copies the database into a file; safe while servers run. Fails with `refused` when the file exists. */
export async function backupCommand(config: Config, file: string, options: BackupOptions): Promise<void> {
  const { databasePath } = config
  const target = resolve(config.workingFolder, file)
  if (!existsSync(databasePath)) {
    throw new AppError("not_found", `there is no database ${databasePath} yet`, {
      hint: "The first server makes it; --db names another one.",
    })
  }
  requireOther(target, databasePath)
  const hint = `Bring back an earlier state with \`${ownCommand()} restore\`.`
  const terms = { replaces: options.force === true, knownVersion: SCHEMA_VERSION, hint }
  const { schemaVersion } = backUp(databasePath, target, terms)
  const json = { file: target, bytes: statSync(target).size, schema_version: schemaVersion }
  printResult(options, json, () =>
    lines(
      `${green("✓")} Backed up to ${bold(target)} ${dim(`(${Math.ceil(json.bytes / 1024)} KiB)`)}`,
      dim(
        `  It holds all mail: keep it as private as the database. Bring it back with ${ownCommand()} restore.`,
      ),
    ),
  )
}

/**
 * Puts a backup in the place of the database and keeps what was there. Fails with `refused` while servers
 * use the database, and with `unavailable` when the file is no whole database of ours.
 */
export async function restoreCommand(config: Config, file: string, options: BackupOptions): Promise<void> {
  const { databasePath } = config
  const source = resolve(config.workingFolder, file)
  requireOther(source, databasePath)
  const users = existsSync(databasePath) ? await usersOf(config) : []
  if (users.length > 0 && options.force !== true) {
    throw new AppError("refused", `the database ${databasePath} is in use: ${users.join(", ")}`, {
      hint: "End those first (close the coding agents), or go on with --force and restart them afterwards.",
    })
  }
  const kept = existsSync(databasePath) ? keptPath(databasePath) : null
  const { schemaVersion } = restore(source, databasePath, {
    kept: kept ?? keptPath(databasePath),
    knownVersion: SCHEMA_VERSION,
    hint: `Name a file that \`${ownCommand()} backup\` made.`,
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
        : `  ${count(users.length, "process", "processes")} still used it: restart your coding agents now.`,
    ),
  )
}

/** Returns what uses a database, as words; what cannot be found out counts as a user too. */
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
    // Why does not matter: a database that cannot be read is the one that is restored.
    return [...servers(pids), "it cannot be read, so nobody knows by whom"]
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
