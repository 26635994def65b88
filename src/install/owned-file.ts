/** Files that are ours as a whole, recognised by the line that says so. */

import type { OwnedFile } from "./client.ts"
import type { Edit } from "./edit.ts"

const MARK = /Written by .signalbox install/

/** Returns the edit of a file of ours; what somebody else wrote under its name is left alone. */
export function ownedEdit(file: OwnedFile): Edit {
  return {
    add(text) {
      const isFree = text.trim() === "" || MARK.test(text)
      return {
        text: isFree ? file.text : text,
        leftAlone: isFree ? [] : ["it is not ours; move it aside to have ours there"],
        containers: [],
      }
    },
    remove(text) {
      if (text === file.text) return { text: undefined, leftAlone: [] }
      const reason = MARK.test(text) ? "it was changed since we wrote it; delete it by hand" : undefined
      return { text, leftAlone: reason === undefined ? [] : [reason] }
    },
  }
}
