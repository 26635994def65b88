/** Reading the documentation of a large repository, and searching in it over HTTP, at two sizes. */

import { loadavg } from "node:os"
import { BareChunks, type StoredFigures, storedFigures } from "./support/documentation-baseline.ts"
import { documentAt, documentPath } from "./support/documentation-corpus.ts"
import { commitCorpus, commitFile, readAllContents } from "./support/documentation-tree.ts"
import { KeptClient } from "./support/kept-client.ts"
import type { Lab } from "./support/lab.ts"
import { corpusQuestions } from "./support/memory-corpus.ts"
import { median, quantile, timed } from "./support/numbers.ts"
import { type Finding, ms, plainFinding, ratioFinding } from "./support/report.ts"
import { ServeProcess } from "./support/serve-process.ts"
import type { Launch } from "./support/stdio-client.ts"
import { mainThreadMs, runWatched, usageOf, type WatchedRun } from "./support/watched-process.ts"

const FILES = Number(process.env.BENCH_FILES ?? 20_000)
const FEWER_CHUNKS = 50_000
const QUESTIONS = 200
const WARM_UP_QUESTIONS = 30
const LIMIT = 10
const UNCHANGED_RUNS = 5
const CHANGES = 10
const CHANGE_MS_MAX = 60_000
const MEGABYTE = 1_000_000
const GOAL_TEXT_CHUNKS_PER_SECOND_MIN = 1_500
const GOAL_CHUNKS_PER_SECOND_MIN = 800
const GOAL_UNCHANGED_MS_MAX = 1_000
const GOAL_CHANGE_MS_MAX = 200
const GOAL_PEAK_MEGABYTES_MAX = 400
const GOAL_SEARCH_P95_MS_MAX = 30
const GOAL_CACHED_P95_MS_MAX = 2

export const note = `**documentation.** A repository of ${shown(FILES)} Markdown files (BENCH_FILES) of about 4 KB in a history of a hundred files a commit: real words after Zipf's law, three of ten from one of 400 topics, in paragraphs, lists, tables and code under headings. Reading is \`signalbox repos sync\` in a process of its own with the built-in model, timed from its start: text alone until it says that it embeds, with vectors until its end; the baseline reads the same contents with git cat-file and does nothing with them. Chunks a CPU second count the time of the processor of that process and of the git processes it waits for. Searching is \`signalbox serve\` over a kept connection: ${QUESTIONS} questions of 5 to 9 words, stop words among them, common and rare words mixed, each asked once after ${WARM_UP_QUESTIONS} others to warm up, the best ${LIMIT}; then each once more at once, which the cache answers. The baseline is the same question in a bare FTS5 table of the same chunks in the benchmark's own process: its words but its stop words joined by OR, the best 50, without texts. A change is one file that is committed, timed from there until a search that is repeated shows a word of it, ${CHANGES} times. The same at about ${shown(FEWER_CHUNKS)} chunks of the same files. CPU times are those of a process, and of its main thread for a search, as Linux counts them: unlike the others they hardly change with what runs beside it.`

export async function run(lab: Lab): Promise<Finding[]> {
  const all = await readCorpus(lab, FILES)
  const indexing = await indexingFindings(all)
  const fewerFiles = Math.min(FILES, Math.round((FILES * FEWER_CHUNKS) / all.stored.chunks))
  const sizes = fewerFiles === FILES ? [all] : [await readCorpus(lab, fewerFiles), all]
  const findings = [...indexing]
  for (const corpus of sizes) findings.push(...(await searchFindings(lab, corpus)))
  return findings
}

/** A repository of the corpus, and the database it was read into. */
interface Corpus {
  root: string
  launch: Launch
  databasePath: string
  stored: StoredFigures
  reading: WatchedRun
}

async function readCorpus(lab: Lab, files: number): Promise<Corpus> {
  const root = lab.workTree()
  await commitCorpus(root, files)
  const databasePath = lab.path("signalbox.db")
  const launch = lab.ours(databasePath, root)
  await runWatched(launch, ["repos", "add", root, "--no-sync"])
  const reading = await runWatched(launch, ["repos", "sync"])
  const stored = storedFigures(databasePath)
  if (stored.unembedded > 0) throw new Error(`${stored.unembedded} chunks were not embedded`)
  say(
    `${shown(files)} files read, ${shown(stored.chunks)} chunks in ${(reading.elapsedMs / 1_000).toFixed(0)} s`,
  )
  return { root, launch, databasePath, stored, reading }
}

async function indexingFindings({ root, launch, stored, reading }: Corpus): Promise<Finding[]> {
  const { chunks, bytes } = stored
  const embedding = reading.lines.find(({ text }) => text.startsWith("Embedding"))
  if (embedding === undefined) throw new Error("repos sync did not say that it embeds")
  let read = 0
  const baselineMs = await timed(async () => {
    read = await readAllContents(root)
  })
  if (read < chunks) throw new Error("git cat-file has read next to nothing")
  const unchanged: WatchedRun[] = []
  for (let run = 0; run < UNCHANGED_RUNS; run += 1)
    unchanged.push(await runWatched(launch, ["repos", "sync"]))
  const unchangedMs = median(unchanged.map(({ elapsedMs }) => elapsedMs))
  const text = { elapsedMs: embedding.atMs, cpuMs: embedding.usage.cpuMs }
  const whole = { elapsedMs: reading.elapsedMs, cpuMs: reading.usage.cpuMs }
  const peak = reading.usage.peakBytes / MEGABYTE
  return [
    rateFinding("text only", chunks, text, GOAL_TEXT_CHUNKS_PER_SECOND_MIN),
    cpuRateFinding("text only", chunks, text),
    rateFinding("with vectors", chunks, whole, GOAL_CHUNKS_PER_SECOND_MIN),
    cpuRateFinding("with vectors", chunks, whole),
    ratioFinding("documentation: reading, text only", text.elapsedMs, baselineMs),
    atMost("documentation: second run, nothing changed", unchangedMs, GOAL_UNCHANGED_MS_MAX),
    plainFinding("documentation: CPU of a second run", ms(median(unchanged.map(({ usage }) => usage.cpuMs)))),
    plainFinding(
      "documentation: resident memory of reading, peak",
      `${peak.toFixed(0)} MB`,
      `< ${GOAL_PEAK_MEGABYTES_MAX} MB`,
      peak === 0 ? null : peak < GOAL_PEAK_MEGABYTES_MAX,
    ),
    plainFinding(
      "documentation: the same without mapped files",
      `${(reading.usage.anonymousBytes / MEGABYTE).toFixed(0)} MB`,
    ),
    plainFinding("documentation: database, bytes a chunk", (bytes / chunks).toFixed(0)),
  ]
}

/** What something took: of the clock, and of the processor. */
interface Taken {
  elapsedMs: number
  cpuMs: number
}

function rateFinding(what: string, chunks: number, { elapsedMs }: Taken, goal: number): Finding {
  const perSecond = chunks / (elapsedMs / 1_000)
  return plainFinding(
    `documentation: chunks a second, ${what}`,
    perSecond.toFixed(0),
    `>= ${shown(goal)}`,
    perSecond >= goal,
  )
}

function cpuRateFinding(what: string, chunks: number, { cpuMs }: Taken): Finding {
  const rate = cpuMs === 0 ? "-" : (chunks / (cpuMs / 1_000)).toFixed(0)
  return plainFinding(`documentation: chunks a CPU second, ${what}`, rate)
}

async function searchFindings(lab: Lab, corpus: Corpus): Promise<Finding[]> {
  const { launch, databasePath, root, stored } = corpus
  const label = `documentation, ${shown(stored.chunks)} chunks:`
  const bare = new BareChunks(lab.path("bare.db"), databasePath)
  const server = await ServeProcess.start(launch, databasePath)
  const { url, pid } = server.record
  const client = new KeptClient(`${url}/api/v1/documentation`, server.key)
  try {
    const times = await timeSearches(client, bare, pid)
    say(`${shown(stored.chunks)} chunks searched`)
    const changesMs = await timeChanges(client, root)
    const peak = (usageOf(pid)?.peakBytes ?? 0) / MEGABYTE
    const [p50, p95] = [quantile(times.first, 0.5), quantile(times.first, 0.95)]
    const bounded = atMost("", p95, GOAL_SEARCH_P95_MS_MAX)
    const isGoal = stored.chunks < FEWER_CHUNKS * 1.1
    const { goal, met } = isGoal ? bounded : { goal: "-", met: null }
    return [
      ratioFinding(`${label} search over HTTP, p50`, p50, quantile(times.bare, 0.5)),
      { ...ratioFinding(`${label} search over HTTP, p95`, p95, quantile(times.bare, 0.95)), goal, met },
      plainFinding(`${label} CPU of a search, p50 / p95`, pairOf(times.cpu)),
      plainFinding(`${label} CPU of asking again, p50 / p95`, pairOf(times.cpuAgain)),
      plainFinding(`${label} first search of a server`, ms(times.coldMs)),
      plainFinding(`${label} asked again, p50`, ms(quantile(times.again, 0.5))),
      atMost(`${label} asked again, p95`, quantile(times.again, 0.95), GOAL_CACHED_P95_MS_MAX),
      atMost(`${label} a change committed until found, p50`, quantile(changesMs, 0.5), GOAL_CHANGE_MS_MAX),
      plainFinding(`${label} a change committed until found, max`, ms(quantile(changesMs, 1))),
      plainFinding(`${label} resident memory of the server, peak`, `${peak.toFixed(0)} MB`),
    ]
  } finally {
    client.close()
    await server.close()
    bare.close()
  }
}

interface Answer {
  results: { content: string }[]
  meta: { cached: boolean; notes?: string[] }
}

function ask(client: KeptClient, query: string): Promise<Answer> {
  return client.ask<Answer>("POST", "/search", { query, limit: LIMIT })
}

async function timeSearches(client: KeptClient, bare: BareChunks, pid: number) {
  const coldMs = await timed(() => ask(client, "how does the first search begin"))
  for (const { text } of corpusQuestions(WARM_UP_QUESTIONS, 8)) {
    await ask(client, text)
    bare.search(text)
  }
  const times = {
    coldMs,
    first: [] as number[],
    again: [] as number[],
    bare: [] as number[],
    cpu: [] as number[],
    cpuAgain: [] as number[],
  }
  for (const { text } of corpusQuestions(QUESTIONS, 7)) {
    const first = await timedAnswer(client, text, pid)
    if (first.results.length === 0 || first.meta.cached || first.meta.notes !== undefined)
      throw new Error("a search has found nothing, or not in all chunks, or was answered from the cache")
    const again = await timedAnswer(client, text, pid)
    if (!again.meta.cached) throw new Error("the cache did not answer a question that was asked again")
    times.first.push(first.elapsedMs)
    times.cpu.push(first.cpuMs)
    times.again.push(again.elapsedMs)
    times.cpuAgain.push(again.cpuMs)
    times.bare.push(await timed(async () => bare.search(text)))
  }
  return times
}

async function timedAnswer(client: KeptClient, text: string, pid: number): Promise<Answer & Taken> {
  const cpuFromMs = mainThreadMs(pid)
  const fromMs = performance.now()
  const answer = await ask(client, text)
  const elapsedMs = performance.now() - fromMs
  return { ...answer, elapsedMs, cpuMs: mainThreadMs(pid) - cpuFromMs }
}

/** Returns how long each change took from its commit until it was found. */
async function timeChanges(client: KeptClient, root: string): Promise<number[]> {
  const times: number[] = []
  for (let change = 0; change < CHANGES; change += 1) {
    const word = `quillzephyr${change}`
    const index = change * 17
    await commitFile(
      root,
      documentPath(index),
      `${documentAt(index)}\n## Change\n\nUse ${word} from now on.\n`,
    )
    times.push(await timed(() => untilFound(client, word)))
  }
  return times
}

async function untilFound(client: KeptClient, word: string): Promise<void> {
  const untilMs = performance.now() + CHANGE_MS_MAX
  while (performance.now() < untilMs) {
    const { results } = await ask(client, `what is ${word} for`)
    if (results.some(({ content }) => content.includes(word))) return
  }
  throw new Error(`${word} was not found within ${CHANGE_MS_MAX / 1_000} s`)
}

function pairOf(times: readonly number[]): string {
  return `${ms(quantile(times, 0.5))} / ${ms(quantile(times, 0.95))}`
}

function atMost(what: string, valueMs: number, goalMs: number): Finding {
  return plainFinding(what, ms(valueMs), `< ${goalMs} ms`, valueMs < goalMs)
}

/** What runs beside it changes every time, so the load stands beside each part. */
function say(what: string): void {
  const [load = 0] = loadavg()
  console.log(`documentation: ${what} (load ${load.toFixed(1)})`)
}

function shown(size: number): string {
  return size.toLocaleString("en-US")
}
