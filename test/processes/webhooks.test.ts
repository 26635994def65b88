/** Webhooks beyond the life of a listener: real processes, one of which delivers at a time. */

import { expect, test } from "vitest"
import { openDatabase } from "../../src/operations/database.ts"
import { recordEvent } from "../../src/store/events.ts"
import { insertWebhook } from "../../src/store/webhooks.ts"
import { receiver } from "../support/receiver.ts"
import { place, ServerProcess } from "../support/server-process.ts"

const EVENTS = 60

test("a webhook goes on under the next listener when one is killed in the middle of a delivery", async () => {
  const where = place()
  const env = { SIGNALBOX_PORT: "0" }
  const first = await ServerProcess.start(where, { env })
  await first.register("Ada")
  const second = await ServerProcess.start(where, { env })
  await second.register("Bob")
  const db = await openDatabase(where.databasePath)
  where.atEnd(() => db.close())
  const to = await receiver()
  let underWay = 0
  let mostUnderWay = 0
  to.answer = (response) => {
    underWay += 1
    mostUnderWay = Math.max(mostUnderWay, underWay)
    response.once("close", () => {
      underWay -= 1
    })
    if (to.received.length === 20) first.child.kill("SIGKILL")
    else response.writeHead(204).end()
  }
  await db.transaction("webhooks", async (tx) => {
    await insertWebhook(
      tx,
      {
        name: "test",
        url: to.url,
        secret: "whsec_MDEyMzQ1Njc4OTAxMjM0NTY3ODkwMTIzNDU2Nzg5MDE=",
        kinds: ["memory.accessed"],
        format: "json",
        includesContent: false,
        allowsPrivate: true,
        cursor: 0,
      },
      Date.now(),
    )
    for (let number = 1; number <= EVENTS; number += 1)
      await recordEvent(tx, { kind: "memory.accessed", data: { name: number } }, Date.now())
  })
  await to.until(EVENTS + 1)
  const names = to.received.map(({ json }) => json.data.name)
  // The one that was under way arrives once more, by which a receiver knows it.
  expect(names).toEqual([...names.slice(0, 20), ...Array.from({ length: EVENTS - 19 }, (_, at) => at + 20)])
  expect(names.slice(0, 20)).toEqual(Array.from({ length: 20 }, (_, at) => at + 1))
  expect(to.received[20]?.headers["webhook-id"]).toBe(to.received[19]?.headers["webhook-id"])
  expect(mostUnderWay).toBe(1)
})
