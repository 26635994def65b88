/** The git hooks of one repository: commits release what they settle, and a commit is checked beforehand. */

import { execFileSync } from "node:child_process"
import { join, sep } from "node:path"
import { AppError } from "../../errors.ts"
import { shellCommand } from "../../hook/command.ts"
import type { Client } from "../client.ts"

const GIT_TIMEOUT_MS = 5_000

const COMMITTED = "git -c core.quotePath=false diff-tree --root --no-commit-id --name-only -r -m HEAD"
const STAGED = "git -c core.quotePath=false diff --cached --no-renames --name-only"

export const git: Client = {
  name: "git",
  title: "git",
  traces: () => [],
  files(place) {
    const folder = place.scope === "project" ? hookFolderOf(place.root) : undefined
    if (folder === undefined) return []
    // A hooksPath of all the user's repositories is not this one's to change.
    if (!isOfRepository(folder, place.root)) {
      throw new AppError(
        "refused",
        `git keeps the hooks of this repository in ${folder}, which others may share`,
        {
          hint: "Set core.hooksPath in this repository alone, or add the lines there yourself.",
        },
      )
    }
    // A commit that stands already can neither fail nor be told anything.
    const release = `${COMMITTED} 2>/dev/null | ${shellCommand("git", "post-commit")} >/dev/null 2>&1 || :`
    const check = `${STAGED} 2>/dev/null | ${shellCommand("git", "pre-commit")} || exit 1`
    return [
      { form: "block", path: join(folder, "post-commit"), role: "hook", lines: [release] },
      { form: "block", path: join(folder, "pre-commit"), role: "hook", lines: [check] },
    ]
  },
  furtherFolders: ({ root }) => [revParse(root, "--git-common-dir") ?? []].flat(),
  notes: () => [],
}

/** Whether a folder lies in a work tree, or in the repository behind it. */
function isOfRepository(folder: string, root: string): boolean {
  const common = revParse(root, "--git-common-dir")
  return [root, common].some(
    (around) => around !== undefined && `${folder}${sep}`.startsWith(`${around}${sep}`),
  )
}

/** Returns where git looks for the hooks of a work tree, by core.hooksPath or else; undefined outside of one. */
function hookFolderOf(root: string): string | undefined {
  return revParse(root, "--git-path", "hooks")
}

function revParse(root: string, ...what: string[]): string | undefined {
  const inherited = Object.entries(process.env).filter(([name]) => !/^GIT_(?!CONFIG)/.test(name))
  try {
    const args = ["-c", "safe.bareRepository=explicit", "rev-parse", "--path-format=absolute", ...what]
    const output = execFileSync("git", ["-C", root, ...args], {
      env: Object.fromEntries(inherited),
      timeout: GIT_TIMEOUT_MS,
      encoding: "utf8",
      stdio: "pipe",
    })
    return output.trim()
  } catch {
    // No git, no repository, or none that git trusts: there is nothing to install into.
    return undefined
  }
}
