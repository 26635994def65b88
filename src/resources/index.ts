/** The catalogue of resources: exactly the 11 of the contract. */

import * as z from "zod"
import { COORDINATION } from "../operations/index.ts"
import { packageVersion } from "../runtime/package-root.ts"
import { ackOverdue, ackRequired, inbox, message, outbox, thread, urgentUnread } from "./mail.ts"
import { agents, contacts, fileReservations } from "./project.ts"
import { defineResource, type Resource } from "./resource.ts"

const tools = defineResource({
  name: "tools",
  title: "Coordination tools",
  path: "coordination/tools",
  description: "What the coordination tools are and which parameters they take.",
  parameters: z.strictObject({}),
  async read() {
    return {
      server: "signalbox",
      version: packageVersion(),
      tool_count: COORDINATION.length,
      resource_count: RESOURCES.length,
      tools: COORDINATION.map(({ name, description, category, input }) => ({
        name,
        description,
        category,
        parameters: Object.keys(input.shape),
      })),
    }
  },
})

export const RESOURCES: readonly Resource[] = [
  tools,
  inbox,
  outbox,
  thread,
  message,
  fileReservations,
  agents,
  contacts,
  urgentUnread,
  ackRequired,
  ackOverdue,
]
