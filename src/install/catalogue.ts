/** Everything that can be installed. */

import { echoed } from "../domain/foreign-text/markdown.ts"
import { invalid } from "../errors.ts"
import type { Client, TargetName } from "./client.ts"
import { claudeCode } from "./clients/claude-code.ts"
import { cline } from "./clients/cline.ts"
import { clineEditor } from "./clients/cline-editor.ts"
import { codex } from "./clients/codex.ts"
import { copilot } from "./clients/copilot.ts"
import { cursor } from "./clients/cursor.ts"
import { devin } from "./clients/devin.ts"
import { gemini } from "./clients/gemini.ts"
import { git } from "./clients/git.ts"
import { kiro } from "./clients/kiro.ts"
import { opencode } from "./clients/opencode.ts"
import { qwenCode } from "./clients/qwen-code.ts"
import { vscode } from "./clients/vscode.ts"
import { windsurf } from "./clients/windsurf.ts"

/** The coding agents in the order of the documentation, then git. */
export const CLIENTS: readonly Client[] = [
  claudeCode,
  codex,
  gemini,
  cursor,
  copilot,
  vscode,
  devin,
  windsurf,
  cline,
  clineEditor,
  kiro,
  opencode,
  qwenCode,
  git,
]

export const TARGET_NAMES: readonly TargetName[] = CLIENTS.map((client) => client.name)

/** Returns the client of a name; fails with `invalid` and all names when there is none. */
export function clientNamed(name: string): Client {
  const client = CLIENTS.find((one) => one.name === name)
  if (client === undefined) {
    throw invalid("client", `must be one of: ${TARGET_NAMES.join(", ")} (got ${echoed(name)})`)
  }
  return client
}
