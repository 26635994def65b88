/** One tenant's memories at three sizes: creating, searching and everything else, in process and over HTTP. */

import { createMemory, readMemory } from "../src/operations/memory/memories.ts"
import { type MemorySearch, searchMemories } from "../src/operations/memory/search.ts"
import { memoryStatistics, pruneMemories } from "../src/operations/memory/upkeep.ts"
import type { Lab } from "./support/lab.ts"
import { type CorpusQuestion, corpusQuestions, memoryAt } from "./support/memory-corpus.ts"
import { MemoryServer } from "./support/memory-server.ts"
import { MemoryStore } from "./support/memory-store.ts"
import { pick, quantile, seeded, timed } from "./support/numbers.ts"
import { type Finding, ms, plainFinding, ratioFinding } from "./support/report.ts"

const SIZES = [1_000, 10_000, 100_000]
const QUESTIONS = 200
const WARM_UP_QUESTIONS = 30
const LIMIT = 10
const HOPS = 3
const SALIENCE_MIN = 0.5
const PRUNE_THRESHOLD = 0.1
const READS = 200
const OVERVIEWS = 20
const CREATES = 100
const CLIENTS = 4
const CREATES_PER_CLIENT = 200
/** Numbers of memories that are created, beyond all that are loaded. */
const CREATED_FROM = 10_000_000
const GOAL_SEARCH_P95_MS_MAX = new Map([
  [10_000, 15],
  [100_000, 60],
])
const GOAL_CREATES_PER_SECOND_MIN = new Map([[10_000, 300]])
const GOAL_GROWTH_MAX = 10

export const note = `**memory.** One repository at ${SIZES.map(shown).join(", ")} memories of 20 to 80 real words after Zipf's law, three of ten words from one of 400 topics, each with 8 waypoints. ${QUESTIONS} questions of 5 to 9 words, stop words among them, common and rare words mixed; each asked once after ${WARM_UP_QUESTIONS} others to warm up; the best ${LIMIT} with waypoints, all forms in turns for each question. In process is the operation that every interface calls; HTTP is \`signalbox serve\` over a kept connection. The baseline is what no search can do without, in bare tables of their own with the same words and vectors: an FTS5 query with the question's words but its stop words joined by OR, best 200, and a scan of all vectors by sqlite-vec's vec_distance_hamming, best 200. Creating embeds at once and finds waypoints; creates a second are those of ${CLIENTS} clients in a process of their own on the same machine, each ${CREATES_PER_CLIENT} over a kept connection, with rate limits off. Pairs of times are medians and 95th percentiles. Growth is the median search at 100,000 over that at 10,000.`

export async function run(lab: Lab): Promise<Finding[]> {
  const path = lab.path("signalbox.db")
  const store = await MemoryStore.open(path, lab.path("bare.db"))
  try {
    const server = await MemoryServer.start(lab.ours(path, lab.workTree()), path, store.repositoryId)
    try {
      return await measureAll({ store, server })
    } finally {
      await server.close()
    }
  } finally {
    await store.close()
  }
}

interface Bench {
  store: MemoryStore
  server: MemoryServer
}

async function measureAll(bench: Bench): Promise<Finding[]> {
  const findings: Finding[] = []
  const medians = new Map<number, number>()
  for (const [index, size] of SIZES.entries()) {
    const loadMs = await timed(() => bench.store.grow(size))
    console.log(`memory: ${shown(size)} loaded, the last in ${(loadMs / 1_000).toFixed(1)} s`)
    const times = await timeSearches(bench)
    medians.set(size, quantile(times.ours, 0.5))
    findings.push(...searchFindings(size, times))
    findings.push(...(await otherFindings(bench, size)))
    findings.push(...(await createFindings(bench, size, CREATED_FROM * (index + 1))))
  }
  const growth = (medians.get(100_000) ?? Number.NaN) / (medians.get(10_000) ?? Number.NaN)
  findings.push(
    plainFinding(
      "memory: growth of a search, 10,000 to 100,000",
      growth.toFixed(2),
      `<= ${GOAL_GROWTH_MAX}`,
      growth <= GOAL_GROWTH_MAX,
    ),
  )
  return findings
}

/** What is timed for each question; all but the last two search in process. */
const SEARCHES = ["ours", "byTag", "bySector", "bySalience", "http", "baseline"] as const
type SearchTimes = Record<(typeof SEARCHES)[number], number[]>

async function timeSearches({ store, server }: Bench): Promise<SearchTimes> {
  const times = Object.fromEntries(SEARCHES.map((name) => [name, [] as number[]])) as SearchTimes
  const questions = [...corpusQuestions(WARM_UP_QUESTIONS, 8), ...corpusQuestions(QUESTIONS, 7)]
  let found = 0
  const search = async (request: MemorySearch) => {
    found += (await searchMemories(store.context(), request)).data.length
  }
  for (const [index, question] of questions.entries()) {
    const plain = requestOf(question)
    const vector = await store.vectorOf(question.text)
    const body = { query: question.text, limit: LIMIT, max_hops: HOPS }
    const work: Record<keyof SearchTimes, () => Promise<unknown>> = {
      ours: () => search(plain),
      byTag: () => search({ ...plain, tags: [question.tag] }),
      bySector: () => search({ ...plain, sector: question.sector }),
      bySalience: () => search({ ...plain, min_salience: SALIENCE_MIN }),
      http: () => server.client.ask("POST", "/search", body),
      baseline: async () => store.baseline.search(question.text, vector),
    }
    for (const name of SEARCHES) {
      const timeMs = await timed(work[name])
      if (index >= WARM_UP_QUESTIONS) times[name].push(timeMs)
    }
  }
  if (found === 0) throw new Error("no search has found anything")
  return times
}

function requestOf({ text }: CorpusQuestion): MemorySearch {
  return { query: text, limit: LIMIT, expand_waypoints: true, max_hops: HOPS }
}

function searchFindings(size: number, times: SearchTimes): Finding[] {
  const boundMs = GOAL_SEARCH_P95_MS_MAX.get(size)
  const p95_ms = quantile(times.ours, 0.95)
  const p95 = ratioFinding(`${label(size)} search, p95`, p95_ms, quantile(times.baseline, 0.95))
  const goal = boundMs === undefined ? {} : { goal: `<= ${boundMs} ms`, met: p95_ms <= boundMs }
  return [
    ratioFinding(`${label(size)} search, p50`, quantile(times.ours, 0.5), quantile(times.baseline, 0.5)),
    { ...p95, ...goal },
    pairFinding(size, "search by tag", times.byTag),
    pairFinding(size, "search by sector", times.bySector),
    pairFinding(size, "search by salience", times.bySalience),
    pairFinding(size, "search over HTTP", times.http),
  ]
}

async function otherFindings({ store, server }: Bench, size: number): Promise<Finding[]> {
  const random = seeded(size)
  const { client } = server
  const pruning = { threshold: PRUNE_THRESHOLD, dry_run: true }
  const work: [what: string, count: number, run: () => Promise<unknown>][] = [
    ["get", READS, () => readMemory(store.context(), pick(store.uuids, random))],
    ["get over HTTP", READS, () => client.ask("GET", `/${pick(store.uuids, random)}`)],
    ["statistics", OVERVIEWS, () => memoryStatistics(store.context())],
    ["statistics over HTTP", OVERVIEWS, () => client.ask("GET", "/stats")],
    ["prune, dry run", OVERVIEWS, () => pruneMemories(store.context(), pruning)],
    ["prune, dry run over HTTP", OVERVIEWS, () => client.ask("POST", "/prune", pruning)],
  ]
  const findings: Finding[] = []
  for (const [what, count, run] of work) findings.push(pairFinding(size, what, await timesOf(count, run)))
  return findings
}

async function createFindings({ store, server }: Bench, size: number, fromIndex: number): Promise<Finding[]> {
  let index = fromIndex
  const inProcess = await timesOf(CREATES, async () => {
    const { content, tags } = memoryAt(index++)
    const memory = await createMemory(store.context(), { content, tags })
    if (memory.embedding_status !== "completed") throw new Error("a memory was not embedded at once")
  })
  const { timesMs, elapsedMs } = await server.create(CLIENTS, CREATES_PER_CLIENT, index)
  const perSecond = timesMs.length / (elapsedMs / 1_000)
  const goal = GOAL_CREATES_PER_SECOND_MIN.get(size)
  return [
    pairFinding(size, "create", inProcess),
    pairFinding(size, `create over HTTP, ${CLIENTS} clients`, timesMs),
    plainFinding(
      `${label(size)} creates a second, ${CLIENTS} clients`,
      perSecond.toFixed(0),
      goal === undefined ? "-" : `>= ${goal}`,
      goal === undefined ? null : perSecond >= goal,
    ),
  ]
}

/** Returns the times of many runs, after a few that are not counted. */
async function timesOf(count: number, run: () => Promise<unknown>): Promise<number[]> {
  const times: number[] = []
  for (let index = -Math.ceil(count / 10); index < count; index += 1) {
    const timeMs = await timed(run)
    if (index >= 0) times.push(timeMs)
  }
  return times
}

function pairFinding(size: number, what: string, times: readonly number[]): Finding {
  return plainFinding(
    `${label(size)} ${what}, p50 / p95`,
    `${ms(quantile(times, 0.5))} / ${ms(quantile(times, 0.95))}`,
  )
}

function label(size: number): string {
  return `memory, ${shown(size)}:`
}

function shown(size: number): string {
  return size.toLocaleString("en-US")
}
