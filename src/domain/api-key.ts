/**
 * API keys: their format, their scopes and what a scope permits. Generating random bytes, hashing and
 * storing are done elsewhere.
 */

export type Environment = "live" | "test"
export const ENVIRONMENTS = ["live", "test"] as const
export const PLANS = ["starter", "pro", "enterprise"] as const
export type Plan = (typeof PLANS)[number]

/** Returns the plan of a name in any case, of which `professional` is another for `pro`; undefined for none. */
export function planNamed(name: string): Plan | undefined {
  const lower = name.toLowerCase()
  return lower === "professional" ? "pro" : PLANS.find((plan) => plan === lower)
}

export interface ApiKey {
  id: number
  name: string
  environment: Environment
  lastFour: string
  scopes: string[]
  plan: Plan
  isLocal: boolean
  createdAtMs: number
  expiresAtMs: number | null
  revokedAtMs: number | null
  lastUsedAtMs: number | null
}

const BASE62 = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
const SECRET_BYTES = 32
/** 62^43 is the first power of 62 above 2^256. */
const SECRET_CHARS = 43
const CHECKSUM_CHARS = 6
const FORMAT = new RegExp(`^signalbox_(live|test)_sk_[0-9A-Za-z]{${SECRET_CHARS + CHECKSUM_CHARS}}$`)

/**
 * Returns a key in clear text: `signalbox_<environment>_sk_`, 32 bytes in base62 (43 characters), and
 * 6 characters of checksum, so that a typo is told from an unknown key without a look-up. The form
 * follows GitHub's tokens: CRC-32 of all that stands before it, in base62.
 */
export function formatApiKey(environment: Environment, secret: Uint8Array): string {
  if (secret.length !== SECRET_BYTES)
    throw new Error(`a key needs ${SECRET_BYTES} bytes, got ${secret.length}`)
  let number = 0n
  for (const byte of secret) number = number * 256n + BigInt(byte)
  const body = `signalbox_${environment}_sk_${base62(number, SECRET_CHARS)}`
  return body + base62(BigInt(crc32(body)), CHECKSUM_CHARS)
}

/** Whether a text has the form of a key and its checksum is right. */
export function isWellFormedApiKey(text: string): boolean {
  if (!FORMAT.test(text)) return false
  const body = text.slice(0, -CHECKSUM_CHARS)
  return text.endsWith(base62(BigInt(crc32(body)), CHECKSUM_CHARS))
}

/** Returns the environment that a key's prefix names, if it names one. */
export function environmentOf(text: string): Environment | undefined {
  return ENVIRONMENTS.find((environment) => text.startsWith(`signalbox_${environment}_sk_`))
}

/** Why a key that was found does not count, or null when it does. */
export function keyRefusal(key: ApiKey, environment: Environment, nowMs: number): string | null {
  if (key.environment !== environment)
    return `the key is for ${key.environment}, this server is ${environment}`
  if (key.revokedAtMs !== null) return "the key was revoked"
  if (key.expiresAtMs !== null && key.expiresAtMs <= nowMs) return "the key has expired"
  return null
}

/** The scope forms that keys may carry, for messages. */
export const SCOPE_FORMS =
  "*, admin, repo:{id}:coordination, project:{key}:coordination, repo:{id}:memory, repo:{id}:documentation"

/** Whether a text is one of the scope forms. */
export function isScope(text: string): boolean {
  return (
    text === "*" ||
    text === "admin" ||
    /^repo:[1-9]\d*:(coordination|memory|documentation)$/.test(text) ||
    /^project:.{1,200}:coordination$/s.test(text)
  )
}

/** What a call may ask of a key before it is known which project or repository the call is about. */
export const PERMISSIONS = ["coordination", "memory", "documentation", "admin", "everything"] as const
export type Permission = (typeof PERMISSIONS)[number]

/** The scopes that give a permission, `*` apart, as refusals name them. */
export const SCOPES_OF_PERMISSION: Record<Permission, string> = {
  coordination: "repo:{repository_id}:coordination or project:{project_key}:coordination",
  memory: "repo:{repository_id}:memory",
  documentation: "repo:{repository_id}:documentation",
  admin: "admin",
  everything: "*",
}

/**
 * Whether scopes give a permission anywhere at all. `admin` permits what changes the machine: connecting
 * repositories, models, deciding on overrides; `everything` is to act for any session of it.
 */
export function permits(scopes: readonly string[], permission: Permission): boolean {
  if (scopes.includes("*")) return true
  if (permission === "admin") return scopes.includes("admin")
  return scopes.some((scope) => scope.endsWith(`:${permission}`))
}

/** Whether scopes permit coordination in a project that is linked to the given repositories. */
export function permitsProject(
  scopes: readonly string[],
  projectKey: string,
  repositoryIds: readonly number[],
): boolean {
  return (
    scopes.includes("*") ||
    scopes.includes(projectScope(projectKey)) ||
    repositoryIds.some((id) => scopes.includes(repositoryScope(id)))
  )
}

/** Whether scopes permit reservations in one repository of a project. */
export function permitsReservation(
  scopes: readonly string[],
  projectKey: string,
  repositoryId: number,
): boolean {
  return permitsProject(scopes, projectKey, [repositoryId])
}

/** Whether scopes permit the memories of a repository. */
export function permitsMemory(scopes: readonly string[], repositoryId: number): boolean {
  return scopes.includes("*") || scopes.includes(memoryScope(repositoryId))
}

/** Whether scopes permit the documentation of a repository. */
export function permitsDocumentation(scopes: readonly string[], repositoryId: number): boolean {
  return scopes.includes("*") || scopes.includes(documentationScope(repositoryId))
}

/** Returns the keys of the projects that scopes name. */
export function projectKeysOf(scopes: readonly string[]): string[] {
  return scopes.flatMap((scope) => /^project:(.*):coordination$/s.exec(scope)?.[1] ?? [])
}

export function projectScope(projectKey: string): string {
  return `project:${projectKey}:coordination`
}

export function repositoryScope(repositoryId: number): string {
  return `repo:${repositoryId}:coordination`
}

export function memoryScope(repositoryId: number): string {
  return `repo:${repositoryId}:memory`
}

export function documentationScope(repositoryId: number | "{id}"): string {
  return `repo:${repositoryId}:documentation`
}

function base62(number: bigint, length: number): string {
  let text = ""
  for (let rest = number; text.length < length; rest /= 62n) text = BASE62.charAt(Number(rest % 62n)) + text
  return text
}

/** CRC-32 as in ISO 3309 (polynomial 0xEDB88320, reflected), of ASCII text. */
function crc32(text: string): number {
  let crc = 0xff_ff_ff_ff
  for (let index = 0; index < text.length; index += 1) {
    crc ^= text.charCodeAt(index)
    for (let bit = 0; bit < 8; bit += 1) crc = (crc >>> 1) ^ (crc & 1 ? 0xed_b8_83_20 : 0)
  }
  return (crc ^ 0xff_ff_ff_ff) >>> 0
}
