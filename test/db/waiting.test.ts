import { expect, test } from "vitest"
import { timeAndAge } from "../../src/operations/markdown.ts"
import { agents, type Session, send, type TestAgent, type World } from "../support/world.ts"

function reserve(agent: TestAgent, pattern: string, seconds: number): Promise<string> {
  return agent.session.call("reserve-file-paths", {
    agent_id: agent.id,
    repository_id: agent.repositoryId,
    coordination_project_id: agent.projectId,
    path_pattern: pattern,
    duration_seconds: seconds,
  })
}

/** Lets something happen while the next transaction of a session waits for others, as a busy file makes it. */
function whileNextTransactionWaits(session: Session, work: () => Promise<unknown>): void {
  const { db } = session.app
  const transaction = db.transaction.bind(db)
  db.transaction = async (lock, body) => {
    db.transaction = transaction
    await work()
    return transaction(lock, body)
  }
}

async function two(): Promise<[World, TestAgent, TestAgent]> {
  const [world, ada, bob] = await agents("Ada", "Bob")
  if (ada === undefined || bob === undefined) throw new Error("there are not two agents")
  return [world, ada, bob]
}

test("who reads the updates since the last look misses no message that had to wait meanwhile", async () => {
  const [world, ada, bob] = await two()
  let lookedAt = ""
  whileNextTransactionWaits(ada.session, async () => {
    world.advance(1_000)
    lookedAt = new Date(world.nowMs).toISOString()
    const updates = await bob.session.call("get-latest-updates", { project_id: bob.projectId })
    expect(updates).toContain("Updates: 0")
    world.advance(1_000)
  })
  const { messageId } = await send(ada, [bob])
  const since = { project_id: bob.projectId, since_ts: lookedAt }
  expect(await bob.session.call("get-latest-updates", since)).toContain(`message ${messageId},`)
})

test("who fetches the inbox since the last look misses no message that had to wait meanwhile", async () => {
  const [world, ada, bob] = await two()
  let lookedAt = ""
  whileNextTransactionWaits(ada.session, async () => {
    world.advance(1_000)
    lookedAt = new Date(world.nowMs).toISOString()
    const inbox = await bob.session.call("fetch-inbox", { agent_name: bob.name, project_id: bob.projectId })
    expect(inbox).toContain("Total: 0")
    world.advance(1_000)
  })
  const { messageId } = await send(ada, [bob])
  const since = { agent_name: bob.name, project_id: bob.projectId, since_ts: lookedAt }
  expect(await bob.session.call("fetch-inbox", since)).toContain(`Message id: ${messageId}`)
})

test("a reservation is held for its whole duration, however long its grant had to wait", async () => {
  const [world, ada, bob] = await two()
  whileNextTransactionWaits(ada.session, async () => world.advance(2_000))
  await reserve(ada, "src/**", 1)
  const listed = await bob.session.call("list-file-reservations", { coordination_project_id: ada.projectId })
  expect(listed).toContain("Total: 1")
})

test("a grant that waited for a release is not dated before it", async () => {
  const [world, ada, bob] = await two()
  await reserve(ada, "src/**", 3_600)
  let releasedAt = ""
  whileNextTransactionWaits(bob.session, async () => {
    world.advance(1_000)
    releasedAt = timeAndAge(world.nowMs, world.nowMs)
    const holder = { agent_id: ada.id, coordination_project_id: ada.projectId }
    expect(await ada.session.call("release-file-reservations", holder)).toContain("Released: 1")
  })
  await reserve(bob, "src/**", 3_600)
  const listed = await bob.session.call("list-file-reservations", { coordination_project_id: ada.projectId })
  expect(/^Created: (.*)$/m.exec(listed)?.[1]).toBe(releasedAt)
})
