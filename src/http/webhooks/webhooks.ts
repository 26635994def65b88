/** Webhooks over HTTP: people manage them, so a call that speaks for an agent's session is refused. */

import * as z from "zod"
import {
  WEBHOOK_KINDS_MAX,
  WEBHOOK_NAME_CHARS_MAX,
  WEBHOOK_URL_CHARS_MAX,
} from "../../config/webhook-limits.ts"
import { WEBHOOK_FORMATS } from "../../domain/webhooks/webhook.ts"
import { requirePersonOverHttp } from "../../operations/coordination/people.ts"
import type { CallContext } from "../../operations/operation.ts"
import {
  addWebhook,
  allWebhooks,
  pauseWebhookById,
  removeWebhookById,
  resumeWebhookById,
  testWebhookById,
  WEBHOOKS_RULE,
} from "../../operations/webhooks/webhooks.ts"
import { type AnyRoute, defineRoute } from "../route.ts"

const PATH = "/api/v1/webhooks"

const shared = { api: "coordination", permission: "admin", isLimited: true } as const

const parameters = z.object({
  id: z
    .string()
    .regex(/^[1-9]\d{0,14}$/, "must be the id of a webhook")
    .transform(Number),
})

const time = z.iso.datetime().nullable()
const webhookShape = z.object({
  id: z.int(),
  name: z.string(),
  url: z.string().describe("Its beginning: the rest may be a secret"),
  events: z.array(z.string()),
  format: z.enum(WEBHOOK_FORMATS),
  include_content: z.boolean(),
  allow_private: z.boolean(),
  state: z.enum(["active", "failing", "paused"]),
  pause_reason: z.string().nullable().describe("Null where a person paused it"),
  failures: z.int().describe("Tries in a row that failed"),
  last_error: z.string().nullable(),
  next_attempt_at: time,
  last_delivered_at: time,
  after: z.int().describe("The last event that it is done with"),
  created_at: z.iso.datetime(),
})

const list = defineRoute({
  ...shared,
  method: "GET",
  path: PATH,
  summary: "List webhooks, the oldest first",
  responses: { 200: { description: "All of them", schema: z.object({ webhooks: z.array(webhookShape) }) } },
  run: async ({ app }) => ({ status: 200, body: { webhooks: await allWebhooks(app) } }),
})

const add = defineRoute({
  ...shared,
  method: "POST",
  path: PATH,
  summary: "Add a webhook, which is told of what happens from now on",
  body: z.object({
    url: z.string().min(1).max(WEBHOOK_URL_CHARS_MAX).describe("https address of the receiver"),
    name: z.string().min(1).max(WEBHOOK_NAME_CHARS_MAX).optional().describe("Default: its host"),
    events: z
      .array(z.string())
      .min(1)
      .max(WEBHOOK_KINDS_MAX)
      .optional()
      .describe("Kinds, or `message.*`; default: all"),
    format: z.enum(WEBHOOK_FORMATS).default("json"),
    include_content: z.boolean().default(false).describe("Bodies of messages and contents of memories, too"),
    allow_private: z.boolean().default(false).describe("It may be on this machine or in its network"),
  }),
  responses: {
    201: {
      description: "Added; the secret is shown this once only",
      schema: webhookShape.extend({ secret: z.string() }),
    },
    409: { description: "There are as many webhooks as possible" },
  },
  async run(context, { body }) {
    await requirePersonOverHttp(context, WEBHOOKS_RULE)
    const { webhook, secret } = await addWebhook(context.app, {
      url: body.url,
      name: body.name,
      kinds: body.events,
      format: body.format,
      includesContent: body.include_content,
      allowsPrivate: body.allow_private,
    })
    return { status: 201, body: { ...webhook, secret } }
  },
})

const remove = defineRoute({
  ...shared,
  method: "DELETE",
  path: `${PATH}/:id`,
  summary: "Remove a webhook for good",
  parameters,
  responses: { 204: { description: "Removed" } },
  async run(context, { parameters: { id } }) {
    await requirePersonOverHttp(context, WEBHOOKS_RULE)
    await removeWebhookById(context.app, id)
    return { status: 204 }
  },
})

/** Returns a route that does something to a webhook, and answers what came of it. */
function action<Body extends z.ZodRawShape = Record<never, never>>(
  name: string,
  summary: string,
  schema: z.ZodType,
  act: (app: CallContext["app"], id: number, body: z.output<z.ZodObject<Body>>) => Promise<unknown>,
  body?: z.ZodObject<Body>,
): AnyRoute {
  return defineRoute({
    ...shared,
    method: "POST",
    path: `${PATH}/:id/${name}`,
    summary,
    parameters,
    ...(body !== undefined && { body }),
    responses: { 200: { description: "What came of it", schema } },
    async run(context, input) {
      await requirePersonOverHttp(context, WEBHOOKS_RULE)
      return { status: 200, body: await act(context.app, input.parameters.id, input.body) }
    },
  })
}

const outcomeShape = z.object({
  is_delivered: z.boolean(),
  status: z.int().nullable(),
  error: z.string().nullable(),
})

export const webhookRoutes: readonly AnyRoute[] = [
  list,
  add,
  remove,
  action("test", "Send its receiver a letter that tells of nothing", outcomeShape, (app, id) =>
    testWebhookById(app, id),
  ),
  action("pause", "Stop sending, and keep what happens", webhookShape, pauseWebhookById),
  action(
    "resume",
    "Go on sending, with what happened meanwhile unless that is skipped",
    webhookShape,
    (app, id, { skip }) => resumeWebhookById(app, id, skip),
    z.object({ skip: z.boolean().default(false) }),
  ),
]
