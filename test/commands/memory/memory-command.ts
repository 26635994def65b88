/** The commands on memories, as tests call them. */

import { execFileSync } from "node:child_process"
import { mkdirSync } from "node:fs"
import { join } from "node:path"
import { listMemoriesCommand } from "../../../src/commands/memory/lists.ts"
import {
  type AddOptions,
  addMemoryCommand,
  type EditOptions,
  editMemoryCommand,
  getMemoryCommand,
} from "../../../src/commands/memory/memory.ts"
import type { MemoryJson } from "../../../src/operations/memory/results.ts"
import type { World } from "../../support/world.ts"
import { type CommandSurroundings, configIn, runJson } from "../command.ts"

export interface Page {
  data: MemoryJson[]
  meta: { next_cursor: string | null; prev_cursor: string | null; has_more: boolean }
}

export const add = (where: World, content: string, options: AddOptions = {}, at: CommandSurroundings = {}) =>
  runJson<MemoryJson & { sector_inferred: boolean }>(() =>
    addMemoryCommand(configIn(where, at), [content], { ...options, json: true }),
  )
export const get = (where: World, id: string, at: CommandSurroundings = {}) =>
  runJson<MemoryJson>(() => getMemoryCommand(configIn(where, at), id, { json: true }))
export const edit = (where: World, id: string, options: EditOptions) =>
  runJson<MemoryJson>(() => editMemoryCommand(configIn(where), id, { ...options, json: true }))
export const list = (where: World, options: Parameters<typeof listMemoriesCommand>[1] = {}) =>
  runJson<Page>(() => listMemoriesCommand(configIn(where), { ...options, json: true }))

/** Another folder with a repository of its own, connected. */
export function elsewhere(where: World, name = "elsewhere"): string {
  const folder = join(where.folder, name)
  mkdirSync(folder)
  execFileSync("git", ["init", "--quiet", folder])
  return folder
}
