/** Runs the suite under `loopback-only.cjs`, and fails it when any of its processes connected elsewhere. */

import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"

const folder = mkdtempSync(join(tmpdir(), "signalbox-outbound-"))
const log = join(folder, "outbound.log")

export function setup(): void {
  process.env.SIGNALBOX_TEST_OUTBOUND = log
  const guard = join(import.meta.dirname, "loopback-only.cjs")
  process.env.NODE_OPTIONS = `${process.env.NODE_OPTIONS ?? ""} --require=${guard}`.trim()
}

export function teardown(): void {
  const found = existsSync(log) ? readFileSync(log, "utf8") : ""
  rmSync(folder, { recursive: true, force: true })
  if (found === "") return
  // Vitest prints what a teardown throws, and then ends as if nothing had happened.
  process.exitCode = 1
  throw new Error(`connections beyond this machine:\n${found}`)
}
