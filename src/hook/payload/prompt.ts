/** Telling what a person has typed from prompts that a client makes up by itself. */

/** Begins what we hand over when an agent is about to stop; some clients submit it as a prompt. */
export const PUSH_MARK = "signalbox: mail that cannot wait"

/**
 * How clients begin the prompts that they make up: of background work that has ended, of other agents of theirs, of
 * what a hook has said.
 */
const MADE_UP =
  /^\s*(?:<(?:task-notification|teammate-message|system-reminder|system-notification|cross-session-message|channel|tick|hook_prompt|hook-prompt)[\s>]|(?:Stop hook feedback|\[?Stop hook)\b)/i

/** Whether the `prompt` of a payload is what a person has typed; without one the payload is no prompt. */
export function isPersonsPrompt(prompt: unknown): boolean {
  return typeof prompt === "string" && !MADE_UP.test(prompt) && !prompt.includes(PUSH_MARK)
}
