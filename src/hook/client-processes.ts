/**
 * Which client runs what is below a process. A client that another one's shell has started inherits that one's
 * environment, so what a variable says of the session is believed only when no other client is nearer.
 */

import type { RunningClient } from "../operations/app.ts"
import { clientProcessesAbove } from "../runtime/process-ancestry.ts"
import type { ClientName } from "./client-names.ts"
import { ALL_PROCESS_NAMES, CLIENTS, clientFacts, TERMINAL_PROCESS_NAMES } from "./clients.ts"

/** The id of a session, as its client tells it in the environment. */
export interface InheritedSession {
  client: string
  id: string
}

/** Returns the anchors of the processes of one client above a process, nearest first. */
export function processesOfClient(pid: number | undefined, client: ClientName): string[] {
  if (pid === undefined) return []
  const names = new Set(clientFacts(client).processNames)
  return clientProcessesAbove(pid, names).map(({ anchor }) => anchor)
}

/**
 * Returns what the nearest client above a process tells of it: `anchors` are that client's own processes, nearest
 * first, `agentAnchors` those of them below which only agents work, and `session` is the id among those inherited
 * that counts. Where no client is found nothing stands against an inherited id.
 */
export function nearestClient(
  pid: number | undefined,
  inherited: readonly InheritedSession[] = [],
): RunningClient {
  const above = pid === undefined ? [] : clientProcessesAbove(pid, ALL_PROCESS_NAMES)
  const [nearest] = above
  if (nearest === undefined) return { anchors: [], agentAnchors: [], session: inherited[0]?.id }
  const clients = clientsNamed(nearest.names)
  const foreign = above.findIndex(({ names }) => !clientsNamed(names).some((name) => clients.includes(name)))
  const own = foreign < 0 ? above : above.slice(0, foreign)
  return {
    anchors: own.map(({ anchor }) => anchor),
    agentAnchors: own
      .filter(({ names }) => names.some((name) => TERMINAL_PROCESS_NAMES.has(name)))
      .map(({ anchor }) => anchor),
    session: inherited.find(({ client }) => clients.some((name) => name === client))?.id,
  }
}

/** Returns the clients that have a process of one of these names: several where they share an editor. */
function clientsNamed(names: readonly string[]): ClientName[] {
  return CLIENTS.filter(({ processNames }) => names.some((name) => processNames.includes(name))).map(
    ({ name }) => name,
  )
}
