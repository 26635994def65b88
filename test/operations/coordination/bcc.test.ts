/**
 * A bcc recipient is shown to nobody. Most tests here act out the same scene twice, once with Evelyn in
 * bcc and once without her, and compare everything that tools and resources show: it must be the same.
 */

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

const PROJECT = { project_key: "demo" }
const PROFILE = { ...PROJECT, program: "p", model: "m" }
const DAY_AND_HOUR_MS = 25 * 3_600_000

type Cast = Record<"ada" | "bob" | "cid" | "evelyn", TestAgent> & { made: World; messageId: number }
type Probe = [name: string, args: Record<string, unknown>]

/**
 * Ada, who works in no repository and may thus write to all, sends to Bob with a copy to Cid, and with
 * or without a blind copy to Evelyn, who works elsewhere. A day and an hour later everybody looks.
 */
async function scene({ hidden }: { hidden: boolean }): Promise<Cast> {
  const made = world()
  const [plain, other] = [join(made.folder, "plain"), join(made.folder, "other")]
  mkdirSync(plain)
  execFileSync("git", ["init", "--quiet", other])
  const home = await made.session({ name: "home" })
  const [bob, cid] = [await home.register("Bob"), await home.register("Cid")]
  const evelyn = await (await made.session({ workingFolder: other })).register("Evelyn")
  const away = await made.session({ workingFolder: plain })
  const profile = await away.call("register-agent", { ...PROFILE, name_hint: "Ada" })
  const ada = { ...bob, session: away, name: "Ada", id: numberAfter(profile, "Agent id") }
  const { messageId } = await send(ada, [bob], {
    cc_agent_ids: [cid.id],
    ...(hidden ? { bcc_agent_ids: [evelyn.id] } : {}),
    thread_id: "plan",
    subject: "Plan",
    body_md: "The needle is in the hay. Bob will sew by Friday. We decided to use thread.",
    importance: "urgent",
    ack_required: true,
  })
  made.advance(DAY_AND_HOUR_MS)
  await as(evelyn, "fetch-inbox", { agent_name: "Evelyn" })
  return { made, ada, bob, cid, evelyn, messageId }
}

/** The scene with Evelyn in bcc, after she has read and acknowledged the message in every way there is. */
async function acknowledgedScene(): Promise<Cast> {
  const cast = await scene({ hidden: true })
  const { evelyn, messageId } = cast
  await as(evelyn, "read-message", { agent_name: "Evelyn", message_id: messageId })
  await as(evelyn, "macro-prepare-thread", { agent_name: "Evelyn", thread_id: "plan" })
  await as(evelyn, "ack-message", { agent_name: "Evelyn", message_id: messageId })
  return cast
}

function as(agent: TestAgent, tool: string, args: Record<string, unknown>): Promise<string> {
  return agent.session.call(tool, { project_id: agent.projectId, ...args })
}

/** What a tool says, be it a result or an error. */
async function toolText(session: Session, name: string, args: Record<string, unknown>): Promise<string> {
  const result = await session.client.callTool({ name, arguments: args })
  return result.content.map((part) => (part.type === "text" ? part.text : "")).join("\n")
}

/** Calls that change nothing that others see. */
function readingProbes({ bob, messageId }: Cast): Probe[] {
  const project = { project_id: bob.projectId }
  const plan = { ...project, thread_id: "plan" }
  return [
    ["whois", { ...PROJECT, agent_name: "Evelyn" }],
    ["list-agents", PROJECT],
    ["get-thread-messages", plan],
    ["get-thread-participants", plan],
    ["get-action-items", plan],
    ["summarize-thread", plan],
    ["summarize-threads", { ...project, thread_ids: ["plan"] }],
    ["search-messages", { ...project, query: "needle Evelyn acknowledged" }],
    ["search-messages", { ...project, query: "needle", recipient_name: "Evelyn" }],
    ["search-messages", { ...project, query: "acknowledged", sender_name: "Ada" }],
    ["search-threads", project],
    ["search-threads", { ...project, query: "needle Evelyn acknowledged" }],
    ["search-threads", { ...project, participant_name: "Evelyn" }],
    ["search-threads", { ...project, query: "needle", participant_name: "Evelyn" }],
    ["get-latest-updates", project],
    ["get-latest-updates", { ...project, agent_name: "Evelyn" }],
    ["list-contacts", { ...project, agent_name: "Ada" }],
    ["list-contacts", { ...project, agent_name: "Evelyn" }],
    ["list-file-reservations", { coordination_project_id: bob.projectId }],
    ["fetch-inbox", { ...project, agent_name: "Bob", include_bodies: true }],
    ["fetch-inbox", { ...project, agent_name: "Cid", urgent_only: true }],
    ["read-message", { ...project, agent_name: "Ada", message_id: messageId }],
    ["read-message", { ...project, agent_name: "Bob", message_id: messageId }],
    ["macro-prepare-thread", { ...plan, agent_name: "Ada" }],
    ["macro-prepare-thread", { ...plan, agent_name: "Cid" }],
  ]
}

/** Calls that write, in an order in which each can be made; numbers in their results may differ. */
function writingProbes({ ada, bob, messageId }: Cast): Probe[] {
  const project = { project_id: bob.projectId }
  const bobs = { ...project, agent_name: "Bob" }
  const pair = { ...project, requester_name: "Bob", recipient_name: "Cid", reason: "r" }
  const files = { agent_id: bob.id, coordination_project_id: bob.projectId }
  return [
    ["macro-start-session", { ...PROFILE, name_hint: "Bob" }],
    ["macro-claim-cycle", { ...bobs, repository_id: bob.repositoryId, file_paths: ["b.ts"] }],
    ["reserve-file-paths", { ...files, repository_id: bob.repositoryId, path_pattern: "a.ts" }],
    ["release-file-reservations", files],
    ["request-contact", pair],
    ["respond-contact", { ...bobs, contact_request_id: 1, approved: true }],
    ["macro-contact-handshake", pair],
    ["set-contact-policy", { ...bobs, contact_policy: "open" }],
    ["block-agent", { ...project, blocker_name: "Bob", blocked_name: "Evelyn" }],
    ["ack-message", { ...bobs, message_id: messageId, response_text: "Yes" }],
    ["reply-message", { ...project, sender_name: "Bob", parent_message_id: messageId, body_md: "All right" }],
    [
      "send-message",
      {
        ...project,
        sender_name: "Bob",
        to_agent_ids: [ada.id],
        subject: "s",
        body_md: "b",
        thread_id: "plan",
      },
    ],
    ["register-agent", PROFILE],
  ]
}

/** Ada looks for herself; everything else is tried by Bob, also what is Evelyn's. */
function looker({ ada, bob }: Cast, named: unknown): Session {
  return named === "Ada" ? ada.session : bob.session
}

async function toolTexts(cast: Cast): Promise<Record<string, string>> {
  const texts: Record<string, string> = {}
  for (const [name, args] of readingProbes(cast))
    texts[`${name} ${JSON.stringify(args)}`] = await toolText(looker(cast, args.agent_name), name, args)
  for (const [name, args] of writingProbes(cast)) {
    // The newcomer's name is drawn.
    const text = name === "register-agent" ? "" : await toolText(cast.bob.session, name, args)
    texts[`${name} ${JSON.stringify(args)}`] = text.replace(/\d+/g, "#")
  }
  return texts
}

function resourceProbes({ messageId }: Cast): [path: string, query: Record<string, string>][] {
  const views = ["views/urgent-unread", "views/ack-required", "views/ack-overdue"]
  return [
    ["tools", {}],
    ["inbox/Bob", PROJECT],
    ["inbox/Cid", PROJECT],
    ["outbox/Bob", PROJECT],
    ["outbox/Evelyn", PROJECT],
    ["thread/plan", PROJECT],
    [`message/${messageId}`, PROJECT],
    ["file-reservations", PROJECT],
    ["agents", PROJECT],
    ["contacts", { ...PROJECT, agent: "Ada" }],
    ["contacts", { ...PROJECT, agent: "Evelyn" }],
    ...views.map((path): [string, Record<string, string>] => [path, PROJECT]),
    ...views.map((path): [string, Record<string, string>] => [path, { ...PROJECT, agent: "Ada" }]),
    ...views.map((path): [string, Record<string, string>] => [path, { ...PROJECT, agent: "Bob" }]),
  ]
}

async function resourceContents(cast: Cast): Promise<Record<string, unknown>> {
  const contents: Record<string, unknown> = {}
  for (const [path, query] of resourceProbes(cast))
    contents[`${path} ${JSON.stringify(query)}`] = await looker(cast, query.agent)
      .read(path, query)
      .catch((error: Error) => {
        expect(error.message).toContain("Evelyn (test-program, ")
        return error.message
      })
  return contents
}

describe("somebody in bcc", () => {
  test("is revealed by no tool", async () => {
    const [hidden, absent] = [await scene({ hidden: true }), await scene({ hidden: false })]
    expect(await toolTexts(hidden)).toEqual(await toolTexts(absent))
  })

  test("is revealed by no tool after having read and acknowledged", async () => {
    const [hidden, absent] = [await acknowledgedScene(), await scene({ hidden: false })]
    expect(await toolTexts(hidden)).toEqual(await toolTexts(absent))
  })

  test("is revealed by no resource", async () => {
    const [hidden, absent] = [await scene({ hidden: true }), await scene({ hidden: false })]
    expect(await resourceContents(hidden)).toEqual(await resourceContents(absent))
  })

  test("is revealed by no resource after having read and acknowledged", async () => {
    const [hidden, absent] = [await acknowledgedScene(), await scene({ hidden: false })]
    expect(await resourceContents(hidden)).toEqual(await resourceContents(absent))
  })

  test("is named by the notification to the sender alone, which is nobody else's to see", async () => {
    const { ada, bob } = await acknowledgedScene()
    const inbox = await as(ada, "fetch-inbox", { agent_name: "Ada" })
    const [messageId, threadId] = [textAfter(inbox, "Message id"), textAfter(inbox, "Thread id")]
    expect(inbox).toContain("Evelyn")
    const thread = { project_id: bob.projectId, thread_id: threadId }
    for (const tool of [
      "get-thread-messages",
      "get-thread-participants",
      "summarize-thread",
      "get-action-items",
    ])
      expect(await toolText(bob.session, tool, thread), tool).not.toContain("Evelyn")
    for (const path of [
      "outbox/Signalbox",
      "inbox/Signalbox",
      `thread/${threadId}`,
      `message/${messageId}`,
    ]) {
      const shown = await bob.session.read(path, PROJECT).then(JSON.stringify, String)
      expect(shown, path).not.toContain("Evelyn")
    }
  })

  test("is revealed to nobody by the search for what Signalbox sent", async () => {
    const { bob } = await acknowledgedScene()
    const search = { project_id: bob.projectId, query: "acknowledged", sender_name: "Signalbox" }
    expect(await toolText(bob.session, "search-messages", search)).not.toContain("Evelyn")
  })

  test("is revealed to nobody by the contact request that a refused send files", async () => {
    const { bob, evelyn } = await scene({ hidden: false })
    const letter = { sender_name: "Bob", project_id: bob.projectId, subject: "Sewing", body_md: "b" }
    const lists = { to_agent_ids: [bob.id], bcc_agent_ids: [evelyn.id] }
    expect(await bob.session.fail("send-message", { ...letter, ...lists })).toContain("Evelyn has to approve")
    const project = { project_id: bob.projectId }
    for (const tool of ["search-messages", "search-threads"])
      expect(await toolText(bob.session, tool, { ...project, query: "sewing contact" }), tool).not.toContain(
        "Evelyn",
      )
  })

  test("is shown in the sender's outbox", async () => {
    const { ada, evelyn } = await scene({ hidden: true })
    const { messages } = await ada.session.read("outbox/Ada", PROJECT)
    const [sent] = messages as { recipients: unknown[] }[]
    expect(sent?.recipients).toContainEqual({ id: evelyn.id, name: "Evelyn", type: "bcc" })
  })

  test("has the message as an ordinary one in the own inbox, with to and cc only", async () => {
    const { evelyn, messageId } = await scene({ hidden: true })
    const inbox = await as(evelyn, "fetch-inbox", { agent_name: "Evelyn", include_bodies: true })
    expect(textAfter(inbox, "Importance")).toBe("urgent; unread, acknowledgment required")
    expect(inbox).toContain("needle")
    const text = await as(evelyn, "read-message", { agent_name: "Evelyn", message_id: messageId })
    expect(textAfter(text, "To")).toBe("Bob")
    expect(textAfter(text, "Cc")).toBe("Cid")
    for (const shown of [inbox, text]) expect(shown).not.toMatch(/bcc/i)
    const { messages } = await evelyn.session.read("inbox/Evelyn", PROJECT)
    expect(messages).toMatchObject([
      { id: messageId, is_read: true, ack_required: true, ack_received_at: null },
    ])
  })

  test("finds the message in the own views of what waits", async () => {
    const { evelyn, messageId } = await scene({ hidden: true })
    for (const view of ["urgent-unread", "ack-required", "ack-overdue"]) {
      const { messages } = await evelyn.session.read(`views/${view}`, { ...PROJECT, agent: "Evelyn" })
      expect(messages, view).toMatchObject([{ id: messageId }])
    }
  })

  test("does not see who else is in bcc", async () => {
    const { made, ada, bob, evelyn } = await scene({ hidden: true })
    const fritz = await (await made.session()).register("Fritz")
    const { messageId, threadId } = await send(ada, [bob], { bcc_agent_ids: [evelyn.id, fritz.id] })
    await as(fritz, "ack-message", { agent_name: "Fritz", message_id: messageId })
    const mine = { agent_name: "Evelyn", message_id: messageId, thread_id: threadId }
    const { agent_name, message_id, thread_id } = mine
    for (const shown of [
      await as(evelyn, "read-message", { agent_name, message_id }),
      await as(evelyn, "macro-prepare-thread", { agent_name, thread_id }),
      await as(evelyn, "fetch-inbox", { agent_name, include_bodies: true }),
    ])
      expect(shown).not.toContain("Fritz")
  })

  test("is matched by recipient_name only where addressed in to or cc", async () => {
    const { ada, evelyn } = await scene({ hidden: true })
    const visible = await send(ada, [evelyn], { body_md: "needle" })
    const search = { query: "needle", recipient_name: "Evelyn" }
    const text = await as(evelyn, "search-messages", search)
    expect(textAfter(text, "Results")).toBe("1")
    expect(textAfter(text, "Message id")).toBe(String(visible.messageId))
  })

  test("shares no thread with its visible participants, so auto keeps them apart both ways", async () => {
    const { bob, evelyn } = await scene({ hidden: true })
    for (const [from, to] of [
      [bob, evelyn],
      [evelyn, bob],
    ] as const) {
      const letter = { sender_name: from.name, project_id: from.projectId, subject: "s", body_md: "b" }
      const text = await from.session.fail("send-message", { ...letter, to_agent_ids: [to.id] })
      expect(text).toContain("approve you as a contact")
    }
  })

  test("is left out of replies by the sender and by recipients", async () => {
    const { ada, bob, evelyn, messageId } = await scene({ hidden: true })
    for (const replier of [ada, bob])
      await as(replier, "reply-message", {
        sender_name: replier.name,
        parent_message_id: messageId,
        body_md: "b",
      })
    expect(textAfter(await as(evelyn, "fetch-inbox", { agent_name: "Evelyn" }), "Total")).toBe("1")
  })
})

describe("the probes", () => {
  test("call every coordination tool", async () => {
    const cast = await scene({ hidden: false })
    const { tools } = await cast.bob.session.read("tools")
    const names = (tools as { name: string }[]).map((tool) => tool.name)
    const probed = [...readingProbes(cast), ...writingProbes(cast)].map(([name]) => name)
    expect(names).toHaveLength(28)
    expect([...new Set(probed)].sort()).toEqual(names.sort())
  })

  test("read every resource", async () => {
    const cast = await scene({ hidden: false })
    const { resources } = await cast.bob.session.client.listResources()
    const { resourceTemplates } = await cast.bob.session.client.listResourceTemplates()
    const uris = [
      ...resources.map(({ uri }) => uri),
      ...resourceTemplates.map(({ uriTemplate }) => uriTemplate),
    ]
    expect(uris).toHaveLength(11)
    const probed = resourceProbes(cast).map(([path]) => `signalbox://coordination/${path}`)
    for (const uri of uris)
      expect(
        probed.some((path) => path.startsWith(uri.replace(/\{.*/, ""))),
        uri,
      ).toBe(true)
  })
})
