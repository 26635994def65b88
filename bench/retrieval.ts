/**
 * How well things are found. Usage: npm run bench:retrieval -- <data> [results.md], where the data, which are not
 * shipped, are locomo10.json for memories, or for documentation a folder with docs/*.tar.gz and
 * docs-questions/*.jsonl.
 */

import { existsSync, statSync, writeFileSync } from "node:fs"
import { makeTemporaryFolder, remove } from "../scripts/removal.ts"
import { measureDocumentation } from "./retrieval-documentation.ts"
import { measureMemories } from "./retrieval-memories.ts"

const [dataPath, resultsPath] = process.argv.slice(2)
if (dataPath === undefined || !existsSync(dataPath)) {
  console.log(
    "bench:retrieval is skipped: it needs the path of locomo10.json, or of a folder with docs/*.tar.gz and docs-questions/*.jsonl, which are not shipped with signalbox",
  )
  process.exit(0)
}
const folder = makeTemporaryFolder()
try {
  const measure = statSync(dataPath).isDirectory() ? measureDocumentation : measureMemories
  const report = await measure(dataPath, folder)
  console.log(report)
  if (resultsPath !== undefined) writeFileSync(resultsPath, report)
} finally {
  remove(folder)
}
