/** Git repositories of the corpus, written by git fast-import: no work tree, objects and a history alone. */

import { spawn } from "node:child_process"
import { once } from "node:events"
import { documentAt, documentPath } from "./documentation-corpus.ts"
import { git } from "./documentation-sets.ts"

const FILES_PER_COMMIT = 100
const FROM_SECONDS = Date.parse("2026-01-01T00:00:00Z") / 1_000

/** Commits the first files of the corpus to the empty repository at `root`, a hundred at a time. */
export async function commitCorpus(root: string, files: number): Promise<void> {
  await fastImport(root, commitsOf(files))
}

function* commitsOf(files: number): Generator<string> {
  for (let from = 0; from < files; from += FILES_PER_COMMIT) {
    yield commitLine("Documents", FROM_SECONDS + from)
    for (let index = from; index < Math.min(files, from + FILES_PER_COMMIT); index += 1)
      yield fileLine(documentPath(index), documentAt(index))
  }
}

/** Commits another text of one file on top of `main`. */
export async function commitFile(root: string, path: string, text: string): Promise<void> {
  const nowSeconds = Math.floor(Date.now() / 1_000)
  await fastImport(root, [commitLine("Change", nowSeconds), "from refs/heads/main^0\n", fileLine(path, text)])
}

function commitLine(message: string, seconds: number): string {
  return `commit refs/heads/main\ncommitter Bench <bench@example.com> ${seconds} +0000\n${data(message)}`
}

function fileLine(path: string, text: string): string {
  return `M 100644 inline ${path}\n${data(text)}`
}

/** As git-fast-import(1) takes it, with its length in bytes. */
function data(text: string): string {
  return `data ${Buffer.byteLength(text)}\n${text}\n`
}

async function fastImport(root: string, parts: Iterable<string>): Promise<void> {
  const child = spawn("git", ["fast-import", "--quiet"], { cwd: root, stdio: ["pipe", "ignore", "inherit"] })
  const ended = once(child, "close")
  for (const part of parts) if (!child.stdin.write(part)) await once(child.stdin, "drain")
  child.stdin.end()
  const [code] = (await ended) as [number | null]
  if (code !== 0) throw new Error(`git fast-import ended with ${code}`)
}

/** Reads the contents of all files of `main` with git alone; returns how many bytes they have. */
export async function readAllContents(root: string): Promise<number> {
  const hashes = git(root, ["ls-tree", "-r", "--format=%(objectname)", "main"])
  const child = spawn("git", ["cat-file", "--batch"], { cwd: root, stdio: ["pipe", "pipe", "inherit"] })
  child.stdin.end(hashes)
  let bytes = 0
  child.stdout.on("data", (part: Buffer) => {
    bytes += part.length
  })
  await once(child, "close")
  return bytes
}
