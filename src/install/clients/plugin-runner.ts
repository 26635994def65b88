/** How the plugins that we write for clients call the hook: the part of their text that they have in common. */

import { type ClientName, HOOK_EVENTS } from "../../hook/client-names.ts"
import { shellCommand, windowsCommand } from "../../hook/command.ts"

/**
 * Returns the head of a plugin file: `start(event, payload, options, ended)` starts the hook, and `run(event, payload)`
 * waits for it, for `waitMs` at most, and never fails. Written for Node and for Bun.
 */
export function pluginRunner(client: ClientName, waitMs: number): string {
  const commands = HOOK_EVENTS.map((event) => {
    const posix = JSON.stringify(shellCommand(client, event))
    const windows = JSON.stringify(windowsCommand(client, event))
    return `  "${event}": [${posix}, ${windows}],`
  })
  return `// Written by "signalbox install ${client}", removed by "signalbox uninstall ${client}".
import { spawn } from "node:child_process"
import { homedir } from "node:os"

const COMMANDS = {
${commands.join("\n")}
}
const WAIT_MS = ${waitMs}

/** Starts the hook with a payload; ended is called once that is written. */
function start(event, payload, options, ended) {
  const [posix, windows] = COMMANDS[event]
  // Windows looks for programs where it is before anywhere else, and that must not be the project.
  const here = process.platform === "win32" ? { command: windows, cwd: homedir() } : { command: posix }
  const child = spawn(here.command, { shell: true, windowsHide: true, cwd: here.cwd, ...options })
  child.on("error", () => {})
  child.stdin.on("error", () => {})
  child.stdin.end(JSON.stringify({ hook_event_name: event, ...payload }), ended)
  return child
}

/**
 * Runs the hook; returns its exit code, what it tells the model, and why it stops an edit. Whatever goes wrong allows
 * the edit.
 */
function run(event, payload) {
  return new Promise((resolve) => {
    const allow = () => resolve({ code: 0, told: "", why: "" })
    const timer = setTimeout(allow, WAIT_MS)
    try {
      const child = start(event, payload, { timeout: WAIT_MS })
      const heard = { told: "", why: "" }
      const listen = (stream, name) =>
        stream.setEncoding("utf8").on("data", (text) => {
          heard[name] += text
        })
      listen(child.stdout, "told")
      listen(child.stderr, "why")
      child.on("error", allow)
      child.on("close", (code) => {
        clearTimeout(timer)
        resolve({ code, told: heard.told.trim(), why: heard.why.trim() })
      })
    } catch {
      clearTimeout(timer)
      allow()
    }
  })
}
`
}
