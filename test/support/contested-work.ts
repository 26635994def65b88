/**
 * Work over which agents get in each other's way: reservations of overlapping patterns, and mail. What
 * was acknowledged is kept in a journal, against which the database file is checked afterwards.
 */

import { minimatch } from "minimatch"
import type { RegisteredAgent, ServerProcess } from "./server-process.ts"
import { numberAfter, textAfter } from "./world.ts"

/** Overlapping in many ways, and some not at all. */
export const PATTERNS = [
  "src/**",
  "src/api/*.ts",
  "src/api/users.ts",
  "src/{api,db}/**",
  "src/db/[a-m]*.ts",
  "src/db",
  "docs/**",
  "**/*.md",
] as const

/** Paths that tell apart which patterns overlap: every two that do share one of these. */
export const PATHS = [
  "src/main.ts",
  "src/api/users.ts",
  "src/api/users.ts/below-a-file.md",
  "src/api/teams.ts",
  "src/api/v2/users.ts",
  "src/db/alpha.ts",
  "src/db/zulu.ts",
  "src/notes.md",
  "src/api/notes.md",
  "src/db/notes.md",
  "docs/guide.txt",
  "docs/guide.md",
] as const

/** Whether a pattern covers a path by minimatch; without wildcards it covers what is below it too. */
export function covers(pattern: string, path: string): boolean {
  const options = { dot: true, noext: true, nonegate: true, nocomment: true }
  const isPlain = !/[*?[{]/.test(pattern)
  return minimatch(path, pattern, options) || (isPlain && path.startsWith(`${pattern}/`))
}

export interface AcknowledgedMessage {
  id: number
  threadKey: string
  senderId: number
  recipientIds: number[]
  subject: string
  body: string
}

interface AcknowledgedReservation {
  id: number
  agentId: number
  pattern: string
  exclusive: boolean
}

/** Everything that servers said they had done. */
export class Journal {
  readonly messages: AcknowledgedMessage[] = []
  readonly reservations: AcknowledgedReservation[] = []
  readonly releasedIds: number[] = []
  conflicts = 0
  /** Errors other than a refused reservation; there must be none. */
  readonly failures: string[] = []
}

/** A word that is in every message. */
export const COMMON_WORD = "contested"

/** One agent at work; a server that is gone can be replaced by another. */
export class Worker {
  server: ServerProcess
  readonly agent: RegisteredAgent
  readonly #journal: Journal
  readonly #random: () => number
  readonly #held = new Map<string, number>()
  stepsDone = 0

  constructor(server: ServerProcess, agent: RegisteredAgent, journal: Journal, random: () => number) {
    this.server = server
    this.agent = agent
    this.#journal = journal
    this.#random = random
  }

  /** Does one thing that others may stand in the way of. */
  async step(others: readonly RegisteredAgent[]): Promise<void> {
    const dice = this.#random()
    if (this.#held.size === PATTERNS.length) await this.#release([])
    else if (dice < 0.3) await this.#send(others)
    else if (dice < 0.75 && this.#held.size > 0) await this.#release([this.#pick([...this.#held.values()])])
    else await this.#reserve()
    this.stepsDone += 1
  }

  /** Releases whatever the agent holds, what its last server did not live to tell of too. */
  async releaseAll(): Promise<void> {
    await this.#release([])
  }

  async #send(others: readonly RegisteredAgent[]): Promise<void> {
    const recipientIds = [...new Set([this.#pick(others).id, this.#pick(others).id])]
    const subject = `Step ${this.stepsDone} of ${this.agent.name}`
    const body = `A ${COMMON_WORD} message, number ${this.#random()}.`
    const text = await this.#call("send-message", {
      sender_name: this.agent.name,
      project_id: this.agent.projectId,
      to_agent_ids: recipientIds,
      subject,
      body_md: body,
    })
    if (text === undefined) return
    const id = numberAfter(text, "Message id")
    const threadKey = textAfter(text, "Thread id")
    this.#journal.messages.push({ id, threadKey, senderId: this.agent.id, recipientIds, subject, body })
  }

  async #reserve(): Promise<void> {
    // A renewal would change the mode in place; the file keeps no history of that.
    const pattern = this.#pick(PATTERNS.filter((one) => !this.#held.has(one)))
    const exclusive = this.#random() < 0.5
    const text = await this.#call("reserve-file-paths", {
      agent_id: this.agent.id,
      repository_id: this.agent.repositoryId,
      coordination_project_id: this.agent.projectId,
      path_pattern: pattern,
      exclusive,
      duration_seconds: 28_800,
    })
    if (text === undefined) return
    const id = numberAfter(text, "Reservation id")
    this.#held.set(pattern, id)
    this.#journal.reservations.push({ id, agentId: this.agent.id, pattern, exclusive })
  }

  async #release(ids: number[]): Promise<void> {
    const text = await this.#call("release-file-reservations", {
      agent_id: this.agent.id,
      coordination_project_id: this.agent.projectId,
      reservation_ids: ids,
    })
    if (text === undefined) return
    const released = [...text.matchAll(/^Reservation id: (\d+)$/gm)].map((match) => Number(match[1]))
    for (const [pattern, id] of this.#held) {
      if (ids.length === 0 || ids.includes(id)) this.#held.delete(pattern)
    }
    if (ids.some((id) => !released.includes(id))) this.#journal.failures.push(text)
    this.#journal.releasedIds.push(...released)
  }

  /** Returns the text of a success; every other outcome is entered in the journal. */
  async #call(name: string, args: object): Promise<string | undefined> {
    const { text, isError } = await this.server.tool(name, args)
    if (!isError) return text
    const isConflict =
      name === "reserve-file-paths" && /^Failed to reserve file paths: .* conflicts with /.test(text)
    if (isConflict) this.#journal.conflicts += 1
    else this.#journal.failures.push(`${name}: ${text}`)
    return undefined
  }

  #pick<T>(from: readonly T[]): T {
    const picked = from[Math.floor(this.#random() * from.length)]
    if (picked === undefined) throw new Error("there is nothing to pick from")
    return picked
  }
}

/** Returns a generator of numbers in 0..1, the same ones for the same seed (mulberry32). */
export function seeded(seed: number): () => number {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296
  }
}
