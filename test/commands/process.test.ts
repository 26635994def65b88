import { execFile, spawn } from "node:child_process"
import { existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs"
import { dirname, join } from "node:path"
import BetterSqlite3 from "better-sqlite3"
import { describe, expect, test } from "vitest"
import { EXIT_CODES } from "../../src/commands/exit-codes.ts"
import { launcherPath } from "../../src/runtime/launcher.ts"
import {
  BINARY,
  environment,
  INITIALIZE,
  INITIALIZED,
  type Place,
  place,
  ServerProcess,
} from "../support/server-process.ts"

const EXCLUSIVE = ["--mode", "exclusive"]

interface Ended {
  code: number
  stdout: string
  stderr: string
}

/** Runs the command line as a user does. */
function signalbox(where: Place, args: readonly string[], env: Record<string, string> = {}): Promise<Ended> {
  return ended(process.execPath, [BINARY, ...args], where, env)
}

function ended(
  program: string,
  args: readonly string[],
  where: Place,
  env: Record<string, string> = {},
): Promise<Ended> {
  const options = { cwd: where.repository, env: environment(where, env) }
  return new Promise((resolve) => {
    const child = execFile(program, args, options, (error, stdout, stderr) => {
      resolve({ code: error === null ? 0 : Number(error.code), stdout, stderr })
    })
    child.stdin?.end()
  })
}

const json = ({ stdout }: Ended) => JSON.parse(stdout) as Record<string, unknown>

describe("the command line ends", () => {
  test("with 0 when it is done, 1 when it failed, 2 when it is used wrongly, 3 at a conflict, 4 when nothing came", async () => {
    const where = place()
    const other = { SIGNALBOX_SESSION: "other" }
    expect(await signalbox(where, ["reserve", "src", ...EXCLUSIVE], other)).toMatchObject({
      code: 0,
      stderr: "",
    })
    expect(await signalbox(where, ["release", "docs"])).toMatchObject({ code: 1, stdout: "" })
    for (const wrong of [
      ["reserve"],
      ["reserve", "a.ts", "--mode", "other"],
      ["reserve", "a.ts", "--duration", "9h"],
      ["release"],
      ["reserves"],
      ["override", "a.ts"],
      ["override", "approve", "x"],
      ["status", "--nonsense"],
    ])
      expect(await signalbox(where, wrong), wrong.join(" ")).toMatchObject({ code: 2, stdout: "" })
    const conflict = await signalbox(where, ["reserve", "src/a.ts", ...EXCLUSIVE])
    expect(conflict).toMatchObject({ code: 3, stdout: "" })
    expect(conflict.stderr).toMatch(/^signalbox: nothing was reserved: 1 conflict/)
    const vain = await signalbox(where, ["wait", "--timeout", "1"], other)
    expect(vain).toMatchObject({ code: 4, stdout: "" })
    expect(vain.stderr).toMatch(/^signalbox: no new mail for \w+ within 1 s\.\n$/)
  })

  test("with 1 and one line where something fails that nobody foresaw; where, it says when it is asked", async () => {
    const where = place()
    expect(await signalbox(where, ["reserve", "src", ...EXCLUSIVE])).toMatchObject({ code: 0 })
    const db = new BetterSqlite3(where.databasePath)
    db.exec("ALTER TABLE reservations RENAME COLUMN path_pattern TO other")
    db.close()
    const said = "signalbox: failed unexpectedly: no such column: "
    const failed = await signalbox(where, ["reservations"])
    expect(failed).toMatchObject({ code: 1, stdout: "" })
    expect(failed.stderr).toMatch(
      new RegExp(`^${said}.*SIGNALBOX_LOG=debug it says where; please report it\\.\n$`),
    )
    const asked = await signalbox(where, ["reservations"], { SIGNALBOX_LOG: "debug" })
    expect(asked.stderr).toMatch(/failed unexpectedly: SqliteError: no such column: .*\n\s+at /)
  })

  test.runIf(existsSync("/dev/full"))(
    "with 1 and one line where what it prints cannot be written, after all that was to be done",
    async () => {
      const where = place()
      const command = ['"$0" "$@" > /dev/full', process.execPath, BINARY, "reserve", "src"]
      const full = await ended("/bin/sh", ["-c", ...command], where)
      expect(full).toEqual({
        code: 1,
        stdout: "",
        stderr:
          "signalbox: the output cannot be written: the disk is full. Free some space there, then try again.\n",
      })
      expect(JSON.parse((await signalbox(where, ["reservations", "--json"])).stdout)).toMatchObject([
        { path_pattern: "src" },
      ])
    },
  )

  test("as its help says", async () => {
    const { stdout } = await signalbox(place(), ["--help"])
    for (const [code, meaning] of EXIT_CODES) expect(stdout).toContain(`  ${code}  ${meaning}`)
  })
})

test("override takes a path at once, and its subcommands decide what waits", async () => {
  const where = place()
  await signalbox(where, ["reserve", "src", ...EXCLUSIVE], { SIGNALBOX_SESSION: "other" })
  const taken = await signalbox(where, ["override", "src/a.ts", "--reason", "hotfix", "--json"])
  expect(json(taken)).toMatchObject({ id: 1, status: "approved" })
  writeFileSync(
    join(where.repository, ".signalbox.json"),
    JSON.stringify({ hooks: { preEdit: { requireAdminApproval: true } } }),
  )
  await signalbox(where, ["reserve", "src", ...EXCLUSIVE])
  const session = { SIGNALBOX_SESSION: "other" }
  const asked = await signalbox(where, ["override", "src/a.ts", "--reason", "x", "--json"], session)
  expect(json(asked)).toMatchObject({ id: 2, status: "pending" })
  expect(await signalbox(where, ["override", "approve", "2"], session)).toMatchObject({ code: 1 })
  expect(json(await signalbox(where, ["override", "deny", "2", "--json"]))).toMatchObject({
    status: "denied",
  })
  expect((await signalbox(where, ["override", "list"])).stdout).toMatch(/^2 .*denied.*\n1 .*approved/m)
})

test("demo leaves nothing among the temporary folders, and touches nothing there nor of what is installed", async () => {
  const where = place()
  const launcher = launcherPath(join(where.home, "share", "signalbox"))
  mkdirSync(dirname(launcher), { recursive: true })
  writeFileSync(launcher, "of another version")
  const temporary = join(where.home, "temporary")
  mkdirSync(join(temporary, "signalbox-demo-mine"), { recursive: true })
  symlinkSync(temporary, join(where.home, "link"))
  const demo = await signalbox(where, ["demo", "--fast"], { TMPDIR: join(where.home, "link") })
  expect(demo).toMatchObject({
    code: 0,
    stdout: expect.stringContaining("a temporary database that is gone"),
  })
  expect(readdirSync(temporary)).toEqual(["signalbox-demo-mine"])
  expect(readFileSync(launcher, "utf8")).toBe("of another version")
  for (const scene of ["signalbox blocked this edit: src/auth/login.ts", "(the edit goes on)", "argon2id"])
    expect(demo.stdout).toContain(scene)
  expect(demo.stdout, "documentation").toMatch(/docs\/releases\.md:\d+-\d+/)
})

test("FORCE_COLOR decides on styles, whatever reads them", async () => {
  const where = place()
  const styled = await signalbox(where, ["status"], { FORCE_COLOR: "1" })
  expect(styled.stdout).toContain("\u001b[1m")
  const plain = await signalbox(where, ["status"], { FORCE_COLOR: "0" })
  expect(plain.stdout).not.toContain("\u001b")
})

test("nothing is coloured where no terminal is", async () => {
  const where = place()
  for (const args of [["reserve", "a.ts"], ["reservations"], ["status"], ["release", "a.ts"]]) {
    const { stdout } = await signalbox(where, args)
    expect(stdout).not.toBe("")
    expect(stdout).not.toContain("\u001b")
  }
})

test("completion prints a script that bash reads", async () => {
  const { stdout } = await signalbox(place(), ["completion", "bash"])
  expect(stdout).toContain("complete -o bashdefault -o default -F _signalbox signalbox")
})

test("reservations shows at once what a server has granted, and what commands change", async () => {
  const where = place()
  const server = await ServerProcess.start(where)
  const agent = await server.register("BlueLake")
  const reserve = (pattern: string) =>
    server.call("reserve-file-paths", {
      agent_id: agent.id,
      coordination_project_id: agent.projectId,
      repository_id: agent.repositoryId,
      path_pattern: pattern,
    })
  await reserve("src/**")
  const patterns = async (...args: string[]) => {
    const shown = await signalbox(where, ["reservations", "--json", ...args])
    return (JSON.parse(shown.stdout) as { path_pattern: string }[]).map((one) => one.path_pattern)
  }
  expect(await patterns()).toEqual(["src/**"])
  await reserve("docs/**")
  expect(await patterns()).toEqual(["src/**", "docs/**"])
  expect(await patterns("--refresh")).toEqual(["src/**", "docs/**"])
  await signalbox(where, ["reserve", "lib", ...EXCLUSIVE])
  expect(await patterns(), "what a command itself has changed").toContain("lib")
  await signalbox(where, ["release", "lib"])
  expect(await patterns()).not.toContain("lib")
})

describe.skipIf(process.platform === "win32")("below a coding agent that tells no session", () => {
  /** Runs a script in a shell that goes by a client's name, with the command line as `$1` and `$2`. */
  function belowClient(where: Place, script: string): Promise<Ended> {
    const child = spawn("bash", ["-c", `${script}\nexit $?`, "-", process.execPath, BINARY], {
      argv0: "codex",
      cwd: where.repository,
      env: environment(where),
      stdio: ["ignore", "pipe", "pipe"],
    })
    const ended = { code: 0, stdout: "", stderr: "" }
    child.stdout.setEncoding("utf8").on("data", (text: string) => {
      ended.stdout += text
    })
    child.stderr.setEncoding("utf8").on("data", (text: string) => {
      ended.stderr += text
    })
    return new Promise((resolve) => child.once("close", (code) => resolve({ ...ended, code: code ?? -1 })))
  }

  test("commands act for the agent that registered below the same client, and cannot approve its requests", async () => {
    const where = place()
    const register = {
      name: "register-agent",
      arguments: { project_key: "demo", program: "codex", model: "gpt", name_hint: "BlueLake" },
    }
    const messages = [
      { jsonrpc: "2.0", id: 1, method: "initialize", params: INITIALIZE },
      INITIALIZED,
      { jsonrpc: "2.0", id: 2, method: "tools/call", params: register },
    ]
    const input = join(where.home, "messages")
    writeFileSync(input, messages.map((message) => `${JSON.stringify(message)}\n`).join(""))
    writeFileSync(
      join(where.repository, ".signalbox.json"),
      JSON.stringify({ hooks: { preEdit: { requireAdminApproval: true } } }),
    )
    await signalbox(where, ["reserve", "held", ...EXCLUSIVE])
    const { stdout, stderr, code } = await belowClient(
      where,
      `cat ${input} | "$1" "$2" > /dev/null
"$1" "$2" reserve free --json
"$1" "$2" override held --reason hotfix > /dev/null
SIGNALBOX_SESSION=another SIGNALBOX_AGENT= "$1" "$2" override approve 1`,
    )
    expect(JSON.parse(stdout)).toMatchObject({ agent: { name: "BlueLake", project_key: "demo" } })
    expect(stderr).toContain("overrides are decided by people")
    expect(code).toBe(1)
    expect(await signalbox(where, ["override", "approve", "1"])).toMatchObject({ code: 0 })
  })
})
