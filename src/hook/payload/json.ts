/** Looking into JSON of unknown shape without believing anything of it. */

export type JsonObject = Readonly<Record<string, unknown>>

/** Returns the value that a text stands for, or undefined when it is no JSON. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** Returns the value as an object with named fields, or undefined for arrays, scalars and null. */
export function asObject(value: unknown): JsonObject | undefined {
  return typeof value === "object" && value !== null && !Array.isArray(value)
    ? (value as JsonObject)
    : undefined
}

/** Returns the strings of an array, one string as an array of one, and [] for anything else. */
export function asTexts(value: unknown): string[] {
  return (Array.isArray(value) ? value : [value]).filter((item) => typeof item === "string")
}

/** Returns the first of the fields that is a string of 1 to `charsMax` characters, blanks around it removed. */
export function textAt(object: JsonObject, keys: readonly string[], charsMax: number): string | undefined {
  for (const key of keys) {
    const value = object[key]
    const text = typeof value === "string" ? value.trim() : ""
    if (text !== "" && text.length <= charsMax) return text
  }
  return undefined
}
