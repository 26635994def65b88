/** The events over HTTP: a stream for those who follow, JSON for those who poll. */

import * as z from "zod"
import { EVENTS_LISTED_DEFAULT, EVENTS_LISTED_MAX } from "../../config/event-limits.ts"
import { toldEvent } from "../../domain/events/told.ts"
import { type AdmittedReader, admitReader } from "../../operations/events/readers.ts"
import {
  newestEvent,
  readEventsAfter,
  readLatestEvents,
  resetAfter,
} from "../../operations/events/reading.ts"
import type { CallContext } from "../../operations/operation.ts"
import { type Answer, type AnyRoute, defineRoute } from "../route.ts"
import { openEventStream, STREAM_HEADERS, type StreamTimes } from "./stream.ts"

const idText = z
  .string()
  .regex(/^\d{1,15}$/, "must be the id of an event")
  .transform(Number)

const eventShape = z.object({
  id: z.int(),
  kind: z.string(),
  time: z.iso.datetime(),
  project: z.object({ id: z.int(), key: z.string() }).nullable(),
  repository: z.object({ id: z.int(), name: z.string() }).nullable(),
  actor: z.object({ agent_id: z.int().optional(), name: z.string() }).nullable(),
  data: z.record(z.string(), z.unknown()),
})

const pageShape = z.object({
  events: z.array(eventShape),
  next_after: z.int().describe("What `after` is to be in the next call"),
  has_more: z.boolean().describe("Whether to call again at once"),
  reset: z
    .object({ reason: z.enum(["pruned", "unknown"]), resume_after: z.int() })
    .optional()
    .describe("The id in `after` leads nowhere any more; the events are those after this one"),
})

/** Returns the routes of the events; times are the streams'. */
export function eventRoutes(times: StreamTimes = {}): AnyRoute[] {
  return [listRoute(times)]
}

const listRoute = (times: StreamTimes) =>
  defineRoute({
    method: "GET",
    path: "/api/v1/events",
    api: "coordination",
    summary: "What happened, as far as the key may see it",
    description:
      "With `Accept: text/event-stream` a stream that goes on (Server-Sent Events), else JSON. docs/events.md lists the kinds and the scopes that they need.",
    isLimited: true,
    headers: z.object({
      accept: z.string().optional(),
      "last-event-id": idText.optional().describe("The id to go on after; wins over `after`"),
    }),
    query: z.object({
      after: idText
        .optional()
        .describe("The id to go on after; without it the stream begins now, and JSON ends now"),
      limit: z.coerce
        .number()
        .int()
        .min(1)
        .max(EVENTS_LISTED_MAX)
        .default(EVENTS_LISTED_DEFAULT)
        .describe("JSON only"),
      project: z.string().min(1).optional().describe("Id or key"),
      repository: z.string().min(1).optional().describe("Id or name"),
      kinds: z
        .string()
        .min(1)
        .optional()
        .describe("Separated by commas; `message.*` stands for all of messages"),
      agent: z
        .string()
        .regex(/^[1-9]\d{0,14}$/, "must be the id of an agent")
        .transform(Number)
        .optional()
        .describe(
          "Id of an agent: what it did and what it is named in; its contacts too where it is of the caller's session",
        ),
    }),
    responses: { 200: { description: "The events, oldest first", schema: pageShape } },
    async run(context, { headers, query, isHead }) {
      const { project, repository, kinds, agent, limit } = query
      const reader = await admitReader(context, { project, repository, kinds, agentId: agent })
      const after = headers["last-event-id"] ?? query.after
      return /\btext\/event-stream\b/i.test(headers.accept ?? "")
        ? streamAnswer(context, reader, after, isHead ? undefined : times)
        : pageAnswer(context, reader, after, limit)
    },
  })

async function streamAnswer(
  { app }: CallContext,
  reader: AdmittedReader,
  after: number | undefined,
  times: StreamTimes | undefined,
): Promise<Answer> {
  const reset = after === undefined ? undefined : await resetAfter(app.db, after)
  const from = { after: reset?.resumeAfter ?? after ?? (await newestEvent(app.db)), reset }
  const body = times === undefined ? null : openEventStream(app, reader, from, times)
  return { status: 200, response: new Response(body, { headers: STREAM_HEADERS }) }
}

async function pageAnswer(
  { app }: CallContext,
  { sees }: AdmittedReader,
  after: number | undefined,
  limit: number,
): Promise<Answer> {
  const page =
    after === undefined
      ? await readLatestEvents(app.db, { limit, sees })
      : await readEventsAfter(app.db, { after, limit, sees })
  const { events, next, hasMore, reset } = page
  const told = reset && { reset: { reason: reset.reason, resume_after: reset.resumeAfter } }
  return {
    status: 200,
    body: { events: events.map(toldEvent), next_after: next, has_more: hasMore, ...told },
  }
}
