/** `install --exclusive`: one setting of the user's own config file. */

import { placeFile } from "../runtime/own-file.ts"
import type { Json } from "./client.ts"
import { insertChild, memberOf, parseObject, replaceValue, requireType } from "./json-text.ts"
import { lineDiff } from "./line-diff.ts"
import { type FileOutcome, fileOutcomeOf } from "./outcome.ts"
import { bytesFor, readSnapshot, replaceFile, textOf } from "./settings-file.ts"

const PRIVATE_MODE = 0o600
const KEYS = ["hooks", "preEdit", "defaultMode"] as const

/**
 * Sets `hooks.preEdit.defaultMode` to exclusive in the user's config file and returns what happened to it. All else in
 * the file stays as it is; a new file is for this user alone.
 */
export function setExclusive(path: string, { isDryRun }: { isDryRun: boolean }): FileOutcome {
  return fileOutcomeOf(path, () => {
    const snapshot = readSnapshot(path)
    const isNew = snapshot.bytes === undefined
    const before = textOf(snapshot)
    const text = withExclusive(before, path)
    const reasons = isPlainJson(text)
      ? []
      : [
          "It has no effect before comments and trailing commas are gone from the file: it is read as plain JSON.",
        ]
    if (text === before) return { path, action: "unchanged", reasons }
    const outcome: FileOutcome = { path, action: isNew ? "created" : "changed", reasons }
    if (isDryRun) return { ...outcome, diff: lineDiff(path, before, text) }
    if (isNew) placeFile(path, text, PRIVATE_MODE)
    else replaceFile(snapshot, bytesFor(snapshot, text))
    return outcome
  })
}

/** Returns the text of a config file with the mode set; fails with `invalid` when a value on the way is no object. */
function withExclusive(before: string, file: string): string {
  const text = before.trim() === "" ? "{}\n" : before
  let object = parseObject(text, file)
  for (const [depth, key] of KEYS.entries()) {
    const below = KEYS.slice(depth + 1)
    const member = memberOf(object, key, file, text)
    if (member === undefined) {
      const value = below.reduceRight<Json>((inner, name) => ({ [name]: inner }), "exclusive")
      return insertChild(text, object, { key, value })
    }
    if (below.length === 0)
      return member.value === "exclusive" ? before : replaceValue(text, member, "exclusive")
    object = requireType(member, "object", file, text, KEYS.slice(0, depth + 1).join("."))
  }
  return before
}

function isPlainJson(text: string): boolean {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}
