/** What agents and people are called: what is refused, and which name is free. */

import type { Queries } from "../../db/database.ts"
import {
  type Agent,
  generateName,
  isReservedName,
  NOTIFIER_NAME,
  nameKey,
  numberedName,
  PERSON_PROGRAM,
} from "../../domain/coordination/agent.ts"
import type { Project } from "../../domain/project.ts"
import { invalid } from "../../errors.ts"
import { listAgentNames } from "../../store/coordination/agents.ts"

/** Fails with `invalid` where a program would pass for a person or for the system. */
export function requireProgramsOwn({
  name_hint: hint,
  program,
}: {
  name_hint?: string | undefined
  program: string
}): void {
  if (hint !== undefined && isReservedName(hint)) {
    const rule = `"${hint}" is reserved, for it reads as a person or as the system`
    throw invalid("name_hint", rule, "Choose another name.")
  }
  if (nameKey(program.trim()) === PERSON_PROGRAM)
    throw invalid("program", `"${PERSON_PROGRAM}" is reserved for people`, "Name the program that you are.")
}

/**
 * Returns the hint when it is free, the name that an agent has already when that is free, else a new one: for a person
 * the hint with a number.
 */
export async function chooseName(
  tx: Queries,
  project: Project,
  hint: string | undefined,
  {
    isPersons = false,
    random,
    before,
  }: { isPersons?: boolean; random: () => number; before?: Agent | undefined },
): Promise<string> {
  const names = new Set((await listAgentNames(tx, project.id)).map(nameKey)).add(nameKey(NOTIFIER_NAME))
  const isTaken = (name: string) => names.has(nameKey(name))
  if (hint !== undefined && !isTaken(hint)) return hint
  if (hint !== undefined && isPersons) return numberedName(hint, isTaken)
  if (hint === undefined && before?.projectId === project.id) return before.name
  if (hint === undefined && before !== undefined && !isTaken(before.name)) return before.name
  return generateName(hint, isTaken, random)
}
