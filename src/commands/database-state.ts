/** What status and doctor tell of the database file and of its daily backups. */

import { existsSync } from "node:fs"
import type { Config } from "../config/config.ts"
import { lookInto } from "../db/backup.ts"
import { backupProblem, databaseBytes, listDailyBackups } from "../db/daily-backups.ts"
import { SCHEMA_VERSION } from "../db/migrations.ts"
import { visibleLine } from "../domain/foreign-text/visible.ts"
import { AppError, megabytes } from "../errors.ts"
import type { App } from "../operations/app.ts"
import { wayOutOf } from "../operations/database.ts"
import { count, isoTime } from "../operations/markdown.ts"
import { dim, green, red } from "./output.ts"
import { withApp } from "./with-app.ts"

export interface DatabaseJson {
  path: string
  exists: boolean
  /** On the disk, with the log. */
  bytes: number
  schema_version: number | null
  /** Why it cannot be used, with what to do; null when it can. */
  problem: string | null
  backups: { count: number; newest_at: string | null; problem: string | null }
}

interface DatabaseState<T> {
  database: DatabaseJson
  fault: AppError | undefined
  /** What `ask` found; undefined when the database is none that this version can ask. */
  found: T | undefined
}

/** Looks into the database, if there is one, without changing it, and asks it something. */
export async function databaseState<T>(
  config: Config,
  ask: (app: App) => Promise<T>,
): Promise<DatabaseState<T>> {
  const { databasePath: path } = config
  const exists = existsSync(path)
  const { schemaVersion, fault, found } = exists ? await lookAt(config, ask) : NOTHING
  return {
    database: {
      path,
      exists,
      bytes: databaseBytes(path),
      schema_version: schemaVersion,
      problem: fault?.text ?? null,
      backups: backupsJson(path),
    },
    fault,
    found,
  }
}

const NOTHING = { schemaVersion: null, fault: undefined, found: undefined }

async function lookAt<T>(config: Config, ask: (app: App) => Promise<T>) {
  const { databasePath } = config
  const look = lookInto(databasePath, () => wayOutOf(databasePath))
  if ("fault" in look) return { ...NOTHING, fault: look.fault }
  const { schemaVersion } = look
  // Opening an older database would bring it to this version's schema, and that is not ours to do here.
  if (schemaVersion !== SCHEMA_VERSION) return { ...NOTHING, schemaVersion }
  try {
    return { schemaVersion, fault: undefined, found: await withApp(config, ask) }
  } catch (error) {
    // Of a damaged page nobody knows before it is read.
    if (!(error instanceof AppError)) throw error
    return { ...NOTHING, schemaVersion, fault: error }
  }
}

function backupsJson(path: string): DatabaseJson["backups"] {
  const backups = listDailyBackups(path)
  const [newest] = backups
  return {
    count: backups.length,
    newest_at: newest === undefined ? null : isoTime(newest.atMs),
    problem: backupProblem(path)?.text ?? null,
  }
}

/** Returns the lines of status on the database and its backups. */
export function databaseLines({
  path,
  exists,
  bytes,
  schema_version: schema,
  ...rest
}: DatabaseJson): string[] {
  const name = (label: string) => label.padEnd(13)
  const { problem, backups } = rest
  if (!exists) return [`${dim("-")} ${name("Database")} no database yet; the first server makes ${path}`]
  const facts = (text: string) => dim(`(${megabytes(bytes)}${text})`)
  if (problem !== null)
    return [
      `${red("✗")} ${name("Database")} ${red(visibleLine(problem))}`,
      backupsLine(name("Backups"), backups),
    ]
  const known = `${path} ${facts(`, schema ${schema}`)}`
  const next =
    schema === SCHEMA_VERSION
      ? ""
      : (schema ?? 0) < SCHEMA_VERSION
        ? red(" the next server brings it to this version")
        : red(" made by a newer signalbox: update this one")
  return [
    `${next === "" ? green("✓") : dim("-")} ${name("Database")} ${known}${next}`,
    backupsLine(name("Backups"), backups),
  ]
}

function backupsLine(
  name: string,
  { count: number, newest_at: newest, problem }: DatabaseJson["backups"],
): string {
  const made =
    newest === null
      ? "none yet; a server makes one a day"
      : `${count(number, "daily backup")}, the newest of ${newest}`
  if (problem !== null) return `${red("✗")} ${name} ${made}; ${red(visibleLine(problem))}`
  return `${newest === null ? dim("-") : green("✓")} ${name} ${made}`
}
