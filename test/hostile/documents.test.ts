import { expect, test } from "vitest"
import { searchDocsCommand } from "../../src/commands/documentation/docs.ts"
import { configIn, run } from "../commands/command.ts"
import { indexedSession } from "../support/documentation.ts"
import { HOSTILE } from "./corpus.ts"
import { expectContained, expectVisible } from "./examine.ts"
import { SLOW_MACHINE_MS } from "./tools.ts"

/** What a file may be called that git takes. */
function fileName(text: string, index: number): string {
  const name = text.replace(/[/\0\\]/g, "").replace(/\p{Cs}/gu, "")
  return `docs/${index}-${[...name].slice(0, 40).join("")}.md`
}

test(
  "no name and no content of a document passes for ours, wherever it is found",
  async () => {
    const contents = HOSTILE.map((text, index) => [
      fileName(text, index),
      `zebra${index}word stands here.\n\n# ${text}\n\n${text}\n`,
    ])
    const { made, session } = await indexedSession(Object.fromEntries(contents))
    let found = 0
    for (const [index, text] of HOSTILE.entries()) {
      const what = `search-documentation for ${JSON.stringify(text.slice(0, 80))}`
      const result = await session.call("search-documentation", { query: `zebra${index}word`, limit: 1 })
      expectContained(result, text, what)
      if (result.includes(`zebra${index}word`)) found += 1
      expect(result.split("\n").filter((line) => /^### /.test(line)).length, what).toBeLessThanOrEqual(1)
    }
    // Contents with many control characters are no text.
    expect(found).toBeGreaterThan(HOSTILE.length * 0.6)
    for (const json of [false, true]) {
      const { out, error } = await run(() =>
        searchDocsCommand(configIn(made), ["stands", "here"], { json, limit: "20" }),
      )
      expect(error).toBeUndefined()
      expectVisible(out, `docs search, JSON ${json}`)
    }
    expectContained(await session.call("list-repositories", {}), HOSTILE, "list-repositories")
  },
  SLOW_MACHINE_MS,
)
