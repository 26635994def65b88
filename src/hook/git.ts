/**
 * The git hooks: what a commit releases, and the check before it, which catches edits that no client's
 * hook saw. Git itself lists the files, one a line; the paths of a commit start at the work tree's root.
 */

import type { Agent } from "../domain/agent.ts"
import { foldCase } from "../domain/glob/case-folding.ts"
import { escapePath } from "../domain/glob.ts"
import { findClaimConflicts } from "../operations/claims.ts"
import { type Location, locate } from "../operations/locations.ts"
import type { CallContext } from "../operations/operation.ts"
import { releaseOf } from "../operations/reservations.ts"
import { listOwnAgents, personSession } from "../operations/sessions.ts"
import { listHeldByAgent } from "../store/reservations.ts"
import { type HookAnswer, SILENCE } from "./answer.ts"
import { TERMINAL_PROCESS_NAMES } from "./clients.ts"
import { claimsOf } from "./edited-files.ts"
import { findHolder } from "./holder.ts"
import type { HookRequest } from "./request.ts"
import { readHookSettings } from "./settings.ts"
import { blockText } from "./texts.ts"

export const GIT_EVENTS = ["post-commit", "pre-commit"] as const
export type GitEvent = (typeof GIT_EVENTS)[number]

/** What git takes as "stop this commit". */
const EXIT_STOP = 1

/** Returns what a git hook prints and how it ends. */
export async function decideGit(
  context: CallContext,
  event: GitEvent,
  request: HookRequest,
): Promise<HookAnswer> {
  const { app } = context
  const { folder } = request
  if (folder === undefined) return SILENCE
  const locations: Location[] = []
  for (const path of committedPaths(request.payload)) {
    const location = await locate(app, path, folder)
    if (location !== undefined) locations.push(location)
  }
  const [first] = locations
  if (first === undefined) return SILENCE
  const { settings, warnings } = readHookSettings(app.config.userConfigPath, first.rootPath)
  if (!settings.enabled) return SILENCE
  const caller = {
    ...request,
    sessionId: request.namedSession ?? request.sessionId,
    program: "git",
    model: undefined,
    processNames: TERMINAL_PROCESS_NAMES,
  }
  const holder = await findHolder(app, caller, first.repository, "beside")
  // Where no agent is known, a person commits, who may have reserved files too.
  const isAgent = holder.agents.length > 0
  const agents = isAgent ? holder.agents : await listOwnAgents(app.db, [personSession()])
  if (event === "post-commit") {
    if (settings.releaseOnCommit) await releaseCommitted(context, agents, locations)
    return SILENCE
  }
  const { paths, problems } = claimsOf(locations, settings)
  const ownAgentIds = new Set(agents.map(({ id }) => id))
  const conflicts = await findClaimConflicts(app.db, { ownAgentIds }, paths, app.now())
  const warning = [...warnings, ...problems].map((text) => `signalbox: ${text}`).join("\n")
  if (conflicts.length === 0) return { ...SILENCE, stderr: warning }
  const guidance = { shown: settings.showGuidance, allowsOverride: settings.allowOverrides }
  const text = blockText(conflicts, undefined, app.now(), guidance).replace("this edit", "this commit")
  // A person at a terminal is warned; whoever is known as an agent is held to the reservations.
  if (isAgent && settings.blockConflicts) return { ...SILENCE, exitCode: EXIT_STOP, stderr: text }
  return {
    ...SILENCE,
    stderr: text.replace("blocked this commit", "warns: this commit touches reserved files"),
  }
}

/** Releases the reservations that stand for one committed file; a wider pattern may still be worked in. */
async function releaseCommitted(
  context: CallContext,
  agents: readonly Agent[],
  locations: readonly Location[],
): Promise<void> {
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

/** Reads git's list of files; names with special characters stand in C quotes, see core.quotePath in git-config(1). */
export function committedPaths(payload: string): string[] {
  return payload
    .split("\n")
    .map((line) => line.replace(/\r$/, ""))
    .filter((line) => line !== "")
    .map((line) => (/^".*"$/.test(line) ? unquoted(line.slice(1, -1)) : line))
}

const ESCAPES: Record<string, string> = { a: "\x07", b: "\b", t: "\t", n: "\n", v: "\v", f: "\f", r: "\r" }

function unquoted(text: string): string {
  const bytes: Buffer[] = []
  const pattern = /\\([0-7]{3})|\\(.)|([^\\]+)/gs
  for (const [, octal, escaped, plain] of text.matchAll(pattern)) {
    if (octal !== undefined) bytes.push(Buffer.from([Number.parseInt(octal, 8)]))
    else bytes.push(Buffer.from(plain ?? (escaped === undefined ? "" : (ESCAPES[escaped] ?? escaped))))
  }
  return Buffer.concat(bytes).toString("utf8")
}
