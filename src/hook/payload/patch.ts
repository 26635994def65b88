/**
 * The files that a patch in the `apply_patch` format names, be it a tool's argument or a heredoc in a shell
 * command. The format is Codex's; OpenCode, Copilot, Cursor, Cline and VS Code took it over.
 */

const BEGIN_PATCH = "*** Begin Patch"

/** Headers may be indented. A `.` does not match `\r`, so CRLF needs nothing more. */
const HEADER = /^[ \t]*\*\*\* (?:(?:Add|Update|Delete) File|Move to):(.*)$/gm

const APPLY_PATCH = /\bapply_?patch\b/

const END_PATCH = /^[ \t]*\*\*\* End Patch/gm

/** Where a shell goes, and the brackets of its subshells, at whose end it is back where it was. */
const FOLDER_STEP = /[()]|\bcd\s+("[^"\n]*"|'[^'\n]*'|[^\s;&|()]+)\s*(?:&&|;|\n)/g

/** A patch within a text. */
interface PatchText {
  /** The folders that a shell changes to before it applies the patch, one after the other. */
  folders: readonly string[]
  /** What its headers name, both sides of a move, in their order. */
  paths: string[]
}

/** Whether a text is a patch, or a shell command that applies one. */
export function isPatch(text: string): boolean {
  const begin = text.indexOf(BEGIN_PATCH)
  if (begin === -1) return false
  const before = text.slice(0, begin)
  return before.trim() === "" || APPLY_PATCH.test(before)
}

/** Returns the patches in a text, in their order; one without a first line counts as one. */
export function patchesIn(text: string): PatchText[] {
  const patches: PatchText[] = []
  let outer: (readonly string[])[] = []
  let folders: readonly string[] = []
  let at = 0
  for (;;) {
    const begin = text.indexOf(BEGIN_PATCH, at)
    if (begin === -1) break
    for (const [step, folder] of text.slice(at, begin).matchAll(FOLDER_STEP)) {
      if (step === "(") outer = [...outer, folders]
      else if (step === ")") [folders, outer] = [outer.at(-1) ?? folders, outer.slice(0, -1)]
      else folders = [...folders, unquoted(folder ?? "")]
    }
    at = endOfPatch(text, begin)
    patches.push({ folders, paths: pathsIn(text.slice(begin, at)) })
  }
  return patches.length === 0 ? [{ folders: [], paths: pathsIn(text) }] : patches
}

function endOfPatch(text: string, begin: number): number {
  END_PATCH.lastIndex = begin
  return END_PATCH.exec(text)?.index ?? text.length
}

function pathsIn(patch: string): string[] {
  return [...patch.matchAll(HEADER)].map(([, path = ""]) => path.trim()).filter((path) => path !== "")
}

function unquoted(word: string): string {
  return word.replace(/^(["'])(.*)\1$/, "$2")
}
