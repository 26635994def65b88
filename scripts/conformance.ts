/**
 * Runs the conformance suite of the Model Context Protocol against `/mcp`, for both protocol eras. Fails on
 * every check that fails and does not stand in docs/conformance.md, and on every line there that no failing
 * check needs any more. Needs the network: npx fetches the suite, and a Node that it runs on.
 */

import { spawn } from "node:child_process"
import { readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { openAppAlone } from "../src/app.ts"
import { readConfig } from "../src/config/config.ts"
import type { HttpApp } from "../src/http/app.ts"
import { HttpServer } from "../src/http/server.ts"
import { localKeyText } from "../src/operations/keys.ts"
import { servedHttp } from "../src/serve.ts"
import { makeTemporaryFolder, remove } from "./removal.ts"

const SUITE = "@modelcontextprotocol/conformance"
const RUNS = [
  { version: "0.1.16", args: "--suite active" },
  { version: "0.2.0-alpha.12", args: "--requirements 2025-11-25" },
  { version: "0.2.0-alpha.12", args: "--requirements 2026-07-28" },
]
/** The suite needs what older Nodes do not have. */
const SUITE_NODE_MAJOR = 24
const DOCUMENT = fileURLToPath(new URL("../docs/conformance.md", import.meta.url))

interface Check {
  scenario: string
  id: string
  status: string
  errorMessage?: string
}

/** A line of the document: failures that are expected, with a star at the end of a name for any rest. */
interface Expected {
  scenario: string
  id: string
}

function readExpected(): Expected[] {
  const lines = readFileSync(DOCUMENT, "utf8").matchAll(/^\| `([^`]+)` \| `([^`]+)` \|/gm)
  return [...lines].map(([, scenario = "", id = ""]) => ({ scenario, id }))
}

function isExpected(check: Check, { scenario, id }: Expected): boolean {
  return fits(scenario, check.scenario) && fits(id, check.id)
}

function fits(pattern: string, name: string): boolean {
  return pattern.endsWith("*") ? name.startsWith(pattern.slice(0, -1)) : name === pattern
}

/** Runs the suite once; returns what it checked. */
async function runSuite(run: (typeof RUNS)[number], url: string, folder: string): Promise<Check[]> {
  const output = join(folder, `${run.version} ${run.args}`.replace(/[^\w.]+/g, "-"))
  const packages = [`${SUITE}@${run.version}`]
  if (Number.parseInt(process.versions.node, 10) < SUITE_NODE_MAJOR)
    packages.unshift(`node@${SUITE_NODE_MAJOR}`)
  const command = `conformance server --url ${url}/mcp ${run.args} --output-dir ${output}`
  const args = ["-y", ...packages.flatMap((name) => ["-p", name]), "-c", command]
  // Its exit code says that something failed, which is normal here; what failed stands in the results.
  await new Promise<void>((resolve, reject) => {
    const child = spawn("npx", args, { stdio: "ignore", cwd: folder })
    child.once("error", reject)
    child.once("close", () => resolve())
  })
  return readResults(output)
}

/** Reads the results: a folder `server-<scenario>-<time>` with a list of checks for each scenario. */
function readResults(folder: string): Check[] {
  return readdirSync(folder).flatMap((name) => {
    const scenario = /^server-(.+)-\d{4}-\d\d-\d\dT/.exec(name)?.[1]
    if (scenario === undefined) throw new Error(`the suite wrote results of an unknown form: ${name}`)
    const checks = JSON.parse(readFileSync(join(folder, name, "checks.json"), "utf8")) as Check[]
    return checks.map((check) => ({ ...check, scenario }))
  })
}

/** Serves the product on any port. The suite cannot send a key, so each request gets one here. */
async function serve(folder: string): Promise<{ url: string; close(): Promise<void> }> {
  const env = { SIGNALBOX_DB: join(folder, "conformance.db"), SIGNALBOX_LIMITS: "off", SIGNALBOX_LOG: "warn" }
  const app = await openAppAlone(readConfig({ env, home: folder, workingFolder: folder }))
  const key = await localKeyText(app)
  const served = servedHttp(app)
  const withKey = (http: HttpApp): HttpApp => ({
    ...http,
    fetch(request, bindings) {
      const keyed = request.clone()
      keyed.headers.set("Authorization", `Bearer ${key}`)
      return http.fetch(keyed, bindings)
    },
  })
  const urlOf = (port: number) => `http://127.0.0.1:${port}`
  const makeHttp = (port: number) => withKey(served.makeHttp({ url: urlOf(port) }))
  const server = await HttpServer.listen(0, makeHttp, app.log)
  return {
    url: urlOf(server.port),
    async close() {
      await server.close()
      await served.close()
      await app.close()
    },
  }
}

/** Prints one run and returns its unexpected failures. */
function report(
  run: (typeof RUNS)[number],
  checks: readonly Check[],
  expected: readonly Expected[],
): Check[] {
  const failed = checks.filter(({ status }) => status === "FAILURE")
  const passed = checks.filter(({ status }) => status === "SUCCESS")
  const surprising = failed.filter((check) => !expected.some((one) => isExpected(check, one)))
  console.log(
    `${run.version} ${run.args}: ${passed.length} passed, ${failed.length - surprising.length} failed as listed`,
  )
  for (const { scenario, id, errorMessage } of surprising)
    console.log(`  FAILED ${scenario} ${id}: ${errorMessage ?? "no reason given"}`)
  if (passed.length === 0)
    throw new Error("the suite passed nothing: it did not run, or not against this server")
  return surprising
}

const folder = makeTemporaryFolder()
const server = await serve(folder)
try {
  const expected = readExpected()
  const all: Check[] = []
  let surprises = 0
  for (const run of RUNS) {
    const checks = await runSuite(run, server.url, folder)
    all.push(...checks)
    surprises += report(run, checks, expected).length
  }
  const failed = all.filter(({ status }) => status === "FAILURE")
  const stale = expected.filter((one) => !failed.some((check) => isExpected(check, one)))
  for (const { scenario, id } of stale) console.log(`  LISTED but passing: ${scenario} ${id}`)
  process.exitCode = surprises + stale.length === 0 ? 0 : 1
} finally {
  await server.close()
  remove(folder)
}
