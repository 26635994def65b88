/**
 * The hook's settings: key `hooks.preEdit` of the user's config file, then of `.signalbox.json` at the
 * project's root, key by key. A project may be anybody's, so what guards edits it can only make stricter than
 * the user's own file sets it. What is wrong in them is named in a warning, and the default holds there.
 */

import { readFileSync, statSync } from "node:fs"
import { join } from "node:path"
import { patternCost } from "../domain/coordination/pattern-budget.ts"
import { modeOf, type ReservationMode } from "../domain/coordination/reservation.ts"
import { type CompiledPattern, compilePattern, GlobError, normalizePattern } from "../domain/glob/glob.ts"
import { anyMatchesPath } from "../domain/glob/matching.ts"
import {
  CONFIG_BYTES_MAX,
  HOOK_RESERVATION_SECONDS_DEFAULT,
  PATTERN_CHARS_MAX,
  RESERVATION_SECONDS_MAX,
  SETTINGS_PATTERN_COST_MAX,
} from "./limits.ts"

const PROJECT_CONFIG_FILE = ".signalbox.json"

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

/** What the hook tells of mail beside urgent news: key `hooks.mail` of the user's own file. */
export interface MailSettings {
  /** Whether mail keeps an agent from stopping, and is mentioned with a prompt. */
  push: boolean
}

interface ReadSettings {
  settings: HookSettings
  mail: MailSettings
  /** One sentence each: the file, the key, the rule. */
  warnings: readonly string[]
  /** Where the project's file is weaker than the defaults, or than the user's file, which then holds; a sentence each. */
  weakenings: readonly string[]
}

/** Reads the settings of a project; never fails. `projectRoot` is undefined outside of any. */
export function readHookSettings(userConfigPath: string, projectRoot: string | undefined): ReadSettings {
  const user = readFile(userConfigPath)
  const settings = { ...HOOK_SETTINGS_DEFAULT, ...user.settings }
  const mail = { push: true, ...user.mail }
  if (projectRoot === undefined) return { settings, mail, warnings: user.warnings, weakenings: [] }
  const path = join(projectRoot, PROJECT_CONFIG_FILE)
  const project = readFile(path)
  const warnings = [...user.warnings, ...project.warnings, ...foreignKeys(path, project)]
  const held: Partial<HookSettings> = {}
  const weakenings: string[] = []
  for (const name of SETTING_NAMES) {
    const isOwn = user.settings[name] !== undefined
    const tightening = tighten(name, settings, project.settings)
    if (isOwn) Object.assign(held, tightening.settings)
    // A list that adds to the user's own weakens nothing, and need not repeat that list.
    if (!tightening.isWeaker || (isOwn && name === "exclusivePatterns")) continue
    weakenings.push(
      isOwn
        ? `${path} is weaker in hooks.preEdit.${name} than your own ${userConfigPath}, which holds`
        : `${path} weakens hooks.preEdit.${name}; set it in ${userConfigPath} to decide it yourself`,
    )
  }
  return { settings: { ...settings, ...project.settings, ...held }, mail, warnings, weakenings }
}

/** Returns what holds of a setting when a project may only make it stricter, and whether the project wants less. */
function tighten<Name extends SettingName>(
  name: Name,
  before: HookSettings,
  project: Partial<HookSettings>,
): { settings: Partial<HookSettings>; isWeaker: boolean } {
  const value = project[name]
  const stricter = RULES[name].stricter
  if (value === undefined || stricter === undefined) return { settings: {}, isWeaker: false }
  const tightened = stricter(before[name], value)
  return { settings: { [name]: tightened }, isWeaker: String(tightened) !== String(value) }
}

/** Names what stands in a project's file and counts in the user's own only. */
function foreignKeys(path: string, { otherKeys }: FileSettings): string[] {
  return otherKeys
    .filter((key) => USER_ONLY_KEYS.has(key))
    .map((key) => `${path}: ${key} counts in the user's own config file only`)
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

interface FileSettings {
  settings: Partial<HookSettings>
  mail: Partial<MailSettings>
  warnings: readonly string[]
  /** The file's keys beside `hooks.preEdit`. */
  otherKeys: readonly string[]
}

/** Settings of the program that are no project's business. */
const USER_ONLY_KEYS: ReadonlySet<string> = new Set([
  "database",
  "documentation",
  "events",
  "hooks.mail",
  "identity",
  "limits",
  "memory",
  "webhooks",
])

const NO_SETTINGS: FileSettings = { settings: {}, mail: {}, warnings: [], otherKeys: [] }
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
        ...NO_SETTINGS,
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
    return { ...NO_SETTINGS, warnings: [`${file} cannot be read: ${message}`] }
  }
}

function parseSettings(file: string, text: string): FileSettings {
  const warnings: string[] = []
  const settings: Record<string, unknown> = {}
  const parsed = parseObject(warnings, file, text)
  for (const [key, value] of Object.entries(preEditOf(warnings, file, parsed))) {
    if (!isSettingName(key)) {
      warnings.push(`${file}: hooks.preEdit.${key} is unknown; known are ${SETTING_NAMES.join(", ")}`)
    } else if (!RULES[key].accepts(value)) {
      warnings.push(`${file}: hooks.preEdit.${key} must be ${RULES[key].text}; it is left as it was`)
    } else {
      settings[key] = value
    }
  }
  const hooks = isObject(parsed) && isObject(parsed.hooks) ? parsed.hooks : {}
  const otherKeys = [
    ...(isObject(parsed) ? Object.keys(parsed) : []),
    ...Object.keys(hooks).map((key) => `hooks.${key}`),
  ]
  return { settings, mail: mailIn(warnings, file, hooks.mail ?? {}), warnings, otherKeys }
}

function mailIn(warnings: string[], file: string, mail: unknown): Partial<MailSettings> {
  if (!isObject(mail)) {
    warnings.push(`${file}: hooks.mail must be an object; the defaults hold`)
    return {}
  }
  const unknown = Object.keys(mail).filter((key) => key !== "push")
  for (const key of unknown) warnings.push(`${file}: hooks.mail.${key} is unknown; known is push`)
  if (mail.push === undefined) return {}
  if (BOOLEAN.accepts(mail.push)) return { push: mail.push === true }
  warnings.push(`${file}: hooks.mail.push must be ${BOOLEAN.text}; it is left as it was`)
  return {}
}

function parseObject(warnings: string[], file: string, text: string): unknown {
  try {
    return JSON.parse(text.replace(/^\uFEFF/, ""))
  } catch (error) {
    warnings.push(`${file} cannot be read as JSON, the defaults hold: ${(error as Error).message}`)
    return {}
  }
}

function preEditOf(warnings: string[], file: string, parsed: unknown): object {
  const hooks = isObject(parsed) ? (parsed.hooks ?? {}) : null
  const preEdit = isObject(hooks) ? (hooks.preEdit ?? {}) : null
  if (isObject(preEdit)) return preEdit
  warnings.push(`${file}: hooks.preEdit must be an object; the defaults hold`)
  return {}
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value)
}

interface Rule<Value> {
  /** What a value must be, for warnings. */
  text: string
  accepts(value: unknown): boolean
  /** Returns the stricter of what was set before and what a project sets; none for what guards nothing. */
  stricter?: (before: Value, value: Value) => Value
}

const BOOLEAN: Rule<boolean> = { text: "true or false", accepts: (value) => typeof value === "boolean" }
const GUARD: Rule<boolean> = { ...BOOLEAN, stricter: (before, value) => before || value }
const LICENCE: Rule<boolean> = { ...BOOLEAN, stricter: (before, value) => before && value }
const PATTERNS: Rule<readonly string[]> = {
  text: `an array of patterns such as "src/**", which may cost ${SETTINGS_PATTERN_COST_MAX} together`,
  // The cost is read off the texts: compiling alone could take longer than the hook may.
  accepts: (value) => Array.isArray(value) && isAffordable(value) && value.every(isPattern),
}
const MODE: Rule<ReservationMode> = {
  text: '"shared" or "exclusive"',
  accepts: (value) => value === "shared" || value === "exclusive",
  stricter: (before, value) => (before === "exclusive" ? before : value),
}
const SECONDS: Rule<number> = {
  text: `a whole number of seconds, 1 to ${RESERVATION_SECONDS_MAX}`,
  accepts: (value) =>
    Number.isInteger(value) && Number(value) >= 1 && Number(value) <= RESERVATION_SECONDS_MAX,
  stricter: Math.max,
}

type SettingName = keyof HookSettings

const RULES: { [Name in SettingName]: Rule<HookSettings[Name]> } = {
  enabled: GUARD,
  autoReserve: GUARD,
  defaultMode: MODE,
  reservationDuration: SECONDS,
  blockConflicts: GUARD,
  showGuidance: BOOLEAN,
  allowOverrides: LICENCE,
  requireAdminApproval: GUARD,
  releaseOnCommit: BOOLEAN,
  exclusivePatterns: {
    ...PATTERNS,
    stricter: (before, value) => [...value, ...before.filter((pattern) => !value.includes(pattern))],
  },
  ignorePatterns: {
    ...PATTERNS,
    stricter: (before, value) => value.filter((pattern) => before.includes(pattern)),
  },
}

const SETTING_NAMES = Object.keys(RULES) as SettingName[]

function isSettingName(key: string): key is SettingName {
  return Object.hasOwn(RULES, key)
}

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

function isAffordable(values: readonly unknown[]): boolean {
  let cost = 0
  return values.every((value) => {
    cost += typeof value === "string" && value.length <= PATTERN_CHARS_MAX ? patternCost(value) : 0
    return cost <= SETTINGS_PATTERN_COST_MAX
  })
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
