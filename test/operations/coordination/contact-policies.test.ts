import { execFileSync } from "node:child_process"
import { mkdirSync } from "node:fs"
import { join } from "node:path"
import { describe, expect, test } from "vitest"
import {
  numberAfter,
  type Session,
  send,
  type TestAgent,
  textAfter,
  type World,
  world,
} from "../../support/world.ts"

/** A session that works in a repository of its own, named so. */
async function elsewhere(made: World, name: string): Promise<Session> {
  const folder = join(made.folder, name)
  execFileSync("git", ["init", "--quiet", folder])
  return made.session({ workingFolder: folder })
}

/** Ada and Bob work in two repositories and have nothing else in common. */
async function strangers(bobsPolicy = "auto"): Promise<{ made: World; ada: TestAgent; bob: TestAgent }> {
  const made = world()
  const ada = await (await made.session()).register("Ada")
  const bob = await (await elsewhere(made, "other")).register("Bob", { contact_policy: bobsPolicy })
  expect(bob.repositoryId).not.toBe(ada.repositoryId)
  return { made, ada, bob }
}

async function withoutRepository(made: World, name: string): Promise<TestAgent> {
  const folder = join(made.folder, `plain-${name}`)
  mkdirSync(folder)
  const session = await made.session({ workingFolder: folder })
  const args = { project_key: "demo", program: "p", model: "m", name_hint: name, contact_policy: "auto" }
  const text = await session.call("register-agent", args)
  expect(textAfter(text, "Repository id")).toBe("none")
  const [id, projectId] = [numberAfter(text, "Agent id"), numberAfter(text, "Project id")]
  return { session, name, id, projectId, repositoryId: 0 }
}

function letter(from: TestAgent, to: readonly TestAgent[]): Record<string, unknown> {
  const ids = to.map((agent) => agent.id)
  return {
    sender_name: from.name,
    project_id: from.projectId,
    to_agent_ids: ids,
    subject: "Plan",
    body_md: "b",
  }
}

function refusal(
  from: TestAgent,
  to: readonly TestAgent[],
  more: Record<string, unknown> = {},
): Promise<string> {
  return from.session.fail("send-message", { ...letter(from, to), ...more })
}

function setPolicy(agent: TestAgent, policy: string): Promise<string> {
  const args = { agent_name: agent.name, project_id: agent.projectId, contact_policy: policy }
  return agent.session.call("set-contact-policy", args)
}

function contactsOf(agent: TestAgent): Promise<string> {
  return agent.session.call("list-contacts", { agent_name: agent.name, project_id: agent.projectId })
}

function inboxOf(agent: TestAgent): Promise<string> {
  return agent.session.call("fetch-inbox", { agent_name: agent.name, project_id: agent.projectId })
}

function reserve(agent: TestAgent, pattern: string, repositoryId: number): Promise<string> {
  return agent.session.call("reserve-file-paths", {
    agent_id: agent.id,
    coordination_project_id: agent.projectId,
    repository_id: repositoryId,
    path_pattern: pattern,
    exclusive: false,
    duration_seconds: 60,
  })
}

describe("open", () => {
  test("lets strangers write", async () => {
    const { ada, bob } = await strangers("open")
    await send(ada, [bob])
  })
})

describe("block_all", () => {
  test("refuses everybody, without a way in", async () => {
    const { ada, bob } = await strangers("block_all")
    const text = await refusal(ada, [bob])
    expect(text).toMatch(/^Failed to send message: nothing was sent.*Bob does not accept messages from you/)
    expect(text).not.toContain("request-contact")
    expect(textAfter(await contactsOf(ada), "Total")).toBe("0")
  })

  test("refuses an approved contact too", async () => {
    const { ada, bob } = await strangers("open")
    const args = { requester_name: "Ada", recipient_name: "Bob", project_id: ada.projectId, reason: "r" }
    await ada.session.call("request-contact", args)
    await setPolicy(bob, "block_all")
    expect(await refusal(ada, [bob])).toContain("Bob does not accept messages from you")
  })

  test("refuses an answer in the thread too", async () => {
    const { ada, bob } = await strangers("open")
    const { messageId, threadId } = await send(bob, [bob], { cc_agent_ids: [] })
    await setPolicy(ada, "open")
    await send(bob, [ada], { thread_id: threadId })
    await setPolicy(bob, "block_all")
    const reply = {
      sender_name: "Ada",
      project_id: ada.projectId,
      parent_message_id: messageId,
      body_md: "b",
    }
    expect(await ada.session.fail("reply-message", reply)).toContain("Bob does not accept messages from you")
    expect(await refusal(ada, [bob], { thread_id: threadId })).toContain(
      "Bob does not accept messages from you",
    )
  })

  test("does not keep its agent from writing to others", async () => {
    const { ada, bob } = await strangers("block_all")
    await setPolicy(ada, "open")
    await send(bob, [ada])
  })
})

describe("contacts_only", () => {
  test("refuses strangers and says to request contact, but files no request itself", async () => {
    const { ada, bob } = await strangers("contacts_only")
    const text = await refusal(ada, [bob])
    expect(text).toMatch(/Bob accepts messages from approved contacts only.*request-contact/)
    expect(textAfter(await contactsOf(ada), "Total")).toBe("0")
  })

  test("refuses those who work in the same repository", async () => {
    const made = world()
    const session = await made.session()
    const ada = await session.register("Ada")
    const bob = await session.register("Bob", { contact_policy: "contacts_only" })
    expect(await refusal(ada, [bob])).toContain("request-contact")
  })

  test("lets an answer in, in a thread where its agent has written to the sender", async () => {
    const { ada, bob } = await strangers("contacts_only")
    await setPolicy(ada, "open")
    const { messageId, threadId } = await send(bob, [ada])
    const reply = {
      sender_name: "Ada",
      project_id: ada.projectId,
      parent_message_id: messageId,
      body_md: "b",
    }
    await ada.session.call("reply-message", reply)
    await send(ada, [bob], { thread_id: threadId })
  })

  test("lets in no answer outside of that thread", async () => {
    const { ada, bob } = await strangers("contacts_only")
    await setPolicy(ada, "open")
    await send(bob, [ada])
    expect(await refusal(ada, [bob])).toContain("request-contact")
    expect(await refusal(ada, [bob], { thread_id: "another" })).toContain("request-contact")
  })

  test("lets in nobody to whom its agent has not written in the thread, however often it wrote there", async () => {
    const { made, ada, bob } = await strangers("contacts_only")
    const cid = await (await made.session()).register("Cid", { contact_policy: "open" })
    await setPolicy(ada, "open")
    const { threadId } = await send(bob, [cid])
    await send(cid, [ada], { thread_id: threadId })
    expect(await refusal(ada, [bob], { thread_id: threadId })).toContain("request-contact")
  })
})

describe("auto", () => {
  test("lets agents of the same repository write", async () => {
    const session = await world().session()
    const [ada, bob] = [await session.register("Ada"), await session.register("Bob")]
    await send(ada, [bob])
  })

  test("lets agents write where either has no repository", async () => {
    const { made, ada, bob } = await strangers()
    const cid = await withoutRepository(made, "Cid")
    await send(cid, [ada, bob])
    await send(ada, [cid])
    await send(cid, [await withoutRepository(made, "Dan")])
  })

  test("lets those write who share a thread", async () => {
    const { made, ada, bob } = await strangers()
    const cid = await withoutRepository(made, "Cid")
    await refusal(ada, [bob])
    await send(cid, [ada], { cc_agent_ids: [bob.id] })
    await send(ada, [bob])
    await send(bob, [ada])
  })

  test("takes a notification for no thread that its recipients share", async () => {
    const { made, ada, bob } = await strangers()
    const cid = await withoutRepository(made, "Cid")
    for (const agent of [ada, bob]) {
      const { messageId } = await send(agent, [cid])
      const ack = { agent_name: "Cid", project_id: cid.projectId, message_id: messageId }
      await cid.session.call("ack-message", ack)
    }
    await refusal(ada, [bob])
  })

  test("lets those write who hold overlapping reservations", async () => {
    const { ada, bob } = await strangers()
    await reserve(ada, "src/**", ada.repositoryId)
    await reserve(bob, "src/main.ts", ada.repositoryId)
    await send(ada, [bob])
  })

  test("does not count reservations that have run out or were released", async () => {
    const { made, ada, bob } = await strangers()
    await reserve(ada, "src/**", ada.repositoryId)
    await reserve(bob, "src/main.ts", ada.repositoryId)
    made.advance(60_001)
    await refusal(ada, [bob])
    await reserve(ada, "src/**", ada.repositoryId)
    await reserve(bob, "src/main.ts", ada.repositoryId)
    const released = { agent_id: ada.id, coordination_project_id: ada.projectId }
    await ada.session.call("release-file-reservations", released)
    await refusal(ada, [bob])
  })

  test("does not count reservations that do not overlap, or lie in two repositories", async () => {
    const { ada, bob } = await strangers()
    await reserve(ada, "src/**", ada.repositoryId)
    await reserve(bob, "docs/**", ada.repositoryId)
    await reserve(bob, "src/**", bob.repositoryId)
    await refusal(ada, [bob])
  })

  test("refuses strangers, files the contact request itself and says so", async () => {
    const { ada, bob } = await strangers()
    const text = await refusal(ada, [bob])
    const id = Number(/contact request (\d+) is pending/.exec(text)?.[1])
    for (const agent of [ada, bob]) {
      const contacts = await contactsOf(agent)
      expect(textAfter(contacts, "Contact request id")).toBe(String(id))
      expect(textAfter(contacts, "Pending")).toBe("1")
      expect(contacts).toContain("### Ada to Bob")
    }
    expect(await inboxOf(bob)).toContain("Contact request from Ada")
  })

  test("files one request only, however often the stranger tries, and notifies once", async () => {
    const { ada, bob } = await strangers()
    const first = await refusal(ada, [bob])
    expect(await refusal(ada, [bob])).toBe(first)
    expect(textAfter(await inboxOf(bob), "Total")).toBe("1")
  })

  test("knows the request that was filed when contact is requested", async () => {
    const { ada, bob } = await strangers()
    const id = /contact request (\d+) is pending/.exec(await refusal(ada, [bob]))?.[1]
    const args = { requester_name: "Ada", recipient_name: "Bob", project_id: ada.projectId, reason: "r" }
    const text = await ada.session.call("request-contact", args)
    expect(textAfter(text, "Contact request id")).toBe(id)
    expect(textAfter(text, "Status")).toBe("pending")
  })

  test("lets both write once the filed request is approved", async () => {
    const { ada, bob } = await strangers()
    const id = Number(/contact request (\d+) is pending/.exec(await refusal(ada, [bob]))?.[1])
    const args = { agent_name: "Bob", project_id: bob.projectId, contact_request_id: id, approved: true }
    await bob.session.call("respond-contact", args)
    await send(ada, [bob])
    await send(bob, [ada])
  })

  test.each(["open", "auto", "contacts_only"])(
    "of the recipient decides, not %s of the sender",
    async (policy) => {
      const { ada, bob } = await strangers()
      await setPolicy(ada, policy)
      await refusal(ada, [bob])
    },
  )

  test("leaves a request of strangers pending", async () => {
    const { ada } = await strangers()
    const args = { requester_name: "Ada", recipient_name: "Bob", project_id: ada.projectId, reason: "r" }
    expect(textAfter(await ada.session.call("request-contact", args), "Status")).toBe("pending")
  })

  test("approves at once a request of those whose reservations overlap", async () => {
    const { ada, bob } = await strangers()
    await reserve(ada, "src/**", ada.repositoryId)
    await reserve(bob, "src/main.ts", ada.repositoryId)
    const args = { requester_name: "Ada", recipient_name: "Bob", project_id: ada.projectId, reason: "r" }
    expect(textAfter(await ada.session.call("request-contact", args), "Status")).toBe("approved")
  })
})

describe("a send to several", () => {
  test("reaches nobody when one refuses, and lists each refusal with its next step", async () => {
    const { made, ada, bob } = await strangers()
    const session = await elsewhere(made, "third")
    const open = await session.register("Cid", { contact_policy: "open" })
    const strict = await session.register("Dan", { contact_policy: "contacts_only" })
    const closed = await session.register("Eve", { contact_policy: "block_all" })
    const text = await refusal(ada, [open], { cc_agent_ids: [bob.id, strict.id], bcc_agent_ids: [closed.id] })
    expect(text).toMatch(/^Failed to send message: nothing was sent/)
    expect(text).toMatch(/contact request \d+ is pending/)
    expect(text).toMatch(/Call request-contact for Dan/)
    expect(text).toMatch(/Continue without Eve/)
    expect(text).not.toContain("Cid")
    expect(textAfter(await inboxOf(open), "Total")).toBe("0")
    expect(await ada.session.read("outbox/Ada", { project_key: "demo" })).toMatchObject({ count: 0 })
  })

  test("keeps the requests it filed although nothing was sent", async () => {
    const { made, ada, bob } = await strangers()
    const closed = await (await made.session()).register("Eve", { contact_policy: "block_all" })
    await refusal(ada, [bob, closed])
    expect(textAfter(await contactsOf(bob), "Pending")).toBe("1")
  })

  test("begins no thread when it is refused", async () => {
    const { ada, bob } = await strangers()
    await refusal(ada, [bob], { thread_id: "plan" })
    const text = await ada.session.fail("get-thread-messages", {
      project_id: ada.projectId,
      thread_id: "plan",
    })
    expect(text).toContain('thread "plan" was not found')
  })

  test("asks the policy of each one in cc of a reply too", async () => {
    const made = world()
    const session = await made.session()
    const ada = await session.register("Ada")
    const bob = await session.register("Bob")
    const cid = await session.register("Cid")
    const { messageId } = await send(ada, [bob], { cc_agent_ids: [cid.id] })
    await setPolicy(cid, "contacts_only")
    const reply = {
      sender_name: "Bob",
      project_id: bob.projectId,
      parent_message_id: messageId,
      body_md: "b",
    }
    expect(await bob.session.fail("reply-message", reply)).toMatch(
      /^Failed to reply message: nothing was sent.*Cid/,
    )
    expect(textAfter(await inboxOf(ada), "Total")).toBe("0")
  })
})
