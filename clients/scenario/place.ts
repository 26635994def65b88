/** A fresh home and repository for one run, and signalbox in them as its user has it. */

import { execFile } from "node:child_process"
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, writeFileSync } from "node:fs"
import { dirname, join, relative } from "node:path"
import { fileURLToPath } from "node:url"
import { promisify } from "node:util"
import { posixQuoted } from "../../src/runtime/shell-quoting.ts"

export const SIGNALBOX = fileURLToPath(new URL("../../bin/signalbox.js", import.meta.url))

/** The files that the repository begins with; agent A holds `src/auth`. */
const FILES = {
  "src/auth/login.ts": "export const login = 1\n",
  "src/free.ts": "export const free = 1\n",
  "src/self.ts": "export const self = 1\n",
  "src/book.ipynb": `${JSON.stringify({
    cells: [{ id: "a", cell_type: "code", source: ["1"], metadata: {}, outputs: [], execution_count: null }],
    metadata: {},
    nbformat: 4,
    nbformat_minor: 5,
  })}\n`,
}

/** Below the home; the launcher, the hook and what was written down of the installation lie there too. */
const OWN_DATA = join(".local", "share", "signalbox")

/** What the hook is called while payloads are kept. */
const KEPT_HOOK = "hook.itself.sh"

const OUTPUT_BYTES_MAX = 32 * 1_024 * 1_024

/** A reservation as `signalbox reservations --json` lists it. */
export interface Held {
  path_pattern: string
  agent_name: string
}

export class Place {
  readonly root: string
  readonly home: string
  readonly repository: string
  /** What clients printed, one file a run. */
  readonly outputs: string
  readonly environment: Record<string, string>

  private constructor(root: string) {
    this.root = root
    this.home = join(root, "home")
    this.repository = join(root, "repository")
    this.outputs = join(root, "outputs")
    const temporary = join(root, "temporary")
    for (const folder of [this.home, this.repository, this.outputs, temporary])
      mkdirSync(folder, { recursive: true })
    // Nothing of the shell around says anything to a client. Codex makes no helpers where its home lies below TMPDIR.
    this.environment = {
      PATH: [dirname(process.execPath), "/usr/local/bin", "/usr/bin", "/bin", "/usr/sbin", "/sbin"].join(":"),
      HOME: this.home,
      TMPDIR: temporary,
      LANG: "C.UTF-8",
      TERM: "dumb",
      SHELL: "/bin/bash",
      GIT_CONFIG_NOSYSTEM: "1",
      GIT_AUTHOR_NAME: "A",
      GIT_AUTHOR_EMAIL: "a@example.com",
      GIT_COMMITTER_NAME: "A",
      GIT_COMMITTER_EMAIL: "a@example.com",
    }
  }

  /** Makes a place in an empty folder: the files above, committed. */
  static async make(root: string): Promise<Place> {
    const place = new Place(root)
    place.reset()
    for (const args of [
      ["init", "-q", "-b", "main"],
      ["add", "--all"],
      ["commit", "-qm", "first"],
    ])
      await place.run("git", args)
    return place
  }

  /** Gives the files that the repository began with their first text again. */
  reset(): void {
    for (const [file, text] of Object.entries(FILES)) this.write(file, text)
  }

  /** Returns the absolute path of a file of the repository. */
  path(file: string): string {
    return join(this.repository, file)
  }

  /** Returns what a file of the repository holds; "" when there is none. */
  read(file: string): string {
    const path = this.path(file)
    return existsSync(path) ? readFileSync(path, "utf8") : ""
  }

  write(file: string, text: string): void {
    writeBelow(this.repository, file, text)
  }

  /** Writes a file of the user's own settings. */
  writeHome(file: string, text: string): void {
    writeBelow(this.home, file, text)
  }

  /** Runs a command in the repository; returns its stdout. Rejects on any other exit code than 0. */
  async run(command: string, args: readonly string[]): Promise<string> {
    const options = { cwd: this.repository, env: this.environment, maxBuffer: OUTPUT_BYTES_MAX }
    const running = promisify(execFile)(command, args, options)
    running.child.stdin?.end()
    return (await running).stdout
  }

  /** Runs a command of signalbox; returns its stdout. */
  signalbox(...args: string[]): Promise<string> {
    return this.run(process.execPath, [SIGNALBOX, ...args])
  }

  /** Returns who holds a file or pattern at the moment, by name. */
  async holdersOf(pattern: string): Promise<string[]> {
    const listed = JSON.parse(await this.signalbox("reservations", "--refresh", "--json")) as Held[]
    return listed.filter((one) => one.path_pattern === pattern).map((one) => one.agent_name)
  }

  /**
   * Has the installed hook keep what clients hand to it, and their variables, in `payloads`. An installation puts the
   * hook itself back in place, so this is asked for before each run.
   */
  keepPayloads(): void {
    const folder = join(this.root, "payloads")
    mkdirSync(folder, { recursive: true })
    const hook = join(this.home, OWN_DATA, "hook", "hook.sh")
    const script = keepingScript(folder)
    if (readFileSync(hook, "utf8") === script) return
    renameSync(hook, join(dirname(hook), KEPT_HOOK))
    writeFileSync(hook, script)
  }
}

/** A file that was written: its bytes as base64, undefined where it was not there. */
export interface Written {
  before: string | undefined
  after: string | undefined
}

/** Returns the files that differ, by their paths; backups, and our own data, which stays, are left out. */
export function changedFiles(
  before: ReadonlyMap<string, string>,
  after: ReadonlyMap<string, string>,
): Map<string, Written> {
  const paths = [...new Set([...before.keys(), ...after.keys()])].filter(
    (path) => !path.startsWith(OWN_DATA) && !path.endsWith(".signalbox.bak"),
  )
  const written = paths.map((path): [string, Written] => [
    path,
    { before: before.get(path), after: after.get(path) },
  ])
  return new Map(written.filter(([, file]) => file.before !== file.after))
}

/** Returns all files below a folder with their bytes as base64, by their paths relative to it. */
export function filesBelow(folder: string): Map<string, string> {
  const entries = existsSync(folder) ? readdirSync(folder, { recursive: true, withFileTypes: true }) : []
  const files = entries
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .map((path): [string, string] => [relative(folder, path), readFileSync(path, "base64")])
  return new Map(files)
}

function writeBelow(folder: string, file: string, text: string): void {
  const path = join(folder, file)
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(path, text)
}

function keepingScript(folder: string): string {
  return `#!/bin/sh
to=${posixQuoted(folder)}/$(date +%s%N)-$1.$2
cat > "$to.json"
env | grep -E "SESSION|PROJECT_DIR|^(CLINE|GEMINI|COPILOT|CODEX|OPENCODE|CLAUDE|QWEN)" > "$to.env"
exec /bin/sh "$(dirname "$0")/${KEPT_HOOK}" "$@" < "$to.json"
`
}
