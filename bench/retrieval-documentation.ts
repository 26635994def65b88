/**
 * How well documentation is found: questions on repositories whose answering sections are known, through the
 * public endpoint and through what it is made of, and whether what is found stands where its links say.
 */

import { join } from "node:path"
import { openAppAlone } from "../src/app.ts"
import { readConfig } from "../src/config/config.ts"
import { HttpServer } from "../src/http/server.ts"
import type { App } from "../src/operations/app.ts"
import { commandCall } from "../src/operations/caller.ts"
import { runIndexing } from "../src/operations/documentation/indexing.ts"
import { connectRepository } from "../src/operations/documentation/repositories.ts"
import { type DocumentationSearch, searchDocumentation } from "../src/operations/documentation/search.ts"
import { localKey, localKeyText } from "../src/operations/keys.ts"
import { servedHttp } from "../src/serve.ts"
import { findDocumentationBranch } from "../src/store/documentation/documentation.ts"
import { listBranchFiles, listChunks } from "../src/store/documentation/documents.ts"
import {
  type DocumentQuestion,
  openQuestionSets,
  type Place,
  type QuestionSet,
} from "./support/documentation-sets.ts"
import { interval, mean, RESAMPLES } from "./support/intervals.ts"
import { KeptClient } from "./support/kept-client.ts"
import { type Anchored, CommittedFiles, DIFFERENCES, type Difference } from "./support/line-anchors.ts"
import { pick, quantile, seeded } from "./support/numbers.ts"

const LIMIT = 10
const ANCHORS = 500
const FAULTS_SHOWN_MAX = 5
const WARM_UP_QUERY = "how does anything begin"

/** One result in whatever way it was asked for. */
type Found = Anchored
type Search = (query: string) => Promise<Found[]>

/** What one search found for one question. */
interface Score {
  hit1: number
  hit5: number
  hit10: number
  mrr: number
  timeMs: number
  /** Characters of each result. */
  lengths: number[]
}
const FIGURES: [key: "hit1" | "hit5" | "hit10" | "mrr", name: string][] = [
  ["hit1", "hit@1"],
  ["hit5", "hit@5"],
  ["hit10", "hit@10"],
  ["mrr", "MRR"],
]

/** A repository that is searched. */
interface Searched extends QuestionSet {
  repositoryId: number
  modes: [name: string, search: Search][]
}

/** A text compared with the lines that it is said to stand on. */
type Compared = Anchored & { difference: Difference }

/** What was measured on one repository, by mode. */
interface Measured {
  name: string
  modes: Map<string, Score[]>
  anchors: { results: Compared[]; chunks: Compared[] }
}

/**
 * Measures the repositories of a data folder, with work trees and database in `folder`; returns the report as
 * Markdown. Fails when there is no archive with questions on it.
 */
export async function measureDocumentation(dataFolder: string, folder: string): Promise<string> {
  const sets = openQuestionSets(dataFolder, join(folder, "repositories"))
  if (sets.length === 0)
    throw new Error(`${dataFolder} has no docs/*.tar.gz with docs-questions/*.jsonl on it`)
  const env = { SIGNALBOX_DB: join(folder, "signalbox.db"), SIGNALBOX_LOG: "warn", SIGNALBOX_LIMITS: "off" }
  const app = await openAppAlone(readConfig({ env, workingFolder: folder, home: folder }))
  const served = servedHttp(app)
  const urlOf = (port: number) => `http://127.0.0.1:${port}`
  const server = await HttpServer.listen(0, (port) => served.makeHttp({ url: urlOf(port) }), app.log)
  const client = new KeptClient(`${urlOf(server.port)}/api/v1/documentation`, await localKeyText(app))
  try {
    const measured: Measured[] = []
    for (const set of sets) measured.push(await measureSet(app, await connect(app, client, set)))
    return reportOf(measured)
  } finally {
    client.close()
    await server.close()
    await served.close()
    await app.close()
  }
}

async function connect(app: App, client: KeptClient, set: QuestionSet): Promise<Searched> {
  const { id, name } = await connectRepository(app, { target: set.root, name: set.name, branches: [] })
  if ((await runIndexing(app, { repositoryIds: [id] })) !== "done") throw new Error(`${name} is not indexed`)
  const inProcess =
    (using?: DocumentationSearch["using"]): Search =>
    async (query) => {
      const context = { ...commandCall(app), key: await localKey(app), nowMs: app.now() }
      const { results } = await searchDocumentation(context, { query, limit: LIMIT, repository: name, using })
      return results.map(({ line_start: lineStart, line_end: lineEnd, ...result }) => ({
        ...result,
        lineStart,
        lineEnd,
        text: result.content,
      }))
    }
  const modes: Searched["modes"] = [
    ["text only", inProcess("words")],
    ["vectors only", inProcess("vectors")],
    ["fused", inProcess("fusion")],
    ["full, over HTTP", overHttp(client, name)],
  ]
  return { ...set, repositoryId: id, modes }
}

function overHttp(client: KeptClient, repository: string): Search {
  return async (query) => {
    const answer = await client.ask<{ results: HttpResult[] }>("POST", "/search", {
      query,
      repository,
      limit: LIMIT,
    })
    return answer.results.map(({ file, line_start, line_end, content, url }) => ({
      file,
      lineStart: line_start,
      lineEnd: line_end,
      text: content,
      url,
    }))
  }
}
interface HttpResult {
  file: string
  line_start: number
  line_end: number
  content: string
  url: string
}

async function measureSet(app: App, searched: Searched): Promise<Measured> {
  const { name, root, commit, questions } = searched
  const modes = new Map<string, Score[]>()
  const results: Anchored[] = []
  for (const [mode, search] of searched.modes) {
    await search(WARM_UP_QUERY)
    const scores: Score[] = []
    for (const question of questions) {
      const fromMs = performance.now()
      const found = await search(question.text)
      scores.push({ ...scoreOf(found, question), timeMs: performance.now() - fromMs })
      results.push(...found.filter(({ url }) => url !== undefined))
    }
    modes.set(mode, scores)
  }
  const files = new CommittedFiles(root, commit)
  const random = seeded(11)
  const compared = (texts: readonly Anchored[]) =>
    texts.map((text) => ({ ...text, difference: files.compare(text) }))
  const anchors = {
    results: compared(sampled(results, random)),
    chunks: compared(sampled(await chunksOf(app, searched.repositoryId), random)),
  }
  return { name, modes, anchors }
}

function scoreOf(found: readonly Found[], { places }: DocumentQuestion): Omit<Score, "timeMs"> {
  const rank = found.findIndex((result) => places.some((place) => isMet(result, place)))
  const hitAt = (k: number) => (rank >= 0 && rank < k ? 1 : 0)
  return {
    hit1: hitAt(1),
    hit5: hitAt(5),
    hit10: hitAt(LIMIT),
    mrr: rank < 0 ? 0 : 1 / (rank + 1),
    lengths: found.map(({ text }) => text.length),
  }
}

/** Whether a result shows lines of a place. */
function isMet(result: Place, place: Place): boolean {
  const meets = result.lineStart <= place.lineEnd && result.lineEnd >= place.lineStart
  return result.file === place.file && meets
}

/** Returns all chunks of a repository's only branch. */
async function chunksOf({ db }: App, repositoryId: number): Promise<Anchored[]> {
  const branch = await findDocumentationBranch(db, repositoryId, "main")
  if (branch === undefined) throw new Error("the repository has no branch main")
  const chunks: Anchored[] = []
  for (const { path, firstNumber, chunkLengths } of await listBranchFiles(db, branch.id)) {
    const last = firstNumber + chunkLengths.length - 1
    for (const chunk of await listChunks(db, repositoryId, firstNumber, last))
      chunks.push({ ...chunk, file: path })
  }
  return chunks
}

function sampled<T>(items: readonly T[], random: () => number): T[] {
  if (items.length <= ANCHORS) return [...items]
  return Array.from({ length: ANCHORS }, () => pick(items, random))
}

function reportOf(measured: readonly Measured[]): string {
  const names = [...(measured[0]?.modes.keys() ?? [])]
  const all: Measured["modes"] = new Map(
    names.map((mode) => [mode, measured.flatMap(({ modes }) => modes.get(mode) ?? [])]),
  )
  const lines = [
    "# Retrieval of documentation",
    "",
    `Questions on ${measured.length} repositories, the best ${LIMIT}; a hit is a result of the right file with lines of a section that answers. In brackets 95 % of ${RESAMPLES.toLocaleString("en-US")} bootstrap samples over questions.`,
    ...measured.flatMap(({ name, modes }) => tableOf(name, modes)),
    ...(measured.length > 1 ? tableOf("All repositories", all) : []),
    "",
    "## Lines",
    "",
    `How texts differ from the lines that they are said to stand on, as git has them at that commit: not at all, in blanks at ends of lines, by being part of a long line, by a mark in the place of what was left out of a long word, otherwise, or only in the link.`,
    "",
    `| | ${DIFFERENCES.join(" | ")} |`,
    `| --- |${" --- |".repeat(DIFFERENCES.length)}`,
    ...measured.flatMap(({ name, anchors }) => [
      anchorRow(`${name}, results`, anchors.results),
      anchorRow(`${name}, chunks`, anchors.chunks),
    ]),
    ...measured.flatMap(({ name, anchors }) => faultsOf(name, [...anchors.results, ...anchors.chunks])),
  ]
  return `${lines.join("\n")}\n`
}

function anchorRow(name: string, texts: readonly Compared[]): string {
  const counts = DIFFERENCES.map((kind) => texts.filter(({ difference }) => difference === kind).length)
  return `| ${name} (${texts.length}) | ${counts.join(" | ")} |`
}

/** Names some of the texts that stand elsewhere than they are said to. */
function faultsOf(name: string, texts: readonly Compared[]): string[] {
  const faults = texts
    .filter(({ difference }) => difference === "other" || difference === "link")
    .map(
      ({ file, lineStart, lineEnd, url }) =>
        `- ${name}: ${file}:${lineStart}-${lineEnd}, link ${url ?? "none"}`,
    )
  return [...new Set(faults)].slice(0, FAULTS_SHOWN_MAX)
}

function tableOf(title: string, modes: Measured["modes"]): string[] {
  const questions = [...modes.values()][0]?.length ?? 0
  const lines = [
    "",
    `## ${title} (${questions} questions)`,
    "",
    `| | ${FIGURES.map(([, name]) => name).join(" | ")} | results | characters a result | p50 | p95 |`,
    `| --- |${" --- |".repeat(FIGURES.length + 4)}`,
  ]
  for (const [mode, scores] of modes) {
    const figures = FIGURES.map(([key]) => interval(scores.map((score) => score[key])))
    const lengths = scores.flatMap((score) => score.lengths)
    const times = scores.map(({ timeMs }) => timeMs)
    const shown = [
      mean(scores.map((score) => score.lengths.length)).toFixed(1),
      mean(lengths).toFixed(0),
      `${quantile(times, 0.5).toFixed(1)} ms`,
      `${quantile(times, 0.95).toFixed(1)} ms`,
    ]
    lines.push(`| ${mode} | ${[...figures, ...shown].join(" | ")} |`)
  }
  return lines
}
