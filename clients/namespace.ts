/** A place for clients to run in where nothing but loopback is reachable, and where no process outlives its run. */

import { spawnSync } from "node:child_process"

/** What brings loopback up and then runs the words behind it; a shell stays in front and reaps what is orphaned. */
const WITH_LOOPBACK = 'ip link set lo up && "$@"; exit $?'

const NAMESPACES = ["--net", "--pid", "--fork", "--mount-proc", "--kill-child"]
const WAYS: readonly (readonly string[])[] = [NAMESPACES, ["--map-root-user", ...NAMESPACES]]

/**
 * Returns the words to put in front of a command so that it runs in namespaces of its own; undefined where this
 * machine permits none.
 */
export function namespaceWords(): string[] | undefined {
  const words = WAYS.map((way) => ["unshare", ...way, "/bin/sh", "-c", WITH_LOOPBACK, "sh"])
  return words.find(([command = "", ...args]) => spawnSync(command, [...args, "true"]).status === 0)
}
