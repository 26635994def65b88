/** The tools on memories, for tests that go through all of them. */

import { type Session, textAfter } from "./world.ts"

/** The id of no memory. */
export const NO_ID = "0192f5a0-7b3c-7c4e-9d2f-0123456789ab"

/** The tools on one memory, then those on many, with the arguments that they cannot do without. */
export const ON_ONE: [tool: string, args: Record<string, unknown>][] = [
  ["get-memory", {}],
  ["update-memory", { content: "taken over" }],
  ["reinforce-memory", {}],
  ["get-memory-waypoints", {}],
  ["delete-memory", {}],
]
export const ON_MANY: typeof ON_ONE = [
  ["create-memory", { content: "x" }],
  ["search-memories", { query: "x" }],
  ["list-memories", {}],
  ["prune-memories", { dry_run: false, threshold: 1 }],
  ["get-memory-stats", {}],
]
export const toolsOn = (id: string): typeof ON_ONE => [
  ...ON_MANY,
  ...ON_ONE.map(([tool, args]): [string, Record<string, unknown>] => [tool, { ...args, memory_id: id }]),
]

export async function create(session: Session, content: string, more: object = {}): Promise<string> {
  return textAfter(await session.call("create-memory", { content, ...more }), "Memory id")
}
