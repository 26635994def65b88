/** Installing again over what an earlier version has installed, which knew no end of a turn. */

import { describe, expect, onTestFinished, test } from "vitest"
import { clientNamed } from "../../src/install/catalogue.ts"
import type { SettingsFile } from "../../src/install/client.ts"
import { REALISTIC_SETTINGS } from "./realistic-settings.ts"
import { createMachine, type TestMachine } from "./support.ts"

const CLIENTS = ["claude-code", "codex", "gemini", "copilot", "qwen-code"]

/** The events that earlier versions did not install. */
const isNew = (value: unknown) => JSON.stringify(value).includes(" turn-end")

/** Has a client be installed as an earlier version did. */
function installFormerly(machine: TestMachine, name: string): void {
  const client = clientNamed(name)
  const { files } = client
  onTestFinished(() => {
    client.files = files
  })
  client.files = (place) =>
    files(place).map((file): SettingsFile => {
      if (file.form !== "json") return file
      return { ...file, entries: file.entries.filter(({ value }) => !isNew(value)) }
    })
  machine.install(name, "user")
  client.files = files
}

function settingsOf(machine: TestMachine, name: string): string {
  const paths = clientNamed(name)
    .files(machine.place("user"))
    .map(({ path }) => path)
  return paths.map((path) => machine.read(path)).join("\n")
}

describe.each(CLIENTS)("%s", (name) => {
  test("has the new event after the next installation, and nothing of ours after an uninstallation", () => {
    const machine = createMachine()
    for (const { path, form } of clientNamed(name).files(machine.place("user"))) {
      const [, text] =
        Object.entries(REALISTIC_SETTINGS[name] ?? {}).find(([end]) => path.endsWith(end)) ?? []
      if (text !== undefined && form !== "owned") machine.write(path, text)
    }
    const original = machine.tree()
    installFormerly(machine, name)
    expect(settingsOf(machine, name)).not.toContain(" turn-end")
    machine.install(name, "user")
    expect(settingsOf(machine, name).match(/ turn-end/g)?.length).toBeGreaterThan(0)
    const once = machine.tree()
    machine.install(name, "user")
    expect(machine.tree(), "a third time changes nothing").toEqual(once)
    machine.uninstall(name, "user")
    expect(machine.tree()).toEqual(original)
  })
})
