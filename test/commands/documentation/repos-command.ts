import { expect, onTestFinished } from "vitest"
import {
  type AddRepositoryOptions,
  addRepositoryCommand,
  listRepositoriesCommand,
  removeRepositoryCommand,
  syncRepositoriesCommand,
} from "../../../src/commands/documentation/repos.ts"
import type { repositoryJson } from "../../../src/commands/documentation/repos-text.ts"
import { openProcessLock } from "../../../src/db/process-lock.ts"
import { putIndexingWork } from "../../../src/store/documentation/documentation.ts"
import { commitFiles } from "../../support/documentation.ts"
import type { World } from "../../support/world.ts"
import {
  type CommandSurroundings,
  configIn,
  listenToStderr,
  presentWorld,
  runJson,
  server,
} from "../command.ts"

export type Shown = ReturnType<typeof repositoryJson>

export const FILES = {
  "README.md": "# Billing\n\nWhat it costs.\n",
  "docs/limits.md": "# Limits\n\nSixty a minute.\n",
}

/** A world in whose repository documentation is committed; `said` is what commands say beside their results. */
export function documentedWorld(): { where: World; said: { text: string } } {
  const where = presentWorld()
  commitFiles(where.repositoryPath, FILES)
  return { where, said: listenToStderr() }
}

export const add = (
  where: World,
  target: string,
  options: AddRepositoryOptions = {},
  at: CommandSurroundings = {},
) => runJson<Shown>(() => addRepositoryCommand(configIn(where, at), target, { ...options, json: true }))
export const list = (where: World, at: CommandSurroundings = {}) =>
  runJson<Shown[]>(() => listRepositoriesCommand(configIn(where, at), { json: true }))
export const sync = (where: World, ...named: string[]) =>
  runJson<Shown[]>(() => syncRepositoriesCommand(configIn(where), named, { json: true }))
export const remove = (where: World, named: string) =>
  runJson(() => removeRepositoryCommand(configIn(where), named, { json: true }))

/** Plays another process that is indexing, until it is closed. */
export function otherProcess(where: World): { close(): void } {
  const lock = openProcessLock(`${where.databasePath}.indexing.lock`)
  expect(lock.tryTake()).toBe(true)
  let isOpen = true
  const close = () => {
    if (isOpen) lock.close()
    isOpen = false
  }
  onTestFinished(close)
  return { close }
}

/** Notes work as another process does. */
export async function noteWork(where: World, done: number, updatedAtMs = Date.now()): Promise<void> {
  const app = await server(where, "other")
  const work = { phase: "reading", branch: "main", done, total: 40, updatedAtMs } as const
  await app.db.transaction("documentation:1", (tx) => putIndexingWork(tx, 1, work))
}
