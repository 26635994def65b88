/** Reservations that run out while nobody asks for any are told of by the process that listens. */

import { expect, test } from "vitest"
import type { StoredEvent } from "../../src/domain/events/kinds.ts"
import { openDatabase } from "../../src/operations/database.ts"
import { eventsIn } from "../support/events.ts"
import { place, ServerProcess } from "../support/server-process.ts"
import { numberAfter } from "../support/world.ts"

test("what runs out while nobody asks is closed and told of once by whoever listens", async () => {
  const where = place()
  const env = { SIGNALBOX_PORT: "0" }
  const server = await ServerProcess.start(where, { env })
  const other = await ServerProcess.start(where, { env })
  const profile = { project_key: "demo", program: "p", model: "m", name_hint: "Ada" }
  const text = await server.call("register-agent", profile)
  await other.call("list-agents", { project_key: "demo" })
  const ids = {
    agent_id: numberAfter(text, "Agent id"),
    coordination_project_id: numberAfter(text, "Project id"),
  }
  const reserve = (path_pattern: string) =>
    server.call("reserve-file-paths", {
      ...ids,
      repository_id: numberAfter(text, "Repository id"),
      path_pattern,
    })
  const held = numberAfter(await reserve("src/**"), "Reservation id")
  const db = await openDatabase(where.databasePath)
  where.atEnd(() => db.close())
  const told = new Promise<StoredEvent[]>((resolve) => {
    db.watch(() => {
      void eventsIn(db, "reservation.expired").then((events) => events.length > 0 && resolve(events))
    })
  })
  await db.run("UPDATE reservations SET expires_at_ms = created_at_ms WHERE id = ?", [held])
  expect(await told).toMatchObject([
    { subjectId: held, agentId: ids.agent_id, data: { path_pattern: "src/**" } },
  ])
  await reserve("docs/**")
  expect(await eventsIn(db, "reservation.expired")).toHaveLength(1)
})
