/**
 * One request to a receiver: its name is resolved, every address looked at, and the connection made to one of those and
 * no other. No redirect is followed, and nothing is kept of the answer but its status.
 */

import { lookup } from "node:dns/promises"
import { request as plainRequest } from "node:http"
import { request as tlsRequest } from "node:https"
import { isIP, type LookupFunction } from "node:net"
import { urlToHttpOptions } from "node:url"
import {
  WEBHOOK_ANSWER_BYTES_MAX,
  WEBHOOK_ANSWER_MS_MAX,
  WEBHOOK_BODY_MS_MAX,
} from "../../config/webhook-limits.ts"
import { type Reach, reachOf } from "../../domain/webhooks/address.ts"

interface Address {
  address: string
  family: number
}
/** Returns all addresses of a name. */
export type Resolve = (host: string) => Promise<readonly Address[]>

export interface Sending {
  url: string
  allowsPrivate: boolean
  headers: Readonly<Record<string, string>>
  body: string
}

/** What came of it; an error says in a few words why there is no status, and holds nothing of the address. */
export type Outcome = { status: number; retryAfterSeconds?: number } | { error: string }

export interface SendOptions {
  resolve?: Resolve
  answerMsMax?: number
  bodyMsMax?: number
  signal?: AbortSignal
}

const resolveBySystem: Resolve = (host) => lookup(host, { all: true, verbatim: true })

/** Sends a body to a receiver; never fails. */
export async function send(sending: Sending, options: SendOptions = {}): Promise<Outcome> {
  const { resolve = resolveBySystem, answerMsMax = WEBHOOK_ANSWER_MS_MAX } = options
  const stop = new AbortController()
  const breakOff = () => stop.abort()
  let isLate = false
  const timer = setTimeout(() => {
    isLate = true
    breakOff()
  }, answerMsMax)
  options.signal?.addEventListener("abort", breakOff)
  if (options.signal?.aborted === true) breakOff()
  try {
    const addresses = await unlessAborted(stop.signal, addressesOf(sending.url, resolve))
    const refusal = refusalOf(sending, addresses)
    if (refusal !== undefined) return { error: refusal }
    return await exchange(sending, addresses, stop.signal, options.bodyMsMax ?? WEBHOOK_BODY_MS_MAX)
  } catch (error) {
    return { error: isLate ? `no answer within ${answerMsMax / 1_000} s` : reasonOf(error) }
  } finally {
    clearTimeout(timer)
    options.signal?.removeEventListener("abort", breakOff)
  }
}

/** Why a body may not be sent to the addresses of a receiver; undefined where it may. */
function refusalOf({ url, allowsPrivate }: Sending, addresses: readonly Address[]): string | undefined {
  const reaches = new Set<Reach>(addresses.map(({ address }) => reachOf(address)))
  if (reaches.size === 0) return "its name has no address"
  if (reaches.has("unusable")) return "its name leads to an address that no receiver can have"
  if (reaches.has("private") && !allowsPrivate)
    return "its name leads to a private address, which was not allowed for it"
  if (new URL(url).protocol === "http:" && reaches.has("public"))
    return "its name leads to a public address, and http is for private ones only"
  return undefined
}

async function addressesOf(url: string, resolve: Resolve): Promise<readonly Address[]> {
  const host = new URL(url).hostname.replace(/^\[|\]$/g, "")
  const family = isIP(host)
  return family === 0 ? resolve(host) : [{ address: host, family }]
}

function exchange(
  { url, headers, body }: Sending,
  addresses: readonly Address[],
  signal: AbortSignal,
  bodyMsMax: number,
): Promise<Outcome> {
  const { protocol } = new URL(url)
  // What was looked at is what is connected to: nothing is resolved a second time.
  const pinned: LookupFunction = (_, { all }, done) => {
    const [first] = addresses
    if (all === true) done(null, [...addresses])
    else done(null, first?.address ?? "", first?.family)
  }
  return new Promise((resolve, reject) => {
    const request = (protocol === "http:" ? plainRequest : tlsRequest)({
      ...urlToHttpOptions(new URL(url)),
      method: "POST",
      // One of its own, which knows no proxy, and no connection that was made for another webhook.
      agent: false,
      lookup: pinned,
      signal,
      headers: { ...headers, "content-length": Buffer.byteLength(body), connection: "close" },
    })
    let fail: (error: Error) => void = reject
    request.on("error", (error) => fail(error))
    request.once("close", () => fail(Object.assign(new Error("no answer"), { code: "ECONNRESET" })))
    request.once("response", (response) => {
      const status = response.statusCode ?? 0
      const asked = Number(response.headers["retry-after"])
      const outcome = { status, ...(asked > 0 && { retryAfterSeconds: asked }) }
      let bytes = 0
      const end = () => {
        clearTimeout(timer)
        request.destroy()
        resolve(outcome)
      }
      // The status has come: whatever becomes of the rest takes nothing from it.
      fail = end
      const timer = setTimeout(end, bodyMsMax)
      response.on("data", (part: Buffer) => {
        bytes += part.length
        if (bytes > WEBHOOK_ANSWER_BYTES_MAX) end()
      })
      response.once("close", end)
      response.on("error", end)
    })
    request.end(body)
  })
}

function unlessAborted<T>(signal: AbortSignal, work: Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    work.then(resolve, reject)
    signal.throwIfAborted()
    signal.addEventListener("abort", () => reject(signal.reason as Error), { once: true })
  })
}

/** In words where that is a usual one; names and addresses that messages of Node hold are left out. */
function reasonOf(error: unknown): string {
  const { code, name } = error as NodeJS.ErrnoException
  return REASONS[code ?? name] ?? `it cannot be reached (${code ?? name})`
}

const REASONS: Record<string, string> = {
  ECONNREFUSED: "it refuses connections",
  ECONNRESET: "it broke the connection off",
  ENOTFOUND: "its name is not known",
  EAI_AGAIN: "its name cannot be resolved now",
  CERT_HAS_EXPIRED: "its certificate has expired",
}
