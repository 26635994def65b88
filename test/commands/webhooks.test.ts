/** `signalbox webhooks`, and what status and doctor say of webhooks: for people, with nothing of the secrets. */

import { Readable } from "node:stream"
import { Webhook as Verifier } from "standardwebhooks"
import { describe, expect, test, vi } from "vitest"
import { checkWebhooks } from "../../src/commands/doctor-webhooks.ts"
import { createProgram } from "../../src/commands/program.ts"
import { statusCommand } from "../../src/commands/status.ts"
import {
  addWebhookCommand,
  listWebhooksCommand,
  pauseWebhookCommand,
  removeWebhookCommand,
  resumeWebhookCommand,
  testWebhookCommand,
} from "../../src/commands/webhooks/webhooks.ts"
import {
  WEBHOOK_KINDS_MAX,
  WEBHOOK_NAME_CHARS_MAX,
  WEBHOOK_URL_CHARS_MAX,
  WEBHOOKS_MAX,
} from "../../src/config/webhook-limits.ts"
import type { App } from "../../src/operations/app.ts"
import { createKey } from "../../src/operations/keys.ts"
import type { ShownWebhook } from "../../src/operations/webhooks/webhooks.ts"
import { findWebhook, noteFailed, noteFailedForGood } from "../../src/store/webhooks.ts"
import { receiver } from "../support/receiver.ts"
import type { World } from "../support/world.ts"
import {
  agentOf,
  type CommandSurroundings,
  configIn,
  presentWorld,
  refusal,
  run,
  runJson,
  server,
} from "./command.ts"

const URL_ = "https://hooks.example.com/services/T0/B0/very-secret"

function add(where: World, options: Record<string, unknown> = {}, url = URL_, at: CommandSurroundings = {}) {
  return runJson<ShownWebhook & { secret: string }>(() =>
    addWebhookCommand(configIn(where, at), url, { format: "json", json: true, ...options }),
  )
}

const list = (where: World) =>
  runJson<ShownWebhook[]>(() => listWebhooksCommand(configIn(where), { json: true }))

/** Lets the deliveries of a webhook fail, for good with a reason. */
async function fail({ db }: App, id: number, reason?: string) {
  await db.transaction("webhooks", async (tx) => {
    const webhook = await findWebhook(tx, id)
    if (webhook === undefined) throw new Error("no such webhook")
    const failure = { failures: 3, error: "it answered 500" }
    if (reason === undefined) await noteFailed(tx, webhook, failure, Date.now() + 60_000)
    else await noteFailedForGood(tx, webhook, failure, reason)
  })
}

describe("a webhook", () => {
  test("is added with a secret that is shown once, and listed without it and without the end of its address", async () => {
    const where = presentWorld()
    const made = await add(where, { name: "ci", events: ["message.*", "key.created"], includeContent: true })
    expect(made.secret).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/)
    expect(await list(where)).toMatchObject([
      {
        id: 1,
        name: "ci",
        url: "https://hooks.example.com/serv…",
        events: ["message.*", "key.created"],
        format: "json",
        include_content: true,
        allow_private: false,
        state: "active",
        last_delivered_at: null,
      },
    ])
    await add(where, {}, "https://token:secret@example.com")
    const { out } = await run(() => listWebhooksCommand(configIn(where), {}))
    expect(out).toMatch(/^2 +example\.com +https:\/\/example\.com +\* +json +active +never$/m)
    for (const hidden of ["very-secret", "token", made.secret]) expect(out).not.toContain(hidden)
  })

  test("is added by an address from stdin, which no list of processes shows", async () => {
    const where = presentWorld()
    vi.spyOn(process, "stdin", "get").mockReturnValue(Readable.from([Buffer.from(`${URL_}\n`)]) as never)
    await add(where, {}, "-")
    vi.restoreAllMocks()
    expect(await list(where)).toMatchObject([{ url: "https://hooks.example.com/serv…" }])
  })

  test.each<[string, string, Record<string, unknown>]>([
    ["url must be the https address", "no address", {}],
    ["url must be the https address", "file:///etc/passwd", {}],
    ["url must begin with https://", "http://localhost:80/x", {}],
    ["url must have at most", `https://example.com/${"x".repeat(WEBHOOK_URL_CHARS_MAX - 19)}`, {}],
    ["url must end with a topic", "https://ntfy.sh/", { format: "ntfy" }],
    ["name must have 1 to 100", URL_, { name: " " }],
    ["name must have 1 to 100", URL_, { name: "x".repeat(WEBHOOK_NAME_CHARS_MAX + 1) }],
    ["events must be 1 to 100 kinds", URL_, { events: Array(WEBHOOK_KINDS_MAX + 1).fill("key.*") }],
    ["events must be 1 to 100 kinds", URL_, { events: [] }],
    ['events "message" is no kind', URL_, { events: ["message"] }],
    ['events "contact.requested" is no kind', URL_, { events: ["contact.requested"] }],
    ['events "contact.*" is no kind', URL_, { events: ["contact.*"] }],
  ])("is refused: %s", async (reason, url, options) => {
    const where = presentWorld()
    const { error } = await run(() => addWebhookCommand(configIn(where), url, { format: "json", ...options }))
    expect(error).toMatchObject({ code: "invalid" })
    expect(error?.text).toContain(reason)
    expect(error?.text).not.toContain("example.com")
  })

  test("may be as long as the limits, and there are as many as they allow", async () => {
    const where = presentWorld()
    const longest = `https://example.com/${"x".repeat(WEBHOOK_URL_CHARS_MAX - 20)}`
    const events = Array(WEBHOOK_KINDS_MAX).fill("key.*")
    await add(where, { name: "x".repeat(WEBHOOK_NAME_CHARS_MAX), events }, longest)
    const app = await server(where, "one")
    await app.db.transaction("webhooks", async (tx) => {
      for (let count = 1; count < WEBHOOKS_MAX - 1; count += 1)
        await tx.run(
          "INSERT INTO webhooks SELECT NULL, name, url, secret, kinds, format, 0, 0, 0, 0, NULL, 0, 0, NULL, NULL, 0 FROM webhooks WHERE id = 1",
        )
    })
    expect(await add(where)).toMatchObject({ id: WEBHOOKS_MAX })
    const text = await refusal("conflict", () => addWebhookCommand(configIn(where), URL_, { format: "json" }))
    expect(text).toContain(`there are ${WEBHOOKS_MAX} webhooks already`)
  })

  test("is tried, whatever its state, and told what went wrong", async () => {
    const where = presentWorld()
    const to = await receiver()
    const { id, secret } = await add(where, { allowPrivate: true }, to.url)
    const tryIt = (json: boolean) => testWebhookCommand(configIn(where), id, { json })
    expect(await runJson(() => tryIt(true))).toEqual({ is_delivered: true, status: 204, error: null })
    const [letter] = to.received
    expect(new Verifier(secret).verify(letter?.body ?? "", letter?.headers ?? {})).toMatchObject({
      type: "webhook.test",
      data: { webhook_id: id },
    })
    to.answer = (response) => response.writeHead(307, { location: "/" }).end()
    expect(await refusal("unavailable", () => tryIt(false))).toContain(
      `webhook ${id} cannot be delivered to: it answered 307, and redirects are not followed`,
    )
    expect(await list(where)).toMatchObject([{ state: "active", failures: 0 }])
  })

  test("is paused, resumed and removed by its id", async () => {
    const where = presentWorld()
    const { id } = await add(where)
    const at = configIn(where)
    await run(() => pauseWebhookCommand(at, id, {}))
    expect(await list(where)).toMatchObject([{ state: "paused", pause_reason: null }])
    await run(() => resumeWebhookCommand(at, id, { skip: true }))
    expect(await list(where)).toMatchObject([{ state: "active" }])
    expect(await runJson(() => removeWebhookCommand(at, id, { json: true }))).toEqual({ id, removed: true })
    for (const command of [
      testWebhookCommand,
      pauseWebhookCommand,
      resumeWebhookCommand,
      removeWebhookCommand,
    ])
      expect(await refusal("not_found", () => command(at, id, {}))).toContain(`webhook ${id} was not found`)
    expect((await run(() => listWebhooksCommand(at, {}))).out).toContain("No webhooks.")
  })
})

describe("whoever is no person with an admin key", () => {
  const asked = (where: World, at: CommandSurroundings) => {
    const config = configIn(where, at)
    return [
      () => addWebhookCommand(config, URL_, { format: "json" }),
      ...[testWebhookCommand, pauseWebhookCommand, resumeWebhookCommand, removeWebhookCommand].map(
        (command) => () => command(config, 1, {}),
      ),
    ]
  }

  test("is refused inside the session of an agent, also of one that has not registered yet", async () => {
    const where = presentWorld()
    await add(where)
    await agentOf(await server(where, "one"), "BlueLake")
    for (const [session, who] of [
      ["one", "BlueLake is an agent"],
      ["unheard-of", "this is a coding agent's session"],
    ] as const)
      for (const ask of asked(where, { env: { SIGNALBOX_SESSION: session } }))
        expect(await refusal("forbidden", ask)).toContain(`${who}, and webhooks are managed by people`)
    expect(await list(where)).toMatchObject([{ id: 1, state: "active" }])
  })

  test("is refused without the scope", async () => {
    const where = presentWorld()
    const app = await server(where, "one")
    const { text } = await createKey(app, {
      name: "narrow",
      environment: "live",
      scopes: ["project:demo:coordination"],
      plan: "starter",
      expiresAtMs: null,
    })
    const at = { env: { SIGNALBOX_API_KEY: text } }
    for (const ask of [...asked(where, at), () => listWebhooksCommand(configIn(where, at), {})])
      expect(await refusal("forbidden", ask)).toContain("required scope: admin")
  })
})

test("status and doctor name webhooks that fail and that are paused, and say nothing where there are none", async () => {
  const where = presentWorld()
  const app = await server(where, "one")
  expect(await checkWebhooks(configIn(where))).toEqual([])
  expect((await run(() => statusCommand(configIn(where), {}))).out).not.toContain("Webhooks")
  for (let count = 1; count <= 3; count += 1) await add(where, { name: `hook-${count}` })
  expect(await checkWebhooks(configIn(where))).toEqual([
    { about: "webhooks", state: "ok", text: "3 webhooks" },
  ])
  await fail(app, 2)
  await fail(app, 3, "its deliveries failed for a day")
  expect(await checkWebhooks(configIn(where))).toMatchObject([
    {
      state: "warning",
      text: "webhook 2 (hook-2, https://hooks.example.com/serv…) fails and is tried again: it answered 500",
    },
    { state: "problem", text: expect.stringContaining("is paused, because its deliveries failed for a day") },
  ])
  const { out } = await run(() => statusCommand(configIn(where), {}))
  expect(out).toMatch(/Webhooks +1 active, 1 failing, 1 paused; \S.* webhooks list says why/)
  const shown = await run(() => statusCommand(configIn(where), { json: true }))
  expect(shown.out).not.toContain("very-secret")
  expect(JSON.parse(shown.out)).toMatchObject({
    activity: {
      webhooks: [
        { id: 1, state: "active" },
        { id: 2, state: "failing", last_error: "it answered 500" },
        { id: 3, state: "paused", pause_reason: "its deliveries failed for a day" },
      ],
    },
  })
  const { out: listed } = await run(() => listWebhooksCommand(configIn(where), {}))
  expect(listed).toContain("paused: its deliveries failed for a day; it answered 500")
})

test("the command line reads kinds, formats and ids", async () => {
  const where = presentWorld()
  vi.stubEnv("SIGNALBOX_DB", where.databasePath)
  vi.stubEnv("HOME", where.folder)
  const webhooks = (...args: string[]) =>
    run(async () => {
      await createProgram().parseAsync(["webhooks", ...args], { from: "user" })
    })
  for (const name of ["SIGNALBOX_SESSION", "CLAUDE_CODE_SESSION_ID"]) vi.stubEnv(name, undefined)
  const { out } = await webhooks(
    "add",
    "https://ntfy.sh/topic",
    "--format",
    "ntfy",
    "--events",
    "key.*, message.sent",
    "--json",
  )
  expect(JSON.parse(out)).toMatchObject({ format: "ntfy", events: ["key.*", "message.sent"] })
  expect(JSON.parse((await webhooks("pause", "#1", "--json")).out)).toMatchObject({ state: "paused" })
  expect(JSON.parse((await webhooks("resume", "1", "--skip", "--json")).out)).toMatchObject({
    state: "active",
  })
  vi.unstubAllEnvs()
})
