/** Fuzzing finds what it is for, and says how to see it again. */

import { spawn } from "node:child_process"
import { once } from "node:events"
import { fileURLToPath } from "node:url"
import { expect, test } from "vitest"

const RUN = fileURLToPath(new URL("../../fuzz/run.ts", import.meta.url))
const BROKEN = fileURLToPath(new URL("../support/broken-parts.ts", import.meta.url))

test("what must not happen ends the fuzzing with a failure, each with its seed and its input", async () => {
  const args = [
    "--import",
    import.meta.resolve("tsx"),
    RUN,
    "--parts",
    BROKEN,
    "--minutes",
    "0.02",
    "--seed",
    "7",
  ]
  const child = spawn(process.execPath, args, { stdio: ["ignore", "pipe", "pipe"] })
  const [stdout, stderr, [code]] = await Promise.all([
    child.stdout.setEncoding("utf8").toArray(),
    child.stderr.setEncoding("utf8").toArray(),
    once(child, "close"),
  ])
  const told = stderr.join("")
  // What leaves the process alive is shrunk.
  expect(told).toMatch(
    /found in says, seed \d+: a tool says "TypeError".*\n {2}input: 1000\n {2}again: npm run fuzz/,
  )
  expect(told).toMatch(
    /found in hangs, seed \d+: its event loop stands still for \d+ ms.*\n {2}input: \d{4,}\n/,
  )
  expect(told).toMatch(
    /found in rejects, seed \d+: unhandledRejection: it threw: Error: nobody waits for this/,
  )
  expect(told).toContain("npm run fuzz -- --only hangs --seed")
  expect(stdout.join("")).toMatch(/[1-9]\d* executions in \d+ s, 3 findings/)
  expect(code).toBe(1)
})
