import { execFile, spawn } from "node:child_process"
import { mkdirSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { expect, test } from "vitest"
import { BINARY, environment, type Place, place } from "../../support/server-process.ts"

interface Ended {
  code: number
  stdout: string
  stderr: string
}

/** Runs the command line as a user does, with a text on stdin. */
function signalbox(
  where: Place,
  args: readonly string[],
  input = "",
  cwd = where.repository,
): Promise<Ended> {
  const options = { cwd, env: environment(where), maxBuffer: 64 * 1024 * 1024 }
  return new Promise((resolve) => {
    const child = execFile(process.execPath, [BINARY, ...args], options, (error, stdout, stderr) => {
      resolve({ code: error === null ? 0 : Number(error.code), stdout, stderr })
    })
    child.stdin?.on("error", () => {})
    child.stdin?.end(input)
  })
}

/** Runs a script in a shell in which `signalbox` is the command line. */
function shell(where: Place, script: string): Promise<Ended> {
  const text = `set -o pipefail; signalbox() { "${process.execPath}" "${BINARY}" "$@"; }; ${script}`
  const options = { cwd: where.repository, env: environment(where) }
  return new Promise((resolve) => {
    execFile("bash", ["-c", text], options, (error, stdout, stderr) => {
      resolve({ code: error === null ? 0 : Number(error.code), stdout, stderr })
    })
  })
}

const uuidOf = (number: number) => `00000000-0000-4000-8000-${String(number).padStart(12, "0")}`

function lines(count: number, content = (number: number) => `note ${number}`): string {
  const time = "2026-01-01T00:00:00.000Z"
  return Array.from({ length: count }, (_, number) => {
    const salience = { base: 0.5, anchor: time, stability: 1.25 }
    const line = {
      id: uuidOf(number),
      content: content(number),
      sector: "semantic",
      salience,
      access_count: 3,
      tags: ["a"],
      source: null,
      metadata: {},
      created_at: time,
      updated_at: time,
      last_accessed_at: null,
    }
    return `${JSON.stringify(line)}\n`
  }).join("")
}

test("add takes a pipe, get shows it again byte for byte, and wrong use ends with 2", async () => {
  const where = place()
  const added = await signalbox(
    where,
    ["memory", "add", "--tag", "a", "--tag", "b", "--json"],
    "für\r\nimmer 😀\n",
  )
  expect(added).toMatchObject({ code: 0, stderr: "" })
  const memory = JSON.parse(added.stdout) as { id: string; content: string; tags: string[] }
  expect(memory).toMatchObject({ content: "für\r\nimmer 😀", tags: ["a", "b"] })
  const dash = await signalbox(
    where,
    ["memory", "edit", memory.id.slice(0, 8), "--content", "-", "--json"],
    "new\n\n",
  )
  expect(JSON.parse(dash.stdout)).toMatchObject({ content: "new\n", tags: ["a", "b"] })
  for (const wrong of [
    ["memory", "add"],
    ["memory", "add", "x", "--sector", "other"],
    ["memory", "get"],
    ["memory", "get", "abc"],
    ["memory", "search", "x", "--limit", "0"],
    ["memory", "prune", "--threshold", "-1"],
    ["memory", "edit", memory.id],
    ["memory", "forgets"],
    ["model", "use"],
  ])
    expect(await signalbox(where, wrong), wrong.join(" ")).toMatchObject({ code: 2, stdout: "" })
  expect(await signalbox(where, ["memory", "get", uuidOf(1)])).toMatchObject({ code: 1, stdout: "" })
})

test.skipIf(process.platform === "win32")(
  "export and import work through a pipe, into another repository and into another database",
  async () => {
    const where = place()
    mkdirSync(join(where.home, "elsewhere"))
    const file = join(where.home, "memories.jsonl")
    writeFileSync(file, lines(300))
    const { code, stdout, stderr } = await shell(
      where,
      `signalbox memory import '${file}' &&
signalbox repos add '${where.home}/elsewhere' >&2 &&
signalbox memory export | signalbox memory import - --repository elsewhere --json > "$HOME/here" &&
signalbox memory export - | signalbox --db "$HOME/other.db" memory import - &&
signalbox --db "$HOME/other.db" memory export | cmp - '${file}' &&
node -e 'const r = JSON.parse(require("fs").readFileSync(process.argv[1])); console.log(r.added, r.renamed)' "$HOME/here" &&
signalbox memory export | head -n 1 | wc -l`,
    )
    expect({ code, stderr }).toMatchObject({ code: 0 })
    expect(stdout.trim().split(/\s*\n\s*/)).toEqual([
      "✓ Imported 300 memories into repository.",
      "✓ Imported 300 memories into repository.",
      "300 300",
      "1",
    ])
  },
)

test.skipIf(process.platform === "win32")(
  "Ctrl+C ends an import that goes on when it is started again",
  async () => {
    const where = place()
    const text = lines(120)
    const child = spawn(process.execPath, [BINARY, "memory", "import", "-"], {
      cwd: where.repository,
      env: environment(where),
      stdio: ["pipe", "pipe", "pipe"],
    })
    const ended = new Promise<{ code: number | null; stderr: string }>((resolve) => {
      let stderr = ""
      child.stderr.setEncoding("utf8").on("data", (part: string) => {
        stderr += part
      })
      child.once("close", (code) => resolve({ code, stderr }))
    })
    child.stdin.on("error", () => {})
    // The rest of the file never comes.
    child.stdin.write(text)
    const stored = async () =>
      JSON.parse((await signalbox(where, ["memory", "stats", "--json"])).stdout).total_memories
    await expect.poll(stored, { timeout: 20_000, interval: 200 }).toBe(100)
    child.kill("SIGINT")
    const { code, stderr } = await ended
    expect(code).toBe(1)
    expect(stderr).toContain("Stopped after 100 lines.")
    expect(stderr).toContain("import the same again to go on")
    const rest = await signalbox(where, ["memory", "import", "-", "--json"], text)
    expect(JSON.parse(rest.stdout)).toMatchObject({ added: 20, skipped: 100 })
  },
)
