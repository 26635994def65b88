/**
 * The hook's settings: key `hooks.preEdit` of the user's config file, then of `.signalbox.json` at the
 * project's root, key by key. What is wrong in them is named in a warning, and the default holds there.
 */

import { readFileSync, statSync } from "node:fs"
import { join } from "node:path"
import {
  anyMatchesPath,
  type CompiledPattern,
  compilePattern,
  GlobError,
  normalizePattern,
} from "../domain/glob.ts"
import { modeOf, type ReservationMode } from "../domain/reservation.ts"
import { CONFIG_BYTES_MAX, HOOK_RESERVATION_SECONDS_DEFAULT, RESERVATION_SECONDS_MAX } from "../limits.ts"

export const PROJECT_CONFIG_FILE = ".signalbox.json"

export interface HookSettings {
  enabled: boolean
  autoReserve: boolean
  defaultMode: ReservationMode
  /** In seconds. */
  reservationDuration: number
  blockConflicts: boolean
  showGuidance: boolean
  allowOverrides: boolean
  requireAdminApproval: boolean
  releaseOnCommit: boolean
  exclusivePatterns: readonly string[]
  ignorePatterns: readonly string[]
}

export const HOOK_SETTINGS_DEFAULT: HookSettings = {
  enabled: true,
  autoReserve: true,
  defaultMode: "shared",
  reservationDuration: HOOK_RESERVATION_SECONDS_DEFAULT,
  blockConflicts: true,
  showGuidance: true,
  allowOverrides: true,
  requireAdminApproval: false,
  releaseOnCommit: false,
  exclusivePatterns: [
    "**/package-lock.json",
    "**/npm-shrinkwrap.json",
    "**/yarn.lock",
    "**/pnpm-lock.yaml",
    "**/bun.lock",
    "**/bun.lockb",
    "**/deno.lock",
    "**/Cargo.lock",
    "**/go.sum",
    "**/poetry.lock",
    "**/uv.lock",
    "**/Pipfile.lock",
    "**/pdm.lock",
    "**/Gemfile.lock",
    "**/composer.lock",
    "**/mix.lock",
    "**/pubspec.lock",
    "**/Podfile.lock",
    "**/Package.resolved",
    "**/gradle.lockfile",
    "**/packages.lock.json",
    "**/flake.lock",
    "**/migrations/**",
    "**/schema.sql",
    ".github/workflows/**",
  ],
  ignorePatterns: [
    "**/.git/**",
    "**/node_modules/**",
    "**/dist/**",
    "**/build/**",
    "**/coverage/**",
    "**/*.log",
    "**/.DS_Store",
  ],
}

export interface ReadSettings {
  settings: HookSettings
  /** One sentence each: the file, the key, the rule. */
  warnings: string[]
}

/** Reads the settings of a project; never fails. `projectRoot` is undefined outside of any. */
export function readHookSettings(userConfigPath: string, projectRoot: string | undefined): ReadSettings {
  const read: ReadSettings = { settings: { ...HOOK_SETTINGS_DEFAULT }, warnings: [] }
  applyFile(read, userConfigPath)
  if (projectRoot !== undefined) applyFile(read, join(projectRoot, PROJECT_CONFIG_FILE))
  return read
}

/** Whether one of the patterns matches a path, relative to the project's root. */
export function matchesAny(patterns: readonly string[], path: string): boolean {
  return anyMatchesPath(compiledList(patterns), path)
}

/** Lists compiled before; the same settings come again with every edit. */
const compiledLists = new WeakMap<readonly string[], readonly CompiledPattern[]>()

function compiledList(patterns: readonly string[]): readonly CompiledPattern[] {
  const known = compiledLists.get(patterns)
  if (known !== undefined) return known
  const compiled = patterns.map((pattern) => compilePattern(normalizePattern(pattern)))
  compiledLists.set(patterns, compiled)
  return compiled
}

/** Returns the mode in which the hook reserves a path. */
export function modeFor(settings: HookSettings, path: string): ReservationMode {
  return modeOf({
    exclusive: matchesAny(settings.exclusivePatterns, path) || settings.defaultMode === "exclusive",
  })
}

function applyFile(read: ReadSettings, file: string): void {
  const { settings, warnings } = readFile(file)
  read.settings = { ...read.settings, ...settings }
  read.warnings.push(...warnings)
}

interface FileSettings {
  settings: Partial<HookSettings>
  warnings: readonly string[]
}

const NO_SETTINGS: FileSettings = { settings: {}, warnings: [] }
const FILES_KNOWN_MAX = 100
/** Files read before, with what tells whether they were changed since. */
const knownFiles = new Map<string, FileSettings & { mark: string }>()

function readFile(file: string): FileSettings {
  try {
    const found = statSync(file, { throwIfNoEntry: false, bigint: true })
    if (found === undefined) return NO_SETTINGS
    // A repository may hold anything under this name, a device or a pipe too, and reading that has no end.
    if (!found.isFile() || found.size > CONFIG_BYTES_MAX)
      return {
        settings: {},
        warnings: [`${file} must be a file of at most ${CONFIG_BYTES_MAX} bytes; the defaults hold`],
      }
    const mark = `${found.ino}:${found.size}:${found.mtimeNs}:${found.ctimeNs}`
    const known = knownFiles.get(file)
    if (known?.mark === mark) return known
    const read = { ...parseSettings(file, readFileSync(file, "utf8")), mark }
    if (knownFiles.size >= FILES_KNOWN_MAX) knownFiles.clear()
    knownFiles.set(file, read)
    return read
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException
    if (code === "ENOENT" || code === "ENOTDIR") return NO_SETTINGS
    return { settings: {}, warnings: [`${file} cannot be read: ${message}`] }
  }
}

function parseSettings(file: string, text: string): FileSettings {
  const warnings: string[] = []
  const settings: Record<string, unknown> = {}
  for (const [key, value] of Object.entries(preEditOf(warnings, file, text))) {
    const rule = RULES.get(key)
    if (rule === undefined) {
      warnings.push(`${file}: hooks.preEdit.${key} is unknown; known are ${[...RULES.keys()].join(", ")}`)
    } else if (!rule.accepts(value)) {
      warnings.push(`${file}: hooks.preEdit.${key} must be ${rule.text}; it is left as it was`)
    } else {
      settings[key] = value
    }
  }
  return { settings, warnings }
}

function preEditOf(warnings: string[], file: string, text: string): object {
  try {
    const parsed: unknown = JSON.parse(text.replace(/^\uFEFF/, ""))
    const hooks = isObject(parsed) ? (parsed.hooks ?? {}) : null
    const preEdit = isObject(hooks) ? (hooks.preEdit ?? {}) : null
    if (isObject(preEdit)) return preEdit
    warnings.push(`${file}: hooks.preEdit must be an object; the defaults hold`)
  } catch (error) {
    warnings.push(`${file} cannot be read as JSON, the defaults hold: ${(error as Error).message}`)
  }
  return {}
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value)
}

interface Rule {
  /** What a value must be, for warnings. */
  text: string
  accepts(value: unknown): boolean
}

const BOOLEAN: Rule = { text: "true or false", accepts: (value) => typeof value === "boolean" }
const PATTERNS: Rule = {
  text: 'an array of patterns such as "src/**"',
  accepts: (value) => Array.isArray(value) && value.every(isPattern),
}
const MODE: Rule = {
  text: '"shared" or "exclusive"',
  accepts: (value) => value === "shared" || value === "exclusive",
}
const SECONDS: Rule = {
  text: `a whole number of seconds, 1 to ${RESERVATION_SECONDS_MAX}`,
  accepts: (value) =>
    Number.isInteger(value) && Number(value) >= 1 && Number(value) <= RESERVATION_SECONDS_MAX,
}

const RULES = new Map<string, Rule>(
  Object.entries({
    enabled: BOOLEAN,
    autoReserve: BOOLEAN,
    defaultMode: MODE,
    reservationDuration: SECONDS,
    blockConflicts: BOOLEAN,
    showGuidance: BOOLEAN,
    allowOverrides: BOOLEAN,
    requireAdminApproval: BOOLEAN,
    releaseOnCommit: BOOLEAN,
    exclusivePatterns: PATTERNS,
    ignorePatterns: PATTERNS,
  } satisfies Record<keyof HookSettings, Rule>),
)

/** What each setting does, in the order of the documentation. */
export const HOOK_SETTINGS_DOCUMENTED: Record<keyof HookSettings, string> = {
  enabled: "whether the hook looks at edits at all",
  autoReserve: "reserve what is edited when nobody else's reservation stands in the way",
  defaultMode: "the mode of such a reservation: shared lets others edit too",
  reservationDuration: "how long it lasts, in seconds",
  blockConflicts: "block an edit that conflicts; otherwise only warn",
  showGuidance: "say what can be done instead, and tell once who shares a file",
  allowOverrides: "whether a holder can be overridden in an emergency",
  requireAdminApproval: "an override waits for `signalbox override approve`",
  releaseOnCommit:
    "a commit releases the reservations of its files, not those of wider patterns (needs `signalbox install git`)",
  exclusivePatterns: "files that are always reserved exclusively",
  ignorePatterns: "files that are never reserved nor blocked",
}

function isPattern(value: unknown): boolean {
  if (typeof value !== "string") return false
  try {
    compilePattern(normalizePattern(value))
    return true
  } catch (error) {
    if (error instanceof GlobError) return false
    throw error
  }
}
