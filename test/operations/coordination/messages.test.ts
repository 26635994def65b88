import { describe, expect, test } from "vitest"
import { numberAfter, send, type TestAgent, textAfter, type World, world } from "../../support/world.ts"

async function join(made: World, name: string, args: Record<string, unknown> = {}): Promise<TestAgent> {
  return (await made.session({ name: `session-of-${name}` })).register(name, args)
}

async function adaAndBob(): Promise<{ made: World; ada: TestAgent; bob: TestAgent }> {
  const made = world()
  const session = await made.session()
  return { made, ada: await session.register("Ada"), bob: await session.register("Bob") }
}

/** Arguments of a message from one agent to another. */
function letter(from: TestAgent, to: TestAgent): Record<string, unknown> {
  return {
    sender_name: from.name,
    project_id: from.projectId,
    to_agent_ids: [to.id],
    subject: "Subject",
    body_md: "Body",
  }
}

/** The recipients of a message as its sender sees them, each as `name type`. */
async function recipientsOf(sender: TestAgent, messageId: number): Promise<string[]> {
  const outbox = await sender.session.read(`outbox/${sender.name}`, { project_key: "demo" })
  const sent = outbox.messages as { id: number; recipients: { name: string; type: string }[] }[]
  const found = sent.find((message) => message.id === messageId)
  return (found?.recipients ?? []).map((recipient) => `${recipient.name} ${recipient.type}`)
}

/** Registers as many agents as asked for, all in one session. */
async function crowd(made: World, size: number): Promise<number[]> {
  const session = await made.session({ name: "crowd" })
  const ids: number[] = []
  for (let number = 1; number <= size; number += 1) ids.push((await session.register(`Member${number}`)).id)
  return ids
}

describe("send-message", () => {
  test("returns everything about the message, its ids on lines of their own", async () => {
    const { ada, bob } = await adaAndBob()
    const text = await ada.session.call("send-message", {
      ...letter(ada, bob),
      subject: "Parser",
      importance: "high",
      ack_required: true,
    })
    const id = numberAfter(text, "Message id")
    expect(textAfter(text, "Thread id")).toBe(`thr_${id}`)
    expect(textAfter(text, "Subject")).toBe("Parser")
    expect(textAfter(text, "Importance")).toBe("high")
    expect(textAfter(text, "Sent")).toBe("2026-03-10T12:00:00Z")
    expect(textAfter(text, "Recipients")).toBe("1")
    expect(textAfter(text, "Acknowledgment required")).toBe("yes")
  })

  test("is normal and asks for no acknowledgment unless told otherwise", async () => {
    const { ada, bob } = await adaAndBob()
    const { text } = await send(ada, [bob])
    expect(textAfter(text, "Importance")).toBe("normal")
    expect(textAfter(text, "Acknowledgment required")).toBe("no")
  })

  test("keeps subject and body verbatim", async () => {
    const { ada, bob } = await adaAndBob()
    const body = '  # Title\r\n\n```ts\nconst a = "<b>"\n```\n\ttab, NUL-free, 😀, e\u0301  '
    const { messageId } = await send(ada, [bob], { subject: "  Ünïcode: `x` ", body_md: body })
    const message = await bob.session.read(`message/${messageId}`, { project_key: "demo" })
    expect(message.subject).toBe("  Ünïcode: `x` ")
    expect(message.body_md).toBe(body)
  })

  test("takes the sender's name in any case", async () => {
    const { ada, bob } = await adaAndBob()
    const { messageId } = await send(ada, [bob], { sender_name: "ADA" })
    const message = await bob.session.read(`message/${messageId}`, { project_key: "demo" })
    expect(message.sender).toEqual({ id: ada.id, name: "Ada" })
  })

  test.each([
    ["subject", 200],
    ["body_md", 20_000],
  ])("takes a %s of 1 to %i characters, and refuses more with the figure", async (field, most) => {
    const { ada, bob } = await adaAndBob()
    await send(ada, [bob], { [field]: "x" })
    const { messageId } = await send(ada, [bob], { [field]: "x".repeat(most) })
    const kept = await bob.session.read(`message/${messageId}`, { project_key: "demo" })
    expect(kept[field]).toBe("x".repeat(most))
    const tooLong = await ada.session.fail("send-message", {
      ...letter(ada, bob),
      [field]: "x".repeat(most + 1),
    })
    expect(tooLong).toMatch(new RegExp(`^Failed to send message: ${field} .*${most.toLocaleString("en-US")}`))
  })

  test.each(["", " ", "\n\t "])("refuses %j as subject and as body", async (blank) => {
    const { ada, bob } = await adaAndBob()
    for (const field of ["subject", "body_md"])
      expect(await ada.session.fail("send-message", { ...letter(ada, bob), [field]: blank })).toContain(field)
  })

  test("names the three importances when another one is given", async () => {
    const { ada, bob } = await adaAndBob()
    const text = await ada.session.fail("send-message", { ...letter(ada, bob), importance: "low" })
    expect(text).toMatch(/^Failed to send message: importance .*normal, high, urgent/)
  })
})

describe("recipients", () => {
  test("in several lists are kept once, in the strongest of to, cc and bcc", async () => {
    const { made, ada, bob } = await adaAndBob()
    const cid = await join(made, "Cid")
    const eve = await join(made, "Eve")
    const { messageId, text } = await send(ada, [bob, bob], {
      cc_agent_ids: [cid.id, bob.id, cid.id],
      bcc_agent_ids: [eve.id, cid.id, bob.id],
    })
    expect(await recipientsOf(ada, messageId)).toEqual(["Bob to", "Cid cc", "Eve bcc"])
    expect(textAfter(text, "Recipients")).toBe("3")
  })

  test("named twice get the message once", async () => {
    const { ada, bob } = await adaAndBob()
    await send(ada, [bob, bob], { cc_agent_ids: [bob.id] })
    const inbox = await bob.session.call("fetch-inbox", { agent_name: "Bob", project_id: bob.projectId })
    expect(textAfter(inbox, "Total")).toBe("1")
  })

  test("in to must not be missing altogether", async () => {
    const { ada, bob } = await adaAndBob()
    const text = await ada.session.fail("send-message", {
      ...letter(ada, bob),
      to_agent_ids: [],
      cc_agent_ids: [bob.id],
    })
    expect(text).toMatch(/^Failed to send message: to_agent_ids .*\b1\b/)
  })

  test("may be 50 in all three lists together, and no more", async () => {
    const { made, ada } = await adaAndBob()
    const ids = await crowd(made, 51)
    const lists = {
      to_agent_ids: ids.slice(0, 20),
      cc_agent_ids: ids.slice(20, 40),
      bcc_agent_ids: ids.slice(40, 50),
    }
    const { text } = await send(ada, [], lists)
    expect(textAfter(text, "Recipients")).toBe("50")
    const refusal = await ada.session.fail("send-message", {
      ...letter(ada, ada),
      ...lists,
      bcc_agent_ids: ids.slice(40, 51),
    })
    expect(refusal).toMatch(/^Failed to send message: to_agent_ids.*\b50\b.*\b51\b/)
  })

  test("may be 50 in one list, and no more", async () => {
    const { made, ada } = await adaAndBob()
    const ids = await crowd(made, 51)
    await send(ada, [], { to_agent_ids: ids.slice(0, 50) })
    for (const field of ["to_agent_ids", "cc_agent_ids", "bcc_agent_ids"]) {
      const text = await ada.session.fail("send-message", { ...letter(ada, ada), [field]: ids })
      expect(text).toMatch(new RegExp(`^Failed to send message: ${field} .*\\b50\\b`))
    }
  })

  test("must all exist, else nothing is sent", async () => {
    const { ada, bob } = await adaAndBob()
    for (const field of ["cc_agent_ids", "bcc_agent_ids"]) {
      const text = await ada.session.fail("send-message", { ...letter(ada, bob), [field]: [99] })
      expect(text).toMatch(/^Failed to send message: agent 99 was not found in project "demo"/)
      expect(text).toContain("list-agents")
    }
    const inbox = await bob.session.call("fetch-inbox", { agent_name: "Bob", project_id: bob.projectId })
    expect(textAfter(inbox, "Total")).toBe("0")
  })

  test("must be in the project, else nothing is sent", async () => {
    const { made, ada, bob } = await adaAndBob()
    const stranger = await join(made, "Eve", { project_key: "other" })
    const text = await ada.session.fail("send-message", {
      ...letter(ada, bob),
      to_agent_ids: [bob.id, stranger.id],
    })
    expect(text).toContain(`agent ${stranger.id} was not found in project "demo"`)
    const inbox = await bob.session.call("fetch-inbox", { agent_name: "Bob", project_id: bob.projectId })
    expect(textAfter(inbox, "Total")).toBe("0")
  })

  test("must have a sender of the project, and the likely name is offered", async () => {
    const { made, ada, bob } = await adaAndBob()
    await join(made, "Eve", { project_key: "other" })
    const text = await ada.session.fail("send-message", { ...letter(ada, bob), sender_name: "Eve" })
    expect(text).toMatch(/^Failed to send message: agent "Eve" was not found in project "demo"/)
    const mistyped = await ada.session.fail("send-message", { ...letter(ada, bob), sender_name: "Ada1" })
    expect(mistyped).toContain("Ada?")
  })
})

describe("attachments", () => {
  /** One attachment whose list takes exactly so many bytes of JSON. */
  const attachmentOf = (bytes: number) => [{ n: "x".repeat(bytes - '[{"n":""}]'.length) }]

  test("are kept as they are and shown as metadata", async () => {
    const { ada, bob } = await adaAndBob()
    const attachments = [{ name: "a.png", size: 12, nested: { tags: ["x", null] } }, {}]
    const { messageId } = await send(ada, [bob], { attachments })
    const message = await bob.session.read(`message/${messageId}`, { project_key: "demo" })
    expect(message.attachments).toEqual(attachments)
    const text = await bob.session.call("read-message", {
      agent_name: "Bob",
      project_id: 1,
      message_id: messageId,
    })
    expect(JSON.parse(textAfter(text, "Attachments"))).toEqual(attachments)
  })

  test("are none unless given", async () => {
    const { ada, bob } = await adaAndBob()
    const { messageId } = await send(ada, [bob])
    const message = await bob.session.read(`message/${messageId}`, { project_key: "demo" })
    expect(message.attachments).toEqual([])
  })

  test("may be 20, and no more", async () => {
    const { ada, bob } = await adaAndBob()
    const objects = (count: number) => Array.from({ length: count }, (_, index) => ({ index }))
    await send(ada, [bob], { attachments: objects(20) })
    const text = await ada.session.fail("send-message", { ...letter(ada, bob), attachments: objects(21) })
    expect(text).toMatch(/^Failed to send message: attachments .*\b20\b/)
  })

  test("may take 16 KiB of JSON, and not a byte more", async () => {
    const { ada, bob } = await adaAndBob()
    await send(ada, [bob], { attachments: attachmentOf(16 * 1024) })
    const text = await ada.session.fail("send-message", {
      ...letter(ada, bob),
      attachments: attachmentOf(16 * 1024 + 1),
    })
    expect(text).toMatch(/^Failed to send message: attachments .*16 KiB/)
  })

  test("are counted in bytes, not in characters", async () => {
    const { ada, bob } = await adaAndBob()
    const text = await ada.session.fail("send-message", {
      ...letter(ada, bob),
      attachments: [{ n: "ü".repeat(9_000) }],
    })
    expect(text).toMatch(/^Failed to send message: attachments .*16 KiB/)
  })

  test("must be objects", async () => {
    const { ada, bob } = await adaAndBob()
    for (const attachment of ["text", 1, null, ["x"]]) {
      const text = await ada.session.fail("send-message", {
        ...letter(ada, bob),
        attachments: [{}, attachment],
      })
      expect(text).toMatch(/^Failed to send message: attachments\.1 must be an object/)
    }
  })

  test("of a long message still leave read-message a result of at most 25,000 characters", async () => {
    const { ada, bob } = await adaAndBob()
    const { messageId } = await send(ada, [bob], {
      body_md: "x".repeat(20_000),
      attachments: attachmentOf(16 * 1024),
    })
    const text = await bob.session.call("read-message", {
      agent_name: "Bob",
      project_id: 1,
      message_id: messageId,
    })
    expect(text.length).toBeLessThanOrEqual(25_000)
  })
})
