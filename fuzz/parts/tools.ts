/** Every tool of the catalogue, in sequences of calls by agents of two sessions. */

import fc from "fast-check"
import { toolDefinition } from "../../src/mcp/definitions.ts"
import { OPERATIONS } from "../../src/operations/index.ts"
import { actionOf } from "../../src/operations/operation.ts"
import { known } from "../support/content.ts"
import { type JsonSchema, nearlyValid, valid } from "../support/from-schema.ts"
import { definePart } from "../support/part.ts"
import { roomTarget } from "../support/room.ts"
import { beginning, require, requireDiscreet } from "../support/texts.ts"
import { anything } from "../support/values.ts"

interface ToolCall {
  tool: string
  json: string
  session: number
}

const calls: readonly fc.Arbitrary<ToolCall>[] = OPERATIONS.map((operation) => {
  const schema = toolDefinition(operation).inputSchema as JsonSchema
  const values = fc.oneof(
    { weight: 8, arbitrary: valid(schema, { known }) },
    { weight: 8, arbitrary: nearlyValid(schema, { known }) },
    { weight: 1, arbitrary: anything },
  )
  return fc.record({
    tool: fc.constant(operation.name),
    json: values.map((value) => JSON.stringify(value)),
    session: fc.constantFrom(0, 0, 0, 0, 1),
  })
})

/** What the arguments of a call may not be, by the protocol. */
const NO_OBJECT = /^[^{]/

export const tools = definePart<ToolCall[]>({
  name: "tools",
  weight: 10,
  batch: 60,
  async open(makeRoom) {
    const room = await makeRoom()
    return {
      inputs: fc.array(fc.oneof(...calls), { minLength: 1, maxLength: 8 }),
      begin: (seed) =>
        roomTarget(room, seed, async (live, sequence) => {
          for (const { tool, json, session } of sequence) {
            const { text, isError } = await live.tool(tool, json, session)
            live.requireNothingLogged(`${tool} ${beginning(json)}`)
            requireDiscreet(text, tool)
            const begins = `Failed to ${actionOf({ name: tool })}: `
            require(!isError || text.startsWith(begins) || NO_OBJECT.test(json), () =>
              `${tool} fails with: ${beginning(text)}`)
            require(text !== "", () => `${tool} answers with nothing`)
          }
          return sequence.length
        }),
    }
  },
})
