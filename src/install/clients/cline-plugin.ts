/**
 * The plugin for Cline's command line, as the text of the file that is installed. Cline runs it in a process of its
 * own for each session, ends a call after three seconds as an error of the run, and gives the process 0.3 s to end.
 * With the hook it brings what Cline leaves out of an MCP server: its instructions, as a rule.
 */

import { serverInstructions } from "../../config/instructions.ts"
import { pluginRunner } from "./plugin-runner.ts"

export const PLUGIN_FILE = "signalbox.js"

const WAIT_MS = 2_500

const FUNCTIONS = `
const EDIT_TOOLS = /^(editor|apply_patch|write_to_file|replace_in_file|new_rule)$/
const INSTRUCTIONS = ${JSON.stringify(serverInstructions({ program: "cline" }))}

let session
let folder
let hasStarted = false

const about = () => ({ session_id: session, cwd: folder })
const asContext = ({ told }) => (told === "" ? undefined : { appendContext: told })

const hooks = {
  async beforeRun({ snapshot }) {
    if (snapshot?.parentAgentId) return undefined
    const isFirst = !hasStarted
    hasStarted = true
    if (!isFirst) return asContext(await run("mail", about()))
    const source = (snapshot?.messages?.length ?? 0) > 1 ? "resume" : "startup"
    return asContext(await run("session-start", { ...about(), source }))
  },
  async beforeTool({ toolCall, input }) {
    const tool = toolCall?.toolName
    if (!EDIT_TOOLS.test(tool)) return undefined
    hasStarted = true
    const answer = await run("pre-edit", { ...about(), tool_name: tool, tool_input: input })
    return answer.code === 2 ? { skip: true, reason: answer.why } : asContext(answer)
  },
  async afterTool({ toolCall }) {
    return EDIT_TOOLS.test(toolCall?.toolName) ? asContext(await run("mail", about())) : undefined
  },
}

/** Has the hook end the session by itself: this process is given too little time to wait for it. */
function end() {
  const leave = () => process.exit(0)
  if (!hasStarted) return leave()
  hasStarted = false
  try {
    start("session-end", about(), { stdio: ["pipe", "ignore", "ignore"], detached: true }, leave).unref()
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
    folder = context?.workspaceInfo?.rootPath ?? process.cwd()
    // Cline gives its model no instructions of an MCP server.
    api.registerRule?.({ id: "signalbox", content: INSTRUCTIONS })
  },
}
`

/** The file as a whole. */
export const PLUGIN = [pluginRunner("cline", WAIT_MS) + FUNCTIONS, `export default ${DEFINITION}`].join("\n")
