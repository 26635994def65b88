/** Prompts: what a person says to an agent again and again, offered by clients as commands. */

import { ProtocolError, ProtocolErrorCode } from "@modelcontextprotocol/server"
import type { Config } from "../config/config.ts"
import { echoed, named, oneLine, quoted } from "../domain/foreign-text/markdown.ts"
import { visibleJson } from "../domain/foreign-text/visible.ts"

interface PromptArgument {
  name: string
  description: string
}

interface Prompt {
  name: string
  title: string
  description: string
  arguments: readonly PromptArgument[]
  /** Returns the text; an argument that was not given is empty. */
  text(given: Record<string, string>, defaults: Defaults): string
}

/** What this server was configured with. */
export type Defaults = Pick<Config, "project" | "program" | "model">

const PROMPTS: readonly Prompt[] = [
  {
    name: "start",
    title: "Start working with others",
    description: "Register, read the mail, and reserve files before editing them.",
    arguments: [{ name: "task", description: "What the agent is to work on" }],
    text: ({ task = "" }, { project, program, model }) => {
      const known = [
        project === undefined ? "" : ` project_key ${visibleJson(project)},`,
        program === undefined ? "" : ` program ${visibleJson(program)},`,
        model === undefined ? "" : ` model ${visibleJson(model)},`,
      ].join("")
      const work = task === "" ? "" : `\n\nYour task: ${taskText(task)}`
      return `You are not the only agent on this code base. Call macro-start-session${known} and keep the name and the ids it gives you. Read your unread mail and acknowledge what asks for it. Before you edit files, reserve them with reserve-file-paths; if that is refused, work elsewhere or write to the holder. Release them when you are done.${work}`
    },
  },
  {
    name: "mail",
    title: "Look at the mail",
    description: "Read what other agents wrote, answer what waits, and report.",
    arguments: [],
    text: () =>
      "Call fetch-inbox with include_bodies true. Read what is unread (read-message), acknowledge what asks for it (ack-message) and answer what you can (reply-message). Then tell me in a few lines who wants what, and what you need from me.",
  },
  {
    name: "hand-over",
    title: "Hand over and release",
    description: "Tell the others where the work stands, and release the files.",
    arguments: [{ name: "to", description: "The agent that goes on; everybody active when left out" }],
    text: ({ to = "" }) =>
      `Stop at a clean point. Then write one message with send-message to ${to === "" ? "the active agents (list-agents)" : named(to)}: what is done, what is left, which files, what to watch out for; ack_required true if somebody must go on. Then release your reservations with release-file-reservations and tell me what you wrote.`,
  },
]

/** A task of several lines is a quote: it may well be copied from somewhere. */
function taskText(task: string): string {
  return task.trim().includes("\n") ? `\n\n${quoted(task.trim())}` : oneLine(task)
}

/** Returns the entries of prompts/list. */
export function promptDefinitions() {
  return PROMPTS.map(({ name, title, description, arguments: accepted }) => ({
    name,
    title,
    description,
    arguments: accepted.map((argument) => ({ ...argument, required: false })),
  }))
}

/** Returns the messages of a prompt; fails with a protocol error for a name or an argument that does not exist. */
export function promptMessages(name: string, given: Record<string, string>, defaults: Defaults) {
  const prompt = PROMPTS.find((candidate) => candidate.name === name)
  if (prompt === undefined) {
    const known = PROMPTS.map((candidate) => candidate.name).join(", ")
    throw new ProtocolError(
      ProtocolErrorCode.InvalidParams,
      `prompt ${named(name)} does not exist; there are: ${known}`,
    )
  }
  const unknown = Object.keys(given).find(
    (key) => !prompt.arguments.some((argument) => argument.name === key),
  )
  if (unknown !== undefined) {
    throw new ProtocolError(
      ProtocolErrorCode.InvalidParams,
      `prompt ${name} takes no argument ${echoed(unknown)}`,
    )
  }
  return {
    description: prompt.description,
    messages: [
      { role: "user" as const, content: { type: "text" as const, text: prompt.text(given, defaults) } },
    ],
  }
}
