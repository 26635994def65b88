import { type ChildProcess, execFile, fork, spawn } from "node:child_process"
import BetterSqlite3 from "better-sqlite3"
import { describe, expect, test } from "vitest"
import { openProcessLock } from "../../../src/db/process-lock.ts"
import type { IndexerRequest } from "../../../src/operations/documentation/indexer.ts"
import { commitFiles, type Files } from "../../support/documentation.ts"
import { BINARY, environment, type Place, place } from "../../support/server-process.ts"

interface Ended {
  code: number | null
  stdout: string
  stderr: string
}

/** Starts the command line as a user does. */
function start(where: Place, args: readonly string[]): { child: ChildProcess; ended: Promise<Ended> } {
  const child = spawn(process.execPath, [BINARY, ...args], {
    cwd: where.repository,
    env: environment(where),
    stdio: ["pipe", "pipe", "pipe"],
  })
  where.atEnd(() => void child.kill("SIGKILL"))
  const said = { stdout: "", stderr: "" }
  for (const name of ["stdout", "stderr"] as const) {
    child[name].setEncoding("utf8").on("data", (part: string) => {
      said[name] += part
    })
  }
  return { child, ended: new Promise((resolve) => child.once("close", (code) => resolve({ code, ...said }))) }
}

/** Runs it to its end, with nothing on stdin. */
function signalbox(where: Place, ...args: string[]): Promise<Ended> {
  const { child, ended } = start(where, args)
  child.stdin?.end()
  return ended
}

/** So much documentation that reading it takes a while. */
function manyFiles(count: number): Files {
  const page = (number: number) =>
    `# Page ${number}\n\n${Array.from({ length: 40 }, (_, index) => `Word${number} of paragraph ${index}, and what it says.\n`).join("\n")}`
  return Object.fromEntries(Array.from({ length: count }, (_, number) => [`docs/${number}.md`, page(number)]))
}

interface Listed {
  state: string
  branches: { files: number; is_complete: boolean }[]
}
const list = async (where: Place) =>
  JSON.parse((await signalbox(where, "repos", "list", "--json")).stdout) as Listed[]

test("repos and docs work from a shell, and wrong use ends with 2", async () => {
  const where = place()
  commitFiles(where.repository, { "guide.md": "# Guide\n\nZebras run.\n" })
  const found = await signalbox(where, "docs", "search", "where", "zebras", "run", "--json")
  expect(found).toMatchObject({ code: 0, stderr: "" })
  expect(JSON.parse(found.stdout)).toMatchObject({ results: [{ file: "guide.md" }] })
  const plain = await signalbox(where, "docs", "search", "zebras")
  expect(plain.stdout, "no colours and no links where no terminal is").not.toContain("\u001b")
  expect(await signalbox(where, "repos", "remove", "repository")).toMatchObject({ code: 0 })
  for (const wrong of [
    ["docs", "search"],
    ["docs", "search", "x", "--limit", "21"],
    ["docs", "find"],
    ["repos", "add"],
    ["repos", "add", "http://example.com/x.git"],
    ["repos", "remove"],
  ])
    expect(await signalbox(where, ...wrong), wrong.join(" ")).toMatchObject({ code: 2, stdout: "" })
  for (const failing of [
    ["docs", "search", "x", "--repository", "nowhere"],
    ["repos", "add", "nowhere"],
    ["repos", "sync", "nowhere"],
    ["repos", "remove", "nowhere"],
  ])
    expect(await signalbox(where, ...failing), failing.join(" ")).toMatchObject({ code: 1, stdout: "" })
})

test.skipIf(process.platform === "win32")(
  "Ctrl+C ends reading, and sync goes on where it stopped",
  async () => {
    const where = place()
    commitFiles(where.repository, manyFiles(1_500))
    const { child, ended } = start(where, ["repos", "add", "."])
    const isReading = new Promise((resolve) =>
      child.stderr?.on("data", (text: string) => text.includes("%, ") && resolve(undefined)),
    )
    await isReading
    child.kill("SIGINT")
    const { code, stdout, stderr } = await ended
    expect({ code, stdout }).toEqual({ code: 1, stdout: "" })
    expect(stderr).toContain("signalbox: stopped: repository is not read to the end.")
    const [stopped] = await list(where)
    const read = stopped?.branches[0]?.files ?? 0
    expect(read).toBeGreaterThan(0)
    expect(stopped).toMatchObject({ state: "waiting", branches: [{ is_complete: false }] })
    const rest = await signalbox(where, "repos", "sync")
    expect(rest).toMatchObject({ code: 0 })
    expect(rest.stderr, "what was read is not read again").toContain(
      `Reading repository (main): ${(1_500 - read).toLocaleString("en-US")} files\n`,
    )
    expect(await list(where)).toMatchObject([{ state: "searchable", branches: [{ files: 1_500 }] }])
  },
)

/** Starts what indexes for a server, which tells it what to do. */
function startForServer(where: Place) {
  const child = fork(BINARY, ["repos", "sync", "--background"], {
    cwd: where.repository,
    env: environment(where),
    execArgv: [],
    stdio: ["ignore", "pipe", "pipe", "ipc"],
  })
  where.atEnd(() => void child.kill("SIGKILL"))
  let said = ""
  for (const stream of [child.stdout, child.stderr])
    stream?.setEncoding("utf8").on("data", (part: string) => {
      said += part
    })
  return {
    child,
    ended: new Promise((resolve) => child.once("exit", (code) => resolve({ code, said }))),
    ask: (request: IndexerRequest) =>
      new Promise((resolve) => {
        child.once("message", resolve)
        child.send(request)
      }),
  }
}
const SILENT_END = { code: 0, said: "" }

describe.skipIf(process.platform === "win32")("in the background", () => {
  test("it gives way to others, says nothing and ends with the process that started it", async () => {
    const where = place()
    commitFiles(where.repository, manyFiles(1_500))
    expect(await signalbox(where, "repos", "add", ".", "--no-sync")).toMatchObject({ code: 0 })
    const { child, ended } = startForServer(where)
    child.send({ id: 1 } satisfies IndexerRequest)
    const db = new BetterSqlite3(where.databasePath, { readonly: true })
    const files = db.prepare("SELECT count(*) FROM documentation_files").pluck()
    await expect.poll(() => files.get(), { timeout: 20_000 }).toBeGreaterThan(0)
    db.close()
    const nice = await niceOf(child.pid ?? 0)
    child.disconnect()
    expect(await ended).toEqual(SILENT_END)
    expect(nice).toBe(10)
    expect(await list(where)).toMatchObject([{ state: "waiting", branches: [{ is_complete: false }] }])
  })

  test("it does all there is to do and what comes next, and stops when it is told to", async () => {
    const where = place()
    commitFiles(where.repository, manyFiles(3))
    await signalbox(where, "repos", "add", ".", "--no-sync")
    const { child, ended, ask } = startForServer(where)
    expect(await ask({ id: 1 })).toEqual({ id: 1, result: "done" })
    expect(await list(where)).toMatchObject([{ state: "searchable", branches: [{ files: 3 }] }])
    commitFiles(where.repository, manyFiles(1_500))
    const answer = ask({ id: 2, repositoryIds: [1] })
    child.send({ stop: 2 } satisfies IndexerRequest)
    expect(await answer).toEqual({ id: 2, result: "stopped" })
    child.disconnect()
    expect(await ended).toEqual(SILENT_END)
  })

  test("it leaves the work to another process that is at it", async () => {
    const where = place()
    commitFiles(where.repository, manyFiles(3))
    await signalbox(where, "repos", "add", ".", "--no-sync")
    const lock = openProcessLock(`${where.databasePath}.indexing.lock`)
    expect(lock.tryTake()).toBe(true)
    const { child, ask } = startForServer(where)
    expect(await ask({ id: 1 })).toEqual({ id: 1, result: "busy" })
    child.disconnect()
    lock.close()
    expect(await list(where)).toMatchObject([{ state: "waiting" }])
  })

  test("a person is told to leave it to servers", async () => {
    const { code, stderr } = await signalbox(place(), "repos", "sync", "--background")
    expect({ code, stderr }).toEqual({
      code: 2,
      stderr: `signalbox: --background is for servers. Run: ${process.execPath} ${BINARY} repos sync\n`,
    })
  })
})

function niceOf(pid: number): Promise<number> {
  return new Promise((resolve) => {
    execFile("ps", ["-o", "nice=", "-p", String(pid)], (_, stdout) => resolve(Number(stdout.trim())))
  })
}
