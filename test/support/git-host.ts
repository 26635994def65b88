/** A host of git repositories on this machine, over https, that wants a user and a password. */

import { spawn } from "node:child_process"
import { createSign, generateKeyPairSync } from "node:crypto"
import type { IncomingMessage, ServerResponse } from "node:http"
import { createServer } from "node:https"
import type { AddressInfo } from "node:net"
import { onTestFinished } from "vitest"

interface GitHost {
  port: number
  /** What was asked for, as `<host> <path> <user:password>`. */
  asked: string[]
}

/**
 * Serves the repositories below a folder until the test ends. What is asked for below `/elsewhere/` is sent on to the
 * same place on `localhost`, which for git is another origin.
 */
export async function startGitHost(root: string, credentials: string): Promise<GitHost> {
  const asked: string[] = []
  const server = createServer(selfSigned(), (request, response) => {
    const { host = "", authorization = "" } = request.headers
    const given = Buffer.from(authorization.replace(/^Basic /, ""), "base64").toString()
    asked.push(`${host.replace(/:\d+$/, "")} ${request.url} ${given}`)
    if (request.url?.startsWith("/elsewhere/")) {
      const Location = `https://localhost:${port}${request.url.replace("/elsewhere", "")}`
      response.writeHead(302, { Location }).end()
    } else if (given !== credentials) {
      response.writeHead(401, { "WWW-Authenticate": 'Basic realm="test"' }).end()
    } else serve(root, request, response)
  })
  await new Promise<void>((settle) => server.listen(0, "127.0.0.1", settle))
  const { port } = server.address() as AddressInfo
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  return { port, asked }
}

/** Git's own program for hosts speaks CGI (RFC 3875). */
function serve(root: string, request: IncomingMessage, response: ServerResponse): void {
  const { pathname, search } = new URL(request.url ?? "/", "https://host")
  const child = spawn("git", ["http-backend"], {
    env: {
      PATH: process.env.PATH,
      GIT_PROJECT_ROOT: root,
      GIT_HTTP_EXPORT_ALL: "1",
      REQUEST_METHOD: request.method,
      PATH_INFO: pathname,
      QUERY_STRING: search.slice(1),
      CONTENT_TYPE: request.headers["content-type"] ?? "",
      HTTP_CONTENT_ENCODING: request.headers["content-encoding"] ?? "",
      GIT_PROTOCOL: String(request.headers["git-protocol"] ?? ""),
      REMOTE_USER: "test",
    },
    stdio: ["pipe", "pipe", "ignore"],
  })
  child.stdin.on("error", () => {})
  request.pipe(child.stdin)
  const pieces: Buffer[] = []
  child.stdout.on("data", (piece: Buffer) => pieces.push(piece))
  child.once("close", () => {
    const answer = Buffer.concat(pieces)
    const end = answer.indexOf("\r\n\r\n")
    const headers = answer.toString("latin1", 0, Math.max(end, 0)).split("\r\n")
    const status = headers.find((line) => line.startsWith("Status: "))
    response.statusCode = status === undefined ? 200 : Number(status.split(" ")[1])
    for (const line of headers) {
      const [name = "", value = ""] = line.split(": ")
      if (name !== "" && name !== "Status") response.setHeader(name, value)
    }
    response.end(answer.subarray(end + 4))
  })
}

/** Makes a certificate that nobody has signed but itself (RFC 5280, in DER). */
function selfSigned(): { key: string; cert: string } {
  const { privateKey, publicKey } = generateKeyPairSync("ec", { namedCurve: "P-256" })
  const algorithm = der(0x30, Buffer.from("06082a8648ce3d040302", "hex"))
  const name = der(
    0x30,
    der(0x31, der(0x30, Buffer.from("0603550403", "hex"), der(0x0c, Buffer.from("test")))),
  )
  const validity = der(0x30, utcTime("200101000000Z"), utcTime("491231235959Z"))
  const version = Buffer.from("a003020102", "hex")
  const serial = Buffer.from("020101", "hex")
  const key = publicKey.export({ type: "spki", format: "der" })
  const certified = der(0x30, version, serial, algorithm, name, validity, name, key)
  const signature = createSign("sha256").update(certified).sign(privateKey)
  const certificate = der(0x30, certified, algorithm, der(0x03, Buffer.from([0]), signature))
  const lines = certificate.toString("base64").match(/.{1,64}/g) ?? []
  return {
    key: privateKey.export({ type: "pkcs8", format: "pem" }).toString(),
    cert: ["-----BEGIN CERTIFICATE-----", ...lines, "-----END CERTIFICATE-----", ""].join("\n"),
  }
}

function utcTime(text: string): Buffer {
  return der(0x17, Buffer.from(text))
}

/** Returns a value of ASN.1 with its tag and its length before it. */
function der(tag: number, ...contents: Buffer[]): Buffer {
  const content = Buffer.concat(contents)
  const { length } = content
  const head = length < 128 ? [tag, length] : [tag, 0x82, length >> 8, length & 255]
  return Buffer.concat([Buffer.from(head), content])
}
