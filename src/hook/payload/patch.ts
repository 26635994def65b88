/**
 * The files that a patch in the `apply_patch` format names, be it a tool's argument or a heredoc in a shell
 * command. The format is Codex's; OpenCode, Copilot, Cursor, Cline and VS Code took it over.
 */

const BEGIN_PATCH = "*** Begin Patch"

/** Headers may be indented. A `.` does not match `\r`, so CRLF needs nothing more. */
const HEADER = /^[ \t]*\*\*\* (?:(?:Add|Update|Delete) File|Move to):(.*)$/gm

const APPLY_PATCH = /\bapply_?patch\b/

/** The one form in which Codex's own shell takes a folder with a patch: `cd folder && apply_patch <<...`. */
const CHANGE_OF_FOLDER = /\bcd\s+("[^"\n]*"|'[^'\n]*'|[^\s;&|]+)\s*&&\s*apply_?patch\b/

/** Whether a text is a patch, or a shell command that applies one. */
export function isPatch(text: string): boolean {
  const begin = text.indexOf(BEGIN_PATCH)
  if (begin === -1) return false
  const before = text.slice(0, begin)
  return before.trim() === "" || APPLY_PATCH.test(before)
}

/** Returns the paths that the headers of a patch name, both sides of a move, in their order. */
export function patchedPaths(text: string): string[] {
  return [...text.matchAll(HEADER)].map(([, path = ""]) => path.trim()).filter((path) => path !== "")
}

/** Returns the folder that a shell command changes to before it applies a patch, as it is written there. */
export function folderOfPatch(command: string): string | undefined {
  const [, folder] = CHANGE_OF_FOLDER.exec(command.slice(0, command.indexOf(BEGIN_PATCH))) ?? []
  return folder?.replace(/^(["'])(.*)\1$/, "$2")
}
