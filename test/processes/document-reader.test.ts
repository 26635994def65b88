/** Owns that a large document is read by a process of its own, which ends at its limits and leaves the others readable. */

import { expect, onTestFinished, test } from "vitest"
import {
  nothing,
  readDocument,
  TOO_MUCH_MEMORY,
  TOO_SLOW,
  withTerms,
} from "../../src/indexing/read-document.ts"
import { DocumentReader, type ReaderLimits } from "../../src/operations/documentation/document-reader.ts"
import { BUILTIN } from "../support/builtin.ts"

async function openReader(limits: Partial<ReaderLimits> = {}) {
  const stop = new AbortController()
  const countPieces = await BUILTIN.pieceCounter()
  const reader = new DocumentReader(countPieces, stop.signal, { readHereBytesMax: 1_000, ...limits })
  onTestFinished(() => reader.close())
  return { reader, stop, countPieces }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch {
    return false
  }
}

const PAGE = Buffer.from(`# Zebras\n\n${"They run far and wide.\n\n".repeat(100)}`)
const SMALL = Buffer.from("# Zebras\n\nThey run.\n")
const HUGE = Buffer.from("# a\n".repeat(2_000_000))

test("what it reads apart is what is read here, and it goes on from one document to the next", async () => {
  const { reader, countPieces } = await openReader()
  const here = (bytes: Uint8Array) => withTerms(readDocument("markdown", bytes, countPieces))
  expect(await reader.read("markdown", SMALL)).toEqual(here(SMALL))
  expect(reader.pid, "nothing large was read yet").toBeUndefined()
  expect(await reader.read("markdown", PAGE)).toEqual(here(PAGE))
  const { pid } = reader
  expect(await reader.read("markdown", PAGE)).toEqual(here(PAGE))
  expect(reader.pid).toBe(pid)
  reader.close()
  await expect.poll(() => isAlive(pid ?? 0)).toBe(false)
})

test.each<[string, Partial<ReaderLimits>, string]>([
  ["memory", { memoryMbMax: 64 }, TOO_MUCH_MEMORY],
  ["work", { workMsMax: 1 }, TOO_SLOW],
  ["time", { waitMsMax: 1 }, TOO_SLOW],
])("a document that takes too much %s ends the process, not the run", async (_, limits, problem) => {
  const { reader } = await openReader(limits)
  expect(await reader.read("markdown", HUGE)).toEqual(withTerms(nothing(problem)))
  expect(reader.pid).toBeUndefined()
  expect((await reader.read("markdown", SMALL)).title).toBe("Zebras")
  if (limits.memoryMbMax !== undefined) expect((await reader.read("markdown", PAGE)).title).toBe("Zebras")
})

test("the end of a run ends the process in the middle of a document", async () => {
  const { reader, stop } = await openReader()
  await reader.read("markdown", PAGE)
  const pid = reader.pid ?? 0
  const reading = reader.read("markdown", HUGE)
  const reason = new Error("enough")
  stop.abort(reason)
  await expect(reading).rejects.toBe(reason)
  await expect.poll(() => isAlive(pid)).toBe(false)
})

test("that others end the process is no fault of the document", async () => {
  const { reader } = await openReader()
  await reader.read("markdown", PAGE)
  const reading = reader.read("markdown", HUGE)
  process.kill(reader.pid ?? 0, "SIGTERM")
  await expect(reading).rejects.toThrow("the process that reads documents was ended by another one")
  expect((await reader.read("markdown", PAGE)).title).toBe("Zebras")
})
