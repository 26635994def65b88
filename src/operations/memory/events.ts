/** What is told of memories: which one, never what it says. */

import type { Queries } from "../../db/database.ts"
import type { EventKind } from "../../domain/events/kinds.ts"
import type { Memory } from "../../domain/memory/memory.ts"
import { recordEvent } from "../../store/events.ts"
import type { Fading } from "../../store/memory/memories.ts"
import type { CallContext } from "../operation.ts"

type MemoryEventKind = Exclude<Extract<EventKind, `memory.${string}`>, "memory.pruned">

/** Whose call it is. Memories belong to no agent, so whoever called is named as their key is. */
type Asking = Pick<CallContext, "key">

/** Records what a call does to a memory, in the transaction in which it does. */
export function recordMemoryEvent(
  tx: Queries,
  { key: { name: actor } }: Asking,
  kind: MemoryEventKind,
  { uuid, repositoryId, sector }: Pick<Memory, "uuid" | "repositoryId" | "sector">,
  nowMs: number,
): Promise<void> {
  return recordEvent(tx, { kind, repositoryId, actor, data: { memory_id: uuid, sector } }, nowMs)
}

/** Records which memories a call prunes together, in the transaction in which it does. */
export function recordPruning(
  tx: Queries,
  { key: { name: actor } }: Asking,
  { repositoryId, threshold, sector }: Pick<Fading, "repositoryId" | "threshold" | "sector">,
  pruned: readonly Memory[],
  nowMs: number,
): Promise<void> {
  const data = { count: pruned.length, threshold, sector, memory_ids: pruned.map(({ uuid }) => uuid) }
  return recordEvent(tx, { kind: "memory.pruned", repositoryId, actor, data }, nowMs)
}
