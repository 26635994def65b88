/** What the definitions of commands have in common. */

import { Option } from "commander"
import type { Config } from "../config/config.ts"

/** Reads the configuration when a command is called. */
export type ReadConfig = () => Config

/** Returns an option that may be given several times. */
export function several(flags: string, description: string): Option {
  return new Option(flags, description).argParser((value: string, before: string[] | undefined) => [
    ...(before ?? []),
    value,
  ])
}
