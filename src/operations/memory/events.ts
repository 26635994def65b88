/** What is told of memories: which one, never what it says. */

import type { Queries } from "../../db/database.ts"
import type { EventKind } from "../../domain/events/kinds.ts"
import type { Memory } from "../../domain/memory/memory.ts"
import { recordEvent } from "../../store/events.ts"
import type { Fading } from "../../store/memory/memories.ts"

type MemoryEventKind = Exclude<Extract<EventKind, `memory.${string}`>, "memory.pruned">

/** Records what happened to a memory, in the transaction in which it does. */
export function recordMemoryEvent(
  tx: Queries,
  kind: MemoryEventKind,
  { uuid, repositoryId, sector }: Pick<Memory, "uuid" | "repositoryId" | "sector">,
  nowMs: number,
): Promise<void> {
  return recordEvent(tx, { kind, repositoryId, data: { memory_id: uuid, sector } }, nowMs)
}

/** Records which memories were pruned together, in the transaction in which they are. */
export function recordPruning(
  tx: Queries,
  { repositoryId, threshold, sector }: Pick<Fading, "repositoryId" | "threshold" | "sector">,
  pruned: readonly Memory[],
  nowMs: number,
): Promise<void> {
  const data = { count: pruned.length, threshold, sector, memory_ids: pruned.map(({ uuid }) => uuid) }
  return recordEvent(tx, { kind: "memory.pruned", repositoryId, data }, nowMs)
}
