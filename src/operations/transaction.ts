/** Transactions of operations: atomic, dated when they happen, and a sign of life of who acts. */

import type { Queries } from "../db/database.ts"
import type { Agent } from "../domain/coordination/agent.ts"
import { touchAgent } from "../store/coordination/agents.ts"
import type { CallContext } from "./operation.ts"

/**
 * Runs `body` in one transaction with a context whose time is read once the lock is held, and marks the
 * acting agent active. A call may wait for other processes, and what it writes must not be dated before
 * what it waited for: whoever asks for everything since the last look would never see it.
 */
export function inTransaction<Context extends CallContext & { actor?: Agent }, T>(
  context: Context,
  lock: string,
  body: (tx: Queries, context: Context) => Promise<T>,
): Promise<T> {
  const { app, actor } = context
  return app.db.transaction(lock, async (tx) => {
    const nowMs = app.now()
    if (actor !== undefined) await touchAgent(tx, actor.id, nowMs)
    return body(tx, { ...context, nowMs })
  })
}
