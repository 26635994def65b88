/** What commands ask about the listener of the database. */

import type { Config } from "../config/config.ts"
import { LISTENER_ANSWER_TIMEOUT_MS } from "../config/limits.ts"
import { callProven, GREETING_PATH, readPass } from "../hook/proven-call.ts"
import { type ListenerRecord, readListenerRecord } from "../http/listener-files.ts"

/** Returns where the listener is said to be, whether it answers or not. */
export function listenerOf(config: Config): ListenerRecord | undefined {
  const record = readListenerRecord(config.databasePath)
  return typeof record?.url === "string" && typeof record.token === "string" ? record : undefined
}

/** Returns whether the listener of the database is up and proves to be it, within a time in milliseconds. */
export async function isListenerUp(config: Config, timeoutMs = LISTENER_ANSWER_TIMEOUT_MS): Promise<boolean> {
  const pass = readPass(config.databasePath)
  if (pass === undefined) return false
  const headers = { Authorization: `Bearer ${pass.token}` }
  return (await callProven(pass, { method: "GET", path: GREETING_PATH, headers }, timeoutMs))?.status === 200
}
