import { CommanderError } from "commander"
import { expect, test } from "vitest"
import type { CommandShape } from "../../src/commands/completion.ts"
import { createProgram, shapeOf } from "../../src/commands/program.ts"
import { listenToStderr } from "./command.ts"

/** Returns the words that call each command. */
function pathsOf(command: CommandShape, path: readonly string[] = []): string[][] {
  return [[...path], ...command.commands.flatMap((child) => pathsOf(child, [...path, child.name]))]
}

test.each([
  ["--mode", "shared"],
  ["--duration", "30m"],
])("waiting for mail refuses %s, which is for a path", async (option, value) => {
  const told = listenToStderr()
  const called = createProgram().parseAsync(["wait", option, value], { from: "user" })
  await expect(called).rejects.toBeInstanceOf(CommanderError)
  expect(told.text).toBe(
    `signalbox: option "${option}" is only for a path: name it with "--released <path>". \`signalbox wait --help\` says what there is.\n`,
  )
})

test.each(pathsOf(shapeOf(createProgram())).map((path) => [path.join(" "), path] as const))(
  "wrong use of signalbox %s is told in one line, with what was wrong and where to look",
  async (_, path) => {
    const told = listenToStderr()
    await expect(
      createProgram().parseAsync([...path, "--no-such-thing"], { from: "user" }),
    ).rejects.toBeInstanceOf(CommanderError)
    expect(told.text).toMatch(
      /^signalbox: (unknown option "--no-such-thing"|required option "--.+" not specified)\. `.* --help` says what there is\.\n$/,
    )
  },
)
