/** Agents, and which of them are members of a project. The notifier is stored here and listed nowhere. */

import type { Queries } from "../../db/database.ts"
import { type Agent, type ContactPolicy, NOTIFIER_NAME, nameKey } from "../../domain/coordination/agent.ts"
import { type AgentRow, flag, toAgent } from "../rows.ts"

const COLUMNS =
  "id, project_id, name, program, model, task_description, repository_id, contact_policy, session, is_claimed, last_active_at_ms, created_at_ms, work_tree"

export const agentStatements = {
  findById: `SELECT ${COLUMNS} FROM agents WHERE id = ?`,
  findByName: `SELECT ${COLUMNS} FROM agents WHERE project_id = ? AND name_key = ?`,
  findInRepository: `
    SELECT ${COLUMNS} FROM agents
    WHERE name_key = ? AND project_id IN (SELECT project_id FROM project_repositories WHERE repository_id = ?)
    ORDER BY last_active_at_ms DESC, id LIMIT 1`,
  list: `
    SELECT ${COLUMNS} FROM agents
    WHERE project_id = ? AND name_key <> ? AND (? IS NULL OR repository_id = ?)
    ORDER BY last_active_at_ms DESC, id`,
  listOfSession: `SELECT ${COLUMNS} FROM agents WHERE session = ? ORDER BY last_active_at_ms DESC, id`,
  listNames: "SELECT name FROM agents WHERE project_id = ? AND name_key <> ? ORDER BY name_key",
  insert: `
    INSERT INTO agents (project_id, name, name_key, program, model, task_description, repository_id,
      contact_policy, session, is_claimed, last_active_at_ms, created_at_ms, work_tree)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) RETURNING ${COLUMNS}`,
  update: `
    UPDATE agents SET project_id = ?, name = ?, name_key = ?, program = ?, model = ?, task_description = ?, repository_id = ?,
      contact_policy = ?, session = ?, is_claimed = ?, last_active_at_ms = ?, work_tree = ?
    WHERE id = ? RETURNING ${COLUMNS}`,
  markGone: `UPDATE agents SET gone_at_ms = ? WHERE id = ? AND gone_at_ms IS NULL RETURNING ${COLUMNS}`,
  markPresent: `UPDATE agents SET gone_at_ms = NULL WHERE id = ? AND gone_at_ms IS NOT NULL RETURNING ${COLUMNS}`,
  markClaimed: "UPDATE agents SET is_claimed = 1 WHERE id = ?",
  setPolicy: "UPDATE agents SET contact_policy = ? WHERE id = ?",
  touch: "UPDATE agents SET last_active_at_ms = ? WHERE id = ?",
  touchAt: "UPDATE agents SET last_active_at_ms = ?, work_tree = ? WHERE id = ?",
}

export async function findAgentById(db: Queries, id: number): Promise<Agent | undefined> {
  const row = await db.get<AgentRow>(agentStatements.findById, [id])
  return row && toAgent(row)
}

/** Finds an agent of a project by its name, in any case. */
export async function findAgentByName(
  db: Queries,
  projectId: number,
  name: string,
): Promise<Agent | undefined> {
  const row = await db.get<AgentRow>(agentStatements.findByName, [projectId, nameKey(name)])
  return row && toAgent(row)
}

/** Finds an agent by its name, in any case, in one of the projects of a repository: the one active last. */
export async function findAgentInRepository(
  db: Queries,
  repositoryId: number,
  name: string,
): Promise<Agent | undefined> {
  const row = await db.get<AgentRow>(agentStatements.findInRepository, [nameKey(name), repositoryId])
  return row && toAgent(row)
}

/** Returns a project's agents, the most recently active first. */
export async function listAgents(db: Queries, projectId: number, repositoryId?: number): Promise<Agent[]> {
  const repository = repositoryId ?? null
  const rows = await db.all<AgentRow>(agentStatements.list, [
    projectId,
    nameKey(NOTIFIER_NAME),
    repository,
    repository,
  ])
  return rows.map(toAgent)
}

/** Returns the agents that a session speaks for, in all projects, the most recently active first. */
export async function listAgentsOfSession(db: Queries, session: string): Promise<Agent[]> {
  return (await db.all<AgentRow>(agentStatements.listOfSession, [session])).map(toAgent)
}

export async function listAgentNames(db: Queries, projectId: number): Promise<string[]> {
  const rows = await db.all<{ name: string }>(agentStatements.listNames, [projectId, nameKey(NOTIFIER_NAME)])
  return rows.map((row) => row.name)
}

type NewAgent = Omit<Agent, "id" | "lastActiveAtMs" | "createdAtMs">

export async function insertAgent(tx: Queries, agent: NewAgent, nowMs: number): Promise<Agent> {
  const row = await tx.get<AgentRow>(agentStatements.insert, [
    agent.projectId,
    agent.name,
    nameKey(agent.name),
    agent.program,
    agent.model,
    agent.taskDescription,
    agent.repositoryId,
    agent.contactPolicy,
    agent.session,
    flag(agent.isClaimed),
    nowMs,
    nowMs,
    agent.workTree,
  ])
  return toAgent(row as AgentRow)
}

/** Stores an agent's project, name, profile and session, and marks it active. */
export async function updateAgent(tx: Queries, agent: Agent, nowMs: number): Promise<Agent> {
  const row = await tx.get<AgentRow>(agentStatements.update, [
    agent.projectId,
    agent.name,
    nameKey(agent.name),
    agent.program,
    agent.model,
    agent.taskDescription,
    agent.repositoryId,
    agent.contactPolicy,
    agent.session,
    flag(agent.isClaimed),
    nowMs,
    agent.workTree,
    agent.id,
  ])
  return toAgent(row as AgentRow)
}

export async function setContactPolicy(tx: Queries, agentId: number, policy: ContactPolicy): Promise<void> {
  await tx.run(agentStatements.setPolicy, [policy, agentId])
}

/** Marks that nobody takes an agent over any more. */
export async function markClaimed(tx: Queries, agentId: number): Promise<void> {
  await tx.run(agentStatements.markClaimed, [agentId])
}

/** Notes that the session of an agent has ended; returns the agent unless that was noted before. */
export async function markGone(tx: Queries, agentId: number, nowMs: number): Promise<Agent | undefined> {
  const row = await tx.get<AgentRow>(agentStatements.markGone, [nowMs, agentId])
  return row && toAgent(row)
}

/** Notes that an agent is there again; returns the agent if it was noted to be gone. */
export async function markPresent(tx: Queries, agentId: number): Promise<Agent | undefined> {
  const row = await tx.get<AgentRow>(agentStatements.markPresent, [agentId])
  return row && toAgent(row)
}

/** Moves an agent's last activity to `nowMs`. */
export async function touchAgent(tx: Queries, agentId: number, nowMs: number): Promise<void> {
  await tx.run(agentStatements.touch, [nowMs, agentId])
}

/** Does the same for an agent that is seen at work in a work tree, given by its root. */
export async function touchAgentAt(
  tx: Queries,
  agentId: number,
  workTree: string,
  nowMs: number,
): Promise<void> {
  await tx.run(agentStatements.touchAt, [nowMs, workTree, agentId])
}
