/** Searches for mail, threads, memories and documentation: whatever is typed finds something or nothing, and is never an error. */

import fc from "fast-check"
import {
  DOCUMENTATION_QUERY_CHARS_MAX,
  MEMORY_QUERY_CHARS_MAX,
  QUERY_CHARS_MAX,
} from "../../src/config/limits.ts"
import { definePart } from "../support/part.ts"
import { type LiveRoom, roomTarget } from "../support/room.ts"
import { beginning, require, requireDiscreet } from "../support/texts.ts"
import { text } from "../support/values.ts"

const PIECES = [
  "signal",
  "lever",
  "train",
  "plan",
  "subject:",
  "body:",
  "sub",
  '"',
  '""',
  "-",
  "--",
  "+",
  "*",
  "^",
  "(",
  ")",
  "{",
  "}",
  ":",
  "~",
]
const WORDS = [
  "NEAR",
  "NEAR/3",
  "AND",
  "OR",
  "NOT",
  "the",
  "中文",
  "é",
  "e\u0301",
  "😀",
  "\u202e",
  "a.b",
  "x_y",
  "C++",
  "don't",
  "\\",
  "%",
  "_",
  ";",
  " ",
]

const query: fc.Arbitrary<string> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc
      .tuple(
        fc.array(fc.constantFrom(...PIECES, ...WORDS), { minLength: 1, maxLength: 14 }),
        fc.constantFrom("", " "),
      )
      .map(([pieces, separator]) => pieces.join(separator)),
  },
  { weight: 2, arbitrary: text },
  {
    weight: 1,
    arbitrary: fc
      .tuple(
        fc.constantFrom(...PIECES, ...WORDS, "w ", "lever ", '"lever" ', "lev* ", "-a ", "中"),
        fc.constantFrom(500, 2_000),
      )
      .map(([piece, length]) => piece.repeat(length).slice(0, length)),
  },
)

interface Search {
  tool: string
  args: Record<string, unknown>
  /** What is asked must be this long at most. */
  charsMax: number
  /** Whether a query that says nothing is refused. */
  needsWords: boolean
}

const SEARCHES: readonly Search[] = [
  { tool: "search-messages", args: { project_id: 1 }, charsMax: QUERY_CHARS_MAX, needsWords: true },
  { tool: "search-threads", args: { project_id: 1 }, charsMax: QUERY_CHARS_MAX, needsWords: false },
  {
    tool: "search-memories",
    args: { repository_id: 1, expand_waypoints: true },
    charsMax: MEMORY_QUERY_CHARS_MAX,
    needsWords: true,
  },
  { tool: "search-documentation", args: {}, charsMax: DOCUMENTATION_QUERY_CHARS_MAX, needsWords: true },
]

interface Input {
  search: Search
  query: string
}

export const queries = definePart<Input>({
  name: "queries",
  weight: 5,
  batch: 300,
  async open(makeRoom) {
    const room = await makeRoom()
    return {
      inputs: fc.record({ search: fc.constantFrom(...SEARCHES), query }),
      begin: (seed) => roomTarget(room, seed, ask),
    }
  },
})

async function ask(live: LiveRoom, { search, query: asked }: Input): Promise<number> {
  const { tool, args, charsMax, needsWords } = search
  const { text: said, isError } = await live.tool(tool, JSON.stringify({ ...args, query: asked }))
  const where = `${tool} ${beginning(JSON.stringify(asked))}`
  live.requireNothingLogged(where)
  requireDiscreet(said, where)
  const isPlain = /[\p{L}\p{N}]/u.test(asked) && !asked.includes("\0") && asked.length <= charsMax
  // A query that only excludes asks for nothing.
  const asksSomething = isPlain && !/(?:^|\s)-|:|"/.test(asked)
  if (isError && needsWords && !asksSomething) return 1
  require(!isError || !isPlain, () => `${where} is refused: ${beginning(said)}`)
  return 1
}
