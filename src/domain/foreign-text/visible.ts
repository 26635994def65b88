/**
 * Text that others supplied, where people read it: characters that act on a terminal or hide what is written are
 * shown as signs. Line breaks and tabs stay.
 */

const PICTURES_AT = 0x2400
const PICTURE_OF_DELETE = "\u2421"
const UNKNOWN = "\ufffd"
const SIGN_OF_BREAK = "\u23ce"

/** Scripts whose words are written with joiners between their letters. */
const JOINED_LETTER = `(?=[\\p{L}\\p{M}])[${[
  "Arabic",
  "Bengali",
  "Devanagari",
  "Gujarati",
  "Gurmukhi",
  "Kannada",
  "Khmer",
  "Malayalam",
  "Myanmar",
  "Oriya",
  "Sinhala",
  "Syriac",
  "Tamil",
  "Telugu",
]
  .map((script) => `\\p{Script=${script}}`)
  .join("")}]`
const PICTOGRAPH = "\\p{Extended_Pictographic}"
/** What is not seen by itself but belongs to how a word or an emoji is written. */
const IN_PLACE = [
  `(?<=${PICTOGRAPH}[\\ufe0f\\u{1f3fb}-\\u{1f3ff}]?)\\u200d(?=${PICTOGRAPH})`,
  `(?<=${JOINED_LETTER})[\\u200c\\u200d](?=${JOINED_LETTER})`,
  "(?<=\\p{Emoji})[\\ufe0e\\ufe0f]",
].join("|")
/** Lone surrogates, line and paragraph separators, all that Unicode has for being ignored, marks of annotation. */
const HIDDEN = "[\\p{Cs}\\u2028\\u2029\\p{Default_Ignorable_Code_Point}\\ufff9-\\ufffb]"
const HIDDEN_RUN = `(?:(?!${IN_PLACE})${HIDDEN})+`

const PLAIN = /^[\n\t -~]*$/

/** Made when it is needed first: most processes see plain texts only. */
let acting: RegExp | undefined
const actingCharacters = () => (acting ??= new RegExp(`(?![\\n\\t])\\p{Cc}|${HIDDEN_RUN}`, "gu"))

/**
 * Returns a text with a sign for each control character, and one for each run of characters that are not seen: those
 * that turn the direction of writing, have no width, are ignored, or stand for nothing alone.
 */
export function visible(text: string): string {
  if (PLAIN.test(text)) return text
  return text.replace(/\r(?=\n)/g, "").replace(actingCharacters(), (characters) => {
    const code = characters.charCodeAt(0)
    if (code === 0x7f) return PICTURE_OF_DELETE
    return code < 0x20 ? String.fromCharCode(PICTURES_AT + code) : UNKNOWN
  })
}

/** Returns the same on one line: white space as one space, with a sign where it held a line break. */
export function visibleLine(text: string): string {
  const line = text
    .trim()
    .replace(/[\s\u0085]+/gu, (white) =>
      /^[^\n\r\v\f\u0085\u2028\u2029]*$/.test(white) ? " " : ` ${SIGN_OF_BREAK} `,
    )
  return visible(line)
}

/** Returns the same with a sign for each line break and white space as it is: for words that are to be copied. */
export function visibleWord(text: string): string {
  return visible(text).replaceAll("\n", SIGN_OF_BREAK)
}

/** Returns a value as JSON with the same characters as escapes, which any reader of JSON undoes; `indent` in spaces. */
export function visibleJson(value: unknown, indent = 0): string {
  // JSON itself has escaped the other line breaks: those that are left are its own.
  const json = JSON.stringify(value, null, indent) ?? "null"
  if (PLAIN.test(json)) return json
  return json.replace(actingCharacters(), (characters) => characters.split("").map(escaped).join(""))
}

function escaped(unit: string): string {
  return `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`
}
