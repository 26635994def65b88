/** Qwen Code, a fork of Gemini CLI with Claude Code's events, on an OpenAI-compatible model. */

import { type Driver, offers, ourCall } from "../scenario/driver.ts"
import type { Place } from "../scenario/place.ts"

const HELD = "src/auth/login.ts"

export const qwenCode: Driver = {
  id: "qwen-code",
  title: "Qwen Code",
  release: "qwen-code",
  client: "qwen-code",
  configure(place, modelUrl) {
    Object.assign(place.environment, {
      OPENAI_API_KEY: "none",
      OPENAI_BASE_URL: `${modelUrl}/v1`,
      OPENAI_MODEL: "mock-model",
      QWEN_TELEMETRY_ENABLED: "false",
    })
    place.writeHome(
      ".qwen/settings.json",
      '{\n  "security": { "auth": { "selectedType": "openai" } },\n  "general": { "disableAutoUpdate": true },\n  "privacy": { "usageStatisticsEnabled": false }\n}\n',
    )
  },
  command: ({ words, prompt, resumes }) => ({
    words: [...words, "-p", prompt, "--yolo", "--auth-type", "openai", ...(resumes ? ["--continue"] : [])],
  }),
  isSide: (request) => !offers(request, "edit"),
  resumes: true,
  edit: (place, { file, from, to }) => [
    read(place, file),
    { name: "edit", args: { file_path: place.path(file), old_string: from, new_string: to } },
  ],
  create: (place, file, content) => [{ name: "write_file", args: { file_path: place.path(file), content } }],
  shell: (command) => [{ name: "run_shell_command", args: { command, is_background: false } }],
  background: (command) => [{ name: "run_shell_command", args: { command, is_background: true } }],
  ours: (request, tool, args) => [ourCall(request, tool, { name: `mcp__signalbox__${tool}`, args })],
  limits: {
    woken: "with -p it ends when its agent stops; at a terminal it reports the end of a background command",
    released: "with -p it calls no hook at its end; what it held is released as that of a dead session",
  },
  delegate: () => [
    {
      name: "agent",
      args: {
        description: "rest",
        prompt: "rest",
        subagent_type: "general-purpose",
        run_in_background: false,
      },
    },
  ],
  forms: {
    write_file: (place) => [
      {
        calls: [
          read(place, HELD),
          { name: "write_file", args: { file_path: place.path(HELD), content: "written\n" } },
        ],
      },
    ],
  },
}

function read(place: Place, file: string) {
  return { name: "read_file", args: { file_path: place.path(file) } }
}
