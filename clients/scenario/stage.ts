/** What the steps of one row work with. */

import type { ScriptedTurn } from "../model/conversation.ts"
import type { ModelServer } from "../model/server.ts"
import type { Column, NestedColumn, Report } from "../report/checks.ts"
import { ClientRun, type RunEnding } from "./client-run.ts"
import type { Driver } from "./driver.ts"
import type { Holder } from "./holder.ts"
import type { Place, Written } from "./place.ts"

const RUN_LIMIT_MS = 120_000
const DETAIL_CHARS_MAX = 400

/** Checks of one row, told as they are made. */
export class Checks {
  readonly report: Report

  constructor(report: Report) {
    this.report = report
  }

  expect(column: Column | NestedColumn, what: string, holds: boolean, seen = ""): void {
    const detail = seen.replaceAll("\n", "\\n").slice(0, DETAIL_CHARS_MAX)
    this.report.checks.push({ column, what, holds, detail })
    const mark = holds ? "ok  " : this.report.limits[column] === undefined ? "FAIL" : "no* "
    console.log(`${mark} ${what}${holds || detail === "" ? "" : ` | ${detail}`}`)
  }

  /** Takes an error in a step for what it is: the run is worth nothing, whatever else holds. */
  fail(step: string, error: Error): void {
    console.log(`FAIL ${step} | ${error.message}`)
    this.report.failure = `${step}: ${error.message}`.slice(0, 2_000)
  }

  /** Says in a cell of the table what was seen, instead of "yes". */
  note(column: Column | NestedColumn, text: string): void {
    this.report.notes[column] = text
  }
}

export interface StageParts {
  driver: Driver
  /** What starts the client. */
  words: readonly string[]
  place: Place
  model: ModelServer
  holder: Holder
  checks: Checks
  /** What the installation wrote, by paths relative to the home. */
  installed: ReadonlyMap<string, Written>
  /** Whether to keep what the client hands to the hook. */
  dumps: boolean
}

export class Stage implements StageParts {
  readonly driver: Driver
  readonly words: readonly string[]
  readonly place: Place
  readonly model: ModelServer
  readonly holder: Holder
  readonly checks: Checks
  readonly installed: ReadonlyMap<string, Written>
  readonly dumps: boolean

  constructor(parts: StageParts) {
    this.driver = parts.driver
    this.words = parts.words
    this.place = parts.place
    this.model = parts.model
    this.holder = parts.holder
    this.checks = parts.checks
    this.installed = parts.installed
    this.dumps = parts.dumps
  }

  /** Runs the client once against a script. Rejects when the client never asked the model, or the script failed. */
  async play(label: string, script: readonly ScriptedTurn[], resumes = false): Promise<RunEnding> {
    const { ended } = this.begin(label, script, resumes)
    const ending = await ended
    if (this.model.failure !== undefined) throw this.model.failure
    if (this.model.requests.length === 0)
      throw new Error(
        `the client never asked the model: code ${ending.code} ${ending.stdout.slice(-600)} ${ending.stderr.slice(-1_500)}`,
      )
    return ending
  }

  /** Begins a run without waiting for its end. */
  begin(label: string, script: readonly ScriptedTurn[], resumes = false): ClientRun {
    if (this.dumps) this.place.keepPayloads()
    this.model.play(script)
    const { words, place } = this
    const command = this.driver.command({ words, place, prompt: `prompt ${label}`, resumes })
    return new ClientRun(place, command, label, RUN_LIMIT_MS)
  }
}
