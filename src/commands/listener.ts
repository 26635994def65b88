/** What commands ask the listener of the database, where one is up; without one they look for themselves. */

import type { Config } from "../config.ts"
import { type ListenerRecord, readListenerRecord } from "../http/listener-files.ts"

/** How long a command waits for an answer before it looks for itself. */
const ANSWER_MS_MAX = 1_000

/** Returns where the listener is said to be, whether it answers or not. */
export function listenerOf(config: Config): ListenerRecord | undefined {
  const record = readListenerRecord(config.databasePath)
  return typeof record?.url === "string" && typeof record.token === "string" ? record : undefined
}

/** Returns where the listener lists what is held in a repository; `refresh` asks for a new listing. */
export function listingPath(repositoryId: number, refresh: boolean): string {
  return `/api/coordination/file-reservations?repository_id=${repositoryId}${refresh ? "&refresh=true" : ""}`
}

/** Has the listener list anew what a command has changed: who looks next must see his own doing. */
export async function refreshListings(
  config: Config,
  changed: readonly { repositoryId: number }[],
): Promise<void> {
  for (const id of new Set(changed.map(({ repositoryId }) => repositoryId)))
    await askListener(config, listingPath(id, true))
}

/**
 * Returns the JSON that the listener answers at a path; undefined when there is none, or it does not
 * answer, or not with success. The configured key counts, where there is one.
 */
export async function askListener(config: Config, path: string): Promise<unknown> {
  const listener = listenerOf(config)
  if (listener === undefined) return undefined
  try {
    const response = await fetch(`${listener.url}${path}`, {
      headers: { Authorization: `Bearer ${config.apiKey ?? listener.token}` },
      redirect: "error",
      signal: AbortSignal.timeout(ANSWER_MS_MAX),
    })
    return response.ok ? await response.json() : undefined
  } catch {
    return undefined
  }
}
