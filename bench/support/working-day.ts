/** The scripted day of agents who work side by side, and the count of what they read of it. */

const ROUNDS = 10
const CALL_MS = 21_000
const ROUND_MS = 12 * 60_000
const CONFLICT_EVERY_ROUNDS = 2
const PATHS_PER_ROUND = 2

const AREAS = ["auth", "billing", "search", "reports", "storage"]
const PARTS = [
  "session",
  "token",
  "invoice",
  "index",
  "export",
  "cache",
  "schema",
  "router",
  "queue",
  "limits",
]
const SENTENCES = [
  "The parser now reports the line of the first error, and the tests for it are in place.",
  "Please do not touch the migration until I have released it, I am still renaming two columns.",
  "I moved the retry into the client, because three callers had copies of it.",
  "The cache was keyed by path alone, so two branches saw each other's entries; it is keyed by commit now.",
  "Could you have a look at the limits before you go on? They are not what the documentation says.",
  "Everything is green again after the rebase.",
  "I will take the export next and leave the index to you.",
]
const QUESTIONS = [
  "cache commit",
  "migration columns",
  "retry client",
  "limits documentation",
  '"green again"',
  "token session",
  "parser error line",
]

/** One agent's window on the server. */
export interface Reader {
  name: string
  call(tool: string, args: Record<string, unknown>): Promise<{ text: string; isError: boolean }>
  read(uri: string): Promise<string>
  /** Returns the number on the line `Label: number` of a result. */
  numberAfter(text: string, label: string): number
}

interface Worker extends Reader {
  agentId: number
  projectId: number
  repositoryId: number
  /** What it has read and may reply to. */
  received: number[]
  sent: number
  acknowledged: number
}

interface Waiting {
  id: number
  is_read: boolean
  ack_required: boolean
}

/** Returns a number of characters as the table shows it. */
export function characters(count: number): string {
  return count.toLocaleString("en-US")
}

export class DayOfWork {
  readonly #readers: readonly Reader[]
  readonly #clock: { nowMs: number }
  readonly #read = new Map<string, { calls: number; chars: number }>()
  #workers: Worker[] = []

  constructor(readers: readonly Reader[], clock: { nowMs: number }) {
    this.#readers = readers
    this.#clock = clock
  }

  /** Runs the day from the first start to the last release. */
  async work(): Promise<void> {
    for (const reader of this.#readers) this.#workers.push(await this.#start(reader))
    for (let round = 0; round < ROUNDS; round += 1) {
      for (const [index, worker] of this.#workers.entries()) await this.#round(worker, index, round)
      this.#clock.nowMs += ROUND_MS
    }
  }

  /** Returns the characters of all results. */
  total(): number {
    return [...this.#read.values()].reduce((sum, { chars }) => sum + chars, 0)
  }

  /** Returns the same by tool, the most first. */
  byTool(): { tool: string; calls: number; chars: number }[] {
    return [...this.#read]
      .map(([tool, figures]) => ({ tool, ...figures }))
      .sort((one, other) => other.chars - one.chars)
  }

  /** Lets each agent read five resources; returns their characters, which the total leaves out. */
  async readResources(): Promise<number> {
    let chars = 0
    for (const worker of this.#workers) {
      for (const path of [
        `inbox/${worker.name}?project_key=day`,
        `outbox/${worker.name}?project_key=day`,
        "file-reservations?project_key=day",
        "agents?project_key=day",
        `message/${worker.received[0] ?? 1}?project_key=day`,
      ])
        chars += (await worker.read(`signalbox://coordination/${path}`)).length
    }
    return chars
  }

  async #start(reader: Reader): Promise<Worker> {
    const text = await this.#call(reader, "macro-start-session", {
      project_key: "day",
      program: "claude-code",
      model: "claude-opus-4",
      name_hint: reader.name,
    })
    return {
      ...reader,
      agentId: reader.numberAfter(text, "Agent id"),
      projectId: reader.numberAfter(text, "Project id"),
      repositoryId: reader.numberAfter(text, "Repository id"),
      received: [],
      sent: 0,
      acknowledged: 0,
    }
  }

  async #round(worker: Worker, index: number, round: number): Promise<void> {
    await this.#readMail(worker)
    await this.#call(worker, "release-file-reservations", {
      agent_id: worker.agentId,
      coordination_project_id: worker.projectId,
    })
    for (let path = 0; path < PATHS_PER_ROUND; path += 1)
      await this.#reserve(worker, pathOf(index, round, path), false)
    if (round % CONFLICT_EVERY_ROUNDS === 1) {
      // The next one has not released yet what it has from the round before.
      const next = (index + 1) % this.#workers.length
      await this.#reserve(worker, pathOf(next, next === 0 ? round : round - 1, 0), true)
    }
    await this.#write(worker, index, round)
    await this.#search(worker, index, round)
  }

  async #reserve(worker: Worker, path_pattern: string, isRefused: boolean): Promise<void> {
    const args = {
      agent_id: worker.agentId,
      repository_id: worker.repositoryId,
      coordination_project_id: worker.projectId,
      path_pattern,
      reason: "Move the retry into the client",
    }
    await this.#call(worker, "reserve-file-paths", args, isRefused)
  }

  async #readMail(worker: Worker): Promise<void> {
    const own = { agent_name: worker.name, project_id: worker.projectId }
    await this.#call(worker, "fetch-inbox", own)
    const uri = `signalbox://coordination/inbox/${worker.name}?project_key=day&limit=100`
    const { messages } = JSON.parse(await worker.read(uri)) as { messages: (Waiting & { from: string })[] }
    for (const { id, from, ack_required } of messages.filter(({ is_read }) => !is_read).reverse()) {
      await this.#call(worker, "read-message", { ...own, message_id: id })
      if (from !== "Signalbox") worker.received.push(id)
      if (!ack_required) continue
      worker.acknowledged += 1
      const answer = worker.acknowledged % 2 === 0 ? { response_text: sentence(id, 1) } : {}
      await this.#call(worker, "ack-message", { ...own, message_id: id, ...answer })
    }
  }

  /** Three messages: a plain one, one to acknowledge, and a reply where there is something to reply to. */
  async #write(worker: Worker, index: number, round: number): Promise<void> {
    const own = { sender_name: worker.name, project_id: worker.projectId }
    const other = (step: number) => this.#workers[(index + step) % this.#workers.length]?.agentId
    const subject = `${capital(PARTS[round] ?? "")} in ${AREAS[index]}`
    await this.#call(worker, "send-message", {
      ...own,
      to_agent_ids: [other(1 + (round % 4))],
      subject,
      body_md: sentence(round + index, 3),
    })
    await this.#call(worker, "send-message", {
      ...own,
      to_agent_ids: [other(1 + ((round + 1) % 4))],
      subject: `${subject}: please confirm`,
      body_md: sentence(round * 3 + index, 2),
      importance: round % 3 === 0 ? "high" : "normal",
      ack_required: true,
    })
    const parent_message_id = worker.received.at(-1)
    if (parent_message_id === undefined) {
      const args = {
        to_agent_ids: [other(2)],
        subject: `Plan for ${AREAS[index]}`,
        body_md: sentence(index, 2),
      }
      await this.#call(worker, "send-message", { ...own, ...args })
    } else {
      const args = { parent_message_id, body_md: sentence(round + 2 * index, 2) }
      await this.#call(worker, "reply-message", { ...own, ...args })
    }
  }

  /** Seven searches for messages and three for threads a day. */
  async #search(worker: Worker, index: number, round: number): Promise<void> {
    const tool = round % 3 === 2 ? "search-threads" : "search-messages"
    const query = QUESTIONS[(round + index) % QUESTIONS.length]
    await this.#call(worker, tool, { project_id: worker.projectId, query })
  }

  async #call(
    reader: Reader,
    tool: string,
    args: Record<string, unknown>,
    isRefused = false,
  ): Promise<string> {
    this.#clock.nowMs += CALL_MS
    const { text, isError } = await reader.call(tool, args)
    if (isError !== isRefused) throw new Error(`${tool} was not answered as the day needs it: ${text}`)
    const name = isRefused ? `${tool}, refused` : tool
    const figures = this.#read.get(name) ?? { calls: 0, chars: 0 }
    this.#read.set(name, { calls: figures.calls + 1, chars: figures.chars + text.length })
    if (process.env.SIGNALBOX_BENCH_SHOW === name) console.log(`${text}\n----`)
    return text
  }
}

/** Two files of each agent in each round. */
function pathOf(index: number, round: number, path: number): string {
  const folder = `src/${AREAS[index]}`
  return path === 0 ? `${folder}/${PARTS[round]}.ts` : `${folder}/${PARTS[round]}/**`
}

function sentence(from: number, count: number): string {
  return Array.from({ length: count }, (_, step) => SENTENCES[(from + step) % SENTENCES.length]).join(" ")
}

function capital(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1)
}
