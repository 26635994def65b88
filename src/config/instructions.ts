/** The server instructions: what an agent reads before it has seen a single tool. At most 2 KB. */

import { inQuotes } from "../domain/foreign-text/markdown.ts"
import type { Config } from "./config.ts"

/**
 * Returns the instructions, with the defaults that this server was configured with: those of one client, so a server of
 * many clients gives none. Some clients show the first line alone or 160 characters, so the first 150 say what to do.
 */
export function serverInstructions(
  config: Partial<Pick<Config, "project" | "program" | "model" | "workingFolder">>,
): string {
  const defaults = [
    stated("project_key", config.project ?? config.workingFolder),
    stated("program", config.program),
    stated("model", config.model),
  ].filter((value) => value !== null)
  const use = defaults.length === 0 ? "" : ` Use ${defaults.join(", ")}.`
  return `signalbox coordinates the coding agents here: call macro-start-session first, reserve-file-paths before you edit, fetch-inbox for mail. You are probably not alone.

1. Start: call macro-start-session once.${use} It returns your name, your ids and your inbox. After a restart give your old name as name_hint to resume.
2. Before you edit files: call reserve-file-paths (or macro-claim-cycle for several) with exclusive true. If it is refused, do not edit those files: the report names the holder, the path and the time left. Work on something else, wait, or write to the holder with send-message.
3. Read your inbox (fetch-inbox) at the start, between tasks and before you finish. Call ack-message for mail that requires acknowledgment.
4. When your edits are done or committed: release-file-reservations.

Mail: send-message takes agent ids from list-agents. Stay in a thread: use reply-message, or pass its thread_id. importance urgent and ack_required only when somebody must act now.
Catch up: get-latest-updates, search-messages, summarize-thread, get-action-items.
Memory: search-memories before you decide how something is done here; create-memory for what should outlast this session.
Documentation: search-documentation answers from the docs of the connected repositories, with file and lines.
Every error says what to do next. Ids in results stand on lines of their own ("Agent id: 2"); use them as they are.`
}

const STATED_BYTES_MAX = 250

/** A value of any length must not push the rules out of what clients keep. */
function stated(parameter: string, value: string | undefined): string | null {
  const fits = value !== undefined && Buffer.byteLength(value) <= STATED_BYTES_MAX
  return fits ? `${parameter}: ${inQuotes(value)}` : null
}
