/** OpenAI Chat Completions: Copilot, OpenCode, Cline and Qwen Code with a provider of one's own. */

import { type Protocol, streamedAnswer, wholeAnswer } from "./conversation.ts"
import { type Fields, fieldsOf, objectsOf, sinceModel, stringOf, textsIn } from "./json.ts"

const USAGE = { prompt_tokens: 10, completion_tokens: 10, total_tokens: 20 }

export const chatCompletions: Protocol = {
  name: "chat-completions",
  isAt: (path) => path.endsWith("/chat/completions"),
  read(body) {
    const last = sinceModel(objectsOf(body.messages), ({ role }) => role === "assistant")
    return {
      tools: objectsOf(body.tools).map((tool) => ({
        name: stringOf(fieldsOf(tool.function).name ?? tool.name),
      })),
      results: last.filter(({ role }) => role === "tool").map(({ content }) => textsIn(content)),
      prompt: textsIn(body.messages),
    }
  },
  answer({ text = "done", calls = [] }, { number, body }) {
    const tool_calls = calls.map(({ name, args = {} }, index) => ({
      index,
      id: `call_${number}_${index}`,
      type: "function",
      function: { name, arguments: JSON.stringify(args) },
    }))
    const finish_reason = calls.length > 0 ? "tool_calls" : "stop"
    const content = calls.length > 0 ? null : text
    const completion = { id: `chatcmpl_${number}`, created: 1, model: body.model }
    if (body.stream !== true) {
      const message = { role: "assistant", content, ...(calls.length > 0 && { tool_calls }) }
      const choices = [{ index: 0, finish_reason, message }]
      return wholeAnswer({ ...completion, object: "chat.completion", choices, usage: USAGE })
    }
    const chunk = (delta: Fields, reason: string | null = null, more: Fields = {}) => ({
      data: {
        ...completion,
        object: "chat.completion.chunk",
        choices: [{ index: 0, delta, finish_reason: reason }],
        ...more,
      },
    })
    return streamedAnswer(
      [
        chunk({ role: "assistant", content: content ?? "" }),
        ...(calls.length > 0 ? [chunk({ tool_calls })] : []),
        chunk({}, finish_reason, { usage: USAGE }),
      ],
      "data: [DONE]\n\n",
    )
  },
}
