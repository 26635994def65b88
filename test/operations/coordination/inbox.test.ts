import { describe, expect, test } from "vitest"
import { START_MS, send, type TestAgent, textAfter, type World, world } from "../../support/world.ts"

async function three(): Promise<Record<"ada" | "bob" | "cid", TestAgent> & { made: World }> {
  const made = world()
  const session = await made.session()
  const [ada, bob] = [await session.register("Ada"), await session.register("Bob")]
  return { made, ada, bob, cid: await session.register("Cid") }
}

function fetchInbox(agent: TestAgent, args: Record<string, unknown> = {}): Promise<string> {
  return agent.session.call("fetch-inbox", { agent_name: agent.name, project_id: agent.projectId, ...args })
}

function readMessage(agent: TestAgent, messageId: number): Promise<string> {
  const args = { agent_name: agent.name, project_id: agent.projectId, message_id: messageId }
  return agent.session.call("read-message", args)
}

/** The subjects in the order in which an inbox shows them. */
function subjectsOf(inbox: string): string[] {
  return [...inbox.matchAll(/^### (.*)$/gm)].map((match) => match[1] ?? "")
}

describe("fetch-inbox", () => {
  test("shows everything about each message but its body", async () => {
    const { ada, bob } = await three()
    const { messageId, threadId } = await send(ada, [bob], {
      subject: "Parser",
      body_md: "Hidden text",
      importance: "urgent",
      ack_required: true,
    })
    const inbox = await fetchInbox(bob)
    expect(subjectsOf(inbox)).toEqual(["Parser"])
    expect(textAfter(inbox, "Message id")).toBe(String(messageId))
    expect(textAfter(inbox, "Thread id")).toBe(threadId)
    expect(textAfter(inbox, "From")).toBe(`Ada (agent ${ada.id}), 2026-03-10T12:00:00Z, 0 s ago`)
    expect(textAfter(inbox, "Importance")).toBe("urgent; unread, acknowledgment required")
    expect(inbox).not.toContain("Hidden text")
  })

  test("is empty at first, and so is what one sent oneself", async () => {
    const { ada, bob } = await three()
    await send(ada, [bob])
    expect(textAfter(await fetchInbox(ada), "Total")).toBe("0")
  })

  test("counts all and the unread", async () => {
    const { ada, bob } = await three()
    const { messageId } = await send(ada, [bob])
    await send(ada, [bob])
    await send(ada, [bob])
    await readMessage(bob, messageId)
    const inbox = await fetchInbox(bob)
    expect(textAfter(inbox, "Total")).toBe("3")
    expect(textAfter(inbox, "Unread")).toBe("2")
  })

  test("holds mail from to, cc and bcc alike", async () => {
    const { ada, bob, cid } = await three()
    await send(ada, [bob], { subject: "to" })
    await send(ada, [cid], { subject: "cc", cc_agent_ids: [bob.id] })
    await send(ada, [cid], { subject: "bcc", bcc_agent_ids: [bob.id] })
    const inbox = await fetchInbox(bob)
    expect(subjectsOf(inbox)).toEqual(["bcc", "cc", "to"])
    const statuses = [...inbox.matchAll(/^Importance: normal; (.*)$/gm)].map((match) => match[1])
    expect(statuses).toEqual(["unread", "unread", "unread"])
  })

  test("marks nothing read, not even with bodies", async () => {
    const { ada, bob } = await three()
    await send(ada, [bob])
    await fetchInbox(bob)
    await fetchInbox(bob, { include_bodies: true })
    expect(textAfter(await fetchInbox(bob), "Unread")).toBe("1")
    const view = await bob.session.read("inbox/Bob", { project_key: "demo" })
    expect((view.messages as { is_read: boolean }[])[0]?.is_read).toBe(false)
  })

  test("shows unread mail first, the newest first among the unread and among the read", async () => {
    const { made, ada, bob } = await three()
    const sent = new Map<string, number>()
    for (const subject of ["1", "2", "3", "4"]) {
      sent.set(subject, (await send(ada, [bob], { subject })).messageId)
      made.advance(1_000)
    }
    await readMessage(bob, sent.get("2") ?? 0)
    await readMessage(bob, sent.get("4") ?? 0)
    expect(subjectsOf(await fetchInbox(bob))).toEqual(["3", "1", "4", "2"])
  })

  test("includes the bodies when asked", async () => {
    const { ada, bob } = await three()
    await send(ada, [bob], { body_md: "Whole **text**" })
    expect(await fetchInbox(bob, { include_bodies: true })).toContain("Whole **text**")
    expect(await fetchInbox(bob, { include_bodies: false })).not.toContain("Whole **text**")
  })

  test("shows and counts only urgent mail with urgent_only", async () => {
    const { ada, bob } = await three()
    for (const importance of ["normal", "high", "urgent"])
      await send(ada, [bob], { subject: importance, importance })
    const inbox = await fetchInbox(bob, { urgent_only: true })
    expect(subjectsOf(inbox)).toEqual(["urgent"])
    expect(textAfter(inbox, "Total")).toBe("1")
    expect(subjectsOf(await fetchInbox(bob, { urgent_only: false }))).toHaveLength(3)
  })

  test("shows and counts only mail after since_ts", async () => {
    const { made, ada, bob } = await three()
    await send(ada, [bob], { subject: "noon" })
    made.advance(1)
    await send(ada, [bob], { subject: "later" })
    const inbox = await fetchInbox(bob, { since_ts: new Date(START_MS).toISOString() })
    expect(subjectsOf(inbox)).toEqual(["later"])
    expect(textAfter(inbox, "Total")).toBe("1")
    const before = new Date(START_MS - 1).toISOString()
    expect(subjectsOf(await fetchInbox(bob, { since_ts: before }))).toEqual(["later", "noon"])
  })

  test.each([
    ["2026-03-10", ["noon"]],
    ["2026-03-11", []],
    ["2026-03-10T11:59Z", ["noon"]],
    ["2026-03-10T11:59:59.999", ["noon"]],
    ["2026-03-10T14:00:00+02:00", []],
    ["2026-03-10T13:59:59+02:00", ["noon"]],
    ["2026-03-10T06:59:59-0500", ["noon"]],
  ])("understands %s as since_ts", async (since, subjects) => {
    const { ada, bob } = await three()
    await send(ada, [bob], { subject: "noon" })
    expect(subjectsOf(await fetchInbox(bob, { since_ts: since }))).toEqual(subjects)
  })

  test.each([
    "yesterday",
    "10.03.2026",
    "1741608000",
    "2026-13-01",
    "2026-02-31",
    "2026-03-10T25:00:00Z",
    " ",
  ])("refuses %j as since_ts, with the form that it takes", async (since) => {
    const { ada } = await three()
    const args = { agent_name: "Ada", project_id: ada.projectId, since_ts: since }
    expect(await ada.session.fail("fetch-inbox", args)).toMatch(/^Failed to fetch inbox: since_ts .*ISO 8601/)
  })

  test("shows 20 messages unless told otherwise, and counts them all", async () => {
    const { ada, bob } = await three()
    for (let sent = 0; sent < 21; sent += 1) await send(ada, [bob])
    const inbox = await fetchInbox(bob)
    expect(subjectsOf(inbox)).toHaveLength(20)
    expect(textAfter(inbox, "Total")).toBe("21")
    expect(subjectsOf(await fetchInbox(bob, { limit: 100 }))).toHaveLength(21)
    expect(subjectsOf(await fetchInbox(bob, { limit: 1 }))).toHaveLength(1)
  })

  test.each([
    [0, "1"],
    [101, "100"],
  ])("refuses a limit of %i with the figure %s", async (limit, figure) => {
    const { ada } = await three()
    const text = await ada.session.fail("fetch-inbox", {
      agent_name: "Ada",
      project_id: ada.projectId,
      limit,
    })
    expect(text).toMatch(new RegExp(`^Failed to fetch inbox: limit .*\\b${figure}\\b`))
  })

  test("stays within 25,000 characters and says how to get the rest", async () => {
    const { ada, bob } = await three()
    for (let sent = 0; sent < 3; sent += 1) await send(ada, [bob], { body_md: "x".repeat(10_000) })
    const inbox = await fetchInbox(bob, { include_bodies: true })
    expect(inbox.length).toBeLessThanOrEqual(25_000)
    expect(inbox).toMatch(/1 more did not fit.*read-message/)
  })

  test("names the agent and the project where the agent is unknown", async () => {
    const { ada } = await three()
    const text = await ada.session.fail("fetch-inbox", { agent_name: "Nobody", project_id: ada.projectId })
    expect(text).toMatch(/^Failed to fetch inbox: agent "Nobody" was not found in project "demo"/)
  })
})

describe("read-message", () => {
  test("confirms with id, subject, agent and time, and returns the body", async () => {
    const { made, ada, bob } = await three()
    const { messageId } = await send(ada, [bob], { subject: "Parser", body_md: "Whole **text**" })
    made.advance(5_000)
    const text = await readMessage(bob, messageId)
    expect(text).toMatch(/^# Parser$/m)
    expect(textAfter(text, "Message id")).toBe(String(messageId))
    expect(textAfter(text, "Read by")).toBe("Bob, 2026-03-10T12:00:05Z")
    expect(text).toContain("Whole **text**")
  })

  test("returns a body of 20,000 characters whole", async () => {
    const { ada, bob } = await three()
    const { messageId } = await send(ada, [bob], { body_md: "x".repeat(20_000) })
    expect(await readMessage(bob, messageId)).toContain("x".repeat(20_000))
  })

  test("marks the message read for that agent alone", async () => {
    const { ada, bob, cid } = await three()
    const { messageId } = await send(ada, [bob, cid])
    await readMessage(bob, messageId)
    expect(textAfter(await fetchInbox(bob), "Unread")).toBe("0")
    expect(textAfter(await fetchInbox(bob), "Importance")).toBe("normal; read")
    expect(textAfter(await fetchInbox(cid), "Unread")).toBe("1")
  })

  test("again keeps the first time", async () => {
    const { made, ada, bob } = await three()
    const { messageId } = await send(ada, [bob])
    await readMessage(bob, messageId)
    made.advance(60_000)
    expect(textAfter(await readMessage(bob, messageId), "Read by")).toBe("Bob, 2026-03-10T12:00:00Z")
  })

  test("does not acknowledge", async () => {
    const { ada, bob } = await three()
    const { messageId } = await send(ada, [bob], { ack_required: true })
    await readMessage(bob, messageId)
    expect(textAfter(await fetchInbox(bob), "Importance")).toBe("normal; read, acknowledgment required")
    expect(textAfter(await fetchInbox(ada), "Total")).toBe("0")
  })

  test("shows the sender a message of its own", async () => {
    const { ada, bob } = await three()
    const { messageId } = await send(ada, [bob], { body_md: "Own text" })
    expect(await readMessage(ada, messageId)).toContain("Own text")
    expect(textAfter(await fetchInbox(bob), "Unread")).toBe("1")
  })

  test("is refused to those who take no part in the message", async () => {
    const { ada, bob, cid } = await three()
    const { messageId } = await send(ada, [bob], { body_md: "Secret" })
    const args = { agent_name: "Cid", project_id: cid.projectId, message_id: messageId }
    const text = await cid.session.fail("read-message", args)
    expect(text).toMatch(new RegExp(`^Failed to read message: Cid takes no part in message ${messageId}`))
    expect(text).not.toContain("Secret")
  })

  test("names the message and the project where it is unknown or of another project", async () => {
    const { made, ada } = await three()
    const eve = await (await made.session()).register("Eve", { project_key: "other" })
    const foreign = await send(eve, [eve])
    for (const id of [99, foreign.messageId]) {
      const args = { agent_name: "Ada", project_id: ada.projectId, message_id: id }
      const text = await ada.session.fail("read-message", args)
      expect(text).toMatch(
        new RegExp(`^Failed to read message: message ${id} was not found in project "demo"`),
      )
      expect(text).toContain("fetch-inbox")
    }
  })
})
