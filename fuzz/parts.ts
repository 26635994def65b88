/** All that is fuzzed, in the order of the reports. */

import { client } from "./parts/client-settings.ts"
import { commands } from "./parts/commands.ts"
import { database } from "./parts/database.ts"
import { documents } from "./parts/documents.ts"
import { hook } from "./parts/hook.ts"
import { http } from "./parts/http.ts"
import { patterns } from "./parts/patterns.ts"
import { processes } from "./parts/processes.ts"
import { queries } from "./parts/queries.ts"
import { resources } from "./parts/resources.ts"
import { settings } from "./parts/settings.ts"
import { tools } from "./parts/tools.ts"
import type { Part } from "./support/part.ts"

export const PARTS: readonly Part[] = [
  tools,
  resources,
  http,
  hook,
  settings,
  client,
  patterns,
  queries,
  documents,
  database,
  processes,
  commands,
]
