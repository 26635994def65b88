/** Real repositories in temporary folders, in which every commit has a time of its own. */

import { execFileSync } from "node:child_process"
import { mkdirSync, writeFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { pathToFileURL } from "node:url"
import { remove } from "../../scripts/removal.ts"
import { initRepository } from "../support/templates.ts"
import { temporaryFolder } from "../support/temporary-folder.ts"

const FIRST_COMMIT_SECONDS = 1_700_000_000

/**
 * What has git commit everything and say the commit, the options of `git commit` behind it. One command for three:
 * it takes long to start a process from one as large as that of the tests.
 */
export const COMMIT_ALL = [
  "-c",
  'alias.commit-all=!f() { git add --all && git commit --quiet "$@" && git rev-parse HEAD; }; f',
  "commit-all",
]

export class TestRepository {
  readonly root: string
  readonly gitFolder: string
  #seconds = FIRST_COMMIT_SECONDS

  constructor(options: readonly string[] = []) {
    this.root = join(temporaryFolder(), "repository")
    this.gitFolder = join(this.root, ".git")
    if (options.length === 0) initRepository(this.root)
    else execFileSync("git", ["init", "--quiet", "--initial-branch=main", ...options, this.root])
  }

  git(...args: readonly string[]): string {
    return git(this.root, args, this.#seconds)
  }

  /** Writes files, or takes away those that are null, and commits everything, a minute after the last time. */
  commit(files: Record<string, string | null> = {}, message = "Change"): string {
    for (const [path, text] of Object.entries(files)) {
      const place = join(this.root, path)
      mkdirSync(dirname(place), { recursive: true })
      if (text === null) remove(place)
      else writeFileSync(place, text)
    }
    this.tick()
    return this.git(...COMMIT_ALL, "--allow-empty", "--no-verify", "--message", message).trim()
  }

  /** Merges a branch, with what a person adds to the merge; conflicts are resolved for the present branch. */
  merge(branch: string, files: Record<string, string | null> = {}): string {
    this.git("merge", "--quiet", "--no-ff", "--no-commit", "--strategy-option=ours", branch)
    return this.commit(files, `Merge ${branch}`)
  }

  /** Moves the clock that commits are dated by. */
  tick(seconds = 60): number {
    this.#seconds += seconds
    return this.#seconds
  }

  head(revision = "HEAD"): string {
    return this.git("rev-parse", revision).trim()
  }

  /** The address that it is cloned from. */
  get url(): string {
    return pathToFileURL(this.root).href
  }
}

export function git(folder: string, args: readonly string[], seconds = FIRST_COMMIT_SECONDS): string {
  const date = `@${seconds} +0000`
  const someone = ["-c", "user.name=Test", "-c", "user.email=test@example.com", "-c", "commit.gpgSign=false"]
  return execFileSync("git", ["-C", folder, ...someone, ...args], {
    encoding: "utf8",
    stdio: ["ignore", "pipe", "pipe"],
    env: { ...process.env, GIT_AUTHOR_DATE: date, GIT_COMMITTER_DATE: date, LC_ALL: "C" },
  })
}

/** Takes everything from a stream. */
export async function all<Item>(stream: AsyncIterable<Item>): Promise<Item[]> {
  const items: Item[] = []
  for await (const item of stream) items.push(item)
  return items
}
