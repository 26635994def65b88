/** OpenCode, `opencode run` with an OpenAI-compatible provider. It offers patches to models called gpt alone. */

import { addingPatch, type Driver, offers, ourCall, patchText } from "../scenario/driver.ts"
import type { Place } from "../scenario/place.ts"

const HELD = "src/auth/login.ts"

export const opencode = driver("mock-model", {
  edit: (place, { file, from, to }) => [
    read(place, file),
    { name: "edit", args: { filePath: place.path(file), oldString: from, newString: to } },
  ],
  create: (place, file, content) => [{ name: "write", args: { filePath: place.path(file), content } }],
  forms: {
    write: (place) => [
      { calls: [read(place, HELD)] },
      { calls: [{ name: "write", args: { filePath: place.path(HELD), content: "written\n" } }] },
    ],
    "write by a relative path": () => [
      { calls: [{ name: "write", args: { filePath: "src/auth/new.ts", content: "new\n" } }] },
    ],
  },
})

export const opencodePatches = driver("gpt-5", {
  edit: (place, change) => [{ name: "apply_patch", args: { patchText: patchText(place, [change]) } }],
  editSeveral: (place, changes) => [{ name: "apply_patch", args: { patchText: patchText(place, changes) } }],
  create: (_, file, text) => [{ name: "apply_patch", args: { patchText: addingPatch(file, text) } }],
})

function driver(model: string, editing: Pick<Driver, "edit" | "create" | "editSeveral" | "forms">): Driver {
  return {
    id: `opencode:${model}`,
    title: `OpenCode, ${model}`,
    release: "opencode",
    client: "opencode",
    configure(place, modelUrl) {
      Object.assign(place.environment, {
        OPENCODE_DISABLE_AUTOUPDATE: "1",
        OPENCODE_DISABLE_MODELS_FETCH: "1",
        OPENCODE_DISABLE_LSP_DOWNLOAD: "1",
        OPENCODE_DISABLE_SHARE: "1",
      })
      // With any plugin there it asks npm for packages, and where no network is it asks again for 70 s.
      place.writeHome(".npmrc", "fetch-retries=0\n")
      place.writeHome(".config/opencode/opencode.json", JSON.stringify(settings(model, modelUrl), null, 2))
    },
    command: ({ words, prompt, resumes }) => ({
      words: [
        ...words,
        ...["run", "--print-logs", "--log-level", "INFO"],
        ...(resumes ? ["--continue"] : []),
        prompt,
      ],
    }),
    isSide: (request) => !["edit", "apply_patch", "write"].some((name) => offers(request, name)),
    resumes: true,
    ...editing,
    limits: { push: "`opencode run` ends with its answer, and its plugins hear of a turn's end only then" },
    shell: (command) => [{ name: "bash", args: { command, description: "run it" } }],
    ours: (request, tool, args) => [ourCall(request, tool, { name: `signalbox_${tool}`, args })],
  }
}

function read(place: Place, file: string) {
  return { name: "read", args: { filePath: place.path(file) } }
}

function settings(model: string, modelUrl: string): object {
  const limit = { context: 200_000, output: 8_000 }
  return {
    $schema: "https://opencode.ai/config.json",
    autoupdate: false,
    share: "disabled",
    model: `mock/${model}`,
    small_model: `mock/${model}`,
    provider: {
      mock: {
        npm: "@ai-sdk/openai-compatible",
        name: "Mock",
        options: { baseURL: `${modelUrl}/v1`, apiKey: "none" },
        models: { [model]: { name: "Mock", tool_call: true, limit } },
      },
    },
    permission: "allow",
  }
}
