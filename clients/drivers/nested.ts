/** Claude Code whose shell runs another client: two sessions in one line of processes, which must stay two agents. */

import { posixQuoted } from "../../src/runtime/shell-quoting.ts"
import { startOf } from "../installation.ts"
import type { Driver } from "../scenario/driver.ts"
import { type Identity, readIdentity } from "../scenario/holder.ts"
import { type Row, withStage } from "../scenario/row.ts"
import { tellsOfBlock } from "../scenario/seen.ts"
import type { Stage } from "../scenario/stage.ts"
import { claudeCode } from "./claude-code.ts"

const OUTER = "src/outer.ts"
const INNER = "src/inner.ts"

/** Returns the row of Claude Code around another client. */
export function nestedRow(inner: Driver): Row {
  return {
    id: `nested:${inner.client}`,
    title: `Claude Code > ${inner.title}`,
    releases: [claudeCode.release, inner.release],
    run: (order, checks) =>
      withStage(order, [claudeCode, inner], checks, (stage) =>
        playNested(stage, inner, startOf(order.clients, inner.release)),
      ),
  }
}

async function playNested(stage: Stage, inner: Driver, words: readonly string[]): Promise<void> {
  const { place, driver: outer, checks } = stage
  const innerCommand = inner.command({ words, place, prompt: "inner", resumes: false })
  const command = `${innerCommand.words.map(posixQuoted).join(" ")} </dev/null`
  const introduction = (driver: Driver, file: string) => ({
    project_key: place.repository,
    program: driver.client,
    model: "mock",
    file_paths: [file],
    exclusive: true,
  })
  const heard = { outer: "", inner: "", own: "", refused: "", last: "" }
  await stage.play("nested", [
    ...(outer.prelude ?? []),
    (request) => ({ calls: outer.ours(request, "macro-start-session", introduction(outer, OUTER)) }),
    ({ results }) => {
      heard.outer = results.join("\n")
      return { calls: outer.shell(command) }
    },
    ...(inner.prelude ?? []),
    (request) => ({ calls: inner.ours(request, "macro-start-session", introduction(inner, INNER)) }),
    ({ results }) => {
      heard.inner = results.join("\n")
      return { calls: inner.create(place, INNER, "inner\n") }
    },
    ({ results }) => {
      heard.own = results.join("\n")
      return { calls: inner.create(place, OUTER, "inner\n") }
    },
    ({ results }) => {
      heard.refused = results.join("\n")
      return { text: "inner done" }
    },
    () => ({ calls: outer.create(place, OUTER, "outer\n") }),
    ({ results }) => {
      heard.last = results.join("\n")
      return {}
    },
  ])
  const [one, other]: (Identity | undefined)[] = [readIdentity(heard.outer), readIdentity(heard.inner)]
  const areTwo = one !== undefined && other !== undefined && one.name !== other.name
  checks.expect("apart", "inner and outer are two agents", areTwo, `${heard.outer} ${heard.inner}`)
  checks.expect("own", "the inner one edits what it holds", place.read(INNER) === "inner\n", heard.own)
  checks.expect(
    "inner",
    "the outer one's reservation blocks it",
    tellsOfBlock(heard.refused, one?.name ?? "?"),
    heard.refused,
  )
  checks.expect("outer", "the outer one edits what it holds", place.read(OUTER) === "outer\n", heard.last)
}
