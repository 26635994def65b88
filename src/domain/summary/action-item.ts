/**
 * Owns the action items of a thread: who is to do what until when, where it was said and whether it was
 * done. It refuses to infer: an item is a passage of a mail, and its state is what a check box or a later
 * mail says.
 */

import { AgentNames } from "./agent-name.ts"
import { readStatements } from "./statement.ts"
import type { ThreadMessage } from "./thread-message.ts"
import { type ActionItem, trackWork, type WorkEntry } from "./work-ledger.ts"

/**
 * Extracts the action items of a thread (mails oldest first), ordered by mail, then by position.
 *
 * An item is a check box, a labelled task ("TODO:", "Action item:"), an entry below such a title, a request
 * ("@Name please ...", "Please ...", "Name to review ...") or a promise ("I'll ...", "Name will ...").
 * Senders count as participants.
 *
 * An item is completed by its own check box, or by a later mail with a completion cue that is neither
 * denied nor in the future and that shares at least half of the item's content words, at least one of them
 * telling; see `completes`. The same words written again are the same item: the first citation stays, the
 * latest check box decides the state.
 */
export function extractActionItems(
  messages: readonly ThreadMessage[],
  participants: readonly string[],
): ActionItem[] {
  return actionItemsOf(trackWork(readStatements(messages), namesIn(messages, participants)))
}

/** The names known in a thread: its participants and all who wrote in it. */
export function namesIn(messages: readonly ThreadMessage[], participants: readonly string[]): AgentNames {
  return new AgentNames([...participants, ...messages.map((message) => message.sender)])
}

/** The tracked work that is an action item, next steps left out. */
export function actionItemsOf(entries: readonly WorkEntry[]): ActionItem[] {
  return entries.filter((entry) => entry.origin === "action").map((entry) => entry.item)
}
