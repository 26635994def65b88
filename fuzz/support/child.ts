/** The product's own processes, run to their end. */

import { spawn } from "node:child_process"
import { Fault } from "./part.ts"
import type { Room } from "./room.ts"
import { beginning } from "./texts.ts"

/** How long a process may take where others compete for the processor. */
const PROCESS_MS_MAX = 20_000

export interface Ending {
  code: number | null
  stdout: string
  stderr: string
}

/** Returns an environment in which nothing but the room says anything to the product. */
export function environmentIn(room: Room, databasePath: string): Record<string, string> {
  return {
    PATH: process.env.PATH ?? "",
    HOME: room.home,
    TMPDIR: process.env.TMPDIR ?? "/tmp",
    SIGNALBOX_DB: databasePath,
    SIGNALBOX_PORT: "0",
    SIGNALBOX_LOG: "warn",
  }
}

/** Runs a process to its end with bytes on stdin; one that takes far too long is killed and has no code. */
export function ended(
  file: string,
  args: readonly string[],
  cwd: string,
  env: Record<string, string>,
  input: Uint8Array = new Uint8Array(),
): Promise<Ending> {
  const child = spawn(file, args, { cwd, env, stdio: ["pipe", "pipe", "pipe"] })
  const ending: Ending = { code: null, stdout: "", stderr: "" }
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    ending.stdout += text
  })
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    ending.stderr += text
  })
  // It may end before it has read everything.
  child.stdin.on("error", () => {})
  child.stdin.end(input)
  const alarm = setTimeout(() => child.kill("SIGKILL"), PROCESS_MS_MAX)
  return new Promise((resolve, reject) => {
    child.once("error", reject)
    child.once("close", (code, signal) => {
      clearTimeout(alarm)
      if (signal === null) resolve({ ...ending, code })
      else reject(new Fault(`${args.slice(1).join(" ")} was ended by ${signal}: ${beginning(ending.stderr)}`))
    })
  })
}
