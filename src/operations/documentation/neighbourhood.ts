/**
 * What an agent may connect by itself: what stands beside that which is connected, and hosts that the user has named.
 * A page that an agent has read can ask it to connect anything, so all else waits for a person.
 */

import { homedir } from "node:os"
import { dirname, join, relative, sep } from "node:path"
import { codeSpan, named } from "../../domain/foreign-text/markdown.ts"
import type { Repository } from "../../domain/project.ts"
import { AppError, invalid } from "../../errors.ts"
import { parseGitUrl } from "../../git/address.ts"
import { findWorkTree, isFolder, realpathOfNearest } from "../../git/repository.ts"
import { ownCommand } from "../../runtime/own-command.ts"
import { posixWord } from "../../runtime/shell-quoting.ts"
import { listDocumentedRepositories } from "../../store/documentation/documentation.ts"
import { listRepositories } from "../../store/repositories.ts"
import type { App } from "../app.ts"
import { clonesFolder } from "./clones.ts"
import type { ConnectRequest } from "./repositories.ts"

/**
 * Passes what an agent may connect: what is connected already, linked work trees of it included; work trees beside
 * one that is, unless their folder is the home folder or holds it; addresses at hosts of `documentation.hosts`. Fails
 * with `refused` for the home folder, what holds it and folders whose names begin with a dot, and for all others,
 * with the command that a person can run.
 */
export async function requireNeighbour(app: App, request: ConnectRequest): Promise<void> {
  const { target, name = "", branches = [] } = request
  requirePlain("path_or_url", target)
  requirePlain("name", name)
  for (const branch of branches) requirePlain("branches", branch)
  const address = parseGitUrl(target)
  if (address !== undefined && address.folder === undefined) {
    const { url, host } = address
    const isKnown = (await listDocumentedRepositories(app.db)).some(({ cloneUrl }) => cloneUrl === url)
    if (isKnown || app.config.documentationHosts.includes(host)) return
    const setting = `or to add ${JSON.stringify(host)} to documentation.hosts in their config file`
    throw new AppError("refused", `${host} is no host that an agent may connect by itself`, {
      field: "path_or_url",
      hint: `Ask your user to run ${commandFor(url, request)}, ${setting}.`,
    })
  }
  const folder = await realpathOfNearest(address?.folder ?? target)
  requirePlain("path_or_url", folder)
  if (!(await isFolder(folder)) && address === undefined) return
  const workTree = await findWorkTree(folder)
  const { identityPath, mainPath } = workTree ?? { identityPath: folder, mainPath: folder }
  const connected = await listRepositories(app.db)
  if (connected.some((repository) => repository.identityPath === identityPath)) return
  const home = await realpathOfNearest(homedir())
  for (const path of [mainPath, identityPath]) requireOrdinary(path, home)
  const isWhole = workTree !== undefined && [mainPath, join(mainPath, ".git")].includes(identityPath)
  const besides = await foldersOf(app, connected, home)
  if (isWhole && besides.includes(dirname(mainPath))) return
  throw new AppError(
    "refused",
    `${named(folder)} is no work tree beside a connected one, which is all that an agent connects by itself`,
    {
      field: "path_or_url",
      hint: `Ask your user to run ${commandFor(address?.url ?? folder, request)}.`,
    },
  )
}

/** What a person is to read and run must read as it runs. */
function requirePlain(field: string, text: string): void {
  if (/[\p{Cc}\p{Cf}]/u.test(text)) throw invalid(field, "must not contain control characters")
}

/** Fails for a folder that holds too much, or what programs keep for themselves: keys, settings, caches. */
function requireOrdinary(path: string, home: string): void {
  if (isHomeOrAbove(path, home)) {
    throw new AppError("refused", `${named(path)} is the home folder or holds it, which no agent connects`, {
      field: "path_or_url",
      hint: "Name a repository in it.",
    })
  }
  const parts = (isBelow(home, path) ? relative(home, path) : path).split(sep)
  // The folder of git itself belongs to the work tree around it.
  const hidden = parts.find((part) => part.startsWith(".") && part !== ".git")
  if (hidden === undefined) return
  throw new AppError(
    "refused",
    `${named(path)} lies in ${named(hidden)}; an agent connects no folder whose name begins with a dot`,
    {
      field: "path_or_url",
      hint: "Name a repository elsewhere.",
    },
  )
}

/** The folders in which connected repositories stand; clones of ours stand where only clones do. */
async function foldersOf(app: App, connected: readonly Repository[], home: string): Promise<string[]> {
  const clones = await realpathOfNearest(clonesFolder(app))
  return connected
    .map(({ rootPath }) => dirname(rootPath))
    .filter((folder) => folder !== clones && !isHomeOrAbove(folder, home))
}

function isHomeOrAbove(path: string, home: string): boolean {
  return path === home || isBelow(path, home)
}

function isBelow(folder: string, path: string): boolean {
  return path.startsWith(folder.endsWith(sep) ? folder : `${folder}${sep}`)
}

/** The whole command line that connects what was asked for, for any POSIX shell, as code. */
function commandFor(target: string, { name, branches = [] }: ConnectRequest): string {
  const options = [
    ...(name === undefined ? [] : [`--name=${name}`]),
    ...branches.map((one) => `--branch=${one}`),
  ]
  return codeSpan([ownCommand(), "repos", "add", ...[target, ...options].map(posixWord)].join(" "))
}
