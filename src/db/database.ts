/**
 * The database port: all that the rest of the product knows of a database. SQL is written once, with
 * `?` for parameters, in the subset that the engines share.
 */

export type SqlValue = string | number | null | Uint8Array
export type Row = Record<string, SqlValue>

export interface Queries {
  /** Returns all rows. */
  all<R extends Row>(sql: string, args?: readonly SqlValue[]): Promise<R[]>
  /** Returns the first row, if there is one. */
  get<R extends Row>(sql: string, args?: readonly SqlValue[]): Promise<R | undefined>
  /** Returns how many rows changed. */
  run(sql: string, args?: readonly SqlValue[]): Promise<number>
}

export interface Database extends Queries {
  /**
   * Runs `body` atomically; it rolls back when `body` throws. `lock` names what must not change
   * meanwhile, for engines that lock less than the whole database; ARCHITECTURE.md lists them. Inside, only `tx` may be awaited:
   * a body that awaits anything else is found out, rolled back and fails. Everything else of this process waits behind
   * it, so what can do without waits no longer for other processes than `waitMs`, by default a minute.
   */
  transaction<T>(lock: string, body: (tx: Queries) => Promise<T>, options?: { waitMs?: number }): Promise<T>
  /**
   * Calls `onChange` soon after anything was committed, by whatever process: within 50 ms, and once for what was
   * committed meanwhile. It keeps no process alive. Returns what ends it.
   */
  watch(onChange: () => void): () => void
  close(): Promise<void>
}

/** A constraint of the schema refused a write. */
export class ConstraintError extends Error {
  readonly kind: string
  constructor(kind: string, cause: unknown) {
    super(`constraint failed: ${kind}`, { cause })
    this.name = "ConstraintError"
    this.kind = kind
  }
}
