/** Agents: identity, names, activity. Pure; random numbers and the clock are passed in. */

import { AGENT_ACTIVE_WINDOW_MS } from "../limits.ts"
import { ADJECTIVES, NOUNS } from "./words.ts"

export const CONTACT_POLICIES = ["open", "auto", "contacts_only", "block_all"] as const
export type ContactPolicy = (typeof CONTACT_POLICIES)[number]

export interface Agent {
  id: number
  projectId: number
  name: string
  program: string
  model: string
  taskDescription: string | null
  repositoryId: number | null
  contactPolicy: ContactPolicy
  /** The session that speaks for the agent, live or not. */
  session: string | null
  /** False while only the hook knows it: the session's own agent takes it over when it registers. */
  isClaimed: boolean
  lastActiveAtMs: number
  createdAtMs: number
}

/** The agent that notifications come from: one in each project, never registered, listed nowhere. */
export const NOTIFIER_NAME = "Signalbox"

/** Returns the form in which names are compared. */
export function nameKey(name: string): string {
  return name.toLowerCase()
}

export function isNotifier(name: string): boolean {
  return nameKey(name) === nameKey(NOTIFIER_NAME)
}

/** An agent is active when it was active within the last 30 minutes. */
export function isActive(agent: Agent, nowMs: number): boolean {
  return nowMs - agent.lastActiveAtMs <= AGENT_ACTIVE_WINDOW_MS
}

/**
 * Returns a free AdjectiveNoun name in PascalCase, or hint + Noun when a hint is given, so that the
 * name starts with it. `isTaken` is asked case-insensitively; `random` is in 0..1. When 40 drawn names
 * are all taken, a number is added, so it always ends.
 */
export function generateName(
  hint: string | undefined,
  isTaken: (name: string) => boolean,
  random: () => number,
): string {
  const draw = () => `${hint ?? pick(ADJECTIVES, random)}${pick(NOUNS, random)}`
  for (let tries = 0; tries < 40; tries += 1) {
    const name = draw()
    if (!isTaken(name) && !isNotifier(name)) return name
  }
  const stem = draw()
  for (let number = 2; ; number += 1) {
    if (!isTaken(`${stem}${number}`)) return `${stem}${number}`
  }
}

/** Returns the known name that a mistyped one most likely means, within two edits. */
export function closestName(name: string, known: readonly string[]): string | undefined {
  const ranked = known
    .map((candidate) => ({ candidate, distance: editDistance(nameKey(name), nameKey(candidate)) }))
    .filter(({ distance }) => distance <= 2)
    .sort((a, b) => a.distance - b.distance)
  return ranked[0]?.candidate
}

/** Levenshtein distance, by rows. */
function editDistance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, index) => index)
  for (let i = 1; i <= a.length; i += 1) {
    const next = [i]
    for (let j = 1; j <= b.length; j += 1) {
      const substitution = (row[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1)
      next.push(Math.min(substitution, (row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1))
    }
    row = next
  }
  return row[b.length] ?? 0
}

function pick(words: readonly string[], random: () => number): string {
  return words[Math.floor(random() * words.length)] ?? ""
}
