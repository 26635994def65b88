/** Encoded data in documents, such as what stands in the address of a playground: shown, but not searched. */

/** A run of its characters is data from this length on; words and paths are shorter. */
const DATA_CHARS_MIN = 200
const DATA_CHARS_KEPT = 30
/** The characters of base64, base64url and percent encoding; code and JSON have others as well. */
const DATA_CODES = new Set(
  Array.from("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/=%_~-", (sign) =>
    sign.charCodeAt(0),
  ),
)

/**
 * Returns a text in which every run of 200 or more characters of encoded data is cut to its first 30 and `…`; lines
 * stay lines. It takes time in step with the length.
 */
export function withoutData(text: string): string {
  const kept: string[] = []
  let from = 0
  for (let at = 0; at < text.length; ) {
    let end = at
    while (end < text.length && DATA_CODES.has(text.charCodeAt(end))) end++
    if (end - at >= DATA_CHARS_MIN) {
      kept.push(text.slice(from, at + DATA_CHARS_KEPT), "…")
      from = end
    }
    at = end + 1
  }
  return from === 0 ? text : kept.join("") + text.slice(from)
}
