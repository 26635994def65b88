/** Claude Code, which takes the model's address from ANTHROPIC_BASE_URL. */

import type { Call, ScriptedTurn } from "../model/conversation.ts"
import { type Driver, offers } from "../scenario/driver.ts"
import { readIdentity } from "../scenario/holder.ts"
import type { Place } from "../scenario/place.ts"
import { tellsOfBlock } from "../scenario/seen.ts"
import type { Stage } from "../scenario/stage.ts"

const HELD = "src/auth/login.ts"
const ALLOWED = ["mcp__signalbox", "Edit", "Write", "Read", "NotebookEdit", "Agent", "Task", "Bash"]

export const claudeCode: Driver = {
  id: "claude-code",
  title: "Claude Code",
  release: "claude-code",
  client: "claude-code",
  configure(place, modelUrl) {
    Object.assign(place.environment, {
      ANTHROPIC_BASE_URL: modelUrl,
      ANTHROPIC_API_KEY: "none",
      CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1",
    })
    place.writeHome(".claude/settings.json", '{\n   "theme": "dark",\n   "hooks": { "PreToolUse": [ ] }\n}\n')
  },
  command: ({ words, prompt, resumes }) => ({
    words: [
      ...words,
      ...["-p", prompt, "--model", "claude-sonnet-4-5", "--permission-mode", "acceptEdits"],
      ...["--output-format", "stream-json", "--verbose"],
      ...(resumes ? ["--continue"] : []),
      ...["--allowedTools", ...ALLOWED],
    ],
  }),
  isSide: (request) => !offers(request, "Edit"),
  resumes: true,
  edit: (place, { file, from, to }) => [
    read(place, file),
    { name: "Edit", args: { file_path: place.path(file), old_string: from, new_string: to } },
  ],
  create: (place, file, text) => [write(place, file, text)],
  shell: (command) => [{ name: "Bash", args: { command, description: "run it", timeout: 100_000 } }],
  background: (command) => [
    { name: "Bash", args: { command, description: "wait", run_in_background: true } },
  ],
  ours: (_, tool, args) => [{ name: `mcp__signalbox__${tool}`, args }],
  prelude: [load("mcp__signalbox__macro-start-session,mcp__signalbox__reserve-file-paths")],
  delegate: () => [
    {
      name: "Agent",
      args: {
        description: "rest",
        prompt: "rest",
        subagent_type: "general-purpose",
        run_in_background: false,
      },
    },
  ],
  forms: {
    Write: (place) => [{ calls: [read(place, HELD)] }, { calls: [write(place, HELD, "written\n")] }],
  },
  steps: { notebook, subagent },
}

/** Its former generation offers all tools whole. */
export const claudeCodeFormer: Driver = {
  ...claudeCode,
  id: "claude-code:former",
  release: "claude-code-former",
}

/** Newer versions load the schemas of many tools on demand; where there is no search, nothing has to be done. */
function load(names: string): ScriptedTurn {
  return (request) =>
    offers(request, "ToolSearch")
      ? { calls: [{ name: "ToolSearch", args: { query: `select:${names}`, max_results: 5 } }] }
      : { calls: [{ name: "Bash", args: { command: "true", description: "nothing" } }] }
}

function read(place: Place, file: string): Call {
  return { name: "Read", args: { file_path: place.path(file) } }
}

function write(place: Place, file: string, content: string): Call {
  return { name: "Write", args: { file_path: place.path(file), content } }
}

/** A notebook that agent A holds; its cells have a tool of their own. */
async function notebook(stage: Stage): Promise<void> {
  const { place, model, holder, checks } = stage
  const file = "src/book.ipynb"
  const before = place.read(file)
  await holder.reserve(file)
  const args = { notebook_path: place.path(file), cell_id: "a", new_source: "2", edit_mode: "replace" }
  await stage.play("notebook", [
    load("NotebookEdit"),
    { calls: [read(place, file)] },
    { calls: [{ name: "NotebookEdit", args }] },
  ])
  checks.expect("blocked", "NotebookEdit: nothing changes", place.read(file) === before)
  const said = model.results(3)
  checks.expect("blocked", "NotebookEdit: the model is told", tellsOfBlock(said, holder.identity.name), said)
}

/** A sub-agent works under its session's name: what that holds it edits, what others hold it does not. */
async function subagent(stage: Stage): Promise<void> {
  const { place, holder, checks } = stage
  const [own, held] = ["src/sub.ts", "src/auth/sub.ts"]
  let [introduced, passed, refused] = ["", "", ""]
  await stage.play("subagent", [
    load("mcp__signalbox__macro-start-session,mcp__signalbox__macro-claim-cycle"),
    {
      calls: [
        {
          name: "mcp__signalbox__macro-start-session",
          args: {
            project_key: place.repository,
            program: "claude-code",
            model: "mock",
            file_paths: [own],
            exclusive: true,
          },
        },
      ],
    },
    ({ results }) => {
      introduced = results.join("\n")
      const args = { description: "edit", prompt: "edit", subagent_type: "general-purpose" }
      return { calls: [{ name: "Agent", args: { ...args, run_in_background: false } }] }
    },
    { calls: [write(place, own, "by the sub-agent\n")] },
    ({ results }) => {
      passed = results.join("\n")
      return { calls: [write(place, held, "by the sub-agent\n")] }
    },
    ({ results }) => {
      refused = results.join("\n")
      return {}
    },
  ])
  const isOwn = readIdentity(introduced) !== undefined && place.read(own) !== ""
  checks.expect("self", "a sub-agent edits what its session holds", isOwn, `${introduced} ${passed}`)
  const isBlocked = place.read(held) === "" && tellsOfBlock(refused, holder.identity.name)
  checks.expect("blocked", "a sub-agent is blocked by others, and told", isBlocked, refused)
}
