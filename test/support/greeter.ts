/** Stands for a listener: proves itself to whoever has read its pass, and answers what else it is asked as told. */

import { writeFileSync } from "node:fs"
import { createServer, type RequestListener } from "node:http"
import type { AddressInfo } from "node:net"
import { onTestFinished } from "vitest"
import {
  GREETING_BODY,
  GREETING_PATH,
  PROOF_HEADER,
  passPath,
  writePass,
} from "../../src/hook/proven-call.ts"

/**
 * Greets with a status until the test ends, and writes its pass beside a database; returns its URL. What asks
 * for anything else is left to `answer`; without one it is greeted too.
 */
export async function greeterAt(
  databasePath: string,
  status = 200,
  answer?: RequestListener,
): Promise<string> {
  const server = createServer((request, response) => {
    if (answer !== undefined && request.url !== GREETING_PATH) answer(request, response)
    else response.writeHead(status, { [PROOF_HEADER]: "proof", "Content-Length": 1 }).end(GREETING_BODY)
  })
  server.on("checkContinue", (request, response) => {
    response.socket?.write(`HTTP/1.1 100 Continue\r\n${PROOF_HEADER}: proof\r\n\r\n`)
    server.emit("request", request, response)
  })
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
  onTestFinished(() => void server.closeAllConnections())
  onTestFinished(() => void server.close())
  const { port } = server.address() as AddressInfo
  writeFileSync(
    passPath(databasePath),
    writePass({ port, token: "token", proof: "proof", pid: process.pid }),
    { mode: 0o600 },
  )
  return `http://127.0.0.1:${port}`
}
