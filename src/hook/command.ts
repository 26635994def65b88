/**
 * The commands that clients' settings hold. They name no path of this machine and never change between
 * versions: clients ask their user again to trust a hook whose command has changed.
 */

import { posixQuoted } from "../runtime/shell-quoting.ts"
import type { ClientName, HookEvent } from "./client-names.ts"

/**
 * Finds the hook where each platform keeps it. A machine without it, a colleague's or a cloud agent's,
 * goes on as if there were none. To block, the hook exits with a code that no failing shell has: 2, which
 * clients take for it, is also a shell's own code for trouble of many kinds.
 */
const RUN_SHELL_FORM = [
  `h="\${XDG_DATA_HOME:-$HOME/.local/share}/signalbox/hook/hook.sh"`,
  `[ -r "$h" ] || h="$HOME/Library/Application Support/signalbox/hook/hook.sh"`,
  // A folder that is named relatively would be the project's.
  `case $h in /*) ;; *) exit 0 ;; esac`,
  `[ -r "$h" ] || exit 0`,
  `SIGNALBOX_HOOK_BLOCK=42 /bin/sh "$h" "$@"`,
  `[ $? -eq 42 ] && exit 2`,
  `exit 0`,
].join("; ")

const RUN_NODE_FORM = "try{require(process.env.LOCALAPPDATA+'/signalbox/hook/hook.cjs')}catch{}"

/** Returns the command of a hook as one line for a POSIX shell; it holds no double quote that is not inside single quotes. */
export function shellCommand(
  client: ClientName | "git",
  event: HookEvent | "post-commit" | "pre-commit",
): string {
  return `/bin/sh -c ${posixQuoted(RUN_SHELL_FORM)} signalbox ${client} ${event}`
}

/** Returns the same for Windows, where Node starts the hook: for cmd and PowerShell alike. */
export function windowsCommand(client: ClientName, event: HookEvent): string {
  return `node -e "${RUN_NODE_FORM}" ${client} ${event}`
}
