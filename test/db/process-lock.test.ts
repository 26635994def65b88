import { execFileSync, spawn } from "node:child_process"
import { once } from "node:events"
import { statSync } from "node:fs"
import { join } from "node:path"
import { describe, expect, onTestFinished, test } from "vitest"
import { openProcessLock, type ProcessLock } from "../../src/db/process-lock.ts"
import { temporaryFolder } from "../support/temporary-folder.ts"

function lockPath(): string {
  const folder = temporaryFolder()
  return join(folder, "a.lock")
}

function opened(path: string): ProcessLock {
  const lock = openProcessLock(path)
  onTestFinished(() => lock.close())
  return lock
}

describe("a process lock", () => {
  test("is held by one at a time, and asking again changes nothing", () => {
    const path = lockPath()
    const [one, other] = [opened(path), opened(path)]
    expect([one.tryTake(), other.tryTake(), one.tryTake(), other.tryTake()]).toEqual([
      true,
      false,
      true,
      false,
    ])
    one.close()
    expect(other.tryTake()).toBe(true)
  })

  test("stays held against other processes when its own process opens and closes the file again", () => {
    const path = lockPath()
    const holder = opened(path)
    expect(holder.tryTake()).toBe(true)
    const again = openProcessLock(path)
    expect(again.tryTake()).toBe(false)
    again.close()
    const code = `
      import BetterSqlite3 from "better-sqlite3"
      try {
        new BetterSqlite3(process.argv[1], { timeout: 0 }).exec("BEGIN EXCLUSIVE")
        process.stdout.write("taken")
      } catch (error) {
        process.stdout.write(error.code)
      }`
    const args = ["--input-type=module", "-e", code, path]
    expect(execFileSync(process.execPath, args, { encoding: "utf8" })).toBe("SQLITE_BUSY")
  })

  test("lies in a file that only its owner may read", () => {
    const path = lockPath()
    opened(path).tryTake()
    expect(statSync(path).mode & 0o777).toBe(0o600)
  })

  test("cannot be opened where no file can be", () => {
    const path = lockPath()
    expect(() => openProcessLock(join(path, "missing", "a.lock"))).toThrow("ENOENT")
  })

  test("keeps other processes out, and is free again when its holder is killed", async () => {
    const path = lockPath()
    const code = `
      import BetterSqlite3 from "better-sqlite3"
      // A connection without references is closed by the garbage collector.
      globalThis.held = new BetterSqlite3(process.argv[1], { timeout: 0 })
      globalThis.held.exec("BEGIN EXCLUSIVE")
      process.send("held")
      // Nothing else keeps it from ending by itself, before it is killed.
      setInterval(() => {}, 1000)`
    const own = opened(path)
    const holder = spawn(process.execPath, ["--input-type=module", "-e", code, path], {
      stdio: ["ignore", "ignore", "inherit", "ipc"],
    })
    const ended = once(holder, "exit")
    await once(holder, "message")
    expect(own.tryTake()).toBe(false)
    holder.kill("SIGKILL")
    expect(await ended).toEqual([null, "SIGKILL"])
    expect(own.tryTake()).toBe(true)
  })
})
