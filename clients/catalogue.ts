/** All rows of the table, in its order. */

import { CLIENTS } from "../src/hook/clients.ts"
import { claudeCode, claudeCodeFormer } from "./drivers/claude-code.ts"
import { cline } from "./drivers/cline.ts"
import { codex, codexCode, codexShell } from "./drivers/codex.ts"
import { copilot, copilotPatches } from "./drivers/copilot.ts"
import { gemini } from "./drivers/gemini.ts"
import { nestedRow } from "./drivers/nested.ts"
import { opencode, opencodePatches } from "./drivers/opencode.ts"
import { qwenCode } from "./drivers/qwen-code.ts"
import { clientRow, type Row } from "./scenario/row.ts"
import { STEPS } from "./scenario/steps.ts"

const DRIVERS = [
  ...[claudeCode, claudeCodeFormer, codex, codexCode, codexShell, gemini, copilot, copilotPatches],
  ...[opencode, opencodePatches, cline, qwenCode],
]

const DRIVEN: ReadonlySet<string> = new Set(DRIVERS.map(({ client }) => client))

/** The titles of the clients that need a screen or an account; they are checked against their documentation only. */
export const UNDRIVEN: readonly string[] = CLIENTS.filter(({ name }) => !DRIVEN.has(name)).map(
  ({ title }) => title,
)

export const ROWS: readonly Row[] = [
  ...DRIVERS.map(clientRow),
  ...[gemini, codex, copilot, opencode].map(nestedRow),
]

/** The names of all steps that `--only` takes. */
export const STEP_NAMES: readonly string[] = [
  ...new Set([...Object.keys(STEPS), ...DRIVERS.flatMap(({ steps = {} }) => Object.keys(steps))]),
]
