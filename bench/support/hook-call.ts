/** A call of the hook straight to the listener, over a kept connection. */

import { once } from "node:events"
import { existsSync, readFileSync } from "node:fs"
import { type Agent, type IncomingMessage, request } from "node:http"
import { join } from "node:path"
import { HOOK_PATH, hookHeaders } from "../../src/hook/wire.ts"

/** Where edits are made, and in which project. */
export interface Place {
  databasePath: string
  workTree: string
  projectId: number
}

export interface Listener {
  url: string
  token: string
}

/** Waits for the listener of a database; returns where it is. */
export async function listenerOf(databasePath: string): Promise<Listener> {
  const file = databasePath.replace(/\.db$/, ".listener.json")
  while (!existsSync(file)) await new Promise((resolve) => setTimeout(resolve, 50))
  return JSON.parse(readFileSync(file, "utf8")) as Listener
}

/** Returns what a client says of an edit; the path is relative to the work tree. */
export function payloadFor(place: Place, path: string): string {
  return JSON.stringify({
    session_id: "bench",
    transcript_path: "/tmp/transcript.jsonl",
    cwd: place.workTree,
    permission_mode: "default",
    hook_event_name: "PreToolUse",
    tool_name: "Edit",
    tool_input: {
      file_path: join(place.workTree, path),
      old_string: "a".repeat(400),
      new_string: "b".repeat(400),
    },
    tool_use_id: "toolu_1",
  })
}

/** What was decided, and what the listener says it took, in milliseconds. */
interface Decision {
  ownMs: number
  isBlocked: boolean
}

/** Asks for one decision. */
export async function ask(
  agent: Agent,
  { url, token }: Listener,
  place: Place,
  payload: string,
): Promise<Decision> {
  const headers = {
    ...hookHeaders({ client: "claude-code", event: "pre-edit", folder: place.workTree }),
    Authorization: `Bearer ${token}`,
    "Content-Type": "application/json",
  }
  const asked = request(new URL(HOOK_PATH, url), { method: "POST", headers, agent })
  asked.end(payload)
  const [response] = (await once(asked, "response")) as [IncomingMessage]
  let text = ""
  for await (const part of response.setEncoding("utf8")) text += part
  if (response.statusCode !== 200 || text.includes("not checked"))
    throw new Error(`${response.statusCode} ${text}`)
  const ownMs = Number(/dur=([\d.]+)/.exec(String(response.headers["server-timing"]))?.[1])
  return { ownMs, isBlocked: text.includes("signalbox blocked this edit") }
}
