import { describe, expect, test } from "vitest"
import { CLIENT_NAMES } from "../../src/hook/client-names.ts"
import { ALL_PROCESS_NAMES, CLIENTS, clientFacts } from "../../src/hook/clients.ts"

describe("the table of clients", () => {
  test("has each client once, in their order", () => {
    expect(CLIENTS.map(({ name }) => name)).toEqual(CLIENT_NAMES)
    for (const name of CLIENT_NAMES) expect(clientFacts(name).name).toBe(name)
  })

  test("knows each by names in lower case that are no general programs", () => {
    for (const { processNames } of CLIENTS) {
      expect(processNames.length).toBeGreaterThan(0)
      expect(new Set(processNames).size).toBe(processNames.length)
      expect(processNames.filter((name) => name !== name.toLowerCase())).toEqual([])
    }
    for (const name of ["node", "sh", "bash", "zsh", "electron", "npx", "git"])
      expect(ALL_PROCESS_NAMES).not.toContain(name)
  })

  test("only Claude Code and Gemini CLI tell servers their session", () => {
    const telling = CLIENTS.filter((client) => client.tellsServersItsSession).map(({ name }) => name)
    expect(telling).toEqual(["claude-code", "gemini"])
  })
})
