/** A machine of its own for each test: an empty home, a git repository in it, and ways to install there. */

import { mkdirSync, readdirSync, readFileSync, readlinkSync, statSync, writeFileSync } from "node:fs"
import { dirname, join, relative } from "node:path"
import { remove } from "../../scripts/removal.ts"
import { clientNamed } from "../../src/install/catalogue.ts"
import { ROLES, type Role, type SettingsFile } from "../../src/install/client.ts"
import { installClient } from "../../src/install/install.ts"
import type { Outcome } from "../../src/install/outcome.ts"
import type { Machine, Place, Scope } from "../../src/install/place.ts"
import { uninstallClient } from "../../src/install/uninstall.ts"
import { launcherPath } from "../../src/runtime/launcher.ts"
import { initRepository } from "../support/templates.ts"
import { temporaryFolder } from "../support/temporary-folder.ts"

interface Choice {
  roles?: Role[]
  isDryRun?: boolean
}

export class TestMachine {
  readonly home = temporaryFolder()
  readonly project = join(this.home, "work", "project")
  readonly dataFolder = join(this.home, "data", "signalbox")
  readonly machine: Machine

  constructor(platform: NodeJS.Platform, env: Record<string, string>) {
    const launcher = launcherPath(this.dataFolder, platform)
    this.machine = { home: this.home, platform, env, launcher }
    mkdirSync(this.project, { recursive: true })
    mkdirSync(this.dataFolder, { recursive: true })
    initRepository(this.project)
    // As git makes it where it has no templates.
    remove(join(this.project, ".git", "hooks"))
  }

  place(scope: Scope): Place {
    return { machine: this.machine, scope, root: scope === "user" ? this.home : this.project }
  }

  files(client: string, scope: Scope): SettingsFile[] {
    return clientNamed(client).files(this.place(scope))
  }

  install(client: string, scope: Scope, choice: Choice = {}): Outcome[] {
    return installClient(clientNamed(client), this.place(scope), this.#options(choice))
  }

  uninstall(client: string, scope: Scope, choice: Choice = {}): Outcome[] {
    return uninstallClient(clientNamed(client), this.place(scope), this.#options(choice))
  }

  write(path: string, text: string, mode = 0o644): void {
    mkdirSync(dirname(path), { recursive: true })
    writeFileSync(path, text, { mode })
  }

  read(path: string): string {
    return readFileSync(path, "utf8")
  }

  /** Every file and folder with its mode and content, but for backups, git's own and our data. */
  tree(): Record<string, string> {
    const entries = readdirSync(this.home, { recursive: true, withFileTypes: true })
    const paths = entries.map((entry) => join(entry.parentPath, entry.name))
    const isOwn = (path: string) =>
      path.startsWith(join(this.home, "data")) || /\.signalbox\.bak\d*$/.test(path)
    const isGit = (path: string) => /\/\.git\/(?!hooks)/.test(path)
    return Object.fromEntries(
      paths
        .filter((path) => !isOwn(path) && !isGit(path))
        .map((path) => {
          const facts = statSync(path, { throwIfNoEntry: false })
          if (facts === undefined)
            return [relative(this.home, path), `link to nothing: ${readlinkSync(path)}`]
          const content = facts.isFile() ? readFileSync(path, "latin1") : "folder"
          return [relative(this.home, path), `${(facts.mode & 0o777).toString(8)} ${content}`]
        }),
    )
  }

  #options({ roles = [...ROLES], isDryRun = false }: Choice) {
    return { dataFolder: this.dataFolder, roles, isDryRun }
  }
}

/** Makes a machine that is gone after the test. */
export function createMachine(
  platform: NodeJS.Platform = "linux",
  env: Record<string, string> = {},
): TestMachine {
  return new TestMachine(platform, env)
}
