import { expect, test } from "vitest"
import { promptMessages } from "../../src/mcp/prompts.ts"
import { world } from "../support/world.ts"

const NOTHING = { project: undefined, program: undefined, model: undefined }

test("prompts are listed with what they take, and nothing of it is required", async () => {
  const { client } = await world().session()
  const { prompts } = await client.listPrompts()
  expect(prompts.map(({ name }) => name)).toEqual(["start", "mail", "hand-over"])
  for (const { title, description, arguments: accepted } of prompts) {
    expect(title).toBeTruthy()
    expect(description).toBeTruthy()
    expect(accepted?.every(({ required }) => required === false)).toBe(true)
  }
})

test("a prompt names its argument, and does without", async () => {
  const { client } = await world().session()
  const text = async (name: string, given?: Record<string, string>) => {
    const { messages } = await client.getPrompt({ name, ...(given && { arguments: given }) })
    return messages.map(({ content }) => (content.type === "text" ? content.text : "")).join("\n")
  }
  expect(await text("start", { task: "fix the login" })).toContain("Your task: fix the login")
  expect(await text("start")).not.toContain("Your task")
  expect(await text("hand-over", { to: "BlueLake" })).toContain("to BlueLake:")
  expect(await text("hand-over")).toContain("the active agents")
  expect(await text("mail")).toContain("fetch-inbox")
})

test("what the server was configured with stands in the prompt", () => {
  const { messages } = promptMessages("start", {}, { ...NOTHING, project: 'a "b"', program: "codex" })
  expect(messages[0]?.content.text).toContain('project_key "a \\"b\\"", program "codex", and')
})

test("an unknown prompt or argument is named", async () => {
  const { client } = await world().session()
  await expect(client.getPrompt({ name: "nothing" })).rejects.toThrow(/nothing does not exist.*start, mail/)
  await expect(client.getPrompt({ name: "mail", arguments: { x: "1" } })).rejects.toThrow(/no argument "x"/)
})
