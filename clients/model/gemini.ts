/** Gemini's generateContent: Gemini CLI. */

import { type Protocol, streamedAnswer, wholeAnswer } from "./conversation.ts"
import { type Fields, fieldsOf, objectsOf, sinceModel, stringOf, textsIn } from "./json.ts"

const USAGE = { promptTokenCount: 10, candidatesTokenCount: 10, totalTokenCount: 20 }
const STREAMED = ":streamGenerateContent"

/** What its routers and checks beside the work want to read. */
const SIDE_JSON = {
  reasoning: "mock",
  model_choice: "flash",
  complexity_score: 10,
  complexity_reasoning: "mock",
  next_speaker: "user",
}

export const gemini: Protocol = {
  name: "gemini",
  isAt: (path) => path.endsWith(STREAMED) || path.endsWith(":generateContent"),
  read(body) {
    const last = sinceModel(objectsOf(body.contents), ({ role }) => role === "model")
    return {
      tools: objectsOf(body.tools)
        .flatMap(({ functionDeclarations }) => objectsOf(functionDeclarations))
        .map(({ name }) => ({ name: stringOf(name) })),
      results: last
        .flatMap(({ parts }) => objectsOf(parts))
        .filter(({ functionResponse }) => functionResponse !== undefined)
        .map(({ functionResponse }) => textsIn(fieldsOf(functionResponse).response)),
      prompt: textsIn([body.systemInstruction, body.contents]),
    }
  },
  answer({ text = "done", calls = [] }, { path, body, isSide }) {
    const said = isSide && wantsJson(fieldsOf(body.generationConfig)) ? JSON.stringify(SIDE_JSON) : text
    const parts =
      calls.length > 0
        ? calls.map(({ name, args = {} }) => ({ functionCall: { name, args } }))
        : [{ text: said }]
    const candidates = [{ index: 0, content: { role: "model", parts }, finishReason: "STOP" }]
    const response = { candidates, usageMetadata: USAGE, modelVersion: "mock" }
    return path.endsWith(STREAMED) ? streamedAnswer([{ data: response }]) : wholeAnswer(response)
  },
}

function wantsJson({ responseMimeType, responseJsonSchema }: Fields): boolean {
  return responseMimeType === "application/json" || responseJsonSchema !== undefined
}
