/**
 * What most tests begin with: an empty git repository, and a database in which that repository is connected. Each
 * worker has git and the product make them once, keeps their bytes, and writes them wherever a test wants one.
 */

import { execFileSync } from "node:child_process"
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs"
import { dirname, join, relative } from "node:path"
import BetterSqlite3 from "better-sqlite3"
import { makeTemporaryFolder, remove } from "../../scripts/removal.ts"
import { connectAround } from "../../src/operations/connect.ts"
import { openDatabase } from "../../src/operations/database.ts"

interface Template {
  /** Paths below the repository, each behind the folder that it lies in. */
  folders: string[]
  files: { path: string; content: Buffer }[]
}

let repository: Template | undefined
let database: Promise<Buffer> | undefined

/** Makes a git repository on the branch `main`, without a commit; its folder may be there already. */
export function initRepository(folder: string): void {
  repository ??= newRepository()
  for (const path of repository.folders) mkdirSync(join(folder, path), { recursive: true })
  for (const { path, content } of repository.files) writeFileSync(join(folder, path), content)
}

/** Whether a repository, which may have commits by now, is still set up as `initRepository` made it. */
export function isSetUpAsMade(folder: string): boolean {
  const files = repository?.files ?? []
  return (
    files.length > 0 && files.every(({ path, content }) => readFileSync(join(folder, path)).equals(content))
  )
}

/**
 * Writes a database in which a repository is connected that is set up as made; its folder must be named
 * `repository`, since its name is stored, too.
 */
export async function writeDatabase(path: string, rootPath: string, nowMs: number): Promise<void> {
  database ??= connectedDatabase()
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 })
  writeFileSync(path, await database, { mode: 0o600 })
  const db = new BetterSqlite3(path)
  db.pragma("synchronous = OFF")
  db.prepare("UPDATE repositories SET root_path = ?, identity_path = ?, created_at_ms = ?").run(
    rootPath,
    join(rootPath, ".git"),
    nowMs,
  )
  db.close()
}

function newRepository(): Template {
  const folder = makeTemporaryFolder()
  try {
    execFileSync("git", ["init", "--quiet", "--initial-branch=main", folder])
    const entries = readdirSync(folder, { recursive: true, withFileTypes: true })
      // Git itself never runs its samples of hooks.
      .filter(({ name }) => !name.endsWith(".sample"))
      .map((entry) => ({ entry, path: relative(folder, join(entry.parentPath, entry.name)) }))
    return {
      folders: entries.filter(({ entry }) => entry.isDirectory()).map(({ path }) => path),
      files: entries
        .filter(({ entry }) => entry.isFile())
        .map(({ path }) => ({ path, content: readFileSync(join(folder, path)) })),
    }
  } finally {
    remove(folder)
  }
}

async function connectedDatabase(): Promise<Buffer> {
  const folder = makeTemporaryFolder()
  try {
    const [path, rootPath] = [join(folder, "signalbox.db"), join(folder, "repository")]
    initRepository(rootPath)
    const db = await openDatabase(path)
    await connectAround(db, rootPath, 0)
    await db.close()
    return readFileSync(path)
  } finally {
    remove(folder)
  }
}
