/** Where the files of a branch come from: git's objects, or a folder without git. */

import { existsSync, statSync } from "node:fs"
import { access, constants, lstat } from "node:fs/promises"
import { join } from "node:path"
import { DOCUMENT_BYTES_MAX } from "../../config/limits.ts"
import { WORKING_TREE } from "../../domain/documentation/documentation.ts"
import { named } from "../../domain/foreign-text/markdown.ts"
import type { Repository } from "../../domain/project.ts"
import { AppError } from "../../errors.ts"
import {
  branchCommitNow,
  defaultBranchOf,
  findBranch,
  headCommit,
  headMark,
  listBranches,
  UNKNOWN_COMMIT,
} from "../../git/branches.ts"
import { runGit, withoutCredentials } from "../../git/git-process.ts"
import { lastChanges } from "../../git/history.ts"
import { changedEntries, listTree, readBlobs, TooManyEntries } from "../../git/objects.ts"
import { blobHash, folderState, listFolder, readFolderFile } from "../../git/plain-folder.ts"
import { isFolder } from "../../git/repository.ts"
import { ownCommand } from "../../runtime/own-command.ts"
import type { DocumentRules } from "./rules.ts"

/** The name that the commit of a detached HEAD is searched under where there is no branch at all. */
const DETACHED = "HEAD"

/** Something under a path that may be documentation. */
export interface SourceEntry {
  path: string
  /** The name is not UTF-8, so that others may read the same. */
  isOddName: boolean
  kind: "file" | "link" | "submodule" | "unreadable"
  /** Of the content; null when it is not known. */
  hash: string | null
  bytes: number | null
}

/** What there is of a content: its bytes, or why there are none. */
export type SourceContent = Uint8Array | "too large" | "missing"

export interface SourceChange {
  path: string
  isOddName: boolean
  /** What is there now; null when it is gone. */
  entry: SourceEntry | null
}

/** Reads a repository; every method that fails has a reason that its user can do something about. */
export interface DocumentSource {
  defaultBranch(): Promise<string | null>
  branchNames(): Promise<string[]>
  /** Returns the address of the remote that it came from; null when there is none. */
  remoteUrl(): Promise<string | null>
  /** Returns the time of a commit, in milliseconds since 1970; null when it has none. */
  committedAt(commit: string): Promise<number | null>
  /** Returns what the files of a branch are of now; undefined when there is no such branch. */
  commitOf(branch: string): Promise<string | undefined>
  /** Whether a branch is still at a commit, as far as that can be told in a moment. */
  isAt(branch: string, commit: string): boolean | "unknown"
  /** Throws TooManyEntries after `entriesMax`, unless that is not given the most of a branch. */
  entries(commit: string, signal: AbortSignal, entriesMax?: number): AsyncIterable<SourceEntry>
  /** Returns what differs between two commits; null when that cannot be told without listing all. */
  changes(
    from: string,
    to: string,
    signal: AbortSignal,
    entriesMax?: number,
  ): Promise<AsyncIterable<SourceChange> | null>
  /** Returns the contents in the order of the entries, which are files with hashes. */
  contents(entries: readonly SourceEntry[], signal: AbortSignal): AsyncIterable<SourceContent>
  /**
   * Returns when paths were last changed, in milliseconds since 1970. With `since` only what changed after that
   * commit is returned, provided that it is part of the history.
   */
  changedAt(
    commit: string,
    paths: ReadonlySet<string>,
    since: string | null,
    signal: AbortSignal,
  ): Promise<Map<string, number>>
}

/** Opens a repository for reading; fails with `unavailable` when it is no longer there. */
export async function openSource(repository: Repository, rules: DocumentRules): Promise<DocumentSource> {
  const { identityPath, rootPath } = repository
  if (!(await isFolder(identityPath))) {
    throw new AppError("unavailable", `${named(identityPath)} is no longer there`, {
      hint: `Put it back, or run \`${ownCommand()} repos remove ${repository.id}\`.`,
    })
  }
  // What was connected as a folder stays one, even when somebody makes a repository of it.
  const isGit = existsSync(join(identityPath, "HEAD")) && existsSync(join(identityPath, "objects"))
  return isGit ? gitSource(identityPath) : folderSource(rootPath, rules)
}

/** What git said of each repository, for as long as the files that it follows from stay as they were. */
const defaultBranches = new Map<string, { mark: string; name: string }>()
const remoteUrls = new Map<string, { mark: string; url: string | null }>()

function fileMark(path: string): string {
  const found = statSync(path, { throwIfNoEntry: false })
  return found === undefined ? "" : `${found.mtimeMs} ${found.size} ${found.ino}`
}

function gitSource(gitFolder: string): DocumentSource {
  const isAncestor = async (from: string, to: string) =>
    (await runGit(["merge-base", "--is-ancestor", from, to], { gitFolder })) !== undefined
  return {
    async defaultBranch() {
      const mark = headMark(gitFolder)
      const known = defaultBranches.get(gitFolder)
      if (mark !== undefined && known?.mark === mark) return known.name
      const name = await defaultBranchOf(gitFolder)
      if (name === null) return (await headCommit(gitFolder)) === undefined ? null : DETACHED
      if (mark !== undefined) defaultBranches.set(gitFolder, { mark, name })
      return name
    },
    async branchNames() {
      return (await listBranches(gitFolder)).map(({ name }) => name)
    },
    async remoteUrl() {
      const mark = fileMark(join(gitFolder, "config"))
      const known = remoteUrls.get(gitFolder)
      if (known?.mark === mark) return known.url
      const stored = await runGit(["config", "--get", "remote.origin.url"], { gitFolder })
      const url = stored === undefined ? null : withoutCredentials(stored)
      remoteUrls.set(gitFolder, { mark, url })
      return url
    },
    async committedAt(commit) {
      const seconds = await runGit(["log", "-1", "--format=%ct", commit], { gitFolder })
      return seconds === undefined ? null : Number(seconds) * 1_000
    },
    async commitOf(branch) {
      const now = branch === DETACHED ? undefined : branchCommitNow(gitFolder, branch)
      if (now !== undefined && now !== UNKNOWN_COMMIT) return now
      const found = await findBranch(gitFolder, branch)
      return found === undefined && branch === DETACHED ? headCommit(gitFolder) : found?.commit
    },
    isAt(branch, commit) {
      const now = branchCommitNow(gitFolder, branch)
      return now === UNKNOWN_COMMIT || branch === DETACHED ? "unknown" : now === commit
    },
    entries: (commit, signal, entriesMax) => listTree(gitFolder, commit, signal, entriesMax),
    async changes(from, to, signal, entriesMax) {
      const isThere = (await runGit(["cat-file", "-e", from], { gitFolder })) !== undefined
      return isThere ? changedEntries(gitFolder, from, to, signal, entriesMax) : null
    },
    async *contents(entries, signal) {
      const hashes = entries.flatMap(({ hash }) => hash ?? [])
      const read = readBlobs(gitFolder, hashes, { bytesMax: DOCUMENT_BYTES_MAX, signal })
      for await (const { bytes, size } of read) yield bytes ?? (size === null ? "missing" : "too large")
    },
    async changedAt(commit, paths, since, signal) {
      const isPart = since !== null && (await isAncestor(since, commit))
      return lastChanges(gitFolder, commit, paths, isPart ? { since, signal } : { signal })
    },
  }
}

function folderSource(root: string, rules: DocumentRules): DocumentSource {
  const wanted = { isWanted: rules.isDocument, isFolderWanted: rules.isFolderWanted }
  return {
    defaultBranch: async () => WORKING_TREE,
    branchNames: async () => [WORKING_TREE],
    remoteUrl: async () => null,
    committedAt: async () => null,
    commitOf: async (branch) =>
      branch === WORKING_TREE ? readable(root, () => folderState(root, wanted)) : undefined,
    isAt: () => "unknown",
    async *entries(_, signal, entriesMax) {
      await readable(root, () => access(root, constants.R_OK))
      const most = entriesMax === undefined ? {} : { entriesMax }
      yield* listFolder(root, { ...wanted, ...most, bytesMax: DOCUMENT_BYTES_MAX, signal })
    },
    changes: async () => null,
    async *contents(entries) {
      for (const { path, hash } of entries) {
        const bytes = await readFolderFile(root, path, DOCUMENT_BYTES_MAX)
        // What has changed in between is noticed by the next look at the folder.
        yield bytes !== undefined && blobHash(bytes) === hash ? bytes : "missing"
      }
    },
    async changedAt(_, paths) {
      const times = new Map<string, number>()
      for (const path of paths) {
        const found = await lstat(join(root, path)).catch(() => undefined)
        if (found !== undefined) times.set(path, Math.floor(found.mtimeMs))
      }
      return times
    },
  }
}

async function readable<T>(root: string, read: () => Promise<T>): Promise<T> {
  try {
    return await read()
  } catch (error) {
    if (error instanceof TooManyEntries) {
      throw new AppError("unavailable", `${root} is too large to be searched: it has ${error.message}`, {
        hint: "Name folders to leave out under documentation.ignore in your config file, or a smaller folder.",
      })
    }
    const { code } = error as NodeJS.ErrnoException
    if (code === undefined) throw error
    throw new AppError("unavailable", `${named(root)} cannot be read (${code})`, {
      hint: "Check that it is there, and its permissions.",
    })
  }
}
