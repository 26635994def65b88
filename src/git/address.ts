/** Addresses that repositories are cloned from: which ones may be, and what stands in them. */

/** Of an https address; kept in memory for the command that names it, and nowhere else. */
export interface GitCredentials {
  /** Where they are valid: scheme, host and port. */
  origin: string
  username: string
  /** Undefined where the address names the user alone, whose password git finds itself. */
  password: string | undefined
}

export interface GitAddress {
  /** What git is given and what is stored: an https address without user and password. */
  url: string
  /** In lower case, with the port unless it is the scheme's own; empty for a folder of this machine. */
  host: string
  /** The folder of a `file://` address. */
  folder: string | undefined
  credentials: GitCredentials | undefined
}

const URL_PARTS = /^(https|ssh|file):\/\/(?:([^/@]*)@)?([^/@]*)(\/.*)?$/
const SSH_SHORT_FORM = /^([\w.+][\w.+-]*)@(\[[\da-fA-F:.]+\]|[A-Za-z\d][\w.-]*):((?!:)[^-].*)$/
const HOST = /^((?:[A-Za-z\d][\w.-]*|\[[\da-fA-F:.]+\]))(?::(\d{1,5}))?$/
const OWN_PORTS: Record<string, string> = { https: "443", ssh: "22" }
/** Also what cannot be seen, or is a separator to some programs and not to others. */
const FORBIDDEN = /[\s\p{Cc}\p{Cf}\\]/u

/** Whether a text is an address that may be cloned; see `parseGitUrl`. */
export function isGitUrl(text: string): boolean {
  return parseGitUrl(text) !== undefined
}

/**
 * Returns the parts of an address that may be cloned: https, ssh, `user@host:path` or file. Undefined for addresses
 * without encryption, such as `http://` and `git://`, those that name a program, and options. Git and what it starts
 * decode an address, so it is looked at as it stands and decoded, again and again. A host is ASCII as it stands:
 * of two that look alike, one could be looked at and the other asked.
 */
export function parseGitUrl(text: string): GitAddress | undefined {
  if (FORBIDDEN.test(text) || text.startsWith("-")) return undefined
  if (!text.includes("://")) {
    const [, , host = ""] = SSH_SHORT_FORM.exec(text) ?? []
    return host === ""
      ? undefined
      : { url: text, host: host.toLowerCase(), folder: undefined, credentials: undefined }
  }
  if (/%(?![\da-fA-F]{2})/.test(text)) return undefined
  // Of bytes above ASCII each would read as a character of its own, and some of those control nothing.
  for (let before = text, now = decoded(text); now !== before; before = now, now = decoded(now)) {
    if ([...now].some((character) => character < " " || character === "\x7f" || character === "\\"))
      return undefined
  }
  const [, scheme, user, authority = "", path = ""] = URL_PARTS.exec(text) ?? []
  if (scheme === "file") return user === undefined && authority === "" ? fileAddress(text, path) : undefined
  const [, host, port] = HOST.exec(authority) ?? []
  if (scheme === undefined || host === undefined || Number(port ?? 0) > 65_535) return undefined
  const place = host.toLowerCase() + (port === undefined || port === OWN_PORTS[scheme] ? "" : `:${port}`)
  if (user === undefined) return { url: text, host: place, folder: undefined, credentials: undefined }
  // ssh would be given a password as part of the name.
  if (scheme === "ssh")
    return /^[\w.+][\w.+-]*$/.test(user)
      ? { url: text, host: place, folder: undefined, credentials: undefined }
      : undefined
  const credentials = credentialsIn(user, `https://${authority}`)
  return credentials && { url: `https://${authority}${path}`, host: place, folder: undefined, credentials }
}

function fileAddress(url: string, path: string): GitAddress | undefined {
  const folder = utf8Decoded(path)
  // Two slashes begin the name of another machine on some systems.
  if (folder === undefined || !/^\/[^/-]/.test(folder)) return undefined
  return { url, host: "", folder, credentials: undefined }
}

function credentialsIn(user: string, origin: string): GitCredentials | undefined {
  const colon = user.indexOf(":")
  const username = utf8Decoded(colon < 0 ? user : user.slice(0, colon))
  const password = colon < 0 ? undefined : utf8Decoded(user.slice(colon + 1))
  const isRefused =
    username === undefined || username.startsWith("-") || (colon >= 0 && password === undefined)
  return isRefused || /[?#]/.test(user) || user === "" ? undefined : { origin, username, password }
}

function utf8Decoded(text: string): string | undefined {
  try {
    return decodeURIComponent(text)
  } catch {
    return undefined
  }
}

function decoded(text: string): string {
  return text.replace(/%([\da-fA-F]{2})/g, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)))
}
