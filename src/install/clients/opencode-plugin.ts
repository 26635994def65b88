/**
 * The plugin for OpenCode, as the text of the file that is installed. One default export serves both
 * eras: version 1 calls `server` and takes the hooks that it returns, version 2 calls `setup`.
 */

import { HOOK_EVENTS } from "../../hook/client-names.ts"
import { shellCommand, windowsCommand } from "../../hook/command.ts"
import { HOOK_SECONDS } from "../shapes.ts"

const COMMANDS = HOOK_EVENTS.map((event) => {
  const posix = JSON.stringify(shellCommand("opencode", event))
  const windows = JSON.stringify(windowsCommand("opencode", event))
  return `  "${event}": [${posix}, ${windows}, ${HOOK_SECONDS[event] * 1_000}],`
})

const FUNCTIONS = `// Written by "signalbox install opencode", removed by "signalbox uninstall opencode".
import { spawn } from "node:child_process"

const EDIT_TOOLS = /^(edit|multiedit|write|patch|apply_patch)$/
const COMMANDS = {
${COMMANDS.join("\n")}
}

/**
 * Runs the hook; returns its exit code, what it tells the model, and why it stops an edit. Whatever goes wrong allows
 * the edit.
 */
function run(event, payload) {
  const [posix, windows, timeout] = COMMANDS[event]
  const command = process.platform === "win32" ? windows : posix
  return new Promise((resolve) => {
    const child = spawn(command, { shell: true, timeout, stdio: ["pipe", "pipe", "pipe"] })
    const heard = { told: "", why: "" }
    const listen = (stream, name) =>
      stream.on("data", (text) => {
        heard[name] += text
      })
    listen(child.stdout, "told")
    listen(child.stderr, "why")
    child.on("error", () => resolve({ code: 0, told: "", why: "" }))
    child.on("close", (code) => resolve({ code, told: heard.told.trim(), why: heard.why.trim() }))
    child.stdin.on("error", () => {})
    child.stdin.end(JSON.stringify({ hook_event_name: event, ...payload }))
  })
}

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
  function start(sessionID) {
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
      const told = input.sessionID === undefined ? "" : await start(input.sessionID)
      if (told !== "") output.system.push(told)
    },
    async event({ event }) {
      const { info, sessionID = info?.id } = event.properties ?? event.data ?? {}
      if (event.type === "session.created" && info?.parentID) parents.set(sessionID, info.parentID)
      if (event.type === "session.created" && sessionID !== undefined) await start(sessionID)
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
export const PLUGIN = [FUNCTIONS, `export default ${DEFINITION}`].join("\n")
