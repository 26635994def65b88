/** Anthropic Messages: Claude Code. */

import { type Protocol, type ServerEvent, streamedAnswer, type Turn, wholeAnswer } from "./conversation.ts"
import { type Fields, objectsOf, sinceModel, stringOf, textsIn } from "./json.ts"

const USAGE = { input_tokens: 10, output_tokens: 10 }

export const anthropic: Protocol = {
  name: "anthropic",
  isAt: (path) => path.endsWith("/messages"),
  read(body) {
    const last = sinceModel(objectsOf(body.messages), ({ role }) => role === "assistant")
    return {
      tools: objectsOf(body.tools).map(({ name }) => ({ name: stringOf(name) })),
      results: last
        .flatMap(({ content }) => objectsOf(content))
        .filter(({ type }) => type === "tool_result")
        .map(({ content }) => textsIn(content)),
      prompt: textsIn([body.system, body.messages]),
    }
  },
  answer(turn, { number, body }) {
    const content = contentOf(turn, number)
    const stop_reason = (turn.calls ?? []).length > 0 ? "tool_use" : "end_turn"
    const message = {
      id: `msg_${number}`,
      type: "message",
      role: "assistant",
      model: body.model,
      content,
      stop_reason,
      stop_sequence: null,
      usage: USAGE,
    }
    if (body.stream !== true) return wholeAnswer(message)
    return streamedAnswer([
      named({ type: "message_start", message: { ...message, content: [], stop_reason: null } }),
      ...content.flatMap(blockEvents),
      named({ type: "message_delta", delta: { stop_reason, stop_sequence: null }, usage: USAGE }),
      named({ type: "message_stop" }),
    ])
  },
}

function contentOf({ text, calls = [] }: Turn, number: number): Fields[] {
  const said = text ?? (calls.length === 0 ? "done" : "")
  return [
    ...(said === "" ? [] : [{ type: "text", text: said }]),
    ...calls.map(({ name, args = {} }, index) => ({
      type: "tool_use",
      id: `toolu_${number}_${index}`,
      name,
      input: args,
    })),
  ]
}

function blockEvents(block: Fields, index: number): ServerEvent[] {
  const [empty, delta] =
    block.type === "text"
      ? [
          { type: "text", text: "" },
          { type: "text_delta", text: block.text },
        ]
      : [
          { ...block, input: {} },
          { type: "input_json_delta", partial_json: JSON.stringify(block.input) },
        ]
  return [
    named({ type: "content_block_start", index, content_block: empty }),
    named({ type: "content_block_delta", index, delta }),
    named({ type: "content_block_stop", index }),
  ]
}

function named(data: Fields & { type: string }): ServerEvent {
  return { name: data.type, data }
}
