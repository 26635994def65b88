/** Over any history the events say just what the tables say, and no bcc recipient shows in any of them. */

import fc from "fast-check"
import { expect, test } from "vitest"
import type { Row } from "../../../src/db/database.ts"
import type { StoredEvent } from "../../../src/domain/events/kinds.ts"
import type { App } from "../../../src/operations/app.ts"
import { closeExpired } from "../../../src/operations/coordination/expiry.ts"
import { eventsIn } from "../../support/events.ts"
import { agents, type TestAgent, type World } from "../../support/world.ts"

const NAMES = ["Ada", "Bob", "Cid", "Eve"] as const
const PATTERNS = ["src/**", "src/a.ts", "docs/*.md", "docs/b.md"]

interface Scene {
  made: World
  cast: TestAgent[]
  messageIds(): Promise<number[]>
}
type Step = (scene: Scene) => Promise<unknown>

/** Calls a tool whatever comes of it: what is refused must tell nothing that did not happen. */
async function attempt({ session, projectId }: TestAgent, name: string, args: object): Promise<void> {
  const project =
    name.endsWith("file-paths") || name.startsWith("release") ? "coordination_project_id" : "project_id"
  await session.client.callTool({ name, arguments: { [project]: projectId, ...args } })
}

const who = fc.nat({ max: NAMES.length - 1 })
const acting = ({ cast }: Scene, index: number) => cast[index] as TestAgent
const kindOf = fc.constantFrom("to", "cc", "bcc", "bcc", "none")

const sends = fc.record({ from: who, kinds: fc.array(kindOf, { minLength: 4, maxLength: 4 }) }).map(
  ({ from, kinds }): Step =>
    (scene) => {
      const asKind = (wanted: string) =>
        scene.cast.filter((_, index) => kinds[index] === wanted).map(({ id }) => id)
      const to = asKind("to").length > 0 ? asKind("to") : [acting(scene, from).id]
      return attempt(acting(scene, from), "send-message", {
        sender_name: NAMES[from],
        to_agent_ids: to,
        cc_agent_ids: asKind("cc"),
        bcc_agent_ids: asKind("bcc"),
        subject: "Plan",
        body_md: "the needle",
        ack_required: true,
      })
    },
)

const receives = fc
  .record({ by: who, at: fc.nat(), tool: fc.constantFrom("read-message", "ack-message", "reply-message") })
  .map(
    ({ by, at, tool }): Step =>
      async (scene) => {
        const ids = await scene.messageIds()
        const id = ids[at % Math.max(1, ids.length)]
        if (id === undefined) return
        const args =
          tool === "reply-message"
            ? { sender_name: NAMES[by], parent_message_id: id, body_md: "the needle" }
            : { agent_name: NAMES[by], message_id: id }
        await attempt(acting(scene, by), tool, args)
      },
  )

const reserves = fc
  .record({
    by: who,
    path_pattern: fc.constantFrom(...PATTERNS),
    exclusive: fc.boolean(),
    duration_seconds: fc.constantFrom(60, 120),
  })
  .map(
    ({ by, ...wanted }): Step =>
      (scene) => {
        const agent = acting(scene, by)
        const args = { agent_id: agent.id, repository_id: agent.repositoryId, ...wanted }
        return attempt(agent, "reserve-file-paths", args)
      },
  )

const releases = who.map(
  (by): Step =>
    (scene) =>
      attempt(acting(scene, by), "release-file-reservations", { agent_id: acting(scene, by).id }),
)

const contacts = fc
  .record({
    by: who,
    other: who,
    tool: fc.constantFrom("request-contact", "block-agent", "macro-contact-handshake"),
  })
  .map(
    ({ by, other, tool }): Step =>
      (scene) =>
        attempt(acting(scene, by), tool, {
          ...(tool === "block-agent"
            ? { blocker_name: NAMES[by], blocked_name: NAMES[other] }
            : { requester_name: NAMES[by], recipient_name: NAMES[other] }),
          reason: "the needle",
        }),
  )

const policies = fc
  .record({ by: who, contact_policy: fc.constantFrom("open", "auto", "contacts_only", "block_all") })
  .map(
    ({ by, contact_policy }): Step =>
      (scene) =>
        attempt(acting(scene, by), "set-contact-policy", { agent_name: NAMES[by], contact_policy }),
  )

const passes = fc.record({ ms: fc.constantFrom(1, 59_999, 60_000), closes: fc.boolean() }).map(
  ({ ms, closes }): Step =>
    async ({ made, cast: [first] }) => {
      made.advance(ms)
      if (closes && first !== undefined) await closeExpired(first.session.app)
    },
)

const histories = fc.array(
  fc.oneof(
    { weight: 3, arbitrary: sends },
    { weight: 8, arbitrary: receives },
    { weight: 3, arbitrary: reserves },
    { weight: 1, arbitrary: releases },
    { weight: 1, arbitrary: contacts },
    { weight: 1, arbitrary: policies },
    { weight: 2, arbitrary: passes },
  ),
  { minLength: 40, maxLength: 60 },
)

const rowsOf = <R extends Row>(app: App, sql: string) => app.db.all<R>(sql)
const subjectsOf = (events: readonly StoredEvent[], ...kinds: string[]) =>
  events.filter(({ kind }) => kinds.includes(kind)).map(({ subjectId }) => subjectId)

test("events agree with the tables, and no bcc recipient shows", async () => {
  await fc.assert(
    fc.asyncProperty(histories, async (steps) => {
      const [made, ...cast] = await agents(...NAMES)
      const { app } = (cast[0] as TestAgent).session
      const messageIds = async () =>
        (await rowsOf<{ id: number }>(app, "SELECT id FROM messages")).map(({ id }) => id)
      for (const step of steps) await step({ made, cast, messageIds })
      const events = await eventsIn(app.db, "")
      await requireMail(app, events)
      await requireReservations(app, events)
      await requireContacts(app, events)
      expect(subjectsOf(events, "agent.registered")).toEqual(cast.map(({ id }) => id))
      expect(JSON.stringify(events)).not.toContain("needle")
      await made.close()
    }),
    { numRuns: 6 },
  )
})

interface Copy extends Row {
  id: number
  agent_id: number
  name: string
  kind: string
  read_at_ms: number | null
  acked_at_ms: number | null
  /** Whether it answers a blind copy. */
  answers_bcc: number
}

async function requireMail(app: App, events: readonly StoredEvent[]): Promise<void> {
  const copies = await rowsOf<Copy>(
    app,
    `SELECT m.id, r.agent_id, a.name, r.kind, r.read_at_ms, r.acked_at_ms,
       EXISTS (SELECT 1 FROM message_recipients b
         WHERE b.message_id = m.parent_id AND b.agent_id = m.sender_id AND b.kind = 'bcc') AS answers_bcc
     FROM messages m JOIN threads t ON t.id = m.thread_id AND t.is_notice = 0
       JOIN message_recipients r ON r.message_id = m.id JOIN agents a ON a.id = r.agent_id ORDER BY m.id`,
  )
  const namesOf = (id: number | null, kind: string) =>
    copies.filter((copy) => copy.id === id && copy.kind === kind).map(({ name }) => name)
  const sent = events.filter(({ kind }) => kind === "message.sent")
  expect(sent.map(({ subjectId }) => subjectId)).toEqual([...new Set(copies.map(({ id }) => id))])
  for (const { subjectId, data } of sent)
    for (const kind of ["to", "cc"])
      expect([...(data[kind] as string[])].sort()).toEqual(namesOf(subjectId, kind).sort())
  for (const [kind, timeOf] of [
    ["message.read", (copy: Copy) => copy.read_at_ms],
    ["message.acknowledged", (copy: Copy) => copy.acked_at_ms],
  ] as const) {
    const told = events.filter((event) => event.kind === kind)
    const wanted = copies.filter(
      (copy) => copy.kind !== "bcc" && copy.answers_bcc === 0 && timeOf(copy) !== null,
    )
    expect(
      told.map(({ subjectId, agentId, createdAtMs }) => `${subjectId} ${agentId} ${createdAtMs}`).sort(),
    ).toEqual(wanted.map((copy) => `${copy.id} ${copy.agent_id} ${timeOf(copy)}`).sort())
  }
}

async function requireReservations(app: App, events: readonly StoredEvent[]): Promise<void> {
  const rows = await rowsOf<{
    id: number
    exclusive: number
    expires_at_ms: number
    ended_at_ms: number | null
  }>(app, "SELECT id, exclusive, expires_at_ms, ended_at_ms FROM reservations ORDER BY id")
  expect(subjectsOf(events, "reservation.granted")).toEqual(rows.map(({ id }) => id))
  const ended = rows.filter(({ ended_at_ms }) => ended_at_ms !== null)
  const ends = subjectsOf(events, "reservation.released", "reservation.expired")
  expect(ends.sort()).toEqual(ended.map(({ id }) => id).sort())
  const ranOut = ended.filter((row) => row.ended_at_ms === row.expires_at_ms)
  expect(subjectsOf(events, "reservation.expired").sort()).toEqual(ranOut.map(({ id }) => id).sort())
  for (const row of rows) {
    const last = events
      .filter(({ kind, subjectId }) => /^reservation\.(gr|re[nl]|ex)/.test(kind) && subjectId === row.id)
      .at(-1)
    expect(last?.data).toMatchObject({
      mode: row.exclusive === 1 ? "exclusive" : "shared",
      expires_at: new Date(row.expires_at_ms).toISOString(),
    })
  }
}

async function requireContacts(app: App, events: readonly StoredEvent[]): Promise<void> {
  const blocks = await rowsOf<{ a: number; b: number }>(
    app,
    "SELECT blocker_id AS a, blocked_id AS b FROM blocks",
  )
  for (const { a, b } of blocks)
    expect(
      events.filter(
        ({ kind, agentId, partyId }) => kind === "contact.blocked" && agentId === a && partyId === b,
      ),
    ).not.toEqual([])
  const rows = await rowsOf<{ id: number; status: string }>(app, "SELECT id, status FROM contacts")
  for (const { id, status } of rows) {
    const last = events
      .filter(({ kind, subjectId }) => kind.startsWith("contact.") && subjectId === id)
      .at(-1)
    const told =
      last?.kind === "contact.requested" ? "pending" : last?.data.approved === true ? "approved" : "denied"
    expect(told, `contact ${id} of ${JSON.stringify(last)}`).toBe(status)
  }
}
