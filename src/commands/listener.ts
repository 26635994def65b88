/** What commands ask the listener of the database, where one is up; without one they look for themselves. */

import type { Config } from "../config/config.ts"
import { LISTENER_ANSWER_TIMEOUT_MS } from "../config/limits.ts"
import { callProven, GREETING_PATH, readPass } from "../hook/proven-call.ts"
import { type ListenerRecord, readListenerRecord } from "../http/listener-files.ts"
import { localKeyIn } from "../operations/keys.ts"

/** Returns where the listener is said to be, whether it answers or not. */
export function listenerOf(config: Config): ListenerRecord | undefined {
  const record = readListenerRecord(config.databasePath)
  return typeof record?.url === "string" && typeof record.token === "string" ? record : undefined
}

/** Returns where the listener lists what is held in a repository; `refresh` asks for a new listing. */
export function listingPath(repositoryId: number, refresh: boolean): string {
  return `/api/coordination/file-reservations?repository_id=${repositoryId}${refresh ? "&refresh=true" : ""}`
}

/** Returns whether the listener of the database is up and proves to be it, within a time in milliseconds. */
export async function isListenerUp(config: Config, timeoutMs = LISTENER_ANSWER_TIMEOUT_MS): Promise<boolean> {
  const pass = readPass(config.databasePath)
  if (pass === undefined) return false
  const headers = { Authorization: `Bearer ${pass.token}` }
  return (await callProven(pass, { method: "GET", path: GREETING_PATH, headers }, timeoutMs))?.status === 200
}

/**
 * Returns the JSON that the listener answers at a path; undefined when there is none, or it does not
 * prove itself, or not answer, or not with success. The configured key counts, where there is one.
 */
export async function askListener(config: Config, path: string): Promise<unknown> {
  const pass = readPass(config.databasePath)
  const key = config.apiKey ?? localKeyIn(config.databasePath)
  if (pass === undefined || key === undefined) return undefined
  const headers = { Authorization: `Bearer ${key}` }
  const answer = await callProven(pass, { method: "GET", path, headers }, LISTENER_ANSWER_TIMEOUT_MS)
  try {
    return answer?.status === 200 ? JSON.parse(answer.body) : undefined
  } catch {
    return undefined
  }
}
