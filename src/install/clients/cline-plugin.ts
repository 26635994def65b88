/**
 * The plugin for Cline's command line, as the text of the file that is installed. Cline runs it in a process of its
 * own for each session, ends a call after three seconds as an error of the run, and gives the process 0.3 s to end.
 * With the hook it brings what Cline leaves out of an MCP server: its instructions, as a rule.
 */

import { serverInstructions } from "../../config/instructions.ts"
import { HOOK_EVENTS } from "../../hook/client-names.ts"
import { shellCommand, windowsCommand } from "../../hook/command.ts"

export const PLUGIN_FILE = "signalbox.js"

const COMMANDS = HOOK_EVENTS.map((event) => {
  const posix = JSON.stringify(shellCommand("cline", event))
  const windows = JSON.stringify(windowsCommand("cline", event))
  return `  "${event}": [${posix}, ${windows}],`
})

const FUNCTIONS = `// Written by "signalbox install cline", removed by "signalbox uninstall cline".
import { spawn } from "node:child_process"

const EDIT_TOOLS = /^(editor|apply_patch|write_to_file|replace_in_file|new_rule)$/
const COMMANDS = {
${COMMANDS.join("\n")}
}
const WAIT_MS = 2_500
const INSTRUCTIONS = ${JSON.stringify(serverInstructions({ program: "cline" }))}

let session
let folder
let hasStarted = false

/** Starts the hook with a payload; ended is called once the payload is written. */
function start(event, payload, options, ended) {
  const [posix, windows] = COMMANDS[event]
  const command = process.platform === "win32" ? windows : posix
  const child = spawn(command, { shell: true, windowsHide: true, ...options })
  child.on("error", () => {})
  child.stdin.on("error", () => {})
  const about = { hook_event_name: event, session_id: session, cwd: folder ?? process.cwd() }
  child.stdin.end(JSON.stringify({ ...about, ...payload }), ended)
  return child
}

/** Runs the hook; returns its exit code and what it said. Whatever goes wrong allows the edit. */
function run(event, payload) {
  return new Promise((resolve) => {
    const nothing = { code: 0, told: "", why: "" }
    const timer = setTimeout(() => resolve(nothing), WAIT_MS)
    try {
      const child = start(event, payload, { stdio: ["pipe", "pipe", "pipe"], timeout: WAIT_MS })
      let told = ""
      let why = ""
      child.stdout.on("data", (text) => {
        told += text
      })
      child.stderr.on("data", (text) => {
        why += text
      })
      child.on("error", () => resolve(nothing))
      child.on("close", (code) => {
        clearTimeout(timer)
        resolve({ code, told: told.trim(), why: why.trim() })
      })
    } catch {
      resolve(nothing)
    }
  })
}

const asContext = ({ told }) => (told === "" ? undefined : { appendContext: told })

const hooks = {
  async beforeRun({ snapshot }) {
    if (snapshot?.parentAgentId) return undefined
    const isFirst = !hasStarted
    hasStarted = true
    if (!isFirst) return asContext(await run("mail", {}))
    const source = (snapshot?.messages?.length ?? 0) > 1 ? "resume" : "startup"
    return asContext(await run("session-start", { source }))
  },
  async beforeTool({ toolCall, input }) {
    const tool = toolCall?.toolName
    if (!EDIT_TOOLS.test(tool)) return undefined
    hasStarted = true
    const answer = await run("pre-edit", { tool_name: tool, tool_input: input })
    return answer.code === 2 ? { skip: true, reason: answer.why } : asContext(answer)
  },
  async afterTool({ toolCall }) {
    return EDIT_TOOLS.test(toolCall?.toolName) ? asContext(await run("mail", {})) : undefined
  },
}

/** Has the hook end the session by itself: this process is given too little time to wait for it. */
function end() {
  const leave = () => process.exit(0)
  if (!hasStarted) return leave()
  hasStarted = false
  try {
    start("session-end", {}, { stdio: ["pipe", "ignore", "ignore"], detached: true }, leave).unref()
  } catch {
    leave()
  }
}

// In the process of a host that loads plugins into itself these would be the host's own.
if (process.argv.some((word) => word.includes("plugin-sandbox"))) {
  process.once("SIGTERM", end)
  process.once("disconnect", end)
}
`

const DEFINITION = `{
  name: "signalbox",
  manifest: { capabilities: ["hooks", "rules"] },
  hooks,
  setup(api, context) {
    session = context?.session?.sessionId
    folder = context?.workspaceInfo?.rootPath
    // Cline gives its model no instructions of an MCP server.
    api.registerRule?.({ id: "signalbox", content: INSTRUCTIONS })
  },
}
`

/** The file as a whole. */
export const PLUGIN = [FUNCTIONS, `export default ${DEFINITION}`].join("\n")
