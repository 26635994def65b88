/** What clients have to be told to trust: what is read of it, and what of it goes with our hooks. */

import { join } from "node:path"
import { describe, expect, test } from "vitest"
import { clientNamed } from "../../src/install/catalogue.ts"
import { createMachine, type TestMachine } from "./support.ts"

/**
 * What Codex 0.169 itself makes of our hooks (`hooks/list` of its app server). A definition that changes asks every user
 * for trust again, so these change only where that is wanted.
 */
const HASHES = {
  "pre_tool_use:0:0": "sha256:67072e33ee0b13dd3113bb13e0ee1b275a09eba4586600ce4953e5775668d6dd",
  "post_tool_use:0:0": "sha256:2695dacb48aed639295009f7603e28c5ef6c086478a78f34038324241c55492b",
  "session_start:0:0": "sha256:738127eb329d0eb9b65c425afce412fc7d00cc405582c2b81017f6c4e783ae56",
  "session_end:0:0": "sha256:a0227b40aab5dca18229fd1d1dfd5ef83c4a3e11e79b414c5a97fd5d05171ff1",
  "user_prompt_submit:0:0": "sha256:ea13b383fc34d42d46a2c11baa3dfa7f9988e5a0c403b06200a5ac4bf9f75871",
  "stop:0:0": "sha256:e95164f3a2a9f774e97390b5ac11dba62e532fb94cffbdd39a8612c48e7b2f8a",
}

const hooksOf = (machine: TestMachine, root = machine.home) => join(root, ".codex", "hooks.json")
const configOf = (machine: TestMachine) => join(machine.home, ".codex", "config.toml")

/** Writes trust as Codex does: behind everything else. */
function trustCodex(machine: TestMachine, hashes: Record<string, string>, hooks = hooksOf(machine)): void {
  const tables = Object.entries(hashes).map(
    ([place, hash]) => `\n[hooks.state."${hooks}:${place}"]\ntrusted_hash = "${hash}"\n`,
  )
  machine.write(configOf(machine), `${machine.read(configOf(machine))}\n[hooks.state]\n${tables.join("")}`)
}

function trustOf(machine: TestMachine, client: string, scope: "user" | "project" = "user") {
  return clientNamed(client).trust?.(machine.place(scope))
}

describe("Codex", () => {
  test("trusts our hooks when it knows each of them as it is", () => {
    const machine = createMachine()
    expect(trustOf(machine, "codex")).toBeUndefined()
    machine.install("codex", "user")
    trustCodex(machine, HASHES)
    expect(trustOf(machine, "codex")).toMatchObject({ isGiven: true })
  })

  test("that was never asked is told of, with what to do", () => {
    const machine = createMachine()
    machine.install("codex", "user")
    const trust = trustOf(machine, "codex")
    expect(trust).toMatchObject({
      isGiven: false,
      text: expect.stringContaining("them: 6 not trusted yet (of 6)"),
    })
    expect(trust?.advice).toContain("/hooks")
  })

  test("that trusted an earlier definition, or has a hook switched off, is told of", () => {
    const machine = createMachine()
    machine.install("codex", "user")
    trustCodex(machine, { ...HASHES, "pre_tool_use:0:0": "sha256:0" })
    expect(trustOf(machine, "codex")?.text).toMatch(/: 1 trusted as they were before \(of 6\)$/)
    machine.write(
      configOf(machine),
      machine.read(configOf(machine)).replace(/(?<=sha256:0"\n)/, "enabled = false\n"),
    )
    expect(trustOf(machine, "codex")?.text).toMatch(/: 1 switched off \(of 6\)$/)
  })

  test("that trusts what an earlier version has installed is told of the hook that has come since", () => {
    const machine = createMachine()
    machine.install("codex", "user")
    const { "stop:0:0": _, ...earlier } = HASHES
    trustCodex(machine, earlier)
    const trust = trustOf(machine, "codex")
    expect(trust).toMatchObject({
      isGiven: false,
      text: expect.stringContaining(": 1 not trusted yet (of 6)"),
    })
    expect(trust?.advice).toContain("open /hooks and trust the hooks of signalbox")
  })

  test("knows our hooks by their place among others", () => {
    const machine = createMachine()
    const theirs = { hooks: { PreToolUse: [{ hooks: [{ type: "command", command: "mine" }] }] } }
    machine.write(hooksOf(machine), JSON.stringify(theirs))
    machine.install("codex", "user")
    const { "pre_tool_use:0:0": ofEdits, ...others } = HASHES
    trustCodex(machine, { ...others, "pre_tool_use:0:0": "sha256:theirs" })
    expect(trustOf(machine, "codex")?.text).toContain("1 not trusted yet")
    machine.write(
      configOf(machine),
      `${machine.read(configOf(machine))}[hooks.state."${hooksOf(machine)}:pre_tool_use:1:0"]\ntrusted_hash = "${ofEdits}"\n`,
    )
    expect(trustOf(machine, "codex")).toMatchObject({ isGiven: true })
    machine.uninstall("codex", "user")
    const left = machine.read(configOf(machine))
    expect(left).toContain("sha256:theirs")
    expect(left.match(/trusted_hash/g)).toHaveLength(1)
  })

  test("needs a project to be trusted before its hooks", () => {
    const machine = createMachine()
    machine.install("codex", "project")
    expect(trustOf(machine, "codex", "project")?.text).toContain("does not trust this project")
    machine.write(configOf(machine), `[projects."${machine.project}"]\ntrust_level = "trusted"\n`)
    expect(trustOf(machine, "codex", "project")?.text).toContain("6 not trusted yet")
    trustCodex(machine, HASHES, hooksOf(machine, machine.project))
    expect(trustOf(machine, "codex", "project")).toMatchObject({ isGiven: true })
  })

  test("whose files cannot be read is taken for one that trusts nothing", () => {
    const machine = createMachine()
    machine.install("codex", "user")
    machine.write(configOf(machine), "[[")
    expect(trustOf(machine, "codex")).toMatchObject({ isGiven: false })
    machine.write(
      hooksOf(machine),
      `{ "hooks": { "PreToolUse": 1, "SessionStart": [null, { "hooks": [3] }] } }`,
    )
    expect(trustOf(machine, "codex")).toBeUndefined()
  })
})

describe("uninstalling from Codex", () => {
  const MINE = `model = "x"\n\n[projects."/srv/app"]\ntrust_level = "trusted"\n`

  test.each([
    ["with a file of the user's", MINE],
    ["with line breaks at its end", `${MINE}\n\n`],
    ["without any", undefined],
  ])("takes what Codex trusted of ours with it, %s", (_, text) => {
    const machine = createMachine()
    if (text !== undefined) machine.write(configOf(machine), text)
    const original = machine.tree()
    machine.install("codex", "user")
    trustCodex(machine, HASHES)
    machine.uninstall("codex", "user")
    expect(machine.tree()).toEqual(original)
  })

  test("leaves all other trust, and whatever else Codex wrote since", () => {
    const machine = createMachine()
    machine.write(configOf(machine), MINE)
    machine.install("codex", "user")
    trustCodex(machine, { ...HASHES, "pre_compact:0:0": "sha256:other" })
    machine.write(configOf(machine), `${machine.read(configOf(machine))}\n[tui]\ntheme = "dark"\n`)
    machine.uninstall("codex", "user")
    expect(machine.read(configOf(machine))).toBe(
      `${MINE}\n[hooks.state]\n\n[hooks.state."${hooksOf(machine)}:pre_compact:0:0"]\ntrusted_hash = "sha256:other"\n\n[tui]\ntheme = "dark"\n`,
    )
  })

  test("goes by what is taken out: the hooks alone, or the server alone", () => {
    const machine = createMachine()
    machine.install("codex", "user")
    trustCodex(machine, HASHES)
    machine.uninstall("codex", "user", { roles: ["mcp"] })
    expect(machine.read(configOf(machine)).match(/trusted_hash/g)).toHaveLength(6)
    machine.install("codex", "user", { roles: ["mcp"] })
    machine.uninstall("codex", "user", { roles: ["hook"] })
    expect(machine.read(configOf(machine))).not.toContain("trusted_hash")
    expect(machine.read(configOf(machine))).toContain("[mcp_servers.signalbox]")
  })
})

describe("a folder", () => {
  test.each([
    ["nothing is said", undefined, false],
    ["it is listed", (root: string) => ({ trustedFolders: ["/elsewhere", root] }), true],
    ["one around it is listed", (root: string) => ({ trustedFolders: [join(root, "..")] }), true],
    ["one beside it is listed", (root: string) => ({ trustedFolders: [`${root}-2`] }), false],
    ["an earlier version listed it", (root: string) => ({ trusted_folders: [root] }), true],
    ["the list is none", () => ({ trustedFolders: 3 }), false],
  ])("is trusted by Copilot when %s: %s", (_, settings, isGiven) => {
    const machine = createMachine()
    if (settings !== undefined) {
      const text = JSON.stringify(settings(machine.project))
      machine.write(join(machine.home, ".copilot", "config.json"), `// managed automatically\n${text}`)
    }
    machine.install("copilot", "project")
    expect(trustOf(machine, "copilot", "project")).toMatchObject({ isGiven })
    expect(trustOf(machine, "copilot", "project")?.advice).toContain("--trust-folder")
    expect(trustOf(machine, "copilot")).toBeUndefined()
  })

  test.each<[string, (root: string) => object, boolean]>([
    ["nothing is said of it", () => ({}), false],
    ["it is trusted", (root) => ({ [root]: "TRUST_FOLDER" }), true],
    ["the folder of one beside it is trusted", (root) => ({ [`${root}-2`]: "TRUST_PARENT" }), true],
    ["one beside it is trusted", (root) => ({ [`${root}-2`]: "TRUST_FOLDER" }), false],
    [
      "it is not, within one that is",
      (root) => ({ [root]: "DO_NOT_TRUST", [join(root, "..")]: "TRUST_FOLDER" }),
      false,
    ],
    ["the rule is unknown", (root) => ({ [root]: "SOMETHING" }), false],
  ])("is taken by Gemini as its rules say when %s", (_, rules, isGiven) => {
    const machine = createMachine()
    const text = JSON.stringify(rules(machine.project))
    machine.write(join(machine.home, ".gemini", "trustedFolders.json"), text)
    expect(trustOf(machine, "gemini", "project")).toMatchObject({ isGiven })
    expect(trustOf(machine, "gemini", "project")?.advice).toContain("GEMINI_CLI_TRUST_WORKSPACE")
    expect(trustOf(machine, "gemini")).toBeUndefined()
  })

  test("is asked about by Qwen Code only where its user has switched that on", () => {
    const machine = createMachine()
    const settings = join(machine.home, ".qwen", "settings.json")
    expect(trustOf(machine, "qwen-code", "project")).toBeUndefined()
    machine.write(settings, `{ "security": { "folderTrust": { "enabled": true } } }`)
    expect(trustOf(machine, "qwen-code", "project")).toMatchObject({ isGiven: false })
    expect(trustOf(machine, "qwen-code", "user")).toBeUndefined()
    const trusted = JSON.stringify({ [machine.project]: "TRUST_FOLDER" })
    machine.write(join(machine.home, ".qwen", "trustedFolders.json"), trusted)
    expect(trustOf(machine, "qwen-code", "project")).toMatchObject({ isGiven: true })
  })

  test.each([
    ["qwen-code", "user", ".qwen/settings.json"],
    ["gemini", "project", ".gemini/settings.json"],
    ["copilot", "project", ".copilot/config.json"],
    ["codex", "user", ".codex/hooks.json"],
  ] as const)(
    "is read of %s in %s scope as if nothing were said where its file is none",
    (client, scope, path) => {
      const machine = createMachine()
      machine.write(join(machine.home, path, "file"), "")
      expect(trustOf(machine, client, scope)?.isGiven ?? false).toBe(false)
    },
  )

  test("is trusted by Gemini where its user does without, or the environment says so", () => {
    const machine = createMachine()
    const settings = `{ // mine\n "security": { "folderTrust": { "enabled": false } } }`
    machine.write(join(machine.home, ".gemini", "settings.json"), settings)
    expect(trustOf(machine, "gemini", "project")).toMatchObject({ isGiven: true })
    const inEnvironment = (value: string) => {
      const { trust } = clientNamed("gemini")
      const other = createMachine("linux", { GEMINI_CLI_TRUST_WORKSPACE: value })
      return trust?.(other.place("project"))
    }
    expect(inEnvironment("true")).toMatchObject({ isGiven: true })
    expect(inEnvironment("false")).toMatchObject({ isGiven: false })
  })
})
