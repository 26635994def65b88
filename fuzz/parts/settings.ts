/** Configuration: the user's file, the project's file and the environment, then the hook with both in force. */

import { mkdirSync, writeFileSync } from "node:fs"
import { dirname, join } from "node:path"
import fc from "fast-check"
import { remove } from "../../scripts/removal.ts"
import { ENVIRONMENT_VARIABLES, readConfig } from "../../src/config/config.ts"
import { HOOK_SETTINGS_DEFAULT } from "../../src/config/hook-settings.ts"
import { RATES_DEFAULT } from "../../src/config/limits.ts"
import { AppError } from "../../src/errors.ts"
import { answerHook } from "../../src/hook/decide.ts"
import { localKey } from "../../src/operations/keys.ts"
import { definePart } from "../support/part.ts"
import { type LiveRoom, roomTarget } from "../support/room.ts"
import { require, requireDiscreet } from "../support/texts.ts"
import { anything, brokenBytes, brokenJson, number, text } from "../support/values.ts"
import { pattern } from "./patterns.ts"

interface Input {
  user: Uint8Array
  project: Uint8Array
  environment: Record<string, string>
  file: string
}

const flag = fc.oneof({ weight: 5, arbitrary: fc.boolean() }, { weight: 1, arbitrary: anything })
const patternList = fc.oneof(
  { weight: 5, arbitrary: fc.array(pattern, { maxLength: 12 }) },
  { weight: 1, arbitrary: pattern.map((one) => Array<string>(800).fill(one)) },
  { weight: 1, arbitrary: anything },
)
const preEdit = fc.record(
  Object.fromEntries(
    Object.entries(HOOK_SETTINGS_DEFAULT).map(([name, value]) => {
      if (typeof value === "boolean") return [name, flag]
      if (Array.isArray(value)) return [name, patternList]
      return [
        name,
        fc.oneof(fc.constantFrom<unknown>("shared", "exclusive", 1, 60, 28_800, 28_801), anything),
      ]
    }),
  ),
  { requiredKeys: [] },
)
const settingsJson = fc
  .record(
    {
      hooks: fc.oneof(
        fc.record({
          preEdit: fc.oneof({ weight: 6, arbitrary: preEdit }, { weight: 1, arbitrary: anything }),
        }),
        anything,
      ),
      limits: fc.oneof(
        fc.dictionary(fc.constantFrom(...Object.keys(RATES_DEFAULT), "__proto__"), number),
        anything,
      ),
      memory: fc.oneof(
        fc.record({ halfLifeDays: fc.dictionary(fc.constantFrom("semantic", "episodic", "x"), number) }),
        anything,
      ),
      documentation: fc.oneof(
        fc.record({ ignore: patternList, hosts: anything }, { requiredKeys: [] }),
        anything,
      ),
      identity: fc.oneof(fc.constantFrom("open", "session"), anything),
      database: anything,
    },
    { requiredKeys: [] },
  )
  .map((value) => JSON.stringify(value))
const file = fc.oneof(
  { weight: 6, arbitrary: settingsJson.map((json) => Buffer.from(json)) },
  { weight: 1, arbitrary: brokenJson(settingsJson).map((json) => Buffer.from(json)) },
  { weight: 1, arbitrary: brokenBytes(settingsJson.map((json) => Buffer.from(json))) },
)
const variables = ENVIRONMENT_VARIABLES.map(([name]) => name)
/** What the environment of a process can hold. */
const variable = fc
  .oneof(fc.constantFrom("on", "off", "live", "test", "0", "65536", "debug", "Alice", "demo"), text)
  .map((value) => value.replaceAll("\0", ""))

const PROJECT_FILE = ".signalbox.json"

export const settings = definePart<Input>({
  name: "settings",
  weight: 5,
  batch: 150,
  async open(makeRoom) {
    const room = await makeRoom()
    return {
      inputs: fc.record({
        user: file,
        project: file,
        environment: fc.dictionary(fc.constantFrom(...variables), variable, {
          maxKeys: 4,
          noNullPrototype: true,
        }),
        file: fc.constantFrom("src/app.ts", "docs/limits.md", "package-lock.json", "dist/a.js"),
      }),
      begin: async (seed) => {
        const target = await roomTarget(room, seed, apply)
        const end = async () => {
          await target.end()
          remove(join(room.home, ".config"))
          remove(join(room.repository, PROJECT_FILE))
        }
        return { ...target, end }
      },
    }
  },
})

async function apply(live: LiveRoom, input: Input): Promise<number> {
  const { app, caller } = live.call
  const { userConfigPath } = app.config
  mkdirSync(dirname(userConfigPath), { recursive: true })
  writeFileSync(userConfigPath, input.user)
  writeFileSync(join(live.room.repository, PROJECT_FILE), input.project)
  try {
    const { warnings } = readConfig({
      env: input.environment,
      home: live.room.home,
      workingFolder: live.room.repository,
    })
    requireDiscreet(warnings.join("\n"), "a warning")
  } catch (error) {
    if (!(error instanceof AppError)) throw error
    requireDiscreet(error.text, "the configuration's error")
  }
  const key = await localKey(app)
  const session = { session: undefined, folder: undefined, homeRepository: undefined }
  const context = {
    app,
    key,
    nowMs: app.now(),
    caller: { ...caller, ...session, surface: "http" as const, key },
  }
  const payload = JSON.stringify({
    session_id: "b",
    cwd: live.room.repository,
    hook_event_name: "PreToolUse",
    tool_name: "Write",
    tool_input: { file_path: join(live.room.repository, input.file), content: "x" },
  })
  const { exitCode, stdout, stderr } = await answerHook(context, {
    client: "claude-code",
    event: "pre-edit",
    payload,
  })
  live.requireNothingLogged("the hook")
  require(exitCode === 0 || exitCode === 2, () => `the hook ends with ${exitCode}`)
  requireDiscreet(stdout + stderr, "the hook")
  return 2
}
