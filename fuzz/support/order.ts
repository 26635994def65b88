/** What the runner and the process that is fuzzed say to each other, and the bounds that both hold it to. */

/** What one input may take of the processor, and of the clock. */
export const RUN_CPU_MS_MAX = 2_000
export const RUN_MS_MAX = 10_000
/** The same where processes are waited for. */
export const SLOW_RUN_MS_MAX = 60_000
/** What a finding shows of its input. */
export const REPORTED_CHARS_MAX = 3_000

export interface Order {
  /** The module that has the parts. */
  partsUrl: string
  /** Names of the parts, which share the time by their weights. */
  parts: readonly string[]
  /** Of the first batch of each part; each one after it has the next. */
  seed: number
  /** When to begin nothing more. */
  endMs: number
  /** Where to write what is put in. */
  inputFile: string
}

/** What a process is at before its first part. */
export const STARTING = "start"

/** Where in its work the process is. */
export interface Place {
  part: string
  /** Of the batch. */
  seed: number
}

export type Message =
  /** `executions` are those since the last of these. */
  | ({ kind: "beat"; executions: number; rssBytes: number } & Place)
  | ({ kind: "finding"; text: string; input: string } & Place)
