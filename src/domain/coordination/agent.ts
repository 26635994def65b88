/** Agents: identity, names, activity. Pure; random numbers and the clock are passed in. */

import { AGENT_ACTIVE_WINDOW_MS, NAME_HINT_CHARS_MAX } from "../../config/limits.ts"
import { ADJECTIVES, NOUNS } from "./name-words.ts"

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
  /** The root of the work tree in which it was last seen at work; null where that is unknown. */
  workTree: string | null
}

/** The agent that notifications come from: one in each project, never registered, listed nowhere. */
export const NOTIFIER_NAME = "Signalbox"

/** Sessions of people begin so; no client can name one. */
export const PERSON_SESSION_PREFIX = "user:"
/** The program of people, which no agent may call its own. */
export const PERSON_PROGRAM = "human"

/** The model of an agent that only the hook knows, where its client does not tell. */
export const MODEL_UNKNOWN = "unknown"

/** Whether it stands for whoever works at the command line, and not for a program. */
export function isPerson({ session }: Pick<Agent, "session">): boolean {
  return session?.startsWith(PERSON_SESSION_PREFIX) === true
}

/** Returns the form in which names are compared. */
export function nameKey(name: string): string {
  return name.toLowerCase()
}

export function isNotifier(name: string): boolean {
  return nameKey(name) === nameKey(NOTIFIER_NAME)
}

/** What people and the system are called; and what may stand beside such a word without making a name of its own. */
const RESERVED_WORDS = [
  ...["human", "person", "people", "user", "customer", "operator", "anonymous", "someone", "somebody"],
  ...[
    "system",
    "kernel",
    "daemon",
    "admin",
    "administrator",
    "sysadmin",
    "sysop",
    "root",
    "superuser",
    "sudo",
  ],
  ...["owner", "maintainer", "moderator", "nobody", "everyone", "everybody", "anyone", "anybody", "all"],
]
const FILLERS = [
  "the",
  "a",
  "an",
  "your",
  "our",
  "my",
  "real",
  "actual",
  "official",
  "end",
  "super",
  "project",
]
/** Characters that pass for others: digits for letters, and letters that look alike. */
const LOOK_ALIKES: readonly (readonly [pattern: RegExp, letter: string])[] = [
  [/rn/g, "m"],
  [/vv/g, "w"],
  [/[1l!|]/g, "i"],
  [/0/g, "o"],
  [/3/g, "e"],
  [/4/g, "a"],
  [/5/g, "s"],
  [/7/g, "t"],
  [/8/g, "b"],
  [/9/g, "g"],
]

/** Returns what a name looks like at a glance: without case and separators, look-alikes made one. */
function skeleton(name: string): string {
  const plain = nameKey(name).replace(/[-_]/g, "")
  return LOOK_ALIKES.reduce((text, [pattern, letter]) => text.replace(pattern, letter), plain)
}

const RESERVED = RESERVED_WORDS.map(skeleton)
const ONLY_RESERVED = new RegExp(
  `^(?:${FILLERS.map(skeleton).join("|")})*(?:${RESERVED.join("|")})(?:s|${RESERVED.join("|")})*$`,
)
const NOTIFIER_SKELETON = skeleton(NOTIFIER_NAME)

/**
 * Whether a name would pass for that of people or of the system, so that no agent may ask for it: it names the
 * product anywhere, or it consists of nothing but such words, whatever its case, separators, digits in the place of
 * letters, and numbers at its end.
 */
export function isReservedName(name: string): boolean {
  for (let end = name.length; end > 0; end -= 1) {
    const shape = skeleton(name.slice(0, end))
    if (shape.includes(NOTIFIER_SKELETON) || ONLY_RESERVED.test(shape)) return true
    // A number at the end may be one, or stand for a letter: every reading counts.
    if (!/[\d_-]/.test(name[end - 1] ?? "")) return false
  }
  return false
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

/** Returns a taken name with the first free number from 2 at its end, such as `ada-2`; it stays within 40 characters. */
export function numberedName(name: string, isTaken: (name: string) => boolean): string {
  for (let number = 2; ; number += 1) {
    const end = `-${number}`
    const numbered = `${name.slice(0, NAME_HINT_CHARS_MAX - end.length)}${end}`
    if (!isTaken(numbered)) return numbered
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
