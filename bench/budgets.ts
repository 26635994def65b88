/** What an edit and a reservation cost when 50 other agents hold all the patterns that they may. */

import { Agent } from "node:http"
import { patternCost, requireWithinBudget } from "../src/domain/coordination/pattern-budget.ts"
import { GlobError } from "../src/domain/glob/glob.ts"
import { literalPrefix } from "../src/domain/glob/literal.ts"
import { openDatabase } from "../src/operations/database.ts"
import { insertReservation } from "../src/store/coordination/reservations.ts"
import { ask, type Listener, listenerOf, type Place, payloadFor } from "./support/hook-call.ts"
import type { Lab } from "./support/lab.ts"
import { median, quantile, timed } from "./support/numbers.ts"
import { type Finding, ms, plainFinding, ratioFinding } from "./support/report.ts"
import { numberAfter, StdioClient } from "./support/stdio-client.ts"

const HOLDERS = 50
const PATHS_PER_HOLDER = 2_000
const DECISIONS = 600
const RESERVATIONS = 200
const WARM_UP = 60
const DECISION_MEDIAN_MS_MAX = 10
const DECISION_P99_MS_MAX = 50
const RESERVATION_MS_MAX = 100

export const note = `**budgets.** A repository in which ${HOLDERS} agents each hold all the patterns that they may (three wildcards at its root, exclusive, of which the first folders match the files that are edited) and ${PATHS_PER_HOLDER.toLocaleString("en-US")} plain paths each. "Decision" is what the listener says that one took: a third each edits of the session's own file, of a new file, of a file that is held; ${DECISIONS} in all, and each is checked: held ones are blocked, all others are not. "Reservation" is the round trip of reserve-file-paths for a new file by another agent, ${RESERVATIONS} in all. The baseline is the same before anybody else has reserved anything.`

interface Holder {
  id: number
  projectId: number
  repositoryId: number
}

export async function run(lab: Lab): Promise<Finding[]> {
  const databasePath = lab.path("signalbox.db")
  const workTree = lab.workTree()
  const launch = lab.ours(databasePath, workTree)
  const server = await StdioClient.connect({ ...launch, env: { ...launch.env, SIGNALBOX_PORT: "0" } })
  try {
    const register = async (name_hint: string): Promise<Holder> => {
      const args = { project_key: "bench", program: "bench", model: "none", name_hint }
      const text = await server.call("register-agent", args)
      return {
        id: numberAfter(text, "Agent id"),
        projectId: numberAfter(text, "Project id"),
        repositoryId: numberAfter(text, "Repository id"),
      }
    }
    const reserver = await register("Reserver")
    const holders: Holder[] = []
    for (let index = 0; index < HOLDERS; index += 1) holders.push(await register(`Holder${index}`))
    const listener = await listenerOf(databasePath)
    const place = { databasePath, workTree, projectId: reserver.projectId }
    const before = await measure(server, reserver, listener, place, "before")
    const patterns = await fill(databasePath, holders)
    const after = await measure(server, reserver, listener, place, "after")
    return [plainFinding("budgets: patterns held by others", String(patterns)), ...findings(before, after)]
  } finally {
    await server.close()
  }
}

/** Lets each holder reserve in turn what it may; returns how many patterns they hold together. */
async function fill(databasePath: string, holders: readonly Holder[]): Promise<number> {
  const db = await openDatabase(databasePath)
  const nowMs = Date.now()
  let patterns = 0
  let others = 0
  for (const [index, holder] of holders.entries()) {
    await db.transaction("bench", async (tx) => {
      const insert = (pathPattern: string) => {
        const rest = { exclusive: true, reason: null, expiresAtMs: nowMs + 3_600_000, pathPattern }
        const prefixKey = literalPrefix(pathPattern)
        return insertReservation(tx, { ...rest, ...holder, agentId: holder.id, prefixKey }, nowMs)
      }
      for (let own = 0, nth = 0; ; nth += 1) {
        const pathPattern = `*s*/*-*/x${nth}-${index}-*.ts`
        const cost = patternCost(pathPattern)
        if (!fits(cost, own, others)) {
          others += own
          break
        }
        await insert(pathPattern)
        own += cost
        patterns += 1
      }
      for (let nth = 0; nth < PATHS_PER_HOLDER; nth += 1) await insert(`src/part-${index}/file-${nth}.ts`)
    })
  }
  await db.close()
  return patterns
}

function fits(cost: number, own: number, others: number): boolean {
  try {
    requireWithinBudget(cost, { own, others })
    return true
  } catch (error) {
    if (error instanceof GlobError) return false
    throw error
  }
}

interface Times {
  decisions: number[]
  reservations: number[]
}

async function measure(
  server: StdioClient,
  reserver: Holder,
  listener: Listener,
  place: Place,
  phase: "before" | "after",
): Promise<Times> {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })
  const times: Times = { decisions: [], reservations: [] }
  for (let index = -WARM_UP; index < DECISIONS; index += 1) {
    const nth = index + WARM_UP
    const paths = ["src/part-1/mine.ts", `src/part-${nth % HOLDERS}/new-${phase}-${nth}.ts`]
    const held = `src/part-${nth % HOLDERS}/file-${nth}.ts`
    const path = [...paths, phase === "after" ? held : `src/part-2/${phase}-${nth}.ts`][nth % 3] ?? ""
    const { ownMs, isBlocked } = await ask(agent, listener, place, payloadFor(place, path))
    if (isBlocked !== (path === held && phase === "after")) throw new Error(`${path}: blocked ${isBlocked}`)
    if (index >= 0) times.decisions.push(ownMs)
  }
  agent.destroy()
  for (let nth = 0; nth < RESERVATIONS; nth += 1) {
    const args = {
      agent_id: reserver.id,
      coordination_project_id: reserver.projectId,
      repository_id: reserver.repositoryId,
      path_pattern: `src/part-${nth % HOLDERS}/reserved-${phase}-${nth}.ts`,
    }
    times.reservations.push(await timed(() => server.call("reserve-file-paths", args)))
  }
  return times
}

function findings(before: Times, after: Times): Finding[] {
  const bound = (what: string, valueMs: number, maxMs: number) =>
    plainFinding(what, ms(valueMs), `<= ${maxMs} ms`, valueMs <= maxMs)
  return [
    ratioFinding("budgets: decision, median", median(after.decisions), median(before.decisions)),
    bound("budgets: decision, median", median(after.decisions), DECISION_MEDIAN_MS_MAX),
    bound("budgets: decision, p99", quantile(after.decisions, 0.99), DECISION_P99_MS_MAX),
    ratioFinding("budgets: reservation, median", median(after.reservations), median(before.reservations)),
    bound("budgets: reservation, max", Math.max(...after.reservations), RESERVATION_MS_MAX),
  ]
}
