/** `signalbox repos`: which repositories are connected, what is searched of them, and how it gets there. */

import { resolve } from "node:path"
import type { Config } from "../../config/config.ts"
import { echoed } from "../../domain/foreign-text/markdown.ts"
import { visible, visibleLine } from "../../domain/foreign-text/visible.ts"
import type { Repository } from "../../domain/project.ts"
import { AppError, invalid } from "../../errors.ts"
import { isGitUrl } from "../../git/address.ts"
import { realpathOfNearest } from "../../git/repository.ts"
import { ASKS, admit } from "../../operations/admission.ts"
import type { App } from "../../operations/app.ts"
import { heldByBackups } from "../../operations/backups.ts"
import { commandCall } from "../../operations/caller.ts"
import { fetchClone } from "../../operations/documentation/clones.ts"
import { connectInput } from "../../operations/documentation/inputs.ts"
import { listedRepositories } from "../../operations/documentation/permission.ts"
import { disconnectRepository, isRemovalWanted } from "../../operations/documentation/removal.ts"
import {
  beginDocumentation,
  besidesDocumentation,
  type ConnectRequest,
  connectRepository,
  documentedRepositories,
  type RepositoryState,
  repositoryStates,
} from "../../operations/documentation/repositories.ts"
import { checkInput } from "../../operations/input.ts"
import { count, lines } from "../../operations/markdown.ts"
import { findNamedRepository } from "../../operations/tenants.ts"
import { ownCommand } from "../../runtime/own-command.ts"
import { afterDeletion } from "../after-deletion.ts"
import { bold, dim, green, type OutputOptions, printResult } from "../output.ts"
import { createProgress, untilInterrupted } from "../progress.ts"
import { withApp } from "../with-app.ts"
import { indexWithProgress } from "./indexing-progress.ts"
import { figure } from "./indexing-work.ts"
import { repositoryJson, repositoryReport, repositoryTable } from "./repos-text.ts"

/** What reads much of a database takes little memory for it. */
const INDEXING = { isMapped: false }

export interface AddRepositoryOptions extends OutputOptions {
  name?: string
  branch?: string[]
  /** False to leave the reading to others. */
  sync?: boolean
}

/**
 * Connects a folder or an address, and reads its documentation. Fails with `refused` when it is stopped, and with
 * `unavailable`, once all is printed, when it cannot be read.
 */
export async function addRepositoryCommand(
  config: Config,
  target: string,
  options: AddRepositoryOptions,
): Promise<void> {
  const asked = await checkAdded(config.workingFolder, target, options)
  await withApp(
    config,
    async (app) => {
      await admit(commandCall(app), ASKS.admin)
      const repository = await untilInterrupted(async (signal) => {
        const connected = await connect(app, asked, options, signal)
        if (options.sync !== false) await index(app, [connected], options, signal)
        return connected
      })
      const [state] = await repositoryStates(app, [repository])
      if (state === undefined) return
      printResult(options, repositoryJson(state, app.now()), () => repositoryReport(state, app.now()))
      requireNoProblem([state])
    },
    INDEXING,
  )
}

/**
 * Checks what is to be connected; a folder, relative to the working one, becomes its real path. Fails with `invalid`,
 * also for an address that git would fetch without encryption or by way of a program.
 */
async function checkAdded(
  workingFolder: string,
  typed: string,
  { name, branch: branches }: AddRepositoryOptions,
): Promise<ConnectRequest> {
  const { path_or_url, ...shape } = connectInput
  const asked = checkInput({ target: path_or_url, ...shape }, { target: typed, name, branches })
  if (isGitUrl(asked.target)) return asked
  if (/^[a-z][a-z0-9+.-]*:(\/\/|:)/i.test(asked.target)) {
    throw invalid(
      "target",
      "must be a folder, or an address that begins with https://, ssh:// or file://, or is user@host:path",
    )
  }
  return { ...asked, target: await realpathOfNearest(resolve(workingFolder, asked.target)) }
}

async function connect(
  app: App,
  asked: ConnectRequest,
  options: OutputOptions,
  signal: AbortSignal,
): Promise<Repository> {
  const cloning = options.json === true ? undefined : createProgress("Cloning", figure)
  const onProgress = (text: string) => {
    // Such as `Receiving objects:  35% (12/34)`.
    const [, done, total] = /\((\d+)\/(\d+)\)/.exec(text) ?? []
    if (done !== undefined) cloning?.show(Number(done), Number(total))
  }
  try {
    return await connectRepository(app, { ...asked, signal, onProgress })
  } catch (error) {
    if (signal.aborted) throw new AppError("refused", "stopped; nothing was connected")
    throw error
  } finally {
    cloning?.end()
  }
}

/** Reads repositories, with a bar; fails with `refused` when it is stopped. */
async function index(
  app: App,
  repositories: readonly Repository[],
  options: OutputOptions,
  signal: AbortSignal,
): Promise<void> {
  const result = await indexWithProgress(app, {
    repositoryIds: repositories.map(({ id }) => id),
    signal,
    isQuiet: options.json === true,
  })
  if (result === "done") return
  const states = await repositoryStates(app, repositories)
  const unread = states.filter(({ branches }) => branches.some(({ isComplete }) => !isComplete))
  const waiting = states.reduce((sum, state) => sum + state.waiting, 0)
  const left =
    unread.length > 0
      ? `${unread.map(({ repository }) => visibleLine(repository.name)).join(", ")} ${unread.length === 1 ? "is" : "are"} not read to the end`
      : waiting > 0
        ? `all is read, but ${count(waiting, "chunk")} ${waiting === 1 ? "has" : "have"} no vector yet`
        : "all is read"
  throw new AppError("refused", `stopped: ${left}`, {
    hint: `\`${ownCommand()} repos sync\` goes on where it stopped; what was read stays.`,
  })
}

/** Fails with `unavailable` when something keeps a repository from being read, naming each. */
function requireNoProblem(states: readonly RepositoryState[]): void {
  const problems = states.flatMap(({ repository, documented }) =>
    documented === undefined || documented.problem === null
      ? []
      : [`${visibleLine(repository.name)} cannot be brought up to date: ${visibleLine(documented.problem)}`],
  )
  if (problems.length > 0) throw new AppError("unavailable", problems.join("\n"))
}

/** Lists the connected repositories that the key may know of. */
export function listRepositoriesCommand(config: Config, options: OutputOptions): Promise<void> {
  return withApp(config, async (app) => {
    const context = await admit(commandCall(app), { counts: [] })
    const states = await repositoryStates(app, await listedRepositories(context))
    const nowMs = app.now()
    printResult(
      options,
      states.map((state) => repositoryJson(state, nowMs)),
      () =>
        states.length === 0
          ? `No repositories yet. Run signalbox in a git work tree, or \`${ownCommand()} repos add <path|url>\`.`
          : repositoryTable(states, nowMs),
    )
  })
}

/**
 * Brings the repositories of ids or names up to date, or all that are searched; clones are fetched first. Fails with
 * `not_found`, with `refused` when it is stopped, and with `unavailable`, once all is printed, for those that
 * cannot be read.
 */
export function syncRepositoriesCommand(
  config: Config,
  named: readonly string[],
  options: OutputOptions,
): Promise<void> {
  return withApp(
    config,
    async (app) => {
      await admit(commandCall(app), ASKS.admin)
      const repositories = await repositoriesToSync(app, named)
      if (repositories.length > 0 || (await isRemovalWanted(app))) {
        await untilInterrupted(async (signal) => {
          for (const repository of repositories) await fetchOrWarn(app, repository, signal)
          await index(app, repositories, options, signal)
        })
      }
      const states = await repositoryStates(app, repositories)
      const nowMs = app.now()
      printResult(
        options,
        states.map((state) => repositoryJson(state, nowMs)),
        () =>
          states.length === 0
            ? `Nothing is searched yet. \`${ownCommand()} repos add <path|url>\` connects a repository.`
            : states.map((state) => repositoryReport(state, nowMs)).join("\n"),
      )
      requireNoProblem(states)
    },
    INDEXING,
  )
}

/** Returns the connected repository of an id or a name; fails with `not_found`. */
async function requireNamedRepository(app: App, named: string): Promise<Repository> {
  const repository = await findNamedRepository(app.db, named.trim())
  if (repository !== undefined) return repository
  throw new AppError("not_found", `repository ${echoed(named)} was not found`, {
    field: "repository",
    hint: `\`${ownCommand()} repos list\` shows the ids and names.`,
  })
}

async function repositoriesToSync(app: App, named: readonly string[]): Promise<Repository[]> {
  if (named.length === 0) return documentedRepositories(app.db)
  const repositories = new Map<number, Repository>()
  for (const one of named) {
    const repository = await requireNamedRepository(app, one)
    repositories.set(repository.id, repository)
  }
  for (const repository of repositories.values()) await beginDocumentation(app, repository)
  return [...repositories.values()]
}

/** What was fetched before is searched all the same. */
async function fetchOrWarn(app: App, repository: Repository, signal: AbortSignal): Promise<void> {
  if (signal.aborted) return
  try {
    await fetchClone(app, repository, signal)
  } catch (error) {
    if (!(error instanceof AppError)) throw error
    if (!signal.aborted) process.stderr.write(`signalbox: warning: ${visible(error.text)}\n`)
  }
}

/**
 * Forgets the documentation of a repository, and the clone that signalbox made of it, and nothing else. Fails with
 * `refused` when it is stopped; no search shows it even so, and servers remove the rest.
 */
export function removeRepositoryCommand(
  config: Config,
  named: string,
  options: OutputOptions & { purge?: boolean },
): Promise<void> {
  return withApp(config, async (app) => {
    await admit(commandCall(app), ASKS.admin)
    const repository = await requireNamedRepository(app, named)
    const kept = await besidesDocumentation(app, repository)
    const { isConnected, isCloneDeleted, isRemoved } = await removeWithProgress(app, repository, options)
    // What is not removed yet would be in the new backup.
    const held = isRemoved ? await afterDeletion(app, options) : heldByBackups(app)
    const json = {
      id: repository.id,
      name: repository.name,
      is_connected: isConnected,
      clone_deleted: isCloneDeleted,
      is_removed: isRemoved,
      held_by_backups: held !== null,
      kept,
    }
    printResult(options, json, () =>
      lines(
        `${green("✓")} Forgot the documentation of ${bold(visibleLine(repository.name))}.`,
        isRemoved
          ? null
          : "  No search shows it any more. Another process is indexing, and removes the rest when it is done.",
        dim(
          `  ${isCloneDeleted ? "The clone that signalbox had made is deleted." : `Nothing in ${visibleLine(repository.rootPath)} was touched.`}`,
        ),
        isConnected
          ? `  Kept: ${keptText(kept)}. It stays connected for them, with id ${repository.id}.`
          : dim("  Nothing else belonged to it, so it is not connected any more."),
        held === null ? null : dim(held.replace(/^/gm, "  ")),
      ),
    )
  })
}

async function removeWithProgress(app: App, repository: Repository, options: OutputOptions) {
  const bar = options.json === true ? undefined : createProgress("Removing", (rows) => `${figure(rows)} rows`)
  try {
    return await untilInterrupted(async (signal) => {
      const onProgress = (done: number, total: number) => bar?.show(done, total)
      const outcome = await disconnectRepository(app, repository, { signal, onProgress })
      if (!outcome.isRemoved && signal.aborted)
        throw new AppError("refused", `stopped: no search shows ${visibleLine(repository.name)} any more`, {
          hint: `What is stored of it goes with the next server, or \`${ownCommand()} repos sync\`.`,
        })
      return outcome
    })
  } finally {
    bar?.end()
  }
}

function keptText({ memories, reservations }: { memories: number; reservations: number }): string {
  return [
    ...(memories === 0 ? [] : [count(memories, "memory", "memories")]),
    ...(reservations === 0 ? [] : [count(reservations, "reservation")]),
    "its agents and their history",
  ].join(", ")
}
