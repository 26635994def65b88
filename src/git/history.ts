/**
 * When files of a branch were last changed: what `git log -1 -- <path>` says of each, for any number of paths
 * at once, in one pass over the history.
 */

import { HISTORY_COMMITS_MAX } from "../config/limits.ts"
import { nulRecords, requireObjectName, streamGit } from "./git-process.ts"
import { changedEntries } from "./objects.ts"

/**
 * Returns for each path the time, in ms since 1970, of the commit that last touched it on a branch: the
 * committer's time. A path that no commit ever touched is absent.
 *
 * The rule is that of git's default history simplification: a merge that left a path as one of its parents
 * had it hands the question to the first such parent, a merge that differs from all is itself the answer. A
 * commit whose parents a shallow clone left out counts as the one that made its files. With `since`, only
 * what is new since that earlier commit of the branch is read, and a path that is absent has not changed
 * since. After `commitsMax` commits the rest stays absent too. Throws GitError for commits that are not there or not named in full, and the signal's reason.
 */
export function lastChanges(
  gitFolder: string,
  commit: string,
  paths: ReadonlySet<string>,
  { commitsMax = HISTORY_COMMITS_MAX, ...options }: HistoryOptions = {},
): Promise<Map<string, number>> {
  return changesWithin({ commits: commitsMax }, gitFolder, commit, paths, options)
}

async function changesWithin(
  left: { commits: number },
  gitFolder: string,
  commit: string,
  paths: ReadonlySet<string>,
  { since, signal }: Omit<HistoryOptions, "commitsMax">,
): Promise<Map<string, number>> {
  const walk = new Walk(gitFolder, paths, signal)
  const open = await walk.from(commit, since, left)
  if (since === undefined) return walk.changedAtMs
  // Where a merge brought in a line that left the branch before `since`, paths lead past it to that point.
  for (const [earlier, unsettled] of open) {
    if (earlier === since) continue
    if (left.commits === 0) break
    const differing = new Set<string>()
    for await (const { path } of changedEntries(gitFolder, earlier, since, signal)) {
      if (unsettled.has(path)) differing.add(path)
    }
    const older = await changesWithin(left, gitFolder, earlier, differing, { signal })
    for (const [path, timeMs] of older) walk.changedAtMs.set(path, timeMs)
  }
  return walk.changedAtMs
}

interface HistoryOptions {
  since?: string | undefined
  signal?: AbortSignal | undefined
  commitsMax?: number
}

/** A commit, and for each of its parents the paths of interest that differ. */
interface Step {
  commit: string
  timeMs: number
  parents: readonly string[]
  differing: string[][]
}

/** More names than these cost more to compare with than they save. */
const TOP_LEVEL_NAMES_MAX = 32

class Walk {
  readonly changedAtMs = new Map<string, number>()
  readonly #gitFolder: string
  readonly #paths: ReadonlySet<string>
  readonly #signal: AbortSignal | undefined
  /** The paths that are still asked about, by the commit that is asked next. */
  readonly #open = new Map<string, Set<string>>()

  constructor(gitFolder: string, paths: ReadonlySet<string>, signal: AbortSignal | undefined) {
    this.#gitFolder = gitFolder
    this.#paths = paths
    this.#signal = signal
  }

  /** Goes back from a commit until all is answered; returns what is open at commits that were not read. */
  async from(
    commit: string,
    since: string | undefined,
    left: { commits: number },
  ): Promise<ReadonlyMap<string, ReadonlySet<string>>> {
    const range = [requireObjectName(commit)]
    if (since !== undefined) range.push(`^${requireObjectName(since)}`)
    this.#ask(commit, new Set(this.#paths))
    if (this.#open.size === 0) return this.#open
    // Both processes end with this, whichever is ahead.
    const stop = new AbortController()
    const abort = () => stop.abort(this.#signal?.reason)
    this.#signal?.throwIfAborted()
    this.#signal?.addEventListener("abort", abort, { once: true })
    try {
      for await (const step of this.#steps(range, stop.signal)) {
        this.#take(step)
        if (this.#open.size === 0 || --left.commits === 0) break
      }
    } finally {
      this.#signal?.removeEventListener("abort", abort)
      stop.abort()
    }
    return this.#open
  }

  #ask(commit: string, paths: Set<string>): void {
    if (paths.size === 0) return
    const others = this.#open.get(commit) ?? new Set()
    const [small, large] = others.size < paths.size ? [others, paths] : [paths, others]
    for (const path of small) large.add(path)
    this.#open.set(commit, large)
  }

  #take({ commit, timeMs, parents, differing }: Step): void {
    const asked = this.#open.get(commit)
    if (asked === undefined) return
    this.#open.delete(commit)
    // What differs from all parents so far; a commit without any differs from nothing by what it has.
    let unlike = asked
    differing.forEach((paths, index) => {
      const alike = unlike
      unlike = new Set()
      for (const path of paths) if (alike.delete(path)) unlike.add(path)
      const parent = parents[index]
      if (parent !== undefined) this.#ask(parent, alike)
    })
    for (const path of unlike) this.changedAtMs.set(path, timeMs)
  }

  /** Every commit of a range with its differences, no parent before all its children. */
  async *#steps(range: readonly string[], signal: AbortSignal): AsyncGenerator<Step, void, undefined> {
    const steps: Step[] = []
    const input = this.#pairs(range, steps, signal)
    const options = ["--stdin", "--root", "--always", "-r", "-z", "--name-status", "--no-renames"]
    const args = ["--literal-pathspecs", "diff-tree", ...options, "--ignore-submodules=none"]
    const topLevel = topLevelNames(this.#paths)
    if (topLevel.length > 0) args.push("--", ...topLevel)
    let step: Step | undefined
    let hasStatus = false
    for await (const records of nulRecords(streamGit(args, { gitFolder: this.#gitFolder, input, signal }))) {
      for (const record of records) {
        if (hasStatus) {
          // The answers to a pair: a status letter and a path, again and again.
          const path = record.toString("utf8")
          if (this.#paths.has(path)) step?.differing.at(-1)?.push(path)
          hasStatus = false
        } else if (record.length === 1) {
          hasStatus = true
        } else {
          // The name of a commit begins the answer to the next pair.
          if (step === undefined || step.differing.length >= step.parents.length) {
            if (step !== undefined) yield step
            step = steps.shift()
          }
          step?.differing.push([])
        }
      }
    }
    if (step !== undefined) yield step
  }

  /** Asks for the differences of each commit from each of its parents, and notes which were asked for. */
  async *#pairs(range: readonly string[], steps: Step[], signal: AbortSignal) {
    const args = ["rev-list", "--topo-order", "--parents", "--timestamp", ...range]
    let unfinished = ""
    for await (const piece of streamGit(args, { gitFolder: this.#gitFolder, signal })) {
      const lines = (unfinished + piece.toString("latin1")).split("\n")
      unfinished = lines.pop() ?? ""
      let pairs = ""
      for (const line of lines) {
        const [seconds, commit = "", ...parents] = line.split(" ")
        steps.push({ commit, timeMs: Number(seconds) * 1_000, parents, differing: [] })
        if (parents.length === 0) pairs += `${commit}\n`
        for (const parent of parents) pairs += `${commit} ${parent}\n`
      }
      yield pairs
    }
  }
}

/** The first parts of paths, which let git pass over the rest of a tree; none where that would not help. */
function topLevelNames(paths: ReadonlySet<string>): string[] {
  const names = new Set<string>()
  for (const path of paths) {
    names.add(path.split("/", 1)[0] ?? "")
    if (names.size > TOP_LEVEL_NAMES_MAX) return []
  }
  // What git would not understand as it is meant must not narrow what it looks at.
  return [...names].some((name) => name === "" || /[\0\uFFFD]/.test(name)) ? [] : [...names]
}
