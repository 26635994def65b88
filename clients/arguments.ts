/** The command line of the harness. */

import { homedir } from "node:os"
import { join, resolve } from "node:path"
import { parseArgs } from "node:util"

export interface Order {
  /** Names of rows: a whole id, or what stands before its colon. */
  names: string[]
  /** Where the clients are installed. */
  folder: string
  /** The steps to run; undefined for all. */
  only?: string[]
  /** Leaves the folder of each run where it is, and says so. */
  keeps: boolean
  /** Keeps what clients hand to the hook, which is material for golden payloads. */
  dumps: boolean
  /** Writes the table into docs/clients.md. */
  writes: boolean
}

export const USAGE =
  "usage: npm run clients -- [client...] [--folder <path>] [--only <step,...>] [--keep] [--dump] [--write]"

/**
 * Reads the arguments behind the script. `known` are the ids of all rows, such as "codex:gpt-5.5". Throws an error
 * that names what is wrong on unknown options, clients and steps, and on --write beside a choice: a table of some
 * clients would replace that of all.
 */
export function readArguments(
  argv: readonly string[],
  known: readonly string[],
  steps: readonly string[],
  environment: Readonly<Record<string, string | undefined>> = process.env,
): Order {
  const { values, positionals } = parseArgs({
    args: [...argv],
    allowPositionals: true,
    options: {
      folder: { type: "string" },
      only: { type: "string" },
      keep: { type: "boolean", default: false },
      dump: { type: "boolean", default: false },
      write: { type: "boolean", default: false },
    },
  })
  const only = values.only?.split(",")
  requireKnown("client", positionals, [...new Set(known.flatMap((id) => [familyOf(id), id]))])
  requireKnown("step", only ?? [], steps)
  if (values.write && (positionals.length > 0 || only !== undefined))
    throw new Error("--write needs all clients and all steps: the table in docs/clients.md is one of all")
  return {
    names: positionals,
    folder: resolve(values.folder ?? join(cacheFolder(environment), "signalbox-clients")),
    ...(only !== undefined && { only }),
    keeps: values.keep || values.dump,
    dumps: values.dump,
    writes: values.write,
  }
}

/** Whether a row was asked for: by its id, by what stands before its colon, or because none was named. */
export function isAskedFor(id: string, names: readonly string[]): boolean {
  return names.length === 0 || names.includes(id) || names.includes(familyOf(id))
}

function familyOf(id: string): string {
  return id.split(":")[0] ?? id
}

function requireKnown(what: string, asked: readonly string[], known: readonly string[]): void {
  const unknown = asked.filter((name) => !known.includes(name))
  if (unknown.length > 0)
    throw new Error(`unknown ${what}: ${unknown.join(", ")}; known are: ${known.join(", ")}`)
}

function cacheFolder(environment: Readonly<Record<string, string | undefined>>): string {
  return environment.XDG_CACHE_HOME || join(homedir(), ".cache")
}
