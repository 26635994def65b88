/** Streams of updates end with the key that opened them, also where nothing is read for them. */

import { STREAM_KEEP_ALIVE_MS } from "../config/subscription-limits.ts"
import { AppError } from "../errors.ts"
import { requireValidKey } from "../operations/keys.ts"
import type { CallContext } from "../operations/operation.ts"

/** Looks after the key of a stream as often as the stream says that it is there; returns the timer, for who ends it. */
export function endWithKey({ app, key }: CallContext, end: () => void): NodeJS.Timeout {
  const look = () =>
    requireValidKey(app, key.id).catch((error: unknown) => {
      if (error instanceof AppError && error.code === "unauthenticated") end()
    })
  return setInterval(look, STREAM_KEEP_ALIVE_MS).unref()
}
