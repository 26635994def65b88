/** GitHub Copilot CLI with a model provider of its own. Newer models edit by patches, over another API. */

import { addingPatch, type Driver, ourCall, patchText } from "../scenario/driver.ts"

export const copilot = driver("claude-sonnet-4.5", "completions", {
  edit: (place, { file, from, to }) => [
    { name: "edit", args: { path: place.path(file), old_str: from, new_str: to } },
  ],
  create: (place, file, text) => [{ name: "create", args: { path: place.path(file), file_text: text } }],
  forms: {
    create: (place) => [
      { calls: [{ name: "create", args: { path: place.path("src/auth/new.ts"), file_text: "new\n" } }] },
    ],
  },
})

export const copilotPatches = driver("gpt-5.4", "responses", {
  edit: (place, change) => [
    { name: "apply_patch", input: patchText(place, [change], (file) => place.path(file)) },
  ],
  editSeveral: (place, changes) => [
    { name: "apply_patch", input: patchText(place, changes, (file) => place.path(file)) },
  ],
  create: (place, file, text) => [{ name: "apply_patch", input: addingPatch(place.path(file), text) }],
})

function driver(
  model: string,
  api: "completions" | "responses",
  editing: Pick<Driver, "edit" | "create" | "editSeveral" | "forms">,
): Driver {
  return {
    id: `copilot:${model}`,
    title: `Copilot CLI, ${model}`,
    release: "copilot",
    client: "copilot",
    configure(place, modelUrl) {
      Object.assign(place.environment, {
        COPILOT_PROVIDER_BASE_URL: `${modelUrl}/v1`,
        COPILOT_PROVIDER_TYPE: "openai",
        COPILOT_PROVIDER_API_KEY: "none",
        COPILOT_PROVIDER_WIRE_API: api,
        COPILOT_MODEL: model,
        COPILOT_AUTO_UPDATE: "false",
        COPILOT_OFFLINE: "true",
      })
      place.writeHome(".copilot/mcp-config.json", '{\n    "mcpServers": {}\n}')
    },
    command: ({ words, prompt, resumes }) => ({
      words: [
        ...words,
        ...["-p", prompt, "--allow-all-tools", "--allow-all-paths", "--no-ask-user"],
        ...["--no-auto-update", "--disable-builtin-mcps"],
        ...(resumes ? ["--continue"] : []),
      ],
    }),
    isSide: ({ tools }) => tools.length < 4,
    resumes: true,
    ...editing,
    delegate: () => [
      {
        name: "task",
        args: {
          name: "rest",
          description: "rest",
          prompt: "rest",
          agent_type: "general-purpose",
          mode: "sync",
        },
      },
    ],
    shell: (command) => [{ name: "bash", args: { command, description: "run it" } }],
    background: (command) => [{ name: "bash", args: { command, description: "wait", mode: "async" } }],
    ours: (request, tool, args) => [ourCall(request, tool, { name: `signalbox-${tool}`, args })],
  }
}
