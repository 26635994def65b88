import { afterEach, expect, test, vi } from "vitest"
import { createProgram } from "../../src/commands/program.ts"
import { temporaryFolder } from "../support/temporary-folder.ts"
import { run, runJson } from "./command.ts"

interface ShownKey {
  id: number
  key: string
  environment: string
  plan: string
}

const keys = (...args: string[]) => createProgram().parseAsync(["keys", ...args], { from: "user" })
const json = <T>(...args: string[]) =>
  runJson<T>(async () => {
    await keys(...args, "--json")
  })

afterEach(() => {
  vi.unstubAllEnvs()
})

test("keys are made, listed and revoked in the environment that is named, each of which has its own", async () => {
  const folder = temporaryFolder()
  vi.stubEnv("HOME", folder)
  vi.stubEnv("XDG_DATA_HOME", folder)
  vi.stubEnv("SIGNALBOX_DB", "")
  const asked = ["--name", "ci", "--scope", "*", "--plan", "Professional"]
  const made = await json<ShownKey>("create", "--env", "test", ...asked)
  expect(made).toMatchObject({ environment: "test", plan: "pro" })
  const shown = { id: made.id, key: `signalbox_test_sk_…${made.key.slice(-4)}`, revoked_at: null }
  expect(await json("list", "--env", "test")).toMatchObject([shown])
  expect(await json("list")).toEqual([])
  const { error } = await run(async () => {
    await keys("revoke", String(made.id))
  })
  expect(error?.message).toContain(`key ${made.id} was not found`)
  expect(await json("revoke", String(made.id), "--env", "test")).toEqual({ id: made.id, revoked: true })
  expect(await json("list", "--env", "test")).toMatchObject([{ revoked_at: expect.any(String) }])
})
