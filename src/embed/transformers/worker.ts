/**
 * The thread that runs a model, so that the server goes on answering. Loads the model with its first
 * request, cuts texts into windows, and runs these in small batches; a query waits for one batch at most.
 */

import { parentPort, workerData } from "node:worker_threads"
import type { EmbedRequest, WorkerMessage, WorkerSettings } from "./messages.ts"
import { type LoadedModel, loadModel, toUnit } from "./model.ts"
import { createWindowing, type Windowing } from "./windows.ts"

/** Windows that are run at once: more bring little without a graphics card, and make a query wait longer. */
const BATCH_WINDOWS = 8

/** A request with its windows, of which the shortest are run first, since all of a batch are padded alike. */
interface Job {
  request: EmbedRequest
  windowCounts: number[]
  windows: number[][]
  order: number[]
  done: number
  vectors: Float32Array[]
}

/** Serves requests of the main thread until it ends this one. */
class Worker {
  readonly #settings: WorkerSettings
  readonly #send: (message: WorkerMessage, transfer: ArrayBuffer[]) => void
  readonly #waiting: EmbedRequest[] = []
  readonly #jobs: Job[] = []
  #loading: Promise<{ model: LoadedModel; windowing: Windowing }> | undefined
  #isRunning = false

  constructor(settings: WorkerSettings, send: (message: WorkerMessage, transfer: ArrayBuffer[]) => void) {
    this.#settings = settings
    this.#send = send
  }

  accept(request: EmbedRequest): void {
    this.#waiting.push(request)
    if (!this.#isRunning) void this.#run()
  }

  async #run(): Promise<void> {
    this.#isRunning = true
    while (this.#waiting.length + this.#jobs.length > 0) {
      for (const request of this.#waiting.splice(0)) await this.#begin(request)
      const job = this.#jobs.find(({ request }) => request.kind === "query") ?? this.#jobs[0]
      if (job !== undefined) await this.#step(job)
      // Lets messages in that have come meanwhile.
      await new Promise((resolve) => setImmediate(resolve))
    }
    this.#isRunning = false
  }

  async #begin(request: EmbedRequest): Promise<void> {
    try {
      const { windowing } = await this.#load()
      const perText = request.texts.map((text) => windowing.windowsOf(text, request.kind))
      const windows = perText.flat()
      const order = windows.map((_, i) => i).sort((a, b) => lengthAt(windows, a) - lengthAt(windows, b))
      const windowCounts = perText.map(({ length }) => length)
      this.#jobs.push({ request, windowCounts, windows, order, done: 0, vectors: [] })
    } catch (error) {
      this.#fail(request, error, this.#loading === undefined)
    }
  }

  /** Runs the next batch of a job, and answers after its last. */
  async #step(job: Job): Promise<void> {
    try {
      const { model } = await this.#load()
      const batch = job.order.slice(job.done, job.done + BATCH_WINDOWS)
      if (batch.length > 0) {
        const vectors = await model.run(batch.map((i) => job.windows[i] ?? []))
        batch.forEach((at, i) => {
          job.vectors[at] = vectors[i] ?? new Float32Array()
        })
        job.done += batch.length
      }
      if (job.done < job.order.length) return
      this.#jobs.splice(this.#jobs.indexOf(job), 1)
      this.#answer(job)
    } catch (error) {
      this.#jobs.splice(this.#jobs.indexOf(job), 1)
      this.#fail(job.request, error, false)
    }
  }

  #answer({ request, windowCounts, vectors }: Job): void {
    const isQuery = request.kind === "query"
    const answered = isQuery ? vectors.slice(0, 1).map(() => middleOf(vectors)) : vectors
    const dimensions = answered[0]?.length ?? 0
    const joined = new Float32Array(answered.length * dimensions)
    answered.forEach((vector, i) => {
      joined.set(vector, i * dimensions)
    })
    const windows = isQuery ? [answered.length] : windowCounts
    this.#send({ id: request.id, windows, dimensions, vectors: joined }, [joined.buffer])
  }

  #fail({ id }: EmbedRequest, error: unknown, isLoading: boolean): void {
    this.#send({ id, message: error instanceof Error ? error.message : String(error), isLoading }, [])
  }

  async #load(): Promise<{ model: LoadedModel; windowing: Windowing }> {
    this.#loading ??= loadModel(this.#settings).then((model) => ({
      model,
      windowing: createWindowing(model.tokenizer, this.#settings),
    }))
    try {
      return await this.#loading
    } catch (error) {
      this.#loading = undefined
      throw error
    }
  }
}

function lengthAt(windows: readonly number[][], index: number): number {
  return windows[index]?.length ?? 0
}

/** A query that is longer than a window is the middle of its windows' vectors. */
function middleOf(vectors: readonly Float32Array[]): Float32Array {
  const [first = new Float32Array()] = vectors
  if (vectors.length <= 1) return first
  return toUnit(first.map((_, i) => vectors.reduce((total, vector) => total + (vector[i] ?? 0), 0)))
}

const port = parentPort
if (port === null) throw new Error("this file is a thread of the server and is not run by itself")
// What the runtime prints goes to the log; nothing reads the streams themselves.
const print: typeof process.stdout.write = (text: string | Uint8Array) => {
  const printed = typeof text === "string" ? text : new TextDecoder().decode(text)
  port.postMessage({ printed: printed.trim() } satisfies WorkerMessage)
  return true
}
process.stdout.write = print
process.stderr.write = print
const worker = new Worker(workerData as WorkerSettings, (message, transfer) =>
  port.postMessage(message, transfer),
)
port.on("message", (request: EmbedRequest) => worker.accept(request))
