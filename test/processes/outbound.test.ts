import { spawnSync } from "node:child_process"
import { existsSync, readFileSync } from "node:fs"
import { connect } from "node:net"
import { join } from "node:path"
import { describe, expect, test } from "vitest"
import { temporaryFolder } from "../support/temporary-folder.ts"

/** An address of nobody (RFC 5737). */
const ELSEWHERE = "192.0.2.1"

describe("the test suite connects to this machine only", () => {
  test("a process of the suite that connects elsewhere fails and is written down", () => {
    const log = join(temporaryFolder(), "log")
    const attempts = [
      `require("node:net").connect(80, "${ELSEWHERE}")`,
      `require("node:http").get("http://${ELSEWHERE}/")`,
      `require("node:dns").lookup("example.org", () => {})`,
      `require("node:dgram").createSocket("udp4").send("x", 53, "${ELSEWHERE}")`,
      `fetch("http://${ELSEWHERE}/").catch(() => process.exit(1))`,
      `new (require("node:worker_threads").Worker)('require("node:net").connect(80, "${ELSEWHERE}")', { eval: true })`,
    ]
    for (const [index, code] of attempts.entries()) {
      const env = { ...process.env, SIGNALBOX_TEST_OUTBOUND: log }
      const { status } = spawnSync(process.execPath, ["-e", code], { env, stdio: "ignore" })
      expect(status, code).not.toBe(0)
      expect(readFileSync(log, "utf8").trim().split("\n"), code).toHaveLength(index + 1)
    }
  })

  test("a process that connects to this machine is left alone", () => {
    const log = join(temporaryFolder(), "log")
    const code = `const server = require("node:http").createServer((_, response) => response.end("here"))
      server.listen(0, "127.0.0.1", async () => {
        const { port } = server.address()
        for (const host of ["127.0.0.1", "localhost"]) await fetch(\`http://\${host}:\${port}/\`).catch((error) => {
          if (host === "127.0.0.1") throw error
        })
        process.exit(0)
      })`
    const env = { ...process.env, SIGNALBOX_TEST_OUTBOUND: log }
    expect(spawnSync(process.execPath, ["-e", code], { env, stdio: "ignore" }).status).toBe(0)
    expect(existsSync(log)).toBe(false)
  })

  test("the guard holds where the tests themselves run", () => {
    const before = process.env.SIGNALBOX_TEST_OUTBOUND
    process.env.SIGNALBOX_TEST_OUTBOUND = ""
    try {
      expect(() => connect(80, ELSEWHERE)).toThrow("this machine only")
    } finally {
      process.env.SIGNALBOX_TEST_OUTBOUND = before
    }
  })
})
