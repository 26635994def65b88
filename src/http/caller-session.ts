/** Which session a call over HTTP speaks for. */

import { invalid } from "../errors.ts"
import { httpSessionOf } from "../operations/coordination/sessions.ts"
import type { CallContext } from "../operations/operation.ts"

const SESSION_HEADER = "X-Signalbox-Session"

/**
 * Returns a call with the session that it speaks for: its key's, or the one that the header X-Signalbox-Session names
 * among those of its key. A key with the scope `*` may also name a client's session, by the id that the client gave it.
 */
export async function inCallersSession(context: CallContext, headers: Headers): Promise<CallContext> {
  const named = headers.get(SESSION_HEADER) ?? undefined
  if (named !== undefined && !/^[A-Za-z0-9._:-]{1,128}$/.test(named))
    throw invalid(
      SESSION_HEADER,
      "must have 1 to 128 characters of A-Z, a-z, 0-9, dot, underscore, colon, dash",
    )
  const session = await httpSessionOf(context, named)
  return { ...context, caller: { ...context.caller, session } }
}
