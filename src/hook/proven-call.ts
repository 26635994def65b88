/**
 * Calls to the listener of this machine, which has to prove itself first: whoever bound its port after a
 * crash gets the token of a listener that is gone, and nothing else. For the hook's Node form, which is
 * copied out of the package, and for commands; it imports nothing but Node.
 */

import { readFileSync, statSync } from "node:fs"
import { connect } from "node:net"
import { isAbsolute } from "node:path"

export const GREETING_PATH = "/api/coordination/greeting"
/** Carries the proof in the head of a greeting's answer; in the case in which the shell form looks for it. */
export const PROOF_HEADER = "x-signalbox-proof"
/** The body of a greeting's answer: with it one read of a shell, up to a NUL, takes the whole of it. */
export const GREETING_BODY = "\0"
const GREETING_BYTES_MAX = 16 * 1024

/** What a listener writes at its start for those that may read its owner's files. */
export interface ListenerPass {
  /** Its process: whoever has seen a call and waited for its end has token and proof, and is another one. */
  pid: number
  port: number
  /** Opens the greeting and the hook, as long as this listener lives. */
  token: string
  /** What a greeting with the token is answered with. */
  proof: string
}

export interface ProvenCall {
  method: "GET" | "POST"
  path: string
  headers: Record<string, string | number>
  body?: Buffer
}

/** Returns where the pass to the listener of a database stands. */
export function passPath(databasePath: string): string {
  return `${databasePath.replace(/\.db$/, "")}.hook.curl`
}

/** Returns a pass as text: four lines that a shell reads one by one. */
export function writePass({ port, token, proof, pid }: ListenerPass): string {
  return `url = "http://127.0.0.1:${port}"\ntoken = "${token}"\nproof = "${proof}"\npid = "${pid}"\n`
}

/**
 * Returns the pass of a database's listener; undefined when there is none, its process has ended or is another
 * user's, or the file holds anything else.
 */
export function readPass(databasePath: string): ListenerPass | undefined {
  const path = passPath(databasePath)
  if (!isAbsolute(path)) return undefined
  try {
    if (!statSync(path).isFile()) return undefined
    const form =
      /^url = "http:\/\/127\.0\.0\.1:(\d{1,5})"\ntoken = "([\w-]+)"\nproof = "([\w-]+)"\npid = "([1-9]\d{0,9})"\n$/
    const [, port = "", token = "", proof = "", pid = ""] = form.exec(readFileSync(path, "utf8")) ?? []
    if (port === "") return undefined
    process.kill(Number(pid), 0)
    return { port: Number(port), token, proof, pid: Number(pid) }
  } catch {
    return undefined
  }
}

/**
 * Greets the listener with the token alone, and makes the call on the same connection once the proof has
 * come. Returns the answer's status and body, or undefined when nobody proves to be the listener or the
 * answer is not whole after `timeoutMs`.
 */
export function callProven(
  pass: ListenerPass,
  call: ProvenCall,
  timeoutMs: number,
): Promise<{ status: number; body: string } | undefined> {
  return new Promise((resolve) => {
    let greeting = Buffer.alloc(0)
    let answer: Buffer[] | undefined
    const socket = connect({ port: pass.port, host: "127.0.0.1", noDelay: true })
    const timer = setTimeout(() => socket.destroy(), timeoutMs)
    socket.on("data", (chunk: Buffer) => {
      if (answer !== undefined) {
        answer.push(chunk)
        return
      }
      greeting = Buffer.concat([greeting, chunk])
      const text = greeting.toString("latin1")
      if (isProven(text, pass)) {
        answer = []
        socket.write(headOf(pass, call), "latin1")
        socket.write(call.body ?? "")
      } else if (text.includes(GREETING_BODY) || greeting.length > GREETING_BYTES_MAX) socket.destroy()
    })
    socket.on("error", () => {})
    socket.on("close", () => {
      clearTimeout(timer)
      resolve(answer && answerIn(Buffer.concat(answer).toString("utf8")))
    })
    const headers = [`Host: 127.0.0.1:${pass.port}`, `Authorization: Bearer ${pass.token}`]
    socket.write([`GET ${GREETING_PATH} HTTP/1.1`, ...headers, "", ""].join("\r\n"))
  })
}

function isProven(greeting: string, { proof }: ListenerPass): boolean {
  const [head = "", ...rest] = greeting.split("\r\n\r\n")
  const [status = "", ...lines] = head.split("\r\n")
  return (
    status.startsWith("HTTP/1.1 200 ") &&
    lines.includes(`${PROOF_HEADER}: ${proof}`) &&
    rest.join() === GREETING_BODY
  )
}

/** In version 1.0 the answer ends with the connection and comes in one piece. */
function headOf({ port }: ListenerPass, { method, path, headers, body }: ProvenCall): string {
  const all = {
    Host: `127.0.0.1:${port}`,
    ...headers,
    ...(body && { "Content-Type": "application/json", "Content-Length": body.length }),
  }
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}`)
  return [`${method} ${path} HTTP/1.0`, ...lines, "", ""].join("\r\n")
}

function answerIn(response: string): { status: number; body: string } | undefined {
  const headEnd = response.indexOf("\r\n\r\n")
  const [, status] = /^HTTP\/1\.1 (\d{3}) /.exec(response) ?? []
  return status === undefined || headEnd < 0
    ? undefined
    : { status: Number(status), body: response.slice(headEnd + 4) }
}
