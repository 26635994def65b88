/** What has to be known of a client to drive it: how it is set up, started, and which of its tools edit. */

import type { ClientName } from "../../src/hook/client-names.ts"
import type { Call, ModelRequest, ScriptedTurn, Turn } from "../model/conversation.ts"
import type { Fields } from "../model/json.ts"
import type { SideRule } from "../model/server.ts"
import type { Report } from "../report/checks.ts"
import type { ReleaseName } from "../versions.ts"
import type { Command } from "./client-run.ts"
import type { Place } from "./place.ts"
import { isOurs } from "./seen.ts"
import type { Stage } from "./stage.ts"

/** A change of a file of the repository. */
export interface Change {
  file: string
  from: string
  to: string
}

/** What the model may know of a run; `words` start the client. */
export interface Asked {
  words: readonly string[]
  place: Place
  prompt: string
  /** Goes on with the last session. */
  resumes: boolean
}

/** A way to edit what agent A holds, beside the usual one. */
export type Form = (place: Place) => ScriptedTurn[]

export interface Driver {
  /** The row: the client, and behind a colon what it is run with. */
  id: string
  title: string
  release: ReleaseName
  /** What `signalbox install` calls it. */
  client: ClientName
  /** Sets the client up as its user had it before the installation: settings with comments, nothing of ours. */
  configure(place: Place, modelUrl: string, words: readonly string[]): void | Promise<void>
  command(asked: Asked): Command
  isSide: SideRule
  /** Whether a session can be resumed without anybody at the terminal. */
  resumes: boolean
  edit(place: Place, change: Change): Call[]
  /** One call that edits several files, where there is one. */
  editSeveral?(place: Place, changes: readonly Change[]): Call[]
  create(place: Place, file: string, text: string): Call[]
  /** Whether its edits go through its shell, behind which it calls no hook; what is told comes behind another command. */
  editsInShell?: true
  /** Runs a command in the client's shell. */
  shell(command: string): Call[]
  /** Runs a command in the background of its shell, where it goes on when the turn is over. */
  background?(command: string): Call[]
  /** Calls one of our tools, by the name that the client gave it in a request. */
  ours(request: ModelRequest, tool: string, args: Fields): Call[]
  /** A word on the command line of a process that the client leaves behind and that goes on with its sessions. */
  daemon?: string
  /** What the model has to do before it can call our tools. */
  prelude?: readonly ScriptedTurn[]
  forms?: Readonly<Record<string, Form>>
  /** Has a sub-agent do something, and waits for it. */
  delegate?(): Call[]
  /** How a sub-agent says that it is done, where that is no plain text. */
  delegated?: Turn
  /** Steps of this client alone. */
  steps?: Readonly<Record<string, (stage: Stage) => Promise<void>>>
  /** What is known not to hold, with the reason. */
  limits?: Report["limits"]
}

/** Whether a request offers a tool of this very name. */
export function offers({ tools }: Pick<ModelRequest, "tools">, tool: string): boolean {
  return tools.some(({ name }) => name === tool)
}

/** Returns the call of one of our tools, by the name under which a request offers it, or by the usual one. */
export function ourCall(request: Pick<ModelRequest, "tools">, tool: string, usual: Call): Call {
  const offered = request.tools.find((one) => isOurs(one, tool))
  return { ...usual, ...offered }
}

/** Returns a patch of existing files in the format of `apply_patch`; each has one line, whose `from` becomes `to`. */
export function patchText(place: Place, changes: readonly Change[], pathOf = (file: string) => file): string {
  const sections = changes.flatMap(({ file, from, to }) => {
    const line = place.read(file).trim()
    return [`*** Update File: ${pathOf(file)}`, "@@", `-${line}`, `+${line.replace(from, to)}`]
  })
  return ["*** Begin Patch", ...sections, "*** End Patch"].join("\n")
}

/** Returns a patch that adds a file. */
export function addingPatch(file: string, text: string): string {
  const lines = text.trimEnd().split("\n")
  return [
    "*** Begin Patch",
    `*** Add File: ${file}`,
    ...lines.map((line) => `+${line}`),
    "*** End Patch",
  ].join("\n")
}
