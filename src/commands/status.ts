/** `signalbox status`: what is there and what is going on, without changing or making anything. */

import type { Config } from "../config/config.ts"
import { readHookSettings } from "../config/hook-settings.ts"
import type { EmbeddingProgress, StoredModel } from "../domain/embedding/embedding.ts"
import { visibleLine } from "../domain/foreign-text/visible.ts"
import { AppError } from "../errors.ts"
import { findWorkTree } from "../git/repository.ts"
import { hasHookFiles, hookFolder } from "../hook/files.ts"
import { type Activity, activityNow, type DocumentationActivity } from "../operations/activity.ts"
import type { App } from "../operations/app.ts"
import { findOwnAgents } from "../operations/coordination/identity.ts"
import { knownRepositoryAround } from "../operations/coordination/locations.ts"
import { count, lines } from "../operations/markdown.ts"
import { allWebhooks, type ShownWebhook } from "../operations/webhooks/webhooks.ts"
import { ownCommand } from "../runtime/own-command.ts"
import { packageVersion } from "../runtime/package-root.ts"
import { terminalColumns } from "./columns.ts"
import { terminalOf } from "./coordination/identity.ts"
import { colleagueJson, colleagueLine } from "./coordination/mail-text.ts"
import { blockedRows, standstillJson, waitingRows } from "./coordination/standstill-text.ts"
import { type DatabaseJson, databaseLines, databaseState } from "./database-state.ts"
import { figure } from "./documentation/indexing-work.ts"
import { isListenerUp, listenerOf } from "./listener.ts"
import { progressJson, progressText } from "./memory/model-follow.ts"
import { bold, dim, green, type OutputOptions, printResult, red } from "./output.ts"

/** Of those at work. */
const AT_WORK_SHOWN_MAX = 10
/** As far as the texts of the other lines stand in. */
const AT_WORK_INDENT = "    "

/** Prints the state of the database, the listener, the hook and the limits. */
export async function statusCommand(config: Config, options: OutputOptions): Promise<void> {
  const { database, fault, found: now } = await databaseState(config, (app) => lookAround(app, config))
  const listener = listenerOf(config)
  const status = {
    version: packageVersion(),
    environment: config.environment,
    key: config.apiKey === undefined ? "local" : "SIGNALBOX_API_KEY",
    database,
    listener:
      listener === undefined
        ? null
        : {
            url: listener.url,
            pid: listener.pid,
            is_up: await isListenerUp(config),
          },
    activity: now === undefined ? null : activityJson(now),
    hook: {
      is_installed: hasHookFiles(config.dataFolder),
      folder: hookFolder(config.dataFolder),
      weakened_by_project: await weakenedSettings(config),
    },
    limits: config.rates,
  }
  printResult(options, status, () => statusText(status, now === undefined ? undefined : rowsOf(now)))
  if (fault !== undefined)
    throw new AppError("unavailable", "the database cannot be used", { hint: "What to do stands above." })
}

/** What is going on, with whose agents those at the terminal are. */
interface Look extends Activity {
  ownIds: ReadonlySet<number>
  webhooks: readonly ShownWebhook[]
  nowMs: number
}

async function lookAround(app: App, { workingFolder }: Config): Promise<Look> {
  const repository = await knownRepositoryAround(app, workingFolder)
  const own = await findOwnAgents(app, { ...terminalOf(app), agentName: undefined }, repository)
  const ownIds = new Set(own.map(({ id }) => id))
  return { ...(await activityNow(app)), ownIds, webhooks: await allWebhooks(app), nowMs: app.now() }
}

/** What stands below the lines that sum it up. */
interface Rows {
  atWork: readonly string[]
  blocked: readonly string[]
  waiting: readonly string[]
}

function rowsOf(look: Look): Rows {
  const columns = terminalColumns() - AT_WORK_INDENT.length
  const indented = (rows: readonly string[]) => rows.map((row) => AT_WORK_INDENT + row)
  return {
    atWork: atWorkRows(look),
    blocked: indented(blockedRows(look.standstill, look.nowMs, columns)),
    waiting: indented(waitingRows(look.standstill, look.nowMs, columns)),
  }
}

/** Returns who is at work: where, on what, with what unread; of many the first. */
function atWorkRows({ atWork, ownIds, nowMs }: Look): string[] {
  const isWide = new Set(atWork.map(({ project }) => project.id)).size > 1
  const listing = { ownIds, isWide, nowMs, columns: terminalColumns() - AT_WORK_INDENT.length }
  const left = atWork.length - AT_WORK_SHOWN_MAX
  const rows = atWork.slice(0, AT_WORK_SHOWN_MAX).flatMap((one) => colleagueLine(one, listing).split("\n"))
  const more = left > 0 ? [dim(`and ${left} more: ${ownCommand()} agents`)] : []
  return [...rows, ...more].map((row) => AT_WORK_INDENT + row)
}

/** Returns what the settings of the project around the working folder weaken, a sentence each. */
async function weakenedSettings({ userConfigPath, workingFolder }: Config): Promise<readonly string[]> {
  const tree = await findWorkTree(workingFolder)
  return readHookSettings(userConfigPath, tree?.rootPath).weakenings
}

function activityJson({ models, documentation, ...activity }: Look) {
  const { active, activeProgress, building, buildingProgress } = models
  return {
    server_processes: activity.serverProcesses,
    repositories: activity.repositories,
    active_agents: activity.activeAgents,
    active_reservations: activity.activeReservations,
    ...standstillJson(activity.standstill),
    at_work: activity.atWork.map((one) => colleagueJson(one, activity.ownIds, activity.nowMs)),
    embedding: {
      active: modelJson(active, activeProgress),
      building: building && buildingProgress ? modelJson(building, buildingProgress) : null,
    },
    documentation,
    webhooks: activity.webhooks.map(({ id, name, url, state, pause_reason, last_error }) => {
      return { id, name, url, state, pause_reason, last_error }
    }),
  }
}
type ActivityJson = ReturnType<typeof activityJson>

function modelJson({ source, name }: StoredModel, progress: EmbeddingProgress) {
  return { id: source, name, progress: progressJson(progress) }
}

interface Status {
  version: string
  environment: string
  key: string
  database: DatabaseJson
  listener: { url: string; pid: number; is_up: boolean } | null
  activity: ActivityJson | null
  hook: { is_installed: boolean; folder: string; weakened_by_project: readonly string[] }
  limits: Config["rates"]
}

function statusText(status: Status, rows: Rows | undefined): string {
  const { activity, hook, limits } = status
  return lines(
    `${bold("signalbox")} ${status.version}  ${dim(`environment ${status.environment}, key: ${status.key}`)}`,
    ...databaseLines(status.database),
    line(status.listener?.is_up === true, "Listener", listenerText(status.listener)),
    activity === null
      ? null
      : lines(
          line(activity.server_processes > 0, "Servers", count(activity.server_processes, "live session")),
          line(
            activity.at_work.length > 0,
            "Agents",
            activity.at_work.length === 0 ? "none at work" : `${activity.at_work.length} at work`,
          ),
          ...(rows?.atWork ?? []),
          line(
            activity.active_reservations > 0,
            "Reservations",
            `${activity.active_reservations} in force, ${count(activity.repositories, "repository", "repositories")} connected`,
          ),
          ...summed("Blocked", activity.blocked_last_hour.length, "in the last hour", rows?.blocked),
          ...summed("Waiting", activity.waiting.length, "for files that others hold", rows?.waiting),
          line(activity.embedding.active.progress.total > 0, "Memories", embeddingText(activity.embedding)),
          line(activity.documentation.chunks > 0, "Documentation", documentationText(activity.documentation)),
          activity.webhooks.length === 0
            ? null
            : line(
                activity.webhooks.some(({ state }) => state === "active"),
                "Webhooks",
                webhooksText(activity.webhooks),
              ),
        ),
    line(
      hook.is_installed,
      "Hook",
      hook.is_installed
        ? `installed in ${hook.folder}`
        : `not installed: run ${ownCommand()} install to guard edits with it`,
    ),
    ...hook.weakened_by_project.map((text) => line(false, "Settings", red(visibleLine(text)))),
    line(
      true,
      "Limits",
      `${perMinute(limits.tool_calls_per_minute)} tool calls, ${perMinute(limits.resource_reads_per_minute)} resource reads, ${perMinute(limits.searches_per_minute)} searches a minute`,
    ),
  )
}

const line = (isGood: boolean, name: string, text: string) =>
  `${isGood ? green("✓") : dim("-")} ${name.padEnd(13)} ${text}`

/** Returns a line with those below it; none where there is nothing. */
function summed(name: string, amount: number, what: string, rows: readonly string[] = []): string[] {
  return amount === 0 ? [] : [line(false, name, `${amount} ${what}`), ...rows]
}

function listenerText(listener: Status["listener"]): string {
  if (listener === null) return "none; a server starts it with the first call of an agent"
  const { url, pid, is_up } = listener
  return is_up ? `${url} ${dim(`(process ${pid})`)}` : `${url} does not answer ${dim(`(process ${pid})`)}`
}

function embeddingText({ active, building }: ActivityJson["embedding"]): string {
  const now = `${progressText(active.progress)} with ${active.id}`
  if (building === null) return now
  const { completed, failed, total } = building.progress
  const done = `${(completed + failed).toLocaleString("en-US")} of ${total.toLocaleString("en-US")} done`
  return `${now}; ${building.id} takes over, ${done}`
}

function documentationText({
  repositories,
  branches,
  files,
  chunks,
  problems,
  indexing,
}: DocumentationActivity): string {
  if (repositories === 0) return `none is searched; ${ownCommand()} repos add connects a repository`
  const where =
    branches <= repositories
      ? count(repositories, "repository", "repositories")
      : `${count(branches, "branch", "branches")} of ${count(repositories, "repository", "repositories")}`
  const work = indexing.map(({ repository, phase, done, total }) => {
    const unit = phase === "embedding" ? "chunks" : "files"
    return `; ${phase} ${visibleLine(repository)}, ${figure(done)} of ${figure(total)} ${unit}`
  })
  const trouble = problems === 0 ? "" : red(`; ${ownCommand()} repos list says what cannot be read`)
  const figures = `${figure(files)} ${files === 1 ? "file" : "files"}, ${figure(chunks)} ${chunks === 1 ? "chunk" : "chunks"}`
  return `${figures} in ${where}${work.join("")}${trouble}`
}

function webhooksText(webhooks: ActivityJson["webhooks"]): string {
  const states = ["active", "failing", "paused"] as const
  const counts = states.map((name) => [name, webhooks.filter(({ state }) => state === name).length] as const)
  const told = counts.filter(([, of]) => of > 0).map(([name, of]) => `${of} ${name}`)
  const isWrong = webhooks.some(({ state, pause_reason }) => state === "failing" || pause_reason !== null)
  return `${told.join(", ")}${isWrong ? red(`; ${ownCommand()} webhooks list says why`) : ""}`
}

function perMinute(limit: number): string {
  return limit === 0 ? "unlimited" : String(limit)
}
