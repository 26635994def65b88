/**
 * Who may act as whom: an agent acts in its own session only. One rule for tools, resources, REST, hook and
 * command line; they differ in how they find the agent and the session's names.
 */

import type { Queries } from "../../db/database.ts"
import { type Agent, generateName, isPerson, nameKey } from "../../domain/coordination/agent.ts"
import { oneLine } from "../../domain/foreign-text/markdown.ts"
import { AppError, assert } from "../../errors.ts"
import { findAgentById, listAgentNames } from "../../store/coordination/agents.ts"
import { moveReservationsSince } from "../../store/coordination/reservations.ts"
import { listTakenUp, noteOnce, removeTakenUp, takenUpNotice } from "../../store/coordination/sessions.ts"
import { findProjectById } from "../../store/projects.ts"
import type { App } from "../app.ts"
import { duration } from "../markdown.ts"
import { removeDeadProcesses } from "../processes.ts"
import { addAgent, takeUp } from "./presence.ts"
import { isHeldByOthers, isReturning, listOwnAgents } from "./sessions.ts"
import { notify } from "./writing.ts"

/** Whether a session may act as an agent as things stand; where the user's settings open identities, any may. */
export function mayActAs({ config }: App, agent: Agent, ownNames: readonly string[]): boolean {
  return config.identity === "open" || (agent.session !== null && ownNames.includes(agent.session))
}

/**
 * Returns an agent for the session of these names to act as, given back to it when another took it up meanwhile.
 * Fails with `refused` for an agent of another session and for one that nobody has taken up; `wayOut` is what
 * the surface offers besides.
 */
export async function requireOwnAgent(
  app: App,
  agent: Agent,
  ownNames: readonly string[],
  wayOut = "",
): Promise<Agent> {
  if (mayActAs(app, agent, ownNames)) return agent
  await takeBack(app, ownNames)
  const current = await requireStored(app.db, agent.id)
  if (mayActAs(app, current, ownNames)) return current
  await removeDeadProcesses(app)
  const nowMs = app.now()
  const isHeld = await isHeldByOthers(app.db, current, ownNames, nowMs)
  const own = (await listOwnAgents(app.db, ownNames)).filter((one) => one.projectId === current.projectId)
  throw refusal(current, { isHeld, own, nowMs, wayOut })
}

function refusal(
  agent: Agent,
  { isHeld, own, nowMs, wayOut }: { isHeld: boolean; own: readonly Agent[]; nowMs: number; wayOut: string },
): AppError {
  const { name } = agent
  const active = `last active ${duration(nowMs - agent.lastActiveAtMs)} ago`
  const profile = isPerson(agent) ? `a person, ${active}` : `${oneLine(agent.program)}, ${active}`
  const reason = isHeld
    ? `${name} (${profile}) belongs to another live session, and an agent acts in its own session only`
    : `${name} (${profile}) belongs to no live session, so it has to be taken up first`
  const [self] = own
  const you = self === undefined ? "" : `In this project you are ${self.name} (agent id ${self.id}). `
  const next = isHeld
    ? "Call register-agent or macro-start-session with another name_hint, or wait until that session has ended."
    : `Call register-agent or macro-start-session with name_hint "${name}" to take it up, or with another one.`
  return new AppError("refused", reason, { hint: `${you}${next}${wayOut === "" ? "" : ` ${wayOut}`}` })
}

/** Notes that an agent is taken up by another session; its client's session gets it back when it returns. */
export async function noteTakenUp(
  tx: Queries,
  { id, session }: Agent,
  ownNames: readonly string[],
  nowMs: number,
): Promise<void> {
  if (session === null || ownNames.includes(session) || !isReturning(session)) return
  await noteOnce(tx, session, takenUpNotice(id), nowMs)
}

/**
 * Gives a session that returns the agents which others took up meanwhile. A live session that loses one so goes on
 * under a new name, with what it has reserved since, and is told by message.
 */
export async function takeBack(app: App, ownNames: readonly string[]): Promise<void> {
  for (const session of ownNames) {
    for (const { agentId, takenUpAtMs } of await listTakenUp(app.db, session)) {
      await removeDeadProcesses(app)
      const { projectId } = await requireStored(app.db, agentId)
      await app.db.transaction(`project:${projectId}`, async (tx) => {
        const agent = await requireStored(tx, agentId)
        const nowMs = app.now()
        if (await isHeldByOthers(tx, agent, ownNames, nowMs))
          await replace(tx, app, agent, { takenUpAtMs, nowMs })
        await takeUp(tx, agent, { ...agent, session }, ownNames, nowMs)
        await removeTakenUp(tx, agentId)
      })
    }
  }
}

/** Makes the agent as which a session goes on that has to give one back. */
async function replace(
  tx: Queries,
  app: App,
  agent: Agent,
  { takenUpAtMs, nowMs }: { takenUpAtMs: number; nowMs: number },
): Promise<void> {
  const taken = new Set((await listAgentNames(tx, agent.projectId)).map(nameKey))
  const name = generateName(agent.name, (drawn) => taken.has(nameKey(drawn)), app.random)
  const successor = await addAgent(tx, { ...agent, name }, nowMs)
  await moveReservationsSince(tx, agent.id, successor, takenUpAtMs)
  const project = await findProjectById(tx, agent.projectId)
  assert(project !== undefined, `agent ${agent.id} has a project`)
  await notify(tx, { project, nowMs }, successor, {
    subject: `You are ${name} now`,
    bodyMd: `The session to which ${agent.name} belongs has returned and goes on as ${agent.name}. You are ${name} (agent id ${successor.id}) from now on: use that name in every call. What you reserved as ${agent.name} is yours; its mail stays with ${agent.name}.`,
  })
}

async function requireStored(db: Queries, agentId: number): Promise<Agent> {
  const agent = await findAgentById(db, agentId)
  assert(agent !== undefined, "agents are never removed")
  return agent
}
