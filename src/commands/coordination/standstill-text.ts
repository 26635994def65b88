/** How it looks at a terminal, and as JSON, where agents stand in each other's way. */

import { modeOf } from "../../domain/coordination/reservation.ts"
import { visibleLine } from "../../domain/foreign-text/visible.ts"
import type { Blocked, Standstill } from "../../operations/coordination/standstill.ts"
import { count, duration, isoTime, nameList } from "../../operations/markdown.ts"
import { ownCommand } from "../../runtime/own-command.ts"
import { shortened } from "../columns.ts"
import { dim } from "../output.ts"

/** Of what was blocked and of those who wait, each. */
const SHOWN_MAX = 5

/** Returns as JSON what was blocked in the last hour, and who waits for files. */
export function standstillJson({ blocked, waiting }: Standstill) {
  return {
    blocked_last_hour: blocked.map(({ isEdit, who, repository, path, holders, times, latestMs }) => ({
      what: isEdit ? ("edit" as const) : ("reservation" as const),
      who,
      repository,
      path,
      holders,
      times,
      latest_at: isoTime(latestMs),
    })),
    waiting: waiting.map((wait) => ({
      agent_id: wait.agentId,
      agent_name: wait.agentName,
      repository_id: wait.repositoryId,
      path_pattern: wait.pathPattern,
      mode: modeOf(wait),
      since: isoTime(wait.createdAtMs),
      until: isoTime(wait.untilMs),
    })),
  }
}

/** Returns what was blocked, a line each, of much the latest. */
export function blockedRows({ blocked }: Standstill, nowMs: number, columns: number): string[] {
  const row = ({ isEdit, who, path, holders, times, latestMs }: Blocked) => {
    const what = isEdit ? "" : "a reservation of "
    const by = holders.length === 0 ? "" : `, held by ${nameList(holders)}`
    const often = times === 1 ? "" : `, ${times} times`
    return `${visibleLine(who)}: ${what}${visibleLine(path)}${by}${often}, ${duration(nowMs - latestMs)} ago`
  }
  return rowsOf(
    blocked.map(row),
    columns,
    `${ownCommand()} log --since 1h --kind edit.blocked,reservation.refused`,
  )
}

/** Returns who waits for files, a line each, of many those who have waited longest. */
export function waitingRows({ waiting }: Standstill, nowMs: number, columns: number): string[] {
  const rows = waiting.map(
    ({ agentName, pathPattern, createdAtMs }) =>
      `${agentName}: ${visibleLine(pathPattern)}, for ${duration(nowMs - createdAtMs)}`,
  )
  return rowsOf(rows, columns, `${ownCommand()} status --json`)
}

function rowsOf(rows: readonly string[], columns: number, all: string): string[] {
  const left = rows.length - SHOWN_MAX
  const shown = rows.slice(0, SHOWN_MAX).map((row) => shortened(row, columns))
  return left > 0 ? [...shown, dim(`and ${count(left, "other")}: ${all}`)] : shown
}
