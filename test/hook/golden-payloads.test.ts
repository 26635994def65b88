/** Every payload of every client, from its text to what is blocked, reserved and told. */

import { describe, expect, test } from "vitest"
import { CLIENT_NAMES } from "../../src/hook/client-names.ts"
import { clientFacts } from "../../src/hook/clients.ts"
import {
  EDITS,
  editedFiles,
  expectWhole,
  type Golden,
  type GoldenPlace,
  OTHERS,
  payloadIn,
  refusalIn,
} from "../support/golden-payloads.ts"
import { ALLOWED, heldIn, reserve, runHook } from "../support/hook.ts"
import { agents, type TestAgent, type World } from "../support/world.ts"

/** A world in which Ada holds `src/auth`, and nobody else anything. */
async function heldWorld(): Promise<[World, TestAgent]> {
  const [made, ada] = await agents("Ada")
  await reserve(ada, "src/auth/**")
  return [made, ada]
}

const HELD = "src/auth/** exclusive 3600"

function answerTo(made: World, ada: TestAgent, golden: Golden, place?: GoldenPlace) {
  const { client, event, surroundings = {} } = golden
  return runHook(made, ada.session.app, payloadIn(made.repositoryPath, golden, place), {
    client,
    event,
    folder: surroundings.folder === undefined ? made.folder : made.repositoryPath,
    projectFolder: surroundings.projectFolder === undefined ? undefined : made.repositoryPath,
  })
}

describe.each(CLIENT_NAMES)("%s", (client) => {
  const edits = EDITS.filter((golden) => golden.client === client)

  test("has each edit of a held file blocked, which reserves nothing", async () => {
    const [made, ada] = await heldWorld()
    for (const golden of edits) {
      expectWhole(refusalIn(await answerTo(made, ada, golden), client), ada)
      expect(await heldIn(ada.session.app), golden.name).toEqual([HELD])
    }
  })

  test("has the files of each other edit reserved, all for one agent", async () => {
    const [made, ada] = await heldWorld()
    const expected: string[] = []
    for (const golden of edits) {
      const files = `free/${golden.name}`
      expect(await answerTo(made, ada, golden, { files }), golden.name).toEqual(ALLOWED)
      expected.push(...editedFiles(golden, files))
      const held = (await heldIn(ada.session.app)).filter((text) => text !== HELD)
      expect(held.map((text) => text.replace(/ .*/, "")).sort(), golden.name).toEqual(expected.sort())
    }
    const listed = await ada.session.call("list-file-reservations", {
      coordination_project_id: ada.projectId,
    })
    const holders = [...listed.matchAll(/^Agent: (\S+)/gm)].map(([, name]) => name)
    expect(holders).toHaveLength(expected.length + 1)
    expect(new Set(holders.filter((name) => name !== ada.name)).size).toBe(1)
  })

  test("has no edit of the holder's own session blocked", async () => {
    const [made, ada] = await heldWorld()
    for (const golden of edits)
      expect(await answerTo(made, ada, golden, { session: "session-of-Ada" }), golden.name).toEqual(ALLOWED)
  })

  test("goes on with all that is no edit, which reserves nothing", async () => {
    const [made, ada] = await heldWorld()
    let isUntold = clientFacts(client).hearsStartLater === true
    for (const golden of OTHERS.filter((other) => other.client === client)) {
      const answer = await answerTo(made, ada, golden, { session: "session-of-a-reader" })
      const isFirstHeard = isUntold && golden.event === "mail"
      if (isFirstHeard) isUntold = false
      if (isFirstHeard || golden.event === "session-start")
        expect(answer.stdout + answer.stderr, golden.name).toContain("signalbox: you are")
      else expect(answer, golden.name).toEqual(ALLOWED)
      expect(answer.exitCode, golden.name).toBe(0)
      expect(await heldIn(ada.session.app), golden.name).toEqual([HELD])
    }
  })
})
