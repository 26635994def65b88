import { execFile } from "node:child_process"
import { promisify } from "node:util"
import { expect, test, vi } from "vitest"
import { commitFiles } from "../support/documentation.ts"
import { BINARY, environment, type Place, place, ServerProcess } from "../support/server-process.ts"

/** Long enough for a machine that does much else. */
const READ_MS_MAX = 60_000
/** Any port: the default one may be a real listener's. */
const env = { SIGNALBOX_PORT: "0" }

interface Listed {
  state: string
  chunks_without_vector: number
  branches: { name: string; commit: string | null; chunks: number }[]
}

async function signalbox(where: Place, ...args: string[]): Promise<string> {
  const options = { cwd: where.repository, env: environment(where) }
  return (await promisify(execFile)(process.execPath, [BINARY, ...args], options)).stdout
}

/** Waits until the one repository is as wanted, as far as anybody can see from outside. */
function listedWhen(where: Place, isWanted: (listed: Listed) => boolean): Promise<Listed> {
  return vi.waitFor(
    async () => {
      const [listed] = JSON.parse(await signalbox(where, "repos", "list", "--json")) as Listed[]
      if (listed === undefined || !isWanted(listed)) throw new Error(`not yet: ${JSON.stringify(listed)}`)
      return listed
    },
    { timeout: READ_MS_MAX, interval: 200 },
  )
}

test("whoever listens has documentation read behind, at first and when a branch has moved, without any search", async () => {
  const where = place()
  commitFiles(where.repository, { "guide.md": "# Guide\n\nZebras run.\n" })
  await signalbox(where, "repos", "add", ".", "--no-sync")
  const server = await ServerProcess.start(where, { env })
  await server.call("list-repositories", {})
  const isRead = ({ state, chunks_without_vector: waiting }: Listed) =>
    state === "searchable" && waiting === 0
  const first = await listedWhen(where, isRead)
  expect(first.branches).toMatchObject([{ chunks: 1 }])
  commitFiles(where.repository, { "other.md": "# Other\n\nGiraffes sleep.\n" })
  const commitOf = ({ branches }: Listed) => branches[0]?.commit
  const second = await listedWhen(where, (listed) => isRead(listed) && commitOf(listed) !== commitOf(first))
  expect(second.branches).toMatchObject([{ chunks: 2 }])
  // The process that read has ended before, and nothing was left undone.
  expect(await server.stop()).toEqual({ code: 0, signal: null })
}, 150_000)
