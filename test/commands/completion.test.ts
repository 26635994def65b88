import { execFileSync } from "node:child_process"
import { writeFileSync } from "node:fs"
import { join } from "node:path"
import { describe, expect, test } from "vitest"
import { type CommandShape, completionScript } from "../../src/commands/completion.ts"
import { createProgram, shapeOf } from "../../src/commands/program.ts"
import { temporaryFolder } from "../support/temporary-folder.ts"

const PROGRAM = shapeOf(createProgram())

function commandPaths(command: CommandShape, path: readonly string[] = []): string[][] {
  return command.commands.flatMap((child) => [
    [...path, child.name],
    ...commandPaths(child, [...path, child.name]),
  ])
}

/** Returns what bash offers at the end of a line. */
function offered(...words: string[]): string[] {
  const folder = temporaryFolder()
  const script = `${completionScript(PROGRAM, "bash")}
COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _signalbox; printf '%s\\n' "\${COMPREPLY[@]}"`
  const file = join(folder, "complete.bash")
  writeFileSync(file, script)
  execFileSync("bash", ["-n", file])
  return execFileSync("bash", ["--norc", file, "signalbox", ...words], { encoding: "utf8", cwd: folder })
    .split("\n")
    .filter((word) => word !== "")
}

describe("bash completes", () => {
  test("the commands that begin so", () => {
    expect(offered("res").sort()).toEqual(["reservations", "reserve", "restore"])
    expect(offered("")).toEqual(PROGRAM.commands.map((command) => command.name))
  })

  test("the commands below a command, and the values of an argument", () => {
    expect(offered("keys", "")).toEqual(["create", "list", "revoke"])
    expect(offered("override", "ap")).toEqual(["approve"])
    expect(offered("repos", "")).toEqual(["add", "list", "sync", "remove"])
    expect(offered("install", "cl")).toEqual(["claude-code", "cline", "cline-editor"])
    expect(offered("completion", "")).toEqual(["bash", "zsh", "fish"])
  })

  test("the options of a command, with those that count everywhere", () => {
    expect(offered("reserve", "src", "--").sort()).toEqual(
      ["--agent", "--db", "--duration", "--help", "--json", "--mode", "--reason"].sort(),
    )
    expect(offered("override", "src/a.ts", "--re")).toEqual(["--reason"])
    expect(offered("keys", "list", "--")).toEqual(["--env", "--json", "--help", "--db"])
    expect(offered("repos", "sync", "--"), "what is hidden is not offered").toEqual([
      "--json",
      "--help",
      "--db",
    ])
  })

  test("the values of an option, and leaves files to bash where they are open", () => {
    expect(offered("reserve", "--mode", "")).toEqual(["shared", "exclusive"])
    expect(offered("reserve", "--mode", "e")).toEqual(["exclusive"])
    expect(offered("reserve", "--reason", "re")).toEqual([])
    expect(offered("reserve", "s")).toEqual([])
  })
})

describe.each(["bash", "zsh", "fish"] as const)("the script for %s", (shell) => {
  const script = completionScript(PROGRAM, shell)

  test("knows every command and every option", () => {
    for (const path of commandPaths(PROGRAM)) expect(script).toContain(path.at(-1))
    for (const flag of ["--mode", "--reason", "--dry-run"])
      expect(script).toContain(shell === "fish" ? ` -l ${flag.slice(2)} ` : flag)
  })

  test("quotes what descriptions say", () => {
    const evil = { ...PROGRAM, commands: [{ ...PROGRAM, name: "x", description: "it's $(touch y) `z` \\'" }] }
    const quoted = completionScript(evil, shell)
    if (shell === "fish") expect(quoted).toContain("-d 'it\\'s $(touch y) `z` \\\\\\''")
    if (shell === "zsh") expect(quoted).toContain("'x:it'\\''s $(touch y) `z` \\'\\'''")
    expect(quoted).not.toBe(script)
  })
})
