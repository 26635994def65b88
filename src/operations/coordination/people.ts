/** What people decide and agents may not: one rule for the command line and for HTTP. */

import { isPerson } from "../../domain/coordination/agent.ts"
import { AppError } from "../../errors.ts"
import type { App } from "../app.ts"
import type { CallContext } from "../operation.ts"
import { findHolder } from "./holder.ts"
import type { Terminal } from "./identity.ts"
import { isClientSession, listOwnAgents, sessionNames, sessionOf } from "./sessions.ts"

/**
 * Fails with `forbidden` inside the session of a coding agent, whatever the environment or an option says of whom the
 * command acts for; `rule` says what people do, such as "overrides are decided by people".
 */
export async function requirePersonAtTerminal(app: App, { clues }: Terminal, rule: string): Promise<void> {
  for (const sessionId of new Set([clues.sessionId, undefined])) {
    const { agents, names, session } = await findHolder(app, { ...clues, sessionId }, undefined, "beside")
    if (agents.length > 0 || names.length > 0 || session !== undefined) throw refusal(agents[0]?.name, rule)
  }
}

/** Fails with `forbidden` for a call over HTTP that speaks for a coding agent's session, or one which has an agent. */
export async function requirePersonOverHttp(context: CallContext, rule: string): Promise<void> {
  const { db } = context.app
  const session = sessionOf(context)
  const own = await listOwnAgents(db, await sessionNames(db, session))
  const agent = own.find((one) => !isPerson(one))
  if (agent !== undefined || isClientSession(session)) throw refusal(agent?.name, rule)
}

function refusal(agentName: string | undefined, rule: string): AppError {
  const who = agentName === undefined ? "this is a coding agent's session" : `${agentName} is an agent`
  return new AppError("forbidden", `${who}, and ${rule}`, {
    hint: "Ask your user to do this in a terminal of their own.",
  })
}
