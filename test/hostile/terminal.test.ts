import { expect, test } from "vitest"
import { listOverridesCommand } from "../../src/commands/coordination/override.ts"
import { reservationsCommand } from "../../src/commands/coordination/reservations.ts"
import { listRepositoriesCommand } from "../../src/commands/documentation/repos.ts"
import { createKeyCommand, listKeysCommand } from "../../src/commands/keys.ts"
import { listMemoriesCommand, searchMemoriesCommand } from "../../src/commands/memory/lists.ts"
import { exportMemoriesCommand } from "../../src/commands/memory/transfer.ts"
import { statusCommand } from "../../src/commands/status.ts"
import { createLog } from "../../src/runtime/log.ts"
import { configIn, presentWorld, run } from "../commands/command.ts"
import { numberAfter } from "../support/world.ts"
import { HOSTILE } from "./corpus.ts"
import { expectVisible } from "./examine.ts"
import { SLOW_MACHINE_MS } from "./tools.ts"

/** What a file of UTF-8 can hold and every field takes. */
const STORABLE = HOSTILE.filter((one) => /\S/.test(one) && !/\0|\p{Cs}/u.test(one) && one.length <= 500)

test(
  "commands print no text of others so that it acts, and JSON says what it said",
  async () => {
    const where = presentWorld()
    const session = await where.session()
    const { id, projectId, repositoryId } = await session.register("Ada")
    for (const [index, text] of STORABLE.entries()) {
      const reserved = await session.call("reserve-file-paths", {
        agent_id: id,
        repository_id: repositoryId,
        coordination_project_id: projectId,
        path_pattern: `file-${index}`,
        reason: text,
      })
      numberAfter(reserved, "Reservation id")
      await session.call("create-memory", {
        content: text,
        tags: [text.slice(0, 60).trim() || "x"],
        source: text,
      })
    }
    const config = configIn(where)
    for (const name of STORABLE.filter((one) => one.length <= 60).slice(0, 100))
      await run(() => createKeyCommand(config, { name, scope: ["*"], plan: "starter" }))
    const commands: Record<string, (options: { json?: boolean }) => Promise<void>> = {
      reservations: (options) => reservationsCommand(config, options),
      "memory list": (options) => listMemoriesCommand(config, { ...options, limit: "100" }),
      "memory list --full": (options) =>
        listMemoriesCommand(config, { ...options, full: true, limit: "100" }),
      "memory search": (options) =>
        searchMemoriesCommand(config, ["signalbox", "message", "evil"], { ...options, explain: true }),
      "memory export": () => exportMemoriesCommand(config, undefined, {}),
      "keys list": (options) => listKeysCommand(config, options),
      "override list": (options) => listOverridesCommand(config, options),
      "repos list": (options) => listRepositoriesCommand(config, options),
      status: (options) => statusCommand(config, options),
    }
    for (const [name, command] of Object.entries(commands)) {
      const { out, error } = await run(() => command({}))
      expect(error, name).toBeUndefined()
      expectVisible(out, name)
      const { out: json } = await run(() => command({ json: true }))
      expectVisible(json, `${name} --json`)
    }
    const { out } = await run(() => reservationsCommand(config, { json: true }))
    const reasons = (JSON.parse(out) as { reason: string }[]).map(({ reason }) => reason)
    expect(new Set(reasons)).toEqual(new Set(STORABLE))
    const { out: table } = await run(() => reservationsCommand(config, {}))
    expect(table.trimEnd().split("\n")).toHaveLength(STORABLE.length + 1)
  },
  SLOW_MACHINE_MS,
)

test("a log has one line for each entry, with nothing that acts, and says what was said", () => {
  for (const text of HOSTILE) {
    let written = ""
    const log = createLog("debug", (line) => {
      written += line
    })
    log.warn(text, { error: new Error(text), text })
    expect(written.split("\n")).toHaveLength(2)
    expectVisible(written.trimEnd(), JSON.stringify(text.slice(0, 80)))
    expect(JSON.parse(written)).toMatchObject({ message: text, text })
  }
})
