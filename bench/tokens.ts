/** How many characters agents read in a working day: the results of their tools, and what is defined for them. */

import { Client } from "@modelcontextprotocol/client"
import { InMemoryTransport } from "@modelcontextprotocol/server"
import { openApp } from "../src/app.ts"
import { readConfig } from "../src/config/config.ts"
import { createBuiltinEmbedder } from "../src/embed/builtin.ts"
import { toolDefinition } from "../src/mcp/definitions.ts"
import { createServer } from "../src/mcp/server.ts"
import { COORDINATION, OPERATIONS } from "../src/operations/index.ts"
import { RESOURCES } from "../src/resources/index.ts"
import { createLog } from "../src/runtime/log.ts"
import { packageFile } from "../src/runtime/package-root.ts"
import type { Lab } from "./support/lab.ts"
import { type Finding, plainFinding } from "./support/report.ts"
import { numberAfter } from "./support/stdio-client.ts"
import { characters, DayOfWork, type Reader } from "./support/working-day.ts"

/** What the same day took when this was measured first (2026-11-23), before results were made shorter. */
const FIRST_DAY_CHARS = 494_143
const GOAL_RATIO_MAX = 0.8

export const note = `**tokens.** The characters that five agents read in one scripted day, each in a session of its own on one database, with a clock that the script moves: each starts a session, reserves 20 paths (and releases them), sends 30 messages (every third with an acknowledgment, every third a reply), fetches its inbox ten times and reads all that is new in it, acknowledges what asks for it (every second time with an answer), searches ten times and meets five conflicts. The baseline is what the same day took on 2026-11-23. Definitions are what tools/list gives, once; resources are five reads of each agent after the day.`

const NAMES = ["Ada", "Brian", "Clara", "Dennis", "Edith"]
const DAY_START_MS = Date.parse("2026-03-10T08:00:00.217Z")

export async function run(lab: Lab): Promise<Finding[]> {
  const clock = { nowMs: DAY_START_MS }
  const place = { databasePath: lab.path("signalbox.db"), workTree: lab.workTree() }
  const builtin = createBuiltinEmbedder(packageFile("model"))
  const readers: (Reader & { close(): Promise<void> })[] = []
  for (const name of NAMES) readers.push(await openReader(name, place, clock, builtin))
  const day = new DayOfWork(readers, clock)
  await day.work()
  const resources = await day.readResources()
  for (const reader of readers) await reader.close()
  const total = day.total()
  const ratio = total / FIRST_DAY_CHARS
  return [
    {
      what: "tokens: results of tools, a day of five agents",
      ours: characters(total),
      baseline: characters(FIRST_DAY_CHARS),
      ratio: ratio.toFixed(2),
      goal: `<= ${GOAL_RATIO_MAX}`,
      met: ratio <= GOAL_RATIO_MAX,
    },
    ...day
      .byTool()
      .map(({ tool, calls, chars }) => plainFinding(`tokens: ${tool}, ${calls} calls`, characters(chars))),
    plainFinding("tokens: resources, 25 reads", characters(resources)),
    plainFinding("tokens: definitions of the 28 tools", characters(definitionsOf(COORDINATION))),
    plainFinding("tokens: definitions of all tools", characters(definitionsOf(OPERATIONS))),
  ]
}

function definitionsOf(operations: typeof OPERATIONS): number {
  return JSON.stringify(operations.map(toolDefinition)).length
}

/** Opens a session of its own, as a client sees it: what counts is what comes out of the protocol. */
async function openReader(
  name: string,
  { databasePath, workTree }: { databasePath: string; workTree: string },
  clock: { nowMs: number },
  builtin: ReturnType<typeof createBuiltinEmbedder>,
): Promise<Reader & { close(): Promise<void> }> {
  const env = { SIGNALBOX_DB: databasePath, SIGNALBOX_SESSION: name, SIGNALBOX_LIMITS: "off" }
  const config = readConfig({ env, home: workTree, workingFolder: workTree })
  const log = createLog("error")
  // A fixed draw: the same day in every run.
  const options = { log, now: () => clock.nowMs, random: () => 0.5, clientProcesses: [], builtin }
  const call = await openApp(config, options)
  const parts = {
    operations: OPERATIONS,
    resources: RESOURCES,
    instructions: "",
    version: "0.0.0",
    log,
    call: async () => call,
  }
  const client = new Client({ name: "bench", version: "1.0.0" })
  const [ours, theirs] = InMemoryTransport.createLinkedPair()
  await Promise.all([createServer(parts).connect(ours), client.connect(theirs)])
  const text = async (tool: string, args: Record<string, unknown>) => {
    const result = await client.callTool({ name: tool, arguments: args })
    const part = result.content[0]
    return { text: part?.type === "text" ? part.text : "", isError: result.isError === true }
  }
  return {
    name,
    call: text,
    async read(uri) {
      const { contents } = await client.readResource({ uri })
      return (contents[0] as { text: string }).text
    },
    numberAfter,
    async close() {
      await client.close()
      await call.app.close()
    },
  }
}
