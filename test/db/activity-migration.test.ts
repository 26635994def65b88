/** A file from before there were events: what get-latest-updates tells of it is the same, row by row. */

import BetterSqlite3 from "better-sqlite3"
import { expect, test } from "vitest"
import { listActivity } from "../../src/store/coordination/activity.ts"
import { listNamedEventsAfter } from "../../src/store/event-feed.ts"
import { eventHorizon, newestEventId } from "../../src/store/events.ts"
import { toVersion2 } from "../support/schema-version-2.ts"
import { numberAfter, type Session, START_MS, type TestAgent, world } from "../support/world.ts"

const ROWS = 10_000
const SECOND_MS = 1_000

/** What version 2 asked, word for word. */
const VERSION_2 = `
  SELECT x.id, x.kind, a.name AS agent_name, x.message_id, m.subject, t.key AS thread_key,
    x.reservation_id, r.path_pattern, r.exclusive, x.created_at_ms
  FROM activity x JOIN agents a ON a.id = x.agent_id
    LEFT JOIN messages m ON m.id = x.message_id LEFT JOIN threads t ON t.id = m.thread_id
    LEFT JOIN reservations r ON r.id = x.reservation_id
  WHERE x.project_id = ? AND (? IS NULL OR x.created_at_ms > ?) AND (? IS NULL OR x.agent_id = ?)
  ORDER BY x.id DESC LIMIT ?`

const KINDS: Record<string, string> = {
  message_sent: "message.sent",
  message_acknowledged: "message.acknowledged",
  files_reserved: "reservation.granted",
  reservation_released: "reservation.released",
}

/** Two projects of two agents each, with a message and a reservation of each agent. */
async function filledRoom() {
  const made = world()
  const session = await made.session({ name: "one" })
  const agents: { agent: TestAgent; messageId: number; reservationId: number }[] = []
  for (const project of ["demo", "other"]) {
    const ada = await session.register("Ada", { project_key: project })
    const bea = await session.register("Bea", { project_key: project })
    for (const [agent, other] of [
      [ada, bea],
      [bea, ada],
    ] as const) {
      const sent = await session.call("send-message", {
        project_id: agent.projectId,
        sender_name: agent.name,
        to_agent_ids: [other.id],
        subject: `From ${agent.name} in ${project}`,
        body_md: "x",
      })
      const reserved = await session.call("reserve-file-paths", {
        agent_id: agent.id,
        repository_id: agent.repositoryId,
        coordination_project_id: agent.projectId,
        path_pattern: `src/${project}/${agent.name}.ts`,
        exclusive: agent === ada,
      })
      const messageId = numberAfter(sent, "Message id")
      agents.push({ agent, messageId, reservationId: numberAfter(reserved, "Reservation id") })
    }
  }
  await session.close()
  return { made, agents }
}

/** Writes the rows of version 2: every kind by every agent about every message and reservation, in turns. */
function fill(db: BetterSqlite3.Database, agents: Awaited<ReturnType<typeof filledRoom>>["agents"]): void {
  const insert = db.prepare(`
    INSERT INTO activity (id, project_id, agent_id, kind, message_id, reservation_id, created_at_ms)
    VALUES (?, ?, ?, ?, ?, ?, ?)`)
  const kinds = Object.keys(KINDS)
  db.transaction(() => {
    for (let row = 0; row < ROWS; row += 1) {
      const { agent, messageId, reservationId } = agents[row % agents.length] as (typeof agents)[number]
      const kind = kinds[Math.floor(row / agents.length) % kinds.length] as string
      const about = kind.startsWith("message") ? [messageId, null] : [null, reservationId]
      // Ids have gaps, and some rows were written in the same moment.
      const atMs = START_MS + Math.floor(row / 3) * SECOND_MS
      insert.run(2 * row + 7, agent.projectId, agent.id, kind, ...about, atMs)
    }
  })()
}

type Filter = { projectId: number; sinceMs?: number; agentId?: number }

/** Asks as version 2 did; the kinds by their names of today. */
function askVersion2(path: string, { projectId, sinceMs = null, agentId = null }: FilterOf): unknown[] {
  const db = new BetterSqlite3(path, { readonly: true })
  const args = [projectId, sinceMs, sinceMs, agentId, agentId, ROWS]
  const rows = db.prepare<unknown[], Record<string, unknown>>(VERSION_2).all(...args)
  db.close()
  return rows.map((row) => ({
    id: row.id,
    kind: KINDS[String(row.kind)],
    agentName: row.agent_name,
    messageId: row.message_id,
    subject: row.subject,
    threadKey: row.thread_key,
    reservationId: row.reservation_id,
    pathPattern: row.path_pattern,
    exclusive: row.exclusive === null ? null : row.exclusive === 1,
    createdAtMs: row.created_at_ms,
  }))
}
type FilterOf = { projectId: number; sinceMs?: number | null; agentId?: number | null }

test("ten thousand rows of version 2 are told as they were, by project, agent and time", async () => {
  const { made, agents } = await filledRoom()
  toVersion2(made.databasePath, (db) => fill(db, agents))
  const middleMs = START_MS + (ROWS / 6) * SECOND_MS
  const filters: Filter[] = [1, 2].flatMap((projectId) => [
    { projectId },
    { projectId, sinceMs: middleMs },
    ...agents.map(({ agent }) => ({ projectId, agentId: agent.id, sinceMs: middleMs })),
  ])
  const before = filters.map((filter) => askVersion2(made.databasePath, filter))
  expect(before[0]).toHaveLength(ROWS / 2)
  const session = await made.session({ name: "one" })
  const { db } = session.app
  for (const [at, filter] of filters.entries())
    expect(await listActivity(db, filter, ROWS)).toEqual(before[at])
  expect(await eventHorizon(db)).toBe(2 * ROWS + 5)
  expect(await newestEventId(db)).toBe(2 * ROWS + 5)
  expect(await listNamedEventsAfter(db, await eventHorizon(db), 1)).toEqual([])
  const [message, ...others] = await listNamedEventsAfter(db, 0, 2 * agents.length + 1)
  expect(message).toMatchObject({ kind: "message.sent", repositoryId: null, subjectId: agents[0]?.messageId })
  expect(others.at(-1)).toMatchObject({
    kind: "reservation.granted",
    repositoryId: agents[0]?.agent.repositoryId,
    subjectId: agents[0]?.reservationId,
  })
  await expectTold(session, agents[3]?.agent as TestAgent)
})

/** The tool's own words, for the four kinds of one agent. */
async function expectTold(session: Session, { name, projectId }: TestAgent): Promise<void> {
  const text = await session.call("get-latest-updates", {
    project_id: projectId,
    agent_name: name,
    limit: 4,
  })
  expect(text).toContain("Updates: 4 shown of more than 1,000")
  const told = text
    .split("\n")
    .flatMap((line) => (line.startsWith("- ") ? [line.replace(/^.*?, Bea: /, "")] : []))
  expect(told).toEqual([
    expect.stringMatching(/^reservation released: .*src\/other\/Bea\.ts.* \(shared, reservation 4\)$/),
    expect.stringMatching(/^files reserved: .*src\/other\/Bea\.ts.* \(shared, reservation 4\)$/),
    expect.stringMatching(/^message acknowledged: "From Bea in other" \(message \d+, thread .+\)$/),
    expect.stringMatching(/^message sent: "From Bea in other" \(message \d+, thread .+\)$/),
  ])
}
