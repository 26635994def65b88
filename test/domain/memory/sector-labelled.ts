/** Short texts with the sector a reader gives each, written after the cues and without them in mind. */

import { readFileSync } from "node:fs"
import type { Sector } from "../../../src/domain/memory/memory.ts"
import type { SectorExample } from "./sector-examples.ts"

const SECTOR_OF: Record<string, Sector> = {
  e: "episodic",
  s: "semantic",
  p: "procedural",
  m: "emotional",
  r: "reflective",
}

const EXAMPLES = readFileSync(new URL("sector-labelled.txt", import.meta.url), "utf8")
  .split("\n")
  .flatMap((line): SectorExample[] => {
    const sector = line[1] === " " ? SECTOR_OF[line[0] ?? ""] : undefined
    return sector === undefined ? [] : [{ sector, content: line.slice(2) }]
  })

/** Two thirds of the texts of each sector, to work with, and the third held out to judge by. */
export const LABELLED = EXAMPLES.filter((_, index) => index % 3 !== 2)
export const LABELLED_HELD_OUT = EXAMPLES.filter((_, index) => index % 3 === 2)
