/** Many servers on one database, all after the same files. */

import type { Lab } from "./support/lab.ts"
import { pick, quantile, seeded, timed } from "./support/numbers.ts"
import { type Finding, ms, plainFinding } from "./support/report.ts"
import { numberAfter, StdioClient } from "./support/stdio-client.ts"

const PROCESSES = 16
const PAIRS = 50
const WARM_UP_PAIRS = 5
const GOAL_P99_MS_MAX = 250
/** Each overlaps some of the others. */
const PATTERNS = [
  "src/shared/**",
  "src/shared/*.ts",
  "src/**/index.ts",
  "src/shared/{api,db}/*.ts",
  "src/shared/index.ts",
]

export const note = `**contention.** ${PROCESSES} server processes on one database file, each with a client of its own that reserves one of ${PATTERNS.length} overlapping globs exclusively and releases it, ${PAIRS} times without a pause, all at once, after ${WARM_UP_PAIRS} pairs each. Every call is timed at its client, refused ones too. There is no baseline: the goal is a bound in itself. An error is any answer but a grant, a conflict report or a release.`

interface Tally {
  timesMs: number[]
  conflicts: number
  errors: string[]
}

export async function run(lab: Lab): Promise<Finding[]> {
  const launch = lab.ours(lab.path("signalbox.db"), lab.workTree())
  const rivals: Rival[] = []
  for (let index = 0; index < PROCESSES; index += 1) {
    rivals.push(await Rival.start(await StdioClient.connect(launch), index))
  }
  await Promise.all(rivals.map((rival) => rival.contend(WARM_UP_PAIRS)))
  const tallies = await Promise.all(rivals.map((rival) => rival.contend(PAIRS)))
  await Promise.all(rivals.map((rival) => rival.close()))

  const timesMs = tallies.flatMap((tally) => tally.timesMs)
  const errors = tallies.flatMap((tally) => tally.errors)
  const conflicts = tallies.reduce((sum, tally) => sum + tally.conflicts, 0)
  for (const error of errors.slice(0, 5)) console.error(`contention: ${error}`)
  const p99_ms = quantile(timesMs, 0.99)
  return [
    plainFinding("contention: 16 processes, p50", ms(quantile(timesMs, 0.5))),
    plainFinding(
      "contention: 16 processes, p99",
      ms(p99_ms),
      `<= ${GOAL_P99_MS_MAX} ms`,
      p99_ms <= GOAL_P99_MS_MAX,
    ),
    plainFinding("contention: 16 processes, max", ms(quantile(timesMs, 1))),
    plainFinding("contention: conflicts reported", `${conflicts} of ${PROCESSES * PAIRS}`),
    plainFinding("contention: errors beside conflicts", String(errors.length), "0", errors.length === 0),
  ]
}

/** One of the sessions that want the same files. */
class Rival {
  readonly #client: StdioClient
  readonly #random: () => number
  readonly #own: { agent_id: number; coordination_project_id: number }
  readonly #repositoryId: number

  private constructor(client: StdioClient, index: number, profile: string) {
    this.#client = client
    this.#random = seeded(index)
    this.#own = {
      agent_id: numberAfter(profile, "Agent id"),
      coordination_project_id: numberAfter(profile, "Project id"),
    }
    this.#repositoryId = numberAfter(profile, "Repository id")
  }

  static async start(client: StdioClient, index: number): Promise<Rival> {
    const identity = { project_key: "bench", program: "bench", model: "none", name_hint: `Rival-${index}` }
    return new Rival(client, index, await client.call("register-agent", identity))
  }

  async contend(pairs: number): Promise<Tally> {
    const tally: Tally = { timesMs: [], conflicts: 0, errors: [] }
    for (let pair = 0; pair < pairs; pair += 1) {
      const wanted = { repository_id: this.#repositoryId, path_pattern: pick(PATTERNS, this.#random) }
      await this.#timedCall(tally, "reserve-file-paths", wanted)
      await this.#timedCall(tally, "release-file-reservations", {})
    }
    return tally
  }

  close(): Promise<void> {
    return this.#client.close()
  }

  async #timedCall(tally: Tally, tool: string, args: Record<string, unknown>): Promise<void> {
    let answer = { text: "", isError: false }
    const timeMs = await timed(async () => {
      answer = await this.#client.try(tool, { ...this.#own, ...args })
    })
    tally.timesMs.push(timeMs)
    if (!answer.isError) return
    if (answer.text.includes(" conflicts with ")) tally.conflicts += 1
    else tally.errors.push(answer.text)
  }
}
