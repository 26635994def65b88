/** How agents and their mail look at a terminal, and as JSON. */

import { type Agent, isNotifier, isPerson, MODEL_UNKNOWN } from "../../domain/coordination/agent.ts"
import { modeOf } from "../../domain/coordination/reservation.ts"
import { visibleLine } from "../../domain/foreign-text/visible.ts"
import type { Project } from "../../domain/project.ts"
import type { Colleague } from "../../operations/coordination/colleagues.ts"
import type { Letter } from "../../operations/coordination/mailbox.ts"
import { count, duration, isoTime, lines } from "../../operations/markdown.ts"
import { shortened, wrapped } from "../columns.ts"
import { bold, cyan, dim, green, red } from "../output.ts"
import { reservationJson } from "./reserve.ts"

const INDENT = "  "
/** Of what an agent holds, for people; JSON has all of it. */
const HELD_SHOWN_MAX = 3
/** Of a task, which may be long. */
const TASK_LINES_MAX = 2

/** Returns an agent's name as people read it, with a mark where it is a person. */
export function nameOf(agent: Agent, isOwn = false): string {
  const marks = [isPerson(agent) ? "a person" : null, isOwn ? "you" : null].filter((mark) => mark !== null)
  return marks.length === 0 ? agent.name : `${agent.name} (${marks.join(", ")})`
}

/** What a list of agents is shown with. */
interface Listing {
  ownIds: ReadonlySet<number>
  /** Whether they are of several projects, so that each has to be named. */
  isWide: boolean
  nowMs: number
  columns: number
}

/** Returns an agent as a block of lines: who, where, on what, with what. */
export function colleagueText(one: Colleague, listing: Listing): string {
  const { columns, nowMs } = listing
  const room = columns - INDENT.length
  const held = one.held.slice(0, HELD_SHOWN_MAX).map((reservation) => {
    const left = duration(reservation.expiresAtMs - nowMs)
    const facts = ` (${modeOf(reservation)}, ${left} left)`
    return `${INDENT}holds ${shortened(visibleLine(reservation.pathPattern), room - 6 - facts.length)}${dim(facts)}`
  })
  const more = one.held.length - held.length
  const { taskDescription } = one.agent
  return lines(
    colleagueHead(one, listing),
    ...placeRows(one, listing),
    ...(taskDescription === null
      ? []
      : taskRows(visibleLine(taskDescription), room).map((line) => INDENT + line)),
    ...held,
    more > 0 ? dim(`${INDENT}and holds ${more} more`) : null,
    one.unread === 0 ? null : INDENT + unreadText(one),
  )
}

/** Returns the same in one or two lines, for pages that show more than who is at work. */
export function colleagueLine(one: Colleague, listing: Listing): string {
  const room = listing.columns - INDENT.length
  const { taskDescription, workTree } = one.agent
  const place = workTree === null ? "" : ` in ${placeOf(one, workTree)}`
  const facts = [
    taskDescription === null ? null : visibleLine(taskDescription),
    one.unread === 0 ? null : unreadText(one),
  ].filter((fact) => fact !== null)
  return lines(
    shortened(
      `${nameOf(one.agent, listing.ownIds.has(one.agent.id))}${place}${wideMark(one, listing)}`,
      room,
    ),
    ...facts.map((fact) => INDENT + shortened(fact, room - INDENT.length)),
  )
}

function taskRows(task: string, columns: number): string[] {
  const rows = wrapped(task, columns - 1)
  return rows.length <= TASK_LINES_MAX
    ? rows
    : [...rows.slice(0, TASK_LINES_MAX - 1), `${rows[TASK_LINES_MAX - 1]}…`]
}

function colleagueHead(one: Colleague, { ownIds, nowMs }: Listing): string {
  const { agent, presence } = one
  const model = agent.model === MODEL_UNKNOWN ? "" : `, ${visibleLine(agent.model)}`
  const program = isPerson(agent) ? "" : `  ${visibleLine(agent.program)}${model}`
  const ago = `${duration(nowMs - agent.lastActiveAtMs)} ago`
  const sign = { active: ago, idle: `idle, seen ${ago}`, gone: `gone, seen ${ago}` }[presence]
  const name = bold(nameOf(agent, ownIds.has(agent.id)))
  return `${presence === "gone" ? name : green("● ") + name}${dim(`${program}  ${sign}`)}`
}

function placeRows(one: Colleague, listing: Listing): string[] {
  const { workTree } = one.agent
  const room = listing.columns - INDENT.length
  const place = workTree === null ? one.repository?.name : placeOf(one, workTree)
  return [
    ...(place === undefined ? [] : [INDENT + shortened(visibleLine(`in ${place}`), room)]),
    ...(listing.isWide ? [dim(INDENT + shortened(`project ${visibleLine(one.project.key)}`, room))] : []),
  ]
}

function placeOf({ branch }: Colleague, workTree: string): string {
  const place = visibleLine(homely(workTree))
  return branch === null ? place : `${place} on ${visibleLine(branch)}`
}

function wideMark({ project }: Colleague, { isWide }: Listing): string {
  return isWide ? `, project ${visibleLine(project.key)}` : ""
}

/** Returns a path with the home folder as people write it. */
export function homely(path: string, home = process.env.HOME ?? ""): string {
  return home.length > 1 && (path === home || path.startsWith(`${home}/`))
    ? `~${path.slice(home.length)}`
    : path
}

function unreadText({ unread, urgent }: Pick<Colleague, "unread" | "urgent">): string {
  return `${unread} unread${urgent === 0 ? "" : `, ${urgent} urgent`}`
}

/** Returns an agent at work as JSON. */
export function colleagueJson(one: Colleague, ownIds: ReadonlySet<number>, nowMs: number) {
  const { agent, project, presence, repository, branch, held, unread, urgent } = one
  return {
    id: agent.id,
    name: agent.name,
    is_person: isPerson(agent),
    is_you: ownIds.has(agent.id),
    presence,
    program: agent.program,
    model: agent.model,
    project_id: project.id,
    project_key: project.key,
    repository_id: repository?.id ?? null,
    repository: repository?.name ?? null,
    work_tree: agent.workTree,
    branch,
    task: agent.taskDescription,
    unread,
    urgent_unread: urgent,
    reservations: held.map((reservation) => reservationJson(reservation, nowMs)),
    last_active_at: isoTime(agent.lastActiveAtMs),
  }
}

/** Returns a message of an inbox as two lines: what is to be noticed of it with its subject, and whose it is. */
export function letterText(
  { message, sender, owner, project }: Letter,
  { isWide, nowMs, columns }: { isWide: boolean; nowMs: number; columns: number },
): string {
  const isUnread = message.readAtMs === null
  const marks = [
    message.importance === "normal" ? null : red(message.importance),
    message.ackRequired && message.ackedAtMs === null ? red("waits for your acknowledgment") : null,
  ].filter((mark) => mark !== null)
  const id = `#${message.id}`
  const subject = shortened(visibleLine(message.subject), columns - id.length - 3)
  const from = isNotifier(sender.name) ? sender.name : nameOf(sender)
  const ago = `${duration(nowMs - message.createdAtMs)} ago`
  const where = isWide ? `, to ${owner.name} in ${visibleLine(project.key)}` : ""
  return lines(
    `${isUnread ? cyan("● ") : INDENT}${id} ${isUnread ? bold(subject) : subject}`,
    INDENT + dim(shortened(`${from}, ${ago}${isUnread ? ", unread" : ""}${where}`, columns - INDENT.length)),
    marks.length === 0 ? null : INDENT + marks.join(", "),
  )
}

/** Returns a message of an inbox as JSON. */
export function letterJson({ message, sender, owner, project }: Letter) {
  return {
    id: message.id,
    thread_id: message.threadKey,
    from: senderJson(sender),
    to_agent_id: owner.id,
    to_agent_name: owner.name,
    project_id: project.id,
    project_key: project.key,
    subject: message.subject,
    importance: message.importance,
    is_read: message.readAtMs !== null,
    ack_required: message.ackRequired,
    ack_received_at: message.ackedAtMs === null ? null : isoTime(message.ackedAtMs),
    created_at: isoTime(message.createdAtMs),
  }
}

/** Returns who wrote a message as JSON. */
export function senderJson(sender: Agent) {
  return { id: sender.id, name: sender.name, is_person: isPerson(sender) }
}

/** Returns where agents are, in words: in one project, or in several. */
export function placesText(projects: readonly Project[]): string {
  const [first] = projects
  return projects.length === 1 && first !== undefined
    ? visibleLine(homely(first.key))
    : count(projects.length, "project")
}
