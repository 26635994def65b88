/**
 * How the hook and the listener know each other: a token that opens the greeting and the hook and nothing
 * else, and a proof that is shown to whoever bears it. Both are new at each start of a listener, so the
 * files of one that crashed are worth nothing to whoever binds its port.
 */

import { createHash, timingSafeEqual } from "node:crypto"
import { GREETING_BODY, GREETING_PATH, PROOF_HEADER } from "../hook/proven-call.ts"
import { bearerOf } from "../operations/keys.ts"
import type { RawRoute } from "./route.ts"

export interface HookPass {
  token: string
  proof: string
}

const SECRET_BYTES = 32

/** Makes the pass of a listener that starts; `randomBytes` is the app's. */
export function makeHookPass(randomBytes: (count: number) => Uint8Array): HookPass {
  const secret = () => Buffer.from(randomBytes(SECRET_BYTES)).toString("base64url")
  return { token: `signalbox_hook_${secret()}`, proof: secret() }
}

/** Whether an `Authorization` header is Bearer and the hook token; takes the same time wherever the two differ. */
export function bearsHookToken(authorization: string | undefined, { token }: HookPass): boolean {
  return timingSafeEqual(digestOf(bearerOf(authorization ?? null) ?? ""), digestOf(token))
}

function digestOf(text: string): Buffer {
  return createHash("sha256").update(text).digest()
}

/** Returns the endpoint at which the hook and commands have the listener prove itself before they say more. */
export function greetingRoute({ proof }: HookPass): RawRoute {
  return {
    method: "GET",
    path: GREETING_PATH,
    api: "coordination",
    summary: "Prove to be the listener",
    description: "For the installed hook and the command line: the head of the answer shows the proof.",
    hookToken: "alone",
    isLimited: false,
    responses: { 200: { description: "A NUL byte" } },
    handle: async () =>
      new Response(GREETING_BODY, {
        headers: { "Content-Type": "application/octet-stream", "Content-Length": "1", [PROOF_HEADER]: proof },
      }),
  }
}
