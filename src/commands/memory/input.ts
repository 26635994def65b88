/** What commands on memories take. */

import { JSON_DEPTH_MAX } from "../../config/limits.ts"
import { isDeeper } from "../../domain/json-depth.ts"
import { invalid } from "../../errors.ts"
import { ownCommand } from "../../runtime/own-command.ts"
import { typedText } from "../typed-text.ts"

/** What the editor is told of a memory's content. */
export const EDITED_CONTENT = {
  name: "memory.md",
  undone: "nothing was changed",
  otherwise: "give the text with --content",
}

/** Returns the content that a command is given; see `typedText`. */
export function contentOf(words: readonly string[]): Promise<string> {
  const example = `Such as: ${ownCommand()} memory add "We deploy on Tuesdays."`
  return typedText(words, { field: "content", example })
}

/** Returns the metadata that a command is given, as JSON; fails with `invalid`. */
export function metadataOf({ metadata: text }: { metadata?: string }): unknown {
  if (text === undefined) return undefined
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    throw invalid("metadata", "is not valid JSON", `Such as --metadata '{"ticket": 42}'.`)
  }
  // What holds it is a level of its own.
  if (isDeeper(value, JSON_DEPTH_MAX - 1))
    throw invalid("metadata", `must be nested at most ${JSON_DEPTH_MAX - 1} levels deep`)
  return value
}
