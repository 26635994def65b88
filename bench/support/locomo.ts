/**
 * LoCoMo as memories and questions. The data is not ours to ship (CC BY-NC 4.0): its path is an argument.
 * Source: https://github.com/snap-research/locomo, data/locomo10.json
 */

import { readFileSync } from "node:fs"

export interface Conversation {
  name: string
  turns: Turn[]
  questions: Question[]
}
interface Turn {
  /** Such as `D3:11`. */
  id: string
  /** `speaker: text`, and the caption of its image. */
  text: string
}
export interface Question {
  text: string
  category: Category
  /** The turns that answer it, at least one. */
  evidence: string[]
}

export const CATEGORIES = ["multi-hop", "temporal", "open-domain", "single-hop", "adversarial"] as const
export type Category = (typeof CATEGORIES)[number]

interface RawTurn {
  speaker: string
  dia_id: string
  text: string
  blip_caption?: string
}
interface RawConversation {
  sample_id: string
  conversation: Record<string, unknown>
  qa: { question: string; evidence?: string[]; category: number }[]
}

/** Reads the conversations; questions without a known turn of evidence are left out. */
export function readLocomo(path: string): Conversation[] {
  return (JSON.parse(readFileSync(path, "utf8")) as RawConversation[]).map((raw) => {
    const turns = turnsOf(raw)
    const known = new Set(turns.map((turn) => turn.id))
    const questions = raw.qa.flatMap(({ question, evidence = [], category }) => {
      const ids = evidence.flatMap((text) => text.match(/D\d+:\d+/g) ?? []).filter((id) => known.has(id))
      const name = CATEGORIES[category - 1]
      if (ids.length === 0 || name === undefined) return []
      return [{ text: question, category: name, evidence: [...new Set(ids)] }]
    })
    return { name: raw.sample_id, turns, questions }
  })
}

function turnsOf({ conversation }: RawConversation): Turn[] {
  const sessions = Object.keys(conversation)
    .filter((key) => /^session_\d+$/.test(key))
    .sort((one, other) => Number(one.slice(8)) - Number(other.slice(8)))
  return sessions.flatMap((session) =>
    (conversation[session] as RawTurn[]).map((turn) => ({
      id: turn.dia_id,
      text: `${turn.speaker}: ${turn.text}${turn.blip_caption === undefined ? "" : ` [image: ${turn.blip_caption}]`}`,
    })),
  )
}
