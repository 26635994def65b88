import { execFile } from "node:child_process"
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { promisify } from "node:util"
import BetterSqlite3 from "better-sqlite3"
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest"
import { type ListenerRecord, listenerPaths } from "../../src/http/listener-files.ts"
import { seeded } from "../support/contested-work.ts"
import { EventStreamReader } from "../support/event-stream.ts"
import {
  BINARY,
  environment,
  type Place,
  place,
  type RegisteredAgent,
  ServerGone,
  ServerProcess,
} from "../support/server-process.ts"
import { initRepository } from "../support/templates.ts"
import { numberAfter, textAfter } from "../support/world.ts"

const SERVERS = 16
const KILLS = 10
/** Events between two kills. */
const EVENTS_BETWEEN = 25
const ENV = { SIGNALBOX_LIMITS: "off", SIGNALBOX_PORT: "0" }

/** An event as its row says, read without the product's code. */
interface EventRow {
  id: number
  kind: string
  project_id: number | null
  project_key: string | null
  repository_id: number | null
  agent_id: number | null
  subject_id: number | null
  data: string
}

const COORDINATION = ["message", "reservation", "edit", "override", "agent"]
const isOf = (families: readonly string[]) => (row: EventRow) =>
  families.includes(row.kind.split(".")[0] ?? "")

/** Where one server works, and whether it stores memories too. */
interface Post {
  where: Place
  project: string
  remembers: boolean
}

/** Everybody's mail, by which the recipients find what they were sent. */
const mailboxes = new Map<number, number[]>()

class Writer {
  readonly post: Post
  readonly #random: () => number
  readonly #name: string
  #restarts = 0
  server!: ServerProcess
  agent!: RegisteredAgent
  #steps = 0

  constructor(post: Post, index: number) {
    this.post = post
    this.#name = `Writer${index}`
    this.#random = seeded(index)
  }

  /** Starts a server with an agent of its own. */
  async start(): Promise<void> {
    const { where, project } = this.post
    this.server = await ServerProcess.start(where, { env: ENV })
    const identity = {
      project_key: project,
      program: "test-program",
      model: "test-model",
      name_hint: `${this.#name}x${this.#restarts}`,
    }
    this.#restarts += 1
    const text = await this.server.call("register-agent", identity)
    this.agent = {
      name: textAfter(text, "Name"),
      id: numberAfter(text, "Agent id"),
      projectId: numberAfter(text, "Project id"),
      repositoryId: numberAfter(text, "Repository id"),
    }
    mailboxes.set(this.agent.id, [])
    // Those of two repositories would ask each other first.
    const own = { agent_name: this.agent.name, project_id: this.agent.projectId }
    await this.server.call("set-contact-policy", { ...own, contact_policy: "open" })
  }

  /** Does one thing, and fails when it is not done. */
  async step(colleagues: readonly RegisteredAgent[]): Promise<void> {
    this.#steps += 1
    const dice = this.#random()
    const mail = mailboxes.get(this.agent.id) ?? []
    if (this.post.remembers && dice < 0.3) await this.#remember()
    else if (dice < 0.5 && mail.length > 0) await this.#answer(mail.shift() ?? 0)
    else if (dice < 0.7) await this.#reserve()
    else await this.#send(colleagues)
  }

  async #remember(): Promise<void> {
    const content = `What ${this.agent.name} found out in step ${this.#steps}: ${this.#random()}`
    await this.server.call("create-memory", { content, repository_id: this.agent.repositoryId })
  }

  async #answer(messageId: number): Promise<void> {
    const own = { agent_name: this.agent.name, project_id: this.agent.projectId, message_id: messageId }
    await this.server.call(this.#random() < 0.5 ? "read-message" : "ack-message", own)
  }

  async #reserve(): Promise<void> {
    const own = { agent_id: this.agent.id, coordination_project_id: this.agent.projectId }
    const path = `src/${this.agent.name}/${this.#steps}.ts`
    await this.server.call("reserve-file-paths", {
      ...own,
      repository_id: this.agent.repositoryId,
      path_pattern: path,
    })
    if (this.#random() < 0.5) await this.server.call("release-file-reservations", own)
  }

  async #send(colleagues: readonly RegisteredAgent[]): Promise<void> {
    const others = colleagues.filter(
      ({ id, projectId }) => id !== this.agent.id && projectId === this.agent.projectId,
    )
    const drawn = [...others].sort(() => this.#random() - 0.5).slice(0, 3)
    const [to = 0, cc = 0, bcc = 0] = drawn.map(({ id }) => id)
    const copies = {
      ...(this.#random() < 0.5 ? { cc_agent_ids: [cc] } : {}),
      ...(this.#random() < 0.6 ? { bcc_agent_ids: [bcc] } : {}),
    }
    const text = await this.server.call("send-message", {
      sender_name: this.agent.name,
      project_id: this.agent.projectId,
      to_agent_ids: [to],
      ...copies,
      subject: `Step ${this.#steps} of ${this.agent.name}`,
      body_md: "Nothing that an event may tell.",
    })
    const id = numberAfter(text, "Message id")
    for (const recipient of [to, ...(copies.bcc_agent_ids ?? [])]) mailboxes.get(recipient)?.push(id)
  }
}

describe(`${SERVERS} servers that write, five readers of the stream, the listener killed ${KILLS} times`, () => {
  const ends: (() => Promise<void> | void)[] = []
  let rows: EventRow[]
  let database: BetterSqlite3.Database
  const failures: string[] = []
  /** By name, what each reader was told. */
  const readers: Record<
    string,
    { path: string; key: string; reader: EventStreamReader; wanted(row: EventRow): boolean }
  > = {}

  beforeAll(async () => {
    const where = place((work) => ends.push(work))
    const second: Place = { ...where, repository: join(where.home, "second") }
    initRepository(second.repository)
    const writers = Array.from({ length: SERVERS }, (_, index) => {
      const project = index < SERVERS / 2 ? "demo" : "other"
      const isInSecond = index >= (3 * SERVERS) / 4
      return new Writer(
        { where: isInSecond ? second : where, project, remembers: [0, 1, SERVERS - 1].includes(index) },
        index,
      )
    })
    await Promise.all(writers.map((writer) => writer.start()))
    const colleagues = writers.map(({ agent }) => agent)
    const [first, last] = [colleagues[0]?.repositoryId ?? 0, colleagues.at(-1)?.repositoryId ?? 0]
    expect(first).not.toBe(last)

    const [projectKey = "", repositoryKey = "", memoryKey = ""] = await Promise.all(
      ["project:other:coordination", `repo:${last}:coordination`, `repo:${first}:memory`].map((scope) =>
        keyWith(where, scope),
      ),
    )
    database = new BetterSqlite3(where.databasePath, { readonly: true })
    ends.push(() => void database.close())
    const start = (database.prepare("SELECT max(id) AS id FROM events").get() as { id: number }).id
    const everything = readFileSync(where.databasePath.replace(/\.db$/, ".key"), "utf8").trim()
    const linked = (row: EventRow) => row.project_key === "other"
    const add = (name: string, key: string, wanted: (row: EventRow) => boolean, query = "") => {
      const reader = new EventStreamReader()
      readers[name] = { key, reader, wanted, path: `/api/v1/events?after=${start}${query}` }
    }
    add("local key", everything, (row) => !isOf(["contact"])(row))
    add("messages alone", everything, isOf(["message"]), "&kinds=message.*")
    add("project key", projectKey, (row) => isOf(COORDINATION)(row) && linked(row))
    add(
      "repository key",
      repositoryKey,
      (row) => isOf(COORDINATION)(row) && linked(row) && [null, last].includes(row.repository_id),
    )
    add("memory key", memoryKey, (row) => isOf(["memory", "waypoint"])(row) && row.repository_id === first)

    let isOver = false
    let areDone = false
    const following = Object.entries(readers).map(async ([name, { path, key, reader }]) => {
      while (!isOver) {
        const isOpen = await reader.open(portOf(where) ?? 1, path, key).then(
          () => true,
          () => false,
        )
        if (isOpen && reader.status !== 200) failures.push(`${name}: ${reader.status}`)
        if (isOver) reader.close()
        if (isOpen) await reader.ended()
        await new Promise((resolve) => setTimeout(resolve, 20))
      }
    })
    ends.push(async () => {
      isOver = true
      areDone = true
      for (const { reader } of Object.values(readers)) reader.close()
      await Promise.all(following)
    })

    const working = writers.map(async (writer) => {
      let isGone = false
      while (!areDone) {
        try {
          if (isGone) await writer.start()
          isGone = false
          await writer.step(colleagues)
        } catch (error) {
          isGone = error instanceof ServerGone
          if (isGone) continue
          failures.push(String(error))
          return
        }
      }
    })
    const all = readers["local key"]?.reader
    for (let kill = 0; kill <= KILLS; kill += 1) {
      const told = (all?.events.length ?? 0) + EVENTS_BETWEEN
      await vi.waitFor(() => expect(all?.events.length).toBeGreaterThanOrEqual(told), {
        timeout: 60_000,
        interval: 20,
      })
      if (kill < KILLS) process.kill(recordOf(where)?.pid ?? 0, "SIGKILL")
    }
    areDone = true
    await Promise.all(working)
    rows = database
      .prepare(
        "SELECT e.*, p.key AS project_key FROM events e LEFT JOIN projects p ON p.id = e.project_id WHERE e.id > ? ORDER BY e.id",
      )
      .all(start) as EventRow[]
    for (const { reader, wanted } of Object.values(readers)) {
      const count = rows.filter(wanted).length
      await vi.waitFor(() => expect(reader.events.length).toBeGreaterThanOrEqual(count), { timeout: 20_000 })
    }
  }, 240_000)

  afterAll(async () => {
    for (const end of ends.reverse()) await end()
  })

  test("no call fails and no reader is turned away", () => {
    expect(failures).toEqual([])
    expect(rows.length).toBeGreaterThan(KILLS * EVENTS_BETWEEN)
  })

  test.each(["local key", "messages alone", "project key", "repository key", "memory key"])(
    "the reader with the %s gets each event that it may see once, in order, and no other",
    (name) => {
      const { reader, wanted } = readers[name] ?? {}
      const expected = rows.filter((row) => wanted?.(row)).map(({ id, kind }) => [id, kind])
      expect(expected.length).toBeGreaterThan(5)
      expect(reader?.events.map(({ id, event }) => [id, event])).toEqual(expected)
    },
  )

  test("nothing that is in the tables is without its event", () => {
    const idsOf = (sql: string) =>
      (database.prepare(sql).all() as { id: number | string }[]).map(({ id }) => id)
    const subjects = (kind: string) => rows.filter((row) => row.kind === kind).map((row) => row.subject_id)
    const mail =
      "SELECT m.id FROM messages m JOIN agents a ON a.id = m.sender_id WHERE a.name <> 'Signalbox' ORDER BY m.id"
    expect(subjects("message.sent").sort(byNumber)).toEqual(idsOf(mail))
    expect(subjects("reservation.granted").sort(byNumber)).toEqual(
      idsOf("SELECT id FROM reservations ORDER BY id"),
    )
    const memories = rows
      .filter(({ kind }) => kind === "memory.created")
      .map(({ data }) => JSON.parse(data).memory_id)
    expect(memories.sort()).toEqual(idsOf("SELECT uuid AS id FROM memories ORDER BY uuid"))
    expect(memories.length).toBeGreaterThan(5)
  })

  test("nobody learns of a bcc recipient: neither that there is one, nor that it has read or acknowledged", () => {
    const recipients = database
      .prepare(
        "SELECT r.message_id, r.agent_id, r.kind, a.name FROM message_recipients r JOIN agents a ON a.id = r.agent_id",
      )
      .all() as { message_id: number; agent_id: number; kind: string; name: string }[]
    expect(recipients.filter(({ kind }) => kind === "bcc").length).toBeGreaterThan(5)
    const namesOf = (id: unknown, kind: string) =>
      recipients.filter((one) => one.message_id === id && one.kind === kind).map(({ name }) => name)
    const told = readers["local key"]?.reader.events ?? []
    for (const { event, data } of told) {
      const { actor, data: facts } = data as { actor: { agent_id: number }; data: Record<string, unknown> }
      if (event === "message.sent") {
        expect(facts).toMatchObject({
          to: namesOf(facts.message_id, "to"),
          cc: namesOf(facts.message_id, "cc"),
        })
        const texts = JSON.stringify({ ...facts, to: [], cc: [], subject: "" })
        for (const name of namesOf(facts.message_id, "bcc")) expect(texts).not.toContain(`"${name}"`)
      } else if (event === "message.read" || event === "message.acknowledged") {
        const own = recipients.find(
          (one) => one.message_id === facts.message_id && one.agent_id === actor.agent_id,
        )
        expect(own?.kind, `${event} of ${facts.message_id}`).not.toBe("bcc")
      }
    }
    expect(JSON.stringify(told)).not.toContain("Nothing that an event may tell")
  })
})

const byNumber = (one: number | null, other: number | null) => (one ?? 0) - (other ?? 0)

function recordOf(where: Place): ListenerRecord | undefined {
  try {
    return JSON.parse(readFileSync(listenerPaths(where.databasePath).record, "utf8")) as ListenerRecord
  } catch {
    // None yet, or gone a moment ago.
    return undefined
  }
}

function portOf(where: Place): number | undefined {
  const url = recordOf(where)?.url
  return url === undefined ? undefined : Number(new URL(url).port)
}

async function keyWith(where: Place, scope: string): Promise<string> {
  const args = [BINARY, "keys", "create", "--name", "reader", "--scope", scope, "--json"]
  const options = { cwd: where.repository, env: environment(where) }
  const { stdout } = await promisify(execFile)(process.execPath, args, options)
  return (JSON.parse(stdout) as { key: string }).key
}
