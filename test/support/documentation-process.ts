/**
 * A process of its own that brings the documentation in a database up to date, and may kill itself in the middle of
 * it. Its argument is `IndexingErrand` as JSON; one that lives prints what it came to.
 */

import { openAppAlone } from "../../src/app.ts"
import { readConfig } from "../../src/config/config.ts"
import type { Database, Queries } from "../../src/db/database.ts"
import { runIndexing } from "../../src/operations/documentation/indexing.ts"

/** The moments of indexing at which something can be lost, by the statements that are run then. */
const MOMENTS = {
  "storing texts": /INSERT INTO documentation_(blobs|chunks)/,
  "storing words": /INSERT INTO document_postings/,
  "turning a branch": /(INSERT INTO|UPDATE|DELETE FROM) documentation_(files|branches)/,
  "storing vectors": /INSERT INTO document_(vectors|bits)|UPDATE documentation_blobs/,
  "cleaning up":
    /(UPDATE|DELETE FROM) document_postings|DELETE FROM (document_vectors|documentation_(chunks|blobs))/,
} as const
/** After a transaction, and while git is asked when files were changed. */
export type Moment = keyof typeof MOMENTS | "between" | "dating"

const DATING = /SELECT f\.path, b\.key/

export interface IndexingErrand {
  databasePath: string
  home: string
  /** Where to end: at the moment of this number of its kind, from 1; never unless given. */
  death?: { moment: Moment; number: number }
}

/** What a process that lived has come to. */
export interface IndexingOutcome {
  result: string
  /** How often each moment came. */
  moments: Partial<Record<Moment, number>>
}

async function main({ databasePath, home, death }: IndexingErrand): Promise<void> {
  const moments: IndexingOutcome["moments"] = {}
  const meet = (moment: Moment) => {
    const number = (moments[moment] ?? 0) + 1
    moments[moment] = number
    if (moment !== death?.moment || number !== death.number) return
    const die = () => process.kill(process.pid, "SIGKILL")
    if (moment === "dating") setImmediate(() => setImmediate(die))
    else die()
  }
  const env = { SIGNALBOX_DB: databasePath, SIGNALBOX_LOG: "error" }
  const app = await openAppAlone(readConfig({ env, workingFolder: home, home }))
  const result = await runIndexing({ ...app, db: watched(app.db, meet) })
  await app.close()
  process.stdout.write(JSON.stringify({ result, moments } satisfies IndexingOutcome))
}

/** Returns a database that tells of each moment just before its statement is run. */
function watched(db: Database, meet: (moment: Moment) => void): Database {
  const told = (queries: Queries): Queries => {
    const tell = (sql: string) => {
      for (const [moment, pattern] of Object.entries(MOMENTS)) if (pattern.test(sql)) meet(moment as Moment)
      if (DATING.test(sql)) meet("dating")
    }
    return {
      all: (sql, args) => {
        tell(sql)
        return queries.all(sql, args)
      },
      get: (sql, args) => {
        tell(sql)
        return queries.get(sql, args)
      },
      run: (sql, args) => {
        tell(sql)
        return queries.run(sql, args)
      },
    }
  }
  return {
    ...told(db),
    async transaction(lock, body) {
      const result = await db.transaction(lock, (tx) => body(told(tx)))
      meet("between")
      return result
    },
    watch: (onChange) => db.watch(onChange),
    close: () => db.close(),
  }
}

const [, script, errand] = process.argv
if (script?.endsWith("documentation-process.ts") && errand !== undefined)
  await main(JSON.parse(errand) as IndexingErrand)
