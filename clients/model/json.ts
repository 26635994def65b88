/** Reading of JSON that others wrote: whatever is not as expected reads as empty. */

export type Fields = Record<string, unknown>

/** Returns the fields of an object; none of anything else. */
export function fieldsOf(value: unknown): Fields {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Fields) : {}
}

/** Returns the items of an array, each read as an object; none of anything else. */
export function objectsOf(value: unknown): Fields[] {
  return Array.isArray(value) ? value.map(fieldsOf) : []
}

/** Returns a string as it is; anything else as "". */
export function stringOf(value: unknown): string {
  return typeof value === "string" ? value : ""
}

/** Returns all texts in a value, at any depth, each on a line of its own; what only names the kind of a part is none. */
export function textsIn(value: unknown): string {
  if (typeof value === "string") return value
  if (typeof value !== "object" || value === null) return ""
  return Object.entries(value)
    .filter(([name]) => name !== "type")
    .map(([, inner]) => textsIn(inner))
    .join("\n")
}

/** Returns the items after the last one that the model wrote. */
export function sinceModel(items: readonly Fields[], isModels: (item: Fields) => boolean): Fields[] {
  return items.slice(items.findLastIndex(isModels) + 1)
}
