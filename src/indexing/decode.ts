/** Makes text of the bytes of a file, in whichever encoding they are. */

import { analyse } from "chardet"

/** A character in ten that no text has, and it is none. */
const CONTROLS_SHARE_MAX = 0.1

/**
 * Decodes a file: by its byte order mark, else as UTF-8 when it is valid, as UTF-16 when every other byte is
 * zero often enough, else in the older encoding of East Asia or Europe that its bytes look most like by the
 * statistics of ICU, windows-1252 when they tell nothing. Lines end with `\n` as git counts them: the `\r`
 * before one goes, and any other stays. `empty` is what has nothing but white space; `binary` what is no text.
 */
export function decodeText(bytes: Uint8Array): { text: string } | { problem: "binary" | "empty" } {
  const decoded = decode(bytes)
  if (decoded === null || isBinary(decoded)) return { problem: "binary" }
  const text = decoded.includes("\r\n") ? decoded.replace(/(?<!\r)\r+\n/g, "\n") : decoded
  return /\S/.test(text) ? { text } : { problem: "empty" }
}

function decode(bytes: Uint8Array): string | null {
  const [first, second, third] = bytes
  if (first === 0xef && second === 0xbb && third === 0xbf) {
    return strictly("utf-8", bytes) ?? new TextDecoder("utf-8").decode(bytes)
  }
  if (first === 0xff && second === 0xfe) return new TextDecoder("utf-16le").decode(bytes)
  if (first === 0xfe && second === 0xff) return new TextDecoder("utf-16be").decode(bytes)
  if (bytes.includes(0)) return decodeUtf16(bytes)
  return strictly("utf-8", bytes) ?? decodeLegacy(bytes)
}

/** The text of bytes that are valid in an encoding, without a byte order mark; null when they are not. */
function strictly(encoding: string, bytes: Uint8Array): string | null {
  try {
    return new TextDecoder(encoding, { fatal: true }).decode(bytes)
  } catch {
    // Also where Node was built without the encoding.
    return null
  }
}

/** Of so few a file with one stray NUL cannot be told. */
const UTF16_ZEROS_MIN = 3

/** In text of any script the spaces and line ends have a zero byte, on one side always the same. */
function decodeUtf16(bytes: Uint8Array): string | null {
  const zeros: [even: number, odd: number] = [0, 0]
  for (let at = 0; at < bytes.length; at++) if (bytes[at] === 0) zeros[at % 2 === 0 ? 0 : 1]++
  const [even, odd] = zeros
  const zerosMin = Math.max(UTF16_ZEROS_MIN, bytes.length * 0.02)
  if (bytes.length % 2 !== 0 || Math.max(even, odd) < zerosMin) return null
  if (Math.min(even, odd) > Math.max(even, odd) * 0.05) return null
  return strictly(odd > even ? "utf-16le" : "utf-16be", bytes)
}

/** Bytes above 0x7f without which nothing is guessed: a name or two look like Baltic or Vietnamese as well. */
const HIGH_BYTES_MIN = 8
/** Of 100. What is less sure than this is more often wrong than right. */
const CONFIDENCE_MIN = 30
const SAMPLE_BYTES_MIN = 400
const SAMPLE_BYTES_MAX = 65_536

/** What the package calls text of Western Europe, with and without bytes from 0x80 to 0x9f. */
const WESTERN = ["windows-1252", "ISO-8859-1"]

/** Decodes text of before Unicode, as windows-1252 when nothing tells another encoding. */
function decodeLegacy(bytes: Uint8Array): string {
  const sample = sampleOf(bytes)
  const guess = sample === null ? undefined : analyse(sample)[0]
  const isOther = guess !== undefined && guess.confidence >= CONFIDENCE_MIN && !WESTERN.includes(guess.name)
  const text = isOther ? strictly(guess.name, bytes) : null
  if (text !== null) return text
  // Some releases of Node decode windows-1252 as if it were ISO 8859-1, which has no letters in this range.
  const western = new TextDecoder("windows-1252").decode(bytes)
  return western.replace(
    /[\u0080-\u009f]/g,
    (control) => WINDOWS_1252[control.charCodeAt(0) - 0x80] ?? control,
  )
}

/**
 * Returns what the encoding is guessed by, null when it is too little: the first lines that are not all
 * ASCII, for English or code around them would count as the language. Few of them are repeated, since the
 * package is sure of East Asian text from some length on only.
 */
function sampleOf(bytes: Uint8Array): Uint8Array | null {
  const lines: Uint8Array[] = []
  let length = 0
  for (let at = 0; at < bytes.length && length < SAMPLE_BYTES_MAX; at++) {
    if ((bytes[at] ?? 0) <= 0x7f) continue
    const from = Math.max(bytes.lastIndexOf(0x0a, at) + 1, at - SAMPLE_BYTES_MIN)
    const end = bytes.indexOf(0x0a, at)
    const to = Math.min(end < 0 ? bytes.length : end + 1, from + SAMPLE_BYTES_MAX)
    lines.push(bytes.subarray(from, to))
    length += to - from
    at = to
  }
  const once = Buffer.concat(lines)
  if (once.filter((byte) => byte > 0x7f).length < HIGH_BYTES_MIN) return null
  return Buffer.concat(Array.from({ length: Math.ceil(SAMPLE_BYTES_MIN / length) }, () => once))
}

/** The characters of the bytes 0x80 to 0x9f; five of them have none. */
const WINDOWS_1252 =
  "\u20ac\u0081\u201a\u0192\u201e\u2026\u2020\u2021\u02c6\u2030\u0160\u2039\u0152\u008d\u017d\u008f" +
  "\u0090\u2018\u2019\u201c\u201d\u2022\u2013\u2014\u02dc\u2122\u0161\u203a\u0153\u009d\u017e\u0178"

/** Whether a text has NUL characters, or too many others that control devices. */
function isBinary(text: string): boolean {
  if (text.includes("\0")) return true
  let controls = 0
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at)
    const isWhite = (code >= 0x08 && code <= 0x0d) || code === 0x1b
    if ((code < 0x20 && !isWhite) || (code >= 0x7f && code < 0xa0) || code === 0xfffd) controls++
  }
  return controls > text.length * CONTROLS_SHARE_MAX
}
