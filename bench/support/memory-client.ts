/** One client's kept connection to the memory API. */

import type { ListenerRecord } from "../../src/http/listener-files.ts"
import { KeptClient } from "./kept-client.ts"

export class MemoryClient extends KeptClient {
  constructor({ url, token }: Pick<ListenerRecord, "url" | "token">, repositoryId: number) {
    super(`${url}/api/v1/memories`, token, { "X-Tenant-ID": String(repositoryId) })
  }
}
