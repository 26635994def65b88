/** What has been used of each rate limit, shared by all processes. */

import type { Queries } from "../db/database.ts"
import type { Bucket } from "../domain/rate-limit.ts"

export const rateLimitStatements = {
  find: "SELECT window_started_at_ms, used FROM rate_buckets WHERE subject = ? AND bucket = ?",
  put: `
    INSERT INTO rate_buckets (subject, bucket, window_started_at_ms, used) VALUES (?, ?, ?, ?)
    ON CONFLICT (subject, bucket) DO UPDATE SET
      window_started_at_ms = excluded.window_started_at_ms, used = excluded.used`,
  removeStale: "DELETE FROM rate_buckets WHERE window_started_at_ms < ?",
}

export async function findBucket(db: Queries, subject: string, name: string): Promise<Bucket | undefined> {
  const row = await db.get<{ window_started_at_ms: number; used: number }>(rateLimitStatements.find, [
    subject,
    name,
  ])
  return row && { windowStartedAtMs: row.window_started_at_ms, used: row.used }
}

export async function putBucket(tx: Queries, subject: string, name: string, bucket: Bucket): Promise<void> {
  await tx.run(rateLimitStatements.put, [subject, name, bucket.windowStartedAtMs, bucket.used])
}

/** Forgets windows that began before a time: an unused bucket is a full one. */
export async function removeStaleBuckets(tx: Queries, beforeMs: number): Promise<void> {
  await tx.run(rateLimitStatements.removeStale, [beforeMs])
}
