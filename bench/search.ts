/** Searching 100,000 messages, next to the bare full-text index. */

import BetterSqlite3 from "better-sqlite3"
import type { Database } from "../src/db/database.ts"
import { parseQuery } from "../src/domain/text/query-text.ts"
import { openDatabase } from "../src/operations/database.ts"
import { sqliteSearch } from "../src/search/sqlite.ts"
import { insertMessage } from "../src/store/coordination/messages.ts"
import { addToThread, insertThread } from "../src/store/coordination/threads.ts"
import { queries, type Text, texts } from "./support/corpus.ts"
import type { Lab } from "./support/lab.ts"
import { quantile, timed } from "./support/numbers.ts"
import { type Finding, ratioFinding } from "./support/report.ts"
import { type Launch, numberAfter, StdioClient } from "./support/stdio-client.ts"

const MESSAGES = 100_000
const MESSAGES_PER_THREAD = 50
const MESSAGES_PER_TRANSACTION = 2_000
const QUERIES = 200
const ROUNDS = 3
const LIMIT = 20
const GOAL_P95_RATIO_MAX = 1.5
const START_MS = Date.parse("2026-01-01T00:00:00Z")

export const note = `**search.** ${QUERIES} queries over ${MESSAGES.toLocaleString("en-US")} messages with words after Zipf's law (20,000 words, bodies of 40 to 80 words, subjects of 6): four of five queries are one to three words from common to rare, every fifth is a phrase. Ours is search-messages through the server process over stdio, with its 20 excerpts. The baseline is an FTS5 table with the same columns, tokenizer, weights and texts in the benchmark's own process: rowid, rank and snippet of the best 20, the same words joined by OR. "In process" is our search alone, without transport, messages and excerpts. ${ROUNDS} rounds of all queries after one to warm up, the three in turns for each query.`

export async function run(lab: Lab): Promise<Finding[]> {
  const path = lab.path("signalbox.db")
  const launch = lab.ours(path, lab.workTree())
  const project = await prepareProject(launch)
  const db = await openDatabase(path)
  const raw = openRaw(lab.path("raw.db"))
  const samples = await load(db, raw, project)
  const client = await StdioClient.connect(launch)
  const select = raw.prepare<[string, number]>(
    "SELECT rowid, rank, snippet(texts, -1, '**', '**', '…', 32) FROM texts WHERE texts MATCH ? ORDER BY rank LIMIT ?",
  )
  const times = { ours: [] as number[], raw: [] as number[], inProcess: [] as number[] }
  for (let round = -1; round < ROUNDS; round += 1) {
    for (const query of queries(QUERIES, samples, 7)) {
      const args = { project_id: project.id, query: query.ours, limit: LIMIT }
      const oursMs = await timed(() => client.call("search-messages", args))
      const rawMs = await timed(async () => select.all(query.raw, LIMIT))
      const inProcessMs = await timed(() =>
        sqliteSearch.findMessages(db, parseQuery(query.ours), { projectId: project.id }, LIMIT),
      )
      if (round < 0) continue
      times.ours.push(oursMs)
      times.raw.push(rawMs)
      times.inProcess.push(inProcessMs)
    }
  }
  await client.close()
  await db.close()
  raw.close()
  const compared = (what: string, ours: number[], q: number, goal?: number) =>
    ratioFinding(`search: ${what}, p${q * 100}`, quantile(ours, q), quantile(times.raw, q), goal)
  return [
    compared("search-messages", times.ours, 0.5),
    compared("search-messages", times.ours, 0.95, GOAL_P95_RATIO_MAX),
    compared("in process", times.inProcess, 0.5),
    compared("in process", times.inProcess, 0.95),
  ]
}

interface Project {
  id: number
  senderId: number
  recipientId: number
}

async function prepareProject(launch: Launch): Promise<Project> {
  const client = await StdioClient.connect(launch)
  const identity = { project_key: "bench", program: "bench", model: "none" }
  const sender = await client.call("register-agent", { ...identity, name_hint: "Ada" })
  const recipient = await client.call("register-agent", { ...identity, name_hint: "Bob" })
  await client.close()
  return {
    id: numberAfter(sender, "Project id"),
    senderId: numberAfter(sender, "Agent id"),
    recipientId: numberAfter(recipient, "Agent id"),
  }
}

function openRaw(path: string): BetterSqlite3.Database {
  const raw = new BetterSqlite3(path)
  raw.pragma("journal_mode = WAL")
  raw.pragma("synchronous = NORMAL")
  raw.exec(`
    CREATE VIRTUAL TABLE texts USING fts5 (subject, body, tokenize = 'unicode61 remove_diacritics 2');
    INSERT INTO texts (texts, rank) VALUES ('rank', 'bm25(3.0, 1.0)');`)
  return raw
}

/** Puts the same texts into both; returns some of them. */
async function load(db: Database, raw: BetterSqlite3.Database, project: Project): Promise<Text[]> {
  const insert = raw.prepare("INSERT INTO texts (subject, body) VALUES (?, ?)")
  const insertAll = raw.transaction((batch: readonly Text[]) => {
    for (const { subject, body } of batch) insert.run(subject, body)
  })
  const samples: Text[] = []
  let batch: Text[] = []
  let loaded = 0
  for (const text of texts(MESSAGES, 42)) {
    batch.push(text)
    if (batch.length < MESSAGES_PER_TRANSACTION) continue
    insertAll(batch)
    await store(db, project, batch, START_MS + loaded * 1_000)
    loaded += batch.length
    samples.push(...batch.slice(0, 10))
    batch = []
  }
  return samples
}

function store(db: Database, project: Project, batch: readonly Text[], fromMs: number): Promise<void> {
  return db.transaction(`project:${project.id}`, async (tx) => {
    let threadId = 0
    for (const [index, { subject, body }] of batch.entries()) {
      const nowMs = fromMs + index * 1_000
      if (index % MESSAGES_PER_THREAD === 0) {
        const thread = { projectId: project.id, key: `thread-${nowMs}`, subject, isNotice: false }
        threadId = (await insertThread(tx, thread, nowMs)).id
      }
      const message = {
        projectId: project.id,
        threadId,
        parentId: null,
        senderId: project.senderId,
        subject,
        bodyMd: body,
        importance: "normal" as const,
        ackRequired: false,
        attachments: [],
        recipients: new Map([[project.recipientId, "to" as const]]),
      }
      const id = await insertMessage(tx, message, nowMs)
      await addToThread(tx, threadId, nowMs)
      await sqliteSearch.putMessage(tx, { id, subject, body })
    }
  })
}
