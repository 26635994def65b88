/** The command line and the hook's forms: with whatever is typed, read from stdin, or found beside the database. */

import { writeFileSync } from "node:fs"
import { dirname, join } from "node:path"
import fc from "fast-check"
import type { CommandShape } from "../../src/commands/completion.ts"
import { createProgram, shapeOf } from "../../src/commands/program.ts"
import { CLIENT_NAMES, HOOK_EVENTS } from "../../src/hook/client-names.ts"
import { hookFolder, placeHookFiles } from "../../src/hook/files.ts"
import { listenerPaths } from "../../src/http/listener-files.ts"
import { packageFile } from "../../src/runtime/package-root.ts"
import { ended, environmentIn } from "../support/child.ts"
import { definePart } from "../support/part.ts"
import type { Room } from "../support/room.ts"
import { beginning, require, requireDiscreet } from "../support/texts.ts"
import { anything, brokenBytes, brokenJson, rarely, text } from "../support/values.ts"

const BINARY = packageFile("bin/signalbox.js")
/** What never ends by itself, fetches models, or is fuzzed elsewhere. */
const EXCLUDED = ["serve", "demo", "model", "install", "uninstall", "help"]
const EXIT_CODE_MAX = 9
const PAYLOAD = Buffer.from(
  '{"session_id":"b","cwd":".","tool_name":"Write","tool_input":{"file_path":"a.ts","content":"x"}}',
)

interface Input {
  program: "signalbox" | "hook.sh" | "hook.cjs"
  args: string[]
  stdin: Uint8Array
  /** What stands in the files in which a listener says where it is. */
  record: string | undefined
  pass: string | undefined
}

/** No argument leads out of the room: some commands write where they are told to. */
const argument = fc
  .oneof(
    fc.constantFrom("src/app.ts", "src/**", "lever", "1", "repository", "-", "--", "thr_1", "Alice"),
    text,
  )
  .map((value) =>
    value
      .replaceAll("\0", "")
      .replaceAll("..", ".")
      .replace(/^[/~]+/, ""),
  )

function callsOf(shape: CommandShape, path: readonly string[]): fc.Arbitrary<string[]>[] {
  const inner = shape.commands.filter(({ name }) => !EXCLUDED.includes(name))
  if (shape.commands.length > 0) return inner.flatMap((child) => callsOf(child, [...path, child.name]))
  const flags = shape.options
    .filter(({ flag, isGlobal }) => !isGlobal && flag !== "--help")
    .map(({ flag, takesValue, choices }) => {
      if (!takesValue) return fc.constant([flag])
      const value = choices.length === 0 ? argument : fc.oneof(fc.constantFrom(...choices), argument)
      return value.map((one) => [flag, one])
    })
  const some = flags.length === 0 ? fc.constant([]) : fc.array(fc.oneof(...flags), { maxLength: 3 })
  return [
    fc
      .tuple(fc.array(argument, { maxLength: 2 }), some)
      .map(([given, options]) => [...path, ...given, ...options.flat()]),
  ]
}

const record = fc
  .record(
    {
      url: fc.oneof(
        fc.constantFrom("http://127.0.0.1:1", "http://127.0.0.1:99999", "file:///etc", "x"),
        anything,
      ),
      pid: fc.oneof(fc.constantFrom(1, 0, -1, process.pid), anything),
      started_at: anything,
      token: anything,
    },
    { requiredKeys: [] },
  )
  .map((value) => JSON.stringify(value))
const pass = fc
  .array(
    fc.constantFrom(
      "port=1\n",
      "token=\n",
      'url = "http://127.0.0.1:1/"\n',
      "1\n",
      "a\n",
      "\n",
      "\0",
      "-K /x\n",
      "proof=x",
    ),
    {
      maxLength: 6,
    },
  )
  .map((all) => all.join(""))
const memory = fc
  .record(
    {
      id: anything,
      content: fc.oneof(fc.constant("A lever."), anything),
      sector: anything,
      tags: anything,
      created_at: anything,
    },
    { requiredKeys: [] },
  )
  .map((value) => JSON.stringify(value))
const lines = fc
  .array(fc.oneof(memory, brokenJson(memory)), { maxLength: 5 })
  .map((all) => Buffer.from(all.join("\n")))

export const commands = definePart<Input>({
  name: "commands",
  weight: 5,
  batch: 20,
  isSlow: true,
  async open(makeRoom) {
    const room = await makeRoom()
    const calls = callsOf(shapeOf(createProgram()), [])
    const typed = fc.oneof(
      { weight: 12, arbitrary: fc.oneof(...calls) },
      { weight: 1, arbitrary: fc.array(argument, { minLength: 1, maxLength: 3 }) },
    )
    const beside = {
      record: rarely(fc.oneof(record, brokenJson(record)), 3, undefined),
      pass: rarely(fc.oneof(pass, text), 3, undefined),
    }
    const command = fc.record({
      program: fc.constant("signalbox" as const),
      args: typed,
      stdin: rarely(fc.oneof(lines, brokenBytes(lines)), 4, new Uint8Array()),
      ...beside,
    })
    const hook = fc.record({
      program: fc.constantFrom("hook.sh" as const, "hook.cjs" as const),
      args: fc.tuple(fc.constantFrom<string>(...CLIENT_NAMES), fc.constantFrom<string>(...HOOK_EVENTS)),
      stdin: fc.constant(PAYLOAD),
      record: beside.record,
      pass: fc.oneof(
        pass,
        brokenBytes(pass.map((one) => Buffer.from(one))).map((bytes) =>
          Buffer.from(bytes).toString("latin1"),
        ),
      ),
    })
    const inputs: fc.Arbitrary<Input> = fc.oneof(
      { weight: 4, arbitrary: command },
      { weight: 1, arbitrary: hook },
    )
    return { inputs, begin: async () => ({ run: (input) => type(room, input), end: async () => {} }) }
  },
})

async function type(room: Room, input: Input): Promise<number> {
  const { program, args } = input
  if (args.some((one) => EXCLUDED.includes(one))) return 0
  const databasePath = room.databaseCopy()
  const paths = listenerPaths(databasePath)
  if (input.record !== undefined) writeFileSync(paths.record, input.record)
  if (input.pass !== undefined) writeFileSync(paths.curl, input.pass)
  const dataFolder = dirname(databasePath)
  if (program !== "signalbox") placeHookFiles(dataFolder)
  const path = program === "signalbox" ? BINARY : join(hookFolder(dataFolder), program)
  const file = program === "hook.sh" ? "/bin/sh" : process.execPath
  const env = environmentIn(room, databasePath)
  const { code, stdout, stderr } = await ended(file, [path, ...args], room.repository, env, input.stdin)
  room.discard(databasePath)
  const where = `${program} ${beginning(args.join(" "))}`
  const isCode = program === "signalbox" ? code !== null && code <= EXIT_CODE_MAX : code === 0 || code === 2
  require(isCode, () => `${where} ends with ${code}: ${beginning(stderr)}`)
  require(!stderr.includes("failed unexpectedly"), () => `${where} is a defect: ${beginning(stderr)}`)
  requireDiscreet(stdout, where)
  requireDiscreet(stderr, where)
  return 1
}
