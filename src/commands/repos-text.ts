/** How connected repositories and the state of their documentation look on the command line. */

import { workAt } from "../domain/documentation.ts"
import type { RepositoryState } from "../operations/documentation-repositories.ts"
import { isoTime, lines, oneLine } from "../operations/markdown.ts"
import { figure, percentOf } from "./indexing-work.ts"
import { visible } from "./memory-text.ts"
import { bold, dim, green, red, table } from "./output.ts"

type BranchState = RepositoryState["branches"][number]

const PROBLEM_CHARS_MAX = 80
const COMMIT_CHARS = 12

/** What stands in for the state of a repository, in one word. */
export type StateName = "searchable" | "indexing" | "waiting" | "empty" | "unsearched" | "problem"

/** Returns in one word what can be found in a repository now. */
export function stateName({ repository, documented, branches }: RepositoryState, nowMs: number): StateName {
  if (documented === undefined) return "unsearched"
  if (workAt(documented.work, nowMs) !== null) return "indexing"
  if (documented.problem !== null) return "problem"
  if (branches.some(({ isComplete }) => !isComplete)) return "waiting"
  if (branches.length > 0) return "searchable"
  // A folder without git has no branch before it is read.
  const isPlainFolder = repository.rootPath === repository.identityPath
  return isPlainFolder && repository.defaultBranch === null ? "waiting" : "empty"
}

/** Returns a repository with what is searched of it, as JSON. */
export function repositoryJson(state: RepositoryState, nowMs: number) {
  const { repository, documented, branches, waiting } = state
  const work = workAt(documented?.work ?? null, nowMs)
  return {
    id: repository.id,
    name: repository.name,
    root_path: repository.rootPath,
    default_branch: repository.defaultBranch,
    state: stateName(state, nowMs),
    problem: documented?.problem ?? null,
    indexing: work && { phase: work.phase, branch: work.branch, done: work.done, total: work.total },
    chunks_without_vector: waiting,
    branches: branches.map((branch) => ({
      name: branch.name,
      is_default: branch.name === repository.defaultBranch,
      commit: branch.commit,
      files: filesOf(branch),
      chunks: branch.counts.chunks,
      is_complete: branch.isComplete,
      indexed_at: branch.indexedAtMs === null ? null : isoTime(branch.indexedAtMs),
      files_left_out: branch.counts.problems,
      left_out: branch.problems,
    })),
  }
}

/** Returns repositories as a table, the default branch of each marked. */
export function repositoryTable(states: readonly RepositoryState[], nowMs: number): string {
  const rows = states.map((state) => [
    String(state.repository.id),
    shown(state.repository.name),
    state.branches.map(({ name }) => shown(name) + (isDefault(state, name) ? "*" : "")).join(", "),
    figure(sumOf(state.branches, filesOf)),
    figure(sumOf(state.branches, ({ counts }) => counts.chunks)),
    stateText(state, nowMs),
    shown(state.repository.rootPath),
  ])
  return table(["ID", "NAME", "BRANCHES", "FILES", "CHUNKS", "STATE", "ROOT"], rows)
}

function stateText(state: RepositoryState, nowMs: number): string {
  const { documented, waiting } = state
  const work = workAt(documented?.work ?? null, nowMs)
  switch (stateName(state, nowMs)) {
    case "unsearched":
      return "not searched"
    case "indexing":
      return work === null
        ? "indexing"
        : `${work.phase === "embedding" ? "embedding" : "indexing"} ${percentOf(work)} %`
    case "problem":
      return `problem: ${cut(documented?.problem ?? "")}`
    case "waiting":
      return "not searched yet"
    case "empty":
      return "nothing to search yet"
    case "searchable":
      return waiting === 0 ? "searchable" : "searchable by words"
  }
}

/** Returns all that a user wants to know of one repository after its documentation was read. */
export function repositoryReport(state: RepositoryState, nowMs: number): string {
  const { repository, branches, waiting } = state
  return lines(
    headline(state, nowMs),
    fact("Id", String(repository.id)),
    fact("Root", shown(repository.rootPath)),
    ...branches.map((branch, index) => fact(index === 0 ? "Branches" : "", branchText(state, branch))),
    waiting === 0 ? null : fact("Vectors", `${countOf(waiting, "chunk")} without one, found by words alone`),
    ...branches.flatMap((branch) => leftOutRows(branch, branches.length > 1)),
  )
}

function headline(state: RepositoryState, nowMs: number): string {
  const name = bold(shown(state.repository.name))
  switch (stateName(state, nowMs)) {
    case "searchable":
      return `${green("✓")} ${name} is searchable.`
    case "problem":
      return `${red("✗")} ${name}: ${shown(state.documented?.problem ?? "")}`
    case "empty":
      return `${green("✓")} ${name} is connected. There is nothing to search in it yet, it has no commit.`
    case "indexing":
      return `${green("✓")} ${name} is connected and being read.`
    default:
      return `${green("✓")} ${name} is connected. It is read by the next server, search or \`signalbox repos sync\`.`
  }
}

function fact(name: string, value: string): string {
  return `  ${dim(name.padEnd(9))} ${value}`
}

function branchText(state: RepositoryState, branch: BranchState): string {
  const { name, commit, counts, isComplete } = branch
  const mark = isDefault(state, name) ? " (default)" : ""
  if (commit === null) return `${shown(name)}${mark}: not read yet`
  const facts = [countOf(filesOf(branch), "file"), countOf(counts.chunks, "chunk")]
  const at = /^[0-9a-f]{40,64}$/.test(commit) ? dim(` at ${commit.slice(0, COMMIT_CHARS)}`) : ""
  return `${shown(name)}${mark}: ${facts.join(", ")}${at}${isComplete ? "" : ", not read to the end"}`
}

function leftOutRows({ counts, problems, name }: BranchState, isOneOfMany: boolean): string[] {
  if (counts.problems === 0) return []
  const where = isOneOfMany ? ` of ${shown(name)}` : ""
  const more = counts.problems - problems.length
  return [
    fact("Left out", `${countOf(counts.problems, "file")}${where}`),
    ...problems.map(({ path, problem }) => `    ${shown(path)} ${dim(shown(problem))}`),
    ...(more > 0 ? [dim(`    and ${figure(more)} more`)] : []),
  ]
}

function isDefault({ repository }: RepositoryState, branch: string): boolean {
  return branch === repository.defaultBranch
}

/** Files in which there is something to find, or might be. */
function filesOf({ counts }: BranchState): number {
  return counts.files - counts.problems
}

function sumOf(branches: readonly BranchState[], number: (branch: BranchState) => number): number {
  return branches.reduce((sum, branch) => sum + number(branch), 0)
}

function countOf(number: number, noun: string): string {
  return `${figure(number)} ${noun}${number === 1 ? "" : "s"}`
}

function shown(text: string): string {
  return oneLine(visible(text))
}

function cut(text: string): string {
  const characters = [...shown(text)]
  return characters.length <= PROBLEM_CHARS_MAX
    ? characters.join("")
    : `${characters.slice(0, PROBLEM_CHARS_MAX - 1).join("")}…`
}
