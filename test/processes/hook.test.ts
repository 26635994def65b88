import { writeFileSync } from "node:fs"
import { join } from "node:path"
import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { CLIENT_NAMES } from "../../src/hook/client-names.ts"
import { clientFacts } from "../../src/hook/clients.ts"
import { hookFolder, placeHookFiles } from "../../src/hook/files.ts"
import { readListenerRecord } from "../../src/http/listener-files.ts"
import { localKeyIn } from "../../src/operations/keys.ts"
import {
  EDITS,
  editedFiles,
  expectWhole,
  named,
  OTHERS,
  oneOfEach,
  refusalIn,
} from "../support/golden-payloads.ts"
import {
  editOf,
  expectOneLine,
  HOOK_FORMS,
  type Holder,
  holderAt,
  listenerAt,
  pathOf,
  reservationsOf,
  reserve,
  runHook,
  runOf,
  SERVER_ENV,
  SILENT,
} from "../support/hook-process.ts"
import { sendTo } from "../support/http.ts"
import { type Place, place, ServerProcess } from "../support/server-process.ts"

/** `test/hook` goes through every payload; here one of each kind is enough, as the hook hands them on unread. */
const ONE_EDIT_OF_EACH = named(oneOfEach(EDITS))

describe("with a listener", () => {
  const ends: (() => Promise<void> | void)[] = []
  let where: Place
  let ada: Holder
  /** Where the shell form finds what it needs, and no Node that could help out. */
  let path: { path: string }

  beforeAll(async () => {
    where = place((end) => ends.push(end))
    ada = await holderAt(where)
    path = { path: pathOf(where, "cat", "sleep", "curl", "mkfifo", "rm") }
    // Nor can the Node form look by itself: whatever is answered here, the listener answers.
    writeFileSync(join(hookFolder(where.dataFolder), "package"), "/nowhere\n")
  })

  afterAll(async () => {
    for (const end of ends.reverse()) await end()
  })

  test.each(ONE_EDIT_OF_EACH)("the edit %s is blocked", async (_name, golden) => {
    const run = runOf(where, golden)
    const ending = await runHook(where, { ...run, ...path })
    expectWhole(refusalIn(ending, golden.client), ada.agent)
    expect([...(await reservationsOf(ada)).keys()]).not.toContain("src/auth/login.ts")
  })

  test.each(ONE_EDIT_OF_EACH)("%s gets the same answer from the Node form", async (_name, golden) => {
    const run = runOf(where, golden)
    const [shell, node] = [await runHook(where, run), await runHook(where, { ...run, form: "node" })]
    const [first, second] = [shell, node].map((ending) => refusalIn(ending, golden.client))
    const withoutTimes = (text = "") => text.replace(/, [^,]* left/, "").replace(/expiry: .*/, "")
    expect(withoutTimes(second)).toBe(withoutTimes(first))
  })

  test.each(ONE_EDIT_OF_EACH)(
    "the edit %s of free files goes on, and reserves them",
    async (name, golden) => {
      const files = `free/${name}`
      const run = runOf(where, golden, { files })
      expect(await runHook(where, { ...run, ...path })).toEqual(SILENT)
      const held = await reservationsOf(ada, `src/${files}/`)
      expect([...held.keys()].sort()).toEqual(editedFiles(golden, files).sort())
      expect([...held.values()]).not.toContain(ada.agent.name)
    },
  )

  test("all edits of one session are one agent's", async () => {
    const held = await reservationsOf(ada, "src/free/")
    expect(held.size).toBeGreaterThanOrEqual(ONE_EDIT_OF_EACH.length)
    expect(new Set(held.values()).size).toBe(1)
  })

  test.each(ONE_EDIT_OF_EACH)("the holder's own session is never blocked in %s", async (_name, golden) => {
    const run = runOf(where, golden, { session: "session-a" })
    expect(await runHook(where, { ...run, ...path })).toEqual(SILENT)
  })

  test.each(named(oneOfEach(OTHERS)))(
    "%s, which is no edit, goes on and reserves nothing",
    async (name, golden) => {
      const before = await reservationsOf(ada)
      const run = runOf(where, golden, { session: `session-of-${name}` })
      const ending = await runHook(where, { ...run, ...path })
      // Who drops what a start says hears it with the first call after it.
      const isHeardLater = golden.event === "mail" && clientFacts(golden.client).hearsStartLater === true
      if (golden.event === "session-start" || isHeardLater)
        expect(ending.stdout + ending.stderr).toContain("signalbox: you are")
      else expect(ending).toEqual(SILENT)
      expect(ending.exitCode).toBe(0)
      expect(await reservationsOf(ada)).toEqual(before)
    },
  )

  test.each(CLIENT_NAMES)("%s sees no exit code but 0 when its edit cannot be read", async (client) => {
    for (const payload of [
      "{",
      JSON.stringify({ tool_name: "Edit", tool_input: { path: "\0", content: "x" } }),
    ]) {
      const { exitCode } = await runHook(where, { client, payload, ...path })
      expect(exitCode).toBe(0)
    }
  })

  test("a released file is free", async () => {
    const id = await reserve(ada, "src/released.ts")
    const run = { payload: editOf(where, "src/released.ts"), ...path }
    refusalIn(await runHook(where, run))
    const { id: agentId, projectId } = ada.agent
    await ada.server.call("release-file-reservations", {
      agent_id: agentId,
      coordination_project_id: projectId,
      reservation_ids: [id],
    })
    expect(await runHook(where, run)).toEqual(SILENT)
  })

  test("an expired file is free", async () => {
    await reserve(ada, "src/expiring.ts", { duration_seconds: 1 })
    const run = { payload: editOf(where, "src/expiring.ts"), ...path }
    for (;;) {
      const ending = await runHook(where, run)
      if (ending.exitCode === 0) {
        expect(ending).toEqual(SILENT)
        break
      }
      expect(refusalIn(ending)).toContain("src/expiring.ts is reserved by")
    }
    const held = await reservationsOf(ada, "src/expiring.ts")
    expect([...held.values()]).toEqual([expect.not.stringMatching(`^${ada.agent.name}$`)])
  })

  test("a file taken in an emergency is free", async () => {
    await reserve(ada, "src/overridden.ts")
    const run = { payload: editOf(where, "src/overridden.ts"), ...path }
    refusalIn(await runHook(where, run))
    expect(await runHook(where, { payload: editOf(where, "src/beside.ts"), ...path })).toEqual(SILENT)
    const [name] = (await reservationsOf(ada, "src/beside.ts")).values()
    const profile = await ada.server.call("whois", { project_key: "demo", agent_name: name })
    const record = readListenerRecord(where.databasePath)
    const port = Number(new URL(record?.url ?? "").port)
    const reply = await sendTo(
      port,
      "/api/coordination/file-reservations/override",
      "POST",
      {
        host: `127.0.0.1:${port}`,
        authorization: `Bearer ${localKeyIn(where.databasePath)}`,
        "content-type": "application/json",
        "x-signalbox-session": "session-b",
      },
      {
        path: join(where.repository, "src/overridden.ts"),
        agent_id: /^Agent id: (\d+)$/m.exec(profile)?.[1],
        reason: "The build is broken",
      },
    )
    expect(reply.status, reply.text).toBe(200)
    expect(await runHook(where, run)).toEqual(SILENT)
  })

  test.each(HOOK_FORMS)("5 MB are checked by the form %s", async (form) => {
    const content = "x".repeat(5_000_000)
    const free = `src/large-${form}.ts`
    refusalIn(await runHook(where, { form, payload: editOf(where, "src/auth/login.ts", { content }) }))
    expect(await runHook(where, { form, payload: editOf(where, free, { content }) })).toEqual(SILENT)
    expect([...(await reservationsOf(ada, free)).keys()]).toEqual([free])
  })
})

describe("without a listener", () => {
  const ends: (() => Promise<void> | void)[] = []
  let where: Place
  let ada: Holder

  beforeAll(async () => {
    where = place((end) => ends.push(end))
    ada = await holderAt(where)
    await ada.server.stop()
    expect(readListenerRecord(where.databasePath)).toBeUndefined()
  })

  afterAll(async () => {
    for (const end of ends.reverse()) await end()
  })

  test.each(ONE_EDIT_OF_EACH)("the settings' command blocks %s", async (_name, golden) => {
    expectWhole(refusalIn(await runHook(where, runOf(where, golden)), golden.client), ada.agent)
  })

  const ofOtherForms = ONE_EDIT_OF_EACH.filter(([, { client }]) =>
    ["claude-code", "copilot", "cursor", "cline"].includes(client),
  )
  test.each(ofOtherForms)("the Node form blocks %s", async (_name, golden) => {
    const ending = await runHook(where, { ...runOf(where, golden), form: "node" })
    expectWhole(refusalIn(ending, golden.client), ada.agent)
  })

  test.each(HOOK_FORMS)("what the form %s lets through is reserved", async (form) => {
    expect(await runHook(where, { form, payload: editOf(where, `src/free/${form}.ts`) })).toEqual(SILENT)
    const rival = { form, payload: editOf(where, `src/free/${form}.ts`, { session: "session-c" }) }
    const { exitCode, stdout, stderr } = await runHook(where, rival)
    expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: "" })
    expect(stdout).toContain(`src/free/${form}.ts is also reserved by`)
  })

  test("the holder's own session goes on", async () => {
    const run = { payload: editOf(where, "src/auth/login.ts", { session: "session-a" }) }
    expect(await runHook(where, run)).toEqual(SILENT)
  })

  test("the next server finds what was reserved meanwhile", async () => {
    await runHook(where, { payload: editOf(where, "src/meanwhile.ts") })
    const server = await ServerProcess.start(where, { env: SERVER_ENV })
    const held = await reservationsOf({ ...ada, server }, "src/meanwhile.ts")
    expect([...held.keys()]).toEqual(["src/meanwhile.ts"])
    await listenerAt(where, (pid) => pid === server.pid)
    await server.stop()
  })
})

describe("a command of Codex's shell", () => {
  const patch = "*** Begin Patch\n*** Add File: src/a.ts\n+x\n*** End Patch"

  test.each(HOOK_FORMS)(
    "is checked in the form %s only if it holds a patch, and brings mail afterwards",
    async (form) => {
      const where = place()
      placeHookFiles(where.dataFolder)
      writeFileSync(join(hookFolder(where.dataFolder), "package"), "/nowhere\n")
      const run = (event: "pre-edit" | "mail", command: string) => {
        const payload = { cwd: where.repository, tool_name: "Bash", tool_input: { command } }
        return runHook(where, { client: "codex", event, form, payload: JSON.stringify(payload) })
      }
      const harmless = 'echo \'"tool_name":"apply_patch"\''
      const asked = /the package is not where it was/
      expect(await run("pre-edit", harmless)).toEqual(SILENT)
      expectOneLine(await run("pre-edit", `apply_patch <<'E'\n${patch}\nE`), asked)
      expectOneLine(await run("mail", harmless), asked)
    },
  )
})

test("no watch over a hook outlives it", async () => {
  const where = place()
  placeHookFiles(where.dataFolder)
  const path = pathOf(where, "cat")
  // A process that is left behind stays.
  writeFileSync(join(path, "sleep"), "#!/bin/sh\nexec /bin/sleep 600\n", { mode: 0o755 })
  const run = () => runHook(where, { payload: editOf(where, "src/free.ts"), path })
  for (let count = 0; count < 60; count += 1) {
    for (const ending of await Promise.all([run(), run()])) expectOneLine(ending, /there is no node/)
  }
})
