/** A wait for mail in the background of the client's shell: its end wakes the agent, where the client reports that. */

import { setTimeout as delay } from "node:timers/promises"
import { posixQuoted } from "../../src/runtime/shell-quoting.ts"
import { SIGNALBOX } from "./place.ts"
import { sessionTold } from "./seen.ts"
import type { Stage } from "./stage.ts"

/** By then it waits: a client that is asked once only may end the session as soon as its agent stops. */
const STARTED_MS = 3_000
/** By then the agent has stopped: it has nothing to do but to print. */
const STOPPED_MS = 3_000
/** A client that is never woken ends by itself, or when the wait does. */
const WAIT = "25s"
const FREE = "src/free.ts"
const SUBJECT = "WAKING-SUBJECT"
const STOPPED = "I have nothing else to do"

/** Ordinary mail comes once the agent has stopped. */
export async function wake(stage: Stage): Promise<void> {
  const { driver, place, model, holder, checks } = stage
  if (driver.background === undefined) return
  const command = [process.execPath, SIGNALBOX, "wait", "--timeout", WAIT].map(posixQuoted).join(" ")
  let sent: Promise<void> | undefined
  let isSent = false
  let told: string | undefined
  await stage.play("wake", [
    { calls: driver.edit(place, { file: FREE, from: "free", to: "awake" }) },
    { calls: driver.background(command) },
    async (request) => {
      await delay(STARTED_MS)
      const agentId = sessionTold(request.prompt)?.agentId
      if (agentId !== undefined) sent = delay(STOPPED_MS).then(() => holder.mail(agentId, SUBJECT, "normal"))
      sent = sent?.then(() => {
        isSent = true
      })
      return { text: STOPPED }
    },
    ({ prompt }) => {
      if (isSent) told = prompt.slice(prompt.lastIndexOf(STOPPED) + STOPPED.length)
      return {}
    },
  ])
  await sent
  const started = model.results(2)
  const seen = told ?? `${model.requests.length} requests; the shell said ${started}`
  checks.expect("woken", "the end of a wait in the background wakes the agent", told !== undefined, seen)
  if (told !== undefined)
    checks.note("woken", told.includes(SUBJECT) ? "yes, with the mail" : "yes, reads its output")
}
