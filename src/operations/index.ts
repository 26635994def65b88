/** The catalogue of operations, in the order in which clients see them. */

import { ackMessage } from "./coordination/acknowledgments.ts"
import { listAgentsOperation, registerAgent, whois } from "./coordination/agents.ts"
import {
  blockAgent,
  listContactsOperation,
  requestContactOperation,
  respondContact,
  setContactPolicy,
} from "./coordination/contacts.ts"
import {
  macroClaimCycle,
  macroContactHandshake,
  macroPrepareThread,
  macroStartSession,
} from "./coordination/macros.ts"
import { fetchInbox, readMessage, replyMessage, sendMessage } from "./coordination/messages.ts"
import {
  listFileReservations,
  releaseFileReservations,
  reserveFilePaths,
} from "./coordination/reservations.ts"
import { getLatestUpdates, searchMessages } from "./coordination/search.ts"
import {
  getActionItems,
  getThreadMessages,
  getThreadParticipants,
  searchThreads,
  summarizeThread,
  summarizeThreads,
} from "./coordination/threads.ts"
import {
  connectRepositoryTool,
  listRepositoriesTool,
  searchDocumentationTool,
} from "./documentation/tools.ts"
import {
  getMemoryStats,
  getMemoryWaypoints,
  listMemoriesTool,
  pruneMemoriesTool,
  searchMemoriesTool,
} from "./memory/list-tools.ts"
import {
  createMemoryTool,
  deleteMemoryTool,
  getMemory,
  reinforceMemoryTool,
  updateMemoryTool,
} from "./memory/tools.ts"
import type { Operation } from "./operation.ts"

/** The coordination operations: exactly the 28 of the contract. */
export const COORDINATION: readonly Operation[] = [
  registerAgent,
  whois,
  listAgentsOperation,
  sendMessage,
  replyMessage,
  fetchInbox,
  readMessage,
  ackMessage,
  getThreadMessages,
  reserveFilePaths,
  listFileReservations,
  releaseFileReservations,
  requestContactOperation,
  respondContact,
  listContactsOperation,
  setContactPolicy,
  blockAgent,
  searchMessages,
  searchThreads,
  summarizeThread,
  summarizeThreads,
  getThreadParticipants,
  getActionItems,
  getLatestUpdates,
  macroStartSession,
  macroPrepareThread,
  macroClaimCycle,
  macroContactHandshake,
]

export const MEMORY: readonly Operation[] = [
  createMemoryTool,
  searchMemoriesTool,
  getMemory,
  updateMemoryTool,
  reinforceMemoryTool,
  deleteMemoryTool,
  listMemoriesTool,
  getMemoryWaypoints,
  pruneMemoriesTool,
  getMemoryStats,
]

export const DOCUMENTATION: readonly Operation[] = [
  searchDocumentationTool,
  listRepositoriesTool,
  connectRepositoryTool,
]

export const OPERATIONS: readonly Operation[] = [...COORDINATION, ...MEMORY, ...DOCUMENTATION]
