/** Makes text of the bytes of a file, in whichever encoding they are. */

/** A character in ten that no text has, and it is none. */
const CONTROLS_SHARE_MAX = 0.1

/**
 * Decodes a file: by its byte order mark, else as UTF-8 when it is valid, as UTF-16 when every other byte is
 * zero often enough, else in the older encoding that its bytes look most like: shift_jis, euc-kr, gb18030 or
 * windows-1252 (names of the WHATWG Encoding Standard). Lines end with `\n` as git counts them: the `\r`
 * before one goes, and any other stays. `empty` is what has nothing but white space; `binary` what is no
 * text.
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

/**
 * Decodes text of before Unicode. Each East Asian encoding is told by what its texts are mostly made of:
 * kana, Hangul, or the frequent Chinese characters, which its standard puts first. European text fails all
 * three, since its bytes above 0x7f seldom stand next to each other.
 */
function decodeLegacy(bytes: Uint8Array): string | null {
  const { pairs, frequent } = countPairs(bytes)
  const shiftJis = strictly("shift_jis", bytes)
  if (shiftJis !== null && shareOf(shiftJis, /[\u3041-\u30fe]/g) > 0.3) return shiftJis
  const eucKr = strictly("euc-kr", bytes)
  if (eucKr !== null && shareOf(eucKr, /[\uac00-\ud7a3]/g) > 0.8) return eucKr
  const chinese = pairs > 0 && frequent > pairs * 0.6 ? strictly("gb18030", bytes) : null
  if (chinese !== null) return chinese
  // Some releases of Node decode windows-1252 as if it were ISO 8859-1, which has no letters in this range.
  const western = new TextDecoder("windows-1252").decode(bytes)
  return western.replace(
    /[\u0080-\u009f]/g,
    (control) => WINDOWS_1252[control.charCodeAt(0) - 0x80] ?? control,
  )
}

/** The characters of the bytes 0x80 to 0x9f; five of them have none. */
const WINDOWS_1252 =
  "\u20ac\u0081\u201a\u0192\u201e\u2026\u2020\u2021\u02c6\u2030\u0160\u2039\u0152\u008d\u017d\u008f" +
  "\u0090\u2018\u2019\u201c\u201d\u2022\u2013\u2014\u02dc\u2122\u0161\u203a\u0153\u009d\u017e\u0178"

/** How many of the letters that are not ASCII match. */
function shareOf(text: string, pattern: RegExp): number {
  const letters = text.match(/[^\0-\x7f]/g)?.length ?? 0
  return letters === 0 ? 0 : (text.match(pattern)?.length ?? 0) / letters
}

/**
 * Reads bytes above 0xa0 in pairs, as GB 2312 has them; one that stands alone counts as a pair. `frequent`
 * are those of its first level of characters and of its punctuation.
 */
function countPairs(bytes: Uint8Array): { pairs: number; frequent: number } {
  let pairs = 0
  let frequent = 0
  for (let at = 0; at < bytes.length; at++) {
    const lead = bytes[at] ?? 0
    if (lead < 0x80) continue
    pairs++
    if (lead < 0xa1 || (bytes[at + 1] ?? 0) < 0xa1) continue
    at++
    if ((lead >= 0xb0 && lead <= 0xd7) || lead === 0xa1 || lead === 0xa3) frequent++
  }
  return { pairs, frequent }
}

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
