/** What a database file tells of the past, read by the test itself and without the product's code. */

import BetterSqlite3 from "better-sqlite3"
import { compilePattern, overlap } from "../../src/domain/glob/glob.ts"
import { type AcknowledgedMessage, covers, PATHS } from "./contested-work.ts"

export interface ReservationRow {
  id: number
  agent_id: number
  path_pattern: string
  exclusive: number
  created_at_ms: number
  expires_at_ms: number
  ended_at_ms: number | null
}

/** A reservation that was granted while another agent held one that stands against it. */
interface DoubleHolding {
  granted: ReservationRow
  held: ReservationRow
}

/** Whether two patterns share a path by the product's own overlap engine. */
export function shareByEngine(one: ReservationRow, other: ReservationRow): boolean {
  return overlap(compilePattern(one.path_pattern), compilePattern(other.path_pattern)).overlaps
}

/** Whether two patterns share a path by minimatch, on concrete paths. */
export function shareByMinimatch(one: ReservationRow, other: ReservationRow): boolean {
  return PATHS.some((path) => covers(one.path_pattern, path) && covers(other.path_pattern, path))
}

export class RecordedHistory {
  readonly #db: BetterSqlite3.Database

  constructor(databasePath: string) {
    this.#db = new BetterSqlite3(databasePath, { readonly: true })
  }

  close(): void {
    this.#db.close()
  }

  reservations(): ReservationRow[] {
    return this.#all<ReservationRow>(
      `SELECT id, agent_id, path_pattern, exclusive, created_at_ms, expires_at_ms, ended_at_ms
       FROM reservations ORDER BY id`,
    )
  }

  /** Every message of an agent, in the form in which it was acknowledged. */
  messages(): AcknowledgedMessage[] {
    const rows = this.#all<{ id: number; key: string; sender_id: number; subject: string; body_md: string }>(
      `SELECT m.id, t.key, m.sender_id, m.subject, m.body_md
       FROM messages m JOIN threads t ON t.id = m.thread_id ORDER BY m.id`,
    )
    return rows.map((row) => {
      const recipients = this.#all<{ agent_id: number }>(
        "SELECT agent_id FROM message_recipients WHERE message_id = ? ORDER BY agent_id",
        row.id,
      )
      return {
        id: row.id,
        threadKey: row.key,
        senderId: row.sender_id,
        recipientIds: recipients.map((recipient) => recipient.agent_id),
        subject: row.subject,
        body: row.body_md,
      }
    })
  }

  /** The ids of the messages that the full-text index finds by a word; it numbers them downwards. */
  idsFoundBy(word: string): number[] {
    return this.#all<{ id: number }>(
      "SELECT abs(rowid) AS id FROM message_index WHERE message_index MATCH ? ORDER BY id",
      word,
    ).map((row) => row.id)
  }

  /** The pids of the servers that are in the table of live ones. */
  pids(): number[] {
    return this.#all<{ pid: number }>("SELECT pid FROM server_processes ORDER BY pid").map((row) => row.pid)
  }

  /** Threads whose counter is not the number of their messages. */
  miscountedThreads(): unknown[] {
    return this.#all(
      `SELECT t.id, t.message_count FROM threads t
       WHERE t.message_count <> (SELECT count(*) FROM messages m WHERE m.thread_id = t.id)`,
    )
  }

  /** What SQLite itself finds wrong. */
  damage(): unknown[] {
    const integrity = this.#db.pragma("integrity_check", { simple: true })
    return [
      ...(integrity === "ok" ? [] : [integrity]),
      ...(this.#db.pragma("foreign_key_check") as unknown[]),
    ]
  }

  /**
   * Plays grants and releases in the order in which they were committed, which is that of the ids in
   * `events`, and returns every grant that another agent's reservation stood against. Nothing may
   * have expired meanwhile.
   */
  doubleHoldings(share: (one: ReservationRow, other: ReservationRow) => boolean): DoubleHolding[] {
    const rows = new Map(this.reservations().map((row) => [row.id, row]))
    const events = this.#all<{ kind: string; reservation_id: number }>(
      `SELECT kind, subject_id AS reservation_id FROM events
       WHERE kind IN ('reservation.granted', 'reservation.renewed', 'reservation.released') ORDER BY id`,
    )
    const holding = new Map<number, ReservationRow>()
    const found: DoubleHolding[] = []
    for (const event of events) {
      if (event.kind === "reservation.released") {
        holding.delete(event.reservation_id)
        continue
      }
      const granted = rows.get(event.reservation_id)
      if (granted === undefined) throw new Error(`an event names no reservation: ${event.reservation_id}`)
      for (const held of holding.values()) {
        if (isAgainst(granted, held) && share(granted, held)) found.push({ granted, held })
      }
      holding.set(granted.id, granted)
    }
    return found
  }

  /** Returns the pairs whose recorded times overlap; those that only touch in a millisecond do not. */
  overlapsInTime(share: (one: ReservationRow, other: ReservationRow) => boolean): DoubleHolding[] {
    const rows = this.reservations()
    const endOf = (row: ReservationRow) => row.ended_at_ms ?? row.expires_at_ms
    return rows.flatMap((granted, index) =>
      rows
        .slice(0, index)
        .filter(
          (held) =>
            isAgainst(granted, held) &&
            Math.max(granted.created_at_ms, held.created_at_ms) < Math.min(endOf(granted), endOf(held)) &&
            share(granted, held),
        )
        .map((held) => ({ granted, held })),
    )
  }

  #all<T>(sql: string, ...args: (string | number)[]): T[] {
    return this.#db.prepare<(string | number)[], T>(sql).all(...args)
  }
}

/** Whether two reservations stand against each other if their patterns share a path. */
function isAgainst(one: ReservationRow, other: ReservationRow): boolean {
  return one.agent_id !== other.agent_id && (one.exclusive === 1 || other.exclusive === 1)
}
