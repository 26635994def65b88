/** What the definitions of commands have in common. */

import { InvalidArgumentError, Option } from "commander"
import type { Config } from "../config/config.ts"
import { ownCommand } from "../runtime/own-command.ts"

/** Reads the configuration when a command is called. */
export type ReadConfig = () => Config

/** Returns an option that may be given several times. */
export function several(flags: string, description: string): Option {
  return new Option(flags, description).argParser((value: string, before: string[] | undefined) => [
    ...(before ?? []),
    value,
  ])
}

/** Returns a reader of ids, as they are or as lists show them, such as `#7`; it names the command which lists them. */
export function wholeNumber(listing: string): (value: string) => number {
  return (value) => {
    const digits = value.replace(/^#/, "")
    if (/^[1-9]\d{0,14}$/.test(digits)) return Number(digits)
    throw new InvalidArgumentError(`See \`${ownCommand()} ${listing}\` for the ids.`)
  }
}
