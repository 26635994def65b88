/** Runs the suite under `loopback-only.cjs`, and fails it when any of its processes connected elsewhere. */

import { existsSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { makeTemporaryFolder, remove } from "../../scripts/removal.ts"

const folder = makeTemporaryFolder()
const log = join(folder, "outbound.log")

export function setup(): void {
  process.env.SIGNALBOX_TEST_OUTBOUND = log
  const guard = join(import.meta.dirname, "loopback-only.cjs")
  process.env.NODE_OPTIONS = `${process.env.NODE_OPTIONS ?? ""} --require=${JSON.stringify(guard)}`.trim()
}

export function teardown(): void {
  const found = existsSync(log) ? readFileSync(log, "utf8") : ""
  remove(folder)
  if (found === "") return
  // Vitest prints what a teardown throws, and then ends as if nothing had happened.
  process.exitCode = 1
  throw new Error(`connections beyond this machine:\n${found}`)
}
