/** Signatures of webhooks, as Standard Webhooks says (https://www.standardwebhooks.com). */

import { Webhook as Signer } from "standardwebhooks"

/** Returns the text of a secret made of random bytes. */
export function secretOf(bytes: Uint8Array): string {
  return `whsec_${Buffer.from(bytes).toString("base64")}`
}

/** Returns the headers by which a receiver knows who sent a body, and when. The id is the same at each try. */
export function signedHeaders(
  secret: string,
  { id, nowMs, body }: { id: string; nowMs: number; body: string },
): Record<string, string> {
  return {
    "webhook-id": id,
    "webhook-timestamp": String(Math.floor(nowMs / 1_000)),
    "webhook-signature": new Signer(secret).sign(id, new Date(nowMs), body),
  }
}
