/** A process that writes events in batches at a steady pace, and tells when each batch was committed. */

import BetterSqlite3 from "better-sqlite3"

/** What the process is asked for. */
export interface WritingAsked {
  databasePath: string
  batches: number
  eventsPerBatch: number
  everyMs: number
}

/** A batch that was committed; times are of the system's clock, so that two processes can compare them. */
export interface WrittenBatch {
  lastId: number
  committedAtMs: number
}

/** Returns milliseconds since 1970 with their fractions. */
export function clockMs(): number {
  return performance.timeOrigin + performance.now()
}

async function write({ databasePath, batches, eventsPerBatch, everyMs }: WritingAsked): Promise<void> {
  const db = new BetterSqlite3(databasePath, { timeout: 5_000 })
  db.pragma("synchronous = NORMAL")
  const insert = db.prepare("INSERT INTO events (kind, data, created_at_ms) VALUES ('key.created', ?, ?)")
  const data = JSON.stringify({ key_id: 1, name: "bench", scopes: ["repo:1:coordination", "repo:1:memory"] })
  const batch = db.transaction((): number => {
    let id = 0
    for (let index = 0; index < eventsPerBatch; index += 1)
      id = Number(insert.run(data, Date.now()).lastInsertRowid)
    return id
  })
  const fromMs = performance.now()
  for (let index = 0; index < batches; index += 1) {
    const waitMs = fromMs + index * everyMs - performance.now()
    if (waitMs > 0) await new Promise((resolve) => setTimeout(resolve, waitMs))
    const lastId = batch.immediate()
    const written: WrittenBatch = { lastId, committedAtMs: clockMs() }
    process.send?.(written)
  }
  db.close()
  process.disconnect?.()
}

process.once("message", (asked: WritingAsked) => void write(asked))
