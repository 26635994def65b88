/** For whom mail at the command line is sent, read and answered, and whom a key lets it reach. */

import { expect, test } from "vitest"
import { readCommand } from "../../../src/commands/coordination/inbox.ts"
import { replyCommand, type SendOptions, sendCommand } from "../../../src/commands/coordination/send.ts"
import { createKey } from "../../../src/operations/keys.ts"
import type { World } from "../../support/world.ts"
import {
  agentOf,
  type CommandSurroundings,
  configIn,
  presentWorld,
  refusal,
  runJson,
  server,
} from "../command.ts"

const send = (
  where: World,
  name: string,
  text: string,
  options: SendOptions = {},
  at?: CommandSurroundings,
) => runJson(() => sendCommand(configIn(where, at), name, [text], { ...options, json: true }))
const as = (session: string): CommandSurroundings => ({ env: { SIGNALBOX_SESSION: session } })

test("send reaches only those in projects that the key permits, and knows of no others", async () => {
  const where = presentWorld()
  const app = await server(where, "one")
  await agentOf(app, "BlueLake")
  await agentOf(await server(where, "two"), "RedFox", "other")
  const request = { name: "a", environment: "live", plan: "enterprise", expiresAtMs: null } as const
  const { text } = await createKey(app, { ...request, scopes: ["project:demo:coordination"] })
  const at = { env: { SIGNALBOX_API_KEY: text } }
  expect(await send(where, "all", "stop", {}, at)).toMatchObject({
    status: "sent",
    messages: [{ project_key: "demo", recipients: [{ name: "BlueLake" }] }],
  })
  const toOther = () => sendCommand(configIn(where, at), "RedFox", ["stop"], {})
  expect(await refusal("not_found", toOther)).not.toContain("other")
})

test("read and reply act for the agent of a session that the message is to", async () => {
  const where = presentWorld()
  const app = await server(where, "one")
  for (const name of ["BlueLake", "GreyElm"]) await agentOf(app, name)
  await send(where, "BlueLake", "hi")
  await send(where, "GreyElm", "you too", { thread: "thr_1" })
  const read = () => readCommand(configIn(where, as("one")), 2, { json: true })
  expect(await runJson(read)).toMatchObject({ agent_name: "GreyElm", read_at: expect.any(String) })
  const reply = () => replyCommand(configIn(where, as("one")), 2, ["yes"], { json: true })
  expect(await runJson(reply)).toMatchObject({ messages: [{ from: { name: "GreyElm" } }] })
})
