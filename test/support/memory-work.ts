/**
 * Work on memories that many processes share: one creates a memory, all change, read, reinforce and delete it,
 * also at the same time. What was acknowledged is kept in a journal, which tells what every later answer, and
 * the file at the end, may hold.
 */

import type { ToolAnswer } from "./server-process.ts"

/** A server process, as far as memories need one. */
export interface MemoryTools {
  tool(name: string, args: object): Promise<ToolAnswer>
}

/** One content of a memory: from when on it may be there, and since when it is there for certain. */
interface Writing {
  content: string
  /** A word that only this content has. */
  mark: string
  beganAt: number
  /** Infinity while it is not acknowledged. */
  doneAt: number
}

/** A memory, as far as it was acknowledged. */
export interface KnownMemory {
  id: string
  tags: string[]
  writings: Writing[]
  /** Reads and reinforcements that were acknowledged. */
  reads: number
  reinforcements: number
  /** Infinity until its deletion begins. */
  deletionBeganAt: number
  isDeleted: boolean
}

/** Everything that servers said they had done, in the order in which this process learnt of it. */
export class MemoryJournal {
  readonly memories = new Map<string, KnownMemory>()
  /** What no server may ever answer; there must be none. */
  readonly failures: string[] = []
  readonly timesMs: number[] = []
  #now = 0
  #marks = 0

  /** Returns the next moment: every beginning and every end has one of its own. */
  tick(): number {
    this.#now += 1
    return this.#now
  }

  /** Returns a word that no text has had. */
  newMark(): string {
    this.#marks += 1
    return `k${this.#marks}z`
  }

  /** Memories whose deletion has not begun. */
  alive(): KnownMemory[] {
    return [...this.memories.values()].filter((memory) => memory.deletionBeganAt === Number.POSITIVE_INFINITY)
  }
}

/**
 * Returns the contents that a look which began at `since` may find: all that are not known to have been
 * replaced before.
 */
export function possibleContents({ writings }: KnownMemory, since: number): string[] {
  return writings
    .filter((one) => !writings.some((other) => other.beganAt > one.doneAt && other.doneAt < since))
    .map((writing) => writing.content)
}

const SUBJECTS = "payment,search,login,invoice,export,upload,billing,report".split(",")
const PARTS = "service,database,queue,cache,gateway,worker,schema,client".split(",")
const EVENTS = [
  "waits for a lock that another transaction holds",
  "must be restarted after the configuration changes",
  "retries a failed request three times with a growing pause",
  "was moved to another host because the disk was full",
  "rejects tokens that were issued before the key was rotated",
  "keeps its connections open for an hour at most",
]
/** With more alive than this, deleting comes before creating. */
const ALIVE_MAX = 200
const ALIVE_MIN = 10
/** Of those that are chosen from, the newest are chosen more often, so that processes meet. */
const NEWEST = 4
const ENTRY = /^Memory id: (\S+)\n[\s\S]*?^> (.*)$/gm

/** One process at work. */
export class MemoryWorker {
  readonly server: MemoryTools
  /** All servers, this one among them: what one has acknowledged the others find at once. */
  readonly #servers: readonly MemoryTools[]
  readonly #journal: MemoryJournal
  readonly #random: () => number
  stepsDone = 0

  constructor(
    server: MemoryTools,
    servers: readonly MemoryTools[],
    journal: MemoryJournal,
    random: () => number,
  ) {
    this.server = server
    this.#servers = servers
    this.#journal = journal
    this.#random = random
  }

  /** Does one thing that may meet what others do. */
  async step(): Promise<void> {
    const alive = this.#journal.alive()
    const dice = this.#random()
    if (alive.length < ALIVE_MIN || (dice < 0.25 && alive.length < ALIVE_MAX)) await this.#create()
    else if (dice < 0.4) await this.#remove(this.#choose(alive))
    else if (dice < 0.6) await this.#update(this.#choose(alive))
    else if (dice < 0.75) await this.#read(this.#choose(alive))
    else if (dice < 0.85) await this.#reinforce(this.#choose(alive))
    else await this.#searchTopic()
    this.stepsDone += 1
  }

  /** Looks for every memory by the word that only it has. */
  async findAll(): Promise<void> {
    for (const memory of this.#journal.alive()) await this.#mustFind(this.server, memory)
  }

  async #create(): Promise<void> {
    const { content, mark } = this.#newContent()
    const tags = ["all", `tag-${Math.floor(this.#random() * 5)}`]
    const beganAt = this.#journal.tick()
    const text = await this.#call(this.server, "create-memory", { content, tags })
    if (text === undefined) return
    const id = /^Memory id: (\S+)$/m.exec(text)?.[1] ?? ""
    const memory: KnownMemory = {
      id,
      tags,
      writings: [{ content, mark, beganAt, doneAt: this.#journal.tick() }],
      reads: 0,
      reinforcements: 0,
      deletionBeganAt: Number.POSITIVE_INFINITY,
      isDeleted: false,
    }
    if (id === "" || this.#journal.memories.has(id)) this.#journal.failures.push(`created twice: ${text}`)
    this.#journal.memories.set(id, memory)
    await this.#mustFind(this.server, memory)
    await this.#mustFind(this.#choose(this.#servers), memory)
  }

  async #update(memory: KnownMemory): Promise<void> {
    const writing = { ...this.#newContent(), beganAt: this.#journal.tick(), doneAt: Number.POSITIVE_INFINITY }
    memory.writings.push(writing)
    const args = { memory_id: memory.id, content: writing.content }
    const text = await this.#call(this.server, "update-memory", args, memory)
    if (text === undefined) return
    writing.doneAt = this.#journal.tick()
    await this.#mustFind(this.server, memory)
    await this.#mustFind(this.#choose(this.#servers), memory)
  }

  async #remove(memory: KnownMemory): Promise<void> {
    memory.deletionBeganAt = this.#journal.tick()
    if ((await this.#call(this.server, "delete-memory", { memory_id: memory.id })) === undefined) return
    memory.isDeleted = true
    for (const server of [this.server, this.#choose(this.#servers)]) {
      for (const { mark } of memory.writings) await this.#search(server, mark)
    }
  }

  async #read(memory: KnownMemory): Promise<void> {
    const since = this.#journal.tick()
    const text = await this.#call(this.server, "get-memory", { memory_id: memory.id }, memory)
    if (text === undefined) return
    memory.reads += 1
    const content = /^> (.*)$/m.exec(text)?.[1] ?? ""
    if (!possibleContents(memory, since).includes(content))
      this.#journal.failures.push(`get-memory shows what was replaced: ${text}`)
  }

  async #reinforce(memory: KnownMemory): Promise<void> {
    const args = { memory_id: memory.id, profile: "maintenance" }
    if ((await this.#call(this.server, "reinforce-memory", args, memory)) !== undefined)
      memory.reinforcements += 1
  }

  async #searchTopic(): Promise<void> {
    await this.#search(this.server, `What about the ${this.#choose(SUBJECTS)} ${this.#choose(PARTS)}?`)
  }

  /** Searches for a memory by its last word, unless another process is changing it meanwhile. */
  async #mustFind(server: MemoryTools, memory: KnownMemory): Promise<void> {
    const writingCount = memory.writings.length
    const last = memory.writings.at(-1)
    if (last === undefined || memory.writings.some(({ doneAt }) => doneAt === Number.POSITIVE_INFINITY))
      return
    // Of two that were written at once, either may be the last.
    if (memory.writings.some((other) => other !== last && other.doneAt > last.beganAt)) return
    const found = await this.#search(server, last.mark)
    const isTouched =
      memory.writings.length > writingCount || memory.deletionBeganAt < Number.POSITIVE_INFINITY
    if (!isTouched && !found.includes(memory.id))
      this.#journal.failures.push(
        `"${last.content}" is not found by ${last.mark}: ${found.length} others are`,
      )
  }

  /** Searches and looks at what is shown; returns the ids. */
  async #search(server: MemoryTools, query: string): Promise<string[]> {
    const since = this.#journal.tick()
    const deleted = new Set([...this.#journal.memories.values()].filter((one) => one.isDeleted))
    const text = await this.#call(server, "search-memories", { query })
    const shown = [...(text ?? "").matchAll(ENTRY)]
    for (const [, id = "", content = ""] of shown) {
      const memory = this.#journal.memories.get(id)
      // What has just been created may be found before its own process knows its id.
      if (memory === undefined) continue
      if (deleted.has(memory))
        this.#journal.failures.push(`a deleted memory is found by ${query}: ${content}`)
      else if (!possibleContents(memory, since).includes(content))
        this.#journal.failures.push(`${query} finds what was replaced: ${content}`)
    }
    return shown.map(([, id = ""]) => id)
  }

  /**
   * Returns the text of a success; every other outcome is entered in the journal, unless the memory in
   * question has gone meanwhile.
   */
  async #call(
    server: MemoryTools,
    name: string,
    args: object,
    about?: KnownMemory,
  ): Promise<string | undefined> {
    const fromMs = performance.now()
    const { text, isError } = await server.tool(name, args)
    this.#journal.timesMs.push(performance.now() - fromMs)
    if (!isError) return text
    const isGone = about !== undefined && about.deletionBeganAt < Number.POSITIVE_INFINITY
    if (!isGone || !text.includes("was not found")) this.#journal.failures.push(`${name}: ${text}`)
    return undefined
  }

  #newContent(): { content: string; mark: string } {
    const mark = this.#journal.newMark()
    const subject = `${this.#choose(SUBJECTS)} ${this.#choose(PARTS)}`
    return { content: `The ${subject} ${this.#choose(EVENTS)}, says ${mark}.`, mark }
  }

  #choose<T>(from: readonly T[]): T {
    const candidates = this.#random() < 0.5 ? from : from.slice(-NEWEST)
    const chosen = candidates[Math.floor(this.#random() * candidates.length)]
    if (chosen === undefined) throw new Error("there is nothing to choose from")
    return chosen
  }
}
