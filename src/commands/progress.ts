/** What long work shows at a terminal, and how it is stopped there. */

import type { WriteStream } from "node:tty"

/** Drawn at most this often. */
const REDRAW_INTERVAL_MS = 100
const BAR_CHARS = 24
/** Shorter bars tell nothing. */
const BAR_CHARS_MIN = 6
const COLUMNS_DEFAULT = 80
const CLEAR_LINE = "\r\u001b[2K"

export interface Progress {
  /** Shows how far the work is; a total of null is not known. */
  show(done: number, total: number | null): void
  /** Takes the bar away. */
  end(): void
}

/** What a bar is drawn on. */
export type Screen = Pick<WriteStream, "write" | "isTTY" | "columns">

/** Makes a progress bar on stderr. Where no terminal is, nothing is ever shown; `figure` puts an amount in words. */
export function createProgress(
  label: string,
  figure: (amount: number) => string,
  screen: Screen = process.stderr,
): Progress {
  if (screen.isTTY !== true) return { show() {}, end() {} }
  let drawnAtMs = Number.NEGATIVE_INFINITY
  return {
    show(done, total) {
      const nowMs = performance.now()
      if (nowMs - drawnAtMs < REDRAW_INTERVAL_MS) return
      drawnAtMs = nowMs
      const columns = screen.columns || COLUMNS_DEFAULT
      screen.write(CLEAR_LINE + progressLine(label, done, total, figure, columns - 1))
    },
    end() {
      if (drawnAtMs >= 0) screen.write(CLEAR_LINE)
    },
  }
}

/**
 * Returns the line of a bar, such as `Importing [######..................]  25 %  1.0 MB of 4.0 MB`, in at most so many
 * columns: the bar makes room for the figures as far as it can, and then the end is left out.
 */
export function progressLine(
  label: string,
  done: number,
  total: number | null,
  figure: (amount: number) => string,
  columns = COLUMNS_DEFAULT,
): string {
  if (total === null || total <= 0) return `${label}  ${figure(done)}`.slice(0, columns)
  const share = Math.min(1, Math.max(0, done / total))
  const percent = String(Math.floor(share * 100)).padStart(3)
  const figures = `${percent} %  ${figure(done)} of ${figure(total)}`
  // The figures of all are the longest, so that the bar keeps its length while they grow.
  const figuresWidth = figures.length - figure(done).length + figure(total).length
  const room = columns - `${label} [] `.length - figuresWidth
  const width = Math.min(BAR_CHARS, Math.max(BAR_CHARS_MIN, room))
  const bar = "#".repeat(Math.floor(share * width)).padEnd(width, ".")
  return `${label} [${bar}] ${figures}`.slice(0, columns)
}

/** Runs work that Ctrl+C asks to stop; a second one ends the process, as always. */
export async function untilInterrupted<T>(work: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const stop = new AbortController()
  const onSignal = () => stop.abort()
  process.once("SIGINT", onSignal)
  try {
    return await work(stop.signal)
  } finally {
    process.removeListener("SIGINT", onSignal)
  }
}
