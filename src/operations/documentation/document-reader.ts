/**
 * Reads the documents of one run: small ones here, large ones in a process that may take so much time and memory and is
 * then ended. A hostile document costs that process and nothing else.
 */

import { type ChildProcess, fork } from "node:child_process"
import {
  DOCUMENT_READ_HERE_BYTES_MAX,
  DOCUMENT_READ_MEMORY_MB_MAX,
  DOCUMENT_READ_MS_MAX,
  DOCUMENT_READ_WAIT_MS_MAX,
} from "../../config/limits.ts"
import { AppError } from "../../errors.ts"
import type { Format } from "../../indexing/formats.ts"
import {
  type IndexedDocument,
  nothing,
  readDocument,
  TOO_MUCH_MEMORY,
  TOO_SLOW,
  withTerms,
} from "../../indexing/read-document.ts"
import { ownCommand } from "../../runtime/own-command.ts"
import { packageFile } from "../../runtime/package-root.ts"
import { type ReaderMessage, type ReadRequest, TOO_SLOW_SIGNAL } from "./reader-messages.ts"

/** What the process that reads may take. */
export interface ReaderLimits {
  readHereBytesMax: number
  /** What a document may take of the processors, and how long it is waited for. */
  workMsMax: number
  waitMsMax: number
  memoryMbMax: number
}

/** What came of waiting for the process: its message, nothing in time, that it failed, or that others ended it. */
type Heard = ReaderMessage | "late" | "failed" | "ended"

const LIMITS: ReaderLimits = {
  readHereBytesMax: DOCUMENT_READ_HERE_BYTES_MAX,
  workMsMax: DOCUMENT_READ_MS_MAX,
  waitMsMax: DOCUMENT_READ_WAIT_MS_MAX,
  memoryMbMax: DOCUMENT_READ_MEMORY_MB_MAX,
}
/** Long enough for a machine that does much else. */
const START_MS_MAX = 30_000
/** What a user, a terminal or a system that shuts down sends: no fault of the document. */
const ENDED_BY_OTHERS: readonly (NodeJS.Signals | null)[] = ["SIGINT", "SIGTERM", "SIGHUP"]

/** Reads one document at a time; its process is started by the first large one. */
export class DocumentReader {
  readonly #countPieces: (text: string) => number
  readonly #signal: AbortSignal
  readonly #limits: ReaderLimits
  #child: ChildProcess | undefined

  /** The signal ends what is being read, and the process. */
  constructor(
    countPieces: (text: string) => number,
    signal: AbortSignal,
    limits: Partial<ReaderLimits> = {},
  ) {
    this.#countPieces = countPieces
    this.#signal = signal
    this.#limits = { ...LIMITS, ...limits }
    signal.addEventListener("abort", () => this.close(), { once: true })
  }

  /**
   * Reads a document with its terms; what goes beyond the limits has a `problem`. Throws AppError `unavailable` when
   * there is no process to read it, and the reason of the signal when it aborts.
   */
  async read(format: Format, bytes: Uint8Array): Promise<IndexedDocument> {
    if (bytes.length <= this.#limits.readHereBytesMax)
      return withTerms(readDocument(format, bytes, this.#countPieces))
    this.#signal.throwIfAborted()
    this.#child ??= await this.#start()
    this.#child.send({ format, bytes } satisfies ReadRequest)
    const heard = await this.#hear(this.#child, this.#limits.waitMsMax)
    if (typeof heard === "object" && "failure" in heard) throw new Error(heard.failure)
    if (heard === "late") return withTerms(nothing(TOO_SLOW))
    if (heard === "failed") return withTerms(nothing(TOO_MUCH_MEMORY))
    if (heard !== "ended" && heard !== "ready") return heard
    throw new AppError("unavailable", "the process that reads documents was ended by another one", {
      hint: `Run: ${ownCommand()} repos sync`,
    })
  }

  /** The id of the process that reads; undefined while there is none. */
  get pid(): number | undefined {
    return this.#child?.pid
  }

  /** Ends the process. */
  close(): void {
    this.#child?.kill("SIGKILL")
    this.#child = undefined
  }

  async #start(): Promise<ChildProcess> {
    // Always the built file: a process needs JavaScript, also where this one runs from the sources.
    const child = fork(packageFile("dist/document-reader.js"), [String(this.#limits.workMsMax)], {
      execArgv: [`--max-old-space-size=${this.#limits.memoryMbMax}`],
      serialization: "advanced",
      stdio: ["pipe", "ignore", "ignore", "ipc"],
      cwd: "/",
    })
    this.#child = child
    if ((await this.#hear(child, START_MS_MAX)) === "ready") return child
    throw new AppError("unavailable", "the process that reads documents cannot be started", {
      hint: `Run: ${ownCommand()} doctor`,
    })
  }

  /** Waits for the next message of the process; ends it where that takes too long. */
  async #hear(child: ChildProcess, msMax: number): Promise<Heard> {
    const heard = await new Promise<Heard>((resolve) => {
      const settle = (what: Heard) => {
        clearTimeout(timer)
        child.off("message", onMessage).off("exit", onExit).off("error", onError)
        // Such as that it could not be ended, because it just has.
        child.on("error", () => {})
        resolve(what)
      }
      const timer = setTimeout(settle, msMax, "late")
      const onMessage = (message: unknown) => settle(message as ReaderMessage)
      const onExit = (_: unknown, signal: NodeJS.Signals | null) =>
        settle(ENDED_BY_OTHERS.includes(signal) ? "ended" : signal === TOO_SLOW_SIGNAL ? "late" : "failed")
      const onError = () => settle("ended")
      child.on("message", onMessage).on("exit", onExit).on("error", onError)
    })
    this.#signal.throwIfAborted()
    if (typeof heard === "string" && heard !== "ready") this.close()
    return heard
  }
}
