/** How connected repositories and the state of their documentation look on the command line. */

import { COMMAND_PROBLEM_CHARS_MAX, COMMIT_SHOWN_CHARS } from "../../config/limits.ts"
import { workAt } from "../../domain/documentation/documentation.ts"
import { visibleLine } from "../../domain/foreign-text/visible.ts"
import type { RepositoryState } from "../../operations/documentation/repositories.ts"
import { isoTime, lines } from "../../operations/markdown.ts"
import { ownCommand } from "../../runtime/own-command.ts"
import { bold, dim, green, red, table } from "../output.ts"
import { figure, percentOf } from "./indexing-work.ts"

type BranchState = RepositoryState["branches"][number]

/** What stands in for the state of a repository, in one word. */
type StateName = "searchable" | "indexing" | "waiting" | "empty" | "unsearched" | "problem"

/** Returns in one word what can be found in a repository now. */
function stateName({ repository, documented, branches }: RepositoryState, nowMs: number): StateName {
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
    visibleLine(state.repository.name),
    state.branches.map(({ name }) => visibleLine(name) + (isDefault(state, name) ? "*" : "")).join(", "),
    figure(sumOf(state.branches, filesOf)),
    figure(sumOf(state.branches, ({ counts }) => counts.chunks)),
    stateText(state, nowMs),
    visibleLine(state.repository.rootPath),
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
  const { repository, branches, waiting, fetchedAtMs } = state
  return lines(
    headline(state, nowMs),
    fact("Id", String(repository.id)),
    fact("Root", visibleLine(repository.rootPath)),
    fetchedAtMs === null ? null : fact("Fetched", isoTime(fetchedAtMs)),
    ...branches.map((branch, index) => fact(index === 0 ? "Branches" : "", branchText(state, branch))),
    waiting === 0 ? null : fact("Vectors", `${countOf(waiting, "chunk")} without one, found by words alone`),
    ...branches.flatMap((branch) => leftOutRows(branch, branches.length > 1)),
  )
}

function headline(state: RepositoryState, nowMs: number): string {
  const name = bold(visibleLine(state.repository.name))
  switch (stateName(state, nowMs)) {
    case "searchable":
      return `${green("✓")} ${name} is searchable.`
    case "problem":
      return `${red("✗")} ${name}: ${visibleLine(state.documented?.problem ?? "")}`
    case "empty":
      return `${green("✓")} ${name} is connected. There is nothing to search in it yet, it has no commit.`
    case "indexing":
      return `${green("✓")} ${name} is connected and being read.`
    default:
      return `${green("✓")} ${name} is connected. It is read by the next server, search or \`${ownCommand()} repos sync\`.`
  }
}

function fact(name: string, value: string): string {
  return `  ${dim(name.padEnd(9))} ${value}`
}

function branchText(state: RepositoryState, branch: BranchState): string {
  const { name, commit, counts, isComplete } = branch
  const mark = isDefault(state, name) ? " (default)" : ""
  if (commit === null) return `${visibleLine(name)}${mark}: not read yet`
  const facts = [countOf(filesOf(branch), "file"), countOf(counts.chunks, "chunk")]
  const at = /^[0-9a-f]{40,64}$/.test(commit) ? dim(` at ${commit.slice(0, COMMIT_SHOWN_CHARS)}`) : ""
  return `${visibleLine(name)}${mark}: ${facts.join(", ")}${at}${isComplete ? "" : ", not read to the end"}`
}

function leftOutRows({ counts, problems, name }: BranchState, isOneOfMany: boolean): string[] {
  if (counts.problems === 0) return []
  const where = isOneOfMany ? ` of ${visibleLine(name)}` : ""
  const more = counts.problems - problems.length
  return [
    fact("Left out", `${countOf(counts.problems, "file")}${where}`),
    ...problems.map(({ path, problem }) => `    ${visibleLine(path)} ${dim(visibleLine(problem))}`),
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

function cut(text: string): string {
  const characters = [...visibleLine(text)]
  return characters.length <= COMMAND_PROBLEM_CHARS_MAX
    ? characters.join("")
    : `${characters.slice(0, COMMAND_PROBLEM_CHARS_MAX - 1).join("")}…`
}
