import { spawn } from "node:child_process"
import { copyFileSync } from "node:fs"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { describe, expect, onTestFinished, test } from "vitest"
import { TestRepository } from "../git/support.ts"
import { type Dump, expectSound, indexOf, openIndex } from "../support/documentation-index.ts"
import type { IndexingErrand, IndexingOutcome, Moment } from "../support/documentation-process.ts"
import { temporaryFolder } from "../support/temporary-folder.ts"

const SCRIPT = fileURLToPath(new URL("../support/documentation-process.ts", import.meta.url))
/** More than is stored, and than is embedded, at once. */
const FILES = 130

function textOf(at: number, word: string): string {
  return `# File ${at}\n\nThe ${word} of number ${at} is forged in the morning.\n\n## More\n\nSee \`forge_${at}\`.\n`
}

function files(from: number, to: number, word: string): Record<string, string> {
  const list = Array.from({ length: to - from }, (_, at) => [
    `part-${at % 5}/f${from + at}.md`,
    textOf(from + at, word),
  ])
  return Object.fromEntries(list) as Record<string, string>
}

/** A repository with two branches that have most of their files in common. */
function repositoryOfTwo(): TestRepository {
  const repository = new TestRepository()
  repository.commit(files(0, FILES / 2, "anvil"))
  repository.commit(files(FILES / 2, FILES, "anvil"))
  repository.git("checkout", "--quiet", "-b", "next")
  repository.commit(files(0, 20, "hammer"))
  repository.git("checkout", "--quiet", "main")
  return repository
}

/** Changes one branch in every way, and deletes the other. */
function change(repository: TestRepository): void {
  repository.git("mv", "part-1", "part-9")
  repository.commit()
  repository.git("rm", "--quiet", "-r", "part-2")
  repository.commit(files(200, 320, "bellows"))
  repository.git("branch", "-D", "next")
  repository.git("branch", "later", "main~1")
}

/** Starts a process that indexes, and returns what it printed when it has ended; undefined when it was killed. */
async function run(errand: IndexingErrand): Promise<IndexingOutcome | undefined> {
  const child = spawn(process.execPath, ["--import", "tsx", SCRIPT, JSON.stringify(errand)], {
    stdio: ["ignore", "pipe", "inherit"],
  })
  onTestFinished(() => {
    child.kill("SIGKILL")
  })
  let output = ""
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    output += text
  })
  const ending = await new Promise((resolve) =>
    child.once("close", (code, signal) => resolve({ code, signal })),
  )
  if (output !== "") return JSON.parse(output) as IndexingOutcome
  expect(ending).toEqual({ code: null, signal: "SIGKILL" })
  return undefined
}

/** A database before its indexing, and what an undisturbed run makes of it. */
interface Stage {
  before: string
  id: number
  expected: Dump
  moments: IndexingOutcome["moments"]
}

function copyOf(path: string): string {
  const copy = join(temporaryFolder(), "signalbox.db")
  copyFileSync(path, copy)
  return copy
}

async function stageOf(before: string, id: number): Promise<Stage> {
  const databasePath = copyOf(before)
  const outcome = await run({ databasePath, home: temporaryFolder() })
  expect(outcome?.result).toBe("done")
  const index = await openIndex({ databasePath })
  const expected = indexOf(index.app, id)
  await expectSound(index.app)
  await index.close()
  return { before, id, expected, moments: outcome?.moments ?? {} }
}

/** Kills an indexing at a random moment of its kind, in a part of all of them, and has another one go on. */
async function expectRecovery(
  { before, id, expected, moments }: Stage,
  moment: Moment,
  part: number,
): Promise<void> {
  const count = moments[moment] ?? 0
  expect(count, `times of ${moment}`).toBeGreaterThan(0)
  const number = Math.min(count, Math.floor((part + Math.random()) * (count / 2)) + 1)
  const where = `killed at ${number} of ${count} times of ${moment}`
  const databasePath = copyOf(before)
  expect(
    await run({ databasePath, home: temporaryFolder(), death: { moment, number } }),
    where,
  ).toBeUndefined()
  const index = await openIndex({ databasePath })
  await index.sync()
  expect(indexOf(index.app, id), where).toEqual(expected)
  await expectSound(index.app).catch((error: Error) => expect.fail(`${where}: ${error.message}`))
  await index.close()
}

describe("indexing goes on where a process was killed", { timeout: 180_000 }, () => {
  test("while it read a repository for the first time", async () => {
    const repository = repositoryOfTwo()
    const databasePath = join(temporaryFolder(), "signalbox.db")
    const index = await openIndex({ databasePath })
    const id = await index.connect(repository.root, "next")
    await index.close()
    const stage = await stageOf(databasePath, id)
    const moments: Moment[] = [
      "storing texts",
      "storing words",
      "turning a branch",
      "dating",
      "storing vectors",
    ]
    for (const moment of moments) for (const part of [0, 1]) await expectRecovery(stage, moment, part)
  })

  test("while it brought branches up to date", async () => {
    const repository = repositoryOfTwo()
    const databasePath = join(temporaryFolder(), "signalbox.db")
    const index = await openIndex({ databasePath })
    const id = await index.add(repository.root, "next")
    change(repository)
    await index.connect(repository.root, "later")
    await index.close()
    const stage = await stageOf(databasePath, id)
    const moments: Moment[] = [
      "storing texts",
      "turning a branch",
      "dating",
      "storing vectors",
      "cleaning up",
      "between",
    ]
    for (const moment of moments) for (const part of [0, 1]) await expectRecovery(stage, moment, part)
  })
})
