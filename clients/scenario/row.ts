/** One row of the table: what it needs, and how it is run. */

import { mkdirSync } from "node:fs"
import { join } from "node:path"
import { startOf } from "../installation.ts"
import { ModelServer } from "../model/server.ts"
import type { Report } from "../report/checks.ts"
import { RELEASES, type ReleaseName } from "../versions.ts"
import { killDaemon } from "./client-run.ts"
import type { Driver } from "./driver.ts"
import { Holder } from "./holder.ts"
import { changedFiles, filesBelow, Place } from "./place.ts"
import { Checks, Stage } from "./stage.ts"
import { STEPS } from "./steps.ts"

/** How one row is to be run. */
export interface RowOrder {
  id: string
  /** Where the clients are installed. */
  clients: string
  /** An empty folder for this row, or one that is not there yet. */
  folder: string
  only?: readonly string[]
  dumps: boolean
}

export interface Row {
  id: string
  title: string
  releases: readonly ReleaseName[]
  run(order: RowOrder, checks: Checks): Promise<void>
}

/** Returns the row of one client: all steps, those of the client alone before the last, which uninstalls. */
export function clientRow(driver: Driver): Row {
  return {
    id: driver.id,
    title: driver.title,
    releases: [driver.release],
    async run(order, checks) {
      checks.report.limits = driver.limits ?? {}
      const { uninstall, ...steps } = { ...STEPS, ...driver.steps }
      await withStage(order, [driver], checks, async (stage) => {
        for (const [name, step] of Object.entries({ ...steps, uninstall })) {
          if (step === undefined || (order.only !== undefined && !order.only.includes(name))) continue
          stage.place.reset()
          await step(stage).catch((error: Error) => checks.fail(name, error))
        }
      })
    },
  }
}

/**
 * Sets clients up in a fresh place, installs for them, starts agent A, which takes `src/auth`, and hands on a stage
 * for the first of them.
 */
export async function withStage(
  order: RowOrder,
  drivers: readonly [Driver, ...Driver[]],
  checks: Checks,
  play: (stage: Stage) => Promise<void>,
): Promise<void> {
  const [driver] = drivers
  mkdirSync(order.folder, { recursive: true })
  const place = await Place.make(order.folder)
  const isSide: Driver["isSide"] = (request) => drivers.every((one) => one.isSide(request))
  const model = await ModelServer.start(isSide, join(order.folder, "requests.jsonl"))
  try {
    for (const one of drivers) await one.configure(place, model.url, startOf(order.clients, one.release))
    const before = filesBelow(place.home)
    await place.signalbox("install", ...drivers.map(({ client }) => client))
    const installed = changedFiles(before, filesBelow(place.home))
    const holder = await Holder.start(place)
    await holder.reserve("src/auth/**")
    const words = startOf(order.clients, driver.release)
    await play(new Stage({ driver, words, place, model, holder, checks, installed, dumps: order.dumps }))
    await holder.close()
  } finally {
    model.close()
    for (const { daemon } of drivers) if (daemon !== undefined) killDaemon(place, daemon)
  }
}

/** Runs a row to its report; whatever fails stands in it. */
export async function runRow(row: Row, order: RowOrder): Promise<Report> {
  const startMs = performance.now()
  const version = row.releases.map((release) => RELEASES[release].version).join(" > ")
  const report: Report = {
    id: row.id,
    title: row.title,
    version,
    seconds: 0,
    checks: [],
    notes: {},
    limits: {},
  }
  await row.run(order, new Checks(report)).catch((error: Error) => {
    report.failure = error.message.slice(0, 2_000)
  })
  report.seconds = Math.round((performance.now() - startMs) / 1_000)
  return report
}
