/** Where settings are written: the machine, and on it the user's own folders or one project. */

import { join } from "node:path"

export const SCOPES = ["user", "project"] as const
export type Scope = (typeof SCOPES)[number]

/** What decides where programs keep their settings. */
export interface Machine {
  home: string
  platform: NodeJS.Platform
  env: Record<string, string | undefined>
  /** The path of the launcher, by which the user's own settings start the server. */
  launcher: string
}

export interface Place {
  machine: Machine
  scope: Scope
  /** The project's root in project scope, the home folder otherwise. */
  root: string
}

/** Returns the value of a variable, or `otherwise` when it is unset or empty. */
export function variable(machine: Machine, name: string, otherwise: string): string {
  const value = machine.env[name]
  return value === undefined || value.trim() === "" ? otherwise : value
}

/** Returns the folder of programs that keep to XDG on every platform. */
export function xdgConfigFolder(machine: Machine): string {
  return variable(machine, "XDG_CONFIG_HOME", join(machine.home, ".config"))
}

/** Returns the platform's own folder for settings of programs. */
export function applicationFolder(machine: Machine): string {
  if (machine.platform === "darwin") return join(machine.home, "Library", "Application Support")
  if (machine.platform === "win32")
    return variable(machine, "APPDATA", join(machine.home, "AppData", "Roaming"))
  return xdgConfigFolder(machine)
}
