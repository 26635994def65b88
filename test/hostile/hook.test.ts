import { expect, test } from "vitest"
import { EDITS, oneOfEach, payloadIn } from "../support/golden-payloads.ts"
import { edit, reserve, runHook } from "../support/hook.ts"
import { agents } from "../support/world.ts"
import { everyFourth, HOSTILE } from "./corpus.ts"
import { expectVisible } from "./examine.ts"
import { SLOW_MACHINE_MS } from "./tools.ts"

const quoteless = (text: string) => JSON.stringify(text.slice(0, 80))

test(
  "no text in any field of a payload is printed so that it acts or poses",
  async () => {
    const [made, ada] = await agents("Ada")
    let sent = 0
    for (const [turn, golden] of oneOfEach(EDITS).entries()) {
      const payload: unknown = JSON.parse(payloadIn(made.repositoryPath, golden))
      const leaves =
        golden.client === "claude-code"
          ? pathsOfTexts(payload).map((path) => [path])
          : [pathsOfTexts(payload)]
      for (const [leaf, paths] of leaves.entries()) {
        const isEditedFile = leaves.length > 1 && paths.flat().at(-1) === "file_path"
        for (const foreign of isEditedFile ? HOSTILE : everyFourth(turn + leaf)) {
          const changed = paths.reduce((whole, path) => withText(whole, path, foreign), payload)
          const request = { client: golden.client, event: golden.event, folder: made.repositoryPath }
          const answer = await runHook(made, ada.session.app, JSON.stringify(changed), request)
          const what = `${golden.name} with ${quoteless(foreign)} as ${paths.join(" and ")}`
          expect(answer.exitCode, what).toBe(0)
          expectVisible(answer.stderr, what)
          expect(answer.stderr.trimEnd().split("\n").length, what).toBe(1)
          if (answer.stdout !== "") expectVisible(JSON.stringify(JSON.parse(answer.stdout)), what)
          sent += paths.length
        }
      }
    }
    expect(sent).toBeGreaterThan(HOSTILE.length * 5)
  },
  SLOW_MACHINE_MS,
)

test(
  "a refusal has as many lines whatever the holder gave as its reason, and no other beginnings",
  async () => {
    const [made, ada] = await agents("Ada")
    const refusal = async (file: string) => {
      const { exitCode, stderr } = await edit(made, ada.session.app, file)
      expect(exitCode).toBe(2)
      return stderr
    }
    const beginnings = (text: string) =>
      text
        .trimEnd()
        .split("\n")
        .map((line) => line.slice(0, 12))
    await reserve(ada, "held.ts", { reason: "ordinary" })
    const ordinary = beginnings(await refusal("held.ts"))
    for (const foreign of HOSTILE.filter(
      (one) => /\S/.test(one) && !one.includes("\0") && one.length <= 200,
    )) {
      await reserve(ada, "held.ts", { reason: foreign })
      const text = await refusal("held.ts")
      expectVisible(text, quoteless(foreign))
      expect(beginnings(text), quoteless(foreign)).toEqual(ordinary)
    }
  },
  SLOW_MACHINE_MS,
)

type Place = readonly (string | number)[]

/** Returns where the texts of a payload stand, but for those that decide which event of which tool it is about. */
function pathsOfTexts(value: unknown, at: Place = []): Place[] {
  if (typeof value === "string") return /event|tool_?name|^tool$|type/i.test(String(at.at(-1))) ? [] : [at]
  if (typeof value !== "object" || value === null) return []
  return Object.entries(value).flatMap(([key, inner]) => pathsOfTexts(inner, [...at, key]))
}

function withText(value: unknown, [key, ...rest]: Place, text: string): unknown {
  if (key === undefined) return text
  const inner = withText((value as Record<string | number, unknown>)[key], rest, text)
  if (Array.isArray(value)) return value.map((one, index) => (index === Number(key) ? inner : one))
  return { ...(value as object), [key]: inner }
}
