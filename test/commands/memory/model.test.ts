import { readFileSync, writeFileSync } from "node:fs"
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { join } from "node:path"
import { describe, expect, onTestFinished, test } from "vitest"
import { remove } from "../../../scripts/removal.ts"
import { addMemoryCommand, getMemoryCommand } from "../../../src/commands/memory/memory.ts"
import {
  importModelCommand,
  listModelsCommand,
  removeModelCommand,
  type UseModelOptions,
  useModelCommand,
} from "../../../src/commands/memory/model.ts"
import { statusCommand } from "../../../src/commands/status.ts"
import { BUILTIN_MODEL } from "../../../src/embed/builtin.ts"
import { listenerPaths } from "../../../src/http/listener-files.ts"
import { embedWaiting, useModel } from "../../../src/operations/embedding/models.ts"
import { createKey } from "../../../src/operations/keys.ts"
import { startListener } from "../../../src/serve.ts"
import { greeterAt } from "../../support/greeter.ts"
import { writeTinyModel } from "../../support/tiny-model.ts"
import type { World } from "../../support/world.ts"
import { configIn, listenToStderr, presentWorld, run, runJson, server } from "../command.ts"

interface Row {
  id: string
  name: string
  state: string | null
  kind: string
  dimensions: number | null
  bytes: number | null
  progress: { completed: number; failed: number; total: number } | null
}

/** Makes a world with memories and with a model in its folder `tiny`. */
async function modelWorld(memories = ["read the index", "the lock of the table", "a fast test"]) {
  const where = presentWorld()
  writeTinyModel(join(where.folder, "tiny"), { kind: "static" })
  const ids: string[] = []
  for (const content of memories) {
    const add = () => addMemoryCommand(configIn(where), [content], { sector: "semantic", json: true })
    ids.push((await runJson<{ id: string }>(add)).id)
  }
  return { where, ids, said: listenToStderr() }
}

const list = (where: World) => runJson<Row[]>(() => listModelsCommand(configIn(where), { json: true }))
const use = (where: World, model: string, options: UseModelOptions = {}) =>
  run(() => useModelCommand(configIn(where), model, options))
const importTiny = (where: World, name?: string) =>
  run(() =>
    importModelCommand(configIn(where), join(where.folder, "tiny"), name === undefined ? {} : { name }),
  )
const stateOf = async (where: World, id: string) => (await list(where)).find((row) => row.id === id)?.state

/** Serves the files of a folder as the model `owner/tiny` of a hub. */
async function hub(folder: string): Promise<string> {
  const http = createServer((request, response) => {
    const path = /^\/owner\/tiny\/resolve\/main\/(.+)$/.exec(decodeURIComponent(request.url ?? ""))?.[1]
    try {
      response.end(readFileSync(join(folder, path ?? "none")))
    } catch {
      response.writeHead(404).end()
    }
  })
  await new Promise<void>((resolve) => http.listen(0, "127.0.0.1", resolve))
  onTestFinished(() => {
    http.closeAllConnections()
    http.close()
  })
  return `http://127.0.0.1:${(http.address() as AddressInfo).port}`
}

describe("model list", () => {
  test("shows the built-in model at work, and those on disk", async () => {
    const { where } = await modelWorld()
    await importTiny(where)
    expect(await list(where)).toMatchObject([
      {
        id: "builtin",
        name: BUILTIN_MODEL.name,
        state: "active",
        kind: "builtin",
        dimensions: BUILTIN_MODEL.dimensions,
        progress: { completed: 3, failed: 0, total: 3 },
      },
      { id: "local/tiny", state: null, kind: "folder", dimensions: null, progress: null },
    ])
    const { out } = await run(() => listModelsCommand(configIn(where), {}))
    expect(out).toMatch(/^builtin +active +256/m)
    expect(out).toMatch(/^local\/tiny .*tiny$/m)
    for (const line of out.split("\n").slice(0, 2)) expect(line.length).toBeLessThanOrEqual(80)
  })

  test("shows how far a model is that is being built, and one whose files are gone", async () => {
    const { where } = await modelWorld()
    const app = await server(where, "one")
    const wanted = {
      name: "owner/gone@1",
      source: "owner/gone",
      dimensions: 4,
      calibration: { midpoint: 0, slope: 1 },
    }
    await useModel(app, wanted)
    expect((await list(where)).at(-1)).toMatchObject({
      id: "owner/gone",
      state: "building",
      kind: "missing",
      progress: { completed: 0, failed: 0, total: 3 },
    })
    const { out } = await run(() => listModelsCommand(configIn(where), {}))
    expect(out).toContain("being built, 0 of 3 memories embedded, its files are missing")
    const status = await run(() => statusCommand(configIn(where), {}))
    expect(status.out).toMatch(
      /Memories .*3 of 3 memories embedded with builtin; owner\/gone takes over, 0 of 3 done/,
    )
    expect(await runJson(() => statusCommand(configIn(where), { json: true }))).toMatchObject({
      activity: {
        embedding: {
          active: { id: "builtin", progress: { completed: 3, total: 3 } },
          building: { id: "owner/gone", progress: { completed: 0, total: 3 } },
        },
      },
    })
  })
})

describe("model use", () => {
  test("imports a folder, tries it out, embeds all memories with it, and goes back", async () => {
    const { where, ids, said } = await modelWorld()
    const { out, error } = await use(where, join(where.folder, "tiny"))
    expect(error).toBeUndefined()
    expect(out).toContain("✓ local/tiny is active: 3 of 3 memories embedded.")
    expect(out).toContain("signalbox model use builtin goes back")
    expect(said.text).toBe("Trying out local/tiny.\n")
    expect(await list(where)).toMatchObject([
      { id: "builtin", state: null },
      { id: "local/tiny", state: "active", dimensions: 32, progress: { completed: 3, total: 3 } },
    ])
    for (const id of ids) {
      const memory = await runJson(() => getMemoryCommand(configIn(where), id, { json: true }))
      expect(memory).toMatchObject({ embedding_status: "completed" })
    }
    expect((await use(where, "local/tiny")).out).toBe("local/tiny is active.\n")
    const added = () => addMemoryCommand(configIn(where), ["the index of the table"], { json: true })
    expect(await runJson(added), "a command waits for its model").toMatchObject({
      embedding_status: "completed",
    })
    const back = await runJson(() => useModelCommand(configIn(where), "builtin", { json: true }))
    expect(back).toMatchObject({ id: "builtin", state: "active", progress: { completed: 4, total: 4 } })
    expect(await stateOf(where, "local/tiny")).toBe(null)
  })

  test("downloads an id that is not on disk, after saying from where, and no second time", async () => {
    const { where, said } = await modelWorld()
    const host = await hub(join(where.folder, "tiny"))
    const { error } = await use(where, "owner/tiny", { host })
    expect(error).toBeUndefined()
    expect(said.text).toContain(`Downloading owner/tiny from ${host}`)
    expect(await stateOf(where, "owner/tiny")).toBe("active")
    said.text = ""
    await use(where, "builtin")
    expect((await use(where, "owner/tiny", { host: "http://127.0.0.1:1" })).error).toBeUndefined()
    expect(said.text).toBe("")
  })

  test("names what cannot be a model", async () => {
    const { where } = await modelWorld([])
    const host = await hub(join(where.folder, "tiny"))
    for (const typed of ["./missing", "../x/y", "/no/where", "a b", "a/b/c", "~/models"])
      expect((await use(where, typed, { host })).error, typed).toMatchObject({ code: "invalid" })
    expect((await use(where, where.repositoryPath)).error?.text).toContain("it has no config.json")
    expect(await list(where)).toHaveLength(1)
  })

  test("refuses files that are not what they were", async () => {
    const { where } = await modelWorld()
    await importTiny(where)
    const weights = join(configIn(where).dataFolder, "models", "local--tiny", "onnx", "model.onnx")
    const bytes = readFileSync(weights)
    bytes.writeUInt8(bytes.readUInt8(bytes.length - 9) ^ 1, bytes.length - 9)
    writeFileSync(weights, bytes)
    const { error } = await use(where, "local/tiny")
    expect(error).toMatchObject({ code: "unavailable", text: expect.stringContaining("checksum") })
    expect(error?.text).toContain("signalbox model remove local/tiny")
    expect(await stateOf(where, "builtin")).toBe("active")
  })

  test("leaves the work to a listener that is up, and returns when it is done", async () => {
    const { where } = await modelWorld()
    const app = await server(where, "one")
    const listener = startListener({ ...app, config: { ...app.config, port: 0 } })
    onTestFinished(() => listener.close())
    const url = () => {
      try {
        return JSON.parse(readFileSync(listenerPaths(where.databasePath).record, "utf8")).url
      } catch {
        return undefined
      }
    }
    await expect.poll(url).toBeDefined()
    const { out, error } = await use(where, join(where.folder, "tiny"))
    expect(error).toBeUndefined()
    expect(out).toContain("is active: 3 of 3")
  })

  test("stops watching at Ctrl+C and says that the server goes on", async () => {
    const { where } = await modelWorld()
    await greeterAt(where.databasePath)
    const before = process.listenerCount("SIGINT")
    const using = use(where, join(where.folder, "tiny"))
    await expect.poll(() => stateOf(where, "local/tiny"), { timeout: 20_000 }).toBe("building")
    expect(process.listenerCount("SIGINT")).toBe(before + 1)
    process.emit("SIGINT")
    const { out, error } = await using
    expect(out).not.toContain("✓")
    expect(error?.code).toBe("refused")
    expect(error?.text).toContain("stopped: 0 of 3 memories embedded with local/tiny")
    expect(error?.text).toContain("The running server goes on by itself; until it is done, builtin is used.")
    expect(await stateOf(where, "local/tiny")).toBe("building")
  })

  test("sees what others do: the work of another process, and another choice", async () => {
    const { where } = await modelWorld()
    await greeterAt(where.databasePath)
    const app = await server(where, "one")
    const first = use(where, join(where.folder, "tiny"))
    await expect.poll(() => stateOf(where, "local/tiny"), { timeout: 20_000 }).toBe("building")
    await embedWaiting(app)
    expect((await first).out).toContain("local/tiny is active")
    const second = use(where, "builtin")
    await expect.poll(() => stateOf(where, "builtin"), { timeout: 20_000 }).toBe("building")
    expect((await use(where, "local/tiny")).out).toContain("What was being built for builtin has ended.")
    expect((await second).error).toMatchObject({
      code: "conflict",
      text: expect.stringContaining("local/tiny"),
    })
  })
})

describe("model import and remove", () => {
  test("bring a model here under a name and take it away again", async () => {
    const { where } = await modelWorld([])
    const { out } = await importTiny(where, "team/notes")
    expect(out).toMatch(/✓ Imported team\/notes \(under 0\.1 MB\)\n.*signalbox model use team\/notes/)
    expect(await list(where)).toMatchObject([{ id: "builtin" }, { id: "team/notes", kind: "folder" }])
    const gone = await run(() => removeModelCommand(configIn(where), "team/notes", {}))
    expect(gone.out).toContain("✓ Removed team/notes")
    expect(await list(where)).toHaveLength(1)
    const again = await run(() => removeModelCommand(configIn(where), "team/notes", {}))
    expect(again.error?.code).toBe("not_found")
  })

  test("name what a folder lacks, and refuse a bad name", async () => {
    const { where } = await modelWorld([])
    remove(join(where.folder, "tiny", "tokenizer.json"))
    const { error } = await importTiny(where)
    expect(error).toMatchObject({
      code: "invalid",
      text: expect.stringContaining("it has no tokenizer.json"),
    })
    for (const name of ["../x", "a/b/c", ""])
      expect((await importTiny(where, name)).error?.code, name).toBe("invalid")
  })

  test("do not take away what is at work, or comes with signalbox", async () => {
    const { where } = await modelWorld()
    await use(where, join(where.folder, "tiny"))
    const remove = (id: string) => run(() => removeModelCommand(configIn(where), id, {}))
    expect((await remove("local/tiny")).error).toMatchObject({
      code: "refused",
      text: expect.stringContaining("signalbox model use builtin"),
    })
    expect((await remove("builtin")).error?.code).toBe("invalid")
    expect((await remove("../..")).error?.code).toBe("invalid")
    await use(where, "builtin")
    expect((await remove("local/tiny")).error).toBeUndefined()
  })
})

test("changing models takes a key that may change the machine", async () => {
  const { where } = await modelWorld([])
  const app = await server(where, "one")
  const configWith = async (scope: string) => {
    const request = { name: scope, plan: "starter", expiresAtMs: null, environment: "live" } as const
    const { text } = await createKey(app, { ...request, scopes: [scope] })
    return configIn(where, { env: { SIGNALBOX_API_KEY: text } })
  }
  const memory = await configWith("repo:1:memory")
  for (const work of [
    () => useModelCommand(memory, "builtin", {}),
    () => importModelCommand(memory, join(where.folder, "tiny"), {}),
    () => removeModelCommand(memory, "local/tiny", {}),
  ])
    expect((await run(work)).error?.code).toBe("forbidden")
  const admin = await configWith("admin")
  expect((await run(() => useModelCommand(admin, "builtin", {}))).out).toBe("builtin is active.\n")
})
