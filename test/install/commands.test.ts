/** `signalbox install` and `uninstall` as commands: which clients, where, and what is printed. */

import { existsSync, mkdirSync, statSync, writeFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { afterEach, expect, test, vi } from "vitest"
import { installCommand, uninstallCommand } from "../../src/commands/install.ts"
import { nextSteps } from "../../src/commands/welcome.ts"
import { type Config, readConfig } from "../../src/config/config.ts"
import { readHookSettings } from "../../src/config/hook-settings.ts"
import { setExclusive } from "../../src/install/exclusive.ts"
import { launcherWord } from "../../src/runtime/launcher.ts"
import { packageFile } from "../../src/runtime/package-root.ts"
import { createMachine, type TestMachine } from "./support.ts"

const packageFolder = dirname(packageFile("package.json"))
const around = dirname(packageFolder)

// Copying the hook needs a built package; what is about settings alone does not.
const hasHook = existsSync(packageFile("dist/hook.sh")) && existsSync(packageFile("dist/hook.cjs"))

afterEach(() => {
  vi.unstubAllEnvs()
  vi.restoreAllMocks()
})

function createUser(): { machine: TestMachine; config: Config; printed: () => string } {
  const machine = createMachine()
  const env = { XDG_DATA_HOME: join(machine.home, "data") }
  const config = readConfig({ env, home: machine.home, platform: "linux", workingFolder: machine.project })
  const lines: string[] = []
  vi.spyOn(process.stdout, "write").mockImplementation((text) => lines.push(String(text)) > 0)
  return { machine, config, printed: () => lines.splice(0).join("") }
}

test("without a name those clients are installed that are found, and uninstalled wherever they were", async () => {
  const { machine, config, printed } = createUser()
  mkdirSync(join(machine.home, ".gemini"))
  mkdirSync(join(machine.home, ".kiro"))
  const original = machine.tree()
  const options = { hook: false, json: true }
  await installCommand(config, [], options, machine.machine)
  await installCommand(config, ["cursor"], { ...options, scope: "project" }, machine.machine)
  const [user, project] = printed().split(/(?<=^\})\n/m)
  expect(JSON.parse(user ?? "").clients.map(({ client }: { client: string }) => client)).toEqual([
    "gemini",
    "kiro",
  ])
  expect(JSON.parse(project ?? "").clients[0]).toMatchObject({
    client: "cursor",
    scope: "project",
    root: machine.project,
    files: [{ action: "created", path: join(machine.project, ".cursor", "mcp.json"), reasons: [] }],
  })
  await uninstallCommand(config, [], {}, machine.machine)
  expect(printed()).toMatch(/Gemini CLI(.*\n)+.*Kiro(.*\n)+.*Cursor/)
  expect(machine.tree()).toEqual(original)
  await uninstallCommand(config, [], {}, machine.machine)
  expect(printed()).toBe("Nothing is installed.\n")
})

test("the launcher comes with the first client and goes with the last", async () => {
  const { machine, config } = createUser()
  const { launcher } = machine.machine
  await installCommand(config, ["cursor"], { hook: false, dryRun: true }, machine.machine)
  expect(existsSync(launcher)).toBe(false)
  await installCommand(config, ["cursor", "kiro"], { hook: false }, machine.machine)
  expect(statSync(launcher).mode & 0o777).toBe(0o700)
  await uninstallCommand(config, ["cursor"], {}, machine.machine)
  expect(existsSync(launcher)).toBe(true)
  await uninstallCommand(config, [], {}, machine.machine)
  expect(existsSync(dirname(launcher))).toBe(false)
})

// In the root of the file system there is no folder around the clone that could be a project.
test.skipIf(dirname(around) === around)(
  "a package of the project around is not installed, a clone is",
  async () => {
    const { machine, config } = createUser()
    vi.stubEnv("HOME", machine.home)
    const before = machine.tree()
    const from = (workingFolder: string) =>
      installCommand({ ...config, workingFolder }, ["cursor"], { hook: false }, machine.machine)
    await expect(from(around)).rejects.toMatchObject({
      code: "refused",
      message: expect.stringContaining(`the project around the current folder (${packageFolder})`),
      hint: expect.stringContaining("`cd ~ && npx -y signalbox install`"),
    })
    expect(machine.tree()).toEqual(before)
    expect(existsSync(machine.machine.launcher)).toBe(false)
    await from(join(packageFolder, "src"))
    expect(existsSync(machine.machine.launcher)).toBe(true)
  },
)

test("one scope can be uninstalled alone", async () => {
  const { machine, config } = createUser()
  for (const scope of ["user", "project"]) {
    await installCommand(config, ["cursor"], { hook: false, scope }, machine.machine)
  }
  await uninstallCommand(config, [], { scope: "project" }, machine.machine)
  expect(existsSync(join(machine.project, ".cursor"))).toBe(false)
  expect(existsSync(join(machine.home, ".cursor"))).toBe(true)
})

test("uninstall speaks of copies of changed files only where there are some", async () => {
  const { machine, config, printed } = createUser()
  const here = { hook: false }
  await installCommand(config, ["cursor"], here, machine.machine)
  printed()
  await uninstallCommand(config, [], {}, machine.machine)
  const none = printed()
  expect(none).toContain(`Your data stays in ${config.dataFolder}`)
  expect(none).not.toContain("Copies")
  mkdirSync(join(machine.home, ".cursor"), { recursive: true })
  writeFileSync(join(machine.home, ".cursor", "mcp.json"), '{"mcpServers": {}}')
  await installCommand(config, ["cursor"], here, machine.machine)
  await uninstallCommand(config, [], {}, machine.machine)
  expect(printed()).toContain("Copies of changed files stay beside them (*.signalbox.bak).")
})

test("what signalbox shows on a terminal tells how to install it until it is, and then where it is", async () => {
  const { machine, config } = createUser()
  vi.stubEnv("SIGNALBOX_LOG", "silent")
  const before = await nextSteps(config)
  expect(before).toContain("Give it to the coding agents")
  expect(before).toContain("mcpServers")
  await installCommand(config, ["cursor", "kiro"], { hook: false }, machine.machine)
  const after = await nextSteps(config)
  expect(after).toContain("✓ Installed in Cursor, Kiro")
  expect(after).toContain("Nobody is at work.")
  for (const gone of ["Give it", "mcpServers", "--dry-run"]) expect(after).not.toContain(gone)
})

test("a dry run prints a line for each file, with --diff the difference too, and says that nothing was written", async () => {
  const { machine, config, printed } = createUser()
  const original = machine.tree()
  await installCommand(config, ["codex"], { dryRun: true }, machine.machine)
  expect(printed()).toMatch(
    /^Codex CLI \(user\)\n {2}would be created {2}\S+config\.toml\n {2}would be created {2}\S+hooks\.json\n\nNothing was written/,
  )
  await installCommand(config, ["codex"], { diff: true }, machine.machine)
  expect(printed()).toMatch(/\+\[mcp_servers\.signalbox\](.*\n)+.*Nothing was written/)
  expect(machine.tree()).toEqual(original)
  expect(existsSync(join(machine.dataFolder, "hook"))).toBe(false)
})

test("install ends with the command that is there from now on, in words only, and only where it is", async () => {
  const { machine, config, printed } = createUser()
  const install = (options: object) =>
    installCommand(config, ["cursor"], { hook: false, ...options }, machine.machine)
  await install({ dryRun: true })
  expect(printed()).not.toContain("Your command")
  await install({ json: true })
  expect(() => JSON.parse(printed())).not.toThrow()
  await install({})
  expect(printed()).toContain(`\nYour command, in any shell: ${launcherWord(config.dataFolder)}\n`)
  await uninstallCommand(config, [], {}, machine.machine)
  expect(printed()).not.toContain("Your command")
})

test("--exclusive sets the hook's mode in the user's own file, which uninstall leaves", async () => {
  const { machine, config, printed } = createUser()
  const install = (options: object = {}) =>
    installCommand(config, ["cursor"], { hook: false, exclusive: true, ...options }, machine.machine)
  await install({ dryRun: true })
  expect(printed()).toContain(`would be created  ${config.userConfigPath}\n`)
  await install({ diff: true })
  expect(printed()).toContain('+    "preEdit": {')
  expect(existsSync(config.userConfigPath)).toBe(false)
  await install()
  expect(printed()).toContain(`created  ${config.userConfigPath}\n`)
  expect(readHookSettings(config.userConfigPath, undefined)).toMatchObject({
    settings: { defaultMode: "exclusive" },
    warnings: [],
  })
  expect(statSync(config.userConfigPath).mode & 0o777).toBe(0o600)
  const written = machine.read(config.userConfigPath)
  await install({ json: true })
  expect(JSON.parse(printed()).settings).toEqual({
    path: config.userConfigPath,
    action: "unchanged",
    reasons: [],
  })
  await uninstallCommand(config, [], {}, machine.machine)
  expect(printed()).toContain(`Your own settings stay in ${config.userConfigPath}.`)
  expect(machine.read(config.userConfigPath)).toBe(written)
})

test("--exclusive is done without any client, too, and then nothing else is", async () => {
  const { machine, config, printed } = createUser()
  await installCommand(config, [], { exclusive: true }, machine.machine)
  expect(printed()).toContain("No coding agent was found")
  expect(machine.read(config.userConfigPath)).toContain('"exclusive"')
  expect(existsSync(machine.machine.launcher)).toBe(false)
  machine.write(config.userConfigPath, '{ "hooks": 1 }')
  await expect(installCommand(config, [], { exclusive: true }, machine.machine)).rejects.toThrow(
    "not everything could be done for your own settings",
  )
  expect(printed()).toMatch(/config\.json:1 hooks must be an object/)
})

test.each([
  ["{}", '{\n  "hooks": {\n    "preEdit": {\n      "defaultMode": "exclusive"\n    }\n  }\n}', true],
  [" \n", '{\n  "hooks": {\n    "preEdit": {\n      "defaultMode": "exclusive"\n    }\n  }\n}\n', true],
  [
    '{"limits":{},"hooks":{"preEdit":{"defaultMode":"shared","enabled":true}}}',
    '{"limits":{},"hooks":{"preEdit":{"defaultMode":"exclusive","enabled":true}}}',
    true,
  ],
  [
    '{\n\t// mine\n\t"hooks": { "preEdit": {}, },\n}\n',
    '{\n\t// mine\n\t"hooks": { "preEdit": {\n\t\t"defaultMode": "exclusive"\n\t}, },\n}\n',
    false,
  ],
])("--exclusive changes nothing else in the user's own file: %j", (before, after, isEffective) => {
  const { machine, config } = createUser()
  machine.write(config.userConfigPath, before, 0o640)
  const { action, reasons } = setExclusive(config.userConfigPath, { isDryRun: false })
  expect(machine.read(config.userConfigPath)).toBe(after)
  expect(statSync(config.userConfigPath).mode & 0o777).toBe(0o640)
  expect([action, reasons.length === 0]).toEqual(["changed", isEffective])
  expect(setExclusive(config.userConfigPath, { isDryRun: false }).action).toBe("unchanged")
})

test("what the user still has to do is said when something changed", async () => {
  const { machine, config, printed } = createUser()
  const install = () => installCommand(config, ["cursor"], { hook: false }, machine.machine)
  await install()
  expect(printed()).toContain("→")
  await install()
  expect(printed()).not.toContain("→")
})

test("what a client does not trust yet is said each time, until it does, and not of what is not there", async () => {
  const { machine, config, printed } = createUser()
  const install = () => installCommand(config, ["gemini"], { scope: "project", hook: false }, machine.machine)
  await installCommand(config, ["codex"], { hook: false }, machine.machine)
  expect(printed()).not.toContain("/hooks")
  await install()
  expect(printed()).toContain("Gemini CLI does not trust this folder")
  await install()
  expect(printed()).toContain("Gemini CLI does not trust this folder")
  machine.write(
    join(machine.home, ".gemini", "trustedFolders.json"),
    JSON.stringify({ [machine.project]: "TRUST_FOLDER" }),
  )
  await install()
  expect(printed()).not.toContain("does not trust")
})

test.runIf(hasHook)("Codex's own question of trust is said with its hooks", async () => {
  const { machine, config, printed } = createUser()
  await installCommand(config, ["codex"], {}, machine.machine)
  expect(printed()).toMatch(/skips hooks without a word(.*\n)+.*open \/hooks and trust/)
})

test("the failure of one client does not stop the others, and fails the command at its end", async () => {
  const { machine, config, printed } = createUser()
  machine.write(join(machine.home, ".gemini", "settings.json"), "{")
  const command = installCommand(config, ["gemini", "cursor"], { hook: false }, machine.machine)
  await expect(command).rejects.toThrow("not everything could be done for Gemini CLI")
  expect(printed()).toMatch(/settings\.json:1 is no valid JSON(.*\n)+.*Cursor\S* .*\n.*created/)
  expect(existsSync(join(machine.home, ".cursor", "mcp.json"))).toBe(true)
})

test.each([
  ["is no TOML", "model = 'x'\n[mcp_servers\n", /config\.toml:2 is no valid TOML \(.+\)\. Correct the file/],
  ["is an array of tables", "[[mcp_servers]]\nname = 'x'\n", /config\.toml:1 has no place for/],
  ["is nested without end", `${Array(20_000).fill("a").join(".")} = 1\n`, /nested too deeply to be edited/],
])("a config.toml that %s is left as it is, with a reason and no stack", async (_, text, reason) => {
  const { machine, config, printed } = createUser()
  const path = join(machine.home, ".codex", "config.toml")
  machine.write(path, text)
  const command = installCommand(config, ["codex"], { hook: false }, machine.machine)
  await expect(command).rejects.toMatchObject({ code: "unavailable" })
  const output = printed()
  expect(output).toMatch(reason)
  expect(output).not.toMatch(/^\s+at /m)
  expect(machine.read(path)).toBe(text)
})

test.each<[string, string[], object, string]>([
  ["an unknown client", ["emacs"], {}, "client must be one of: claude-code, "],
  ["an unknown scope", ["cursor"], { scope: "team" }, "--scope must be one of: user, project"],
  ["neither servers nor hooks", ["cursor"], { mcp: false, hook: false }, "leave nothing to do together"],
  ["nobody on the machine", [], {}, "no coding agent was found on this machine"],
])("%s is refused", async (_, names, options, message) => {
  const { machine, config } = createUser()
  await expect(installCommand(config, names, options, machine.machine)).rejects.toThrow(message)
})

test("git hooks and project settings need a project", async () => {
  const { machine, config } = createUser()
  const atHome = { ...config, workingFolder: machine.home }
  const options = { hook: false, scope: "project" }
  await expect(installCommand(atHome, ["cursor"], options, machine.machine)).rejects.toThrow("is no project")
  await expect(installCommand(atHome, ["git"], {}, machine.machine)).rejects.toThrow("is in no git work tree")
})

test.runIf(hasHook)("the hook comes with the first client and goes with the last", async () => {
  const { machine, config } = createUser()
  const hook = join(machine.dataFolder, "hook", "hook.sh")
  await installCommand(config, ["cursor", "kiro"], {}, machine.machine)
  expect(existsSync(hook)).toBe(true)
  await uninstallCommand(config, ["cursor"], {}, machine.machine)
  expect(existsSync(hook)).toBe(true)
  await uninstallCommand(config, [], {}, machine.machine)
  expect(existsSync(hook)).toBe(false)
})
