import fc from "fast-check"
import { expect, test } from "vitest"
import { personName } from "../../../src/commands/coordination/identity.ts"
import { identityFields } from "../../../src/operations/coordination/agents.ts"

test.each([
  ["ada", "ada"],
  ["ada.lovelace", "adalovelace"],
  ["Zoë", "Zoe"],
  ["DOMAIN\\ada-1_2", "DOMAINada-1_2"],
  ["", "Human"],
  ["李", "Human"],
  ["x", "Human"],
  ["xy", "xy"],
  ["signalbox", "signalbox"],
  ["a".repeat(41), "a".repeat(40)],
])("the person %j is the agent %j", (user, name) => {
  expect(personName(user)).toBe(name)
})

test("every person has a name that an agent may have", () => {
  fc.assert(
    fc.property(fc.string({ unit: "binary" }), (user) => {
      expect(identityFields.name_hint.safeParse(personName(user)).success).toBe(true)
    }),
  )
})
