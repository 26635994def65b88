import { describe, expect, test } from "vitest"
import { numberAfter, send, type TestAgent, textAfter, type World, world } from "../../support/world.ts"

type Policy = "open" | "auto" | "contacts_only" | "block_all"

/** Ada, and Bob with a contact policy, both in one repository. */
async function pair(
  bobsPolicy: Policy = "contacts_only",
): Promise<{ made: World; ada: TestAgent; bob: TestAgent }> {
  const made = world()
  const session = await made.session()
  const ada = await session.register("Ada")
  return { made, ada, bob: await session.register("Bob", { contact_policy: bobsPolicy }) }
}

function request(from: TestAgent, to: string, reason = "Share the parser"): Promise<string> {
  const args = { requester_name: from.name, recipient_name: to, project_id: from.projectId, reason }
  return from.session.call("request-contact", args)
}

async function pendingId(from: TestAgent, to: TestAgent): Promise<number> {
  const text = await request(from, to.name)
  expect(textAfter(text, "Status")).toBe("pending")
  return numberAfter(text, "Contact request id")
}

function answerArgs(agent: TestAgent, id: number, approved: unknown): Record<string, unknown> {
  return { agent_name: agent.name, project_id: agent.projectId, contact_request_id: id, approved }
}

function answer(
  agent: TestAgent,
  id: number,
  approved: boolean,
  more: Record<string, unknown> = {},
): Promise<string> {
  return agent.session.call("respond-contact", { ...answerArgs(agent, id, approved), ...more })
}

function contactsOf(agent: TestAgent, args: Record<string, unknown> = {}): Promise<string> {
  return agent.session.call("list-contacts", { agent_name: agent.name, project_id: agent.projectId, ...args })
}

async function mailOf(agent: TestAgent): Promise<number> {
  const inbox = await agent.session.call("fetch-inbox", {
    agent_name: agent.name,
    project_id: agent.projectId,
  })
  return Number(textAfter(inbox, "Total"))
}

describe("request-contact", () => {
  test.each([
    ["open", "approved"],
    ["auto", "approved"],
    ["contacts_only", "pending"],
    ["block_all", "denied"],
  ] as const)(
    "to an agent of the same repository whose policy is %s is %s at once",
    async (policy, status) => {
      const { ada, bob } = await pair(policy)
      const text = await request(ada, "Bob")
      expect(textAfter(text, "Status")).toBe(status)
      expect(textAfter(text, "Recipient")).toBe(`Bob (agent ${bob.id})`)
      expect(numberAfter(text, "Contact request id")).toBeGreaterThan(0)
    },
  )

  test("that is pending notifies the recipient; approved or denied at once notifies nobody", async () => {
    for (const [policy, notices] of [
      ["contacts_only", 1],
      ["open", 0],
      ["block_all", 0],
    ] as const) {
      const { ada, bob } = await pair(policy)
      await request(ada, "Bob")
      expect(await mailOf(bob)).toBe(notices)
      expect(await mailOf(ada)).toBe(0)
    }
  })

  test("again while one is pending returns the same id and notifies nobody again", async () => {
    const { ada, bob } = await pair()
    const first = await pendingId(ada, bob)
    expect(await pendingId(ada, bob)).toBe(first)
    expect(await mailOf(bob)).toBe(1)
    expect(textAfter(await contactsOf(ada), "Total")).toBe("1")
  })

  test("again keeps the reason that the recipient was told", async () => {
    const { ada, bob } = await pair()
    await pendingId(ada, bob)
    await request(ada, "Bob", "Another reason")
    expect(textAfter(await contactsOf(bob), "Reason")).toBe("Share the parser")
  })

  test("of an approved contact stays approved and asks nobody again", async () => {
    const { ada, bob } = await pair()
    const id = await pendingId(ada, bob)
    await answer(bob, id, true)
    expect(textAfter(await request(ada, "Bob"), "Status")).toBe("approved")
    expect(await mailOf(bob)).toBe(1)
  })

  test("from the one who approved is approved at once, for approval is mutual", async () => {
    const { ada, bob } = await pair()
    await ada.session.call("set-contact-policy", {
      agent_name: "Ada",
      project_id: ada.projectId,
      contact_policy: "contacts_only",
    })
    await answer(bob, await pendingId(ada, bob), true)
    expect(textAfter(await request(bob, "Ada"), "Status")).toBe("approved")
  })

  test("after a denial is pending again and notifies the recipient again", async () => {
    const { ada, bob } = await pair()
    await answer(bob, await pendingId(ada, bob), false)
    await pendingId(ada, bob)
    expect(await mailOf(bob)).toBe(2)
  })

  test("after a second denial is denied at once within the hour, and nobody is told", async () => {
    const { made, ada, bob } = await pair()
    await answer(bob, await pendingId(ada, bob), false)
    await answer(bob, await pendingId(ada, bob), false)
    made.advance(3_599_999)
    expect(textAfter(await request(ada, "Bob"), "Status")).toBe("denied")
    expect(await mailOf(bob)).toBe(2)
    made.advance(1)
    expect(textAfter(await request(ada, "Bob"), "Status")).toBe("pending")
    expect(await mailOf(bob)).toBe(3)
  })

  test("after a denial is left to the recipient even where auto would approve", async () => {
    const { ada, bob } = await pair()
    await answer(bob, await pendingId(ada, bob), false)
    await bob.session.call("set-contact-policy", {
      agent_name: "Bob",
      project_id: bob.projectId,
      contact_policy: "auto",
    })
    expect(textAfter(await request(ada, "Bob"), "Status")).toBe("pending")
  })

  test("of the one who denied lifts the denial, so that auto counts again", async () => {
    const { ada, bob } = await pair()
    await answer(bob, await pendingId(ada, bob), false)
    await bob.session.call("set-contact-policy", {
      agent_name: "Bob",
      project_id: bob.projectId,
      contact_policy: "auto",
    })
    const letter = { sender_name: "Ada", project_id: ada.projectId, subject: "s", body_md: "b" }
    const args = { ...letter, to_agent_ids: [bob.id] }
    expect(await ada.session.fail("send-message", args)).toMatch(/Bob has denied your contact request \d+/)
    await request(bob, "Ada")
    await ada.session.call("send-message", args)
  })

  test("takes names in any case", async () => {
    const { ada } = await pair()
    const args = { requester_name: "ADA", recipient_name: "bOB", project_id: ada.projectId, reason: "r" }
    expect(textAfter(await ada.session.call("request-contact", args), "Recipient")).toMatch(/^Bob /)
  })

  test("takes a reason of 1 to 1,000 characters and refuses more with the figure", async () => {
    const { ada, bob } = await pair()
    await request(ada, "Bob", "x".repeat(1_000))
    expect(textAfter(await contactsOf(bob), "Reason")).toBe("x".repeat(1_000))
    const args = { requester_name: "Ada", recipient_name: "Bob", project_id: ada.projectId }
    const text = await ada.session.fail("request-contact", { ...args, reason: "x".repeat(1_001) })
    expect(text).toMatch(/^Failed to request contact: reason .*1,000/)
    expect(await ada.session.fail("request-contact", { ...args, reason: "" })).toContain("reason")
  })

  test("of oneself is refused", async () => {
    const { ada } = await pair()
    const args = { requester_name: "Ada", recipient_name: "ada", project_id: ada.projectId, reason: "r" }
    expect(await ada.session.fail("request-contact", args)).toMatch(
      /^Failed to request contact: recipient_name /,
    )
  })

  test("names the agent and the project where either is unknown or of another project", async () => {
    const { made, ada } = await pair()
    await (await made.session()).register("Eve", { project_key: "other" })
    const args = { requester_name: "Ada", recipient_name: "Bob", project_id: ada.projectId, reason: "r" }
    for (const field of ["requester_name", "recipient_name"]) {
      const text = await ada.session.fail("request-contact", { ...args, [field]: "Eve" })
      expect(text).toMatch(/^Failed to request contact: agent "Eve" was not found in project "demo"/)
    }
  })
})

describe("respond-contact", () => {
  test.each([
    [true, "approved"],
    [false, "denied"],
  ])("with approved %s confirms that the request is %s", async (approved, status) => {
    const { made, ada, bob } = await pair()
    const id = await pendingId(ada, bob)
    made.advance(60_000)
    const text = await answer(bob, id, approved, { response_message: "After lunch" })
    expect(textAfter(text, "Contact request id")).toBe(String(id))
    expect(textAfter(text, "Status")).toBe(status)
    expect(textAfter(text, "Requester")).toBe(`Ada (agent ${ada.id})`)
    expect(textAfter(text, "Response")).toBe("After lunch")
    const listed = await contactsOf(ada)
    expect(textAfter(listed, "Status")).toBe(status)
    expect(textAfter(listed, "Response")).toBe("After lunch")
    expect(textAfter(listed, "Requested")).toBe("2026-03-10T12:00:00Z, 1 min ago")
    expect(textAfter(listed, "Responded")).toBe("2026-03-10T12:01:00Z, 0 s ago")
  })

  test("with approved true lets both write to each other", async () => {
    const { ada, bob } = await pair()
    await ada.session.call("set-contact-policy", {
      agent_name: "Ada",
      project_id: ada.projectId,
      contact_policy: "contacts_only",
    })
    await answer(bob, await pendingId(ada, bob), true)
    await send(ada, [bob])
    await send(bob, [ada])
  })

  test("with approved false lets the requester write no more than before", async () => {
    const { ada, bob } = await pair()
    await answer(bob, await pendingId(ada, bob), false)
    const args = {
      sender_name: "Ada",
      project_id: ada.projectId,
      to_agent_ids: [bob.id],
      subject: "s",
      body_md: "b",
    }
    expect(await ada.session.fail("send-message", args)).toContain("request-contact")
  })

  test("is refused once the request is answered, with the way to change the answer", async () => {
    const { ada, bob } = await pair()
    for (const [first, status] of [
      [false, "denied"],
      [true, "approved"],
    ] as const) {
      const id = await pendingId(ada, bob)
      await answer(bob, id, first)
      for (const second of [true, false]) {
        const text = await bob.session.fail("respond-contact", answerArgs(bob, id, second))
        expect(text).toMatch(
          new RegExp(`^Failed to respond contact: contact request ${id} is ${status} already`),
        )
        expect(text).toContain("block-agent")
      }
    }
  })

  test("is for the recipient alone: to all others there is no such request", async () => {
    const { made, ada, bob } = await pair()
    const id = await pendingId(ada, bob)
    const cid = await (await made.session()).register("Cid")
    for (const agent of [ada, cid]) {
      const text = await agent.session.fail("respond-contact", answerArgs(agent, id, true))
      expect(text).toMatch(
        new RegExp(`^Failed to respond contact: contact request ${id} .*was not found.*"demo"`),
      )
      expect(text).toContain("list-contacts")
    }
    expect(textAfter(await contactsOf(ada), "Pending")).toBe("1")
  })

  test("finds no request of another project, not even for an agent of the same name", async () => {
    const { made, ada, bob } = await pair()
    const id = await pendingId(ada, bob)
    const namesake = await (await made.session()).register("Bob", { project_key: "other" })
    const text = await namesake.session.fail("respond-contact", answerArgs(namesake, id, true))
    expect(text).toContain('was not found in project "other"')
  })

  test("finds no request that was never made", async () => {
    const { bob } = await pair()
    expect(await bob.session.fail("respond-contact", answerArgs(bob, 99, true))).toContain(
      "contact request 99",
    )
  })

  test("takes a response of 1 to 1,000 characters and refuses more with the figure", async () => {
    const { ada, bob } = await pair()
    const id = await pendingId(ada, bob)
    const args = answerArgs(bob, id, true)
    const text = await bob.session.fail("respond-contact", { ...args, response_message: "x".repeat(1_001) })
    expect(text).toMatch(/^Failed to respond contact: response_message .*1,000/)
    await answer(bob, id, true, { response_message: "x".repeat(1_000) })
    expect(textAfter(await contactsOf(ada), "Response")).toBe("x".repeat(1_000))
  })
})

describe("list-contacts", () => {
  test("counts each status and lists requests both ways, each with its id", async () => {
    const { made, ada, bob } = await pair()
    const session = await made.session()
    const open = await session.register("Cid", { contact_policy: "open" })
    const closed = await session.register("Dan", { contact_policy: "block_all" })
    const id = await pendingId(ada, bob)
    await request(ada, open.name)
    await request(ada, closed.name)
    await request(open, "Ada")
    const text = await contactsOf(ada)
    for (const [label, count] of [
      ["Total", "4"],
      ["Pending", "1"],
      ["Approved", "2"],
      ["Denied", "1"],
    ] as const)
      expect(textAfter(text, label)).toBe(count)
    expect(text).toContain(
      `### Ada to Bob\nContact request id: ${id}\nStatus: pending\nReason: Share the parser`,
    )
    expect(text).toContain("### Ada to Cid")
    expect(text).toContain("### Ada to Dan")
    expect(text).toContain("### Cid to Ada")
  })

  test.each(["pending", "approved", "denied"])(
    "shows only %s contacts when asked, and counts all",
    async (status) => {
      const { made, ada, bob } = await pair()
      const session = await made.session()
      await pendingId(ada, bob)
      await request(ada, (await session.register("Cid", { contact_policy: "open" })).name)
      await request(ada, (await session.register("Dan", { contact_policy: "block_all" })).name)
      const text = await contactsOf(ada, { status })
      expect([...text.matchAll(/^Status: (.*)$/gm)].map((match) => match[1])).toEqual([status])
      expect(textAfter(text, "Total")).toBe("3")
    },
  )

  test("names the three statuses when another one is given", async () => {
    const { ada } = await pair()
    const args = { agent_name: "Ada", project_id: ada.projectId, status: "blocked" }
    const text = await ada.session.fail("list-contacts", args)
    expect(text).toMatch(/^Failed to list contacts: status .*pending, approved, denied/)
  })

  test("shows nothing of contacts between others", async () => {
    const { made, ada, bob } = await pair()
    await pendingId(ada, bob)
    const cid = await (await made.session()).register("Cid")
    expect(textAfter(await contactsOf(cid), "Total")).toBe("0")
    expect(await contactsOf(cid)).not.toContain("Ada")
  })
})

describe("set-contact-policy", () => {
  test("returns the previous and the new policy", async () => {
    const { bob } = await pair("auto")
    const args = { agent_name: "Bob", project_id: bob.projectId }
    const first = await bob.session.call("set-contact-policy", { ...args, contact_policy: "block_all" })
    expect(textAfter(first, "Agent")).toBe("Bob")
    expect(textAfter(first, "Previous policy")).toBe("auto")
    expect(textAfter(first, "New policy")).toBe("block_all")
    const second = await bob.session.call("set-contact-policy", { ...args, contact_policy: "open" })
    expect(textAfter(second, "Previous policy")).toBe("block_all")
  })

  test("changes that agent alone, and its profile shows it", async () => {
    const { ada, bob } = await pair("auto")
    const args = { agent_name: "Bob", project_id: bob.projectId, contact_policy: "open" }
    await bob.session.call("set-contact-policy", args)
    for (const [name, policy] of [
      ["Bob", "open"],
      ["Ada", "auto"],
    ]) {
      const text = await ada.session.call("whois", { project_key: "demo", agent_name: name })
      expect(textAfter(text, "Contact policy")).toBe(policy)
    }
  })

  test("names the four policies when another one is given", async () => {
    const { bob } = await pair()
    const args = { agent_name: "Bob", project_id: bob.projectId, contact_policy: "closed" }
    const text = await bob.session.fail("set-contact-policy", args)
    expect(text).toMatch(
      /^Failed to set contact policy: contact_policy .*open, auto, contacts_only, block_all/,
    )
  })
})
