/**
 * The branches of a repository and the commits they stand at: asked of git, or, where a search must know at
 * once whether a branch has moved, read from the files that git keeps them in.
 */

import { closeSync, existsSync, fstatSync, openSync, readFileSync, type Stats, statSync } from "node:fs"
import { basename, join } from "node:path"
import { isObjectName, requireGit, runGit } from "./git-process.ts"

/** A branch by its short name: a local one, or one of the remote `origin` that has no local one. */
export interface Branch {
  name: string
  commit: string
  isRemote: boolean
}

const LOCAL = "refs/heads/"
const REMOTE = "refs/remotes/origin/"
/** Long before a branch needs it; `for-each-ref` reads one file or a few. */
const LISTING_TIMEOUT_MS = 30_000
const MAIN_NAMES = ["main", "master"]
const OTHER_NAMES = ["trunk", "develop"]

/** Lists the branches of a git directory, sorted by name. Throws GitError when git cannot read it. */
export function listBranches(gitFolder: string): Promise<Branch[]> {
  return readBranches(gitFolder, [LOCAL, REMOTE])
}

/** Returns the branch of a name, the local one first, or undefined. Throws as `listBranches` does. */
export async function findBranch(gitFolder: string, name: string): Promise<Branch | undefined> {
  if (!isBranchName(name)) return undefined
  const branches = await readBranches(gitFolder, [LOCAL + name, REMOTE + name])
  return branches.find((branch) => branch.name === name)
}

/**
 * Returns the branch that a repository is read at unless another is named: the remote's default; else, in a work
 * tree, `main` or `master`; else the one that HEAD stands on; else `main`, `master`, `trunk` or `develop`; else the
 * one with the newest commit; null when there is none. Throws as `listBranches` does.
 */
export async function defaultBranchOf(gitFolder: string): Promise<string | null> {
  const [branches, originHead, head] = await Promise.all([
    listBranches(gitFolder),
    runGit(["symbolic-ref", "--quiet", `${REMOTE}HEAD`], { gitFolder }),
    runGit(["symbolic-ref", "--quiet", "HEAD"], { gitFolder }),
  ])
  const names = new Set(branches.map(({ name }) => name))
  // In a work tree HEAD is what somebody works on; only where nothing else tells is it the default.
  const main = basename(gitFolder) === ".git" ? MAIN_NAMES : []
  const likely = [after(originHead, REMOTE), ...main, after(head, LOCAL), ...MAIN_NAMES, ...OTHER_NAMES]
  const found = likely.find((name) => name !== undefined && names.has(name))
  return found ?? (await newestBranch(gitFolder, branches))
}

/**
 * Returns what the default branch follows from, so that it is asked for again only when that has changed: what HEAD
 * and the remote's HEAD say, and when branches came or went. Cheap, without a process; undefined when they cannot be read.
 */
export function headMark(gitFolder: string): string | undefined {
  try {
    const remote = readText(join(gitFolder, REMOTE, "HEAD")) ?? ""
    // A branch that comes or goes changes the time of its folder, or that of the file of packed ones.
    const places = [LOCAL, REMOTE, "packed-refs"].map((place) => join(gitFolder, place))
    const times = places.map((place) => statSync(place, { throwIfNoEntry: false })?.mtimeMs ?? 0)
    return [readFileSync(join(gitFolder, "HEAD"), "utf8"), remote, ...times].join("\n")
  } catch {
    return undefined
  }
}

/** Returns the commit that HEAD stands at, detached or not; undefined when there is none yet. */
export function headCommit(gitFolder: string): Promise<string | undefined> {
  return runGit(["rev-parse", "--verify", "--quiet", "HEAD^{commit}"], { gitFolder })
}

/** Returns the branch that a work tree stands on; null where HEAD names none, and where git cannot tell. */
export async function currentBranch(workTree: string): Promise<string | null> {
  return (await runGit(["symbolic-ref", "--quiet", "--short", "HEAD"], { folder: workTree })) ?? null
}

/** Whether a text can be a branch's short name: the rules of `git check-ref-format --branch`. */
export function isBranchName(name: string): boolean {
  if (name === "" || name === "HEAD" || name.startsWith("-") || name.endsWith(".")) return false
  if (/[ ~^:?*[\\]|\.\.|@\{/.test(name)) return false
  // Git forbids control characters of ASCII only.
  for (const character of name) if (character < " " || character === "\x7f") return false
  return name.split("/").every((part) => part !== "" && !part.startsWith(".") && !part.endsWith(".lock"))
}

async function readBranches(gitFolder: string, patterns: readonly string[]): Promise<Branch[]> {
  const format = "--format=%(objectname) %(refname)"
  const output = await requireGit(["for-each-ref", format, ...patterns], {
    gitFolder,
    timeoutMs: LISTING_TIMEOUT_MS,
  })
  const branches = new Map<string, Branch>()
  // Sorted by git, the local ones come first.
  for (const line of output.split("\n")) {
    const space = line.indexOf(" ")
    const commit = line.slice(0, space)
    const reference = line.slice(space + 1)
    const isRemote = reference.startsWith(REMOTE)
    const name = after(reference, isRemote ? REMOTE : LOCAL)
    // The remote's HEAD is a link to one of the others.
    if (name === undefined || !isBranchName(name) || branches.has(name)) continue
    branches.set(name, { name, commit, isRemote })
  }
  return [...branches.values()].sort((a, b) => (a.name < b.name ? -1 : 1))
}

async function newestBranch(gitFolder: string, branches: readonly Branch[]): Promise<string | null> {
  const [first, second] = branches
  if (first === undefined || second === undefined) return first?.name ?? null
  const newest = ["for-each-ref", "--sort=-committerdate", "--format=%(objectname)", LOCAL, REMOTE]
  const commit = (await runGit(newest, { gitFolder }))?.split("\n")[0]
  return (branches.find((branch) => branch.commit === commit) ?? first).name
}

function after(reference: string | undefined, prefix: string): string | undefined {
  return reference?.startsWith(prefix) ? reference.slice(prefix.length) : undefined
}

/** What `branchCommitNow` says when only git knows. */
export const UNKNOWN_COMMIT = "unknown"

const LINKS_FOLLOWED_MAX = 5

/**
 * Returns the commit that a branch stands at now, without starting a process: in well under 0.1 ms.
 *
 * Undefined means that there is no such branch, also for a text that cannot name one. `UNKNOWN_COMMIT` means
 * that the files do not tell, as in a repository with the `reftable` format: ask `findBranch`. The branch is
 * looked for as `findBranch` does. It is not checked that the commit exists.
 */
export function branchCommitNow(gitFolder: string, name: string): string | typeof UNKNOWN_COMMIT | undefined {
  if (!isBranchName(name)) return undefined
  try {
    if (existsSync(join(gitFolder, "reftable"))) return UNKNOWN_COMMIT
    const commit = readReference(gitFolder, LOCAL + name) ?? readReference(gitFolder, REMOTE + name)
    if (commit !== undefined) return commit
    // The folder of one worktree has a HEAD too, but its branches are elsewhere.
    const isWhole = existsSync(join(gitFolder, "HEAD")) && !existsSync(join(gitFolder, "commondir"))
    return isWhole ? undefined : UNKNOWN_COMMIT
  } catch {
    return UNKNOWN_COMMIT
  }
}

/** Throws for whatever is not as expected. */
function readReference(
  gitFolder: string,
  reference: string,
  linksLeft = LINKS_FOLLOWED_MAX,
): string | undefined {
  const text = readText(join(gitFolder, reference))?.trimEnd() ?? readPacked(gitFolder, reference)
  if (text === undefined || isObjectName(text)) return text
  const target = after(text, "ref: ")?.trim()
  const isSafe = target?.startsWith("refs/") && isBranchName(target)
  if (target === undefined || !isSafe || linksLeft === 0) throw new Error("neither a commit nor a link")
  return readReference(gitFolder, target, linksLeft - 1)
}

/** What a file of packed references said, for those that were asked for while it was in this state. */
interface PackedReferences {
  state: string
  answers: Map<string, string | undefined>
}

const packedReferences = new Map<string, PackedReferences>()
const REPOSITORIES_REMEMBERED_MAX = 64

/**
 * Looks a reference up in `packed-refs`. Git replaces this file as a whole, so its inode, size and time tell
 * whether it changed, as they do for git itself. There may be megabytes of it: the answers are kept, not it.
 */
function readPacked(gitFolder: string, reference: string): string | undefined {
  const path = join(gitFolder, "packed-refs")
  const stats = statSync(path, { throwIfNoEntry: false })
  if (stats === undefined) return undefined
  let known = packedReferences.get(path)
  if (known?.state !== stateOf(stats)) {
    known = { state: stateOf(stats), answers: new Map() }
    packedReferences.delete(path)
    packedReferences.set(path, known)
    const [oldest] = packedReferences.keys()
    if (packedReferences.size > REPOSITORIES_REMEMBERED_MAX && oldest) packedReferences.delete(oldest)
  }
  if (!known.answers.has(reference)) {
    const { text, state } = readWithState(path)
    const answer = findPacked(text, reference)
    // Replaced between the look and the reading: right now, but not for the state that was looked at.
    if (state !== known.state) return answer
    known.answers.set(reference, answer)
  }
  return known.answers.get(reference)
}

function readWithState(path: string): { text: Buffer; state: string } {
  const file = openSync(path, "r")
  try {
    const state = stateOf(fstatSync(file))
    return { text: readFileSync(file), state }
  } finally {
    closeSync(file)
  }
}

/** Every line is `<object name> <reference>`; those that begin otherwise are comments and peeled tags. */
function findPacked(text: Buffer, reference: string): string | undefined {
  const needle = Buffer.from(` ${reference}\n`)
  const at = text.indexOf(needle)
  if (at < 0) return undefined
  const commit = text.toString("latin1", text.lastIndexOf("\n", at) + 1, at)
  if (!isObjectName(commit)) throw new Error("not a line of packed references")
  return commit
}

function stateOf({ ino, size, mtimeMs, ctimeMs }: Stats): string {
  return `${ino} ${size} ${mtimeMs} ${ctimeMs}`
}

/** Returns a file's text, or undefined when there is none. */
function readText(path: string): string | undefined {
  try {
    return readFileSync(path, "utf8")
  } catch (error) {
    const code = error instanceof Error && "code" in error ? error.code : undefined
    // A folder stands there, or a file where a folder would be: other branches' names begin or end here.
    if (code === "ENOENT" || code === "ENOTDIR" || code === "EISDIR") return undefined
    throw error
  }
}
