/** Mail at the command line: people follow agents and answer them, by the rules that agents have. */

import { expect, test } from "vitest"
import { personName, userName } from "../../../src/commands/coordination/identity.ts"
import { inboxCommand, readCommand } from "../../../src/commands/coordination/inbox.ts"
import { releaseCommand, reserveCommand } from "../../../src/commands/coordination/reserve.ts"
import {
  aboveScissors,
  replyCommand,
  type SendOptions,
  sendCommand,
} from "../../../src/commands/coordination/send.ts"
import { createProgram } from "../../../src/commands/program.ts"
import { setContactPolicy } from "../../../src/store/coordination/agents.ts"
import type { World } from "../../support/world.ts"
import {
  agentOf,
  type CommandSurroundings,
  configIn,
  presentWorld,
  refusal,
  run,
  runJson,
  server,
} from "../command.ts"

const ME = personName(userName())

interface Sent {
  status: string
  messages: { id: number; thread_id: string; from: { name: string }; recipients: { name: string }[] }[]
  refused: { name: string; reason: string }[]
}

interface Inbox {
  total: number
  unread: number
  messages: { id: number; from: { name: string }; subject: string; is_read: boolean }[]
}

const send = (
  where: World,
  name: string,
  text: string,
  options: SendOptions = {},
  at?: CommandSurroundings,
) => runJson<Sent>(() => sendCommand(configIn(where, at), name, [text], { ...options, json: true }))
const inbox = (where: World, at?: CommandSurroundings) =>
  runJson<Inbox>(() => inboxCommand(configIn(where, at), { json: true }))
const as = (session: string): CommandSurroundings => ({ env: { SIGNALBOX_SESSION: session } })

/** A world in which the person has written message 1 to BlueLake of session "one", and BlueLake has answered. */
async function answered(options: { importance?: string; ack_required?: boolean } = {}) {
  const where = presentWorld()
  const blue = await (await where.session({ name: "one" })).register("BlueLake")
  await send(where, "BlueLake", "# Naming\n\nkebab-case?")
  await blue.session.call("reply-message", {
    sender_name: "BlueLake",
    project_id: blue.projectId,
    parent_message_id: 1,
    body_md: "Agreed.\n\n✓ \u001b[2Jdone",
    ...options,
  })
  return { where, blue }
}

test("send writes the text as it is, as the person, with its first line as the subject", async () => {
  const where = presentWorld()
  const blue = await (await where.session({ name: "one" })).register("BlueLake")
  const text = "# Naming\n\n  kebab-case, *please*  "
  expect(await send(where, "bluelake", text, { urgent: true, ack: true })).toMatchObject({
    status: "sent",
    messages: [
      { id: 1, thread_id: "thr_1", from: { name: ME, is_person: true }, recipients: [{ name: "BlueLake" }] },
    ],
    refused: [],
  })
  expect(await blue.session.read("message/1", { project_key: "demo" })).toMatchObject({
    sender: { name: ME },
    subject: "Naming",
    body_md: text,
    importance: "urgent",
    ack_required: true,
  })
  await send(where, "BlueLake", "more", { subject: "Own", thread: "thr_1" })
  expect(await blue.session.read("message/2", { project_key: "demo" })).toMatchObject({
    subject: "Own",
    thread_id: "thr_1",
    importance: "normal",
    ack_required: false,
  })
})

test("send acts for the agent of the session that it is typed in, within its project", async () => {
  const where = presentWorld()
  await agentOf(await server(where, "one"), "BlueLake")
  await agentOf(await server(where, "two"), "RedFox")
  await agentOf(await server(where, "three"), "PinkOwl", "other")
  expect(await send(where, "BlueLake", "hi", {}, as("two"))).toMatchObject({
    messages: [{ from: { name: "RedFox", is_person: false } }],
  })
  const across = () => sendCommand(configIn(where, as("two")), "PinkOwl", ["hi"], {})
  expect(await refusal("refused", across)).toContain("RedFox is in another project than other")
  expect(await send(where, "PinkOwl", "hi"), "a person is one in all projects").toMatchObject({
    status: "sent",
  })
  const nobody = () => sendCommand(configIn(where, as("none")), "BlueLake", ["hi"], {})
  expect(await refusal("refused", nobody)).toContain("this session has no agent yet")
})

test("send names what an unknown name likely means, and whom it may mean", async () => {
  const where = presentWorld()
  await agentOf(await server(where, "one"), "BlueLake")
  await agentOf(await server(where, "two"), "BlueLake", "other")
  const to = (name: string, at?: CommandSurroundings) => () =>
    sendCommand(configIn(where, at), name, ["hi"], {})
  expect(await refusal("not_found", to("BlueLak"))).toContain("Did you mean BlueLake?")
  expect(await refusal("refused", to("BlueLake"))).toContain("more than one BlueLake: in demo, other")
  expect(await refusal("refused", to("Signalbox"))).toContain("reads no mail")
  const there = { env: { SIGNALBOX_PROJECT: "other" } }
  expect(await send(where, "BlueLake", "hi", {}, there)).toMatchObject({
    messages: [{ project_key: "other" }],
  })
})

test("send finds an agent from outside of its repository, and has the person join it there", async () => {
  const where = presentWorld()
  await agentOf(await server(where, "one"), "BlueLake")
  const outside = { folder: where.folder }
  expect(await send(where, "BlueLake", "hi", {}, outside)).toMatchObject({
    messages: [{ project_key: "demo" }],
  })
  const everybody = () => sendCommand(configIn(where, outside), "all", ["hi"], {})
  expect(await refusal("invalid", everybody)).toContain("the current folder is in none")
})

test("send keeps the bounds of mail, naming the rule", async () => {
  const where = presentWorld()
  await agentOf(await server(where, "one"), "BlueLake")
  const fails = (text: string, options: SendOptions = {}) =>
    refusal("invalid", () => sendCommand(configIn(where), "BlueLake", [text], options))
  expect(await fails("x".repeat(20_001))).toContain("text must have at most 20,000 characters (got 20,001)")
  expect(await fails(" \n")).toContain("text must not be blank")
  expect(await fails("x", { subject: "s".repeat(201) })).toContain("subject must have at most 200 characters")
  expect(await fails("x", { thread: "no spaces" })).toContain("thread may contain only letters")
  expect(await send(where, "BlueLake", "x".repeat(20_000), { subject: "s".repeat(200) })).toMatchObject({
    status: "sent",
  })
})

test("send all reaches everybody at work who accepts it, and tells and fails by who does not", async () => {
  const where = presentWorld()
  const app = await server(where, "one")
  for (const name of ["BlueLake", "RedFox"]) await agentOf(app, name)
  await agentOf(await server(where, "ended"), "PinkOwl")
  await app.db.run("DELETE FROM server_processes WHERE session = 'client:ended'", [])
  const { id } = await agentOf(app, "GreyElm")
  await setContactPolicy(app.db, id, "block_all")
  const { out, error } = await run(() => sendCommand(configIn(where), "ALL", ["stop"], { json: true }))
  const done = JSON.parse(out) as Sent
  expect(done.status).toBe("partly_sent")
  expect(done.messages.flatMap(({ recipients }) => recipients.map(({ name }) => name)).sort()).toEqual([
    "BlueLake",
    "RedFox",
  ])
  expect(done.refused).toMatchObject([
    { name: "GreyElm", reason: expect.stringContaining("does not accept") },
  ])
  expect(error?.code).toBe("refused")
  expect(error?.text).toMatch(/^1 of 3 recipients did not get it:\n {2}GreyElm does not accept/)
  await setContactPolicy(app.db, id, "contacts_only")
  const alone = await run(() => sendCommand(configIn(where), "GreyElm", ["stop"], { json: true }))
  expect(JSON.parse(alone.out)).toMatchObject({ status: "refused", messages: [] })
  expect(alone.error?.text).toContain(
    "nothing was sent:\n  GreyElm accepts messages from approved contacts only",
  )
  const text = await run(() => sendCommand(configIn(where), "all", ["stop"], {}))
  expect(text.out).toMatch(/✓ Sent to (BlueLake, RedFox|RedFox, BlueLake) /)
  expect(text.error?.code).toBe("refused")
})

test("agents see that a person wrote to them: in the inbox, in the message and in its thread", async () => {
  const { where, blue } = await answered()
  await send(where, "BlueLake", "And this?", { thread: "thr_1" })
  const by = { agent_name: "BlueLake", project_id: blue.projectId }
  expect(await blue.session.call("fetch-inbox", by)).toContain(`, a person), `)
  expect(await blue.session.call("read-message", { ...by, message_id: 3 })).toContain(`, a person), `)
  const thread = await blue.session.call("macro-prepare-thread", { ...by, thread_id: "thr_1" })
  expect(thread).toContain(`${ME} (a person), `)
  expect(thread).not.toContain("BlueLake (a person)")
})

test("send all tells whom it did not reach in one project also where nothing can be written in the next", async () => {
  const where = presentWorld()
  const app = await server(where, "one")
  const red = await (await where.session({ name: "two" })).register("RedFox", { project_key: "other" })
  await red.session.call("send-message", {
    sender_name: "RedFox",
    project_id: red.projectId,
    to_agent_ids: [red.id],
    subject: "Plan",
    body_md: "Mine.",
    thread_id: "plan",
  })
  where.advance(1_000)
  const { id } = await agentOf(app, "BlueLake")
  await setContactPolicy(app.db, id, "block_all")
  const text = await refusal("refused", () =>
    sendCommand(configIn(where), "all", ["stop"], { thread: "plan" }),
  )
  expect(text).toMatch(
    /^nothing was sent:\n {2}BlueLake does not accept .*\n {2}.* takes no part in thread plan/,
  )
})

test("send all goes in messages of at most 50 recipients, and to nobody where nobody is at work", async () => {
  const where = presentWorld()
  const app = await server(where, "one")
  const everybody = () => sendCommand(configIn(where), "all", ["stop"], { json: true })
  await agentOf(await server(where, "ended"), "PinkOwl")
  await app.db.run("DELETE FROM server_processes WHERE session = 'client:ended'", [])
  expect(await refusal("not_found", everybody)).toContain("nobody else is at work here, so nothing was sent")
  const sizes = async () =>
    (await runJson<Sent>(everybody)).messages.map(({ recipients }) => recipients.length)
  for (let number = 1; number <= 50; number += 1) await agentOf(app, `Agent-${number}`)
  expect(await sizes()).toEqual([50])
  await agentOf(app, "Agent-51")
  expect(await sizes()).toEqual([50, 1])
})

test("send says that whom it reached is gone", async () => {
  const where = presentWorld()
  const app = await server(where, "one")
  await agentOf(app, "BlueLake")
  await app.db.run("DELETE FROM server_processes", [])
  const { out } = await run(() => sendCommand(configIn(where), "BlueLake", ["hi"], {}))
  expect(out).toContain("BlueLake is gone, and reads it when that name is taken up again.")
})

test("inbox lists the person's mail of all projects, the newest first, with what is to be noticed, and marks nothing", async () => {
  const { where, blue } = await answered({ importance: "urgent", ack_required: true })
  const red = await (await where.session({ name: "two" })).register("RedFox", { project_key: "other" })
  await send(where, "RedFox", "hello")
  const person = await send(where, "RedFox", "again")
  expect(person.messages[0]?.from.name).toBe(ME)
  await red.session.call("reply-message", {
    sender_name: "RedFox",
    project_id: red.projectId,
    parent_message_id: 3,
    body_md: "hi",
  })
  const listed = await inbox(where)
  expect(listed).toMatchObject({
    total: 2,
    unread: 2,
    messages: [
      {
        subject: "Re: hello",
        from: { name: "RedFox", is_person: false },
        project_key: "other",
        is_read: false,
      },
      { id: 2, subject: "Re: Naming", importance: "urgent", ack_required: true, ack_received_at: null },
    ],
  })
  expect(await inbox(where), "nothing was marked").toEqual(listed)
  const { out } = await run(() => inboxCommand(configIn(where), {}))
  expect(out).toContain("2 messages, 2 unread")
  expect(out).toMatch(
    /● #2 Re: Naming\n {2}BlueLake, .* ago, unread.*\n {2}urgent, waits for your acknowledgment/,
  )
  expect(out).toContain("signalbox read 5")
  expect(out).toContain('signalbox reply 5 "..."')
  const first = await run(() => inboxCommand(configIn(where), { limit: 1 }))
  expect(first.out).not.toContain("#2")
  expect(first.out).toContain("1 older: ")
  expect(await inbox(where, as("one"))).toMatchObject({ messages: [{ id: 1, to_agent_id: blue.id }] })
  expect(await refusal("invalid", () => inboxCommand(configIn(where), { limit: 1, all: true }))).toContain(
    "--all",
  )
})

test("inbox says how mail comes where there is none", async () => {
  const { out } = await run(() => inboxCommand(configIn(presentWorld()), {}))
  expect(out).toContain("No mail yet: agents can write to you once you have written to one")
})

test("read shows a message with its thread, safely, and marks it read; acknowledging it is asked for apart", async () => {
  const { where } = await answered({ ack_required: true })
  const { out } = await run(() => readCommand(configIn(where), 2, {}))
  expect(out).toContain("#2 Re: Naming\nFrom BlueLake to ")
  expect(out).toContain("waits for your acknowledgment")
  expect(out).toContain("\n  Agreed.\n\n  ✓ ␛[2Jdone\n")
  expect(out).toMatch(
    new RegExp(`Thread thr_1, 2 messages:\n {2}#1 ${ME} \\(a person\\), .* ago: # Naming ⏎ kebab-case\\?`),
  )
  expect(out).toContain("signalbox read 2 --ack")
  expect(await inbox(where)).toMatchObject({
    unread: 0,
    messages: [{ is_read: true, ack_received_at: null }],
  })
  const acked = await run(() => readCommand(configIn(where), 2, { ack: true }))
  expect(acked.out).toContain("✓ Acknowledged; BlueLake is told.")
  expect(await runJson(() => readCommand(configIn(where), 2, { json: true }))).toMatchObject({
    id: 2,
    body_md: "Agreed.\n\n✓ \u001b[2Jdone",
    read_at: expect.any(String),
    ack_received_at: expect.any(String),
    thread: { message_count: 2, messages: [{ id: 1, from: { name: ME, is_person: true } }, { id: 2 }] },
  })
  expect(await inbox(where, as("one")), "who asked for it").toMatchObject({ total: 2 })
})

test("read and reply are for one's own mail", async () => {
  const { where } = await answered()
  await agentOf(await server(where, "two"), "RedFox")
  const others = configIn(where, as("two"))
  for (const work of [() => readCommand(others, 2, {}), () => replyCommand(others, 2, ["x"], {})])
    expect(await refusal("refused", work)).toContain("message 2 is not in your mail")
  expect(await refusal("not_found", () => readCommand(others, 99, {}))).toContain("message 99 was not found")
  expect(await refusal("refused", () => readCommand(configIn(where), 1, { ack: true }))).toContain("inbox")
})

test("reply answers in the thread, from whatever folder, and says what still waits", async () => {
  const { where, blue } = await answered({ ack_required: true })
  const outside = configIn(where, { folder: where.folder })
  const { out } = await run(() => replyCommand(outside, 2, ["Thanks,", "all"], { urgent: true }))
  expect(out).toContain("✓ Answered BlueLake (message 3, thread thr_1)")
  expect(out).toContain("Message 2 still waits for your acknowledgment")
  expect(await blue.session.read("message/3", { project_key: "demo" })).toMatchObject({
    subject: "Re: Naming",
    body_md: "Thanks, all",
    importance: "urgent",
    thread_id: "thr_1",
  })
  const json = await runJson<Sent>(() => replyCommand(configIn(where), 2, ["again"], { json: true }))
  expect(json).toMatchObject({ status: "sent", messages: [{ id: 4, recipients: [{ name: "BlueLake" }] }] })
  await run(() => readCommand(configIn(where), 2, { ack: true }))
  const notice = (await inbox(where, as("one"))).messages.find(({ from }) => from.name === "Signalbox")
  const toNotice = () => replyCommand(configIn(where, as("one")), notice?.id ?? 0, ["x"], {})
  expect(await refusal("refused", toNotice)).toContain("signalbox send <agent>")
})

test("what is written in the editor ends above the line that says so", () => {
  const line = "------------------------ >8 ------------------------"
  expect(aboveScissors(`One\n\n  two \n\n\n${line}\nTo BlueLake.\n`)).toBe("One\n\n  two ")
  expect(aboveScissors(`\n\n${line}\nTo BlueLake.\n`)).toBe("")
  expect(aboveScissors("No line\n")).toBe("No line")
})

test("ids are taken as they are shown, and what is none is refused", async () => {
  const where = presentWorld()
  const parse = (...args: string[]) => {
    const program = createProgram().exitOverride()
    return program.parseAsync(["--db", where.databasePath, ...args], { from: "user" })
  }
  await expect(parse("read", "#7")).rejects.toThrow("message 7 was not found")
  for (const [args, text] of [
    [["read", "x"], "inbox` for the ids"],
    [["inbox", "--limit", "0"], "1 to 100"],
    [["inbox", "--limit", "101"], "1 to 100"],
  ] as const)
    await expect(parse(...args)).rejects.toThrow(text)
})

test("whoever stands in the way can be written to by the command that reports name", async () => {
  const where = presentWorld()
  await agentOf(await server(where, "one"), "BlueLake")
  await run(() => reserveCommand(configIn(where, as("one")), ["src"], { mode: "exclusive" }))
  const conflict = await refusal("conflict", () =>
    reserveCommand(configIn(where), ["src/a.ts"], { mode: "exclusive" }),
  )
  expect(conflict).toContain('or write to the holder: signalbox send BlueLake "..."')
  const notYours = await refusal("conflict", () => releaseCommand(configIn(where), ["src"], {}))
  expect(notYours).toContain('Write to the holder: signalbox send BlueLake "..."')
  expect(await send(where, "BlueLake", "...")).toMatchObject({ status: "sent" })
})
