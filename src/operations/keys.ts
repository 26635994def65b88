/** Making, finding and revoking API keys. */

import { createHash } from "node:crypto"
import { renameSync, rmSync, writeFileSync } from "node:fs"
import {
  type ApiKey,
  type Environment,
  formatApiKey,
  isScope,
  isWellFormedApiKey,
  keyRefusal,
  type Plan,
  SCOPE_FORMS,
} from "../domain/api-key.ts"
import { AppError, invalid } from "../errors.ts"
import {
  findKeyByHash,
  findKeyById,
  findLocalKey,
  insertKey,
  listKeys,
  revokeKey,
  touchKey,
} from "../store/keys.ts"
import type { App } from "./app.ts"

/** A key's last use is written at most this often. */
const LAST_USE_STEP_MS = 60_000
const KEY_NAME_CHARS_MAX = 100

/** Returns the key that the configuration names, or the local one; fails with `unauthenticated`. */
export async function authenticate(app: App): Promise<ApiKey> {
  const key =
    app.config.apiKey === undefined ? await localKey(app) : await configuredKey(app, app.config.apiKey)
  const nowMs = app.now()
  if (key.lastUsedAtMs === null || nowMs - key.lastUsedAtMs >= LAST_USE_STEP_MS)
    await touchKey(app.db, key.id, nowMs)
  return key
}

async function configuredKey(app: App, text: string): Promise<ApiKey> {
  if (text === "") throw unauthenticated("SIGNALBOX_API_KEY is set but empty")
  if (!isWellFormedApiKey(text))
    throw unauthenticated("SIGNALBOX_API_KEY is not a key of this form, check for a typo")
  const key = await findKeyByHash(app.db, hashOf(text))
  if (key === undefined) throw unauthenticated("the key in SIGNALBOX_API_KEY is unknown here")
  const refusal = keyRefusal(key, app.config.environment, app.now())
  if (refusal !== null) throw unauthenticated(refusal)
  return key
}

function unauthenticated(why: string): AppError {
  return new AppError(
    "unauthenticated",
    `tenant authentication required; a valid API token must be supplied (${why})`,
    {
      hint: "Ask your user to set SIGNALBOX_API_KEY to a key made with `signalbox keys create`, or to unset it to use the local key.",
    },
  )
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
    const made = await findLocalKey(tx, environment)
    if (made !== undefined) return made
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
    // Written while the lock is held, so that the file and the row are always the same key's.
    const file = localKeyPath(app.config.databasePath)
    rmSync(`${file}.new`, { force: true })
    writeFileSync(`${file}.new`, `${text}\n`, { mode: 0o600, flag: "wx" })
    renameSync(`${file}.new`, file)
    return key
  })
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
    if (!isScope(scope)) throw invalid("scope", `"${scope}" has none of the forms: ${SCOPE_FORMS}`)
  }
  if (request.expiresAtMs !== null && request.expiresAtMs <= app.now())
    throw invalid("expires", "must lie in the future")
  const text = formatApiKey(request.environment, app.randomBytes(32))
  const key = await app.db.transaction("keys", (tx) =>
    insertKey(tx, { ...request, ...stored(text), isLocal: false }, app.now()),
  )
  return { key, text }
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
        hint: "Run `signalbox keys list` to see the ids.",
      })
    }
    await revokeKey(tx, id, app.now())
    return key
  })
}

function stored(text: string): { hash: string; lastFour: string } {
  return { hash: hashOf(text), lastFour: text.slice(-4) }
}

function hashOf(text: string): string {
  return createHash("sha256").update(text).digest("hex")
}
