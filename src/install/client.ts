/** What a coding agent is to the installer: the settings files it reads, and what to add to each. */

import type { ClientName } from "../hook/client-names.ts"
import type { Machine, Place } from "./place.ts"

/** What can be installed: the coding agents, and the git hooks of one repository. */
export type TargetName = ClientName | "git"

/** The two things that an installation consists of; each can be left out. */
export const ROLES = ["mcp", "hook"] as const
export type Role = (typeof ROLES)[number]

export type Json = null | boolean | number | string | Json[] | { [key: string]: Json }

/** One addition to a JSON file: a member called `key` of the object at `at`, or an element of the array there. */
export interface JsonEntry {
  role: Role
  at: string[]
  key?: string
  value: Json
}

/** A settings file and our part of it. `path` is absolute. */
export type SettingsFile = JsonSettings | TomlSettings | OwnedFile | ScriptBlock

/** A JSON file, with comments where its client permits them. */
export interface JsonSettings {
  form: "json"
  path: string
  entries: JsonEntry[]
  /** Members that the client demands of the file, such as its version; added when missing. */
  frame?: Record<string, Json>
  /** Whether a file that is there does without them. */
  isFrameOfNewOnly?: boolean
}

/** One table of a TOML file: its path, and its lines below the header. */
export interface TomlSettings {
  form: "toml"
  path: string
  role: Role
  table: string[]
  lines: string[]
  /** Tables that the client itself adds on account of our hooks, and that go with these. */
  further?: string[][]
  /** Whether those alone are meant. */
  isFurtherOnly?: boolean
}

/** A file that is ours as a whole. */
export interface OwnedFile {
  form: "owned"
  path: string
  role: Role
  text: string
  isExecutable: boolean
}

/** Lines in a shell script, between marks, directly after its first line. */
export interface ScriptBlock {
  form: "block"
  path: string
  role: Role
  lines: string[]
}

/** Whether a client runs what is installed in a place, as its own settings tell. */
export interface Trust {
  isGiven: boolean
  /** What was found. */
  text: string
  /** What the user has to do for it, as a sentence. */
  advice: string
}

export interface Client {
  name: TargetName
  title: string
  /** Paths of which one exists on every machine where the client is used. */
  traces(machine: Machine): string[]
  /** The files to write in a place; empty when the client has none there. */
  files(place: Place): SettingsFile[]
  /** Folders beside the root of a project that its files may lie in. */
  furtherFolders?(place: Place): string[]
  /** What the user still has to do, as sentences. */
  notes(place: Place): string[]
  /** What the client was told to trust of what is installed; undefined where it needs no trust, or nothing is installed. */
  trust?(place: Place): Trust | undefined
}

/** Returns our part of a file for some roles only; undefined when nothing of it is left. */
export function partOf(file: SettingsFile, roles: readonly Role[]): SettingsFile | undefined {
  if (file.form === "toml") return tablesOf(file, roles)
  if (file.form !== "json") return roles.includes(file.role) ? file : undefined
  const entries = file.entries.filter((entry) => roles.includes(entry.role))
  return entries.length === 0 ? undefined : { ...file, entries }
}

/** The further tables come from our hooks, in another file. */
function tablesOf(file: TomlSettings, roles: readonly Role[]): TomlSettings | undefined {
  const { further = [] } = file
  if (!roles.includes("hook")) return roles.includes(file.role) ? { ...file, further: [] } : undefined
  if (roles.includes(file.role)) return file
  return further.length === 0 ? undefined : { ...file, isFurtherOnly: true }
}
