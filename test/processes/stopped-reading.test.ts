/** Ctrl+C in the middle of `repos add`, with real processes: nothing stays behind that a later command waits for. */

import { spawn } from "node:child_process"
import { once } from "node:events"
import { join } from "node:path"
import { expect, test } from "vitest"
import { openProcessLock } from "../../src/db/process-lock.ts"
import { packageFile } from "../../src/runtime/package-root.ts"
import { repositoryWith } from "../support/documentation-files.ts"
import { temporaryFolder } from "../support/temporary-folder.ts"

test("Ctrl+C ends repos add and all that it has started, and what comes next has the database to itself", async () => {
  const text = "The anvil is forged in the morning. ".repeat(300)
  const files = Array.from({ length: 60 }, (_, at) => [`${at}.md`, `# File ${at}\n\n${text}\n`])
  const { root } = repositoryWith(Object.fromEntries(files))
  const databasePath = join(temporaryFolder(), "signalbox.db")
  const args = [packageFile("bin/signalbox.js"), "repos", "add", root, "--db", databasePath]
  // A group of its own is what a terminal sends the signal to.
  const command = spawn(process.execPath, args, { detached: true, stdio: ["ignore", "ignore", "pipe"] })
  let told = ""
  const reading = new Promise<void>((resolve) => {
    command.stderr.on("data", (data: Buffer) => {
      told += data.toString()
      if (told.includes("Reading")) resolve()
    })
  })
  const ended = once(command, "exit")
  await Promise.race([reading, ended])
  const group = -(command.pid ?? 0)
  process.kill(group, "SIGINT")
  expect(await ended).toEqual([1, null])
  expect(told).toContain("goes on where it stopped")
  expect(() => process.kill(group, 0), "no process of the group is left").toThrow("ESRCH")
  const lock = openProcessLock(`${databasePath}.indexing.lock`)
  expect(lock.tryTake()).toBe(true)
  lock.close()
})
