/**
 * The files that a patch in the `apply_patch` format names, be it a tool's argument or a heredoc in a shell
 * command. The format is Codex's; OpenCode, Copilot, Cursor, Cline and VS Code took it over.
 */

import { belowFolder } from "./paths.ts"

const BEGIN_PATCH = "*** Begin Patch"

/** Headers may be indented. A `.` does not match `\r`, so CRLF needs nothing more. */
const HEADER = /^[ \t]*\*\*\* (?:(?:Add|Update|Delete) File|Move to):(.*)$/gm

const APPLY_PATCH = /\bapply_?patch\b/

const END_PATCH = /^[ \t]*\*\*\* End Patch/gm

/** Where a shell goes, and the brackets of its subshells, at whose end it is back where it was. */
const FOLDER_STEP =
  /[()]|\b(?:cd|pushd)[ \t]+(?:--[ \t]+)?((?:"[^"\n]*"|'[^'\n]*'|\\.|[^\s;&|()"'\\])+)[ \t]*(?:&&|\|\||;|\n)/g

/** What quotes and backslashes in a shell's word stand for; on Windows a backslash before a name parts folders. */
const QUOTED = /"([^"\n]*)"|'([^'\n]*)'|\\(\W)/g

/** No system has a path that is longer, so a command that goes deeper goes nowhere. */
const FOLDER_CHARS_MAX = 4_096

/** A patch within a text. */
interface PatchText {
  /** Where a shell is when it applies the patch; undefined for where it was started. */
  folder: string | undefined
  /** What its headers name, both sides of a move, in their order. */
  paths: string[]
}

/** Whether a text is a patch, or a shell command that applies one. */
export function isPatch(text: string): boolean {
  const begin = text.indexOf(BEGIN_PATCH)
  if (begin === -1) return false
  const before = text.slice(0, begin)
  // It may be piped, or kept in a file first.
  return before.trim() === "" || APPLY_PATCH.test(before) || APPLY_PATCH.test(afterPatch(text))
}

/** Returns the patches in a text, in their order; one without a first line counts as one. */
export function patchesIn(text: string): PatchText[] {
  const [first = "", ...rest] = text.split(BEGIN_PATCH)
  if (rest.length === 0) return [{ folder: undefined, paths: pathsIn(text) }]
  const shell = new ShellFolders()
  shell.follow(first)
  return rest.map((patch) => {
    const { folder } = shell
    shell.follow(afterPatch(patch))
    return { folder, paths: pathsIn(patch) }
  })
}

/** Returns what follows the last end of a patch in a text: a patch may show another one's as it stands. */
function afterPatch(text: string): string {
  const end = [...text.matchAll(END_PATCH)].at(-1)
  return end === undefined ? "" : text.slice(end.index + end[0].length)
}

function pathsIn(patch: string): string[] {
  return [...patch.matchAll(HEADER)].map(([, path = ""]) => path.trim()).filter((path) => path !== "")
}

/** The folders that a shell goes through in a command, as far as its text tells. */
class ShellFolders {
  folder: string | undefined
  readonly #outer: (string | undefined)[] = []

  follow(command: string): void {
    for (const [step, word] of command.matchAll(FOLDER_STEP)) {
      if (step === "(") this.#outer.push(this.folder)
      else if (step === ")") this.folder = this.#outer.length > 0 ? this.#outer.pop() : this.folder
      else this.#enter(unquoted(word ?? ""))
    }
  }

  #enter(word: string): void {
    const folder = belowFolder(this.folder, word)
    if (folder.length <= FOLDER_CHARS_MAX) this.folder = folder
  }
}

function unquoted(word: string): string {
  return word.replace(QUOTED, (_, double, single, escaped) => double ?? single ?? escaped)
}
