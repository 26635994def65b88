/** The functions that compare vectors inside a statement: sqlite-vec's, or the same in JavaScript. */

import { createRequire } from "node:module"
import type BetterSqlite3 from "better-sqlite3"
import type * as SqliteVec from "sqlite-vec"

/**
 * Makes `vec_int8` and `vec_distance_cosine` known to a connection. Where sqlite-vec ships no library for the
 * platform, slower ones with the same results take their place.
 */
export function addVectorFunctions(connection: BetterSqlite3.Database): void {
  try {
    const sqliteVec = createRequire(import.meta.url)("sqlite-vec") as typeof SqliteVec
    sqliteVec.load(connection)
  } catch {
    // No library, or one that does not load here: results are the same, so no caller has to act on why.
    addSlowVectorFunctions(connection)
  }
}

/** Makes the functions known without sqlite-vec. */
export function addSlowVectorFunctions(connection: BetterSqlite3.Database): void {
  const options = { deterministic: true }
  connection.function("vec_int8", options, (vector) => vector)
  connection.function("vec_distance_cosine", options, (one, other) =>
    cosineDistance(asInt8(one as Uint8Array), asInt8(other as Uint8Array)),
  )
}

function cosineDistance(one: Int8Array, other: Int8Array): number {
  let [dot, ones, others] = [0, 0, 0]
  for (const [index, value] of one.entries()) {
    const beside = other[index] ?? 0
    dot += value * beside
    ones += value * value
    others += beside * beside
  }
  return 1 - dot / Math.sqrt(ones * others)
}

function asInt8(bytes: Uint8Array): Int8Array {
  return new Int8Array(bytes.buffer, bytes.byteOffset, bytes.byteLength)
}
