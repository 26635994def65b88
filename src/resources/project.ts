/** What a project holds besides mail: agents, contacts, reservations. */

import * as z from "zod"
import { LISTING_ROWS_MAX } from "../config/limits.ts"
import { isActive } from "../domain/coordination/agent.ts"
import { CONTACT_STATUSES } from "../domain/coordination/contact.ts"
import { requireAgent, requireRepository } from "../operations/admission.ts"
import { contactsOf } from "../operations/coordination/contacts.ts"
import { agentName, projectKey } from "../operations/fields.ts"
import { listAgents } from "../store/coordination/agents.ts"
import { listReservations } from "../store/coordination/reservations.ts"
import { agentJson, contactJson, reservationJson } from "./json.ts"
import { booleanText, defineResource, integerText } from "./resource.ts"

export const fileReservations = defineResource({
  name: "file-reservations",
  title: "File reservations",
  path: "coordination/file-reservations",
  description: "The file reservations that hold now.",
  parameters: z.strictObject({
    project_key: projectKey(),
    repository_id: integerText(1, Number.MAX_SAFE_INTEGER).optional(),
    agent: agentName("Agent name").optional(),
  }),
  async read({ app, project, nowMs }, { repository_id, agent }) {
    if (repository_id !== undefined) await requireRepository(app.db, repository_id)
    const holder = agent === undefined ? undefined : await requireAgent(app.db, project, agent)
    const filter = { projectId: project.id, repositoryId: repository_id, agentId: holder?.id }
    const reservations = await listReservations(app.db, filter, nowMs, LISTING_ROWS_MAX)
    return {
      project_key: project.key,
      filters: { repository_id: repository_id ?? null, agent: holder?.name ?? null },
      count: reservations.length,
      reservations: reservations.map((reservation) => reservationJson(reservation, nowMs)),
    }
  },
  compared: ({ reservations, ...rest }) => [
    rest,
    reservations.map(({ time_remaining: _, ...shown }) => shown),
  ],
})

export const agents = defineResource({
  name: "agents",
  title: "Agents",
  path: "coordination/agents",
  description: "A project's agents, the most recently active first.",
  parameters: z.strictObject({ project_key: projectKey(), active_only: booleanText().default(false) }),
  async read({ app, project, nowMs }, { active_only }) {
    const all = await listAgents(app.db, project.id)
    const active = all.filter((agent) => isActive(agent, nowMs))
    return {
      project_key: project.key,
      total_agents: all.length,
      active_agents: active.length,
      agents: (active_only ? active : all).slice(0, LISTING_ROWS_MAX).map((agent) => agentJson(agent, nowMs)),
    }
  },
  // Every call of an agent moves it to the top.
  compared: ({ agents: listed, ...rest }) => [
    rest,
    listed.map(({ last_active_at: _, ...shown }) => shown).sort((one, other) => one.id - other.id),
  ],
})

export const contacts = defineResource({
  name: "contacts",
  title: "Contacts",
  path: "coordination/contacts",
  description: "An agent's contacts and contact requests, both ways.",
  parameters: z.strictObject({
    project_key: projectKey(),
    agent: agentName("Agent name"),
    status: z.enum(CONTACT_STATUSES).optional(),
  }),
  actor: "agent",
  async read({ app, actor: agent }, parameters) {
    const { counts, contacts: listed } = await contactsOf(app.db, agent, parameters.status)
    return {
      agent: { id: agent.id, name: agent.name },
      total_contacts: counts.total,
      pending: counts.pending,
      approved: counts.approved,
      denied: counts.denied,
      contacts: listed.slice(0, LISTING_ROWS_MAX).map(contactJson),
    }
  },
})
