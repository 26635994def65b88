/**
 * The plugin for OpenCode, as the text of the file that is installed. One default export serves both
 * eras: version 1 calls `server` and takes the hooks that it returns, version 2 calls `setup`.
 */

import { shellCommand, windowsCommand } from "../../hook/command.ts"
import { HOOK_SECONDS } from "../shapes.ts"

const COMMANDS = (["pre-edit", "session-start", "session-end"] as const).map((event) => {
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

/** Runs the hook; returns its exit code and what it said. Whatever goes wrong allows the edit. */
function run(event, payload) {
  const [posix, windows, timeout] = COMMANDS[event]
  const command = process.platform === "win32" ? windows : posix
  return new Promise((resolve) => {
    const child = spawn(command, { shell: true, timeout, stdio: ["pipe", "ignore", "pipe"] })
    let said = ""
    child.stderr.on("data", (text) => {
      said += text
    })
    child.on("error", () => resolve({ code: 0, said: "" }))
    child.on("close", (code) => resolve({ code, said }))
    child.stdin.on("error", () => {})
    child.stdin.end(JSON.stringify({ hook_event_name: event, ...payload }))
  })
}

async function beforeTool(tool, sessionID, args, directory) {
  if (!EDIT_TOOLS.test(tool)) return
  const payload = { session_id: sessionID, cwd: directory, tool_name: tool, tool_input: args }
  const { code, said } = await run("pre-edit", payload)
  if (code === 2) throw new Error(said.trim())
}

async function onEvent(event, directory) {
  const about = event?.properties ?? event?.data ?? {}
  const session_id = about.info?.id ?? about.sessionID
  if (session_id === undefined) return
  const payload = { session_id, cwd: directory }
  if (event.type === "session.created") await run("session-start", payload)
  if (event.type === "session.deleted") await run("session-end", payload)
}
`

const DEFINITION = `{
  id: "signalbox",
  async server({ directory }) {
    return {
      "tool.execute.before": (input, output) =>
        beforeTool(input.tool, input.sessionID, output.args, directory),
      event: ({ event }) => onEvent(event, directory),
    }
  },
  async setup(context) {
    const directory = process.cwd()
    await context.tool.hook("execute.before", (event) =>
      beforeTool(event.tool, event.sessionID, event.input, directory),
    )
  },
}
`

/** The file as a whole. */
export const PLUGIN = [FUNCTIONS, `export default ${DEFINITION}`].join("\n")
