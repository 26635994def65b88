/**
 * The SQLite driver of the database port, and the only code that knows better-sqlite3. It owns the
 * connection's settings, the queue that keeps transactions of one process apart, and the waiting for
 * other processes. It knows no table.
 */

import BetterSqlite3 from "better-sqlite3"
import { DATABASE_WAIT_MS_MAX } from "../config/limits.ts"
import { AppError } from "../errors.ts"
import { ConstraintError, type Database, type Queries, type Row, type SqlValue } from "./database.ts"
import { faultOf, requireMoreThanByte, type WayOut } from "./faults.ts"
import { addVectorFunctions } from "./vector-functions.ts"

type Statement = BetterSqlite3.Statement<unknown[], Row>

/** How often a watched file is asked whether others have changed it, which takes a few microseconds. */
const WATCH_MS = 40

/** The longest pause between two tries for the write lock. */
const RETRY_PAUSE_MS_MAX = 12

const MMAP_BYTES = 1024 ** 3

export interface SqliteOptions {
  /** How long to wait for other processes before giving up with `unavailable`. */
  waitMs?: number
  /** In 0..1, for the jitter of the retries. */
  random?: () => number
  /** Whether what is read of the file counts as memory of this process; true unless given. */
  isMapped?: boolean
  /** Says how a damaged file is replaced. */
  wayOut?: WayOut
  /** Looks at a file before anything about it is changed; throws to leave it alone. */
  inspect?: (connection: BetterSqlite3.Database) => void
}

/**
 * Opens the SQLite file at `path`, creating it when missing: WAL, synchronous=NORMAL, foreign keys on.
 * Fails with `unavailable` when the file cannot be opened or is no database, or SQLite was built for another Node.
 */
export async function openSqlite(path: string, options: SqliteOptions = {}): Promise<SqliteDatabase> {
  const waitMs = options.waitMs ?? DATABASE_WAIT_MS_MAX
  const random = options.random ?? Math.random
  let connection: BetterSqlite3.Database | undefined
  try {
    requireMoreThanByte(path, options.wayOut)
    // The wait is ours, not SQLite's: its busy handler blocks this thread and backs off unfairly.
    const opened = new BetterSqlite3(path, { timeout: 0 })
    connection = opened
    await retryWhileBusy(waitMs, random, () => {
      options.inspect?.(opened)
      // A new file gives back what is deleted; that is decided before its first page is written.
      if (isBlank(opened)) opened.pragma("auto_vacuum = INCREMENTAL")
      // Switching a cold file to WAL ignores SQLite's busy handler, so it is retried like the rest.
      if (opened.pragma("journal_mode", { simple: true }) !== "wal") opened.pragma("journal_mode = WAL")
      opened.pragma("synchronous = NORMAL")
      opened.pragma("foreign_keys = ON")
      // What is deleted is gone from the file, too.
      opened.pragma("secure_delete = ON")
      // Copying the log back waits for the disk; 16 MB of it at a time, a fourth as often as by default.
      opened.pragma("wal_autocheckpoint = 4000")
      // Reading the file as memory is faster, and processes share what they have read.
      opened.pragma(`mmap_size = ${options.isMapped === false ? 0 : MMAP_BYTES}`)
    })
    return new SqliteDatabase(opened, waitMs, random, options.wayOut)
  } catch (error) {
    connection?.close()
    if (error instanceof AppError) throw error
    const fault = faultOf(error, path, options.wayOut)
    if (fault !== undefined) throw fault
    const { code, message } = error as NodeJS.ErrnoException
    if (code === "ERR_DLOPEN_FAILED")
      throw new AppError("unavailable", `SQLite cannot be loaded: ${message.replace(/\s+/g, " ")}`, {
        hint: `Install signalbox anew with the Node that runs it, ${process.execPath}, or run npm rebuild where it is installed.`,
      })
    throw new AppError("unavailable", `the database ${path} cannot be opened: ${message}`, {
      hint: "Check the path, its permissions and the free space, or name another file with SIGNALBOX_DB.",
    })
  }
}

function isBlank(connection: BetterSqlite3.Database): boolean {
  return connection.pragma("page_count", { simple: true }) === 0
}

/** One connection behind the database port. */
export class SqliteDatabase implements Database {
  readonly #connection: BetterSqlite3.Database
  readonly #statements = new Map<string, Statement>()
  readonly #waitMs: number
  readonly #random: () => number
  readonly #wayOut: WayOut | undefined
  readonly #watchers = new Set<() => void>()
  #watch: NodeJS.Timeout | undefined
  /** What the file's version was when it was last asked, as far as others have changed it. */
  #seenVersion: unknown
  /** Whether this connection has committed since; the version tells of others only. */
  #hasWritten = false
  #hasVectors = false
  /** Settles when everything queued so far is done; null when nothing is. */
  #tail: Promise<unknown> | null = null

  constructor(connection: BetterSqlite3.Database, waitMs: number, random: () => number, wayOut?: WayOut) {
    this.#connection = connection
    this.#waitMs = waitMs
    this.#random = random
    this.#wayOut = wayOut
  }

  all<R extends Row>(sql: string, args: readonly SqlValue[] = []): Promise<R[]> {
    return this.#once(() => this.#statement(sql).all(args) as R[])
  }

  get<R extends Row>(sql: string, args: readonly SqlValue[] = []): Promise<R | undefined> {
    return this.#once(() => this.#statement(sql).get(args) as R | undefined)
  }

  run(sql: string, args: readonly SqlValue[] = []): Promise<number> {
    return this.#once(() => {
      const { changes } = this.#statement(sql).run(args)
      this.#hasWritten = true
      return changes
    })
  }

  transaction<T>(
    _lock: string,
    body: (tx: Queries) => Promise<T>,
    { waitMs = this.#waitMs }: { waitMs?: number } = {},
  ): Promise<T> {
    return this.#queued(async () => {
      await retryWhileBusy(waitMs, this.#random, () => this.#statement("BEGIN IMMEDIATE").run())
      // Promises of SQLite settle in microtasks, and nextTick waits until none is left. So if the alarm
      // rings before the end, the body awaited something else, and other processes waited for it too.
      const state = { ticked: false, ended: false }
      process.nextTick(() => {
        state.ticked = true
      })
      try {
        const result = await body(this.#inTransaction(state))
        requireNoTick(state)
        this.#statement("COMMIT").run()
        this.#hasWritten = true
        return result
      } finally {
        state.ended = true
        if (this.#connection.inTransaction) this.#statement("ROLLBACK").run()
      }
    })
  }

  /**
   * Runs `work` with the raw connection, apart from everything else of this process: for the schema
   * and for backups, which only this folder does.
   */
  exclusively<T>(work: (connection: BetterSqlite3.Database) => T | Promise<T>): Promise<T> {
    return this.#queued(() => this.#retryWhileBusy(() => work(this.#connection)))
  }

  watch(onChange: () => void): () => void {
    const watcher = () => onChange()
    if (this.#watchers.size === 0) {
      this.#seenVersion = this.#connection.pragma("data_version", { simple: true })
      this.#hasWritten = false
      this.#watch = setInterval(() => this.#look(), WATCH_MS).unref()
    }
    this.#watchers.add(watcher)
    return () => {
      this.#watchers.delete(watcher)
      if (this.#watchers.size === 0) clearInterval(this.#watch)
    }
  }

  #look(): void {
    if (!this.#connection.open) return
    let version: unknown
    try {
      version = this.#connection.pragma("data_version", { simple: true })
    } catch {
      // Whatever keeps the file from being read is told to who reads it; those who watch look at the next change.
      return
    }
    if (version === this.#seenVersion && !this.#hasWritten) return
    this.#seenVersion = version
    this.#hasWritten = false
    for (const watcher of this.#watchers) watcher()
  }

  close(): Promise<void> {
    clearInterval(this.#watch)
    return this.#queued(() => {
      this.#connection.close()
    })
  }

  #inTransaction(state: TransactionState): Queries {
    const guarded = <T>(work: () => T): Promise<T> =>
      settled(() => {
        if (state.ended) throw new Error("a query was kept beyond the end of its transaction")
        requireNoTick(state)
        return work()
      })
    return {
      all: (sql, args = []) => guarded(() => this.#statement(sql).all(args)) as never,
      get: (sql, args = []) => guarded(() => this.#statement(sql).get(args)) as never,
      run: (sql, args = []) => guarded(() => this.#statement(sql).run(args).changes),
    }
  }

  /** Runs one statement at once when nothing is queued and no writer is in the way, which is the rule. */
  #once<T>(work: () => T): Promise<T> {
    if (this.#tail !== null) return this.#queued(() => this.#retryWhileBusy(work))
    return settled(work).catch((error: unknown) => {
      if (isBusy(error)) return this.#queued(() => this.#retryWhileBusy(work))
      throw toldOf(error, this.#connection, this.#wayOut)
    })
  }

  #statement(sql: string): Statement {
    let statement = this.#statements.get(sql)
    if (statement === undefined) {
      this.#requireVectors(sql)
      statement = this.#connection.prepare<unknown[], Row>(sql)
      this.#statements.set(sql, statement)
    }
    return statement
  }

  /** Loading the functions takes longer than most commands, and most never use them. */
  #requireVectors(sql: string): void {
    if (this.#hasVectors || !sql.includes("vec_")) return
    addVectorFunctions(this.#connection)
    this.#hasVectors = true
  }

  async #queued<T>(work: () => T | Promise<T>): Promise<T> {
    const before = this.#tail
    const done = before === null ? (async () => work())() : before.then(work, work)
    this.#tail = done
    try {
      return await done
    } catch (error) {
      throw toldOf(error, this.#connection, this.#wayOut)
    } finally {
      if (this.#tail === done) this.#tail = null
    }
  }

  #retryWhileBusy<T>(work: () => T | Promise<T>): Promise<T> {
    return retryWhileBusy(this.#waitMs, this.#random, work)
  }
}

/**
 * Runs `work` until no other process stands in its way, pausing a random while between the tries so
 * that many waiting processes spread out instead of meeting again.
 */
async function retryWhileBusy<T>(
  waitMs: number,
  random: () => number,
  work: () => T | Promise<T>,
): Promise<T> {
  const deadline = performance.now() + waitMs
  for (let tries = 1; ; tries += 1) {
    try {
      return await work()
    } catch (cause) {
      const error = translated(cause)
      if (!isBusy(error)) throw error
      if (performance.now() > deadline) {
        throw new AppError("unavailable", `the database stayed locked for ${waitMs / 1_000} s`, {
          hint: "Another process holds it: see who has the file open, then try again.",
        })
      }
    }
    const pauseMs = 1 + random() * Math.min(RETRY_PAUSE_MS_MAX, 2 * tries)
    await new Promise((resolve) => setTimeout(resolve, pauseMs))
  }
}

function isBusy(error: unknown): boolean {
  return error instanceof BetterSqlite3.SqliteError && /^SQLITE_(BUSY|LOCKED)/.test(error.code)
}

/** Returns an error of the file or its disk as `unavailable`, and every other as it is. */
function toldOf(error: unknown, { name, open }: BetterSqlite3.Database, wayOut: WayOut | undefined): unknown {
  if (!open && error instanceof TypeError)
    return new AppError("unavailable", "this process has closed the database, because it ends", {
      cause: error,
    })
  return error instanceof BetterSqlite3.SqliteError ? (faultOf(error, name, wayOut) ?? error) : error
}

interface TransactionState {
  ticked: boolean
  ended: boolean
}

function requireNoTick(state: TransactionState): void {
  if (state.ticked) throw new Error("a transaction awaited something other than its own queries")
}

/** Runs `work` now and returns its outcome as a promise. */
function settled<T>(work: () => T): Promise<T> {
  try {
    return Promise.resolve(work())
  } catch (error) {
    return Promise.reject(translated(error))
  }
}

function translated(error: unknown): unknown {
  const isConstraint =
    error instanceof BetterSqlite3.SqliteError && error.code.startsWith("SQLITE_CONSTRAINT")
  if (!isConstraint) return error
  return new ConstraintError(error.code.replace("SQLITE_CONSTRAINT_", "").toLowerCase(), error)
}
