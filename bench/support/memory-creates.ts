/**
 * A process of its own in which several clients create memories over HTTP, each as fast as it is answered.
 * Its argument is `Creates` as JSON; it prints `CreatesDone`.
 */

import { MemoryClient } from "./memory-client.ts"
import { memoryAt } from "./memory-corpus.ts"
import { timed } from "./numbers.ts"

const WARM_UP_CREATES = 10

export interface Creates {
  url: string
  token: string
  repositoryId: number
  clients: number
  perClient: number
  /** The first memory of the corpus to create. */
  fromIndex: number
}
export interface CreatesDone {
  timesMs: number[]
  /** From the first request to the last answer. */
  elapsedMs: number
}

async function main(wanted: Creates): Promise<void> {
  const { clients: clientCount, perClient, repositoryId } = wanted
  let index = wanted.fromIndex
  const clients = Array.from({ length: clientCount }, () => new MemoryClient(wanted, repositoryId))
  const drafts = (count: number) =>
    Array.from({ length: count }, () => {
      const { content, tags } = memoryAt(index++)
      return { content, tags }
    })
  const work = clients.map((client) => ({ client, warmUp: drafts(WARM_UP_CREATES), own: drafts(perClient) }))
  const timesMs: number[] = []
  await Promise.all(
    work.map(async ({ client, warmUp }) => {
      for (const draft of warmUp) await client.ask("POST", "", draft)
    }),
  )
  const elapsedMs = await timed(() =>
    Promise.all(
      work.map(async ({ client, own }) => {
        for (const draft of own) timesMs.push(await timed(() => client.ask("POST", "", draft)))
      }),
    ),
  )
  for (const client of clients) client.close()
  const done: CreatesDone = { timesMs, elapsedMs }
  process.stdout.write(JSON.stringify(done))
}

const [, script, wanted] = process.argv
if (script?.endsWith("memory-creates.ts") && wanted !== undefined) await main(JSON.parse(wanted) as Creates)
