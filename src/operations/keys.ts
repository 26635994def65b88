/** Making, finding and revoking API keys. */

import { createHash } from "node:crypto"
import { readFileSync } from "node:fs"
import { KEY_NAME_CHARS_MAX } from "../config/limits.ts"
import type { Queries } from "../db/database.ts"
import {
  type ApiKey,
  type Environment,
  formatApiKey,
  isScope,
  isWellFormedApiKey,
  keyRefusal,
  type Plan,
  projectKeysOf,
  projectScope,
  SCOPE_FORMS,
} from "../domain/api-key.ts"
import { type EventKind, OWN_ACTOR } from "../domain/events/kinds.ts"
import { echoed } from "../domain/foreign-text/markdown.ts"
import { AppError, invalid } from "../errors.ts"
import { canonicalProjectKey } from "../git/repository.ts"
import { ownCommand } from "../runtime/own-command.ts"
import { placeFile } from "../runtime/own-file.ts"
import { type NewEvent, recordEvent } from "../store/events.ts"
import {
  findKeyByHash,
  findKeyById,
  findLocalKey,
  insertKey,
  listKeys,
  revokeKey,
  touchKey,
  touchKeyFirst,
} from "../store/keys.ts"
import type { App } from "./app.ts"

/** A key's last use is written at most this often. */
const LAST_USE_STEP_MS = 60_000

/** Returns the key behind a way to it, see `Caller`; fails with `unauthenticated`. */
export async function authenticate(app: App, way: "settings" | "file"): Promise<ApiKey> {
  // A look at the file is no use of the key: an edit that changes nothing writes nothing.
  if (way === "file") return localKey(app)
  const { apiKey } = app.config
  return inUse(app, apiKey === undefined ? await localKey(app) : await configuredKey(app, apiKey))
}

async function inUse(app: App, key: ApiKey): Promise<ApiKey> {
  const nowMs = app.now()
  if (key.lastUsedAtMs === null) await noteFirstUse(app, key, nowMs)
  else if (nowMs - key.lastUsedAtMs >= LAST_USE_STEP_MS) await touchKey(app.db, key.id, nowMs)
  return key
}

async function noteFirstUse(app: App, key: ApiKey, nowMs: number): Promise<void> {
  await app.db.transaction("keys", async (tx) => {
    if (await touchKeyFirst(tx, key.id, nowMs)) await recordKeyEvent(tx, "key.used", key, nowMs)
  })
}

/** Records what became of a key, never its text. */
function recordKeyEvent(
  tx: Queries,
  kind: Extract<EventKind, `key.${string}`>,
  { id, name, scopes }: ApiKey,
  nowMs: number,
  by: Pick<NewEvent, "actor"> = {},
): Promise<void> {
  return recordEvent(tx, { kind, subjectId: id, ...by, data: { key_id: id, name, scopes } }, nowMs)
}

/** Who makes and replaces the local key. */
const BY_ITSELF = { actor: OWN_ACTOR }

function configuredKey(app: App, text: string): Promise<ApiKey> {
  if (text === "") throw unauthenticated("SIGNALBOX_API_KEY is set but empty", setKey())
  return keyOfText(app, text, {
    malformed: "SIGNALBOX_API_KEY is not a key of this form, check for a typo",
    unknown: "the key in SIGNALBOX_API_KEY is unknown here",
    hint: setKey(),
  })
}

/**
 * Returns the key of a request's `Authorization` header (`Bearer` and one key, RFC 6750); fails with
 * `unauthenticated`.
 */
export async function authenticateBearer(app: App, authorization: string | null): Promise<ApiKey> {
  return inUse(app, await findBearer(app, authorization))
}

/** Like `authenticateBearer`, but does not count as a use of the key. */
export async function findBearer(app: App, authorization: string | null): Promise<ApiKey> {
  const text = bearerOf(authorization)
  if (text !== undefined) {
    const words = {
      malformed: "the token is not a key of this form, check for a typo",
      unknown: "the key is unknown here",
      hint: SEND_KEY,
    }
    return keyOfText(app, text, words)
  }
  const why =
    authorization === null
      ? "there is no Authorization header"
      : "the Authorization header is not Bearer and a key"
  throw unauthenticated(why, SEND_KEY)
}

/** Finds a key by its hash, so that no secret is ever compared as text, and checks that it counts. */
async function keyOfText(
  app: App,
  text: string,
  words: { malformed: string; unknown: string; hint: string },
): Promise<ApiKey> {
  if (!isWellFormedApiKey(text)) throw unauthenticated(words.malformed, words.hint)
  const key = await findKeyByHash(app.db, hashOf(text))
  if (key === undefined) throw unauthenticated(words.unknown, words.hint)
  const refusal = keyRefusal(key, app.config.environment, app.now())
  if (refusal !== null) throw unauthenticated(refusal, words.hint)
  return key
}

/** Returns a key that was checked before, as it is now; fails with `unauthenticated` when it counts no more. */
export async function requireValidKey(app: App, id: number): Promise<ApiKey> {
  const key = await findKeyById(app.db, id)
  const refusal =
    key === undefined ? "the key is unknown here" : keyRefusal(key, app.config.environment, app.now())
  if (key === undefined || refusal !== null) throw unauthenticated(refusal ?? "", SEND_KEY)
  return key
}

/** Returns the token of an `Authorization: Bearer` header, if it is one. */
export function bearerOf(authorization: string | null): string | undefined {
  return /^Bearer +([^\s]+) *$/i.exec(authorization ?? "")?.[1]
}

const setKey = () =>
  `Ask your user to set SIGNALBOX_API_KEY to a key made with \`${ownCommand()} keys create\`, or to unset it to use the local key.`
/** Whoever has no key is told no path of this machine. */
const SEND_KEY = "Send the header `Authorization: Bearer <key>` with a key made with `signalbox keys create`."

function unauthenticated(why: string, hint: string): AppError {
  const text = `tenant authentication required; a valid API token must be supplied (${why})`
  return new AppError("unauthenticated", text, { hint })
}

/**
 * Returns the key that a machine without a configured key uses: all scopes, plan enterprise. It is made
 * on first use, and its text put beside the database in a file of mode 0600.
 */
export async function localKey(app: App): Promise<ApiKey> {
  const { environment } = app.config
  const found = await findLocalKey(app.db, environment)
  if (found !== undefined) return found
  return app.db.transaction("keys", async (tx) => {
    return (await findLocalKey(tx, environment)) ?? (await makeLocalKey(app, tx)).key
  })
}

/**
 * Returns the local key's text, for those on this machine that speak to the listener. When the file with
 * it is lost, or is not the key's that counts, the key is replaced: its text is nowhere else.
 */
export async function localKeyText(app: App): Promise<string> {
  const found = await storedLocalKey(app, app.db)
  if (found?.text !== undefined) return found.text
  return app.db.transaction("keys", async (tx) => {
    const key = await storedLocalKey(app, tx)
    if (key?.text !== undefined) return key.text
    if (key !== undefined && (await revokeKey(tx, key.id, app.now())))
      await recordKeyEvent(tx, "key.revoked", key, app.now(), BY_ITSELF)
    return (await makeLocalKey(app, tx)).text
  })
}

/** Returns the local key, with its text when the file holds it. */
async function storedLocalKey(
  app: App,
  db: Queries,
): Promise<(ApiKey & { text: string | undefined }) | undefined> {
  const key = await findLocalKey(db, app.config.environment)
  if (key === undefined) return undefined
  const text = localKeyIn(app.config.databasePath)
  const isOfKey = text !== undefined && (await findKeyByHash(db, hashOf(text)))?.id === key.id
  return { ...key, text: isOfKey ? text : undefined }
}

/** Makes the local key and its file while the lock is held, so that the two are always the same key's. */
async function makeLocalKey(app: App, tx: Queries): Promise<{ key: ApiKey; text: string }> {
  const { environment, databasePath } = app.config
  const text = formatApiKey(environment, app.randomBytes(32))
  const key = await insertKey(
    tx,
    {
      ...stored(text),
      name: "local",
      environment,
      scopes: ["*"],
      plan: "enterprise",
      isLocal: true,
      expiresAtMs: null,
    },
    app.now(),
  )
  await recordKeyEvent(tx, "key.created", key, app.now(), BY_ITSELF)
  placeFile(localKeyPath(databasePath), `${text}\n`, 0o600)
  return { key, text }
}

/** Returns what the file of a database's local key holds, whether it still counts or not; undefined without one. */
export function localKeyIn(databasePath: string): string | undefined {
  try {
    return readFileSync(localKeyPath(databasePath), "utf8").trim()
  } catch {
    // None, or not ours to read.
    return undefined
  }
}

/** Returns where the local key's text stands. */
function localKeyPath(databasePath: string): string {
  return `${databasePath.replace(/\.db$/, "")}.key`
}

export interface KeyRequest {
  name: string
  environment: Environment
  scopes: string[]
  plan: Plan
  expiresAtMs: number | null
}

/** Makes a key and returns it with its text, which is nowhere to be seen again. */
export async function createKey(app: App, request: KeyRequest): Promise<{ key: ApiKey; text: string }> {
  if (request.name.trim() === "" || request.name.length > KEY_NAME_CHARS_MAX) {
    throw invalid("name", `must have 1 to ${KEY_NAME_CHARS_MAX} characters`)
  }
  if (request.scopes.length === 0)
    throw invalid("scope", `must be given at least once; forms: ${SCOPE_FORMS}`)
  for (const scope of request.scopes) {
    if (!isScope(scope)) throw invalid("scope", `${echoed(scope)} has none of the forms: ${SCOPE_FORMS}`)
  }
  if (request.expiresAtMs !== null && request.expiresAtMs <= app.now())
    throw invalid("expires", "must lie in the future")
  const scopes = [...new Set(await Promise.all(request.scopes.map(canonicalScope)))]
  const text = formatApiKey(request.environment, app.randomBytes(32))
  const key = await app.db.transaction("keys", async (tx) => {
    const nowMs = app.now()
    const made = await insertKey(tx, { ...request, scopes, ...stored(text), isLocal: false }, nowMs)
    await recordKeyEvent(tx, "key.created", made, nowMs)
    return made
  })
  return { key, text }
}

/** Returns a scope with the key under which its project is known, where that is a path. */
async function canonicalScope(scope: string): Promise<string> {
  const [named] = projectKeysOf([scope])
  return named === undefined ? scope : projectScope(await canonicalProjectKey(named))
}

export function allKeys(app: App): Promise<ApiKey[]> {
  return listKeys(app.db)
}

/** Revokes a key for good; a revoked local key is replaced by a new one on its next use. */
export function revokeKeyById(app: App, id: number): Promise<ApiKey> {
  return app.db.transaction("keys", async (tx) => {
    const key = await findKeyById(tx, id)
    if (key === undefined) {
      throw new AppError("not_found", `key ${id} was not found`, {
        hint: `Run \`${ownCommand()} keys list\` to see the ids.`,
      })
    }
    if (await revokeKey(tx, id, app.now())) await recordKeyEvent(tx, "key.revoked", key, app.now())
    return key
  })
}

function stored(text: string): { hash: string; lastFour: string } {
  return { hash: hashOf(text), lastFour: text.slice(-4) }
}

function hashOf(text: string): string {
  return createHash("sha256").update(text).digest("hex")
}
