/**
 * The process that reads large documents: whatever one of them takes, nobody else waits for it or shares its memory. It
 * ends with the process that started it, and after so much work on one document, also in the middle of it.
 */

import { Worker } from "node:worker_threads"
import { createBuiltinEmbedder } from "./embed/builtin.ts"
import { readDocument, withTerms } from "./indexing/read-document.ts"
import {
  type ReaderMessage,
  type ReadRequest,
  TOO_SLOW_SIGNAL,
} from "./operations/documentation/reader-messages.ts"
import { packageFile } from "./runtime/package-root.ts"

/**
 * A thread of its own, because the other one does nothing else while it reads. Nobody writes to stdin, so that it is read
 * to its end when whoever holds the other one is gone. Work is counted, not time, which others may take.
 */
const WATCH = `
  const { read } = require("node:fs")
  const { workerData: { began, workMsMax, signal } } = require("node:worker_threads")
  read(0, Buffer.alloc(1), () => process.kill(process.pid, "SIGKILL"))
  setInterval(() => {
    const { user, system } = process.cpuUsage()
    if (began[0] > 0 && (user + system) / 1_000 - began[0] > workMsMax) process.kill(process.pid, signal)
  }, 100)
`

/** What the process had worked when it began with a document, in milliseconds; 0 while there is none. */
const began = new Float64Array(new SharedArrayBuffer(8))

function workMs(): number {
  const { user, system } = process.cpuUsage()
  return (user + system) / 1_000
}

function send(message: ReaderMessage): void {
  // That nobody takes it any more is seen by the thread that watches.
  process.send?.(message, () => {})
}

new Worker(WATCH, {
  eval: true,
  // What one document may take is the argument of the process.
  workerData: { began, workMsMax: Number(process.argv[2]), signal: TOO_SLOW_SIGNAL },
})
const countPieces = await createBuiltinEmbedder(packageFile("model")).pieceCounter()
process.on("message", ({ format, bytes }: ReadRequest) => {
  began[0] = workMs()
  try {
    send(withTerms(readDocument(format, bytes, countPieces)))
  } catch (error) {
    send({ failure: (error as Error).stack ?? String(error) })
  }
  began[0] = 0
})
send("ready")
