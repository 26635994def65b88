/** The vocabulary of parameters: each kind is described and bounded once. Descriptions are short: every agent pays for them. */

import * as z from "zod"
import {
  AGENT_NAME_CHARS_MAX,
  BODY_CHARS_MAX,
  FILE_PATHS_MAX,
  PATTERN_CHARS_MAX,
  PROJECT_KEY_CHARS_MAX,
  QUERY_CHARS_MAX,
  REASON_CHARS_MAX,
  RECIPIENTS_MAX,
  RESERVATION_SECONDS_MAX,
  THREAD_ID_CHARS_MAX,
} from "../config/limits.ts"
import { CONTACT_POLICIES } from "../domain/coordination/agent.ts"
import { IMPORTANCES } from "../domain/coordination/message.ts"
import { parseIsoTime, type WrittenTime } from "../domain/iso-time.ts"
import { DAY_MS } from "../domain/time-units.ts"

/** A text of 1 to `charsMax` characters that is not blank. */
export function text(charsMax: number, description: string) {
  return z
    .string()
    .min(1)
    .max(charsMax)
    .refine((value) => /\S/.test(value), "must not be blank")
    .refine((value) => !value.includes("\0"), "must not contain NUL characters")
    .describe(description)
}

export function id(description: string) {
  return z.int().min(1).describe(description)
}

export const projectKey = () =>
  text(PROJECT_KEY_CHARS_MAX, "Project key: absolute path of the repository, or any shared name").refine(
    (value) => !/[\p{Cc}\u2028\u2029]/u.test(value),
    "must not contain control characters or line breaks",
  )
export const projectId = () => id("Project id")
export const agentName = (description = "Your agent name") => text(AGENT_NAME_CHARS_MAX, description)
export const agentId = (description = "Your agent id") => id(description)
export const repositoryId = (description = "Repository id") => id(description)
export const messageId = () => id("Message id")
export const contactPolicy = () => z.enum(CONTACT_POLICIES).describe("Who may write to the agent")
export const importance = () => z.enum(IMPORTANCES).describe("Importance")
export const body = (description = "Message text, Markdown") => text(BODY_CHARS_MAX, description)
export const reason = (description: string) => text(REASON_CHARS_MAX, description)

export const threadId = (description = "Thread id") =>
  z
    .string()
    .min(1)
    .max(THREAD_ID_CHARS_MAX)
    .refine((value) => /^[A-Za-z0-9._:-]*$/.test(value), "may contain only letters, digits and . _ : -")
    .describe(description)

export const agentIds = (description: string) =>
  z.array(z.int().min(1)).max(RECIPIENTS_MAX).describe(description)

/** Bounds on the pattern itself are checked with the repository at hand, by the overlap engine's rules. */
export const pathPattern = () =>
  z.string().describe(`Path or glob from the repository root, at most ${PATTERN_CHARS_MAX} characters`)
export const pathPatterns = () =>
  z.array(z.string()).max(FILE_PATHS_MAX).describe("Paths or globs from the repository root")

export const seconds = (defaultSeconds: number, description: string) =>
  z.int().min(1).max(RESERVATION_SECONDS_MAX).default(defaultSeconds).describe(description)

export const limit = (defaultRows: number, rowsMax: number) =>
  z.int().min(1).max(rowsMax).default(defaultRows).describe("Most rows to return")

export const query = (description: string) => z.string().max(QUERY_CHARS_MAX).describe(description)

/** A time in ISO 8601 as milliseconds; a date is its first moment, a time without zone is UTC. */
export const time = (description: string) => writtenTime(description, ({ startMs }) => startMs)

/** Like `time`, but a mere date stands for its last moment. */
export const timeUntil = (description: string) =>
  writtenTime(description, ({ startMs, isDate }) => (isDate ? startMs + DAY_MS - 1 : startMs))

function writtenTime(description: string, settle: (written: WrittenTime) => number) {
  return z
    .string()
    .transform((text, context) => {
      const written = parseIsoTime(text)
      if (written !== undefined) return settle(written)
      context.addIssue({
        code: "custom",
        message: "must be a time in ISO 8601, such as 2026-01-31T12:00:00Z",
      })
      return z.NEVER
    })
    .describe(description)
}
