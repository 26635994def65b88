/** Every resource by its URI, completion, prompts, and requests that are none. */

import fc from "fast-check"
import { promptDefinitions } from "../../src/mcp/prompts.ts"
import { RESOURCES } from "../../src/resources/index.ts"
import {
  placeholdersOf,
  queryParametersOf,
  type Resource,
  uriTemplateOf,
} from "../../src/resources/resource.ts"
import { known } from "../support/content.ts"
import { definePart } from "../support/part.ts"
import { roomTarget } from "../support/room.ts"
import { beginning, requireDiscreet } from "../support/texts.ts"
import { anything, percentEncoded, rarely, text } from "../support/values.ts"

interface Request {
  method: string
  params: unknown
}

const PARAMETERS = [
  ...new Set(RESOURCES.flatMap((one) => [...placeholdersOf(one), ...queryParametersOf(one)])),
]

function argumentFor(name: string): fc.Arbitrary<string> {
  return fc.oneof({ weight: 4, arbitrary: (known(name) ?? text).map(String) }, { weight: 1, arbitrary: text })
}

/** As a client that encodes, and as one that does not. */
const encoded = (value: fc.Arbitrary<string>) =>
  fc.tuple(value, fc.nat(9)).map(([raw, how]) => (how === 0 ? raw : percentEncoded(raw)))

function uriOf(resource: Resource): fc.Arbitrary<string> {
  const path = resource.path
    .split("/")
    .map((segment) =>
      segment.startsWith("{") ? encoded(argumentFor(segment.slice(1, -1))) : fc.constant(segment),
    )
  const pairs = queryParametersOf(resource).map((name) =>
    fc
      .tuple(encoded(argumentFor(name)), fc.nat(9))
      .map(([value, how]) => (how === 0 ? [] : [`${name}=${value}`])),
  )
  return fc
    .tuple(fc.tuple(...path), fc.tuple(...pairs), rarely(text, 10, ""))
    .map(([segments, query, more]) => `signalbox://${segments.join("/")}?${query.flat().join("&")}${more}`)
}

const reads = fc
  .oneof(...RESOURCES.map(uriOf), text)
  .map((uri) => ({ method: "resources/read", params: { uri } }))

const completions = fc
  .record({
    ref: fc.record({
      type: fc.constant("ref/resource"),
      uri: fc.constantFrom(...RESOURCES.map(uriTemplateOf)),
    }),
    argument: fc
      .constantFrom(...PARAMETERS)
      .chain((name) => fc.record({ name: fc.constant(name), value: text })),
    context: fc.record({
      arguments: fc.record({ project_key: fc.oneof(fc.constant("demo"), text) }, { requiredKeys: [] }),
    }),
  })
  .map((params) => ({ method: "completion/complete", params }))

const prompts = fc.constantFrom(...promptDefinitions()).chain((prompt) => {
  const names = (prompt.arguments ?? []).map(({ name }) => name)
  const values = fc.dictionary(names.length === 0 ? text : fc.constantFrom(...names), text)
  return values.map((given) => ({ method: "prompts/get", params: { name: prompt.name, arguments: given } }))
})

const METHODS = [
  "tools/list",
  "tools/call",
  "resources/list",
  "resources/read",
  "prompts/get",
  "ping",
  "initialize",
]
const others = fc.record({
  method: fc.oneof(fc.constantFrom(...METHODS), text),
  params: fc.dictionary(
    fc.oneof(fc.constantFrom("name", "uri", "arguments", "ref", "cursor"), text),
    anything,
  ),
})

export const resources = definePart<Request>({
  name: "resources",
  weight: 5,
  batch: 400,
  async open(makeRoom) {
    const room = await makeRoom()
    return {
      inputs: fc.oneof(
        { weight: 6, arbitrary: reads },
        { weight: 2, arbitrary: completions },
        { weight: 1, arbitrary: prompts },
        { weight: 1, arbitrary: others },
      ),
      begin: (seed) =>
        roomTarget(room, seed, async (live, { method, params }) => {
          // As it comes off a line of JSON.
          const { result, error } = await live.mcp(method, JSON.parse(JSON.stringify(params)))
          live.requireNothingLogged(method)
          // What the protocol's library says of parameters that are none is its own.
          const isLibrary = error !== undefined && /^\[\n|^Invalid /.test(error)
          if (!isLibrary)
            requireDiscreet(error ?? JSON.stringify(result), `${method} ${beginning(JSON.stringify(params))}`)
          return 1
        }),
    }
  },
})
