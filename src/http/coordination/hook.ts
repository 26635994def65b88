/** The endpoint of the hook: the payload goes in, what the hook prints and how it ends comes out. */

import { HOOK_BODY_BYTES_MAX } from "../../config/limits.ts"
import { answerHook } from "../../hook/decide.ts"
import { HOOK_PATH, readHookCall, writeHookAnswer } from "../../hook/wire.ts"
import type { RawRoute } from "../route.ts"

export const hookRoute: RawRoute = {
  method: "POST",
  path: HOOK_PATH,
  api: "coordination",
  summary: "Decide on an edit",
  description:
    "For the installed hook only: takes a client's payload as it is, and answers with an exit code and the texts of both streams.",
  // It acts for any session of this machine, which no narrower key may.
  permission: "everything",
  hookToken: "too",
  isLimited: false,
  bodyBytesMax: HOOK_BODY_BYTES_MAX,
  responses: { 200: { description: "The exit code, stdout, a line that breaks, stderr" } },
  async handle(context, request) {
    const call = readHookCall(request.headers, await request.text())
    const startedMs = performance.now()
    const answer = await answerHook(context, call)
    const tookMs = performance.now() - startedMs
    const text = writeHookAnswer(answer)
    return new Response(text, {
      headers: {
        "Content-Type": "text/plain; charset=utf-8",
        // A shell reads no chunks.
        "Content-Length": String(Buffer.byteLength(text)),
        "Server-Timing": `decision;dur=${tookMs.toFixed(2)}`,
      },
    })
  },
}
