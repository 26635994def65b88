/** The catalogue of operations, in the order in which clients see them. */

import { ackMessage } from "./acknowledgments.ts"
import { listAgentsOperation, registerAgent, whois } from "./agents.ts"
import {
  blockAgent,
  listContactsOperation,
  requestContactOperation,
  respondContact,
  setContactPolicy,
} from "./contacts.ts"
import {
  connectRepositoryTool,
  listRepositoriesTool,
  searchDocumentationTool,
} from "./documentation-tools.ts"
import { macroClaimCycle, macroContactHandshake, macroPrepareThread, macroStartSession } from "./macros.ts"
import {
  getMemoryStats,
  getMemoryWaypoints,
  listMemoriesTool,
  pruneMemoriesTool,
  searchMemoriesTool,
} from "./memory-list-tools.ts"
import {
  createMemoryTool,
  deleteMemoryTool,
  getMemory,
  reinforceMemoryTool,
  updateMemoryTool,
} from "./memory-tools.ts"
import { fetchInbox, readMessage, replyMessage, sendMessage } from "./messages.ts"
import type { Operation } from "./operation.ts"
import { listFileReservations, releaseFileReservations, reserveFilePaths } from "./reservations.ts"
import { getLatestUpdates, searchMessages } from "./search.ts"
import {
  getActionItems,
  getThreadMessages,
  getThreadParticipants,
  searchThreads,
  summarizeThread,
  summarizeThreads,
} from "./threads.ts"

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

/** The operations on memories. */
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

/** The operations on documentation. */
export const DOCUMENTATION: readonly Operation[] = [
  searchDocumentationTool,
  listRepositoriesTool,
  connectRepositoryTool,
]

export const OPERATIONS: readonly Operation[] = [...COORDINATION, ...MEMORY, ...DOCUMENTATION]
