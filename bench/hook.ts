/** What the hook costs before each edit: as a process of its own, and in the listener that decides. */

import { spawn } from "node:child_process"
import { once } from "node:events"
import { cpSync, mkdirSync } from "node:fs"
import { Agent } from "node:http"
import { dirname, join } from "node:path"
import { literalPrefix } from "../src/domain/glob/literal.ts"
import { openDatabase } from "../src/operations/database.ts"
import { insertReservation } from "../src/store/coordination/reservations.ts"
import { ask, type Listener, listenerOf, type Place, payloadFor } from "./support/hook-call.ts"
import type { Lab } from "./support/lab.ts"
import { median, quantile, timed } from "./support/numbers.ts"
import { type Finding, ms, plainFinding, ratioFinding } from "./support/report.ts"
import { type Launch, numberAfter, StdioClient } from "./support/stdio-client.ts"

const RESERVATIONS = 10_000
const FOLDERS = 500
const HOLDERS = 20
const WARM_UP_ROUNDS = 5
const ROUNDS = 60
const DECISIONS = 2_000
const SHELL_RATIO_MAX = 0.35
const NODE_RATIO_MAX = 1.3
const DECISION_P99_MS_MAX = 5

export const note = `**hook.** The whole process, from spawn to exit with the payload on stdin, of an edit that is allowed: the shell form (curl and its watchdog included) and the Node form, both asking a listener, against a bare \`node -e 0\`, all in the environment that the benchmark was started in, as a client hands on its own; medians of ${ROUNDS} rounds in turns. "Decision" is what the listener says that one took (Server-Timing), "with transport" the whole request over a kept connection, beside ${RESERVATIONS.toLocaleString("en-US")} reservations of ${HOLDERS} agents in ${FOLDERS} folders (files, globs, subtrees, braces): a third each edits of the session's own file, of a new file, of a file that another agent holds; ${DECISIONS} in all.`

export async function run(lab: Lab): Promise<Finding[]> {
  const databasePath = lab.path("signalbox.db")
  const workTree = lab.workTree()
  const launch = lab.ours(databasePath, workTree)
  const server = await StdioClient.connect({ ...launch, env: { ...launch.env, SIGNALBOX_PORT: "0" } })
  try {
    const holders: { id: number; projectId: number; repositoryId: number }[] = []
    for (let index = 0; index < HOLDERS; index += 1) {
      const args = { project_key: "bench", program: "bench", model: "none", name_hint: `Holder${index}` }
      const text = await server.call("register-agent", args)
      holders.push({
        id: numberAfter(text, "Agent id"),
        projectId: numberAfter(text, "Project id"),
        repositoryId: numberAfter(text, "Repository id"),
      })
    }
    await fill(databasePath, holders)
    const record = await listenerOf(databasePath)
    const place = { databasePath, workTree, projectId: holders[0]?.projectId ?? 0 }
    return [...(await wholeProcess(lab, launch, place)), ...(await decisions(record, place))]
  } finally {
    await server.close()
  }
}

async function fill(
  databasePath: string,
  holders: readonly { id: number; projectId: number; repositoryId: number }[],
): Promise<void> {
  const db = await openDatabase(databasePath)
  const nowMs = Date.now()
  await db.transaction("bench", async (tx) => {
    for (let index = 0; index < RESERVATIONS; index += 1) {
      const holder = holders[index % holders.length]
      if (holder === undefined) continue
      const folder = `src/part-${index % FOLDERS}`
      const forms = [`file-${index}.ts`, `name-${index}-*.ts`, `tree-${index}/**`, `{one,two}-${index}.ts`]
      const pathPattern = `${folder}/${forms[Math.floor(index / FOLDERS) % forms.length]}`
      const prefixKey = literalPrefix(pathPattern)
      const rest = { exclusive: true, reason: null, expiresAtMs: nowMs + 3_600_000, prefixKey, pathPattern }
      await insertReservation(tx, { ...rest, ...holder, agentId: holder.id }, nowMs)
    }
  })
  await db.close()
}

async function wholeProcess(lab: Lab, launch: Launch, place: Place): Promise<Finding[]> {
  const folder = join(dirname(place.databasePath), "hook")
  mkdirSync(folder)
  for (const name of ["hook.sh", "hook.cjs"]) cpSync(lab.packageFile(`dist/${name}`), join(folder, name))
  const env = { ...surroundings(), ...launch.env, SIGNALBOX_DB: place.databasePath }
  const payload = payloadFor(place, "src/part-1/mine.ts")
  const commands = {
    shell: ["/bin/sh", join(folder, "hook.sh"), "claude-code", "pre-edit"],
    node: [process.execPath, join(folder, "hook.cjs"), "claude-code", "pre-edit"],
    bare: [process.execPath, "-e", "0"],
    bareClean: [process.execPath, "-e", "0"],
  }
  const times = { shell: [], node: [], bare: [], bareClean: [] } as Record<keyof typeof commands, number[]>
  for (let round = -WARM_UP_ROUNDS; round < ROUNDS; round += 1) {
    for (const name of ["shell", "node", "bare", "bareClean"] as const) {
      const around = name === "bareClean" ? launch.env : env
      const timeMs = await timed(() => runHook(commands[name], place.workTree, around, payload))
      if (round >= 0) times[name].push(timeMs)
    }
  }
  const bareMs = median(times.bare)
  return [
    ratioFinding("hook: shell form, whole process", median(times.shell), bareMs, SHELL_RATIO_MAX),
    ratioFinding("hook: Node form, whole process", median(times.node), bareMs, NODE_RATIO_MAX),
    plainFinding("hook: bare node in an empty environment", ms(median(times.bareClean))),
  ]
}

/** A client hands its own environment on to its hooks, and some variables slow Node down. */
function surroundings(): Record<string, string> {
  const foreign = Object.entries(process.env).filter(
    ([name]) => !/^(SIGNALBOX|npm|CLAUDE|GEMINI|DEVIN)_/i.test(name),
  )
  return Object.fromEntries(foreign) as Record<string, string>
}

async function runHook(
  [file = "", ...args]: readonly string[],
  cwd: string,
  env: Record<string, string>,
  payload: string,
): Promise<void> {
  const child = spawn(file, args, { cwd, env, stdio: ["pipe", "ignore", "pipe"] })
  let stderr = ""
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    stderr += text
  })
  child.stdin.on("error", () => {})
  child.stdin.end(payload)
  const [code] = (await once(child, "exit")) as [number | null]
  if (code !== 0 || stderr !== "") throw new Error(`the hook ended with ${code}: ${stderr}`)
}

async function decisions(listener: Listener, place: Place): Promise<Finding[]> {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })
  const times: number[] = []
  const roundTrips: number[] = []
  for (let index = -200; index < DECISIONS; index += 1) {
    const folder = `src/part-${(index + 200) % FOLDERS}`
    const kinds = [
      `src/part-1/mine.ts`,
      `${folder}/new-${index + 200}.ts`,
      `${folder}/file-${(index + 200) % FOLDERS}.ts`,
    ]
    const payload = payloadFor(place, kinds[(index + 300) % kinds.length] ?? "")
    let ownMs = 0
    const timeMs = await timed(async () => {
      ownMs = (await ask(agent, listener, place, payload)).ownMs
    })
    if (index < 0) continue
    times.push(ownMs)
    roundTrips.push(timeMs)
  }
  agent.destroy()
  const p99 = quantile(times, 0.99)
  return [
    plainFinding("hook: decision with transport, median", ms(median(roundTrips))),
    plainFinding("hook: decision with transport, p99", ms(quantile(roundTrips, 0.99))),
    plainFinding("hook: decision, median", ms(median(times))),
    plainFinding("hook: decision, p99", ms(p99), `<= ${DECISION_P99_MS_MAX} ms`, p99 <= DECISION_P99_MS_MAX),
  ]
}
