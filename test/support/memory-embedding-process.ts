/**
 * A process of its own that does all the embedding work that waits in a database, and may kill itself in the
 * middle of it. Its argument is `EmbeddingWork` as JSON; it says "done" when it has lived.
 */

import { createHash } from "node:crypto"
import { openAppAlone } from "../../src/app.ts"
import { readConfig } from "../../src/config/config.ts"
import type { Embedder } from "../../src/embed/embedder.ts"
import type { App } from "../../src/operations/app.ts"
import { embedWaiting, useModel } from "../../src/operations/embedding/models.ts"

/** Where the process ends: while texts are embedded, in the transaction that stores one, or after that. */
export const DEATHS = ["while texts are embedded", "in a transaction", "after a transaction"] as const
type Death = (typeof DEATHS)[number]

export interface EmbeddingWork {
  databasePath: string
  home: string
  /** Another model that all memories are to be embedded with; none for what waits for the active one. */
  model?: string
  /** After how many memories to end, and where; never unless given. */
  death?: { after: number; where: Death }
}

/** A model of no package: its vectors are digests, so it needs no files. */
const DIGEST_MODEL = { dimensions: 64, calibration: { midpoint: 0.1, slope: 10 } }

async function main(work: EmbeddingWork): Promise<void> {
  const env = { SIGNALBOX_DB: work.databasePath, SIGNALBOX_LOG: "error" }
  const real = await openAppAlone(readConfig({ env, workingFolder: work.home, home: work.home }))
  const app = mortal(work.model === undefined ? real : withDigests(real, work.model), work.death)
  if (work.model !== undefined) await useModel(app, { name: work.model, source: "test", ...DIGEST_MODEL })
  await embedWaiting(app)
  await app.close()
  process.stdout.write("done\n")
}

/** Returns an app in which any model is made of digests. */
function withDigests(app: App, name: string): App {
  const vectorOf = (text: string) => {
    const bytes = createHash("sha512").update(text).digest()
    const length = Math.sqrt(bytes.reduce((sum, byte) => sum + (byte - 127.5) ** 2, 0))
    return Float32Array.from(bytes, (byte) => (byte - 127.5) / length)
  }
  const embedder: Embedder = {
    model: { name, ...DIGEST_MODEL },
    embedPassages: async (texts) => texts.map((text) => [vectorOf(text)]),
    embedQuery: async (text) => vectorOf(text),
    close: async () => {},
  }
  return { ...app, embedders: { ...app.embedders, ready: () => embedder, load: async () => embedder } }
}

/** Returns an app that ends its process where it is told to. */
function mortal(app: App, death: EmbeddingWork["death"]): App {
  if (death === undefined) return app
  const { after, where } = death
  let count = 0
  const dieIn = (place: Death) => {
    if (place === where && count >= after) process.kill(process.pid, "SIGKILL")
  }
  return {
    ...app,
    embedders: {
      ...app.embedders,
      async load(model) {
        const embedder = await app.embedders.load(model)
        return {
          ...embedder,
          async embedPassages(texts) {
            dieIn("while texts are embedded")
            return embedder.embedPassages(texts)
          },
        }
      },
    },
    memories: {
      ...app.memories,
      async putVectors(...args) {
        await app.memories.putVectors(...args)
        count += 1
        dieIn("in a transaction")
      },
      async findNeighbours(...args) {
        dieIn("after a transaction")
        return app.memories.findNeighbours(...args)
      },
    },
  }
}

const [, script, work] = process.argv
if (script?.endsWith("memory-embedding-process.ts") && work !== undefined)
  await main(JSON.parse(work) as EmbeddingWork)
