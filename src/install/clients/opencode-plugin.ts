/**
 * The plugin for OpenCode, as the text of the file that is installed. One default export serves both
 * eras: version 1 calls `server` and takes the hooks that it returns, version 2 calls `setup`.
 */

import { pluginRunner } from "./plugin-runner.ts"

/** OpenCode itself sets no limit. */
const WAIT_MS = 5_000

const FUNCTIONS = `
const EDIT_TOOLS = /^(edit|multiedit|write|patch|apply_patch)$/

/** Asks before a tool runs; returns what the model should know of an edit that goes on. */
async function beforeTool(tool, session_id, args, directory) {
  if (!EDIT_TOOLS.test(tool)) return ""
  const payload = { session_id, cwd: directory, tool_name: tool, tool_input: args }
  const { code, told, why } = await run("pre-edit", payload)
  if (code === 2) throw new Error(why)
  return told
}

/** The hooks of one instance of OpenCode, which ends together with the sessions that it has served. */
function hooksIn(directory) {
  /** What each session was told at its start. */
  const starts = new Map()
  const parents = new Map()
  /** What to tell once a tool has run. */
  const notices = new Map()

  /** A sub-agent has a session of its own, and is part of the one that started it. */
  function outermost(id) {
    return parents.has(id) ? outermost(parents.get(id)) : id
  }

  /** A conversation that is taken up again is not announced, so that any sign of it starts it. */
  function begin(sessionID) {
    const session_id = outermost(sessionID)
    if (!starts.has(session_id))
      starts.set(
        session_id,
        run("session-start", { session_id, cwd: directory }).then(({ told }) => told),
      )
    return starts.get(session_id)
  }

  return {
    async "tool.execute.before"(input, output) {
      const notice = await beforeTool(input.tool, outermost(input.sessionID), output.args, directory)
      if (notice !== "") notices.set(input.callID, notice)
    },
    async "tool.execute.after"(input, output) {
      if (!EDIT_TOOLS.test(input.tool)) return
      const mail = await run("mail", { session_id: outermost(input.sessionID), cwd: directory })
      const texts = [notices.get(input.callID), mail.told].filter(Boolean)
      notices.delete(input.callID)
      if (texts.length > 0 && typeof output.output === "string") output.output += "\\n\\n" + texts.join("\\n")
    },
    async "experimental.chat.system.transform"(input, output) {
      const told = input.sessionID === undefined ? "" : await begin(input.sessionID)
      if (told !== "") output.system.push(told)
    },
    async event({ event }) {
      const { info, sessionID = info?.id } = event.properties ?? event.data ?? {}
      // What an earlier process has created is only updated in this one.
      if (/^session\\.(created|updated)$/.test(event.type) && info?.parentID) parents.set(sessionID, info.parentID)
      if (event.type === "session.created" && sessionID !== undefined) await begin(sessionID)
      if (event.type !== "session.deleted" || sessionID === undefined) return
      if (parents.delete(sessionID)) return
      starts.delete(sessionID)
      await run("session-end", { session_id: sessionID, cwd: directory })
    },
    async dispose() {
      const ends = [...starts.keys()].map((session_id) => run("session-end", { session_id, cwd: directory }))
      await Promise.all(ends)
    },
  }
}
`

const DEFINITION = `{
  id: "signalbox",
  server: async ({ directory }) => hooksIn(directory),
  async setup(context) {
    const directory = process.cwd()
    await context.tool.hook("execute.before", async (event) => {
      await beforeTool(event.tool, event.sessionID, event.input, directory)
    })
  },
}
`

/** The file as a whole. */
export const PLUGIN = [pluginRunner("opencode", WAIT_MS) + FUNCTIONS, `export default ${DEFINITION}`].join(
  "\n",
)
