/** The chunks of a documentation database in a bare full-text table, and what the database takes for them. */

import BetterSqlite3 from "better-sqlite3"
import { queryWords } from "../../src/domain/memory/words.ts"
import { contentWords } from "../../src/domain/text/content-words.ts"

/** As deep as our own search looks at least. */
const DEPTH = 50

/** What is stored of a database's documentation. */
export interface StoredFigures {
  chunks: number
  bytes: number
  unembedded: number
}

/** Returns what a database, which need not be closed, has stored. */
export function storedFigures(databasePath: string): StoredFigures {
  const db = new BetterSqlite3(databasePath, { readonly: true })
  try {
    const number = (sql: string) => db.prepare<[], number>(sql).pluck().get() ?? 0
    return {
      chunks: number("SELECT count(*) FROM documentation_chunks"),
      bytes: number("SELECT page_count * page_size FROM pragma_page_count() CROSS JOIN pragma_page_size()"),
      unembedded: number(
        "SELECT coalesce(sum(chunk_count), 0) FROM documentation_blobs WHERE model_id IS NULL",
      ),
    }
  } finally {
    db.close()
  }
}

export class BareChunks {
  readonly #db: BetterSqlite3.Database
  readonly #select: BetterSqlite3.Statement<[string, number]>

  /** Copies headings and contents of all chunks into a new database at `path`. */
  constructor(path: string, databasePath: string) {
    this.#db = new BetterSqlite3(path)
    this.#db.pragma("journal_mode = WAL")
    this.#db.pragma("synchronous = NORMAL")
    this.#db.exec(
      "CREATE VIRTUAL TABLE texts USING fts5 (headings, body, content = '', tokenize = 'porter unicode61')",
    )
    this.#db.prepare("ATTACH ? AS source").run(databasePath)
    this.#db.exec(`
      INSERT INTO texts (rowid, headings, body)
      SELECT row_number() OVER (ORDER BY repository_id, number), headings, content FROM source.documentation_chunks;
      DETACH source;`)
    this.#select = this.#db.prepare("SELECT rowid, rank FROM texts WHERE texts MATCH ? ORDER BY rank LIMIT ?")
  }

  /** Asks for the best chunks with any word of a question but its stop words. */
  search(question: string): void {
    const words = contentWords(queryWords(question))
    this.#select.all(words.map((word) => `"${word}"`).join(" OR "), DEPTH)
  }

  close(): void {
    this.#db.close()
  }
}
