/** `signalbox repos`: which repositories are connected, what is searched of them, and how it gets there. */

import type { Config } from "../config.ts"
import type { Repository } from "../domain/project.ts"
import { AppError } from "../errors.ts"
import { LISTING_ROWS_MAX } from "../limits.ts"
import type { App } from "../operations/app.ts"
import {
  checkAddArguments,
  listedRepositories,
  requireAdmin,
  requireRepository,
  searchedRepositories,
} from "../operations/documentation-commands.ts"
import {
  beginDocumentation,
  connectRepository,
  disconnectRepository,
  fetchClone,
  type RepositoryState,
  repositoryStates,
} from "../operations/documentation-repositories.ts"
import { count, lines, oneLine } from "../operations/markdown.ts"
import { memoryTotals } from "../store/memories.ts"
import { findRepositoryById } from "../store/repositories.ts"
import { listReservationsIn } from "../store/reservations.ts"
import { indexWithProgress } from "./indexing-progress.ts"
import { figure } from "./indexing-work.ts"
import { visible } from "./memory-text.ts"
import { bold, dim, green, type OutputOptions, printResult } from "./output.ts"
import { createProgress, untilInterrupted } from "./progress.ts"
import { repositoryJson, repositoryReport, repositoryTable } from "./repos-text.ts"
import { withApp } from "./with-app.ts"

const GOES_ON = "`signalbox repos sync` goes on where it stopped; what was read stays."

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
  const { name, branch: branches } = options
  const asked = await checkAddArguments(config.workingFolder, { target, name, branches })
  await withApp(
    config,
    async (app) => {
      await requireAdmin(app)
      const repository = await untilInterrupted(async (signal) => {
        const connected = await connect(app, asked, options, signal)
        if (options.sync !== false) await index(app, [connected], options, signal)
        return connected
      })
      const [state] = await statesNow(app, [repository])
      if (state === undefined) return
      printResult(options, repositoryJson(state, app.now()), () => repositoryReport(state, app.now()))
      requireNoProblem([state])
    },
    INDEXING,
  )
}

async function connect(
  app: App,
  asked: Awaited<ReturnType<typeof checkAddArguments>>,
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
  const states = await statesNow(app, repositories)
  const unread = states.filter(({ branches }) => branches.some(({ isComplete }) => !isComplete))
  const waiting = states.reduce((sum, state) => sum + state.waiting, 0)
  const left =
    unread.length > 0
      ? `${unread.map(({ repository }) => shown(repository.name)).join(", ")} ${unread.length === 1 ? "is" : "are"} not read to the end`
      : waiting > 0
        ? `all is read, but ${count(waiting, "chunk")} ${waiting === 1 ? "has" : "have"} no vector yet`
        : "all is read"
  throw new AppError("refused", `stopped: ${left}`, { hint: GOES_ON })
}

/** Reading a repository may have found another default branch. */
async function statesNow(app: App, repositories: readonly Repository[]): Promise<RepositoryState[]> {
  const now: Repository[] = []
  for (const { id } of repositories) {
    const repository = await findRepositoryById(app.db, id)
    if (repository !== undefined) now.push(repository)
  }
  return repositoryStates(app, now)
}

/** Fails with `unavailable` when something keeps a repository from being read, naming each. */
function requireNoProblem(states: readonly RepositoryState[]): void {
  const problems = states.flatMap(({ repository, documented }) =>
    documented === undefined || documented.problem === null
      ? []
      : [`${shown(repository.name)} cannot be brought up to date: ${shown(documented.problem)}`],
  )
  if (problems.length > 0) throw new AppError("unavailable", problems.join("\n"))
}

/** Lists the connected repositories that the key may know of. */
export function listRepositoriesCommand(config: Config, options: OutputOptions): Promise<void> {
  return withApp(config, async (app) => {
    const states = await repositoryStates(app, await listedRepositories(app))
    const nowMs = app.now()
    printResult(
      options,
      states.map((state) => repositoryJson(state, nowMs)),
      () =>
        states.length === 0
          ? "No repositories yet. Run signalbox in a git work tree, or `signalbox repos add <path|url>`."
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
      await requireAdmin(app)
      const repositories = await repositoriesToSync(app, named)
      if (repositories.length > 0) {
        await untilInterrupted(async (signal) => {
          for (const repository of repositories) await fetchOrWarn(app, repository, signal)
          await index(app, repositories, options, signal)
        })
      }
      const states = await statesNow(app, repositories)
      const nowMs = app.now()
      printResult(
        options,
        states.map((state) => repositoryJson(state, nowMs)),
        () =>
          states.length === 0
            ? "Nothing is searched yet. `signalbox repos add <path|url>` connects a repository."
            : states.map((state) => repositoryReport(state, nowMs)).join("\n"),
      )
      requireNoProblem(states)
    },
    INDEXING,
  )
}

async function repositoriesToSync(app: App, named: readonly string[]): Promise<Repository[]> {
  if (named.length === 0) return searchedRepositories(app)
  const repositories = new Map<number, Repository>()
  for (const one of named) {
    const repository = await requireRepository(app, one)
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

/** Forgets the documentation of a repository, and the clone that signalbox made of it, and nothing else. */
export function removeRepositoryCommand(
  config: Config,
  named: string,
  options: OutputOptions,
): Promise<void> {
  return withApp(config, async (app) => {
    await requireAdmin(app)
    const repository = await requireRepository(app, named)
    const { memories } = await memoryTotals(app.db, repository.id)
    const held = await listReservationsIn(app.db, repository.id, app.now(), LISTING_ROWS_MAX)
    const { isConnected, isCloneDeleted } = await disconnectRepository(app, repository)
    const json = {
      id: repository.id,
      name: repository.name,
      is_connected: isConnected,
      clone_deleted: isCloneDeleted,
      kept: { memories, reservations: held.length },
    }
    printResult(options, json, () =>
      lines(
        `${green("✓")} Forgot the documentation of ${bold(shown(repository.name))}.`,
        dim(
          `  ${isCloneDeleted ? "The clone that signalbox had made is deleted." : `Nothing in ${shown(repository.rootPath)} was touched.`}`,
        ),
        isConnected
          ? `  Kept: ${keptText(memories, held.length)}. It stays connected for them, with id ${repository.id}.`
          : dim("  Nothing else belonged to it, so it is not connected any more."),
      ),
    )
  })
}

function keptText(memories: number, reservations: number): string {
  return [
    ...(memories === 0 ? [] : [count(memories, "memory", "memories")]),
    ...(reservations === 0 ? [] : [count(reservations, "reservation")]),
    "its agents and their history",
  ].join(", ")
}

function shown(text: string): string {
  return oneLine(visible(text))
}
