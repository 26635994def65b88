/** Characters of two UTF-16 units, which no cut may part. */

/** Whether a position lies between the halves of a surrogate pair. */
export function isWithinCharacter(text: string, position: number): boolean {
  return (text.codePointAt(position - 1) ?? 0) > 0xffff
}
