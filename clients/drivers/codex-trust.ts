/** Codex runs no hook before its user has trusted it on the screen that /hooks shows; this does what that screen does. */

import { spawn } from "node:child_process"
import { createInterface } from "node:readline"
import { type Fields, fieldsOf, objectsOf, stringOf } from "../model/json.ts"
import type { Place } from "../scenario/place.ts"
import { sessionTold, tellsOfBlock } from "../scenario/seen.ts"
import { Stage } from "../scenario/stage.ts"

const HELD = "src/auth/login.ts"
const BYPASS = "--dangerously-bypass-hook-trust"

/**
 * Without trust Codex says nothing and lets every edit pass, which doctor has to tell; once its hooks are trusted
 * they work, and doctor says so.
 */
export async function trust(stage: Stage): Promise<void> {
  const { place, holder, checks, words } = stage
  const careful = withoutBypass(stage)
  const change = { file: HELD, from: "= 1", to: "= 2" }
  const edit = () => [{ calls: stage.driver.edit(place, change) }]

  await careful.play("untrusted", edit())
  const isSilent = sessionTold(stage.model.requests[0]?.prompt ?? "") === undefined
  const before = await doctor(place)
  checks.expect(
    "blocked",
    "doctor tells of hooks without trust",
    isSilent && /Codex[^\n]*trust/.test(before) && !isContent(before),
    before,
  )

  place.reset()
  await trustHooks(words, place)
  await careful.play("trusted", edit())
  const said = stage.model.results(1)
  const isBlocked = place.read(HELD).includes("= 1") && tellsOfBlock(said, holder.identity.name)
  checks.expect("blocked", "trusted hooks block without any flag", isBlocked, said)
  const after = await doctor(place)
  checks.expect("blocked", "doctor then says that they are trusted", isContent(after), after)
}

/** Whether doctor is content with Codex's trust. */
function isContent(told: string): boolean {
  return /^✓ .*Codex trusts its hooks$/m.test(told)
}

function withoutBypass(stage: Stage): Stage {
  const { command } = stage.driver
  const driver: Stage["driver"] = {
    ...stage.driver,
    command: (asked) => ({ words: command(asked).words.filter((word) => word !== BYPASS) }),
  }
  return new Stage({ ...stage, driver })
}

/** Returns what doctor prints, whatever it thinks of it all. */
function doctor(place: Place): Promise<string> {
  return place.signalbox("doctor").catch((error: { stdout?: string }) => error.stdout ?? "")
}

/** Has Codex list its hooks, and stores the hash of each as trusted. */
async function trustHooks([program = "", ...words]: readonly string[], place: Place): Promise<void> {
  const child = spawn(program, [...words, "app-server"], {
    cwd: place.repository,
    env: place.environment,
    stdio: ["pipe", "pipe", "ignore"],
  })
  const answers = createInterface({ input: child.stdout })[Symbol.asyncIterator]()
  const ask = async (id: number, method: string, params: Fields): Promise<Fields> => {
    child.stdin.write(`${JSON.stringify({ id, method, params })}\n`)
    for (;;) {
      const { value, done } = await answers.next()
      if (done === true) throw new Error(`Codex's app server ended before it answered ${method}`)
      const answer = fieldsOf(JSON.parse(value))
      if (answer.id !== id) continue
      if (answer.error !== undefined) throw new Error(`${method}: ${JSON.stringify(answer.error)}`)
      return fieldsOf(answer.result)
    }
  }
  try {
    const clientInfo = { name: "harness", version: "1" }
    await ask(1, "initialize", { clientInfo, capabilities: { experimentalApi: true } })
    child.stdin.write(`${JSON.stringify({ method: "initialized" })}\n`)
    const { data } = await ask(2, "hooks/list", { cwds: [place.repository] })
    const hooks = objectsOf(data).flatMap((one) => objectsOf(one.hooks))
    const value = Object.fromEntries(
      hooks.map(({ key, currentHash }) => [stringOf(key), { trusted_hash: currentHash }]),
    )
    await ask(3, "config/batchWrite", {
      edits: [{ keyPath: "hooks.state", value, mergeStrategy: "upsert" }],
    })
  } finally {
    child.stdin.end()
    child.kill()
  }
}
