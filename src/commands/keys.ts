/** `signalbox keys`: create, list, revoke. */

import type { Config } from "../config/config.ts"
import type { ApiKey, Environment, Plan } from "../domain/api-key.ts"
import { echoed } from "../domain/foreign-text/markdown.ts"
import { visibleLine } from "../domain/foreign-text/visible.ts"
import { parseIsoTime } from "../domain/iso-time.ts"
import { DAY_MS } from "../domain/time-units.ts"
import { invalid } from "../errors.ts"
import { allKeys, createKey, revokeKeyById } from "../operations/keys.ts"
import { isoTime } from "../operations/markdown.ts"
import { bold, type OutputOptions, printResult, table } from "./output.ts"
import { withApp } from "./with-app.ts"

interface CreateOptions extends OutputOptions {
  name: string
  scope: string[]
  env?: Environment
  plan: Plan
  expires?: string
}

export function createKeyCommand(config: Config, options: CreateOptions): Promise<void> {
  return withApp(config, async (app) => {
    const { key, text } = await createKey(app, {
      name: options.name,
      environment: options.env ?? config.environment,
      scopes: options.scope,
      plan: options.plan,
      expiresAtMs: options.expires === undefined ? null : expiryOf(options.expires, app.now()),
    })
    printResult(options, { ...keyJson(key), key: text }, () =>
      [
        bold(text),
        "",
        `Key ${key.id} (${visibleLine(key.name)}) is shown this once only. Give it to a server as SIGNALBOX_API_KEY.`,
        `Scopes: ${visibleLine(key.scopes.join(", "))}`,
        `Expires: ${key.expiresAtMs === null ? "never" : isoTime(key.expiresAtMs)}`,
      ].join("\n"),
    )
  })
}

export function listKeysCommand(config: Config, options: OutputOptions): Promise<void> {
  return withApp(config, async (app) => {
    const keys = await allKeys(app)
    printResult(options, keys.map(keyJson), () => {
      if (keys.length === 0)
        return "No keys yet. Servers without SIGNALBOX_API_KEY make a local one on first use."
      const rows = keys.map((key) => {
        const json = keyJson(key)
        return [
          String(key.id),
          visibleLine(key.name),
          json.key,
          visibleLine(key.scopes.join(" ")),
          key.plan,
          statusOf(key, app.now()),
          json.last_used_at ?? "never",
        ]
      })
      return table(["ID", "NAME", "KEY", "SCOPES", "PLAN", "STATUS", "LAST USED"], rows)
    })
  })
}

export function revokeKeyCommand(config: Config, id: number, options: OutputOptions): Promise<void> {
  return withApp(config, async (app) => {
    const key = await revokeKeyById(app, id)
    printResult(options, { id: key.id, revoked: true }, () =>
      key.isLocal
        ? `Key ${key.id} is revoked. The next server without a key makes a new local one.`
        : `Key ${key.id} (${visibleLine(key.name)}) is revoked. Servers that use it are refused from now on.`,
    )
  })
}

/** What may be shown of a key: never its secret. */
function keyJson(key: ApiKey) {
  const time = (value: number | null) => (value === null ? null : isoTime(value))
  return {
    id: key.id,
    name: key.name,
    key: `signalbox_${key.environment}_sk_…${key.lastFour}`,
    environment: key.environment,
    scopes: key.scopes,
    plan: key.plan,
    created_at: isoTime(key.createdAtMs),
    expires_at: time(key.expiresAtMs),
    revoked_at: time(key.revokedAtMs),
    last_used_at: time(key.lastUsedAtMs),
  }
}

function statusOf(key: ApiKey, nowMs: number): string {
  if (key.revokedAtMs !== null) return "revoked"
  return key.expiresAtMs !== null && key.expiresAtMs <= nowMs ? "expired" : "active"
}

/** Reads `90d` or an ISO 8601 time. */
function expiryOf(text: string, nowMs: number): number {
  const days = /^(\d{1,5})d$/.exec(text)?.[1]
  const timeMs = days === undefined ? parseIsoTime(text)?.startMs : nowMs + Number(days) * DAY_MS
  if (timeMs !== undefined) return timeMs
  throw invalid("expires", `${echoed(text)} is neither an ISO 8601 time nor a number of days such as 90d`)
}
