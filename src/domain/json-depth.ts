/** How deep JSON is nested. */

/** Whether a value of JSON is nested more than so many levels deep; looks no deeper than that. */
export function isDeeper(value: unknown, depthMax: number): boolean {
  if (typeof value !== "object" || value === null) return false
  return depthMax === 0 || Object.values(value).some((inner) => isDeeper(inner, depthMax - 1))
}
