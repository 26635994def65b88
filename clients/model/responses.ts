/** OpenAI Responses: Codex, and Copilot with newer models. Knows tools in namespaces, free text and tool search. */

import {
  type Call,
  type OfferedTool,
  type Protocol,
  type ServerEvent,
  streamedAnswer,
  type Turn,
  wholeAnswer,
} from "./conversation.ts"
import { type Fields, objectsOf, sinceModel, stringOf, textsIn } from "./json.ts"

const USAGE = {
  input_tokens: 10,
  input_tokens_details: { cached_tokens: 0 },
  output_tokens: 10,
  output_tokens_details: { reasoning_tokens: 0 },
  total_tokens: 20,
}
const MODEL_ITEMS = ["function_call", "custom_tool_call", "tool_search_call", "reasoning"]

export const responses: Protocol = {
  name: "responses",
  isAt: (path) => path.endsWith("/responses"),
  read(body) {
    const input = objectsOf(body.input)
    const last = sinceModel(
      input,
      ({ role, type }) => role === "assistant" || MODEL_ITEMS.includes(stringOf(type)),
    )
    // Newer models of Codex get their tools as an item of the input.
    const listed = input.filter(({ type }) => type === "additional_tools")
    const offered = [...objectsOf(body.tools), ...listed.flatMap(({ tools }) => objectsOf(tools))]
    const told = offered.map(({ description, tools }) => [
      description,
      objectsOf(tools).map((inner) => inner.description),
    ])
    return {
      tools: offered.flatMap(toolsOf),
      results: last
        .filter(({ type }) => stringOf(type).endsWith("call_output"))
        .map(({ output }) => textsIn(output)),
      prompt: textsIn([body.instructions, body.input, told]),
    }
  },
  answer(turn, { number, body }) {
    const output = itemsOf(turn, number)
    const response = {
      id: `resp_${number}`,
      object: "response",
      created_at: 1,
      model: body.model,
      status: "completed",
      output,
      usage: USAGE,
    }
    if (body.stream !== true) return wholeAnswer(response)
    const events = [
      { type: "response.created", response: { ...response, status: "in_progress", output: [] } },
      ...output.flatMap(itemEvents),
      { type: "response.completed", response },
    ]
    return streamedAnswer(
      events.map(
        (event, sequence_number): ServerEvent => ({ name: event.type, data: { ...event, sequence_number } }),
      ),
    )
  },
}

function toolsOf({ type, name, tools }: Fields): OfferedTool[] {
  if (type !== "namespace") return [{ name: stringOf(name ?? type) }]
  return objectsOf(tools).map((inner) => ({ name: stringOf(inner.name), namespace: stringOf(name) }))
}

function itemsOf({ text = "done", calls = [] }: Turn, number: number): Fields[] {
  if (calls.length > 0) return calls.map((call, index) => callItem(call, `${number}_${index}`))
  const content = [{ type: "output_text", text, annotations: [] }]
  return [{ type: "message", id: `msg_${number}`, role: "assistant", status: "completed", content }]
}

function callItem({ name, namespace, args, input, isSearch }: Call, id: string): Fields {
  const call = { call_id: `call_${id}`, status: "completed" }
  if (isSearch)
    return { type: "tool_search_call", id: `tsc_${id}`, ...call, execution: "client", arguments: args }
  const who = { name, ...(namespace !== undefined && { namespace }) }
  if (input !== undefined) return { type: "custom_tool_call", id: `ctc_${id}`, ...call, ...who, input }
  return { type: "function_call", id: `fc_${id}`, ...call, ...who, arguments: JSON.stringify(args ?? {}) }
}

function itemEvents(item: Fields, output_index: number): (Fields & { type: string })[] {
  const at = { item_id: item.id, output_index }
  const done = { type: "response.output_item.done", output_index, item }
  const added = (empty: Fields) => ({
    type: "response.output_item.added",
    output_index,
    item: { ...item, ...empty },
  })
  switch (item.type) {
    case "message":
      return [added({ content: [] }), ...textEvents(item, at), done]
    case "function_call":
      return [
        added({ arguments: "" }),
        { type: "response.function_call_arguments.delta", ...at, delta: item.arguments },
        { type: "response.function_call_arguments.done", ...at, arguments: item.arguments },
        done,
      ]
    case "custom_tool_call":
      return [added({ input: "" }), done]
    default:
      return [added({}), done]
  }
}

function textEvents(item: Fields, place: Fields): (Fields & { type: string })[] {
  const [part = {}] = objectsOf(item.content)
  const at = { ...place, content_index: 0 }
  return [
    { type: "response.content_part.added", ...at, part: { ...part, text: "" } },
    { type: "response.output_text.delta", ...at, delta: part.text },
    { type: "response.output_text.done", ...at, text: part.text },
    { type: "response.content_part.done", ...at, part },
  ]
}
