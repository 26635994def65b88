/** What is sent to a receiver: an event, a test, or word of what is lost; in the format that it wants, and signed. */

import type { Queries } from "../../db/database.ts"
import type { StoredEvent } from "../../domain/events/kinds.ts"
import { toldEvent } from "../../domain/events/told.ts"
import type { NamedEvent } from "../../domain/events/visibility.ts"
import { type Notice, noticeJson, noticeOf, ntfyPlace } from "../../domain/webhooks/text.ts"
import type { Webhook } from "../../domain/webhooks/webhook.ts"
import { packageVersion } from "../../runtime/package-root.ts"
import { findMessage, listRecipients } from "../../store/coordination/messages.ts"
import { findMemory } from "../../store/memory/memories.ts"
import { isoTime } from "../markdown.ts"
import type { Sending } from "./sending.ts"
import { signedHeaders } from "./signing.ts"

/** What a receiver gets, before it has a format. */
export interface Letter {
  /** The same at each try, and of no other letter of the webhook. */
  id: string
  json: { type: string; timestamp: string; [field: string]: unknown }
  notice: Notice
}

/** Returns the letter of an event, as far as the webhook includes it: what others wrote is looked up now. */
export async function eventLetter(db: Queries, webhook: Webhook, event: NamedEvent): Promise<Letter> {
  const told = toldEvent(event)
  const content = webhook.includesContent ? await contentOf(db, event) : undefined
  return {
    id: letterId(webhook, `event_${event.id}`),
    json: {
      type: told.kind,
      timestamp: told.time,
      ...told,
      data: content === undefined ? told.data : { ...told.data, [content.field]: content.text },
    },
    notice: noticeOf(told, content?.text),
  }
}

/** Returns what was written by somebody: a message's body, a memory's content; undefined where it is gone. */
async function contentOf(
  db: Queries,
  { kind, subjectId, repositoryId, data }: StoredEvent,
): Promise<{ field: string; text: string } | undefined> {
  if (kind === "message.sent" && subjectId !== null) {
    const message = await findMessage(db, subjectId)
    // What has blind copies alone is nobody else's to read.
    const isOpen = (await listRecipients(db, subjectId)).some((recipient) => recipient.kind !== "bcc")
    return message && isOpen ? { field: "body", text: message.bodyMd } : undefined
  }
  if ((kind === "memory.created" || kind === "memory.updated") && repositoryId !== null) {
    const memory = await findMemory(db, repositoryId, String(data.memory_id))
    return memory && { field: "content", text: memory.content }
  }
  return undefined
}

/** Returns the letter that says that events after `missedAfter` are no longer there, and where it goes on. */
export function resetLetter(webhook: Webhook, resumeAfter: number, nowMs: number): Letter {
  const reason = "events were pruned, or the database restored, before they could be delivered"
  return {
    id: letterId(webhook, `reset_${resumeAfter}`),
    json: {
      type: "events.reset",
      timestamp: isoTime(nowMs),
      data: { reason, missed_after: webhook.cursor, resume_after: resumeAfter },
    },
    notice: { title: "Events were missed", text: reason, priority: 4 },
  }
}

/** Returns a letter that says nothing but that letters arrive. */
export function testLetter(webhook: Webhook, mark: string, nowMs: number): Letter {
  return {
    id: letterId(webhook, `test_${mark}`),
    json: { type: "webhook.test", timestamp: isoTime(nowMs), data: { webhook_id: webhook.id } },
    notice: { title: "A test of signalbox", text: "Webhooks arrive here", priority: 3 },
  }
}

function letterId({ id, createdAtMs }: Webhook, what: string): string {
  return `msg_${id}_${createdAtMs.toString(36)}_${what}`
}

/** Returns the request that takes a letter to a webhook's receiver, signed at a time. */
export function sendingOf(webhook: Webhook, letter: Letter, nowMs: number): Sending {
  const { format, url, secret, allowsPrivate } = webhook
  const place = format === "ntfy" ? ntfyPlace(url) : undefined
  const body = JSON.stringify(
    format === "json" ? letter.json : noticeJson(format, letter.notice, place?.topic ?? ""),
  )
  return {
    url: place?.url ?? url,
    allowsPrivate,
    headers: {
      "content-type": "application/json",
      "user-agent": `signalbox/${packageVersion()}`,
      ...signedHeaders(secret, { id: letter.id, nowMs, body }),
    },
    body,
  }
}
