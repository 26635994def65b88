import { expect, test } from "vitest"
import { refusalIn } from "../support/golden-payloads.ts"
import {
  editOf,
  type HookForm,
  holderAt,
  listenerAt,
  runHook,
  SERVER_ENV,
  SILENT,
} from "../support/hook-process.ts"
import { place, ServerProcess } from "../support/server-process.ts"

const SERVERS = 8
const KILLS = 20

test(`the hook answers rightly while ${KILLS} listeners in a row are killed`, {
  timeout: 180_000,
}, async () => {
  const where = place()
  const servers = new Map<number, ServerProcess>()
  const { server: first } = await holderAt(where)
  servers.set(first.pid, first)
  const add = async () => {
    const server = await ServerProcess.start(where, { env: SERVER_ENV })
    servers.set(server.pid, server)
    await server.register(`Agent${server.pid}`)
  }
  while (servers.size < SERVERS) await add()

  let isOver = false
  const endless = async (check: (form: HookForm, turn: number) => Promise<void>) => {
    let turns = 0
    try {
      for (; !isOver; turns += 1) await check(turns % 10 === 9 ? "node" : "command", turns)
    } finally {
      isOver = true
    }
    return turns
  }
  const blocked = endless(async (form) => {
    refusalIn(await runHook(where, { form, payload: editOf(where, "src/auth/login.ts") }))
  })
  const allowed = endless(async (form, turn) => {
    const payload = editOf(where, `src/free-${turn % 7}.ts`, { session: "session-c" })
    expect(await runHook(where, { form, payload })).toEqual(SILENT)
  })

  const killing = (async () => {
    const killed: number[] = []
    try {
      while (killed.length < KILLS && !isOver) {
        const { pid } = await listenerAt(where, (one) => servers.has(one))
        const server = servers.get(pid)
        servers.delete(pid)
        await server?.kill()
        killed.push(pid)
        await listenerAt(where, (one) => servers.has(one))
        await add()
      }
    } finally {
      isOver = true
    }
    return killed
  })()

  const [blockedTurns, allowedTurns, killed] = await Promise.all([blocked, allowed, killing])
  expect(new Set(killed).size).toBe(KILLS)
  expect(Math.min(blockedTurns, allowedTurns), "turns of both loops").toBeGreaterThan(KILLS)
})
