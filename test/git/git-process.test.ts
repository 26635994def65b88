/** How git is run: what it may do, what is told of its failures, and that it ends when it is not needed. */

import { spawnSync } from "node:child_process"
import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { describe, expect, onTestFinished, test } from "vitest"
import { callGit, GitError, nulRecords, requireGit, runGit, streamGit } from "../../src/git/git-process.ts"
import { temporaryFolder } from "../support/temporary-folder.ts"
import { all, TestRepository } from "./support.ts"

/** Sets a variable of this process until the test ends. */
function setVariable(name: string, value: string): void {
  const before = process.env[name]
  process.env[name] = value
  onTestFinished(() => {
    if (before === undefined) delete process.env[name]
    else process.env[name] = before
  })
}

/** Puts a program in git's place that notes its process id and does as told. */
function gitInPlace(script: string): { pidFile: string } {
  const folder = temporaryFolder()
  const pidFile = join(folder, "pid")
  const path = join(folder, "git")
  writeFileSync(path, `#!/bin/sh\necho $$ > '${pidFile}'\n${script}\n`)
  chmodSync(path, 0o755)
  setVariable("PATH", `${folder}:${process.env.PATH ?? ""}`)
  return { pidFile }
}

/** Whether the process that a file names is there, and more than a name that its parent has yet to read. */
function isAlive(pidFile: string): boolean {
  const { stdout } = spawnSync("ps", ["-o", "stat=", "-p", readFileSync(pidFile, "utf8").trim()], {
    encoding: "utf8",
  })
  return stdout.trim() !== "" && !stdout.trim().startsWith("Z")
}

describe("git", () => {
  test("is not led elsewhere by the variables of a git around it", async () => {
    const repository = new TestRepository()
    const commit = repository.commit()
    setVariable("GIT_DIR", temporaryFolder())
    setVariable("GIT_CONFIG_PARAMETERS", "'alias.rev-parse=!false'")
    const { root, gitFolder } = repository
    expect(await runGit(["rev-parse", "HEAD"], { folder: root })).toBe(commit)
    expect(await runGit(["rev-parse", "HEAD"], { gitFolder })).toBe(commit)
    expect(Buffer.concat(await all(streamGit(["rev-parse", "HEAD"], { gitFolder }))).toString()).toBe(
      `${commit}\n`,
    )
  })

  test("is run on a git directory whatever folder this process is in", async () => {
    const repository = new TestRepository()
    const commit = repository.commit()
    repository.git("config", "core.worktree", "../../gone")
    expect(await runGit(["rev-parse", "--verify", "HEAD"], { gitFolder: repository.gitFolder })).toBe(commit)
  })

  test("goes to no remote when it reads", async () => {
    const { gitFolder } = new TestRepository()
    const origin = new TestRepository()
    origin.commit()
    origin.git("config", "protocol.file.allow", "always")
    const args = ["-c", "protocol.file.allow=always", "ls-remote", "--", origin.url]
    await expect(requireGit(args, { gitFolder })).rejects.toThrow(/transport 'file' not allowed/)
    expect(await callGit(args, { gitFolder, reach: "network" })).toContain("refs/heads/main")
  })

  test("runs no hook and no monitor of the repository", async () => {
    const repository = new TestRepository()
    const trace = join(temporaryFolder(), "trace")
    const script = join(repository.gitFolder, "hooks", "reference-transaction")
    mkdirSync(join(repository.gitFolder, "hooks"), { recursive: true })
    writeFileSync(script, `#!/bin/sh\ntouch '${trace}'\n`, { mode: 0o755 })
    repository.commit()
    expect(existsSync(trace)).toBe(true)
    const other = join(temporaryFolder(), "trace")
    writeFileSync(script, `#!/bin/sh\ntouch '${other}'\n`, { mode: 0o755 })
    repository.git("config", "core.fsmonitor", script)
    await requireGit(["update-ref", "refs/heads/new", "HEAD"], { folder: repository.root })
    await requireGit(["status"], { folder: repository.root })
    expect(existsSync(other)).toBe(false)
  })
})

describe("a git that fails", () => {
  test("is told of by its first line, or by nothing", async () => {
    const gitFolder = temporaryFolder()
    expect(await runGit(["rev-parse", "HEAD"], { gitFolder })).toBeUndefined()
    await expect(requireGit(["rev-parse", "HEAD"], { gitFolder })).rejects.toThrow(
      /^fatal: not a git repository: [^\n]*$/,
    )
    await expect(all(streamGit(["rev-parse", "HEAD"], { gitFolder }))).rejects.toThrow(GitError)
    await expect(callGit(["rev-parse", "HEAD"], { gitFolder, reach: "here" })).rejects.toThrow(GitError)
  })

  test("that speaks of credentials is told of without them", () => {
    const error = new GitError("fatal: unable to access 'https://me:p@ss@host/a': and ssh://git@host/b")
    expect(error.message).toBe("fatal: unable to access 'https://host/a': and ssh://host/b")
  })

  test("may be one that is not there", async () => {
    const gitFolder = temporaryFolder()
    setVariable("PATH", gitFolder)
    expect(await runGit(["--version"])).toBeUndefined()
    await expect(all(streamGit(["--version"], { gitFolder }))).rejects.toThrow(/git cannot be run/)
    await expect(all(streamGit(["--version"], { gitFolder, input: ["a"] }))).rejects.toThrow(
      /git cannot be run/,
    )
    await expect(callGit(["--version"], { reach: "network" })).rejects.toThrow(/git cannot be run/)
  })

  test("may do so after much progress and a warning, of which nothing is told", async () => {
    gitInPlace(`
      printf 'remote: Counting objects: 1%%\\rremote: Counting objects: 100%%, done.\\n' >&2
      printf 'warning: something\\n' >&2
      for i in 1 2 3; do printf 'Receiving objects: %s%%\\r' $i >&2; done
      printf '\\nfatal: the end\\n' >&2; exit 128`)
    const told: string[] = []
    const call = callGit(["fetch"], { reach: "network", onProgress: (text) => told.push(text) })
    await expect(call).rejects.toThrow(/^fatal: the end$/)
    expect(told).toContain("remote: Counting objects: 1%")
    expect(told).toContain("Receiving objects: 3%")
  })
})

describe.skipIf(process.platform === "win32")("a git that nobody needs", () => {
  test("ends when its output is left", async () => {
    const { pidFile } = gitInPlace("yes")
    for await (const piece of streamGit(["any"], { gitFolder: temporaryFolder() })) {
      expect(piece.length).toBeGreaterThan(0)
      expect(isAlive(pidFile)).toBe(true)
      break
    }
    expect(isAlive(pidFile)).toBe(false)
  })

  test("ends when it is aborted, though it says nothing, and the reason is thrown", async () => {
    const { pidFile } = gitInPlace("echo begun\nexec sleep 600")
    const stop = new AbortController()
    const reason = new Error("enough")
    const reading = async () => {
      for await (const _ of streamGit(["any"], { gitFolder: temporaryFolder(), signal: stop.signal })) {
        stop.abort(reason)
      }
    }
    await expect(reading()).rejects.toBe(reason)
    expect(isAlive(pidFile)).toBe(false)
  })

  test("ends together with what it started, on the network", async () => {
    const childFile = join(temporaryFolder(), "child")
    const { pidFile } = gitInPlace(`sleep 600 & echo $! > '${childFile}'\necho begun >&2\nwait`)
    const stop = new AbortController()
    const reason = new Error("enough")
    const call = callGit(["any"], {
      reach: "network",
      signal: stop.signal,
      onProgress: () => stop.abort(reason),
    })
    await expect(call).rejects.toBe(reason)
    expect(isAlive(pidFile)).toBe(false)
    await expect.poll(() => isAlive(childFile)).toBe(false)
  })

  test("ends when its input fails, with what the input threw", async () => {
    const { pidFile } = gitInPlace("exec cat")
    const reason = new Error("no more")
    async function* input() {
      yield "a\n"
      await expect.poll(() => existsSync(pidFile)).toBe(true)
      throw reason
    }
    await expect(all(streamGit(["any"], { gitFolder: temporaryFolder(), input: input() }))).rejects.toBe(
      reason,
    )
    expect(isAlive(pidFile)).toBe(false)
  })

  test("may end before its input, which ends too", async () => {
    gitInPlace("exit 0")
    let isClosed = false
    function* input() {
      try {
        for (;;) yield "x".repeat(65_536)
      } finally {
        isClosed = true
      }
    }
    expect(await all(streamGit(["any"], { gitFolder: temporaryFolder(), input: input() }))).toEqual([])
    await expect.poll(() => isClosed).toBe(true)
  })

  test("ends after the time it is given", async () => {
    gitInPlace("exec sleep 600")
    await expect(requireGit(["any"], { timeoutMs: 50 })).rejects.toThrow(/git any took longer than 50 ms/)
    expect(await runGit(["any"], { timeoutMs: 50 })).toBeUndefined()
  })
})

test("records are found wherever the pieces of a stream are cut", async () => {
  const bytes = Buffer.from("one\0two two\0\0fo\nur\0")
  for (let size = 1; size <= bytes.length; size++) {
    async function* pieces() {
      for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size)
    }
    const records = (await all(nulRecords(pieces()))).flat().map(String)
    expect(records).toEqual(["one", "two two", "", "fo\nur"])
  }
  async function* cut() {
    yield Buffer.from("one\0tw")
  }
  await expect(all(nulRecords(cut()))).rejects.toThrow(GitError)
})
