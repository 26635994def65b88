/** How long a client waits from starting the server to having its tools. */

import { spawn } from "node:child_process"
import { once } from "node:events"
import type { Lab } from "./support/lab.ts"
import { median, timed } from "./support/numbers.ts"
import { type Finding, ms, plainFinding, ratioFinding } from "./support/report.ts"
import { type Launch, StdioClient } from "./support/stdio-client.ts"

const WARM_UP_ROUNDS = 3
const ROUNDS = 25
const GOAL_RATIO_MAX = 1.2

export const note = `**start.** From spawning the process to the answer of tools/list, over stdio with raw JSON-RPC (initialize, initialized, tools/list). Ours is \`node bin/signalbox.js\`; the baseline is one bundled file on the same SDK with the same 28 tool definitions, zod schemas included, whose handlers return a constant and which has no storage. Medians of ${ROUNDS} rounds in turns; a bare \`node -e 0\`, from spawn to exit, orients.`

export async function run(lab: Lab): Promise<Finding[]> {
  const [ours, stub, bare] = [
    lab.ours(lab.path("signalbox.db"), lab.workTree()),
    lab.stub(60),
    lab.bareNode(),
  ]
  await requireSameTools(ours, stub)
  const times = { ours: [] as number[], stub: [] as number[], bare: [] as number[] }
  for (let round = -WARM_UP_ROUNDS; round < ROUNDS; round += 1) {
    const [oursMs, stubMs, bareMs] = [
      await timeToTools(ours),
      await timeToTools(stub),
      await timeOfNothing(bare),
    ]
    if (round < 0) continue
    times.ours.push(oursMs)
    times.stub.push(stubMs)
    times.bare.push(bareMs)
  }
  return [
    ratioFinding("start: spawn to tools/list", median(times.ours), median(times.stub), GOAL_RATIO_MAX),
    plainFinding("start: bare node, spawn to exit", ms(median(times.bare))),
  ]
}

async function timeToTools(launch: Launch): Promise<number> {
  let client: StdioClient | undefined
  const timeMs = await timed(async () => {
    client = await StdioClient.connect(launch)
    await client.request("tools/list", {})
  })
  await client?.close()
  return timeMs
}

async function timeOfNothing({ args, cwd, env }: Launch): Promise<number> {
  return timed(() => once(spawn(process.execPath, args, { cwd, env, stdio: "ignore" }), "exit"))
}

/** A stub that offers other tools than ours would be no baseline. */
async function requireSameTools(ours: Launch, stub: Launch): Promise<void> {
  const [wanted, found] = [await toolsOf(ours), await toolsOf(stub)]
  if (wanted !== found) throw new Error(`the stub's tools differ from ours:\n${wanted}\n${found}`)
}

async function toolsOf(launch: Launch): Promise<string> {
  const client = await StdioClient.connect(launch)
  const { tools } = (await client.request("tools/list", {})) as { tools: Tool[] }
  await client.close()
  return tools
    .map(({ name, description, inputSchema: { properties, required } }) =>
      JSON.stringify([name, description, Object.entries(properties).map(parameterOf), required]),
    )
    .join("\n")
}

interface Tool {
  name: string
  description: string
  inputSchema: { properties: Record<string, { description?: string; type?: string }>; required?: string[] }
}

function parameterOf([name, { description, type }]: [string, { description?: string; type?: string }]) {
  return [name, description, type]
}
