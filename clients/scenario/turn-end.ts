/** Mail that comes in the middle of a turn: it reaches the model before its agent stops, and keeps nobody at work. */

import { PUSH_MARK } from "../../src/hook/payload/prompt.ts"
import type { ScriptedTurn } from "../model/conversation.ts"
import { sessionTold } from "./seen.ts"
import type { Stage } from "./stage.ts"

/** How often signalbox keeps an agent from stopping between two prompts. */
const PUSHES_MAX = 2

/** Urgent mail each time that the agent is about to stop: twice it is handed over, then the agent is let go. */
export async function turnEnd(stage: Stage): Promise<void> {
  const { driver, model, holder, checks } = stage
  let agentId: number | undefined
  const subject = (number: number) => `PUSHED-SUBJECT-${number}`
  const urgent = (number: number): ScriptedTurn => {
    return async (request) => {
      agentId ??= sessionTold(request.prompt)?.agentId
      if (agentId !== undefined) await holder.mail(agentId, subject(number))
      return {}
    }
  }
  await stage.play("turn-end", [{ calls: driver.shell("true") }, urgent(1), urgent(2), urgent(3)])
  const prompts = model.requests.map(({ prompt }) => prompt)
  const seen = `${prompts.length} requests: ${prompts
    .slice(2)
    .map((prompt) => prompt.slice(-300))
    .join(" | ")}`
  for (const number of [1, 2]) {
    const before = prompts[number] ?? ""
    const after = prompts[number + 1] ?? ""
    const isHanded = !before.includes(subject(number)) && after.includes(subject(number))
    checks.expect("push", `urgent mail reaches the model before it stops (${number})`, isHanded, seen)
  }
  const isLetGo = prompts.length === 2 + PUSHES_MAX && !prompts.at(-1)?.includes(subject(3))
  checks.expect("push", "the agent is not kept from stopping a third time", isLetGo, seen)
  if (!driver.resumes || agentId === undefined) return
  await holder.mail(agentId, "ORDINARY-SUBJECT", "normal")
  await stage.play("turn-end-resumed", [{ calls: driver.shell("true") }], true)
  const { prompt = "" } = model.requests.at(-1) ?? {}
  const told = prompt.split("ORDINARY-SUBJECT").length - 1
  const start = prompt.slice(Math.max(0, prompt.lastIndexOf("signalbox: you are")))
  const isMentioned = told === 1 || (told === 0 && /Unread mail: [1-9]/.test(start))
  checks.expect(
    "push",
    "ordinary mail is mentioned with the next prompt, once",
    isMentioned,
    `${told} ${start}`,
  )
}

/** A sub-agent that stops is handed nothing; its session's agent is, before that stops itself. */
export async function subAgentEnd(stage: Stage): Promise<void> {
  const { driver, model, holder, checks } = stage
  if (driver.delegate === undefined) return
  const subject = "BESIDE-SUBJECT"
  let agentId: number | undefined
  await stage.play("sub-agent-end", [
    (request) => {
      agentId = sessionTold(request.prompt)?.agentId
      return { calls: driver.delegate?.() ?? [] }
    },
    // The sub-agent's own turn.
    async () => {
      if (agentId !== undefined) await holder.mail(agentId, subject)
      return driver.delegated ?? { text: "the sub-agent is done" }
    },
  ])
  const [sub, outer, last] = model.requests.slice(1).map(({ prompt }) => prompt)
  const isHanded = [PUSH_MARK, subject].every((text) => last?.includes(text))
  const seen = model.requests
    .slice(1)
    .map(({ prompt }) => prompt.slice(-300))
    .join(" | ")
  const isPassed = sub !== undefined && outer !== undefined && !outer.includes(PUSH_MARK)
  checks.expect("push", "a sub-agent that stops is handed nothing", isPassed, seen)
  checks.expect("push", "its session's agent is, before it stops itself", isHanded, seen)
}
