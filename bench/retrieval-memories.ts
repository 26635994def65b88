/**
 * How well memories are found: LoCoMo's questions on its conversations, one memory a turn, through the search
 * that every interface calls.
 */

import { join } from "node:path"
import { openAppAlone } from "../src/app.ts"
import { readConfig } from "../src/config/config.ts"
import type { App } from "../src/operations/app.ts"
import { commandCall } from "../src/operations/caller.ts"
import { localKey } from "../src/operations/keys.ts"
import { createMemory } from "../src/operations/memory/memories.ts"
import { type MemorySearch, searchMemories } from "../src/operations/memory/search.ts"
import type { TenantContext } from "../src/operations/operation.ts"
import { insertRepository } from "../src/store/repositories.ts"
import { interval, RESAMPLES } from "./support/intervals.ts"
import { CATEGORIES, type Conversation, type Question, readLocomo } from "./support/locomo.ts"
import { quantile } from "./support/numbers.ts"

const LIMIT = 10

/** What is compared; each adds one thing to the one before. */
const MODES: [name: string, request: Partial<MemorySearch>][] = [
  ["text only", { max_hops: 0, using: "words" }],
  ["vectors only", { max_hops: 0, using: "vectors" }],
  ["fused", { max_hops: 0 }],
  ["fused with waypoints", { max_hops: 3 }],
]

/** What one search found for one question. */
interface Score {
  recall5: number
  recall10: number
  all10: number
  ndcg10: number
}
const FIGURES: [key: keyof Score, name: string][] = [
  ["recall5", "recall@5"],
  ["recall10", "recall@10"],
  ["all10", "all@10"],
  ["ndcg10", "nDCG@10"],
]

/** Measures the conversations of a file in a database in `folder`; returns the report as Markdown. */
export async function measureMemories(dataPath: string, folder: string): Promise<string> {
  const conversations: readonly Conversation[] = readLocomo(dataPath)
  const config = readConfig({
    env: { SIGNALBOX_DB: join(folder, "signalbox.db"), SIGNALBOX_LOG: "warn" },
    workingFolder: folder,
    home: folder,
  })
  const app = await openAppAlone(config)
  const asked: Question[] = []
  const scores = MODES.map((): Score[] => [])
  const times = MODES.map((): number[] => [])
  for (const conversation of conversations) {
    const context = await tenantFor(app, conversation)
    const turnOf = await remember(context, conversation)
    for (const question of conversation.questions) {
      asked.push(question)
      for (const [index, [, mode]] of MODES.entries()) {
        const request = { query: question.text, limit: LIMIT, expand_waypoints: true, max_hops: 0, ...mode }
        const fromMs = performance.now()
        const found = await searchMemories(context, request)
        times[index]?.push(performance.now() - fromMs)
        const turns = found.data.map((memory) => turnOf.get(memory.id) ?? "")
        scores[index]?.push(scoreOf(turns, question.evidence))
      }
    }
  }
  await app.close()
  return reportOf(asked, scores, times)
}

async function tenantFor(app: App, { name }: Conversation): Promise<TenantContext> {
  const key = await localKey(app)
  const nowMs = app.now()
  const repository = await app.db.transaction("repositories", (tx) =>
    insertRepository(
      tx,
      { name, rootPath: `/${name}`, identityPath: `/${name}`, defaultBranch: null, ignoreCase: false },
      nowMs,
    ),
  )
  return { ...commandCall(app), key, nowMs, repository }
}

/** Stores the turns in order; returns which memory is which turn. */
async function remember(context: TenantContext, { name, turns }: Conversation): Promise<Map<string, string>> {
  const turnOf = new Map<string, string>()
  for (const { id, text } of turns) {
    const memory = await createMemory(context, { content: text, tags: [name], metadata: { turn: id } })
    turnOf.set(memory.id, id)
  }
  return turnOf
}

function scoreOf(found: readonly string[], evidence: readonly string[]): Score {
  const wanted = new Set(evidence)
  const recallAt = (k: number) => found.slice(0, k).filter((id) => wanted.has(id)).length / wanted.size
  const gain = (rank: number) => 1 / Math.log2(rank + 2)
  const gained = found.reduce((sum, id, rank) => sum + (wanted.has(id) ? gain(rank) : 0), 0)
  const ideal = Array.from({ length: Math.min(wanted.size, LIMIT) }, (_, rank) => gain(rank))
  return {
    recall5: recallAt(5),
    recall10: recallAt(LIMIT),
    all10: recallAt(LIMIT) === 1 ? 1 : 0,
    ndcg10: gained / ideal.reduce((sum, one) => sum + one, 0),
  }
}

function reportOf(
  asked: readonly Question[],
  scores: readonly Score[][],
  times: readonly number[][],
): string {
  const text = scores[0] ?? []
  const lines = [
    "# Retrieval",
    "",
    `${asked.length} questions of LoCoMo on 10 conversations, one memory a turn, the best ${LIMIT}. In brackets 95 % of ${RESAMPLES.toLocaleString("en-US")} bootstrap samples over questions.`,
  ]
  for (const category of [undefined, ...CATEGORIES]) {
    const chosen = asked.flatMap((question, at) =>
      category === undefined || question.category === category ? [at] : [],
    )
    lines.push("", `## ${category ?? "All categories"} (${chosen.length})`, "")
    lines.push(`| | ${FIGURES.map(([, name]) => name).join(" | ")} | recall@10 against text only |`)
    lines.push(`| --- |${" --- |".repeat(FIGURES.length + 1)}`)
    for (const [index, [name]] of MODES.entries()) {
      const own = scores[index] ?? []
      const figures = FIGURES.map(([key]) => interval(chosen.map((at) => own[at]?.[key] ?? 0)))
      const gains = chosen.map((at) => (own[at]?.recall10 ?? 0) - (text[at]?.recall10 ?? 0))
      lines.push(`| ${name} | ${figures.join(" | ")} | ${index === 0 ? "" : interval(gains)} |`)
    }
  }
  lines.push("", "## Time of one search", "")
  for (const [index, [name]] of MODES.entries()) {
    const own = times[index] ?? []
    lines.push(`- ${name}: p50 ${quantile(own, 0.5).toFixed(1)} ms, p95 ${quantile(own, 0.95).toFixed(1)} ms`)
  }
  return `${lines.join("\n")}\n`
}
