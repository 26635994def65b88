/** How documentation and the repositories that it is of read in results: facts a line each, passages as quotes. */

import { WORKING_TREE } from "../domain/documentation.ts"
import type { RepositoryState } from "./documentation-repositories.ts"
import type { DocumentationAnswer, DocumentationResult } from "./documentation-search.ts"
import type { IndexingResult } from "./indexing.ts"
import { count, countFitting, isoTime, lines, oneLine, quoted } from "./markdown.ts"
import { shownWeight } from "./memory-markdown.ts"

/** Of a breadcrumb, and of a reason that came from elsewhere: longer ones would hide what matters. */
const BREADCRUMB_CHARS_MAX = 300
const REASON_CHARS_MAX = 300
const NOTES_SHOWN_MAX = 10
const COMMIT_CHARS_SHOWN = 12

/** Returns what a search found: the best first, as many as fit, then what was not searched. */
export function answerText({ results, total, notes }: DocumentationAnswer): string {
  const tail = notesText(notes)
  if (results.length === 0) return sections("# Documentation", NOTHING_FOUND, tail)
  const places = new Set(results.map(placeOf))
  const head = lines(
    "# Documentation",
    "",
    places.size === 1 ? `Repository: ${[...places].join()}` : null,
    `Shown: ${results.length} of ${count(total, "match", "matches")}`,
  )
  const blocks = results.map((result) => resultBlock(result, places.size > 1))
  const shown = countFitting(sections(head, tail), blocks, LESS)
  const left = blocks.length - shown
  return sections(
    head,
    ...blocks.slice(0, shown),
    left === 0 ? "" : `${left} more did not fit. ${LESS}`,
    tail,
  )
}

const NOTHING_FOUND =
  "Nothing was found. Try other words, or leave repository and branch out; list-repositories shows what is searched."
const LESS = "Use a smaller limit, or name a repository."

function placeOf({ repository, branch }: DocumentationResult): string {
  return `${oneLine(repository)}, branch ${oneLine(branch)}`
}

function resultBlock(result: DocumentationResult, isPlaced: boolean): string {
  const breadcrumb = cut(result.headings.map(oneLine).join(" > "), BREADCRUMB_CHARS_MAX)
  return lines(
    `### ${oneLine(result.file)}:${result.lineStart}-${result.lineEnd}`,
    isPlaced ? `Repository: ${placeOf(result)}` : null,
    `Score: ${shownWeight(result.score)}`,
    breadcrumb === "" ? null : `Headings: ${breadcrumb}`,
    `URL: ${result.url}`,
    `Updated: ${isoTime(result.lastUpdatedMs)}`,
    "",
    quoted(result.content),
  )
}

function notesText(notes: readonly string[]): string {
  const left = notes.length - NOTES_SHOWN_MAX
  return lines(
    ...notes.slice(0, NOTES_SHOWN_MAX).map((note) => `Note: ${cut(oneLine(note), REASON_CHARS_MAX)}`),
    left > 0 ? `Note: ${count(left, "more repository is", "more repositories are")} not up to date.` : null,
  )
}

/** Returns what is to be known of a repository: its id, its root, what is searched of it and what is not. */
export function repositoryFacts(state: RepositoryState): string {
  const { repository, documented, branches } = state
  return lines(
    `Repository id: ${repository.id}`,
    `Root: ${oneLine(repository.rootPath)}`,
    ...branches.flatMap((branch) => [
      branchLine(branch, branch.name === repository.defaultBranch),
      ...leftOut(branch),
    ]),
    `State: ${stateText(state)}`,
    documented === undefined || documented.problem === null
      ? null
      : `Problem: ${cut(oneLine(documented.problem), REASON_CHARS_MAX)}`,
  )
}

type BranchState = RepositoryState["branches"][number]

function branchLine({ name, commit, indexedAtMs, counts }: BranchState, isDefault: boolean): string {
  const facts = [
    count(counts.files - counts.problems, "file"),
    count(counts.chunks, "chunk"),
    commit === null || name === WORKING_TREE ? null : `commit ${commit.slice(0, COMMIT_CHARS_SHOWN)}`,
    indexedAtMs === null ? null : `indexed ${isoTime(indexedAtMs)}`,
  ].filter((fact) => fact !== null)
  const isRead = commit !== null
  return `Branch: ${oneLine(name)}${isDefault ? " (default)" : ""}, ${isRead ? facts.join(", ") : "not read yet"}`
}

function leftOut({ counts, problems }: BranchState): string[] {
  const left = counts.problems - problems.length
  return [
    ...problems.map(
      ({ path, problem }) => `- left out: ${oneLine(path)} ${cut(oneLine(problem), REASON_CHARS_MAX)}`,
    ),
    ...(left > 0 ? [`- left out: ${count(left, "more file")}`] : []),
  ]
}

/** Returns in a few words what can be found in a repository now. */
function stateText({ documented, isLetGo, branches, waiting }: RepositoryState): string {
  if (isLetGo) return "not searched, it was let go; `signalbox repos add` begins it again"
  if (documented === undefined) return "not searched yet; the first search-documentation begins it"
  const { work } = documented
  if (work !== null) {
    const unit = work.phase === "embedding" ? "chunks" : "files"
    const what = work.branch === null ? work.phase : `${work.phase} ${oneLine(work.branch)}`
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
