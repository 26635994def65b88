/**
 * Events as texts for people, for receivers that show them. What agents and repositories wrote can call nobody, format
 * nothing and hide nothing there.
 */

import { WEBHOOK_LINE_CHARS_MAX, WEBHOOK_TEXT_CHARS_MAX } from "../../config/webhook-limits.ts"
import { EVENT_KINDS, type EventKind } from "../events/kinds.ts"
import { eventWords } from "../events/words.ts"
import { visible, visibleLine } from "../foreign-text/visible.ts"
import type { WebhookFormat } from "./webhook.ts"

/** What is to be told to people. */
export interface Notice {
  title: string
  /** One line. */
  text: string
  /** Somebody's text in full; undefined where none is to be shown. */
  content?: string | undefined
  priority: number
}

interface Told {
  kind: EventKind
  project: { key: string } | null
  actor: { name: string } | null
  data: Readonly<Record<string, unknown>>
}

const CALM = /^(message\.read|reservation\.renewed|memory\.(accessed|reinforced)|key\.used)$/
const PRESSING = /^(edit\.blocked|override\.requested)$/

/** Returns an event for people. */
export function noticeOf({ kind, project, actor, data }: Told, content?: string): Notice {
  const words = eventWords({ kind, actor: actor?.name ?? null, data })
  const where = project === null ? "" : ` - ${visibleLine(project.key)}`
  return {
    title: EVENT_KINDS[kind].about,
    text: `${cut(words, WEBHOOK_LINE_CHARS_MAX)}${cut(where, WEBHOOK_LINE_CHARS_MAX)}`,
    content,
    priority: priorityOf(kind, data),
  }
}

/** As ntfy counts: 1 to 5, 3 being the usual one. */
function priorityOf(kind: EventKind, { importance, ack_required }: Told["data"]): number {
  if (importance === "urgent") return 5
  if (importance === "high" || ack_required === true || PRESSING.test(kind)) return 4
  return CALM.test(kind) ? 2 : 3
}

function cut(text: string, charsMax: number): string {
  const characters = [...text]
  return characters.length <= charsMax ? text : `${characters.slice(0, charsMax - 1).join("")}…`
}

/** Returns the text of a notice without its title, cut to what a format takes. */
function wordsOf({ text, content }: Notice, format: keyof typeof WEBHOOK_TEXT_CHARS_MAX): string {
  const charsMax = WEBHOOK_TEXT_CHARS_MAX[format]
  // Cut before it is looked at in detail, which takes longer.
  return cut(content === undefined ? text : `${text}\n\n${visible(cut(content, charsMax))}`, charsMax)
}

const NO_WIDTH = "\u200b"
/** An @ that nothing follows calls nobody, in receivers that go by names too. */
const withoutCalls = (text: string) => text.replaceAll("@", `@${NO_WIDTH}`)

/** Returns a text for Slack and its like: references need angle brackets, links of Markdown what follows a bracket. */
function slackText(text: string): string {
  return withoutCalls(text)
    .replaceAll("&", "&amp;")
    .replaceAll("<", "&lt;")
    .replaceAll(">", "&gt;")
    .replace(/\](?=[([:])/g, `]${NO_WIDTH}`)
}

function discordText(text: string): string {
  return withoutCalls(text).replace(/[\\*_~`|<>#[\]():+-]/g, "\\$&")
}

/** Returns the JSON that a receiver of a format wants; `topic` is the one of ntfy. */
export function noticeJson(format: Exclude<WebhookFormat, "json">, notice: Notice, topic: string): unknown {
  const words = wordsOf(notice, format)
  if (format === "slack")
    return {
      text: slackText(words),
      mrkdwn: false,
      unfurl_links: false,
      unfurl_media: false,
    }
  if (format === "discord")
    return {
      content: discordText(words),
      allowed_mentions: { parse: [] },
      // Without previews of links.
      flags: 4,
    }
  return { topic, title: notice.title, message: words, priority: notice.priority }
}

/** Returns where ntfy takes JSON for a topic, and the topic, which is the last part of its address; undefined where none is. */
export function ntfyPlace(url: string): { url: string; topic: string } | undefined {
  const place = new URL(url)
  const [, folder = "", topic] = /^(.*\/)([-_A-Za-z0-9]{1,64})\/?$/.exec(place.pathname) ?? []
  if (topic === undefined) return undefined
  place.pathname = folder
  return { url: place.href, topic }
}
