/** Users and passwords in addresses: they open the repository for one command, and are found nowhere after it. */

import { spawnSync } from "node:child_process"
import { chmodSync, existsSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { describe, expect, test } from "vitest"
import { fetchClone } from "../../../src/operations/documentation/clones.ts"
import { connectRepository, repositoryStates } from "../../../src/operations/documentation/repositories.ts"
import { listRepositories } from "../../../src/store/repositories.ts"
import { GUIDE, repositoryWith } from "../../support/documentation-files.ts"
import { type Index, openIndex } from "../../support/documentation-index.ts"
import { setVariables } from "../../support/environment.ts"
import { startGitHost } from "../../support/git-host.ts"
import { temporaryFolder } from "../../support/temporary-folder.ts"

const PASSWORD = "s3cr3t@token"
const WRITTEN = "s3cr3t%40token"

/** A repository behind a password, and a user whose git notes its commands and has a helper that notes its own. */
async function guardedRepository({ helperSays = "" } = {}) {
  const origin = repositoryWith({ "one.md": GUIDE })
  const { port, asked } = await startGitHost(dirname(origin.root), `ada:${PASSWORD}`)
  const folder = temporaryFolder()
  const helperLog = join(folder, "helper.log")
  const helper = join(folder, "helper")
  writeFileSync(
    helper,
    `#!/bin/sh\n{ echo "$1"; cat; } >> '${helperLog}'\n${helperSays === "" ? "" : `test "$1" != get || echo '${helperSays}'`}\n`,
  )
  chmodSync(helper, 0o755)
  const settings = join(folder, "gitconfig")
  writeFileSync(settings, `[credential]\n\thelper = ${helper}\n`)
  const trace = join(folder, "trace")
  const { stdout } = spawnSync("sh", ["-c", "command -v git"], { encoding: "utf8" })
  writeFileSync(
    join(folder, "git"),
    `#!/bin/sh\necho "$*" >> '${trace}'\nGIT_TRACE='${trace}' exec '${stdout.trim()}' "$@"\n`,
  )
  chmodSync(join(folder, "git"), 0o755)
  setVariables({
    PATH: `${folder}:${process.env.PATH}`,
    GIT_CONFIG_GLOBAL: settings,
    GIT_SSL_NO_VERIFY: "1",
    no_proxy: "127.0.0.1,localhost",
  })
  const read = (path: string) => (existsSync(path) ? readFileSync(path, "utf8") : "")
  return {
    origin,
    place: `127.0.0.1:${port}/repository`,
    asked,
    commands: () => read(trace),
    helped: () => read(helperLog),
  }
}

/** The files below a folder that hold a password, in any form that it was given in. */
function filesWithPassword(folder: string): string[] {
  const forms = [PASSWORD, WRITTEN, "s3cr3t", Buffer.from(`ada:${PASSWORD}`).toString("base64")]
  const files = readdirSync(folder, { recursive: true, encoding: "utf8" }).filter((path) =>
    statSync(join(folder, path)).isFile(),
  )
  expect(files).toContain("signalbox.db")
  return files.filter((path) => forms.some((form) => readFileSync(join(folder, path)).includes(form)))
}

async function onlyRepository({ app }: Index) {
  const [repository] = await listRepositories(app.db)
  if (repository === undefined) throw new Error("nothing is connected")
  return repository
}

describe.skipIf(process.platform === "win32")("the password of an address", () => {
  test("opens the repository, and is neither stored nor listed nor given to the user's own helper", async () => {
    const { place, commands, helped, asked } = await guardedRepository()
    const index = await openIndex()
    await index.add(`https://ada:${WRITTEN}@${place}`)
    expect(await index.filesWith("anvil")).toEqual(["one.md"])
    expect(asked.some((line) => line.endsWith(` ada:${PASSWORD}`))).toBe(true)
    expect(filesWithPassword(dirname(index.app.config.databasePath))).toEqual([])
    expect(commands()).toContain(`remote-https https://${place}`)
    expect(commands()).toMatch(/credential\.https:.*helper=!f/)
    expect(commands()).not.toMatch(/s3cr3t|ada:/)
    expect(helped()).toBe("")
    const [state] = await repositoryStates(index.app, [await onlyRepository(index)])
    expect(state?.documented?.cloneUrl).toBe(`https://${place}`)
    expect(state?.repository.name).not.toContain("ada")
  })

  test("is not needed to fetch where the user's own helper knows one", async () => {
    const { origin, place, helped } = await guardedRepository({
      helperSays: `username=ada\npassword=${PASSWORD}`,
    })
    const index = await openIndex()
    await index.add(`https://ada:${WRITTEN}@${place}`)
    expect(helped()).toBe("")
    origin.commit({ "two.md": "# Two\n\ntongs\n" })
    await fetchClone(index.app, await onlyRepository(index))
    await index.sync()
    expect(helped()).toMatch(/^get\n/)
    expect(await index.filesWith("tongs")).toEqual(["two.md"])
  })

  test("is missed by a later fetch without a helper, which says as of when the repository is", async () => {
    const { place } = await guardedRepository()
    const index = await openIndex()
    await index.add(`https://ada:${WRITTEN}@${place}`)
    const repository = await onlyRepository(index)
    const [state] = await repositoryStates(index.app, [repository])
    const time = new Date(state?.fetchedAtMs ?? 0).toISOString()
    expect(Date.parse(time)).toBeGreaterThan(0)
    const text = `What was fetched at ${time} is searched`
    await expect(fetchClone(index.app, repository)).rejects.toMatchObject({
      code: "unavailable",
      text: expect.stringContaining(text),
    })
    await expect(connectRepository(index.app, { target: `https://${place}` })).rejects.toMatchObject({
      text: expect.stringContaining(text),
    })
    expect(await index.filesWith("anvil")).toEqual(["one.md"])
    await connectRepository(index.app, { target: `https://ada:${WRITTEN}@${place}` })
  })

  test("is in no error, and leaves nothing behind when it is wrong", async () => {
    const { place, helped } = await guardedRepository()
    const index = await openIndex()
    const failing = connectRepository(index.app, { target: `https://ada:wr0ng@${place}` })
    await expect(failing).rejects.toMatchObject({ code: "unavailable" })
    await expect(failing).rejects.toMatchObject({ text: expect.not.stringMatching(/wr0ng|ada/) })
    expect(helped()).toBe("")
    expect(await listRepositories(index.app.db)).toEqual([])
  })

  test("is not given to another host that the first one sends on to", async () => {
    const { place, asked } = await guardedRepository()
    const index = await openIndex()
    const elsewhere = place.replace("/", "/elsewhere/")
    await expect(
      connectRepository(index.app, { target: `https://ada:${WRITTEN}@${elsewhere}` }),
    ).rejects.toMatchObject({ code: "unavailable" })
    const there = asked.filter((line) => line.startsWith("localhost "))
    expect(there.length).toBeGreaterThan(0)
    expect(there.filter((line) => line.includes("s3cr3t"))).toEqual([])
  })
})

test.skipIf(process.platform === "win32")(
  "the user of an address is named to the user's own helper alone",
  async () => {
    const { place, commands, helped } = await guardedRepository({ helperSays: `password=${PASSWORD}` })
    const index = await openIndex()
    await index.add(`https://ada@${place}`)
    expect(await index.filesWith("anvil")).toEqual(["one.md"])
    expect(helped()).toContain("username=ada\n")
    expect(commands()).not.toContain("ada")
    const [state] = await repositoryStates(index.app, [await onlyRepository(index)])
    expect(state?.documented?.cloneUrl).toBe(`https://${place}`)
  },
)

test("neither user nor password of a work tree's own remote is stored", async () => {
  const one = repositoryWith({ "one.md": GUIDE })
  one.git("remote", "add", "origin", `https://ada:${WRITTEN}@example.com/a/docs.git`)
  const index = await openIndex()
  await index.add(one.root)
  expect(filesWithPassword(dirname(index.app.config.databasePath))).toEqual([])
  const [state] = await repositoryStates(index.app, [await onlyRepository(index)])
  expect(state?.documented?.remoteUrl).toBe("https://example.com/a/docs.git")
})
