/** Codex, `codex exec` with a provider of its own. What its model knows of tools depends on the model's name. */

import type { Call, ScriptedTurn } from "../model/conversation.ts"
import { addingPatch, type Driver, ourCall, patchText } from "../scenario/driver.ts"
import { trust } from "./codex-trust.ts"

const SANDBOX = "danger-full-access"
const HELD = "src/auth/login.ts"

/** How a kind of model calls tools. */
interface Calling {
  patch(text: string): Call
  /** `folder` is where the command runs; the session's own by default. */
  shell(command: string, folder?: string): Call
  /** Returns before the command has ended. */
  background(command: string): Call
  ours: Driver["ours"]
  prelude?: readonly ScriptedTurn[]
  editsInShell?: true
}

const SEARCH: ScriptedTurn = {
  calls: [
    {
      name: "tool_search",
      isSearch: true,
      args: { query: "signalbox macro start session reserve file paths", limit: 10 },
    },
  ],
}

/** Tools by name; ours stand in a namespace, behind a search. */
const FUNCTIONS: Calling = {
  patch: (text) => ({ name: "apply_patch", input: text }),
  shell: (cmd, workdir) => ({ name: "exec_command", args: { cmd, workdir } }),
  background: (cmd) => ({ name: "exec_command", args: { cmd, yield_time_ms: 500 } }),
  ours: (request, tool, args) => [
    ourCall(request, tool, { name: tool.replaceAll("-", "_"), namespace: "mcp__signalbox", args }),
  ],
  prelude: [SEARCH],
}

/** A model without metadata of its own has no tool for patches, and hands them to its shell. */
const SHELL: Calling = {
  ...FUNCTIONS,
  patch: (text) => FUNCTIONS.shell(heredoc(text)),
  editsInShell: true,
}

/** One tool that runs code, in which all others are functions. */
const CODE: Calling = {
  patch: (text) => code("apply_patch", text),
  shell: (cmd, workdir) => code("exec_command", { cmd, workdir }),
  background: (cmd) => code("exec_command", { cmd, yield_time_ms: 500 }),
  ours: (_, tool, args) => [code(`mcp__signalbox__${tool.replaceAll("-", "_")}`, args)],
}

export const codex: Driver = { ...driver("gpt-5.5", FUNCTIONS), steps: { trust } }
export const codexCode = driver("gpt-6.1-sol", CODE)
export const codexShell = driver("gpt-5.1-codex", SHELL)

function driver(model: string, calling: Calling): Driver {
  return {
    id: `codex:${model}`,
    title: `Codex CLI, ${model}`,
    release: "codex",
    client: "codex",
    configure(place, modelUrl) {
      place.environment.MOCK_KEY = "none"
      place.writeHome(".codex/config.toml", settings(model, modelUrl, place.repository))
    },
    command: ({ words, prompt, resumes }) => ({
      words: [
        ...words,
        ...(resumes ? ["exec", "resume", "--last"] : ["exec", "-s", SANDBOX]),
        ...(resumes ? ["-c", `sandbox_mode="${SANDBOX}"`] : []),
        ...["--json", "--skip-git-repo-check", "-c", 'approval_policy="never"'],
        // Its user trusts the hooks once, on the screen that /hooks shows.
        ...["--dangerously-bypass-hook-trust", prompt],
      ],
    }),
    isSide: ({ tools }) => tools.length < 2,
    resumes: true,
    edit: (place, change) => [calling.patch(patchText(place, [change]))],
    editSeveral: (place, changes) => [calling.patch(patchText(place, changes))],
    create: (_, file, text) => [calling.patch(addingPatch(file, text))],
    shell: (command) => [calling.shell(command)],
    background: (command) => [calling.background(command)],
    ours: calling.ours,
    limits: { woken: "it tells its model of no command's end unless the model asks" },
    ...(calling.prelude !== undefined && { prelude: calling.prelude }),
    ...(calling.editsInShell && { editsInShell: true }),
    forms: {
      "apply_patch in the shell": (place) => [
        { calls: [calling.shell(heredoc(patchText(place, [{ file: HELD, from: "= 1", to: "= 5" }])))] },
      ],
      "apply_patch behind a pipe": (place) => [
        {
          calls: [
            calling.shell(
              `printf '%s\\n' '${patchText(place, [{ file: HELD, from: "= 1", to: "= 7" }])}' | apply_patch`,
            ),
          ],
        },
      ],
      "apply_patch in the shell in another folder": (place) => [
        {
          calls: [
            calling.shell(
              heredoc(
                patchText(place, [{ file: HELD, from: "= 1", to: "= 6" }], (file) =>
                  file.replace("src/", ""),
                ),
              ),
              place.path("src"),
            ),
          ],
        },
      ],
    },
  }
}

function heredoc(patch: string): string {
  return `apply_patch <<'EOF'\n${patch}\nEOF`
}

function code(tool: string, args: unknown): Call {
  return { name: "exec", namespace: "functions", input: `text(await tools.${tool}(${JSON.stringify(args)}))` }
}

function settings(model: string, modelUrl: string, repository: string): string {
  return `# mine
model = "${model}"
model_provider = "mock"   # and this comment
check_for_update_on_startup = false
[model_providers.mock]
name = "mock"
base_url = "${modelUrl}/v1"
env_key = "MOCK_KEY"
wire_api = "responses"
request_max_retries = 0
stream_max_retries = 0
[analytics]
enabled = false
[projects."${repository}"]
trust_level = "trusted"
`
}
