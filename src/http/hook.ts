/** The endpoint of the hook: the payload goes in, what the hook prints and how it ends comes out. */

import { answerHook } from "../hook/decide.ts"
import { HOOK_PATH, readHookRequest, writeHookAnswer } from "../hook/wire.ts"
import { HOOK_BODY_BYTES_MAX } from "../limits.ts"
import { forbidden } from "../operations/admission.ts"
import type { RawRoute } from "./route.ts"

export const hookRoute: RawRoute = {
  method: "POST",
  path: HOOK_PATH,
  api: "coordination",
  summary: "Decide on an edit",
  description:
    "For the installed hook only: takes a client's payload as it is, and answers with an exit code and the texts of both streams.",
  isLimited: false,
  bodyBytesMax: HOOK_BODY_BYTES_MAX,
  responses: { 200: { description: "The exit code, stdout, a line that breaks, stderr" } },
  async handle(context, request) {
    // It acts for any session of this machine, which no narrower key may.
    if (!context.key.scopes.includes("*")) throw forbidden("*")
    const payload = await request.text()
    const startedMs = performance.now()
    const answer = await answerHook(context, readHookRequest(request.headers, payload))
    const tookMs = performance.now() - startedMs
    return new Response(writeHookAnswer(answer), {
      headers: {
        "Content-Type": "text/plain; charset=utf-8",
        "Server-Timing": `decision;dur=${tookMs.toFixed(2)}`,
      },
    })
  },
}
