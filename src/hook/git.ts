/**
 * The git hooks: what a commit releases, and the check before it, which catches edits that no client's
 * hook saw. Git itself lists the files, one a line; the paths of a commit start at the work tree's root.
 */

import { oneLine } from "../domain/foreign-text/markdown.ts"
import { checkCommit, findCommit, releaseCommitted } from "../operations/coordination/commits.ts"
import type { CallContext } from "../operations/operation.ts"
import { type HookAnswer, NO_OUTPUT } from "./answer.ts"
import { nearestClient } from "./client-processes.ts"
import type { HookRequest } from "./request.ts"
import { blockText } from "./texts.ts"

export const GIT_EVENTS = ["post-commit", "pre-commit"] as const
type GitEvent = (typeof GIT_EVENTS)[number]

/** What git takes as "stop this commit". */
const EXIT_STOP = 1

/** Returns what a git hook prints and how it ends. */
export async function decideGit(
  context: CallContext,
  event: GitEvent,
  request: HookRequest,
): Promise<HookAnswer> {
  const { folder } = request
  if (folder === undefined) return NO_OUTPUT
  const { sessionId: id, sessionClient: client, parentPid } = request
  const inherited = id === undefined || client === undefined ? [] : [{ client, id }]
  const nearest = nearestClient(parentPid, inherited)
  const clues = {
    sessionId: request.namedSession ?? nearest.session,
    program: "git",
    model: undefined,
    agentName: request.agentName,
    projectKey: request.projectKey,
    processesAbove: () => nearest.agentAnchors,
  }
  const commit = await findCommit(context, clues, { paths: committedPaths(request.payload), folder })
  if (commit === undefined) return NO_OUTPUT
  const { settings, warnings, isAgents, ignored } = commit
  const lines = (texts: readonly string[]) => texts.map((text) => `signalbox: ${oneLine(text)}`).join("\n")
  if (event === "post-commit") {
    await releaseCommitted(context, commit)
    return { ...NO_OUTPUT, stderr: lines(ignored) }
  }
  const { conflicts, problems, nowMs } = await checkCommit(context, commit)
  if (conflicts.length === 0) return { ...NO_OUTPUT, stderr: lines([...warnings, ...ignored, ...problems]) }
  const guidance = {
    shown: settings.showGuidance,
    allowsOverride: settings.allowOverrides,
    isForPerson: !isAgents,
  }
  const blocked = blockText(conflicts, undefined, nowMs, guidance).replace("this edit", "this commit")
  const text = ignored.length === 0 ? blocked : `${blocked}\n${lines(ignored)}`
  // A person at a terminal is warned; whoever is known as an agent is held to the reservations.
  if (isAgents && settings.blockConflicts) return { ...NO_OUTPUT, exitCode: EXIT_STOP, stderr: text }
  return {
    ...NO_OUTPUT,
    stderr: text.replace("blocked this commit", "warns: this commit touches reserved files"),
  }
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
