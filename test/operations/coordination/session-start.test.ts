/** What an agent learns when it starts again, and when it does not get what it asked for. */

import { mkdirSync } from "node:fs"
import { join } from "node:path"
import { describe, expect, test } from "vitest"
import { connectFolder } from "../../../src/operations/connect.ts"
import { createKey } from "../../../src/operations/keys.ts"
import { agents, textAfter, world } from "../../support/world.ts"

const introduction = { project_key: "demo", program: "test-program", model: "test-model" }

describe("macro-start-session", () => {
  test("shows a resumed agent what it still holds", async () => {
    const [made, ada] = await agents("Ada")
    await ada.session.call("reserve-file-paths", {
      agent_id: ada.id,
      repository_id: ada.repositoryId,
      coordination_project_id: ada.projectId,
      path_pattern: "src/**",
    })
    await ada.session.close()
    const again = await made.session({ name: "again" })
    const text = await again.call("macro-start-session", { ...introduction, name_hint: "Ada" })
    expect(textAfter(text, "Still reserved by you")).toBe("1")
    expect(text).toContain("### src/**\nReservation id: ")
  })

  test("says why another name was given than the one asked for", async () => {
    const [made, ada] = await agents("Ada")
    const other = await made.session({ name: "other" })
    const text = await other.call("macro-start-session", { ...introduction, name_hint: "ada" })
    const name = textAfter(text, "Name")
    expect(textAfter(text, "Name hint")).toBe(
      `${ada.name} is held by another live session, so you are ${name}.`,
    )
  })

  test("reserves in the repository that a resumed agent works in, wherever it is started", async () => {
    const made = world()
    const first = await made.session({ name: "first" })
    await first.register("Ada")
    await first.close()
    const elsewhere = await made.session({ name: "second", workingFolder: made.folder })
    const text = await elsewhere.call("macro-start-session", {
      ...introduction,
      name_hint: "Ada",
      file_paths: ["src"],
    })
    expect(textAfter(text, "Granted")).toBe("1")
  })
})

describe("a key of one repository", () => {
  test("does not reserve in another through the agent that it resumes", async () => {
    const made = world()
    const first = await made.session({ name: "first" })
    const other = join(made.folder, "other")
    mkdirSync(other)
    const { id: otherId } = await connectFolder(first.app.db, other, made.nowMs)
    await first.register("Ada")
    await first.register("Bob", { repository_id: otherId })
    const request = { name: "one", environment: "live", plan: "starter", expiresAtMs: null } as const
    const { text: apiKey } = await createKey(first.app, { ...request, scopes: ["repo:1:coordination"] })
    await first.close()
    const scoped = await made.session({ name: "second", workingFolder: made.folder, apiKey })
    const args = { ...introduction, name_hint: "Bob", file_paths: ["src"] }
    expect(await scoped.fail("macro-start-session", args)).toContain(`repo:${otherId}:coordination`)
  })
})

describe("a mistake", () => {
  test("in a project key is met with the key that was likely meant", async () => {
    const [, ada] = await agents("Ada")
    const error = await ada.session.fail("whois", { project_key: "demmo", agent_name: "Ada" })
    expect(error).toContain('Did you mean "demo"?')
  })

  test("of an agent's name for its id is met with the tool that shows ids", async () => {
    const [, ada] = await agents("Ada")
    const args = {
      sender_name: "Ada",
      project_id: ada.projectId,
      to_agent_ids: ["Bob"],
      subject: "S",
      body_md: "B",
    }
    expect(await ada.session.fail("send-message", args)).toContain("list-agents shows the ids of agents")
  })
})
