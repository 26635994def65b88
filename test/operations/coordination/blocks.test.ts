import { describe, expect, test } from "vitest"
import { numberAfter, send, type TestAgent, textAfter, type World, world } from "../../support/world.ts"

const PROJECT = { project_key: "demo" }

/** Ada and Bob, who could write to each other if there were no blocks. */
async function pair(policies: { ada?: string; bob?: string } = {}): Promise<{
  made: World
  ada: TestAgent
  bob: TestAgent
}> {
  const made = world()
  const session = await made.session()
  const ada = await session.register("Ada", { contact_policy: policies.ada ?? "auto" })
  return { made, ada, bob: await session.register("Bob", { contact_policy: policies.bob ?? "auto" }) }
}

function as(agent: TestAgent, tool: string, args: Record<string, unknown>): Promise<string> {
  return agent.session.call(tool, { project_id: agent.projectId, ...args })
}

function block(blocker: TestAgent, blocked: TestAgent, more: Record<string, unknown> = {}): Promise<string> {
  return as(blocker, "block-agent", { blocker_name: blocker.name, blocked_name: blocked.name, ...more })
}

function request(from: TestAgent, to: TestAgent): Promise<string> {
  return as(from, "request-contact", { requester_name: from.name, recipient_name: to.name, reason: "r" })
}

function handshakeArgs(from: TestAgent, to: TestAgent): Record<string, unknown> {
  return { requester_name: from.name, recipient_name: to.name, project_id: from.projectId, reason: "Pairing" }
}

function setPolicy(agent: TestAgent, policy: string): Promise<string> {
  return as(agent, "set-contact-policy", { agent_name: agent.name, contact_policy: policy })
}

function contactsOf(agent: TestAgent): Promise<string> {
  return as(agent, "list-contacts", { agent_name: agent.name })
}

function refusal(from: TestAgent, to: TestAgent, more: Record<string, unknown> = {}): Promise<string> {
  const letter = {
    sender_name: from.name,
    project_id: from.projectId,
    to_agent_ids: [to.id],
    subject: "s",
    body_md: "b",
  }
  return from.session.fail("send-message", { ...letter, ...more })
}

const NEUTRAL = "Ada does not accept messages from you"

describe("block-agent", () => {
  test("confirms blocker, blocked and the contact request by which it is lifted", async () => {
    const { ada, bob } = await pair()
    const text = await block(ada, bob, { reason: "Too many messages" })
    expect(textAfter(text, "Blocker")).toBe("Ada")
    expect(textAfter(text, "Blocked")).toBe(`Bob (agent ${bob.id})`)
    expect(textAfter(await contactsOf(ada), "Contact request id")).toBe(textAfter(text, "Contact request id"))
    expect(text).toContain("respond-contact")
  })

  test("makes the contact of the blocked agent denied, also one that was approved", async () => {
    const { ada, bob } = await pair()
    expect(textAfter(await request(bob, ada), "Status")).toBe("approved")
    await block(ada, bob)
    const contacts = await contactsOf(ada)
    expect(contacts).toContain("### Bob to Ada")
    expect(textAfter(contacts, "Denied")).toBe("1")
    expect(textAfter(contacts, "Approved")).toBe("0")
    expect(textAfter(contacts, "Reason")).toBe("r")
  })

  test("stops mail from the blocked agent, and from it alone", async () => {
    const { made, ada, bob } = await pair()
    const cid = await (await made.session()).register("Cid")
    await block(ada, bob)
    expect(await refusal(bob, ada)).toContain(NEUTRAL)
    await send(cid, [ada])
  })

  test("does not stop mail from the blocker", async () => {
    const { ada, bob } = await pair()
    await block(ada, bob)
    await send(ada, [bob])
  })

  test("again changes nothing more", async () => {
    const { ada, bob } = await pair()
    const first = await block(ada, bob)
    expect(await block(ada, bob)).toBe(first)
    expect(textAfter(await contactsOf(ada), "Total")).toBe("1")
  })

  test("of oneself is refused", async () => {
    const { ada } = await pair()
    const args = { blocker_name: "Ada", blocked_name: "ADA", project_id: ada.projectId }
    expect(await ada.session.fail("block-agent", args)).toMatch(/^Failed to block agent: blocked_name /)
  })

  test("takes a reason of 1 to 1,000 characters and refuses more with the figure", async () => {
    const { ada, bob } = await pair()
    await block(ada, bob, { reason: "x".repeat(1_000) })
    const args = { blocker_name: "Ada", blocked_name: "Bob", project_id: ada.projectId }
    const text = await ada.session.fail("block-agent", { ...args, reason: "x".repeat(1_001) })
    expect(text).toMatch(/^Failed to block agent: reason .*1,000/)
  })

  test("names the agent and the project where either is unknown", async () => {
    const { ada } = await pair()
    const args = { blocker_name: "Ada", blocked_name: "Bob", project_id: ada.projectId }
    for (const field of ["blocker_name", "blocked_name"]) {
      const text = await ada.session.fail("block-agent", { ...args, [field]: "Nobody" })
      expect(text).toMatch(/^Failed to block agent: agent "Nobody" was not found in project "demo"/)
    }
  })
})

describe("a blocked agent", () => {
  test("is refused with the very sentence that block_all refuses with", async () => {
    const { ada, bob } = await pair()
    await block(ada, bob, { reason: "Rude" })
    const blocked = await refusal(bob, ada)
    await request(ada, bob)
    await setPolicy(ada, "block_all")
    expect(await refusal(bob, ada)).toBe(blocked)
    expect(blocked).not.toMatch(/block|Rude/i)
  })

  test("is not told of the block by its contacts", async () => {
    const { ada, bob } = await pair()
    await block(ada, bob, { reason: "Rude" })
    expect(await contactsOf(bob)).not.toMatch(/block|Rude/i)
    expect(JSON.stringify(await bob.session.read("contacts", { ...PROJECT, agent: "Bob" }))).not.toMatch(
      /block|Rude/i,
    )
  })

  test("gets no notification of the block", async () => {
    const { ada, bob } = await pair()
    await block(ada, bob)
    expect(textAfter(await as(bob, "fetch-inbox", { agent_name: "Bob" }), "Total")).toBe("0")
  })

  test("is denied when it requests contact, and the blocker is not notified", async () => {
    const { ada, bob } = await pair({ ada: "open" })
    await block(ada, bob)
    const text = await request(bob, ada)
    expect(textAfter(text, "Status")).toBe("denied")
    expect(text).not.toMatch(/block/i)
    expect(textAfter(await as(ada, "fetch-inbox", { agent_name: "Ada" }), "Total")).toBe("0")
    expect(await refusal(bob, ada)).toContain(NEUTRAL)
  })

  test("is refused in a thread where the blocker has written to it, by send and by reply", async () => {
    const { ada, bob } = await pair()
    const { messageId, threadId } = await send(ada, [bob])
    await block(ada, bob)
    expect(await refusal(bob, ada, { thread_id: threadId })).toContain(NEUTRAL)
    const reply = {
      sender_name: "Bob",
      project_id: bob.projectId,
      parent_message_id: messageId,
      body_md: "b",
    }
    expect(await bob.session.fail("reply-message", reply)).toContain(NEUTRAL)
  })

  test("is refused although the two hold overlapping reservations", async () => {
    const { ada, bob } = await pair()
    for (const agent of [ada, bob]) {
      await agent.session.call("reserve-file-paths", {
        agent_id: agent.id,
        coordination_project_id: agent.projectId,
        repository_id: agent.repositoryId,
        path_pattern: "src/**",
        exclusive: false,
      })
    }
    await block(ada, bob)
    expect(await refusal(bob, ada)).toContain(NEUTRAL)
  })

  test("is refused although the blocker is open and a contact was approved both ways", async () => {
    const { ada, bob } = await pair({ ada: "open", bob: "open" })
    await bob.session.call("macro-contact-handshake", handshakeArgs(bob, ada))
    await block(ada, bob)
    expect(await refusal(bob, ada)).toContain(NEUTRAL)
  })

  test("is refused although it approves a request of the blocker's", async () => {
    const { ada, bob } = await pair({ bob: "contacts_only" })
    const id = numberAfter(await request(ada, bob), "Contact request id")
    await block(ada, bob)
    await as(bob, "respond-contact", { agent_name: "Bob", contact_request_id: id, approved: true })
    expect(await refusal(bob, ada)).toContain(NEUTRAL)
  })

  test("cannot answer with an acknowledgment's response, and acknowledges nothing then", async () => {
    const { ada, bob } = await pair()
    const { messageId } = await send(ada, [bob], { ack_required: true })
    await block(ada, bob)
    const ack = { agent_name: "Bob", project_id: bob.projectId, message_id: messageId }
    expect(await bob.session.fail("ack-message", { ...ack, response_text: "b" })).toContain(NEUTRAL)
    expect(textAfter(await as(bob, "fetch-inbox", { agent_name: "Bob" }), "Importance")).toContain("required")
  })

  test("can acknowledge without a response, and the blocker is told", async () => {
    const { ada, bob } = await pair()
    const { messageId } = await send(ada, [bob])
    await block(ada, bob)
    await as(bob, "ack-message", { agent_name: "Bob", message_id: messageId })
    expect(textAfter(await as(ada, "fetch-inbox", { agent_name: "Ada" }), "From")).toMatch(/^Signalbox/)
  })

  test("cannot lift the block by a handshake, which approves nothing", async () => {
    const { ada, bob } = await pair()
    await block(ada, bob)
    const text = await bob.session.fail("macro-contact-handshake", handshakeArgs(bob, ada))
    expect(text).toMatch(/^Failed to contact handshake: Ada does not accept contact from you/)
    expect(text).not.toMatch(/block/i)
    expect(await refusal(bob, ada)).toContain(NEUTRAL)
    expect(textAfter(await contactsOf(bob), "Approved")).toBe("0")
  })

  test("cannot answer the denied contact itself", async () => {
    const { ada, bob } = await pair()
    const id = numberAfter(await block(ada, bob), "Contact request id")
    const args = { agent_name: "Bob", project_id: bob.projectId, contact_request_id: id, approved: true }
    await bob.session.fail("respond-contact", args)
    expect(await refusal(bob, ada)).toContain(NEUTRAL)
  })

  test("stays blocked when it registers anew under its name", async () => {
    const { ada, bob } = await pair()
    await block(ada, bob)
    await bob.session.register("Bob", { contact_policy: "open" })
    expect(await refusal(bob, ada)).toContain(NEUTRAL)
  })
})

describe("a block is lifted by the blocker", () => {
  test("with respond-contact approved true, which approves the contact", async () => {
    const { ada, bob } = await pair({ ada: "contacts_only" })
    const id = numberAfter(await block(ada, bob), "Contact request id")
    const text = await as(ada, "respond-contact", {
      agent_name: "Ada",
      contact_request_id: id,
      approved: true,
    })
    expect(text).toContain("block of Bob is lifted")
    expect(textAfter(text, "Status")).toBe("approved")
    await send(bob, [ada])
  })

  test("with request-contact to the blocked agent", async () => {
    const { ada, bob } = await pair({ ada: "contacts_only" })
    await block(ada, bob)
    const text = await request(ada, bob)
    expect(textAfter(text, "Status")).toBe("approved")
    expect(text).toContain("Your block of Bob is lifted.")
    await send(bob, [ada])
    expect(await request(ada, bob)).not.toContain("block")
  })

  test("with macro-contact-handshake", async () => {
    const { ada, bob } = await pair({ ada: "contacts_only" })
    await block(ada, bob)
    const text = await ada.session.call("macro-contact-handshake", handshakeArgs(ada, bob))
    expect(text).toContain("block of Bob is lifted")
    await send(bob, [ada])
  })

  test("with nothing else: not by writing, by another policy, or by a denial", async () => {
    const { ada, bob } = await pair()
    const id = numberAfter(await block(ada, bob), "Contact request id")
    await send(ada, [bob])
    await setPolicy(ada, "open")
    const denial = { agent_name: "Ada", project_id: ada.projectId, contact_request_id: id, approved: false }
    await ada.session.fail("respond-contact", denial)
    expect(await refusal(bob, ada)).toContain(NEUTRAL)
  })
})

describe("macro-contact-handshake", () => {
  test("approves both directions at once and names both requests", async () => {
    const { ada, bob } = await pair({ ada: "contacts_only", bob: "contacts_only" })
    const text = await ada.session.call("macro-contact-handshake", handshakeArgs(ada, bob))
    expect(textAfter(text, "Status")).toBe("approved")
    expect(textAfter(text, "Requester")).toBe(`Ada (agent ${ada.id})`)
    expect(textAfter(text, "Recipient")).toBe(`Bob (agent ${bob.id})`)
    const ids = [numberAfter(text, "Contact request id"), numberAfter(text, "Reverse contact request id")]
    expect(new Set(ids).size).toBe(2)
    const contacts = await contactsOf(bob)
    expect(textAfter(contacts, "Approved")).toBe("2")
    expect(contacts).toContain(`### Ada to Bob\nContact request id: ${ids[0]}`)
    expect(contacts).toContain(`### Bob to Ada\nContact request id: ${ids[1]}`)
    await send(ada, [bob])
    await send(bob, [ada])
  })

  test("approves the request that is pending, under its id", async () => {
    const { ada, bob } = await pair({ bob: "contacts_only" })
    const id = numberAfter(await request(ada, bob), "Contact request id")
    const text = await ada.session.call("macro-contact-handshake", handshakeArgs(ada, bob))
    expect(numberAfter(text, "Contact request id")).toBe(id)
    expect(textAfter(await contactsOf(bob), "Pending")).toBe("0")
  })

  test("tells the recipient that its own request is approved, where that was pending", async () => {
    const { ada, bob } = await pair({ ada: "contacts_only" })
    const id = numberAfter(await request(bob, ada), "Contact request id")
    for (let times = 1; times <= 2; times += 1)
      await ada.session.call("macro-contact-handshake", handshakeArgs(ada, bob))
    const inbox = await as(bob, "fetch-inbox", { agent_name: "Bob", include_bodies: true })
    expect(textAfter(inbox, "Total")).toBe("1")
    expect(inbox).toContain("### Ada approved your contact request\n")
    expect(inbox).toContain(`Ada approved your contact request ${id}.`)
  })

  test("fails when the recipient has block_all, and changes nothing", async () => {
    const { ada, bob } = await pair({ bob: "block_all" })
    const text = await ada.session.fail("macro-contact-handshake", handshakeArgs(ada, bob))
    expect(text).toMatch(/^Failed to contact handshake: Bob does not accept contact from you/)
    expect(textAfter(await contactsOf(ada), "Approved")).toBe("0")
  })

  test("that fails lifts no block of the requester's either", async () => {
    const { ada, bob } = await pair({ bob: "block_all" })
    await block(ada, bob)
    await ada.session.fail("macro-contact-handshake", handshakeArgs(ada, bob))
    expect(await refusal(bob, ada)).toContain(NEUTRAL)
  })

  test("of two who have blocked each other fails, whoever begins", async () => {
    const { ada, bob } = await pair()
    await block(ada, bob)
    await block(bob, ada)
    await ada.session.fail("macro-contact-handshake", handshakeArgs(ada, bob))
    await bob.session.fail("macro-contact-handshake", handshakeArgs(bob, ada))
  })

  test("does not let anybody past a block_all that is set afterwards", async () => {
    const { ada, bob } = await pair()
    await ada.session.call("macro-contact-handshake", handshakeArgs(ada, bob))
    await setPolicy(bob, "block_all")
    expect(await refusal(ada, bob)).toContain("Bob does not accept messages from you")
  })

  test("with oneself is refused", async () => {
    const { ada } = await pair()
    const text = await ada.session.fail("macro-contact-handshake", handshakeArgs(ada, ada))
    expect(text).toMatch(/^Failed to contact handshake: recipient_name /)
  })

  test("takes a reason of 1 to 1,000 characters and refuses more with the figure", async () => {
    const { ada, bob } = await pair()
    const args = handshakeArgs(ada, bob)
    await ada.session.call("macro-contact-handshake", { ...args, reason: "x".repeat(1_000) })
    const text = await ada.session.fail("macro-contact-handshake", { ...args, reason: "x".repeat(1_001) })
    expect(text).toMatch(/^Failed to contact handshake: reason .*1,000/)
  })
})
