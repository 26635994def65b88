/**
 * How the hook's shell form and the listener speak: the payload is the body as the client wrote it, what
 * else is known stands in headers, and the answer is text that a shell takes apart without another program.
 * Both ends may be of different versions, so nothing here changes its meaning.
 */

import type { HookAnswer } from "./answer.ts"
import type { HookRequest } from "./request.ts"

export const HOOK_PATH = "/api/coordination/hook"
/**
 * `<client> <event> <pid of the process that started the hook> <client whose variable told the session>`, the last two
 * possibly empty.
 */
export const HOOK_HEADER = "X-Signalbox-Hook"
const FOLDER_HEADER = "X-Signalbox-Folder"
const PROJECT_FOLDER_HEADER = "X-Signalbox-Project-Folder"
const NAMED_SESSION_HEADER = "X-Signalbox-Named-Session"
const SESSION_HEADER = "X-Signalbox-Session"
const AGENT_HEADER = "X-Signalbox-Agent"
const PROJECT_HEADER = "X-Signalbox-Project"
/** Stands on a line of its own between what goes to stdout and what goes to stderr. */
const STREAM_BREAK = "--signalbox:stderr--"

/**
 * Returns the call of a hook from its headers and body. The shell form makes one request and sends its headers
 * before it has seen the proof, so that what is known stands in the body: the same lines, each with a tab behind
 * it, one more tab, and the payload.
 */
export function readHookCall(headers: { get(name: string): string | null }, body: string): HookRequest {
  const headEnd = body.indexOf("\t\t")
  if (!body.startsWith(`${HOOK_HEADER}: `) || headEnd < 0) return readHookRequest(headers, body)
  const lines = body.slice(0, headEnd).split("\t")
  const named = new Map(
    lines.map((line) => {
      const [name = "", ...value] = line.split(": ")
      return [name, Buffer.from(value.join(": "), "utf8").toString("latin1")]
    }),
  )
  return readHookRequest({ get: (name) => named.get(name) ?? null }, body.slice(headEnd + 2))
}

/** Returns the call of a hook from its headers and payload. */
export function readHookRequest(headers: { get(name: string): string | null }, payload: string): HookRequest {
  const [client = "", event = "", pid = "", sessionClient = ""] = (headers.get(HOOK_HEADER) ?? "").split(" ")
  const text = (name: string) => {
    const value = headers.get(name)
    // A shell writes the bytes of a path as they are, and HTTP takes each byte for a character.
    return value === null || value === "" ? undefined : Buffer.from(value, "latin1").toString("utf8")
  }
  return {
    client,
    event,
    payload,
    folder: text(FOLDER_HEADER),
    projectFolder: text(PROJECT_FOLDER_HEADER),
    parentPid: /^\d{1,10}$/.test(pid) ? Number(pid) : undefined,
    namedSession: text(NAMED_SESSION_HEADER),
    sessionId: text(SESSION_HEADER),
    sessionClient: sessionClient === "" ? undefined : sessionClient,
    agentName: text(AGENT_HEADER),
    projectKey: text(PROJECT_HEADER),
  }
}

/** Returns the headers of a call, as `readHookRequest` reads them. */
export function hookHeaders(request: Omit<HookRequest, "payload">): Record<string, string> {
  const byteText = (value: string | undefined) =>
    value === undefined ? undefined : Buffer.from(value, "utf8").toString("latin1")
  const named = {
    [HOOK_HEADER]: `${request.client} ${request.event} ${request.parentPid ?? ""} ${request.sessionClient ?? ""}`,
    [FOLDER_HEADER]: byteText(request.folder),
    [PROJECT_FOLDER_HEADER]: byteText(request.projectFolder),
    [NAMED_SESSION_HEADER]: byteText(request.namedSession),
    [SESSION_HEADER]: byteText(request.sessionId),
    [AGENT_HEADER]: byteText(request.agentName),
    [PROJECT_HEADER]: byteText(request.projectKey),
  }
  return Object.fromEntries(
    Object.entries(named).filter((entry): entry is [string, string] => entry[1] !== undefined),
  )
}

/** Returns an answer as text: the exit code, stdout, the break, stderr. */
export function writeHookAnswer({ exitCode, stdout, stderr }: HookAnswer): string {
  const clean = (text: string) => text.replaceAll(STREAM_BREAK, "(signalbox stderr)")
  return `${exitCode}\n${clean(stdout)}\n${STREAM_BREAK}\n${clean(stderr)}`
}

/** Reads what `writeHookAnswer` wrote; undefined when it is something else. */
export function readHookAnswer(text: string): HookAnswer | undefined {
  const match = new RegExp(`^([012])\\n([^]*)\\n${STREAM_BREAK}\\n([^]*)$`).exec(text)
  if (match === null) return undefined
  const [, exitCode = "0", stdout = "", stderr = ""] = match
  return { exitCode: Number(exitCode), stdout, stderr }
}
