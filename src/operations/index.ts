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
import { macroClaimCycle, macroContactHandshake, macroPrepareThread, macroStartSession } from "./macros.ts"
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

export const OPERATIONS: readonly Operation[] = [...COORDINATION]
