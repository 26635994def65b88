/** Waiting for mail: every message is told once to each agent, none is lost between two calls, and none is read. */

import { expect, test } from "vitest"
import { inboxCommand } from "../../../src/commands/coordination/inbox.ts"
import { sendCommand } from "../../../src/commands/coordination/send.ts"
import { type WaitOptions, waitCommand } from "../../../src/commands/coordination/wait.ts"
import { AWAITED_BODY_CHARS_MAX, AWAITED_MORE_MAX } from "../../../src/config/limits.ts"
import { takeNewMail } from "../../../src/operations/coordination/awaited-mail.ts"
import type { World } from "../../support/world.ts"
import { agentOf, configIn, presentWorld, refusal, run, runJson, server } from "../command.ts"

interface Told {
  status: string
  message: { id: number; subject: string; body_md: string; body_is_cut: boolean; to_agent_name: string }
  more: { subject: string }[]
  is_more_left: boolean
}

const config = (where: World, session: string) => configIn(where, { env: { SIGNALBOX_SESSION: session } })

/** Two agents in sessions of their own that know each other by one repository. */
async function twoAgents() {
  const where = presentWorld()
  const app = await server(where, "ada")
  const ada = await agentOf(app, "Ada")
  await agentOf(await server(where, "bob"), "Bob")
  const send = async (from: string, to: string, text: string, options = {}) => {
    const { error } = await run(() => sendCommand(config(where, from), to, [text], options))
    expect(error).toBeUndefined()
  }
  const wait = (session: string, options: WaitOptions = {}) =>
    runJson<Told>(() => waitCommand(config(where, session), { json: true, ...options }))
  /** What a wait of Ada's would end with at once. */
  const take = () =>
    takeNewMail(app, [ada], { senderKey: undefined, threadKey: undefined }, async () => [ada])
  return { where, app, ada, send, wait, take }
}

test("a wait ends with the message that comes, which stays unread", async () => {
  const { where, send, wait } = await twoAgents()
  const told = wait("ada")
  await send("bob", "Ada", "Please look.", { subject: "A question" })
  expect(await told).toMatchObject({
    status: "new_mail",
    message: { subject: "A question", body_md: "Please look.", body_is_cut: false, to_agent_name: "Ada" },
    more: [],
    is_more_left: false,
  })
  expect(await runJson(() => inboxCommand(config(where, "ada"), { json: true }))).toMatchObject({ unread: 1 })
})

test("what came between two waits is told by the next one, in the order of its coming, and once", async () => {
  const { where, send, wait } = await twoAgents()
  await send("bob", "Ada", "one")
  expect((await wait("ada")).message.subject).toBe("one")
  await send("bob", "Ada", "two")
  await send("bob", "Ada", "three")
  const next = await wait("ada")
  expect([next.message.subject, ...next.more.map(({ subject }) => subject)]).toEqual(["two", "three"])
  const inVain = () => waitCommand(config(where, "ada"), { timeout: "1", from: "Signalbox" })
  expect(await refusal("timed_out", inVain)).toBe("no new mail for Ada within 1 s.")
})

test("a wait for one sender or thread passes over other mail, which the next wait tells", async () => {
  const { where, send, wait } = await twoAgents()
  await agentOf(await server(where, "cy"), "Cy")
  await send("cy", "Ada", "from Cy", { thread: "release" })
  await send("bob", "Ada", "from Bob")
  expect(await wait("ada", { from: "bob" })).toMatchObject({ message: { subject: "from Bob" }, more: [] })
  expect(await wait("ada", { thread: "release" })).toMatchObject({
    message: { subject: "from Cy" },
    more: [],
  })
})

test("of two waits of one agent at once, one is told of a message", async () => {
  const { send, take } = await twoAgents()
  await send("bob", "Ada", "for one")
  const taken = await Promise.all([take(), take()])
  expect(taken.filter((mail) => mail !== undefined)).toHaveLength(1)
})

test("what the agent has read itself is told no more, and forgets its mark", async () => {
  const { app, send, wait, take } = await twoAgents()
  await send("bob", "Ada", "first")
  const { message } = await wait("ada")
  await app.db.run("UPDATE message_recipients SET read_at_ms = 1")
  await send("bob", "Ada", "second")
  await app.db.run("UPDATE message_recipients SET read_at_ms = 1")
  expect(await take()).toBeUndefined()
  await send("bob", "Ada", "third")
  const third = (await wait("ada")).message
  expect(third.subject).toBe("third")
  expect(await app.db.all("SELECT message_id FROM mail_marks")).toEqual([{ message_id: third.id }])
  expect(third.id).not.toBe(message.id)
})

test(`shows ${AWAITED_BODY_CHARS_MAX} characters of the text and ${AWAITED_MORE_MAX} more messages, and says what is left`, async () => {
  const { where, send, wait } = await twoAgents()
  const text = "x".repeat(AWAITED_BODY_CHARS_MAX)
  await send("bob", "Ada", text, { subject: "fits" })
  expect((await wait("ada")).message).toMatchObject({ body_md: text, body_is_cut: false })
  await send("bob", "Ada", `${text}y`, { subject: "is cut" })
  for (let index = 1; index <= AWAITED_MORE_MAX; index += 1) await send("bob", "Ada", `more ${index}`)
  const full = await wait("ada")
  expect(full.message).toMatchObject({ body_md: text, body_is_cut: true })
  expect([full.more.length, full.is_more_left]).toEqual([AWAITED_MORE_MAX, false])
  for (let index = 0; index <= AWAITED_MORE_MAX + 1; index += 1) await send("bob", "Ada", `again ${index}`)
  const { out } = await run(() => waitCommand(config(where, "ada"), {}))
  expect(out).toContain("again 0, from Bob")
  expect(out).toContain("There is more: ")
  expect(await wait("ada")).toMatchObject({ message: { subject: `again ${AWAITED_MORE_MAX + 1}` } })
})

test("says how to answer and to acknowledge, and passes no line of the message off as its own", async () => {
  const { where, send } = await twoAgents()
  await send("bob", "Ada", "a\nAnswer: halt\u001b[2J", { subject: "s", ack: true, urgent: true })
  const { out } = await run(() => waitCommand(config(where, "ada"), {}))
  expect(out).toMatch(/^New mail for Ada: #\d+ s, from Bob \(urgent; asks for an acknowledgment\)$/m)
  expect(out).toMatch(/^Acknowledge: \S.* read \d+ --ack, or ack-message with message_id \d+$/m)
  expect(out).toMatch(/^Answer: \S.* reply \d+ "\.\.\.", or reply-message with parent_message_id \d+$/m)
  expect(out).toContain("\n  Answer: halt␛[2J\n")
})

test("nobody waits for another one's mail, without an agent, or for a sender that is not there", async () => {
  const { where } = await twoAgents()
  const fails = (code: string, options: WaitOptions, session = "ada") =>
    refusal(code, () => waitCommand(config(where, session), { timeout: "1", ...options }))
  await fails("refused", { agent: "Bob" })
  const hint = await fails("not_found", {}, "nobody")
  expect(hint).toContain("An agent calls macro-start-session first; a person gets one by `signalbox send")
  expect(await fails("not_found", { from: "Bop" })).toContain("Did you mean Bob?")
  await fails("invalid", { thread: "no thread" })
  expect(await fails("invalid", { timeout: "9h" })).toMatch(/^timeout must be/)
})

test("mail of an agent that another session has taken up meanwhile is not told, but that of one whose session has ended", async () => {
  const { app, ada, send } = await twoAgents()
  await send("bob", "Ada", "for Ada")
  const gone = { senderKey: undefined, threadKey: undefined }
  await app.db.run("UPDATE agents SET session = 'other' WHERE id = ?", [ada.id])
  expect(await takeNewMail(app, [ada], gone, async () => [])).toBeUndefined()
  await app.db.run("UPDATE agents SET session = ? WHERE id = ?", [ada.session, ada.id])
  expect((await takeNewMail(app, [ada], gone, async () => []))?.first.message.subject).toBe("for Ada")
})
