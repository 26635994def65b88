/** The one place where rows become domain values: booleans, JSON and names of columns. */

import type { Row } from "../db/database.ts"
import type { ApiKey, Environment, Plan } from "../domain/api-key.ts"
import type { Agent, ContactPolicy } from "../domain/coordination/agent.ts"
import type { Contact, ContactStatus } from "../domain/coordination/contact.ts"
import type {
  Importance,
  InboxMessage,
  ListedMessage,
  Message,
  Recipient,
  RecipientKind,
} from "../domain/coordination/message.ts"
import type { Override, OverrideStatus } from "../domain/coordination/override.ts"
import type { Candidate, Reservation } from "../domain/coordination/reservation.ts"
import type { Thread } from "../domain/coordination/thread.ts"
import type { ModelState, StoredModel } from "../domain/embedding/embedding.ts"
import type { EmbeddingStatus, Memory, Sector } from "../domain/memory/memory.ts"
import type { Project, Repository } from "../domain/project.ts"

/** Returns 1 or 0, as the schema stores booleans. */
export function flag(value: boolean): 0 | 1 {
  return value ? 1 : 0
}

export type ProjectRow = Row & { id: number; key: string; created_at_ms: number }

export function toProject(row: ProjectRow): Project {
  return { id: row.id, key: row.key, createdAtMs: row.created_at_ms }
}

export type RepositoryRow = Row & {
  id: number
  name: string
  root_path: string
  identity_path: string
  default_branch: string | null
  ignore_case: number
}

export function toRepository(row: RepositoryRow): Repository {
  return {
    id: row.id,
    name: row.name,
    rootPath: row.root_path,
    identityPath: row.identity_path,
    defaultBranch: row.default_branch,
    ignoreCase: row.ignore_case === 1,
  }
}

export type AgentRow = Row & {
  id: number
  project_id: number
  name: string
  program: string
  model: string
  task_description: string | null
  repository_id: number | null
  contact_policy: string
  session: string | null
  is_claimed: number
  last_active_at_ms: number
  created_at_ms: number
  work_tree: string | null
}

export function toAgent(row: AgentRow): Agent {
  return {
    id: row.id,
    projectId: row.project_id,
    name: row.name,
    program: row.program,
    model: row.model,
    taskDescription: row.task_description,
    repositoryId: row.repository_id,
    contactPolicy: row.contact_policy as ContactPolicy,
    session: row.session,
    isClaimed: row.is_claimed === 1,
    lastActiveAtMs: row.last_active_at_ms,
    workTree: row.work_tree,
    createdAtMs: row.created_at_ms,
  }
}

export type OverrideRow = Row & {
  id: number
  project_id: number
  repository_id: number
  requester_id: number
  requester_name: string
  path: string
  reason: string
  status: string
  requested_at_ms: number
  decided_at_ms: number | null
}

export function toOverride(row: OverrideRow): Override {
  return {
    id: row.id,
    projectId: row.project_id,
    repositoryId: row.repository_id,
    requesterId: row.requester_id,
    requesterName: row.requester_name,
    path: row.path,
    reason: row.reason,
    status: row.status as OverrideStatus,
    requestedAtMs: row.requested_at_ms,
    decidedAtMs: row.decided_at_ms,
  }
}

export type ContactRow = Row & {
  id: number
  project_id: number
  requester_id: number
  requester_name: string
  recipient_id: number
  recipient_name: string
  status: string
  reason: string
  response: string | null
  requested_at_ms: number
  responded_at_ms: number | null
}

export function toContact(row: ContactRow): Contact {
  return {
    id: row.id,
    projectId: row.project_id,
    requesterId: row.requester_id,
    requesterName: row.requester_name,
    recipientId: row.recipient_id,
    recipientName: row.recipient_name,
    status: row.status as ContactStatus,
    reason: row.reason,
    response: row.response,
    requestedAtMs: row.requested_at_ms,
    respondedAtMs: row.responded_at_ms,
  }
}

export type ThreadRow = Row & {
  id: number
  project_id: number
  key: string
  subject: string
  is_notice: number
  message_count: number
  created_at_ms: number
  last_message_at_ms: number
}

export function toThread(row: ThreadRow): Thread {
  return {
    id: row.id,
    projectId: row.project_id,
    key: row.key,
    subject: row.subject,
    isNotice: row.is_notice === 1,
    messageCount: row.message_count,
    createdAtMs: row.created_at_ms,
    lastMessageAtMs: row.last_message_at_ms,
  }
}

export type MessageRow = {
  id: number
  project_id: number
  thread_key: string
  parent_id: number | null
  sender_id: number
  sender_name: string
  is_persons: number
  subject: string
  body_md: string
  importance: string
  ack_required: number
  attachments: string
  created_at_ms: number
}

export function toMessage(row: MessageRow): Message {
  return {
    ...toListed(row),
    projectId: row.project_id,
    parentId: row.parent_id,
    attachments: JSON.parse(row.attachments) as Record<string, unknown>[],
  }
}

type ListedRow = Omit<MessageRow, "project_id" | "parent_id" | "attachments">

export type InboxRow = ListedRow & { read_at_ms: number | null; acked_at_ms: number | null }

export function toInboxMessage(row: InboxRow): InboxMessage {
  return { ...toListed(row), readAtMs: row.read_at_ms, ackedAtMs: row.acked_at_ms }
}

function toListed(row: ListedRow): ListedMessage {
  return {
    id: row.id,
    threadKey: row.thread_key,
    senderId: row.sender_id,
    senderName: row.sender_name,
    isPersons: row.is_persons === 1,
    subject: row.subject,
    bodyMd: row.body_md,
    importance: row.importance as Importance,
    ackRequired: row.ack_required === 1,
    createdAtMs: row.created_at_ms,
  }
}

export type RecipientRow = Row & {
  message_id: number
  agent_id: number
  name: string
  kind: string
  read_at_ms: number | null
  acked_at_ms: number | null
}

export function toRecipient(row: RecipientRow): Recipient {
  return {
    agentId: row.agent_id,
    name: row.name,
    kind: row.kind as RecipientKind,
    readAtMs: row.read_at_ms,
    ackedAtMs: row.acked_at_ms,
  }
}

export type ReservationRow = {
  id: number
  project_id: number
  repository_id: number
  agent_id: number
  agent_name: string
  is_persons: number
  died_at_ms: number | null
  path_pattern: string
  exclusive: number
  reason: string | null
  created_at_ms: number
  expires_at_ms: number
  ended_at_ms: number | null
}

export function toReservation(row: ReservationRow): Reservation {
  return {
    ...toCandidate(row),
    projectId: row.project_id,
    repositoryId: row.repository_id,
    agentName: row.agent_name,
    isPersons: row.is_persons === 1,
    diedAtMs: row.died_at_ms,
    reason: row.reason,
    createdAtMs: row.created_at_ms,
  }
}

export type CandidateRow = Pick<
  ReservationRow,
  "id" | "agent_id" | "path_pattern" | "exclusive" | "expires_at_ms" | "ended_at_ms"
>

export function toCandidate(row: CandidateRow): Candidate {
  return {
    id: row.id,
    agentId: row.agent_id,
    pathPattern: row.path_pattern,
    exclusive: row.exclusive === 1,
    expiresAtMs: row.expires_at_ms,
    endedAtMs: row.ended_at_ms,
  }
}

export type ApiKeyRow = Row & {
  id: number
  name: string
  environment: string
  last_four: string
  scopes: string
  plan: string
  is_local: number
  created_at_ms: number
  expires_at_ms: number | null
  revoked_at_ms: number | null
  last_used_at_ms: number | null
}

export function toApiKey(row: ApiKeyRow): ApiKey {
  return {
    id: row.id,
    name: row.name,
    environment: row.environment as Environment,
    lastFour: row.last_four,
    scopes: JSON.parse(row.scopes) as string[],
    plan: row.plan as Plan,
    isLocal: row.is_local === 1,
    createdAtMs: row.created_at_ms,
    expiresAtMs: row.expires_at_ms,
    revokedAtMs: row.revoked_at_ms,
    lastUsedAtMs: row.last_used_at_ms,
  }
}

export type MemoryRow = Row & {
  id: number
  uuid: string
  repository_id: number
  content: string
  content_version: number
  sector: string
  salience_base: number
  salience_anchor_ms: number
  salience_stability: number
  access_count: number
  tags: string
  source: string | null
  metadata: string
  embedding_status: string
  created_at_ms: number
  updated_at_ms: number
  last_accessed_at_ms: number | null
}

export function toMemory(row: MemoryRow): Memory {
  return {
    id: row.id,
    uuid: row.uuid,
    repositoryId: row.repository_id,
    content: row.content,
    contentVersion: row.content_version,
    sector: row.sector as Sector,
    salience: {
      base: row.salience_base,
      anchorMs: row.salience_anchor_ms,
      stability: row.salience_stability,
    },
    accessCount: row.access_count,
    tags: JSON.parse(row.tags) as string[],
    source: row.source,
    metadata: JSON.parse(row.metadata) as Record<string, unknown>,
    embeddingStatus: row.embedding_status as EmbeddingStatus,
    createdAtMs: row.created_at_ms,
    updatedAtMs: row.updated_at_ms,
    lastAccessedAtMs: row.last_accessed_at_ms,
  }
}

export type EmbeddingModelRow = Row & {
  id: number
  name: string
  source: string
  dimensions: number
  midpoint: number
  slope: number
  state: string
}

export function toStoredModel(row: EmbeddingModelRow): StoredModel {
  return {
    id: row.id,
    name: row.name,
    source: row.source,
    dimensions: row.dimensions,
    calibration: { midpoint: row.midpoint, slope: row.slope },
    state: row.state as ModelState,
  }
}
