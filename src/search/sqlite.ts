/** The search port on SQLite's FTS5. */

import type { Queries, SqlValue } from "../db/database.ts"
import { hasWords, type MessageQuery, type QueryTerm } from "../domain/text/query-text.ts"
import { indexableText } from "../domain/text/words.ts"
import type { MessageFilter, SearchIndex, ThreadFilter } from "./index.ts"

/**
 * The index of messages. It keeps no text of its own: messages are never changed, and excerpts are made
 * from the stored message. What it is given are words already split and folded, by the same rule as
 * queries, so its own tokenizer has nothing left to do but to split at spaces. A match in the subject weighs three times one in the body.
 *
 * Rows are numbered by the negative message id: SQLite sorts stably, so of equally ranked messages the
 * index yields the newest first, without sorting by a second key, which would have to see every match.
 */
export const searchSchema = `
  CREATE VIRTUAL TABLE message_index USING fts5 (
    subject, body, content = '', tokenize = 'ascii'
  );
  INSERT INTO message_index (message_index, rank) VALUES ('rank', 'bm25(3.0, 1.0)');
`

/** Exported so that a test can prepare each of them. */
const MESSAGES = `
  FROM message_index f CROSS JOIN messages m ON m.id = -f.rowid
  WHERE f.message_index MATCH ?
    AND m.project_id = ?
    AND (? IS NULL OR m.sender_id = ?)
    AND (? IS NULL OR EXISTS (
      SELECT 1 FROM message_recipients r WHERE r.message_id = m.id AND r.agent_id = ? AND r.kind <> 'bcc'))
    AND (? IS NULL OR m.importance = ?)
    AND (? IS NULL OR m.created_at_ms >= ?)
    AND (? IS NULL OR m.created_at_ms <= ?)`
const THREADS = `
  FROM message_index f CROSS JOIN messages m ON m.id = -f.rowid JOIN threads t ON t.id = m.thread_id
  WHERE f.message_index MATCH ?
    AND m.project_id = ? AND t.is_notice = 0
    AND (? IS NULL OR EXISTS (
      SELECT 1 FROM messages p LEFT JOIN message_recipients r ON r.message_id = p.id
      WHERE p.thread_id = m.thread_id AND (p.sender_id = ? OR (r.agent_id = ? AND r.kind <> 'bcc'))))
    AND (? IS NULL OR t.last_message_at_ms >= ?)`

export const searchStatements = {
  putMessage: "INSERT INTO message_index (rowid, subject, body) VALUES (?, ?, ?)",
  // The index yields its rows in rank order, one by one, and the filters take what they want: the
  // work ends with the last row that is wanted, whatever else matches.
  findMessages: `SELECT m.id ${MESSAGES} ORDER BY f.rank LIMIT ?`,
  countMessages: `SELECT count(*) AS count FROM (SELECT m.id ${MESSAGES} LIMIT ?) found`,
  findThreads: `
    SELECT m.thread_id AS id ${THREADS}
    GROUP BY m.thread_id ORDER BY min(f.rank), max(t.last_message_at_ms) DESC, m.thread_id DESC LIMIT ?`,
  countThreads: `
    SELECT count(*) AS count FROM (SELECT DISTINCT m.thread_id ${THREADS} LIMIT ?) found`,
}

type IdRow = { id: number }
type CountRow = { count: number }

export const sqliteSearch: SearchIndex = {
  async putMessage(tx, message) {
    await tx.run(searchStatements.putMessage, [
      -message.id,
      indexableText(message.subject),
      indexableText(message.body),
    ])
  },

  async findMessages(db, query, filter, limit) {
    if (!hasWords(query)) return []
    return idsOf(
      await db.all<IdRow>(searchStatements.findMessages, [...messageArguments(query, filter), limit]),
    )
  },

  async countMessages(db, query, filter, max) {
    if (!hasWords(query)) return 0
    return countOf(
      await db.get<CountRow>(searchStatements.countMessages, [...messageArguments(query, filter), max]),
    )
  },

  async findThreads(db: Queries, query: MessageQuery, filter: ThreadFilter, limit: number) {
    if (!hasWords(query)) return []
    return idsOf(
      await db.all<IdRow>(searchStatements.findThreads, [...threadArguments(query, filter), limit]),
    )
  },

  async countThreads(db, query, filter, max) {
    if (!hasWords(query)) return 0
    return countOf(
      await db.get<CountRow>(searchStatements.countThreads, [...threadArguments(query, filter), max]),
    )
  },
}

function messageArguments(query: MessageQuery, filter: MessageFilter): SqlValue[] {
  const optional = [filter.senderId, filter.recipientId, filter.importance, filter.fromMs, filter.toMs]
  return [
    matchExpression(query),
    filter.projectId,
    ...optional.flatMap((value) => [value ?? null, value ?? null]),
  ]
}

function threadArguments(query: MessageQuery, filter: ThreadFilter): SqlValue[] {
  const participant = filter.participantId ?? null
  const fromMs = filter.fromMs ?? null
  return [matchExpression(query), filter.projectId, participant, participant, participant, fromMs, fromMs]
}

function countOf(row: CountRow | undefined): number {
  return row?.count ?? 0
}

function idsOf(rows: readonly IdRow[]): number[] {
  return rows.map((row) => row.id)
}

/**
 * Returns a query as an FTS5 expression. Every word stands in quotes and consists of letters and
 * digits only, so no text of a user can be read as syntax.
 * Source: https://www.sqlite.org/fts5.html#full_text_query_syntax
 */
function matchExpression(query: MessageQuery): string {
  const required = query.required.map(termExpression)
  const optional = query.optional.map(termExpression)
  const excluded = query.excluded.map(termExpression)
  // Optional terms beside required ones only rank: the first required one stands in for all of them.
  const ranking = [...required.slice(0, 1), ...optional].join(" OR ")
  const wanted = optional.length === 0 ? required.join(" AND ") : [...required, `(${ranking})`].join(" AND ")
  return excluded.length === 0 ? wanted : `(${wanted}) NOT (${excluded.join(" OR ")})`
}

function termExpression(term: QueryTerm): string {
  const phrase = `"${term.words.join(" ")}"${term.isPrefix ? " *" : ""}`
  return term.field === null ? phrase : `${term.field} : ${phrase}`
}
