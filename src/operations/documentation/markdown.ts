/** How documentation and the repositories that it is of read in results: facts a line each, passages as quotes. */

import {
  BREADCRUMB_CHARS_MAX,
  COMMIT_SHOWN_CHARS,
  DOCUMENTATION_NOTES_SHOWN_MAX,
  DOCUMENTATION_REASON_CHARS_MAX,
} from "../../config/limits.ts"
import { WORKING_TREE } from "../../domain/documentation/documentation.ts"
import { named, oneLine, quoted } from "../../domain/foreign-text/markdown.ts"
import { ownCommand } from "../../runtime/own-command.ts"
import { count, countFitting, isoTime, lines } from "../markdown.ts"
import { shownWeight } from "../memory/markdown.ts"
import type { IndexingResult } from "./indexer.ts"
import type { RepositoryState } from "./repositories.ts"
import type { DocumentationAnswer, FoundPassage } from "./results.ts"

/** Returns what a search found: the best first, as many as fit, below a note of what is still missing. */
export function answerText({ results, meta }: DocumentationAnswer): string {
  const missing = notesText(meta.notes ?? [])
  if (results.length === 0) return sections("# Documentation", missing, NOTHING_FOUND)
  const places = new Set(results.map(placeOf))
  const head = lines(
    "# Documentation",
    "",
    places.size === 1 ? `Repository: ${[...places].join()}` : null,
    `Shown: ${results.length} of ${count(meta.total, "match", "matches")}`,
  )
  const blocks = results.map((result) => resultBlock(result, places.size > 1))
  const shown = countFitting(sections(head, missing), blocks, LESS)
  const left = blocks.length - shown
  return sections(
    head,
    missing,
    ...blocks.slice(0, shown),
    left === 0 ? "" : `${left} more did not fit. ${LESS}`,
  )
}

const NOTHING_FOUND =
  "Nothing was found. Try other words, or leave repository and branch out; list-repositories shows what is searched."
const LESS = "Use a smaller limit, or name a repository."

function placeOf({ repository, branch }: FoundPassage): string {
  return `${named(repository)}, branch ${named(branch)}`
}

function resultBlock(result: FoundPassage, isPlaced: boolean): string {
  const breadcrumb = oneLine(cut(result.headings.join(" > "), BREADCRUMB_CHARS_MAX))
  return lines(
    `### ${named(result.file)}:${result.line_start}-${result.line_end}`,
    isPlaced ? `Repository: ${placeOf(result)}` : null,
    `Score: ${shownWeight(result.score)}`,
    breadcrumb === "" ? null : `Headings: ${breadcrumb}`,
    `URL: ${oneLine(result.url)}`,
    `Updated: ${result.last_updated}`,
    "",
    quoted(result.content),
  )
}

function notesText(notes: readonly string[]): string {
  const left = notes.length - DOCUMENTATION_NOTES_SHOWN_MAX
  return lines(
    ...notes
      .slice(0, DOCUMENTATION_NOTES_SHOWN_MAX)
      .map((note) => `Note: ${oneLine(cut(note, DOCUMENTATION_REASON_CHARS_MAX))}`),
    left > 0 ? `Note: ${count(left, "more repository is", "more repositories are")} not up to date.` : null,
  )
}

/** Returns what is to be known of a repository: its id, its root, what is searched of it and what is not. */
export function repositoryFacts(state: RepositoryState): string {
  const { repository, documented, branches, fetchedAtMs } = state
  return lines(
    `Repository id: ${repository.id}`,
    `Root: ${oneLine(repository.rootPath)}`,
    fetchedAtMs === null ? null : `Fetched: ${isoTime(fetchedAtMs)}`,
    ...branches.flatMap((branch) => [
      branchLine(branch, branch.name === repository.defaultBranch),
      ...leftOut(branch),
    ]),
    `State: ${stateText(state)}`,
    documented === undefined || documented.problem === null
      ? null
      : `Problem: ${oneLine(cut(documented.problem, DOCUMENTATION_REASON_CHARS_MAX))}`,
  )
}

type BranchState = RepositoryState["branches"][number]

function branchLine({ name, commit, indexedAtMs, counts }: BranchState, isDefault: boolean): string {
  const facts = [
    count(counts.files - counts.problems, "file"),
    count(counts.chunks, "chunk"),
    commit === null || name === WORKING_TREE ? null : `commit ${commit.slice(0, COMMIT_SHOWN_CHARS)}`,
    indexedAtMs === null ? null : `indexed ${isoTime(indexedAtMs)}`,
  ].filter((fact) => fact !== null)
  const isRead = commit !== null
  return `Branch: ${named(name)}${isDefault ? " (default)" : ""}, ${isRead ? facts.join(", ") : "not read yet"}`
}

function leftOut({ counts, problems }: BranchState): string[] {
  const left = counts.problems - problems.length
  return [
    ...problems.map(
      ({ path, problem }) =>
        `- left out: ${named(path)} ${oneLine(cut(problem, DOCUMENTATION_REASON_CHARS_MAX))}`,
    ),
    ...(left > 0 ? [`- left out: ${count(left, "more file")}`] : []),
  ]
}

/** Returns in a few words what can be found in a repository now. */
function stateText({ documented, isDisconnected, branches, waiting }: RepositoryState): string {
  if (isDisconnected) return `not searched, it was let go; \`${ownCommand()} repos add\` begins it again`
  if (documented === undefined) return "not searched yet; the first search-documentation begins it"
  const { work } = documented
  if (work !== null) {
    const unit = work.phase === "embedding" ? "chunks" : "files"
    const what = work.branch === null ? work.phase : `${work.phase} ${named(work.branch)}`
    return `${what}, ${work.done} of ${work.total} ${unit}`
  }
  if (branches.length === 0) return "nothing to search, it has no commit"
  if (branches.some(({ isComplete }) => !isComplete)) return "waits to be read"
  if (waiting > 0) return `searchable; ${count(waiting, "chunk")} found by words alone for now`
  return "searchable"
}

/** Returns what comes next after a repository was connected and its indexing begun; null when a problem says it. */
export function progressText({ documented }: RepositoryState, outcome: IndexingResult): string | null {
  const isHindered = documented !== undefined && documented.problem !== null
  return outcome === "done" && isHindered ? null : NEXT[outcome]
}

const NEXT: Record<IndexingResult, string> = {
  done: "Call search-documentation to search it.",
  stopped:
    "Indexing goes on in the background; search-documentation finds what is read already, and list-repositories shows how far it is.",
  busy: "Another process is indexing and comes to this repository after that; list-repositories shows how far it is.",
}

function sections(...parts: string[]): string {
  return parts.filter((part) => part !== "").join("\n\n")
}

function cut(text: string, charsMax: number): string {
  const characters = [...text]
  return characters.length <= charsMax ? text : `${characters.slice(0, charsMax).join("")}…`
}
