// Makes a checkout ready: installs when the lockfile is newer than what is installed, builds when a
// source is newer than the bundle. Runs before `npm start` and the tests, and does nothing the second time.
import { spawnSync } from "node:child_process"
import { existsSync, readdirSync, statSync, utimesSync } from "node:fs"
import { dirname, join } from "node:path"

const modifiedAt = (path) => (existsSync(path) ? statSync(path).mtimeMs : 0)

function newestIn(folder) {
  return Math.max(
    0,
    ...readdirSync(folder, { withFileTypes: true }).map((entry) => {
      const path = join(folder, entry.name)
      return entry.isDirectory() ? newestIn(path) : modifiedAt(path)
    }),
  )
}

// Where Node came with its own headers, the native module is built against them instead of a download.
const prefix = dirname(dirname(process.execPath))
const headers = existsSync(join(prefix, "include", "node", "node.h")) ? { npm_config_nodedir: prefix } : {}

function run(what, args) {
  // stdout may be the protocol's, so nothing of this may appear there.
  const { status } = spawnSync("npm", args, {
    stdio: ["ignore", 2, 2],
    env: { ...headers, ...process.env },
    shell: process.platform === "win32",
  })
  if (status === 0) return
  process.stderr.write(`${what} failed; see above.\n`)
  process.exit(status ?? 1)
}

if (modifiedAt("node_modules/.package-lock.json") < modifiedAt("package-lock.json")) {
  // Not npm ci: it refuses a lockfile without the optional binaries of platforms that nobody here has.
  run("npm install", ["install", "--no-save", "--no-audit", "--no-fund", "--loglevel=error"])
  // npm leaves its own record alone when nothing was to do, and this would install each time.
  utimesSync("node_modules/.package-lock.json", new Date(), new Date())
}
const inputs = Math.max(
  newestIn("src"),
  newestIn("scripts"),
  modifiedAt("tsup.config.ts"),
  modifiedAt("package.json"),
)
if (modifiedAt("dist/cli.js") < inputs) run("npm run build", ["run", "build", "--silent"])
