/** Installs the pinned clients, each into a folder of its own, and knows how they are started. */

import { spawn } from "node:child_process"
import { once } from "node:events"
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { fieldsOf } from "./model/json.ts"
import { DISK_GB, RELEASES, type Release, type ReleaseName } from "./versions.ts"

/**
 * Installs what is not there in its version yet, one after the other; what npm says goes to stderr. Throws when npm
 * fails. Needs the network only for what is missing.
 */
export async function install(folder: string, names: readonly ReleaseName[]): Promise<void> {
  const wanted = names.some((name) => newerNodeFor(name)) ? [...new Set([...names, "node" as const])] : names
  const missing = wanted.filter((name) => !isInstalled(folder, name))
  if (missing.length === 0) return
  console.log(
    `Installing ${missing.join(", ")} into ${folder}. All clients together take about ${DISK_GB} GB.`,
  )
  for (const name of missing) {
    const { package: packageName, version } = RELEASES[name]
    const home = homeOf(folder, name)
    mkdirSync(home, { recursive: true })
    writeFileSync(join(home, "package.json"), '{ "private": true }\n')
    const npm = spawn("npm", ["install", "--no-audit", "--no-fund", `${packageName}@${version}`], {
      cwd: home,
      stdio: ["ignore", 2, 2],
    })
    const [code] = await once(npm, "exit")
    if (code !== 0) throw new Error(`npm could not install ${packageName}@${version} into ${home}`)
  }
}

/** Returns the words that start an installed client. */
export function startOf(folder: string, name: ReleaseName): string[] {
  const program = commandOf(folder, name)
  return newerNodeFor(name) ? [commandOf(folder, "node"), program] : [program]
}

/** Whether a release is installed whole: npm writes this record when it has put everything in place. */
function isInstalled(folder: string, name: ReleaseName): boolean {
  const record = join(homeOf(folder, name), "node_modules", ".package-lock.json")
  if (!existsSync(record) || !existsSync(commandOf(folder, name))) return false
  const { package: packageName, version } = RELEASES[name]
  const packages = fieldsOf(fieldsOf(JSON.parse(readFileSync(record, "utf8"))).packages)
  return fieldsOf(packages[`node_modules/${packageName}`]).version === version
}

function newerNodeFor(name: ReleaseName): boolean {
  const { nodeMajor = 0 }: Release = RELEASES[name]
  return Number.parseInt(process.versions.node, 10) < nodeMajor
}

function commandOf(folder: string, name: ReleaseName): string {
  return join(homeOf(folder, name), "node_modules", ".bin", RELEASES[name].command)
}

function homeOf(folder: string, name: ReleaseName): string {
  return join(folder, `${name}-${RELEASES[name].version}`)
}
