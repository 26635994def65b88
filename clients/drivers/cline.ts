/** Cline's command line with an OpenAI-compatible provider. It leaves a daemon behind, which ends with the namespace. */

import { type Driver, ourCall } from "../scenario/driver.ts"

export const cline: Driver = {
  id: "cline",
  title: "Cline CLI",
  release: "cline",
  client: "cline",
  async configure(place, modelUrl, [program = "", ...words]) {
    Object.assign(place.environment, {
      CLINE_TELEMETRY_DISABLED: "1",
      CLINE_NO_AUTO_UPDATE: "1",
    })
    const provider = ["-p", "openai-compatible", "-k", "none", "-m", "mock-model", "-b", `${modelUrl}/v1`]
    await place.run(program, [...words, "auth", ...provider])
  },
  command: ({ words, prompt }) => ({
    words: [...words, "--auto-approve", "true", "--verbose", "--json", prompt],
  }),
  isSide: ({ tools }) => tools.length < 3,
  resumes: false,
  // From the second run on it is this one that asks the model, calls the hook and starts our server.
  daemon: "--cline-hub-daemon",
  edit: (place, { file, from, to }) => [
    { name: "editor", args: { path: place.path(file), old_text: from, new_text: to } },
  ],
  create: (place, file, text) => [{ name: "editor", args: { path: place.path(file), new_text: text } }],
  shell: (command) => [{ name: "run_commands", args: { commands: [command] } }],
  ours: (request, tool, args) => [ourCall(request, tool, { name: `signalbox__${tool}`, args })],
  limits: { push: "its plugins hear of a turn's end only when nothing can keep the agent at work any more" },
  forms: {
    "a new file": (place) => [
      { calls: [{ name: "editor", args: { path: place.path("src/auth/new.ts"), new_text: "new\n" } }] },
    ],
    "a relative path": () => [
      { calls: [{ name: "editor", args: { path: "src/auth/other.ts", new_text: "new\n" } }] },
    ],
  },
}
