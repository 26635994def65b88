/** Gemini CLI, which takes the model's address from GOOGLE_GEMINI_BASE_URL. */

import { type Driver, offers, ourCall } from "../scenario/driver.ts"

const HELD = "src/auth/login.ts"

const SETTINGS = `{
  // mine
  "security": { "auth": { "selectedType": "gemini-api-key" } },
  "general": { "enableAutoUpdate": false },
  "privacy": { "usageStatisticsEnabled": false }
}
`

export const gemini: Driver = {
  id: "gemini",
  title: "Gemini CLI",
  release: "gemini",
  client: "gemini",
  configure(place, modelUrl) {
    Object.assign(place.environment, {
      GOOGLE_GEMINI_BASE_URL: modelUrl,
      GEMINI_API_KEY: "none",
      GEMINI_TELEMETRY_ENABLED: "false",
      GEMINI_CLI_TRUST_WORKSPACE: "true",
    })
    place.writeHome(".gemini/settings.json", SETTINGS)
  },
  command: ({ words, prompt, resumes }) => ({
    words: [
      ...words,
      ...["-p", prompt, "--yolo", "-m", "gemini-2.5-flash"],
      ...(resumes ? ["--resume", "latest"] : []),
    ],
  }),
  isSide: (request) => !offers(request, "replace"),
  resumes: true,
  edit: (place, { file, from, to }) => [
    {
      name: "replace",
      args: {
        file_path: place.path(file),
        instruction: "change it",
        old_string: from,
        new_string: to,
        allow_multiple: false,
      },
    },
  ],
  create: (place, file, content) => [{ name: "write_file", args: { file_path: place.path(file), content } }],
  shell: (command) => [{ name: "run_shell_command", args: { command } }],
  background: (command) => [{ name: "run_shell_command", args: { command, is_background: true } }],
  ours: (request, tool, args) => [ourCall(request, tool, { name: `mcp_signalbox_${tool}`, args })],
  delegate: () => [{ name: "invoke_agent", args: { agent_name: "generalist", prompt: "rest" } }],
  delegated: { calls: [{ name: "complete_task", args: { result: { response: "done" } } }] },
  limits: {
    woken:
      "with -p it ends when its agent stops; at a terminal it reports the end of a background command where its user has set that",
  },
  forms: {
    write_file: (place) => [
      { calls: [{ name: "write_file", args: { file_path: place.path(HELD), content: "written\n" } }] },
    ],
    "write_file by a relative path": () => [
      { calls: [{ name: "write_file", args: { file_path: HELD, content: "written\n" } }] },
    ],
  },
}
