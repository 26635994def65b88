/** What a tool call costs, next to an echo over the same SDK and transport. */

import { literalPrefix } from "../src/domain/glob/literal.ts"
import { openDatabase } from "../src/operations/database.ts"
import { insertReservation } from "../src/store/coordination/reservations.ts"
import type { Lab } from "./support/lab.ts"
import { median, quantile, timed } from "./support/numbers.ts"
import { type Finding, ratioFinding } from "./support/report.ts"
import { numberAfter, StdioClient } from "./support/stdio-client.ts"

const WARM_UP_CALLS = 200
const BLOCKS = 20
const CALLS_PER_BLOCK = 30
const GOAL_RATIO_MAX = 2
const INBOX_MESSAGES = 1_000
const READ_MESSAGES = 900
const OTHERS = 10

export const note = `**calls.** The round trip of one tool call over stdio, one call after the other from one client. The baseline is a tool with the same name and schema on the same SDK and transport, which takes the same arguments and returns a constant text as long as our answer. Medians and 95th percentiles of ${BLOCKS * CALLS_PER_BLOCK} calls each, in blocks of ${CALLS_PER_BLOCK} in turns, after ${WARM_UP_CALLS} calls each. send-message: a new message of 300 characters to one agent. fetch-inbox: 20 of ${INBOX_MESSAGES} messages, ${INBOX_MESSAGES - READ_MESSAGES} of them unread. reserve-file-paths: a new file of the caller's, released again outside the clock, beside 1,000 reservations of ${OTHERS} other agents, either spread over 200 folders (files, globs, subtrees, braces) or as 1,000 globs in the very folder of the new file.`

/** A kind of call: the database is filled, then `next` makes the arguments of one call after the other. */
interface Scenario {
  what: string
  tool: string
  fill(client: StdioClient, databasePath: string): Promise<Calls>
}
interface Calls {
  next(index: number): Record<string, unknown>
  /** Undoes a call, so that the next one meets the same state. */
  undo?(answer: string): Promise<unknown>
}

const SCENARIOS: readonly Scenario[] = [
  { what: "send-message", tool: "send-message", fill: fillForSending },
  { what: "fetch-inbox, 20 of 1,000", tool: "fetch-inbox", fill: fillInbox },
  {
    what: "reserve-file-paths, tree of 1,000",
    tool: "reserve-file-paths",
    fill: (client, databasePath) =>
      fillReservations(client, databasePath, treePattern, (index) => `${treeFolder(index)}/new-${index}.ts`),
  },
  {
    what: "reserve-file-paths, folder of 1,000",
    tool: "reserve-file-paths",
    fill: (client, databasePath) =>
      fillReservations(client, databasePath, folderPattern, (index) => `src/components/new-${index}.tsx`),
  },
]

export async function run(lab: Lab): Promise<Finding[]> {
  const findings: Finding[] = []
  for (const scenario of SCENARIOS) findings.push(...(await measure(lab, scenario)))
  return findings
}

async function measure(lab: Lab, scenario: Scenario): Promise<Finding[]> {
  const databasePath = lab.path("signalbox.db")
  const ours = await StdioClient.connect(lab.ours(databasePath, lab.workTree()))
  const calls = await scenario.fill(ours, databasePath)
  let answer = ""
  let index = 0
  const timeOurs = async () => {
    const args = calls.next(index++)
    const timeMs = await timed(async () => {
      answer = await ours.call(scenario.tool, args)
    })
    await calls.undo?.(answer)
    return timeMs
  }
  await repeat(WARM_UP_CALLS, timeOurs)
  const echo = await StdioClient.connect(lab.stub(answer.length))
  const timeEcho = () => {
    const args = calls.next(index)
    return timed(() => echo.call(scenario.tool, args))
  }
  await repeat(WARM_UP_CALLS, timeEcho)
  const [oursTimes, echoTimes] = [[] as number[], [] as number[]]
  for (let block = 0; block < BLOCKS; block += 1) {
    oursTimes.push(...(await repeat(CALLS_PER_BLOCK, timeOurs)))
    echoTimes.push(...(await repeat(CALLS_PER_BLOCK, timeEcho)))
  }
  await ours.close()
  await echo.close()
  return [
    ratioFinding(`calls: ${scenario.what}, median`, median(oursTimes), median(echoTimes), GOAL_RATIO_MAX),
    ratioFinding(`calls: ${scenario.what}, p95`, quantile(oursTimes, 0.95), quantile(echoTimes, 0.95)),
  ]
}

async function repeat<T>(times: number, work: () => Promise<T>): Promise<T[]> {
  const results: T[] = []
  for (let time = 0; time < times; time += 1) results.push(await work())
  return results
}

interface Agent {
  id: number
  name: string
  projectId: number
  repositoryId: number
}

async function register(client: StdioClient, name: string): Promise<Agent> {
  const text = await client.call("register-agent", {
    project_key: "bench",
    program: "bench",
    model: "none",
    name_hint: name,
  })
  return {
    id: numberAfter(text, "Agent id"),
    name,
    projectId: numberAfter(text, "Project id"),
    repositoryId: numberAfter(text, "Repository id"),
  }
}

const BODY = "The parser now reports the line of the first error. Please have a look at it. "
  .repeat(4)
  .slice(0, 300)

function message(from: Agent, to: Agent, index: number) {
  return {
    sender_name: from.name,
    project_id: from.projectId,
    to_agent_ids: [to.id],
    subject: `Parser, part ${index}`,
    body_md: BODY,
  }
}

async function fillForSending(client: StdioClient): Promise<Calls> {
  const [ada, bob] = [await register(client, "Ada"), await register(client, "Bob")]
  return { next: (index) => message(ada, bob, index) }
}

async function fillInbox(client: StdioClient): Promise<Calls> {
  const [ada, bob] = [await register(client, "Ada"), await register(client, "Bob")]
  const own = { agent_name: bob.name, project_id: bob.projectId }
  for (let index = 0; index < INBOX_MESSAGES; index += 1) {
    const sent = await client.call("send-message", message(ada, bob, index))
    const message_id = numberAfter(sent, "Message id")
    if (index < READ_MESSAGES) await client.call("read-message", { ...own, message_id })
  }
  return { next: () => ({ ...own, limit: 20 }) }
}

async function fillReservations(
  client: StdioClient,
  databasePath: string,
  patternOf: (index: number) => string,
  wanted: (index: number) => string,
): Promise<Calls> {
  const ada = await register(client, "Ada")
  const others: Agent[] = []
  for (let index = 0; index < OTHERS; index += 1) others.push(await register(client, `Other-${index}`))
  const reservation = (agent: Agent, path_pattern: string) => ({
    agent_id: agent.id,
    repository_id: agent.repositoryId,
    coordination_project_id: agent.projectId,
    path_pattern,
    duration_seconds: 28_800,
  })
  // All agents of one client are one session, which may not hold that many patterns.
  const db = await openDatabase(databasePath)
  const nowMs = Date.now()
  await db.transaction("bench", async (tx) => {
    for (let index = 0; index < 1_000; index += 1) {
      const { id, ...holder } = others[index % OTHERS] ?? ada
      const pathPattern = patternOf(index)
      const rest = { exclusive: true, reason: null, expiresAtMs: nowMs + 28_800_000, pathPattern }
      const prefixKey = literalPrefix(pathPattern)
      await insertReservation(tx, { ...rest, ...holder, agentId: id, prefixKey }, nowMs)
    }
  })
  await db.close()
  return {
    next: (index) => reservation(ada, wanted(index)),
    undo: (answer) =>
      client.call("release-file-reservations", {
        agent_id: ada.id,
        coordination_project_id: ada.projectId,
        reservation_ids: [numberAfter(answer, "Reservation id")],
      }),
  }
}

/** 20 packages of 10 folders each. */
function treeFolder(index: number): string {
  return `packages/package-${index % 20}/src/area-${Math.floor(index / 20) % 10}`
}

function treePattern(index: number): string {
  const inFolder = ["index.ts", "handlers.ts", "*.test.ts", "internal/**", "{types,schema}.ts"]
  return `${treeFolder(index)}/${inFolder[Math.floor(index / 200)]}`
}

function folderPattern(index: number): string {
  const name = `Component${String(index).padStart(4, "0")}`
  return `src/components/${index % 2 === 0 ? `${name}*.tsx` : `${name}.{tsx,css,test.tsx}`}`
}
