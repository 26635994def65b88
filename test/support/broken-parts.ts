/** Parts with all that the fuzzing has to see, in the place of the product. */

import fc from "fast-check"
import { definePart, type Part } from "../../fuzz/support/part.ts"
import { requireDiscreet } from "../../fuzz/support/texts.ts"

const FAILS_FROM = 1_000

/** Makes a part that goes wrong with every number from 1,000 on. */
function broken(name: string, goWrong: () => void): Part {
  return definePart<number>({
    name,
    weight: 1,
    batch: 100,
    async open() {
      const run = async (input: number) => {
        if (input >= FAILS_FROM) goWrong()
        return 1
      }
      return { inputs: fc.nat(), begin: async () => ({ run, end: async () => {} }) }
    },
  })
}

export const PARTS: readonly Part[] = [
  broken("says", () => requireDiscreet("Failed to do it: TypeError at 1", "a tool")),
  broken("hangs", () => {
    for (;;);
  }),
  broken("rejects", () => void Promise.reject(new Error("nobody waits for this"))),
]
