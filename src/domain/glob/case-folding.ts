/**
 * Which characters are the same letter in another case. Owns the folding of text and of sets, by the same
 * rule. Refuses locales and mappings to several characters (`ß` is not `SS`).
 */

import { type CharSet, mergeRanges, type Range, rangesMatching } from "./code-points.ts"

/** A character that shares its letter with others, and all of them. */
type Cased = readonly [code: number, sameLetter: readonly number[]]

/** Sorted; found on first use. */
let casedCharacters: readonly Cased[] | undefined

/**
 * Folds text so that two texts fold alike exactly when they are equal but for case.
 *
 * Works character by character (upper, then lower, keeping a character whose mapping is longer than one), so
 * the result has the length of the input and a letter folds the same wherever it stands; `toLowerCase` on the
 * whole text would turn a final `Σ` into another letter than an inner one. Equals `toLowerCase()` on ASCII.
 */
export function foldCase(text: string): string {
  let folded = ""
  for (const character of text) folded += foldCharacter(character)
  return folded
}

/** The set with every character that is the same letter as one in it. */
export function closeUnderCase(set: CharSet): CharSet {
  casedCharacters ??= findCasedCharacters()
  const closed: Range[] = [...set]
  for (const [from, to] of set) {
    for (let at = firstFrom(casedCharacters, from); at < casedCharacters.length; at++) {
      const [code, sameLetter] = casedCharacters[at] ?? [Number.POSITIVE_INFINITY, []]
      if (code > to) break
      for (const variant of sameLetter) closed.push([variant, variant])
    }
  }
  return closed.length === set.length ? set : mergeRanges(closed)
}

function foldCharacter(character: string): string {
  const upper = character.toUpperCase()
  const lower = (isOneCharacter(upper) ? upper : character).toLowerCase()
  return isOneCharacter(lower) ? lower : character
}

function isOneCharacter(text: string): boolean {
  return text.length === 1 || (text.length === 2 && (text.codePointAt(0) ?? 0) > 0xffff)
}

/** Only characters with a case mapping are looked at, and those alone in their letter are left out. */
function findCasedCharacters(): readonly Cased[] {
  const letters = new Map<string, number[]>()
  for (const [from, to] of rangesMatching(/\p{Changes_When_Casemapped}/u)) {
    for (let code = from; code <= to; code++) {
      const folded = foldCharacter(String.fromCodePoint(code))
      const letter = letters.get(folded)
      if (letter !== undefined) letter.push(code)
      else letters.set(folded, [code])
    }
  }
  const cased: Cased[] = []
  for (const letter of letters.values()) {
    if (letter.length > 1) for (const code of letter) cased.push([code, letter])
  }
  return cased.sort(([a], [b]) => a - b)
}

function firstFrom(cased: readonly Cased[], from: number): number {
  let low = 0
  let high = cased.length
  while (low < high) {
    const middle = (low + high) >> 1
    if ((cased[middle]?.[0] ?? 0) < from) low = middle + 1
    else high = middle
  }
  return low
}
