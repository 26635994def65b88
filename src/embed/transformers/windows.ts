/**
 * Cuts a text into windows that a model can read at once. It is the pieces that are cut and given to the
 * model as they are: cut text would be cut into other pieces than it was measured by.
 */

import type { ModelSettings } from "../models/manifest.ts"

/** Turns texts into ids of pieces; `withSpecial` adds what the model wants around a text. */
export interface Tokenizer {
  piecesOf(text: string, withSpecial: boolean): number[]
  /** The piece that stands for what the model does not know, if it has one. */
  unknown: number | undefined
}

export interface Windowing {
  /** Returns the rows of pieces to give to the model for a passage or a query; none when it says nothing. */
  windowsOf(text: string, kind: "passages" | "query"): number[][]
}

/**
 * Prepares the cutting for a model. Every window has the special pieces and the prompt's around its own, and
 * at most `piecesMax` in all; the windows of a text are as few as possible and of nearly equal length, in
 * order, without overlap. A text without pieces, or with more unknown pieces than known ones, has none.
 */
export function createWindowing(tokenizer: Tokenizer, { prompts, piecesMax }: ModelSettings): Windowing {
  const frame = specialPieces(tokenizer)
  const leads = {
    passages: promptPieces(tokenizer, prompts.passage),
    query: promptPieces(tokenizer, prompts.query),
  }
  const promptOf = { passages: prompts.passage, query: prompts.query }
  return {
    windowsOf(text, kind) {
      const lead = leads[kind]
      const all = tokenizer.piecesOf(promptOf[kind] + text, false)
      // The prompt and the text may have grown together where they meet; then the text goes by itself.
      const pieces = startsWith(all, lead) ? all.slice(lead.length) : tokenizer.piecesOf(text, false)
      const unknown = pieces.filter((piece) => piece === tokenizer.unknown).length
      if (pieces.length === 0 || unknown * 2 > pieces.length) return []
      const room = Math.max(1, piecesMax - frame.before.length - lead.length - frame.after.length)
      return evenParts(pieces, room).map((part) => [...frame.before, ...lead, ...part, ...frame.after])
    },
  }
}

/** Finds what the model wants around a text by looking at how a word is framed. */
function specialPieces(tokenizer: Tokenizer): { before: number[]; after: number[] } {
  const word = "a"
  const bare = tokenizer.piecesOf(word, false)
  const framed = tokenizer.piecesOf(word, true)
  const last = framed.length - bare.length
  for (let at = 0; at <= last; at++) {
    if (!startsWith(framed.slice(at), bare)) continue
    return { before: framed.slice(0, at), after: framed.slice(at + bare.length) }
  }
  return { before: [], after: [] }
}

/** The pieces of a prompt that stay the same whatever comes after it. */
function promptPieces(tokenizer: Tokenizer, prompt: string): number[] {
  if (prompt === "") return []
  const one = tokenizer.piecesOf(`${prompt}a`, false)
  const other = tokenizer.piecesOf(`${prompt}1`, false)
  const end = one.findIndex((piece, i) => piece !== other[i])
  return one.slice(0, end < 0 ? undefined : end)
}

function startsWith(pieces: readonly number[], start: readonly number[]): boolean {
  return start.every((piece, i) => piece === pieces[i])
}

function evenParts(pieces: readonly number[], partMax: number): number[][] {
  const count = Math.ceil(pieces.length / partMax)
  const at = (part: number) => Math.round((part * pieces.length) / count)
  return Array.from({ length: count }, (_, part) => pieces.slice(at(part), at(part + 1)))
}
