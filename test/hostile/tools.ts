/** Calls of every tool with hostile texts, in a world in which calls with ordinary ones succeed. */

import { expect } from "vitest"
import type { Operation } from "../../src/operations/operation.ts"
import { type Session, send, type TestAgent, textAfter, type World } from "../support/world.ts"
import { everyFourth, HOSTILE } from "./corpus.ts"
import { expectContained } from "./examine.ts"
import { type TextField, textFieldsOf } from "./fields.ts"

/** Thousands of calls take some ten seconds, and longer beside other work. */
export const SLOW_MACHINE_MS = 240_000

const ORDINARY = "ordinary words"
/** What only a parameter for free text takes. */
const PROSE = "*two* <b>\n> lines"

/** What the parameters of tools must be for a call to succeed, by their names. */
type Known = Record<string, unknown>

export interface Stage {
  session: Session
  known: Known
}

/** Makes a session with two agents, a message between them, a memory, and what else a tool may be asked about. */
export async function setStage(made: World): Promise<Stage> {
  const session = await made.session()
  const one = await registered(session, "Ann")
  const other = await registered(session, "Bob")
  const { messageId, threadId } = await send(one, [other])
  const memory = await session.call("create-memory", { content: ORDINARY })
  return {
    session,
    known: {
      project_key: "demo",
      project_id: one.projectId,
      coordination_project_id: one.projectId,
      repository_id: one.repositoryId,
      agent_id: one.id,
      to_agent_ids: [other.id],
      agent_name: other.name,
      sender_name: other.name,
      recipient_name: one.name,
      requester_name: other.name,
      blocker_name: one.name,
      blocked_name: other.name,
      participant_name: one.name,
      message_id: messageId,
      parent_message_id: messageId,
      thread_id: threadId,
      thread_ids: [threadId],
      memory_id: textAfter(memory, "Memory id"),
      approved: true,
      contact_policy: "open",
      path_pattern: "src/a.ts",
      file_paths: ["src/b.ts"],
      path_or_url: made.repositoryPath,
      contact_request_id: 1,
    },
  }
}

async function registered(session: Session, name: string): Promise<TestAgent> {
  return session.register(name, { contact_policy: "open" })
}

/** Those that only look first, on little, and those that make projects last, which are looked through for likely names. */
function inOrder(operations: readonly Operation[]): Operation[] {
  const rank = ({ effect, opensProject }: Operation) => (effect === "read" ? 0 : opensProject ? 2 : 1)
  return operations.toSorted((one, other) => rank(one) - rank(other))
}

/**
 * Sends hostile texts through every text that these tools take, and looks at all of it afterwards; fails for any that
 * passes for ours. Free text is tried with all of `texts`.
 */
export async function attackAll(
  stage: Stage,
  operations: readonly Operation[],
  texts: readonly string[] = HOSTILE,
): Promise<void> {
  let sent = 0
  // What a macro does with a text is done by another tool as well.
  const textsFor = ({ name }: Operation) => (name.startsWith("macro-") ? everyFourth(1, texts) : texts)
  let due = 0
  for (const operation of inOrder(operations)) {
    sent += await attack(stage, operation, textsFor(operation))
    due += (textsFor(operation).length / 5) * textFieldsOf(operation).length
  }
  expect(sent).toBeGreaterThan(due)
  for (const operation of operations.filter(({ effect }) => effect === "read")) await look(stage, operation)
}

/** Calls a tool for as much as it shows, after everything was sent. */
async function look(stage: Stage, operation: Operation): Promise<void> {
  const wide = { limit: 20, include_bodies: true, full: true, query: "ordinary evil* signalbox message" }
  const args = Object.entries({ ...wide, ...stage.known }).filter(([name]) => name in operation.input.shape)
  const { text, isError } = await call(stage, operation, Object.fromEntries(args))
  expect(isError, text).toBe(false)
  expectContained(text, HOSTILE, `${operation.name} afterwards`)
}

/**
 * Sends texts through every text that a tool takes: all through its free text, together where that succeeds, else one by
 * one; every fourth through what takes only some texts, or looks something up.
 */
async function attack(stage: Stage, operation: Operation, texts: readonly string[]): Promise<number> {
  const fields = textFieldsOf(operation)
  const base = argumentsOf(operation, stage.known)
  const free: TextField[] = []
  for (const field of fields) {
    const { isError } = await call(stage, operation, { ...base, [field.name]: field.holding(PROSE) })
    if (!isError) free.push(field)
  }
  let sent = 0
  const send = async (text: string, into: readonly TextField[]) => {
    sent += into.length
    const given = Object.fromEntries(into.map((field) => [field.name, field.holding(text)]))
    const { text: result, isError } = await call(stage, operation, { ...base, ...given })
    const what = `${operation.name} with ${JSON.stringify(text.slice(0, 80))} as ${Object.keys(given).join(", ")}`
    expectContained(result, text, what)
    if (isError) expect(result, what).toMatch(/^Failed to [a-z ]+: /)
    expect(result, what).not.toContain("an internal error")
    return !isError
  }
  for (const text of texts) {
    const isTaken = free.length > 1 && (await send(text, free))
    if (!isTaken) for (const field of free) await send(text, [field])
  }
  for (const [turn, field] of fields.filter((one) => !free.includes(one)).entries())
    for (const text of everyFourth(turn, texts)) await send(text, [field])
  return sent
}

/** Returns what a call must be given to succeed. */
export function argumentsOf(operation: Operation, known: Known): Known {
  const shape: Record<string, { safeParse(value: unknown): { success: boolean } }> = operation.input.shape
  return Object.fromEntries(
    Object.entries(shape).flatMap(([name, field]) => {
      if (field.safeParse(undefined).success) return []
      return [[name, known[name] ?? ORDINARY]]
    }),
  )
}

async function call(
  { session }: Stage,
  { name }: Operation,
  args: Known,
): Promise<{ text: string; isError: boolean }> {
  const result = await session.client.callTool({ name, arguments: args })
  const text = result.content.map((part) => (part.type === "text" ? part.text : "")).join("\n")
  return { text, isError: result.isError === true }
}
