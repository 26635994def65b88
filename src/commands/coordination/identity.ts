/** What the command line's surroundings tell of whom it acts for. */

import { userInfo } from "node:os"
import { NAME_HINT_CHARS_MAX, NAME_HINT_CHARS_MIN } from "../../config/limits.ts"
import type { App } from "../../operations/app.ts"
import type { Terminal } from "../../operations/coordination/identity.ts"
import { personSession, sessionIdOf } from "../../operations/coordination/sessions.ts"

/** What an agent is said to run that a command makes in the session of a coding agent. */
const PROGRAM = "signalbox-cli"
const NAME_OF_UNNAMED = "Human"

/** Returns what the terminal tells that a command was typed in. */
export function terminalOf(app: App): Terminal {
  const { config } = app
  const user = userName()
  return {
    agentName: config.agent,
    clues: {
      program: config.program ?? PROGRAM,
      model: config.model,
      sessionId: sessionIdOf(app),
      processesAbove: () => app.client().agentAnchors,
      // A name is looked up by itself, where it may also be wrong.
      agentName: undefined,
      projectKey: config.project,
    },
    person: { session: personSession(user), nameHint: personName(user) },
  }
}

/** Returns the name of the person at the terminal as the system knows it. */
export function userName(): string {
  try {
    return userInfo().username
  } catch {
    // Users without an entry in the system's list have a number only.
    return ""
  }
}

/** Returns a system's user name as an agent's name, by the rules for name hints. */
export function personName(user: string): string {
  const name = user
    .normalize("NFKD")
    .replace(/[^A-Za-z0-9_-]/g, "")
    .slice(0, NAME_HINT_CHARS_MAX)
  return name.length < NAME_HINT_CHARS_MIN ? NAME_OF_UNNAMED : name
}
