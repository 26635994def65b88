/**
 * What stands in front of everything that the listener answers: one decision from a request's head. It
 * keeps out web pages (which the browser marks by Origin and Sec-Fetch-Site), names that were made to
 * point here (DNS rebinding, which shows in Host), forms (by content type) and bodies beyond the cap.
 */

/** What the guard looks at; absent headers are undefined. */
export interface RequestFacts {
  method: string
  /** The request target as it came, such as `/api/v1/memories?limit=3`. */
  target: string
  host: string | undefined
  origin: string | undefined
  secFetchSite: string | undefined
  contentType: string | undefined
  contentLength: string | undefined
  /** Whether a body of undeclared size follows. */
  isChunked: boolean
}

interface Refusal {
  status: 400 | 403 | 413 | 415
  message: string
}

const WRITING_METHODS = ["POST", "PUT", "PATCH", "DELETE"]

/**
 * Returns why a request to the listener on `port` is refused, or null. `bodyBytesMax` is the cap of what
 * it asks for; a body of undeclared size is cut off there as it is read.
 */
export function guardRequest(facts: RequestFacts, port: number, bodyBytesMax: number): Refusal | null {
  if (!facts.target.startsWith("/")) return { status: 400, message: "the request target must be a path" }
  if (!isOwnName(facts.host, port)) {
    return { status: 403, message: `the Host header must be 127.0.0.1:${port} or localhost:${port}` }
  }
  if (facts.origin !== undefined && !isOwnOrigin(facts.origin, port)) {
    return { status: 403, message: "requests of web pages from elsewhere are refused" }
  }
  // Only browsers send this one; "none" is what the user typed in the address bar.
  if (!["same-origin", "none", undefined].includes(facts.secFetchSite?.toLowerCase())) {
    return { status: 403, message: "requests of web pages from elsewhere are refused" }
  }
  return guardBody(facts, bodyBytesMax)
}

function guardBody(facts: RequestFacts, bodyBytesMax: number): Refusal | null {
  const declaredBytes = Number(facts.contentLength ?? 0)
  const hasBody = facts.isChunked || declaredBytes > 0
  const isTyped = facts.contentType !== undefined && WRITING_METHODS.includes(facts.method)
  if ((hasBody || isTyped) && !isJson(facts.contentType)) {
    return { status: 415, message: "the Content-Type of a body must be application/json" }
  }
  return declaredBytes > bodyBytesMax ? tooLarge(bodyBytesMax) : null
}

/** Returns the refusal of a body beyond the cap, declared or not. */
export function tooLarge(bodyBytesMax: number): Refusal {
  return { status: 413, message: `a body must have at most ${bodyBytesMax.toLocaleString("en-US")} bytes` }
}

/** Names are compared whole: `localhost.evil.example` begins like one of ours and is none. */
function isOwnName(host: string | undefined, port: number): boolean {
  return [`127.0.0.1:${port}`, `localhost:${port}`].includes(host?.toLowerCase() ?? "")
}

function isOwnOrigin(origin: string, port: number): boolean {
  const lower = origin.toLowerCase()
  return lower.startsWith("http://") && isOwnName(lower.slice("http://".length), port)
}

function isJson(contentType: string | undefined): boolean {
  return contentType?.split(";", 1)[0]?.trim().toLowerCase() === "application/json"
}
