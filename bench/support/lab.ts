/**
 * The place where benchmarks run: a temporary folder with the built package, the bundled stub, and
 * databases and work trees of their own. Nothing outside of it is read or written.
 */

import { execFileSync } from "node:child_process"
import { cpSync, mkdirSync, symlinkSync } from "node:fs"
import { join } from "node:path"
import { build } from "esbuild"
import { makeTemporaryFolder, remove } from "../../scripts/removal.ts"
import { OPERATIONS } from "../../src/operations/index.ts"
import type { Launch } from "./stdio-client.ts"
import { stubSource } from "./stub.ts"

const CHECKOUT = join(import.meta.dirname, "..", "..")

/** As in tsup.config.ts: CommonJS packages ask for Node's own modules by require. */
const REQUIRE_BANNER =
  'import { createRequire as makeRequire } from "node:module"; const require = makeRequire(import.meta.url);'

export class Lab {
  readonly #folder = makeTemporaryFolder()
  readonly #package = join(this.#folder, "package")
  readonly #stub = join(this.#folder, "stub.mjs")
  #paths = 0

  /** Builds the package as it is published, and the stub in the same way. */
  static async open(): Promise<Lab> {
    const lab = new Lab()
    try {
      lab.#buildPackage()
      await lab.#buildStub()
      return lab
    } catch (error) {
      lab.close()
      throw error
    }
  }

  /** Returns how to start a signalbox server on a database, in a work tree. */
  ours(database: string, cwd: string): Launch {
    const env = {
      ...this.#environment(),
      SIGNALBOX_DB: database,
      SIGNALBOX_LIMITS: "off",
      SIGNALBOX_LOG: "error",
    }
    return { args: [join(this.#package, "bin", "signalbox.js")], cwd, env }
  }

  /** Returns the path of a file of the built package. */
  packageFile(name: string): string {
    return join(this.#package, name)
  }

  /** Returns how to start a stub whose answers have this length. */
  stub(answerChars: number): Launch {
    return {
      args: [this.#stub],
      cwd: this.#folder,
      env: { ...this.#environment(), STUB_CHARS: String(answerChars) },
    }
  }

  /** Returns how to start Node itself with nothing to do. */
  bareNode(): Launch {
    return { args: ["-e", "0"], cwd: this.#folder, env: this.#environment() }
  }

  /** Returns a new path in a folder of its own, such as for a database. */
  path(name: string): string {
    this.#paths += 1
    const folder = join(this.#folder, `data-${this.#paths}`)
    mkdirSync(folder)
    return join(folder, name)
  }

  /** Makes an empty git work tree. */
  workTree(): string {
    const folder = this.path("repository")
    execFileSync("git", ["init", "--quiet", "--initial-branch=main", folder], { env: this.#environment() })
    return folder
  }

  close(): void {
    remove(this.#folder)
  }

  /** Nothing of the user's own settings or data reaches a server. */
  #environment(): Record<string, string> {
    const inherited = Object.entries(process.env).filter(([name]) =>
      /^(PATH|SYSTEMROOT|TEMP|TMP|TMPDIR)$/i.test(name),
    )
    const home = {
      HOME: this.#folder,
      USERPROFILE: this.#folder,
      LOCALAPPDATA: this.#folder,
      APPDATA: this.#folder,
    }
    return { ...(Object.fromEntries(inherited) as Record<string, string>), ...home }
  }

  /** The checkout is copied first: a build writes beside its sources, and others may work on those. */
  #buildPackage(): void {
    // The target of what the build writes by itself.
    mkdirSync(join(this.#package, "dist"), { recursive: true })
    for (const name of [
      "package.json",
      "tsup.config.ts",
      "tsconfig.json",
      "schema.sql",
      "bin",
      "model",
      "scripts",
      "src",
    ]) {
      cpSync(join(CHECKOUT, name), join(this.#package, name), { recursive: true })
    }
    symlinkSync(join(CHECKOUT, "node_modules"), join(this.#package, "node_modules"), "junction")
    const tsup = join(CHECKOUT, "node_modules", "tsup", "dist", "cli-default.js")
    const options = {
      cwd: this.#package,
      stdio: ["ignore", "ignore", "inherit"] as ["ignore", "ignore", "inherit"],
    }
    execFileSync(process.execPath, [tsup, "--silent"], options)
  }

  async #buildStub(): Promise<void> {
    await build({
      stdin: { contents: stubSource(OPERATIONS), resolveDir: CHECKOUT, loader: "js" },
      bundle: true,
      format: "esm",
      platform: "node",
      target: "node20",
      banner: { js: REQUIRE_BANNER },
      outfile: this.#stub,
      logLevel: "warning",
    })
  }
}
