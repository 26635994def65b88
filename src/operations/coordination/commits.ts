/** Commits: which reservations a commit touches, and what it releases. */

import { readHookSettings } from "../../config/hook-settings.ts"
import type { Agent } from "../../domain/coordination/agent.ts"
import { foldCase } from "../../domain/glob/case-folding.ts"
import { escapePath } from "../../domain/glob/literal.ts"
import { listHeldByAgent } from "../../store/coordination/reservations.ts"
import type { CallContext } from "../operation.ts"
import { type ClaimConflict, findClaimConflicts } from "./claims.ts"
import { claimsOf, locateAll } from "./edits.ts"
import { findHolder, type SessionClues } from "./holder.ts"
import type { Location } from "./locations.ts"
import { releaseOf } from "./reservations.ts"
import { listOwnAgents, personSession } from "./sessions.ts"

/** A commit in a work tree where the hook is on. */
interface Commit extends ReturnType<typeof readHookSettings> {
  locations: readonly Location[]
  /** Who commits: the session's agents, else those of the person at the terminal. */
  agents: readonly Agent[]
  /** Whether it is a session's. */
  isAgents: boolean
  /** Why the agent that the environment names does not count. */
  ignored: readonly string[]
}

/** Returns the commit of files, relative to `folder`; undefined where nothing is connected or the hook is off. */
export async function findCommit(
  { app }: CallContext,
  clues: SessionClues,
  { paths, folder }: { paths: readonly string[]; folder: string },
): Promise<Commit | undefined> {
  const locations = await locateAll(app, paths, folder)
  const [first] = locations
  if (first === undefined) return undefined
  const read = readHookSettings(app.config.userConfigPath, first.rootPath)
  if (!read.settings.enabled) return undefined
  const holder = await findHolder(app, clues, first.repository, "beside")
  // Where no agent is known, a person commits, who may have reserved files too.
  const isAgents = holder.agents.length > 0
  const agents = isAgents ? holder.agents : await listOwnAgents(app.db, [personSession()])
  return { ...read, locations, agents, isAgents, ignored: holder.warnings }
}

/** Returns what others hold of a commit's files, and why some of these cannot be checked. */
export async function checkCommit(
  { app }: CallContext,
  { locations, agents, settings }: Commit,
): Promise<{ conflicts: ClaimConflict[]; problems: string[]; nowMs: number }> {
  const { claims, problems } = claimsOf(locations, settings)
  const ownAgentIds = new Set(agents.map(({ id }) => id))
  const nowMs = app.now()
  return { conflicts: await findClaimConflicts(app.db, { ownAgentIds }, claims, nowMs), problems, nowMs }
}

/**
 * Releases the reservations that stand for one committed file, where the settings say so; a wider pattern may still
 * be worked in.
 */
export async function releaseCommitted(
  context: CallContext,
  { locations, agents, settings }: Commit,
): Promise<void> {
  if (!settings.releaseOnCommit) return
  const { app } = context
  for (const agent of agents) {
    const held = await listHeldByAgent(app.db, agent.id, app.now())
    const done = held.filter(({ pathPattern, repositoryId }) =>
      locations.some(
        ({ path, repository }) =>
          repository.id === repositoryId && standsFor(pathPattern, path, repository.ignoreCase),
      ),
    )
    // No ids would mean all of them.
    if (done.length > 0)
      await releaseOf(
        context,
        agent,
        done.map(({ id }) => id),
      )
  }
}

/** Whether a pattern is this one path: as the hook spells it, or as an agent does who knows of no wildcard in it. */
function standsFor(pathPattern: string, path: string, ignoreCase: boolean): boolean {
  const fold = (text: string) => (ignoreCase ? foldCase(text) : text)
  const spellings = /[*?{}\\]/.test(path) ? [escapePath(path)] : [escapePath(path), path]
  return spellings.map(fold).includes(fold(pathPattern))
}
